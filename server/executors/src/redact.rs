//! Removing the secrets of a request from every text that comes back.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// What stands where a secret was.
const MASK: &str = "[redacted]";
/// The longest upstream message that is kept, in characters.
const MESSAGE_CHARS: usize = 500;
/// Shorter values (`true`, `eu`, `8080`) are settings rather than secrets: masking them in results would spoil results.
const MIN_RESULT_SECRET: usize = 8;

/// The secret values of one request.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<SecretString>);

impl Secrets {
    /// Adds a value, and the forms under which an upstream may echo it.
    pub(crate) fn add(&mut self, secret: &SecretString) {
        let value = secret.expose_secret();
        if value.is_empty() {
            return;
        }
        let encoded = utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
        let json = serde_json::to_string(value).unwrap_or_default();
        let escaped = json.trim_matches('"');
        if encoded != value {
            self.0.push(encoded.into());
        }
        if escaped != value {
            self.0.push(escaped.into());
        }
        self.0.push(secret.clone());
    }

    /// Whether the request carries no secret.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether any of the values occurs in the bytes.
    pub(crate) fn occur_in(&self, bytes: &[u8]) -> bool {
        self.0.iter().any(|secret| {
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
            .0
            .iter()
            .any(|secret| secret.expose_secret().len() >= MIN_RESULT_SECRET)
        {
            self.clean_value(value);
        }
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
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn redact<'a>(&self, text: &'a str, min_len: usize) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.0 {
            let value = secret.expose_secret();
            if value.len() >= min_len && text.contains(value) {
                text = Cow::Owned(text.replace(value, MASK));
            }
        }
        text
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
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
    fn debug_shows_only_a_count() {
        assert_eq!(format!("{:?}", secrets(&["supersecret"])), "Secrets(1)");
    }
}
