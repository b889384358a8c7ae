//! A JSON Schema of a definition, kept as its text.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A JSON Schema as compact JSON. A project may have a hundred thousand tools of which few are called, and the objects of a
/// schema take some ten times the memory of its text. Equal schemas are those with equal values.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SchemaText(Box<RawValue>);

impl SchemaText {
    /// The schema. Each call reads the text again.
    #[must_use]
    pub fn value(&self) -> Value {
        // The text is JSON: a `RawValue` is nothing else.
        serde_json::from_str(self.0.get()).unwrap_or_default()
    }

    /// Changes the keywords of a schema that is an object.
    pub(crate) fn edit(&mut self, change: impl FnOnce(&mut Map<String, Value>)) {
        let mut schema = self.value();
        if let Some(keywords) = schema.as_object_mut() {
            change(keywords);
            *self = Self::from(&schema);
        }
    }
}

impl From<&Value> for SchemaText {
    fn from(schema: &Value) -> Self {
        // A value is always JSON.
        Self(serde_json::value::to_raw_value(schema).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}

impl PartialEq for SchemaText {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get() || self.value() == other.value()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_its_value_and_not_its_text() {
        let schema = json!({"type": "object", "properties": {"b": {"type": "string"}, "a": {"maximum": 9}}});
        let text = SchemaText::from(&schema);
        assert_eq!(text.value(), schema);
        let other_order =
            r#"{"properties": {"a": {"maximum": 9}, "b": {"type": "string"}}, "type": "object"}"#;
        let same: SchemaText = serde_json::from_str(other_order).expect("a schema");
        assert_eq!(text, same);
        assert_ne!(text, SchemaText::from(&json!({"type": "object"})));
    }

    #[test]
    fn it_is_stored_and_read_as_the_value_is() {
        let schema = json!({"type": "object", "properties": {"a": {"default": 1.5}}});
        let text = SchemaText::from(&schema);
        assert_eq!(serde_json::to_value(&text).expect("JSON"), schema);
        let read: SchemaText = serde_json::from_value(schema.clone()).expect("a schema");
        assert_eq!(read, text);
        assert_eq!(serde_json::to_string(&text).expect("JSON"), schema.to_string());
    }
}
