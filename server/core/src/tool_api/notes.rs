//! What a schema says to people, and the default and examples that it names.

use serde_json::{Map, Value};

use super::values::carries;

/// Longest default that a description names, in characters.
const LONGEST_DEFAULT: usize = 200;

/// What a schema says to people, and its default.
pub(super) fn notes(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut said = Map::new();
    let text = |keyword: &str| {
        schema
            .get(keyword)
            .filter(|text| text.as_str().is_some_and(|text| !text.trim().is_empty()))
    };
    // Generators name types by titles, which many schemas share.
    if let Some(text) = text("description").or_else(|| text("title")) {
        said.insert("description".to_owned(), text.clone());
    }
    for keyword in ["default", "deprecated", "examples"] {
        if let Some(value) = schema.get(keyword) {
            said.insert(keyword.to_owned(), value.clone());
        }
    }
    said
}

/// Names a default in the description.
pub(super) fn say_default(said: &mut Map<String, Value>, default: &Value) {
    let default = default.to_string();
    if default.chars().count() > LONGEST_DEFAULT {
        return;
    }
    let before = said
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let gap = if before.is_empty() { "" } else { "\n\n" };
    let text = format!("{before}{gap}Default: `{default}`.");
    said.insert("description".to_owned(), Value::String(text));
}

/// Those examples that have the type of the schema.
pub(super) fn fitting(schema: &Map<String, Value>, examples: Value) -> Vec<Value> {
    match examples {
        // A text of a format is an example of it only if it is written so, which nothing has checked.
        Value::Array(mut examples) if !schema.contains_key("format") => {
            examples.retain(|example| carries(schema, example));
            examples
        }
        _ => Vec::new(),
    }
}
