//! Whether a chosen password is too easy to guess (NIST SP 800-63B, 3.1.1.2): a minimum length, and lists of common passwords,
//! words and names instead of rules about characters.

use std::borrow::Cow;

use zxcvbn::feedback::Feedback;
use zxcvbn::{Score, zxcvbn};

/// The fewest characters of a chosen password.
pub const SHORTEST: usize = 12;
/// What people derive passwords from besides their own names.
const PRODUCT: [&str; 2] = ["toolgate", "gateway"];
/// Shorter parts of names are no word to look for.
const SHORTEST_PART: usize = 3;

/// Why a password is too easy to guess, as the end of a sentence; `None` when it is not. `names` are what its owner is called.
#[must_use]
pub fn weakness(password: &str, names: &[&str]) -> Option<String> {
    if password.chars().count() < SHORTEST {
        return Some(format!("it has fewer than {SHORTEST} characters"));
    }
    let parts = names
        .iter()
        .flat_map(|name| name.split(|at: char| !at.is_alphanumeric()).chain([*name]))
        .filter(|part| part.chars().count() >= SHORTEST_PART);
    let words: Vec<&str> = parts.chain(PRODUCT).collect();
    let estimate = zxcvbn(password, &words);
    if estimate.score() >= Score::Three {
        let derived = zxcvbn(&without(password, &words), &[]).score() < Score::Three;
        return derived.then(|| "it is little more than the user's names or the product's".to_owned());
    }
    let warning = estimate.feedback().and_then(Feedback::warning);
    Some(match warning {
        Some(warning) => clause(&warning.to_string()),
        None => "it is made of common words, names or patterns".to_owned(),
    })
}

/// A password without the words that it may be derived from, in small letters when there are some.
fn without<'a>(password: &'a str, words: &[&str]) -> Cow<'a, str> {
    let small = password.to_lowercase();
    let mut words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let rest = words
        .iter()
        .fold(small.clone(), |rest, word| rest.replace(word, ""));
    if rest == small {
        Cow::Borrowed(password)
    } else {
        Cow::Owned(rest)
    }
}

/// A sentence as a part of another one.
fn clause(sentence: &str) -> String {
    let mut characters = sentence.trim_end_matches('.').chars();
    let first = characters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(characters).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::short("short")]
    #[case::one_character("aaaaaaaaaaaa")]
    #[case::repeated("abcabcabcabcabc")]
    #[case::a_repeated_word("passwordpassword")]
    #[case::common("password1234")]
    #[case::common_with_signs("P@ssw0rd!2024")]
    #[case::keys_in_a_row("qwertyuiop[]")]
    #[case::digits("123456789012")]
    #[case::a_common_sentence("iloveyou1234")]
    #[case::the_user("ada.lovelace1")]
    #[case::the_user_reversed("ecalevol.ada")]
    #[case::the_product("toolgate2026")]
    #[case::product_and_user("Toolgate-Ada-1")]
    #[case::long("x".repeat(1024))]
    fn easy_ones_are_refused(#[case] password: impl AsRef<str>) {
        let why = weakness(password.as_ref(), &["ada.lovelace", "Ada Lovelace"]);
        let why = why.expect("it is refused");
        assert!(!why.is_empty() && !why.contains(password.as_ref()), "{why}");
    }

    #[rstest]
    #[case::words("correct horse battery staple")]
    #[case::a_sentence("a long enough password")]
    #[case::no_rules_about_characters("violet harbour teapot")]
    #[case::random("hX3pQzv9LrT2")]
    #[case::a_name_among_others("ada likes violet harbour teapots")]
    #[case::beyond_ascii("größe über fjord çelik")]
    fn others_are_not(#[case] password: &str) {
        assert_eq!(weakness(password, &["ada.lovelace", "Ada Lovelace"]), None);
    }

    #[test]
    fn the_names_of_others_are_no_reason() {
        assert_eq!(weakness("grace.hopper.kx7", &["ada"]), None);
        assert!(weakness("grace.hopper", &["grace.hopper"]).is_some());
    }
}
