//! Texts in quotes that go on at the indentation of their key:
//!
//! ```yaml
//! description: "The first line
//! and the second."
//! ```
//!
//! YAML 1.2.2 asks for deeper indentation (production 69, `s-flow-line-prefix`); `PyYAML`, go-yaml and js-yaml do not. Blanks at
//! the beginning of such a line are no part of the text, so indenting the line changes nothing but that it is read.

use granit_parser::{ErrorKind, Options, Parser, ScanError};

/// Most bytes that are read again to find further lines.
const MAX_WORK: usize = 32 << 20;
/// Deeper than any key is indented.
const INDENT: usize = 200;

/// A text whose lines within quotes are indented.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Indented {
    pub(super) text: String,
    /// The lines at which reading stopped before, from 1.
    pub(super) lines: Vec<usize>,
}

/// What is said of such a line.
pub(super) const WARNING: (&str, &str) = (
    "a text in quotes goes on at the indentation of its key; it was read all the same",
    "indent this line deeper than the key",
);

/// Whether reading stopped because a line within quotes is not indented enough.
fn is_in_quotes(fault: &ScanError) -> bool {
    matches!(
        fault.kind(),
        ErrorKind::InvalidQuotedScalarIndent | ErrorKind::TabInIndentation
    )
}

/// The text with every line indented at which reading stops for this reason; `None` when `fault` is another one, or too much is
/// to be read again.
pub(super) fn indent(text: &str, fault: &ScanError, options: &Options) -> Option<Indented> {
    let mut done = Indented {
        text: text.to_owned(),
        lines: Vec::new(),
    };
    let mut fault = Some(fault.clone()).filter(is_in_quotes)?;
    let mut work = MAX_WORK;
    loop {
        let line = fault.marker().line();
        work = work.checked_sub(done.text.len())?;
        if done.lines.last().is_some_and(|last| *last >= line) {
            return None;
        }
        done.lines.push(line);
        done.text = indented(&done.text, fault.marker().byte_offset()?);
        let next = Parser::new_from_str_with_options(&done.text, options.clone()).find_map(Result::err);
        match next.filter(is_in_quotes) {
            Some(next) => fault = next,
            None => return Some(done),
        }
    }
}

/// Indents the line of an offset that is within quotes, and those after it that are too for certain: up to the first quote of
/// either kind.
fn indented(text: &str, at: usize) -> String {
    let start = text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let (before, rest) = text.split_at(start);
    let quote = rest.find(['"', '\'']).unwrap_or(rest.len());
    let end = rest[quote..].find('\n').map_or(rest.len(), |end| quote + end);
    let (inside, after) = rest.split_at(end);
    let blanks = " ".repeat(INDENT);
    let inside = inside.replace('\n', &format!("\n{blanks}"));
    [before, &blanks, &inside, after].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Indented> {
        let options = granit_parser::options! { emit_comments: false };
        let fault = Parser::new_from_str_with_options(text, options.clone()).find_map(Result::err)?;
        indent(text, &fault, &options)
    }

    #[test]
    fn only_lines_within_quotes_are_indented() {
        let text = "a:\n  b: 'it''s\n  \"one\n\n  text'\n  c: |\n    'no\n    text'\n  d: \"x\n\ty\"\n";
        let done = of(text).expect("indented");
        assert_eq!(done.lines, [3, 5, 10]);
        let lines = |text: &str| -> Vec<String> { text.lines().map(|line| line.trim().to_owned()).collect() };
        assert_eq!(lines(&done.text), lines(text));
        let changed: Vec<usize> = (1..)
            .zip(done.text.lines().zip(text.lines()))
            .filter_map(|(number, (after, before))| (after != before).then_some(number))
            .collect();
        assert_eq!(changed, [3, 5, 10]);
    }

    #[test]
    fn other_faults_stay_what_they_are() {
        for text in ["a: [1", "a: \"x", "a:\n\tb: 1\n"] {
            assert_eq!(of(text), None, "{text}");
        }
        let first_this_then_another = "a: 'x\ny'\nb: [1";
        assert_eq!(of(first_this_then_another).expect("indented").lines, [2]);
    }
}
