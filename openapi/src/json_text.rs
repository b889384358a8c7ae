//! JSON that is passed on as it came.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// A JSON value as text. Nothing is built of it on its way, and its numbers keep every digit.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsonText(Box<RawValue>);

impl JsonText {
    /// Takes the text of one JSON value; white space around it is removed.
    ///
    /// # Errors
    /// When it is not JSON.
    pub fn parse(text: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text).map(Self)
    }

    /// The text.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The value; null when it cannot be built, such as for a number that no number type holds.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::from_str(self.get()).unwrap_or_default()
    }
}

impl From<&Value> for JsonText {
    fn from(value: &Value) -> Self {
        // A value always has a text; `null` covers the impossible case.
        Self(to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}

/// Compares the texts, so that equal means equal for every reader.
impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for JsonText {}

/// Compares the values.
impl PartialEq<Value> for JsonText {
    fn eq(&self, other: &Value) -> bool {
        self.to_value() == *other
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_passes_unchanged() {
        let text = JsonText::parse(b" {\"n\": 12345678901234567890.10, \"a\": [1 , 2]} ").unwrap();
        assert_eq!(text.get(), "{\"n\": 12345678901234567890.10, \"a\": [1 , 2]}");
        let within = serde_json::to_string(&json!({ "result": null })).unwrap();
        assert_eq!(within, "{\"result\":null}");
        assert_eq!(
            serde_json::to_string(std::slice::from_ref(&text)).unwrap(),
            format!("[{}]", text.get())
        );
        assert_eq!(serde_json::from_str::<JsonText>(text.get()).unwrap(), text);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in ["", "{", "{} {}", "nope", "\"\u{1}\""] {
            assert!(JsonText::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(JsonText::parse(b"\"\xff\"").is_err());
    }

    #[test]
    fn values_become_text_and_back() {
        let value = json!({"b": 1, "a": [null, "x"]});
        let text = JsonText::from(&value);
        assert_eq!(text.get(), r#"{"b":1,"a":[null,"x"]}"#);
        assert_eq!(text, value);
    }
}
