//! Removing the secrets of a request from every text that comes back.

use std::borrow::Cow;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// What stands where a secret was.
const MASK: &str = "[redacted]";
/// The longest upstream message that is kept, in characters.
const MESSAGE_CHARS: usize = 500;
/// Shorter values (`true`, `eu`, `8080`) are settings rather than secrets: masking them in results would spoil results.
const MIN_RESULT_SECRET: usize = 8;

/// What JavaScript's `encodeURIComponent` leaves as it is.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// The secret values of one request.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    /// The values themselves, and the forms under which an upstream may echo them, the longest first.
    forms: Vec<SecretString>,
    number: usize,
}

impl Secrets {
    /// Adds a value, and the forms under which an upstream may echo it.
    pub(crate) fn add(&mut self, secret: &SecretString) {
        let value = secret.expose_secret();
        if value.is_empty() {
            return;
        }
        let mut forms = vec![
            utf8_percent_encode(value, NON_ALPHANUMERIC).to_string(),
            utf8_percent_encode(value, COMPONENT).to_string(),
            url::form_urlencoded::byte_serialize(value.as_bytes()).collect(),
            serde_json::to_string(value)
                .unwrap_or_default()
                .trim_matches('"')
                .to_owned(),
        ];
        if value.len() >= MIN_RESULT_SECRET {
            forms.extend([
                hex(value, u8::to_ascii_lowercase),
                hex(value, u8::to_ascii_uppercase),
            ]);
            forms.extend((0..3).flat_map(|shift| base64_at(value, shift)));
        }
        forms.retain(|form| form != value);
        forms.sort_unstable();
        forms.dedup();
        self.forms.extend(forms.into_iter().map(SecretString::from));
        self.forms.push(secret.clone());
        // The longest first: what is left around a part of a form that was masked would be more than nothing.
        self.forms
            .sort_by_key(|form| std::cmp::Reverse(form.expose_secret().len()));
        self.number += 1;
    }

    /// Whether the request carries no secret.
    pub(crate) fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Whether any of the values occurs in the bytes.
    pub(crate) fn occur_in(&self, bytes: &[u8]) -> bool {
        self.forms.iter().any(|secret| {
            let needle = secret.expose_secret().as_bytes();
            bytes.windows(needle.len()).any(|window| window == needle)
        })
    }

    /// The text without any of the values, cut to what a message may hold.
    pub(crate) fn message(&self, text: &str) -> String {
        // Redacting comes first: a cut through the middle of a secret would leave half of it behind.
        let clean = self.redact(text, 1);
        let mut cut: String = clean
            .chars()
            .filter(|c| !c.is_control() || *c == '\n')
            .take(MESSAGE_CHARS)
            .collect();
        if clean.chars().count() > MESSAGE_CHARS {
            cut.push('…');
        }
        cut
    }

    /// Masks the values in every string and key of a result.
    pub(crate) fn clean(&self, value: &mut Value) {
        if self
            .forms
            .iter()
            .any(|secret| secret.expose_secret().len() >= MIN_RESULT_SECRET)
        {
            self.clean_value(value);
        }
    }

    /// The bytes with the values masked, as in a result.
    pub(crate) fn clean_bytes(&self, bytes: &Bytes) -> Bytes {
        let mut bytes = bytes.clone();
        for secret in &self.forms {
            let needle = secret.expose_secret().as_bytes();
            if needle.len() >= MIN_RESULT_SECRET && position(&bytes, needle).is_some() {
                bytes = replaced(&bytes, needle).into();
            }
        }
        bytes
    }

    fn clean_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(clean) = self.redact(text, MIN_RESULT_SECRET) {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.clean_value(item)),
            Value::Object(fields) => {
                if fields
                    .keys()
                    .any(|key| matches!(self.redact(key, MIN_RESULT_SECRET), Cow::Owned(_)))
                {
                    let old = std::mem::take(fields);
                    fields.extend(
                        old.into_iter()
                            .map(|(key, field)| (self.redact(&key, MIN_RESULT_SECRET).into_owned(), field)),
                    );
                }
                fields.values_mut().for_each(|field| self.clean_value(field));
            }
            // A value of digits may come back as a number.
            Value::Number(number) => {
                if let Cow::Owned(clean) = self.redact(&number.to_string(), MIN_RESULT_SECRET) {
                    *value = Value::String(clean);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn redact<'a>(&self, text: &'a str, min_len: usize) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.forms {
            let value = secret.expose_secret();
            if value.len() >= min_len && text.contains(value) {
                text = Cow::Owned(text.replace(value, MASK));
            }
        }
        text
    }
}

