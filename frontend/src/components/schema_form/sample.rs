//! Arguments to begin with, where a schema says which.

use serde_json::{Map, Value};

/// Deeper parts are left to the person who fills in the form.
const DEEPEST: usize = 4;

/// Most items that are made up for an array.
const MOST_ITEMS: u64 = 10;
/// Most characters that are made up for a text.
const LONGEST_TEXT: usize = 1000;

/// The required parts of an object that its schema says a value for: the only one there is, an example, or the default.
/// Nothing is made up.
pub(crate) fn sample(schema: &Value) -> Value {
    of(schema, schema, Made::BySchema, 0).unwrap_or_else(|| Value::Object(Map::new()))
}

/// Arguments that fit the schema as far as its types say: where it says no value, one is made up. For a call that is shown
/// as an example.
pub(crate) fn filled(schema: &Value) -> Value {
    of(schema, schema, Made::Up, 0).unwrap_or_else(|| Value::Object(Map::new()))
}

/// Where values come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    /// From the schema alone.
    BySchema,
    /// From the schema, or made up by the type.
    Up,
}

fn of(root: &Value, part: &Value, made: Made, depth: usize) -> Option<Value> {
    if depth > DEEPEST {
        return None;
    }
    if let Some(reference) = part["$ref"].as_str() {
        let target = root.pointer(reference.strip_prefix('#')?)?;
        return of(root, target, made, depth + 1);
    }
    let said = part.get("const").or_else(|| part["examples"].get(0));
    if let Some(value) = said.or_else(|| part.get("default")) {
        return Some(value.clone());
    }
    let names = part["required"].as_array().into_iter().flatten();
    let values: Map<String, Value> = names
        .filter_map(Value::as_str)
        .filter_map(|name| {
            let value = of(root, &part["properties"][name], made, depth + 1)?;
            Some((name.to_owned(), value))
        })
        .collect();
    if !values.is_empty() {
        return Some(Value::Object(values));
    }
    (made == Made::Up).then(|| made_up(root, part, depth))
}

/// A value of the type that a part asks for.
fn made_up(root: &Value, part: &Value, depth: usize) -> Value {
    for choice in ["enum", "anyOf", "oneOf"] {
        let Some(first) = part[choice].get(0) else {
            continue;
        };
        let value = match choice {
            "enum" => Some(first.clone()),
            _ => of(root, first, Made::Up, depth + 1),
        };
        if let Some(value) = value {
            return value;
        }
    }
    let kind = part["type"].as_str().or_else(|| part["type"][0].as_str());
    match kind {
        Some("integer" | "number") => part.get("minimum").cloned().unwrap_or_else(|| 1.into()),
        Some("boolean") => true.into(),
        Some("null") => Value::Null,
        Some("array") => {
            let count = part["minItems"].as_u64().unwrap_or_default().min(MOST_ITEMS);
            let item = || of(root, &part["items"], Made::Up, depth + 1);
            (0..count).filter_map(|_| item()).collect()
        }
        Some("object") => Value::Object(Map::new()),
        _ => text(part).into(),
    }
}

/// A text of the format and the length that a part asks for.
fn text(part: &Value) -> String {
    let text = match part["format"].as_str() {
        Some("uri" | "url") => "https://example.com",
        Some("email") => "someone@example.com",
        Some("date") => "2026-01-31",
        Some("date-time") => "2026-01-31T12:00:00Z",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        _ => "text",
    };
    let length = |key: &str| part[key].as_u64().and_then(|length| usize::try_from(length).ok());
    let longest = length("maxLength").unwrap_or(usize::MAX);
    let shortest = length("minLength").unwrap_or_default().min(LONGEST_TEXT);
    let padded = text.chars().chain(std::iter::repeat('x'));
    padded.take(text.len().min(longest).max(shortest)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{filled, sample};

    #[test]
    fn only_what_the_schema_says_and_asks_for() {
        let schema = json!({
            "required": ["id", "kind", "body", "free", "again"],
            "properties": {
                "id": {"type": "string", "examples": ["p1", "p2"]},
                "kind": {"const": "pet"},
                "free": {"type": "string"},
                "optional": {"examples": ["x"]},
                "body": {"$ref": "#/$defs/Pet"},
                "again": {"$ref": "#/$defs/Again"},
            },
            "$defs": {
                "Pet": {"required": ["size"], "properties": {"size": {"default": 3}, "name": {"examples": ["Rex"]}}},
                "Again": {"required": ["again"], "properties": {"again": {"$ref": "#/$defs/Again"}}},
            },
        });
        assert_eq!(
            sample(&schema),
            json!({"id": "p1", "kind": "pet", "body": {"size": 3}})
        );
        assert_eq!(sample(&json!({})), json!({}));
    }

    #[test]
    fn what_the_schema_does_not_say_is_made_up_by_its_type() {
        let schema = json!({
            "required": ["url", "count", "flag", "mode", "names", "code", "known", "either"],
            "properties": {
                "url": {"type": "string", "format": "uri"},
                "count": {"type": "integer", "minimum": 3},
                "flag": {"type": ["boolean", "null"]},
                "mode": {"enum": ["fast", "slow"]},
                "names": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                "code": {"type": "string", "minLength": 6, "maxLength": 6},
                "known": {"default": "d"},
                "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                "optional": {"type": "string"},
            },
        });
        assert_eq!(
            filled(&schema),
            json!({
                "url": "https://example.com", "count": 3, "flag": true, "mode": "fast", "names": ["text"],
                "code": "textxx", "known": "d", "either": 1
            })
        );
        assert_eq!(filled(&json!({"type": "object"})), json!({}));
    }
}
