//! Schemas of one type: what they say about texts, numbers, arrays and objects.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::merge::types;
use super::names::identifier;
use super::schemas::Components;
use super::simplify::Simplifier;

/// Keywords that say something about values of one type only, with those types.
const OF_TYPES: [(&[&str], &[&str]); 4] = [
    (
        &["string"],
        &[
            "minLength",
            "maxLength",
            "pattern",
            "contentEncoding",
            "contentMediaType",
        ],
    ),
    (
        &["number", "integer"],
        &[
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
        ],
    ),
    (&["array"], &["minItems", "maxItems", "uniqueItems"]),
    (&["object"], &["minProperties", "maxProperties"]),
];

impl Simplifier<'_> {
    /// A schema of one type, or of any.
    pub(super) fn of_type(
        &mut self,
        components: &mut Components<'_, '_>,
        schema: &Map<String, Value>,
        like: &str,
    ) -> Map<String, Value> {
        let kind = schema
            .get("type")
            .map(types)
            .and_then(|kinds| kinds.first().copied());
        let is = |name: &str| kind.is_none_or(|kind| kind == name);
        let mut finished = Map::new();
        if let Some(kind) = kind {
            finished.insert("type".to_owned(), json!(kind));
        }
        // Files have no place in JSON, though generators make them of this format.
        if let Some(format) = schema
            .get("format")
            .filter(|format| *format != "binary" && kind.is_some())
        {
            finished.insert("format".to_owned(), format.clone());
        }
        for (kinds, keywords) in OF_TYPES {
            if kind.is_some_and(|kind| kinds.contains(&kind)) {
                let kept = keywords
                    .iter()
                    .filter_map(|keyword| Some(((*keyword).to_owned(), schema.get(*keyword)?.clone())));
                finished.extend(kept);
            }
        }
        if is("array") {
            self.items(components, schema, kind.is_some(), like, &mut finished);
        }
        if is("object") {
            self.properties(components, schema, like, &mut finished);
        }
        finished
    }

    fn items(
        &mut self,
        components: &mut Components<'_, '_>,
        schema: &Map<String, Value>,
        typed: bool,
        like: &str,
        finished: &mut Map<String, Value>,
    ) {
        let first = schema.get("prefixItems").and_then(Value::as_array);
        if let Some(first) = first.filter(|_| typed) {
            let places = first
                .iter()
                .enumerate()
                .map(|(place, schema)| self.place(components, schema, &format!("{like}.item{place}")));
            let places = places.collect();
            finished.insert("prefixItems".to_owned(), Value::Array(places));
        }
        match schema.get("items") {
            Some(Value::Bool(false)) if typed => {
                let most = first.map_or(0, Vec::len);
                finished.entry("maxItems").or_insert(json!(most));
            }
            Some(items) if typed => {
                let items = self.place(components, items, &format!("{like}.item"));
                finished.insert("items".to_owned(), items);
            }
            _ => {}
        }
        if typed && !finished.contains_key("items") && !finished.contains_key("prefixItems") {
            finished.insert("items".to_owned(), json!({}));
        }
    }

    fn properties(
        &mut self,
        components: &mut Components<'_, '_>,
        schema: &Map<String, Value>,
        like: &str,
        finished: &mut Map<String, Value>,
    ) {
        let empty = Map::new();
        let declared = schema
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        let required: Vec<&str> = types(schema.get("required").unwrap_or(&Value::Null));
        let additional = schema.get("additionalProperties");
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let mut identifiers = HashSet::new();
        let mut properties = Map::new();
        for (name, schema) in declared {
            if identifiers.insert(identifier(name)) {
                let schema = self.place(components, schema, &format!("{like}.{name}"));
                properties.insert(name.clone(), schema);
            }
        }
        let left_out = properties.len() < declared.len();
        if additional != Some(&Value::Bool(false)) {
            for &name in &required {
                if !declared.contains_key(name) && identifiers.insert(identifier(name)) {
                    properties.insert(name.to_owned(), json!({}));
                }
            }
        }
        let required: Vec<&str> = required
            .into_iter()
            .filter(|name| properties.contains_key(*name))
            .collect();
        if !properties.is_empty() {
            finished.insert("properties".to_owned(), Value::Object(properties));
        }
        if !required.is_empty() {
            finished.insert("required".to_owned(), json!(required));
        }
        if left_out || patterns.is_some() {
            return;
        }
        match additional {
            Some(Value::Bool(false)) => {
                finished.insert("additionalProperties".to_owned(), json!(false));
            }
            // In most languages the values of a map have one type, those of declared properties too.
            Some(schema @ Value::Object(_)) if !finished.contains_key("properties") => {
                let schema = self.place(components, schema, &format!("{like}.value"));
                if schema != json!({}) {
                    finished.insert("additionalProperties".to_owned(), schema);
                }
            }
            _ => {}
        }
    }
}