/// Where a part begins, which is not empty.
fn position(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    let (first, rest) = needle.split_first()?;
    let mut from = 0;
    // Most bytes are not the first one, and those are skipped fast.
    while let Some(at) = bytes.get(from..)?.iter().position(|byte| byte == first) {
        if bytes[from + at + 1..].starts_with(rest) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

fn replaced(mut bytes: &[u8], needle: &[u8]) -> Vec<u8> {
    let mut clean = Vec::with_capacity(bytes.len());
    while let Some(at) = position(bytes, needle) {
        clean.extend_from_slice(&bytes[..at]);
        clean.extend_from_slice(MASK.as_bytes());
        bytes = &bytes[at + needle.len()..];
    }
    clean.extend_from_slice(bytes);
    clean
}

fn hex(value: &str, case: fn(&u8) -> u8) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(case(&DIGITS[usize::from(nibble)]));
    value
        .bytes()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// The characters of base64 that come from the value alone when so many bytes (modulo 3) stand before it, in both
/// alphabets. So the value is found inside of something longer that was encoded, too.
fn base64_at(value: &str, shift: usize) -> [String; 2] {
    let mut bytes = vec![0; shift];
    bytes.extend_from_slice(value.as_bytes());
    let (first, end) = ((shift * 8).div_ceil(6), bytes.len() * 8 / 6);
    let inner = |text: String| text.get(first..end).unwrap_or_default().to_owned();
    [
        inner(STANDARD_NO_PAD.encode(&bytes)),
        inner(URL_SAFE_NO_PAD.encode(&bytes)),
    ]
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.number)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secrets(values: &[&str]) -> Secrets {
        let mut secrets = Secrets::default();
        for value in values {
            secrets.add(&SecretString::from(*value));
        }
        secrets
    }

    #[test]
    fn messages_lose_every_form_of_a_secret() {
        let secrets = secrets(&["k-1/\"2\" 3"]);
        let text = r#"plain k-1/"2" 3, encoded k%2D1%2F%222%22%203, in JSON "k-1/\"2\" 3""#;
        assert_eq!(
            secrets.message(text),
            r#"plain [redacted], encoded [redacted], in JSON "[redacted]""#
        );
    }

    #[test]
    fn a_message_is_redacted_before_it_is_cut() {
        let text = format!("{}{}", "a".repeat(495), "topsecretvalue");
        let message = secrets(&["topsecretvalue"]).message(&text);
        assert!(!message.contains("top"), "{message}");
        assert_eq!(
            message.chars().count(),
            501,
            "500 characters and the mark of the cut"
        );
    }

    #[test]
    fn results_keep_short_settings_and_lose_secrets() {
        let mut value =
            json!({"echo": "Bearer supersecret", "supersecret": [true, "eu", {"deep": "xsupersecretx"}]});
        secrets(&["supersecret", "eu", "true"]).clean(&mut value);
        assert_eq!(
            value,
            json!({"echo": "Bearer [redacted]", "[redacted]": [true, "eu", {"deep": "x[redacted]x"}]})
        );
    }

    #[test]
    fn every_form_in_which_a_value_may_come_back_is_masked() {
        use base64::engine::general_purpose::{STANDARD, URL_SAFE};
        let value = "k/1+2 ~3\"?é>>";
        let secrets = secrets(&[value]);
        let mut shown = vec![
            value.to_owned(),
            serde_json::to_string(value).expect("JSON"),
            utf8_percent_encode(value, NON_ALPHANUMERIC).to_string(),
            utf8_percent_encode(value, COMPONENT).to_string(),
            url::form_urlencoded::byte_serialize(value.as_bytes()).collect(),
            hex(value, u8::to_ascii_lowercase),
            hex(value, u8::to_ascii_uppercase),
        ];
        for around in ["", "a", "ab", "abc", "user:"] {
            let whole = format!("{around}{value}{around}");
            shown.extend([STANDARD.encode(&whole), URL_SAFE.encode(&whole)]);
        }
        for text in shown {
            let bytes = [
                &[0xff, value.as_bytes()[0]],
                text.as_bytes(),
                &[0],
                text.as_bytes(),
            ]
            .concat();
            let clean = secrets.clean_bytes(&bytes.into());
            assert_eq!(clean[..2], [0xff, value.as_bytes()[0]]);
            assert_eq!(
                clean
                    .windows(MASK.len())
                    .filter(|part| *part == MASK.as_bytes())
                    .count(),
                2,
                "{text}"
            );
            assert!(!secrets.occur_in(&clean), "{text}");
            let mut result = json!({ "echo": text });
            secrets.clean(&mut result);
            assert!(result["echo"].as_str().expect("text").contains(MASK), "{text}");
            assert!(secrets.message(&text).contains(MASK), "{text}");
        }
    }

    #[test]
    fn a_value_of_digits_is_masked_as_a_number_too() {
        let mut value = json!({"pin": 123_456_789_012_u64, "other": 12_345_678});
        secrets(&["123456789012"]).clean(&mut value);
        assert_eq!(value, json!({"pin": "[redacted]", "other": 12_345_678}));
    }

    #[test]
    fn debug_shows_only_a_count() {
        assert_eq!(format!("{:?}", secrets(&["supersecret"])), "Secrets(1)");
    }
}
