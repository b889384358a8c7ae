//! Names that people read: of groups, states, keys, projects, people. Two names that look the same are the same, because
//! what would make them differ unseen is refused (Unicode Technical Standard 39, sections 3 and 5).

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Invisible characters: marks of direction and format, fillers, joiners, and what has no meaning yet.
static INVISIBLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"[\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u{2800}]").ok()
});
/// Runs of letters with their marks.
static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[\p{L}\p{M}]+").ok());
/// What has forms of its own for other uses: letters and decimal digits.
static PLAIN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[\p{L}\p{Nd}]").ok());
/// Alphabets whose letters look like one another.
static ALPHABETS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    ["Latin", "Greek", "Cyrillic", "Armenian", "Coptic", "Cherokee"]
        .into_iter()
        .filter_map(|name| Some((name, Regex::new(&format!(r"\p{{Script={name}}}")).ok()?)))
        .collect()
});

/// Why a text cannot be a name of at most `longest` characters, as "must not ..."; `None` when it can.
#[must_use]
pub fn name_fault(text: &str, longest: usize) -> Option<String> {
    if text.trim().is_empty() {
        return Some("must not be empty".to_owned());
    }
    if text.trim().len() != text.len() {
        return Some("must not begin or end with a blank".to_owned());
    }
    if text.chars().count() > longest {
        return Some(format!("must not be longer than {longest} characters"));
    }
    if text.chars().any(char::is_control) {
        return Some("must not contain control characters".to_owned());
    }
    if text.is_ascii() {
        return None;
    }
    invisible(text)
        .or_else(|| blank(text))
        .or_else(|| disguised(text))
        .or_else(|| mixed(text))
        .or_else(|| decomposed(text))
}

fn invisible(text: &str) -> Option<String> {
    let found = INVISIBLE.as_ref()?.find(text)?;
    Some(format!(
        "must not contain the invisible character {}",
        code_points(found.as_str())
    ))
}

fn blank(text: &str) -> Option<String> {
    let found = text.chars().find(|&c| c.is_whitespace() && c != ' ')?;
    Some(format!(
        "must not contain the blank {}; write an ordinary one",
        code_points(found.encode_utf8(&mut [0; 4]))
    ))
}

/// A letter or digit that is another form of an ASCII one: wide, mathematical, ...
fn disguised(text: &str) -> Option<String> {
    PLAIN.as_ref()?.find_iter(text).find_map(|found| {
        let plain: String = found.as_str().nfkc().collect();
        let is_disguise = !found.as_str().is_ascii() && plain.chars().all(|c| c.is_ascii_alphanumeric());
        is_disguise.then(|| {
            format!(
                "must not contain {}, which looks like {plain:?}",
                code_points(found.as_str())
            )
        })
    })
}

fn mixed(text: &str) -> Option<String> {
    WORD.as_ref()?.find_iter(text).find_map(|word| {
        let mut alphabets = ALPHABETS
            .iter()
            .filter(|(_, letters)| letters.is_match(word.as_str()))
            .map(|(name, _)| name);
        let (first, second) = (alphabets.next()?, alphabets.next()?);
        Some(format!(
            "must not mix {first} and {second} letters in one word: {:?}",
            word.as_str()
        ))
    })
}

fn decomposed(text: &str) -> Option<String> {
    (!is_nfc(text)).then(|| {
        let composed: String = text.nfc().collect();
        format!("must not contain letters in parts; write {composed:?} in Unicode's composed form (NFC)")
    })
}

/// As they are written about: `U+200B`.
fn code_points(text: &str) -> String {
    text.chars().fold(String::new(), |mut all, c| {
        let blank = if all.is_empty() { "" } else { " " };
        let _ = write!(all, "{blank}U+{:04X}", u32::from(c));
        all
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("knowledge/read")]
    #[case("*")]
    #[case("Größe und Preis")]
    #[case("проверка-2")]
    #[case("β-test")]
    #[case("Toolgate проект")]
    #[case("データbase")]
    #[case("工具（測試）")]
    #[case("שלום")]
    #[case("مرحبا")]
    #[case("한국어")]
    #[case("naïve café")]
    #[case("x² ½ €")]
    #[case("🚀 launch")]
    fn names(#[case] name: &str) {
        assert_eq!(name_fault(name, 128), None);
    }

    #[rstest]
    #[case::empty("", "empty")]
    #[case::blanks("  ", "empty")]
    #[case::at_the_end("a ", "blank")]
    #[case::ideographic_at_the_end("a\u{3000}", "blank")]
    #[case::nul("a\0b", "control")]
    #[case::line("a\nb", "control")]
    #[case::c1("a\u{85}b", "control")]
    #[case::zero_width("ad\u{200b}min", "U+200B")]
    #[case::joiner("ad\u{200d}min", "U+200D")]
    #[case::soft_hyphen("ad\u{ad}min", "U+00AD")]
    #[case::byte_order("\u{feff}admin", "U+FEFF")]
    #[case::override_("ad\u{202e}nim", "U+202E")]
    #[case::isolate("\u{2066}admin", "U+2066")]
    #[case::arabic_mark("a\u{61c}b", "U+061C")]
    #[case::filler("a\u{3164}b", "U+3164")]
    #[case::selector("a\u{fe0f}", "U+FE0F")]
    #[case::tag("a\u{e0061}", "U+E0061")]
    #[case::braille("a\u{2800}b", "U+2800")]
    #[case::private("a\u{e000}", "U+E000")]
    #[case::unassigned("a\u{ffff}", "U+FFFF")]
    #[case::line_separator("a\u{2028}b", "U+2028")]
    #[case::no_break("a\u{a0}b", "U+00A0")]
    #[case::cyrillic("\u{430}dmin", "Latin and Cyrillic")]
    #[case::greek("αdmin", "Latin and Greek")]
    #[case::armenian("օpen", "Latin and Armenian")]
    #[case::in_the_second_word("group раyments", "Latin and Cyrillic")]
    #[case::wide("ａdmin", "U+FF41")]
    #[case::mathematical("𝐚dmin", "U+1D41A")]
    #[case::wide_digit("v１", "U+FF11")]
    #[case::in_parts("cafe\u{301}", "composed")]
    #[case::long("aaaaaaaaaaa", "longer than 10")]
    fn no_names(#[case] text: &str, #[case] why: &str) {
        let longest = if why.starts_with("longer") { 10 } else { 128 };
        let fault = name_fault(text, longest).expect(text);
        assert!(fault.starts_with("must not ") && fault.contains(why), "{fault}");
        assert!(!fault.chars().any(|c| c == '\u{202e}'), "{fault}");
    }

    #[test]
    fn every_table_is_there() {
        assert!(INVISIBLE.is_some() && WORD.is_some() && PLAIN.is_some());
        assert_eq!(ALPHABETS.len(), 6);
    }

    proptest! {
        /// Two names that differ only in invisible characters cannot both be names.
        #[test]
        fn nothing_unseen_makes_a_name(name in "[a-z]{1,8}", at in 0_usize..8, unseen in prop::sample::select(
            vec!['\u{200b}', '\u{200c}', '\u{2060}', '\u{202a}', '\u{202d}', '\u{2067}', '\u{34f}', '\u{180e}', '\u{1d173}']
        )) {
            let mut other: Vec<char> = name.chars().collect();
            other.insert(at.min(other.len()), unseen);
            let other: String = other.into_iter().collect();
            prop_assert_eq!(name_fault(&name, 128), None);
            prop_assert!(name_fault(&other, 128).is_some());
        }
    }
}
