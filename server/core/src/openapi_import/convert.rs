//! One schema of a description as JSON Schema 2020-12.
//!
//! Schemas are converted for requests: properties that only answers have (`readOnly`) are left out. What is no valid
//! JSON Schema is left out with a note, so that one slip does not cost the operation.

use serde_json::{Map, Value, json};

use super::discriminator;
use super::model::{Converted, Dialect, size};
use super::schemas::Schemas;

/// Levels of nested schemas that are written inline; those below get a name of their own.
const LEVELS: usize = 7;
/// Schemas nested deeper than this are any value.
const MAX_DEPTH: usize = 4 * LEVELS;
/// Larger examples are left out: models read schemas, not data.
const LARGEST_EXAMPLE: usize = 30;

const TYPES: [&str; 7] = [
    "object", "array", "string", "number", "integer", "boolean", "null",
];
/// Names of types that descriptions use although there are none.
const NICKNAMES: [(&str, &str); 12] = [
    ("str", "string"),
    ("date", "string"),
    ("datetime", "string"),
    ("date-time", "string"),
    ("uuid", "string"),
    ("file", "string"),
    ("float", "number"),
    ("double", "number"),
    ("int", "integer"),
    ("long", "integer"),
    ("bool", "boolean"),
    ("list", "array"),
];

/// One schema on its way.
pub(super) struct Walk<'w, 'd> {
    schemas: &'w mut Schemas<'d>,
    out: Converted,
}

impl<'w, 'd> Walk<'w, 'd> {
    /// Converts a schema.
    pub(super) fn run(schemas: &'w mut Schemas<'d>, schema: &'d Value) -> Converted {
        let mut walk = Self {
            schemas,
            out: Converted::default(),
        };
        let schema = walk.schema(schema, 0);
        walk.out.schema = schema;
        walk.out
    }

