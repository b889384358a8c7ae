//! From text to the words that are compared, in any script.

/// Most words taken from one text.
const MAX_WORDS: usize = 2_000;
/// Most words of a question that are looked for; each costs a look at every tool that has it.
const ASKED: usize = 64;
/// Longest word, in characters; what is longer is cut, so that a hostile text costs no memory.
const LONGEST: usize = 32;
/// Words in scripts other than the Latin one are compared by their beginning, because they are inflected at their end.
const STEM: usize = 5;

/// Words that say nothing about what is to be done, in order.
const STOP_WORDS: [&str; 76] = [
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "could", "das", "der",
    "die", "do", "does", "for", "from", "get", "give", "has", "have", "how", "i", "if", "in", "into", "is",
    "it", "its", "me", "my", "need", "of", "on", "or", "our", "please", "should", "some", "that", "the",
    "their", "them", "then", "there", "these", "this", "those", "to", "tool", "und", "us", "use", "want",
    "was", "we", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your", "в",
    "и", "как", "на", "по", "что",
];

/// The words of a text in their order, repetitions included.
///
/// Letters and digits form words; a capital after a small letter begins a new one (`webSearch`). Case does not count,
/// and neither does an English plural. Scripts without blanks between words are taken in pairs of characters.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for c in text.chars() {
        if words.len() >= MAX_WORDS {
            break;
        }
        let hump = before.is_lowercase() && c.is_uppercase();
        if !c.is_alphanumeric() || is_ideographic(c) != is_ideographic(before) || hump {
            finish(&mut word, &mut words);
        }
        if c.is_alphanumeric() {
            word.push(c);
        }
        before = c;
    }
    finish(&mut word, &mut words);
    words.truncate(MAX_WORDS);
    words
}

/// The first different words of a question that say something; any words when none does.
pub(super) fn question(text: &str) -> Vec<String> {
    let mut all = words(text);
    let mut seen = std::collections::HashSet::new();
    all.retain(|word| seen.insert(word.clone()));
    let telling: Vec<String> = all.iter().filter(|word| !is_stop_word(word)).cloned().collect();
    let mut asked = if telling.is_empty() { all } else { telling };
    asked.truncate(ASKED);
    asked
}

/// Whether a word says nothing about what is to be done.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

fn finish(word: &mut String, words: &mut Vec<String>) {
    if word.is_empty() {
        return;
    }
    if word.is_ascii() {
        word.make_ascii_lowercase();
        word.truncate(LONGEST);
        words.push(singular(word).into_owned());
        word.clear();
        return;
    }
    let lower: Vec<char> = word.to_lowercase().chars().take(MAX_WORDS).collect();
    word.clear();
    if lower.first().copied().is_some_and(is_ideographic) {
        if let [only] = lower.as_slice() {
            words.push(only.to_string());
        }
        words.extend(lower.windows(2).map(|pair| pair.iter().collect()));
        return;
    }
    let kept = if is_latin(&lower) { LONGEST / 2 } else { STEM };
    words.push(lower.iter().take(kept).collect());
}

/// An English word without its plural ending; other words that end like one lose no more than that.
fn singular(word: &str) -> std::borrow::Cow<'_, str> {
    if word.len() > 4
        && let Some(stem) = word.strip_suffix("ies")
    {
        return format!("{stem}y").into();
    }
    if word.len() > 3
        && !word.ends_with("ss")
        && !word.ends_with("us")
        && !word.ends_with("is")
        && let Some(stem) = word.strip_suffix('s')
    {
        return stem.into();
    }
    word.into()
}

/// Latin letters with marks, and digits.
fn is_latin(word: &[char]) -> bool {
    word.iter().all(|&c| c < '\u{250}')
}

/// Scripts that put no blanks between words: Han, Hiragana, Katakana, Thai and their like.
fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::kebab("web-search", &["web", "search"])]
    #[case::camel("webSearch2", &["web", "search2"])]
    #[case::snake("max_results", &["max", "result"])]
    #[case::an_acronym_stays_whole("HTTP proxy", &["http", "proxy"])]
    #[case::plurals("queries for databases, addresses, status", &["query", "for", "database", "addresse", "status"])]
    #[case::cyrillic_by_its_beginning("графовая база, графовые базы", &["графо", "база", "графо", "базы"])]
    #[case::marks("Übersicht café", &["übersicht", "café"])]
    #[case::han_in_pairs("图数据库 search", &["图数", "数据", "据库", "search"])]
    #[case::han_alone("图", &["图"])]
    #[case::han_beside_latin("用SQL查询", &["用", "sql", "查询"])]
    #[case::nothing(" -- \u{0} ", &[])]
    fn text_becomes_words(#[case] text: &str, #[case] expected: &[&str]) {
        assert_eq!(words(text), expected);
    }

    #[test]
    fn every_stop_word_is_found() {
        assert!(
            STOP_WORDS.iter().all(|word| is_stop_word(word)),
            "they are in order"
        );
        assert!(!is_stop_word("search"));
    }

    #[test]
    fn a_question_keeps_what_says_something() {
        assert_eq!(question("Find the papers, find them!"), ["find", "paper"]);
        assert_eq!(
            question("what is it"),
            ["what", "is", "it"],
            "nothing else is there"
        );
    }

    #[test]
    fn a_hostile_text_is_cut() {
        let many: Vec<String> = (0..1_000).map(|n| format!("word{n}")).collect();
        assert_eq!(question(&many.join(" ")).len(), ASKED);
        assert!(words(&"a ".repeat(1_000_000)).len() <= MAX_WORDS);
        assert!(words(&"a".repeat(1_000_000))[0].len() <= LONGEST);
        assert!(words(&"图".repeat(100_000)).len() <= MAX_WORDS);
    }
}
