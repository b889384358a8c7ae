//! Arguments that a schema marks as secret: `format: password` and `writeOnly: true`.

use serde_json::{Map, Value};

use super::text::MARK;
use crate::validation::{Graph, Part};

/// Schemas that are looked at for all values together. Past that, everything counts as marked.
const MAX_LOOKS: usize = 200_000;

/// Where the marked arguments of a tool are.
#[derive(Debug)]
pub struct MarkedParameters {
    schemas: Vec<Schema>,
}

#[derive(Debug)]
struct Schema {
    marked: bool,
    /// Schemas for the same value.
    same: Vec<usize>,
    /// Schemas for members.
    members: Vec<(Members, usize)>,
    /// Schemas for items.
    items: Vec<usize>,
}

/// Which members a schema is for.
#[derive(Debug, PartialEq)]
enum Members {
    /// The one of this name.
    Named(String),
    /// Those without a schema of their own name.
    Others,
    /// Any: what a pattern of names matches is not looked at.
    Any,
}

impl Schema {
    /// Schemas for the member of this name.
    fn of_member(&self, name: &str) -> impl Iterator<Item = usize> {
        let is_named = move |of: &Members| matches!(of, Members::Named(own) if own == name);
        let has_own = self.members.iter().any(|(of, _)| is_named(of));
        self.members.iter().filter_map(move |(of, schema)| {
            let applies = match of {
                Members::Named(_) => is_named(of),
                Members::Others => !has_own,
                Members::Any => true,
            };
            applies.then_some(*schema)
        })
    }
}

impl MarkedParameters {
    /// Of a schema of arguments; `None` when it marks nothing.
    #[must_use]
    pub fn of(parameters: &Value) -> Option<Self> {
        let graph = Graph::of(parameters).ok()?;
        if !graph.nodes.iter().any(|node| node.marked) {
            return None;
        }
        let schema = |node: crate::validation::Node<'_>| {
            let (mut members, mut items) = (Vec::new(), Vec::new());
            for (part, to) in node.parts {
                match part {
                    Part::Member(name) => members.push((Members::Named(name.to_owned()), to)),
                    Part::OtherMembers(_) => members.push((Members::Others, to)),
                    Part::Matching(_) => members.push((Members::Any, to)),
                    Part::Item(_) | Part::OtherItems(_) | Part::AnyItem => items.push(to),
                }
            }
            Schema {
                marked: node.marked,
                same: node.same,
                members,
                items,
            }
        };
        Some(Self {
            schemas: graph.nodes.into_iter().map(schema).collect(),
        })
    }

    /// Masks the marked arguments.
    pub fn mask(&self, arguments: &mut Map<String, Value>) {
        self.each(arguments, &mut |value| *value = Value::from(MARK));
    }

    /// The texts and numbers of the marked arguments.
    #[must_use]
    pub fn values(&self, arguments: &Map<String, Value>) -> Vec<String> {
        let mut values = Vec::new();
        self.each(&mut arguments.clone(), &mut |value| {
            let mut open = vec![&*value];
            while let Some(value) = open.pop() {
                match value {
                    Value::String(text) => values.push(text.clone()),
                    Value::Number(number) => values.push(number.to_string()),
                    Value::Array(items) => open.extend(items),
                    Value::Object(members) => open.extend(members.values()),
                    Value::Null | Value::Bool(_) => {}
                }
            }
        });
        values
    }

    fn each(&self, arguments: &mut Map<String, Value>, found: &mut dyn FnMut(&mut Value)) {
        let mut search = Search {
            schemas: &self.schemas,
            looks: MAX_LOOKS,
            found,
        };
        search.members(arguments, &search.all(vec![0]));
    }
}

struct Search<'a> {
    schemas: &'a [Schema],
    looks: usize,
    found: &'a mut dyn FnMut(&mut Value),
}

