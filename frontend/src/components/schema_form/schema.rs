//! What a JSON Schema says about a value, as far as a form needs to know.

use serde_json::{Map, Value};

use crate::language::found;

/// A text of a schema in the reader's language, if it is one of Toolgate's own; what others wrote stays as it is.
pub(super) fn in_language(text: &str) -> String {
    found(text).unwrap_or(text).to_owned()
}

/// The type of a schema; of several the first that is not null.
pub(super) fn kind_of(part: &Value) -> &str {
    match &part["type"] {
        Value::String(kind) => kind,
        Value::Array(kinds) => kinds
            .iter()
            .filter_map(Value::as_str)
            .find(|kind| *kind != "null")
            .unwrap_or("null"),
        _ if part["properties"].is_object() => "object",
        _ => "any",
    }
}

/// The schemas of which a value fits one.
pub(super) fn variants(part: &Value) -> Option<&Vec<Value>> {
    part.get("anyOf").or_else(|| part.get("oneOf"))?.as_array()
}

/// The only values there are, when they are named.
pub(super) fn choices(part: &Value) -> Option<Vec<Value>> {
    if let Some(only) = part.get("const") {
        return Some(vec![only.clone()]);
    }
    match part["enum"].as_array() {
        Some(choices) => Some(choices.clone()),
        None => variants(part)?
            .iter()
            .map(|kind| kind.get("const").cloned())
            .collect(),
    }
}

/// Whether a value looks like one of a schema; enough to distinguish variants.
pub(super) fn fits(value: &Value, part: &Value) -> bool {
    let has = |name: &Value| name.as_str().is_some_and(|name| value.get(name).is_some());
    let is_kind = match kind_of(part) {
        "string" => value.is_string(),
        "integer" | "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => {
            let named = part["properties"].as_object();
            value.is_object()
                && part["required"]
                    .as_array()
                    .is_none_or(|names| names.iter().all(has))
                && named.into_iter().flatten().all(|(name, part)| {
                    let given = value.get(name);
                    given.is_none_or(|given| choices(part).is_none_or(|all| all.contains(given)))
                })
        }
        _ => true,
    };
    is_kind && choices(part).is_none_or(|all| all.contains(value))
}

/// What a new item of a list is before anything is typed.
pub(super) fn blank(part: &Value) -> Value {
    match kind_of(part) {
        "string" if choices(part).is_none() => Value::String(String::new()),
        "object" => Value::Object(Map::new()),
        _ => Value::Null,
    }
}

/// Whether a schema says that its value is not to be shown.
pub(super) fn is_secret(part: &Value) -> bool {
    part["format"].as_str() == Some("password") || part["writeOnly"].as_bool() == Some(true)
}

/// Whether any part of a schema is secret.
pub(crate) fn has_secret(part: &Value) -> bool {
    is_secret(part)
        || match part {
            Value::Object(map) => map.values().any(has_secret),
            Value::Array(list) => list.iter().any(has_secret),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{blank, choices, fits, has_secret, kind_of};

    #[test]
    fn the_type_that_is_not_null_counts() {
        assert_eq!(kind_of(&json!({"type": ["null", "integer"]})), "integer");
        assert_eq!(kind_of(&json!({"properties": {}})), "object");
        assert_eq!(kind_of(&json!({})), "any");
    }

    #[test]
    fn choices_are_found_in_all_their_forms() {
        assert_eq!(choices(&json!({"const": 1})), Some(vec![json!(1)]));
        assert_eq!(
            choices(&json!({"enum": ["a", null]})),
            Some(vec![json!("a"), json!(null)])
        );
        assert_eq!(
            choices(&json!({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]})),
            Some(vec![json!("a"), json!("b")])
        );
        assert_eq!(
            choices(&json!({"anyOf": [{"const": "a"}, {"type": "null"}]})),
            None
        );
        assert_eq!(choices(&json!({"type": "string"})), None);
    }

    #[test]
    fn the_variant_of_a_value_is_found() {
        let circle =
            json!({"type": "object", "properties": {"kind": {"const": "circle"}}, "required": ["kind"]});
        let square = json!({"type": "object", "properties": {"kind": {"enum": ["square"]}, "side": {}}});
        for (value, schema, expected) in [
            (json!({"kind": "circle"}), &circle, true),
            (json!({"kind": "circle"}), &square, false),
            (json!({"kind": "square", "side": 1}), &square, true),
            (json!({}), &circle, false),
            (json!("x"), &circle, false),
            (json!(2), &json!({"type": "integer"}), true),
            (json!("2"), &json!({"type": "integer"}), false),
            (json!(null), &json!({"type": "null"}), true),
            (json!("b"), &json!({"type": "string", "enum": ["a"]}), false),
        ] {
            assert_eq!(fits(&value, schema), expected, "{value} in {schema}");
        }
    }

    #[test]
    fn new_items_begin_as_what_they_are_to_be() {
        assert_eq!(blank(&json!({"type": "string"})), json!(""));
        assert_eq!(blank(&json!({"properties": {"a": {}}})), json!({}));
        assert_eq!(blank(&json!({"type": "integer"})), json!(null));
        assert_eq!(blank(&json!({"type": "string", "enum": ["a"]})), json!(null));
    }

    #[test]
    fn secrets_are_found_at_any_depth() {
        assert!(has_secret(
            &json!({"properties": {"a": {"items": {"format": "password"}}}})
        ));
        assert!(has_secret(&json!({"$defs": {"a": {"writeOnly": true}}})));
        assert!(!has_secret(&json!({"properties": {"a": {"format": "uri"}}})));
    }
}