    /// Converts a schema that others refer to. One that is nothing but a reference to itself is any value.
    pub(super) fn run_definition(schemas: &'w mut Schemas<'d>, schema: &'d Value) -> Converted {
        if schemas.document.follow(schema).is_err() {
            let refusal = schema
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|reference| schemas.document.resolve(reference).err());
            return Converted {
                schema: json!({}),
                refusal,
                ..Converted::default()
            };
        }
        Self::run(schemas, schema)
    }

    fn note(&mut self, text: impl Into<String>) {
        self.out.notes.push(text.into());
    }

    fn schema(&mut self, schema: &'d Value, depth: usize) -> Value {
        match schema {
            Value::Bool(flag) => json!(flag),
            Value::Object(keywords) => self.object(keywords, depth),
            _ => {
                self.note("a schema that is no object was read as any value");
                json!({})
            }
        }
    }

    fn object(&mut self, keywords: &'d Map<String, Value>, depth: usize) -> Value {
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            return self.reference(reference, keywords, depth);
        }
        if depth == 0 || !depth.is_multiple_of(LEVELS) {
            return Value::Object(self.keywords(keywords, depth));
        }
        if depth >= MAX_DEPTH {
            self.note(format!(
                "what is nested more than {MAX_DEPTH} levels deep takes any value here"
            ));
            return json!({});
        }
        let mut inner = Walk {
            schemas: &mut *self.schemas,
            out: Converted::default(),
        };
        let schema = Value::Object(inner.keywords(keywords, depth));
        let mut out = inner.out;
        if let Some(refusal) = out.refusal.take() {
            self.out.refusal = Some(refusal);
        }
        out.schema = schema;
        let name = self.schemas.hoist(out);
        self.refer(name)
    }

    fn refer(&mut self, name: String) -> Value {
        let value = json!({ "$ref": format!("#/$defs/{name}") });
        if !self.out.refs.contains(&name) {
            self.out.refs.push(name);
        }
        value
    }

    fn reference(&mut self, reference: &str, keywords: &'d Map<String, Value>, depth: usize) -> Value {
        let name = match self.schemas.name(reference) {
            Ok(name) => name,
            Err(why) => {
                self.out.refusal.get_or_insert(why);
                return json!({});
            }
        };
        let mut value = self.refer(name);
        if let Value::Object(value) = &mut value {
            if self.schemas.document.dialect.has_json_schema() {
                value.extend(self.keywords(keywords, depth));
            } else if let Some(Value::String(text)) = keywords.get("description") {
                // Older versions ignore the siblings of a reference, but a description does no harm.
                value.insert("description".to_owned(), json!(text));
            }
        }
        value
    }

    /// Whether a property is in answers only.
    fn is_read_only(&self, schema: &'d Value) -> bool {
        let says = |schema: &Value| schema.get("readOnly") == Some(&Value::Bool(true));
        says(schema) || self.schemas.document.follow(schema).is_ok_and(says)
    }

    fn keywords(&mut self, from: &'d Map<String, Value>, depth: usize) -> Map<String, Value> {
        let mut out = Map::new();
        let mut keep = |key: &str, value: Value| {
            out.insert(key.to_owned(), value);
        };
        for (key, value) in from {
            match (key.as_str(), value) {
                ("type", value) => {
                    if let Some(value) = self.types(value) {
                        keep(key, value);
                    }
                }
                (
                    "title" | "description" | "format" | "contentMediaType" | "contentEncoding",
                    Value::String(_),
                )
                | ("uniqueItems" | "deprecated", Value::Bool(_))
                | ("default" | "const", _)
                | ("minimum" | "maximum", Value::Number(_)) => keep(key, value.clone()),
                ("multipleOf", Value::Number(number)) if number.as_f64().is_some_and(|n| n > 0.0) => {
                    keep(key, value.clone());
                }
                ("exclusiveMinimum" | "exclusiveMaximum", Value::Number(_)) => keep(key, value.clone()),
                // Put beside its bound below.
                ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(_)) => {}
                (
                    "maxLength" | "minLength" | "maxItems" | "minItems" | "maxProperties" | "minProperties"
                    | "minContains" | "maxContains",
                    Value::Number(number),
                ) => {
                    if let Some(count) = count(number) {
                        keep(key, json!(count));
                    }
                }
                ("enum", Value::Array(values)) if !values.is_empty() => keep(key, value.clone()),
                ("example", value) if size(value) <= LARGEST_EXAMPLE => keep("examples", json!([value])),
                ("examples", Value::Array(values)) => {
                    let small: Vec<_> = values
                        .iter()
                        .filter(|value| size(value) <= LARGEST_EXAMPLE)
                        .take(3)
                        .collect();
                    if !small.is_empty() {
                        keep(key, json!(small));
                    }
                }
                ("pattern", Value::String(pattern)) => {
                    if self.schemas.takes_pattern(pattern) {
                        keep(key, value.clone());
                    } else {
                        self.note(format!(
                            "the pattern {pattern:?} is not checked here: it needs look-around, is faulty or far too large"
                        ));
                    }
                }
                ("required", Value::Array(names)) => {
                    let properties = from.get("properties");
                    let mut required: Vec<&Value> = Vec::new();
                    for name in names.iter().filter(|name| name.is_string()) {
                        let property = name.as_str().and_then(|name| properties?.get(name));
                        let only_answered = property.is_some_and(|property| self.is_read_only(property));
                        if !only_answered && !required.contains(&name) {
                            required.push(name);
                        }
                    }
                    if !required.is_empty() {
                        keep(key, json!(required));
                    }
                }
                ("required", Value::Bool(_)) => {}
                ("properties", Value::Object(properties)) => {
                    let mut converted = Map::new();
                    for (name, property) in properties {
                        if !self.is_read_only(property) {
                            converted.insert(name.clone(), self.schema(property, depth + 1));
                        }
                    }
                    keep(key, Value::Object(converted));
                }
                ("patternProperties", Value::Object(properties)) => {
                    let mut converted = Map::new();
                    for (pattern, property) in properties {
                        if self.schemas.takes_pattern(pattern) {
                            converted.insert(pattern.clone(), self.schema(property, depth + 1));
                        }
                    }
                    keep(key, Value::Object(converted));
                }
                ("dependentSchemas", Value::Object(properties)) => {
                    let converted: Map<_, _> = properties
                        .iter()
                        .map(|(name, schema)| (name.clone(), self.schema(schema, depth + 1)))
                        .collect();
                    keep(key, Value::Object(converted));
                }
                ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas))
                    if !schemas.is_empty() =>
                {
                    let discriminator = match key.as_str() {
                        "anyOf" | "oneOf" => discriminator::of(from),
                        _ => None,
                    };
                    let converted: Vec<_> = schemas
                        .iter()
                        .map(|schema| {
                            let converted = self.schema(schema, depth + 1);
                            match &discriminator {
                                Some(discriminator) => discriminator.narrow(schema, converted),
                                None => converted,
                            }
                        })
                        .collect();
                    keep(key, Value::Array(converted));
                }
                ("items", Value::Array(_)) => self.note("a list of \"items\" was read as any items"),
                (
                    "items"
                    | "additionalProperties"
                    | "not"
                    | "if"
                    | "then"
                    | "else"
                    | "contains"
                    | "propertyNames"
                    | "unevaluatedItems"
                    | "unevaluatedProperties"
                    | "contentSchema",
                    Value::Object(_) | Value::Bool(_),
                ) => {
                    let converted = self.schema(value, depth + 1);
                    keep(key, converted);
                }
                // What only descriptions know (`xml`, `x-...`) and what says nothing about a request.
                _ => {}
            }
        }
        exclusive(from, &mut out);
        if out.get("type").is_some_and(|kinds| names(kinds, "array")) {
            let says = out
                .get("items")
                .and_then(Value::as_object)
                .is_some_and(|items| !items.is_empty());
            if !says {
                out.insert("items".to_owned(), json!({ "description": "Any value" }));
            }
        }
        // Newer versions say it by the type, and the word says nothing.
        let nullable = match self.schemas.document.dialect {
            Dialect::Swagger2 => from.get("x-nullable"),
            Dialect::OpenApi30 => from.get("nullable"),
            Dialect::OpenApi31 | Dialect::OpenApi32 => None,
        };
        let nullable = nullable == Some(&Value::Bool(true));
        if nullable { with_null(out) } else { out }
    }

    fn types(&mut self, value: &Value) -> Option<Value> {
        match value {
            Value::String(name) => self.known_type(name).map(|name| json!(name)),
            Value::Array(given) => {
                let mut known: Vec<&str> = Vec::new();
                for name in given.iter().filter_map(Value::as_str) {
                    if let Some(name) = self.known_type(name)
                        && !known.contains(&name)
                    {
                        known.push(name);
                    }
                }
                (!known.is_empty()).then(|| json!(known))
            }
            _ => None,
        }
    }

    fn known_type(&mut self, name: &str) -> Option<&'static str> {
        let lower = name.to_ascii_lowercase();
        let known = TYPES.into_iter().find(|known| *known == lower).or_else(|| {
            NICKNAMES
                .into_iter()
                .find_map(|(nickname, known)| (nickname == lower).then_some(known))
        });
        if known != Some(name) && lower != "file" {
            self.note(match known {
                Some(known) => format!("there is no type {name:?}: it was read as {known}"),
                None => format!("there is no type {name:?}: it was read as any value"),
            });
        }
        known
    }
}

