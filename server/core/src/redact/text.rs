//! Secrets inside texts: values that are known, and shapes that give themselves away.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use regex::{Captures, Regex};

/// What stands where a secret stood.
pub(super) const MARK: &str = "[redacted]";

/// Bytes of the shortest text that a shape fits: `a://:x@`.
const SHORTEST: usize = 7;

/// Shapes of tokens. Group `keep` is what stands before the secret and is repeated.
static TOKENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let shapes = [
        // Credentials as they stand in headers.
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
        // Private keys in PEM, to their end or to the end of the text.
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

/// The text without the given secret values, plain, percent-encoded, in base64 or escaped for JSON, and without
/// token-looking parts. Empty values are ignored.
#[must_use]
pub fn redact_text(text: &str, secrets: &[&str]) -> String {
    let mut hits: Vec<Range<usize>> = Vec::new();
    for needle in secrets.iter().flat_map(|secret| forms(secret)) {
        let mut from = 0;
        while let Some(at) = text[from..].find(&needle) {
            let start = from + at;
            hits.push(start..start + needle.len());
            // Occurrences may overlap: the next may begin one character later.
            from = start + text[start..].chars().next().map_or(1, char::len_utf8);
        }
    }
    scrub(&without(text, hits)).into_owned()
}

/// Replaces every run of overlapping ranges by one mark.
fn without(text: &str, mut hits: Vec<Range<usize>>) -> String {
    hits.sort_unstable_by_key(|hit| hit.start);
    let mut clean = String::with_capacity(text.len());
    let mut done = 0;
    let mut hits = hits.into_iter().peekable();
    while let Some(mut hit) = hits.next() {
        while let Some(next) = hits.next_if(|next| next.start < hit.end) {
            hit.end = hit.end.max(next.end);
        }
        clean.push_str(&text[done..hit.start]);
        clean.push_str(MARK);
        done = hit.end;
    }
    clean.push_str(&text[done..]);
    clean
}

/// The texts by which a secret may come back.
fn forms(secret: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for plain in [secret, secret.trim()] {
        let all_encoded = utf8_percent_encode(plain, NON_ALPHANUMERIC).to_string();
        let usual = utf8_percent_encode(plain, USUAL).to_string();
        forms.extend([
            lower_hex(&all_encoded),
            lower_hex(&usual),
            usual.replace("%20", "+"),
            all_encoded,
            usual,
        ]);
        let json = serde_json::Value::from(plain).to_string();
        forms.push(json[1..json.len() - 1].to_owned());
        forms.extend(base64_forms(plain.as_bytes()));
        forms.push(plain.to_owned());
    }
    forms.retain(|form| !form.is_empty());
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// What most clients leave as it is in a query (RFC 3986, section 2.3).
const USUAL: &percent_encoding::AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// `%2F` as `%2f`.
fn lower_hex(encoded: &str) -> String {
    let mut digits = 0;
    encoded
        .chars()
        .map(|c| {
            if c == '%' {
                digits = 2;
                return c;
            }
            let lower = if digits > 0 { c.to_ascii_lowercase() } else { c };
            digits = u8::saturating_sub(digits, 1);
            lower
        })
        .collect()
}

/// A secret in base64 looks different for each of the three places it may begin at within a longer text (`user:secret`).
/// The characters that also depend on its neighbours are left out; fewer than six would hit by chance.
fn base64_forms(secret: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    for before in 0..3 {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(secret);
        // Whole characters that hold bits of the secret only.
        let from = (before * 8).div_ceil(6);
        let to = bytes.len() * 8 / 6;
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            if let Some(form) = engine.encode(&bytes).get(from..to)
                && form.len() >= 6
            {
                forms.push(form.to_owned());
            }
        }
    }
    // Alone, its last character and its padding belong to it too.
    forms.extend(
        [STANDARD_NO_PAD.encode(secret), URL_SAFE_NO_PAD.encode(secret)]
            .into_iter()
            .filter(|form| form.len() >= 6),
    );
    forms
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const SECRET: &str = "s3cr3t/v+lue äö";

    #[rstest]
    #[case::plain("got s3cr3t/v+lue äö, sorry", "got [redacted], sorry")]
    #[case::twice("s3cr3t/v+lue äös3cr3t/v+lue äö", "[redacted][redacted]")]
    #[case::percent_encoded("u=s3cr3t%2Fv%2Blue%20%C3%A4%C3%B6&x=1", "u=[redacted]&x=1")]
    #[case::percent_encoded_in_lower_case("u=s3cr3t%2fv%2blue%20%c3%a4%c3%b6&x=1", "u=[redacted]&x=1")]
    #[case::as_a_form("u=s3cr3t%2Fv%2Blue+%C3%A4%C3%B6&x=1", "u=[redacted]&x=1")]
    #[case::absent("nothing here", "nothing here")]
    fn known_secrets_are_removed(#[case] text: &str, #[case] clean: &str) {
        assert_eq!(redact_text(text, &[SECRET]), clean);
    }

    #[test]
    fn known_secrets_are_removed_in_base64_wherever_they_begin() {
        for before in ["", "a", "ab", "user:", "some-user:"] {
            let whole = format!("{before}{SECRET}-after");
            for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
                let encoded = engine.encode(&whole);
                let clean = redact_text(&format!("seen <{encoded}>"), &[SECRET]);
                assert!(clean.contains(MARK), "{before:?}: {clean}");
                // What is left of it at either side tells less than one byte of the secret.
                assert!(
                    clean.len() < encoded.len() + "seen <>".len(),
                    "{before:?}: {clean}"
                );
            }
        }
        assert_eq!(redact_text(&STANDARD_NO_PAD.encode(SECRET), &[SECRET]), MARK);
    }

    #[test]
    fn known_secrets_are_removed_when_escaped_for_json() {
        let secret = "line\n\"quoted\"";
        let text = serde_json::json!({ "echo": secret }).to_string();
        assert_eq!(redact_text(&text, &[secret]), r#"{"echo":"[redacted]"}"#);
    }

    #[test]
    fn overlapping_secrets_leave_nothing_between_them() {
        assert_eq!(redact_text("xabcdefy", &["abcd", "cdef"]), "x[redacted]y");
        assert_eq!(redact_text("aaa-", &["aa"]), "[redacted]-");
        assert_eq!(
            redact_text("v=value-with-newline.", &["value-with-newline\n"]),
            "v=[redacted]."
        );
        assert_eq!(redact_text("unchanged", &["", " "]), "unchanged");
    }

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
        assert_eq!(redact_text(text, &[]), clean);
    }

    #[rstest]
    #[case("the bearer of this letter is my friend")]
    #[case("a basic question about tokens")]
    #[case("https://example.com:8080/a@b?x=1")]
    #[case("tool task-123 ended in state analysis")]
    #[case("eyJ is how many tokens begin")]
    #[case("")]
    fn ordinary_texts_stay_as_they_are(#[case] text: &str) {
        assert_eq!(redact_text(text, &[]), text);
    }
}
