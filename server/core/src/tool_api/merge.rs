//! Several schemas that hold together, as one.
//!
//! Where two say something about the same that no single keyword can say, the first one is kept: the result never refuses
//! what all of them accept.

use serde_json::{Map, Value, json};

/// Adds what a second schema says.
pub(super) fn merge(first: &mut Map<String, Value>, second: &Map<String, Value>) {
    // What is additional depends on the properties beside it, so it can't be said of those of another schema.
    let meets = |a: &Map<String, Value>, b: &Map<String, Value>| {
        a.contains_key("additionalProperties")
            && (b.contains_key("properties") || b.contains_key("patternProperties"))
    };
    let drop_additional = meets(first, second) || meets(second, first);
    for (keyword, value) in second {
        let Some(known) = first.get_mut(keyword) else {
            first.insert(keyword.clone(), value.clone());
            continue;
        };
        if known == value {
            continue;
        }
        match (keyword.as_str(), known, value) {
            ("properties" | "patternProperties", Value::Object(known), Value::Object(more)) => {
                for (name, schema) in more {
                    match known.get_mut(name) {
                        Some(known) if known == schema => {}
                        Some(known) => *known = both(known, schema),
                        None => {
                            known.insert(name.clone(), schema.clone());
                        }
                    }
                }
            }
            ("items", known, schema) => *known = both(known, schema),
            ("required", Value::Array(known), Value::Array(more)) => {
                for name in more {
                    if !known.contains(name) {
                        known.push(name.clone());
                    }
                }
            }
            ("enum", Value::Array(known), Value::Array(more)) => {
                let common: Vec<Value> = known
                    .iter()
                    .filter(|value| more.contains(value))
                    .cloned()
                    .collect();
                if !common.is_empty() {
                    *known = common;
                }
            }
            ("type", known, more) => {
                let common = common_types(known, more);
                if !common.is_empty() {
                    *known = json!(common);
                }
            }
            _ => {}
        }
    }
    if drop_additional {
        first.shift_remove("additionalProperties");
    }
}

fn both(first: &Value, second: &Value) -> Value {
    json!({ "allOf": [first, second] })
}

fn common_types(first: &Value, second: &Value) -> Vec<String> {
    let second = types(second);
    let covers = |name: &str| {
        second
            .iter()
            .any(|other| *other == name || (*other == "number" && name == "integer"))
    };
    let first = types(first);
    let mut common: Vec<String> = first
        .iter()
        .filter(|name| covers(name))
        .map(|name| (*name).to_owned())
        .collect();
    if first.contains(&"number") && !second.contains(&"number") && second.contains(&"integer") {
        common.push("integer".to_owned());
    }
    common
}

/// The names under `type`.
pub(super) fn types(value: &Value) -> Vec<&str> {
    match value {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
