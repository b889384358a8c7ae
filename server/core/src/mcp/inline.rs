//! Schemas without references: providers follow none.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

/// Schemas and keywords that are copied in place of references, in one schema of a tool.
const MAX_COPIED: usize = 4_000;
/// References and schemas within one another; below, a reference takes anything.
const MAX_DEPTH: usize = 32;

/// Keywords that only matter to references, or to no reader of the listing.
const DROPPED: [&str; 12] = [
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveRef",
    "$recursiveAnchor",
    "$vocabulary",
    "$comment",
    "$defs",
    "definitions",
];
/// Keywords with a schema.
const SINGLE: [&str; 10] = [
    "additionalProperties",
    "additionalItems",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords with a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords with schemas by name.
const NAMED: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];
/// Keywords beside a reference and describe its place.
const NOTES: [&str; 6] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
];

/// The schema with what its local references lead to in their places. A reference that leads back to itself, one beyond the
/// bounds and one that leads elsewhere accept anything.
pub(super) fn inlined(schema: &Value) -> Value {
    let mut inliner = Inliner {
        root: schema,
        copied: 0,
        within: Vec::new(),
    };
    inliner.schema(schema, 0)
}

struct Inliner<'s> {
    root: &'s Value,
    copied: usize,
    /// The references that lead to where it is now.
    within: Vec<&'s str>,
}

impl<'s> Inliner<'s> {
    fn schema(&mut self, schema: &'s Value, depth: usize) -> Value {
        match schema {
            Value::Bool(true) => json!({}),
            Value::Bool(false) => json!({ "not": {} }),
            Value::Object(members) => self.object(members, depth),
            other => other.clone(),
        }
    }

    fn object(&mut self, members: &'s Map<String, Value>, depth: usize) -> Value {
        if !self.within.is_empty() {
            self.copied += 1 + members.len();
            if self.copied > MAX_COPIED {
                return json!({});
            }
        }
        let own = self.members(members, depth);
        let Some(Value::String(reference)) = members.get("$ref") else {
            return Value::Object(own);
        };
        let Value::Object(mut target) = self.follow(reference, depth) else {
            return Value::Object(own);
        };
        for (keyword, value) in own {
            // Beside constraints of the target, those of the reference are left out: the listing accepts more then.
            if NOTES.contains(&keyword.as_str()) || !target.contains_key(&keyword) {
                target.insert(keyword, value);
            }
        }
        Value::Object(target)
    }

    fn follow(&mut self, reference: &'s str, depth: usize) -> Value {
        let anything = json!({});
        if depth >= MAX_DEPTH || self.within.contains(&reference) {
            return anything;
        }
        let Some(pointer) = reference.strip_prefix('#') else {
            return anything;
        };
        let Ok(pointer) = percent_decode_str(pointer).decode_utf8() else {
            return anything;
        };
        let Some(target) = self.root.pointer(&pointer) else {
            return anything;
        };
        self.within.push(reference);
        let copied = self.schema(target, depth + 1);
        self.within.pop();
        copied
    }

    fn members(&mut self, members: &'s Map<String, Value>, depth: usize) -> Map<String, Value> {
        let mut own = Map::new();
        for (keyword, value) in members {
            let word = keyword.as_str();
            if DROPPED.contains(&word) || word == "$ref" {
                continue;
            }
            let (word, value) = match value {
                // Not every provider knows `const`, and it says the same.
                only if word == "const" => ("enum", json!([only])),
                Value::Array(list) if LISTS.contains(&word) || word == "items" => (
                    word,
                    list.iter().map(|schema| self.schema(schema, depth + 1)).collect(),
                ),
                Value::Object(named) if NAMED.contains(&word) => (
                    word,
                    named
                        .iter()
                        .map(|(name, schema)| (name.clone(), self.schema(schema, depth + 1)))
                        .collect::<Map<_, _>>()
                        .into(),
                ),
                Value::Object(_) if SINGLE.contains(&word) || word == "items" => {
                    (word, self.schema(value, depth + 1))
                }
                other => (word, other.clone()),
            };
            own.insert(word.to_owned(), value);
        }
        own
    }
}
