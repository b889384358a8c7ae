//! A schema without `allOf`, `oneOf` and references beside other keywords.

use serde_json::{Map, Value};

use super::merge::merge;

/// How many values may be copied while schemas are joined; beyond it a schema says less.
const MAX_COPIED: usize = 5_000;
/// References that lead to references.
const MAX_DEPTH: usize = 16;
/// Keywords that say what kind of value something is.
const SHAPE: [&str; 9] = [
    "type",
    "enum",
    "const",
    "properties",
    "patternProperties",
    "additionalProperties",
    "items",
    "prefixItems",
    "anyOf",
];
/// Keywords that only describe, or define what is referred to.
const NOTES: [&str; 16] = [
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "nullable",
    "$comment",
    "$schema",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$defs",
    "definitions",
];

/// What a schema comes to.
pub(super) enum Flat {
    /// It accepts everything.
    Anything,
    /// It accepts nothing.
    Nothing,
    /// It is what it refers to.
    Reference {
        /// Where that is, in the schema of the tool.
        pointer: String,
        /// What is said about it here.
        said: Map<String, Value>,
    },
    /// It has no `allOf`, `oneOf` or reference of its own.
    Schema(Map<String, Value>),
}

/// Whether a keyword says something about values; others describe.
pub(super) fn is_constraint(keyword: &str) -> bool {
    !NOTES.contains(&keyword) && !keyword.starts_with("x-")
}

/// Whether a schema says what kind of value it is, and not only how that is narrowed further.
pub(super) fn has_shape(schema: &Map<String, Value>) -> bool {
    SHAPE.iter().any(|keyword| schema.contains_key(*keyword))
}

/// Joins schemas of one tool.
pub(super) struct Flattener<'s> {
    root: &'s Value,
    copied: usize,
    depth: usize,
}

impl<'s> Flattener<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        Self {
            root,
            copied: 0,
            depth: 0,
        }
    }

    /// What a schema comes to.
    pub(super) fn flat(&mut self, schema: &Value) -> Flat {
        let schema = match schema {
            Value::Bool(true) => return Flat::Anything,
            Value::Object(schema) if !schema.is_empty() => schema,
            Value::Object(_) => return Flat::Anything,
            _ => return Flat::Nothing,
        };
        let parts: Vec<&Value> = schema
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .collect();
        let said = || {
            let notes = schema.iter().filter(|(keyword, _)| !is_constraint(keyword));
            notes
                .map(|(keyword, value)| (keyword.clone(), value.clone()))
                .collect()
        };
        let constraints: Vec<&str> = schema
            .keys()
            .map(String::as_str)
            .filter(|keyword| is_constraint(keyword))
            .collect();
        match (constraints.as_slice(), parts.as_slice()) {
            (["$ref" | "$dynamicRef"], _) => {
                return match self.pointer_of(schema) {
                    Some(pointer) => Flat::Reference {
                        pointer,
                        said: said(),
                    },
                    None => Flat::Schema(said()),
                };
            }
            (["allOf"], [Value::Object(only)]) if only.len() == 1 => {
                if let Some(pointer) = self.pointer_of(only) {
                    return Flat::Reference {
                        pointer,
                        said: said(),
                    };
                }
            }
            _ => {}
        }
        self.join(schema, &parts)
    }

    /// A schema with what it refers to in its place.
    pub(super) fn joined(&mut self, schema: &Value) -> Map<String, Value> {
        if self.depth >= MAX_DEPTH {
            return Map::new();
        }
        self.depth += 1;
        let joined = match self.flat(schema) {
            Flat::Anything | Flat::Nothing => Map::new(),
            Flat::Schema(schema) => schema,
            Flat::Reference { pointer, mut said } => {
                if let Some(target) = self.root.pointer(&pointer).filter(|target| self.affords(target)) {
                    merge(&mut said, &self.joined(target));
                }
                said
            }
        };
        self.depth -= 1;
        joined
    }

    /// Whether what a pointer leads to says all of this already.
    pub(super) fn implies(&self, pointer: &str, beside: &Map<String, Value>) -> bool {
        let target = self.root.pointer(pointer);
        beside.iter().all(|(keyword, value)| {
            keyword == "type" && target.and_then(|target| target.get("type")) == Some(value)
        })
    }

    /// Whether this much more may be copied.
    pub(super) fn affords(&mut self, schema: &Value) -> bool {
        self.copied += size(schema);
        self.copied <= MAX_COPIED
    }

    /// As [`Self::affords`], of keywords.
    pub(super) fn affords_all(&mut self, schema: &Map<String, Value>) -> bool {
        self.copied += schema.values().map(size).sum::<usize>();
        self.copied <= MAX_COPIED
    }

    fn join(&mut self, schema: &Map<String, Value>, parts: &[&Value]) -> Flat {
        let mut own = schema.clone();
        for keyword in ["allOf", "$ref", "$dynamicRef", "$defs", "definitions"] {
            own.shift_remove(keyword);
        }
        if let Some(pointer) = self.pointer_of(schema)
            && let Some(target) = self.root.pointer(&pointer)
            && self.affords(target)
        {
            merge(&mut own, &self.joined(target));
        }
        for part in parts {
            if **part == Value::Bool(false) {
                return Flat::Nothing;
            }
            if self.affords(part) {
                let part = self.joined(part);
                merge(&mut own, &part);
            }
        }
        if let Some(one_of) = own.shift_remove("oneOf") {
            // A value that fits two is refused by the tool's own schema; here it is one of several either way.
            own.entry("anyOf").or_insert(one_of);
        }
        Flat::Schema(own)
    }

    /// Where a reference leads in the end.
    fn pointer_of(&self, schema: &Map<String, Value>) -> Option<String> {
        let mut schema = schema;
        for _ in 0..MAX_DEPTH {
            let text = schema
                .get("$ref")
                .or_else(|| schema.get("$dynamicRef"))?
                .as_str()?;
            let fragment = text.strip_prefix('#')?;
            let fragment = percent_encoding::percent_decode_str(fragment)
                .decode_utf8()
                .ok()?;
            let pointer = if fragment.is_empty() || fragment.starts_with('/') {
                fragment.into_owned()
            } else {
                anchor(self.root, &fragment, &mut String::new())?
            };
            match self.root.pointer(&pointer)? {
                Value::Object(next)
                    if next.len() == 1 && (next.contains_key("$ref") || next.contains_key("$dynamicRef")) =>
                {
                    schema = next;
                }
                _ => return Some(pointer),
            }
        }
        None
    }
}

/// The pointer to the first schema with an anchor.
fn anchor(schema: &Value, name: &str, place: &mut String) -> Option<String> {
    let entries: Vec<(String, &Value)> = match schema {
        Value::Object(object) => {
            let is = |keyword| object.get(keyword).is_some_and(|found| found == name);
            if is("$anchor") || is("$dynamicAnchor") {
                return Some(place.clone());
            }
            object
                .iter()
                .map(|(name, value)| (name.replace('~', "~0").replace('/', "~1"), value))
                .collect()
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, value)| (index.to_string(), value))
            .collect(),
        _ => return None,
    };
    let length = place.len();
    for (step, value) in entries {
        place.push('/');
        place.push_str(&step);
        if let Some(found) = anchor(value, name, place) {
            return Some(found);
        }
        place.truncate(length);
    }
    None
}

/// How many values there are in a value.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(object) => object.values().map(size).sum::<usize>(),
        _ => 0,
    }
}