impl Search<'_> {
    /// The schemas for a value, with those that they lead to for the same value.
    fn all(&self, mut schemas: Vec<usize>) -> Vec<usize> {
        let mut at = 0;
        while let Some(&schema) = schemas.get(at) {
            for &same in &self.schemas[schema].same {
                if !schemas.contains(&same) {
                    schemas.push(same);
                }
            }
            at += 1;
        }
        schemas
    }

    fn value(&mut self, value: &mut Value, schemas: Vec<usize>) {
        if schemas.is_empty() {
            return;
        }
        let schemas = self.all(schemas);
        let left = self.looks.checked_sub(1 + schemas.len());
        self.looks = left.unwrap_or_default();
        let marked = left.is_none() || schemas.iter().any(|&schema| self.schemas[schema].marked);
        match value {
            // Nothing and a flag disclose nothing.
            Value::Null | Value::Bool(_) => {}
            _ if marked => (self.found)(value),
            Value::Object(members) => self.members(members, &schemas),
            Value::Array(items) => {
                let of_items: Vec<usize> = schemas
                    .iter()
                    .flat_map(|&schema| &self.schemas[schema].items)
                    .copied()
                    .collect();
                items
                    .iter_mut()
                    .for_each(|item| self.value(item, of_items.clone()));
            }
            Value::String(_) | Value::Number(_) => {}
        }
    }

    fn members(&mut self, members: &mut Map<String, Value>, schemas: &[usize]) {
        for (name, member) in members.iter_mut() {
            let of_member = schemas
                .iter()
                .flat_map(|&schema| self.schemas[schema].of_member(name))
                .collect();
            self.value(member, of_member);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn masked(parameters: &Value, arguments: Value) -> Value {
        let Value::Object(mut arguments) = arguments else {
            panic!("an object")
        };
        if let Some(marked) = MarkedParameters::of(parameters) {
            marked.mask(&mut arguments);
        }
        Value::Object(arguments)
    }

    #[test]
    fn marked_arguments_are_masked_wherever_the_schema_marks_them() {
        let parameters = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "code": {"type": "string", "format": "password"},
                "flag": {"type": "boolean", "writeOnly": true},
                "account": {"$ref": "#/$defs/account"},
                "list": {"items": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/account"}]}},
            },
            "additionalProperties": {"writeOnly": true},
            "$defs": {"account": {"properties": {
                "phrase": {"type": "array", "writeOnly": true},
                "other": {"$ref": "#/$defs/account"},
            }}},
        });
        let account = json!({"phrase": ["a", "b"], "x": 1, "other": {"phrase": 7}});
        let arguments = json!({"name": "n", "code": "abc", "flag": true, "account": account, "list": [5, account], "more": {"a": 1}});
        let clean = json!({"phrase": "[redacted]", "x": 1, "other": {"phrase": "[redacted]"}});
        assert_eq!(
            masked(&parameters, arguments.clone()),
            json!({"name": "n", "code": "[redacted]", "flag": true, "account": clean, "list": [5, clean], "more": "[redacted]"})
        );
        let marked = MarkedParameters::of(&parameters).expect("marked");
        let mut values = marked.values(arguments.as_object().expect("an object"));
        values.sort();
        assert_eq!(values, ["1", "7", "7", "a", "a", "abc", "b", "b"]);
    }

    #[test]
    fn a_schema_without_marks_costs_nothing() {
        assert!(
            MarkedParameters::of(&json!({"properties": {"a": {"format": "email", "writeOnly": false}}}))
                .is_none()
        );
    }

    #[test]
    fn what_is_too_much_to_look_at_counts_as_marked() {
        let parameters =
            json!({"properties": {"many": {"items": {"properties": {"a": {"writeOnly": true}}}}}});
        let many: Vec<Value> = (0..150_000).map(|n| json!({ "b": n })).collect();
        let kept = masked(&parameters, json!({ "many": many }));
        assert_eq!(kept["many"][0], json!({"b": 0}));
        assert_eq!(kept["many"][149_999], "[redacted]");
    }
}
