//! Secrets inside texts: recognizable shapes.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// What replaces a secret.
pub(super) const MARK: &str = "[redacted]";

/// Bytes of the shortest text that a shape fits: `a://:x@`.
const SHORTEST: usize = 7;

/// Shapes of tokens. Group `keep` is the text before the secret and is repeated.
static TOKENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let shapes = [
        // Credentials as they are written in headers.
        r"(?P<keep1>\b(?i:bearer|basic|token|apikey)[ \t]+)[A-Za-z0-9._~+/=-]{8,}",
        // `password=...`, `"api_key": "..."`, `&token=...`
        r#"(?P<keep2>(?i:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|signature|authorization|cookie)["']?[ \t]*[=:][ \t]*(?:(?i:bearer|basic)[ \t]+)?["']?)[^\s"'&,;\[\]{}<>]{3,}"#,
        // The password in a URL.
        r"(?P<keep3>\b[a-zA-Z][a-zA-Z0-9+.-]{0,20}://[^\s/@:?#]{0,100}:)[^\s/@?#]{1,300}@",
        // JSON Web Tokens, whole or cut off.
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)*",
        // Keys that name their maker: this gateway's first.
        r"\btgk_[A-Za-z0-9_-]{6,}",
        r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}",
        r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|jina_|hf_|AIza|ya29\.)[A-Za-z0-9_-]{10,}",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
        // Private keys in PEM, up to their last line or to the end of the text.
        r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    ];
    Regex::new(&shapes.map(|shape| format!("(?:{shape})")).join("|")).ok()
});

/// The text without token-looking parts.
pub(super) fn scrub(text: &str) -> Cow<'_, str> {
    // Most names and many values are short.
    if text.len() < SHORTEST {
        return Cow::Borrowed(text);
    }
    let Some(tokens) = TOKENS.as_ref() else {
        // What cannot be searched is not kept; a test makes sure that the pattern compiles.
        return Cow::Borrowed(MARK);
    };
    // Searching costs less than searching for groups, and mostly there is nothing.
    if !tokens.is_match(text) {
        return Cow::Borrowed(text);
    }
    tokens.replace_all(text, |found: &Captures<'_>| {
        if let Some(keep) = found.name("keep3") {
            return format!("{}{MARK}@", keep.as_str());
        }
        if let Some(keep) = found.name("keep1")
            && is_word(&found[0][keep.len()..])
        {
            return found[0].to_owned();
        }
        let keep = found
            .name("keep1")
            .or(found.name("keep2"))
            .map_or("", |keep| keep.as_str());
        format!("{keep}{MARK}")
    })
}

/// Whether what follows `bearer` or `basic` is rather a word of a sentence than a credential.
fn is_word(text: &str) -> bool {
    text.len() < 20 && text.trim_end_matches('.').bytes().all(|b| b.is_ascii_lowercase())
}

/// The text of a message without the user and password of any address in it.
#[must_use]
pub fn without_user_info(text: &str) -> Cow<'_, str> {
    let mut clean = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + "://".len());
        let ends = |at: usize, c: char| match c {
            // In a text within quotes, a quote of its own is escaped.
            '"' => !after[..at].ends_with('\\'),
            '`' | '<' | '>' => true,
            c => c.is_whitespace(),
        };
        let end = after.char_indices().find(|&(at, c)| ends(at, c));
        let end = end.map_or(after.len(), |(at, _)| at);
        clean.push_str(before);
        rest = after;
        if let Some(at) = after[..end].rfind('@') {
            clean.push_str(MARK);
            rest = &after[at..];
        }
    }
    if clean.is_empty() {
        return Cow::Borrowed(text);
    }
    clean.push_str(rest);
    Cow::Owned(clean)
}

/// An address without its user and password, as it may be repeated: everything before the last `@` is removed,
/// because a password may hold any character.
#[must_use]
pub fn address_without_user(address: &str) -> Cow<'_, str> {
    let start = address.find("://").map_or(0, |at| at + "://".len());
    match address[start..].rfind('@') {
        Some(at) if start > 0 || address[..at].contains(':') => {
            Cow::Owned(format!("{}{MARK}{}", &address[..start], &address[start + at..]))
        }
        _ => Cow::Borrowed(address),
    }
}

/// The text without token-looking parts.
#[must_use]
pub fn redact_text(text: &str) -> String {
    scrub(text).into_owned()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Authorization: Bearer abcdefgh12345678", "Authorization: Bearer [redacted]")]
    #[case("sent bearer abcdefgh12345678.", "sent bearer [redacted]")]
    #[case("Basic dXNlcjpwYXNz and more", "Basic [redacted] and more")]
    #[case("a eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl b", "a [redacted] b")]
    #[case("a eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOi", "a [redacted]")]
    #[case("key tgk_abc123DEF456 is unknown", "key [redacted] is unknown")]
    #[case("sk-proj-abcdefghijklmnop1234", "[redacted]")]
    #[case("ghp_abcdefghijklmnopqrstuvwxyz", "[redacted]")]
    #[case("jina_0123456789abcdef", "[redacted]")]
    #[case("AKIAABCDEFGHIJKLMNOP", "[redacted]")]
    #[case("a://:x@", "a://:[redacted]@")]
    #[case("https://user:hunter2@host/path", "https://user:[redacted]@host/path")]
    #[case(
        "https://h/p?q=1&api_key=hunter22&x=2",
        "https://h/p?q=1&api_key=[redacted]&x=2"
    )]
    #[case(r#"{"password": "hunter2", "q": 1}"#, r#"{"password": "[redacted]", "q": 1}"#)]
    #[case(
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- tail",
        "[redacted] tail"
    )]
    #[case("-----BEGIN PRIVATE KEY-----\nMIIE cut off", "[redacted]")]
    fn shapes_of_tokens_are_removed(#[case] text: &str, #[case] clean: &str) {
        assert_eq!(redact_text(text), clean);
    }

    #[rstest]
    #[case("https://user:hunter2@host/path", "https://[redacted]@host/path")]
    #[case("https://user:p/a?s#s@w@host", "https://[redacted]@host")]
    #[case("https://user@host", "https://[redacted]@host")]
    #[case("user:hunter2@host", "[redacted]@host")]
    #[case("https://user:hun\"ter 2@host", "https://[redacted]@host")]
    #[case("https://host/path", "https://host/path")]
    #[case("me@example.com", "me@example.com")]
    fn an_address_is_repeated_without_its_user(#[case] address: &str, #[case] clean: &str) {
        assert_eq!(address_without_user(address), clean);
    }

    #[rstest]
    #[case(
        "no \"https://u:p@a\" and https://u:p@b, not https://c",
        "no \"https://[redacted]@a\" and https://[redacted]@b, not https://c"
    )]
    #[case(
        r#"no string "https://u:p\"w@a", please"#,
        r#"no string "https://[redacted]@a", please"#
    )]
    #[case("nothing", "nothing")]
    fn a_message_names_addresses_without_their_users(#[case] text: &str, #[case] clean: &str) {
        assert_eq!(without_user_info(text), clean);
    }

    #[rstest]
    #[case("the bearer of this letter is my friend")]
    #[case("a basic question about tokens")]
    #[case("https://example.com:8080/a@b?x=1")]
    #[case("tool task-123 ended in state analysis")]
    #[case("eyJ is how many tokens begin")]
    #[case("")]
    fn ordinary_texts_stay_as_they_are(#[case] text: &str) {
        assert_eq!(redact_text(text), text);
    }
}
