//! Allowed values and defaults in the form that generators read: values of one type, and defaults of the type of what they
//! are the default of.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::names::folded;
use crate::decimal::Decimal;

/// What is one of these values, as schemas of which it fits one. Objects and arrays are described by their type alone.
pub(super) fn allowed(values: &[Value]) -> Vec<Value> {
    let mut texts: Vec<&str> = Vec::new();
    let mut integers: Vec<&Value> = Vec::new();
    let mut others: Vec<Value> = Vec::new();
    let mut booleans: Vec<bool> = Vec::new();
    for value in values {
        match value {
            Value::String(text) if !texts.contains(&text.as_str()) => texts.push(text),
            Value::Number(number) if number.is_i64() || number.is_u64() => {
                if !integers.contains(&value) {
                    integers.push(value);
                }
            }
            Value::Bool(value) if !booleans.contains(value) => booleans.push(*value),
            Value::String(_) | Value::Bool(_) => {}
            Value::Number(_) => others.push(json!({ "type": "number", "const": value })),
            Value::Null => others.push(json!({ "type": "null" })),
            Value::Object(_) => others.push(json!({ "type": "object" })),
            Value::Array(_) => others.push(json!({ "type": "array", "items": {} })),
        }
    }
    let mut schemas = Vec::new();
    match texts.as_slice() {
        [] => {}
        some if !some.iter().all(|text| is_literal(text)) => schemas.push(json!({ "type": "string" })),
        [one] => schemas.push(json!({ "type": "string", "const": one })),
        some if have_names(some) => schemas.push(json!({ "type": "string", "enum": some })),
        some => schemas.extend(some.iter().map(|text| json!({ "type": "string", "const": text }))),
    }
    match integers.as_slice() {
        [] => {}
        [one] => schemas.push(json!({ "type": "integer", "const": one })),
        some => schemas.push(json!({ "type": "integer", "enum": some })),
    }
    match booleans.as_slice() {
        [] => {}
        [one] => schemas.push(json!({ "type": "boolean", "const": one })),
        _ => schemas.push(json!({ "type": "boolean" })),
    }
    others.dedup();
    schemas.extend(others);
    schemas
}

/// Whether generators that copy a text between quotes write down the same text.
fn is_literal(text: &str) -> bool {
    !text.contains(|c: char| c.is_control() || matches!(c, '\\' | '\'' | '\u{2028}' | '\u{2029}'))
}

/// Whether an enumeration can have a member for each text: members are named by their texts, and by their places where a
/// text does not start with a letter.
fn have_names(texts: &[&str]) -> bool {
    let mut names = HashSet::new();
    texts.iter().enumerate().all(|(place, text)| {
        let named = text.starts_with(char::is_alphabetic);
        names.insert(if named {
            folded(text)
        } else {
            format!("value{place}")
        })
    })
}

/// Whether a value has a type, in the words of JSON Schema.
pub(super) fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => match value {
            Value::Number(number) => Decimal::parse(number.as_str()).is_integer(),
            _ => false,
        },
        _ => true,
    }
}

/// Whether a finished schema can carry this default: generators write it down as a value of the type they made.
pub(super) fn carries(schema: &Map<String, Value>, default: &Value) -> bool {
    if let Some(Value::Array(variants)) = schema.get("anyOf") {
        let mut variants = variants.iter().filter_map(Value::as_object);
        return variants.any(|variant| carries(variant, default));
    }
    let Some(Value::String(kind)) = schema.get("type") else {
        return false;
    };
    // Generators read these texts into values of other types.
    let read = matches!(
        schema.get("format").and_then(Value::as_str),
        Some("date" | "date-time" | "uuid")
    );
    let fits = match kind.as_str() {
        "integer" => default.is_i64() || default.is_u64(),
        "object" => false,
        kind => has_type(default, kind),
    };
    fits && !read
        && schema.get("const").is_none_or(|only| only == default)
        && schema
            .get("enum")
            .and_then(Value::as_array)
            .is_none_or(|values| values.contains(default))
}
