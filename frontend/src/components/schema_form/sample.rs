//! Arguments to begin with, where a schema says which.

use serde_json::{Map, Value};

/// Deeper parts are left to whoever fills the form.
const DEEPEST: usize = 4;

/// The required parts of an object that its schema says a value for: the only one there is, an example, or the default.
/// Nothing is made up.
pub(crate) fn sample(schema: &Value) -> Value {
    of(schema, schema, 0).unwrap_or_else(|| Value::Object(Map::new()))
}

fn of(root: &Value, part: &Value, depth: usize) -> Option<Value> {
    if depth > DEEPEST {
        return None;
    }
    if let Some(reference) = part["$ref"].as_str() {
        let target = root.pointer(reference.strip_prefix('#')?)?;
        return of(root, target, depth + 1);
    }
    let said = part.get("const").or_else(|| part["examples"].get(0));
    if let Some(value) = said.or_else(|| part.get("default")) {
        return Some(value.clone());
    }
    let names = part["required"].as_array()?.iter().filter_map(Value::as_str);
    let values: Map<String, Value> = names
        .filter_map(|name| {
            let value = of(root, &part["properties"][name], depth + 1)?;
            Some((name.to_owned(), value))
        })
        .collect();
    (!values.is_empty()).then_some(Value::Object(values))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::sample;

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
}