fn names(kinds: &Value, name: &str) -> bool {
    kinds == name
        || kinds
            .as_array()
            .is_some_and(|kinds| kinds.iter().any(|kind| kind == name))
}

/// A number of things; descriptions also write `3.0`.
fn count(number: &serde_json::Number) -> Option<u64> {
    number.as_u64().or_else(|| {
        let float = number.as_f64()?;
        (float >= 0.0 && float.fract() == 0.0 && float <= 9e15).then(|| format!("{float:.0}").parse().ok())?
    })
}

/// `exclusiveMinimum: true` beside `minimum: 3` is `exclusiveMinimum: 3`.
fn exclusive(from: &Map<String, Value>, out: &mut Map<String, Value>) {
    for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if from.get(exclusive) == Some(&Value::Bool(true))
            && let Some(value) = out.shift_remove(bound)
        {
            out.insert(exclusive.to_owned(), value);
        }
    }
}

/// The schema that also takes null.
fn with_null(mut schema: Map<String, Value>) -> Map<String, Value> {
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut)
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    let composed = ["allOf", "anyOf", "oneOf"]
        .iter()
        .any(|key| schema.contains_key(*key));
    match schema.get_mut("type") {
        Some(Value::Array(kinds)) if !kinds.contains(&json!("null")) => kinds.push(json!("null")),
        Some(kinds @ Value::String(_)) => *kinds = json!([kinds.take(), "null"]),
        // Without a type, null is excluded only by what the schema is made of.
        _ => {}
    }
    if !composed {
        return schema;
    }
    let mut outer = Map::new();
    for key in ["title", "description", "default"] {
        if let Some(value) = schema.shift_remove(key) {
            outer.insert(key.to_owned(), value);
        }
    }
    outer.insert("anyOf".to_owned(), json!([schema, {"type": "null"}]));
    outer
}
