//! Splits a command into words as a POSIX shell with `$'...'` does. Variables and commands in it are not expanded.

use toolgate_api::Diagnostic;

/// The words of the first command of a text, and what follows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Words {
    /// The words.
    pub(super) words: Vec<String>,
    /// The operator that ends the command, if something follows: `|`, `;`, `&`, `>`, `<` or the end of a line.
    pub(super) ended_by: Option<char>,
}

/// Splits the text.
///
/// # Errors
/// For a quote that does not end.
pub(super) fn split(text: &str) -> Result<Words, Diagnostic> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text.chars().peekable();
    let mut ended_by = None;
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                // A line that goes on.
                Some('\n') | None => {}
                Some('\r') => {
                    rest.next_if_eq(&'\n');
                }
                Some(escaped) => word.get_or_insert_default().push(escaped),
            },
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next() {
                        None => return Err(unended('\'')),
                        Some('\'') => break,
                        Some(c) => word.push(c),
                    }
                }
            }
            '"' => double_quoted(&mut rest, word.get_or_insert_default())?,
            '$' if rest.peek() == Some(&'\'') => {
                rest.next();
                ansi_quoted(&mut rest, word.get_or_insert_default())?;
            }
            '\n' | '|' | ';' | '&' | '>' | '<' => {
                ended_by = Some(c);
                break;
            }
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if rest.all(char::is_whitespace) && ended_by == Some('\n') {
        ended_by = None;
    }
    Ok(Words { words, ended_by })
}

type Rest<'t> = std::iter::Peekable<std::str::Chars<'t>>;

fn double_quoted(rest: &mut Rest<'_>, word: &mut String) -> Result<(), Diagnostic> {
    loop {
        match rest.next() {
            None => return Err(unended('"')),
            Some('"') => return Ok(()),
            Some('\\') => match rest.next() {
                None => return Err(unended('"')),
                Some('\n') => {}
                Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                Some(c) => word.extend(['\\', c]),
            },
            Some(c) => word.push(c),
        }
    }
}

/// `$'...'`, which browsers write when a text has quotes or control characters.
fn ansi_quoted(rest: &mut Rest<'_>, word: &mut String) -> Result<(), Diagnostic> {
    loop {
        match rest.next() {
            None => return Err(unended('\'')),
            Some('\'') => return Ok(()),
            Some('\\') => match rest.next() {
                None => return Err(unended('\'')),
                Some('n') => word.push('\n'),
                Some('r') => word.push('\r'),
                Some('t') => word.push('\t'),
                Some('a') => word.push('\u{7}'),
                Some('b') => word.push('\u{8}'),
                Some('e' | 'E') => word.push('\u{1b}'),
                Some('f') => word.push('\u{c}'),
                Some('v') => word.push('\u{b}'),
                Some('x') => word.extend(code(rest, 16, 2)),
                Some('u') => word.extend(unit(rest)),
                Some('U') => word.extend(code(rest, 16, 8)),
                Some(c @ '0'..='7') => {
                    let more: String = std::iter::from_fn(|| rest.next_if(|c| ('0'..='7').contains(c)))
                        .take(2)
                        .collect();
                    let code = u32::from_str_radix(&format!("{c}{more}"), 8).ok();
                    word.extend(code.and_then(char::from_u32));
                }
                Some(c @ ('\'' | '"' | '\\' | '?')) => word.push(c),
                Some(c) => word.extend(['\\', c]),
            },
            Some(c) => word.push(c),
        }
    }
}

fn number(rest: &mut Rest<'_>, radix: u32, most: usize) -> Option<u32> {
    let digits: String = (0..most)
        .map_while(|_| rest.next_if(|c| c.is_digit(radix)))
        .collect();
    u32::from_str_radix(&digits, radix).ok()
}

fn code(rest: &mut Rest<'_>, radix: u32, most: usize) -> Option<char> {
    number(rest, radix, most).and_then(char::from_u32)
}

/// Reads the digits of `\uXXXX`; a surrogate pair is two such escapes.
fn unit(rest: &mut Rest<'_>) -> Option<char> {
    let first = number(rest, 16, 4)?;
    if !(0xd800..0xdc00).contains(&first) {
        return char::from_u32(first);
    }
    let mut ahead = rest.clone();
    if ahead.next() != Some('\\') || ahead.next() != Some('u') {
        return None;
    }
    let second = number(&mut ahead, 16, 4).filter(|second| (0xdc00..0xe000).contains(second))?;
    *rest = ahead;
    char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))
}

fn unended(quote: char) -> Diagnostic {
    Diagnostic::error(format!("a quote {quote} does not end"))
        .hint("copy the whole command; in a browser choose \"Copy as cURL (bash)\"")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        split(text).expect("words").words
    }

    #[test]
    fn words_are_split_as_a_shell_does() {
        let table: [(&str, &[&str]); 14] = [
            ("curl  a\tb", &["curl", "a", "b"]),
            ("a 'b c' \"d e\"", &["a", "b c", "d e"]),
            (r#"a"b"'c'd"#, &["abcd"]),
            ("''  \"\" x", &["", "", "x"]),
            ("curl \\\n  -H 'a: b' \\\r\n x", &["curl", "-H", "a: b", "x"]),
            (r#""\"\\\$\`\n""#, &[r#""\$`\n"#]),
            (r"'\n'", &[r"\n"]),
            (r"\'a\ b", &["'a b"]),
            (r"$'it\'s\n\t\x41\u00e9\101'", &["it's\n\tAéA"]),
            (r"$'\ud83d\ude00!\u0021'", &["😀!!"]),
            (r"$'\ud83d x'", &[" x"]),
            ("a$b \"$C\" $(d)", &["a$b", "$C", "$(d)"]),
            ("\"a\\\nb\"", &["ab"]),
            ("a#b", &["a#b"]),
        ];
        for (text, expected) in table {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn the_first_command_ends_at_an_operator() {
        for (text, ended_by) in [
            ("curl a | jq .", Some('|')),
            ("curl a; ls", Some(';')),
            ("curl a > file", Some('>')),
            ("curl a\ncurl b", Some('\n')),
            ("curl a\n\n", None),
            ("curl 'a|b'", None),
        ] {
            let split = split(text).expect("words");
            assert_eq!(split.ended_by, ended_by, "{text}");
            assert_eq!(split.words.len(), 2, "{text}");
        }
    }

    #[test]
    fn a_quote_that_does_not_end_is_an_error() {
        for text in ["'a", "\"a", "$'a", "\"a\\", "$'a\\"] {
            assert!(split(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_quoted_text_is_one_word_again(text in "\\PC*", more in "[a-z]{1,5}") {
            let single = format!("'{}' {more}", text.replace('\'', r"'\''"));
            let double = format!("\"{}\" {more}", text.replace(['\\'], "\\\\").replace('"', "\\\"").replace('$', "\\$").replace('`', "\\`"));
            let ansi = format!("$'{}' {more}", text.replace('\\', "\\\\").replace('\'', "\\'"));
            for quoted in [single, double, ansi] {
                prop_assert_eq!(words(&quoted), vec![text.clone(), more.clone()]);
            }
        }

        #[test]
        fn any_text_is_split_or_refused(text in "(?s).{0,200}") {
            let _either = split(&text);
        }
    }
}
