//! One schema in the part of JSON Schema that generators read alike.

use serde_json::{Map, Value, json};

use super::flat::{Flat, Flattener, has_shape, is_constraint};
use super::merge::{merge, types};
use super::notes::{fitting, notes, say_default};
use super::schemas::Components;
use super::values::{allowed, carries, has_type};

/// Schemas within schemas; below, a schema takes anything.
const MAX_DEPTH: usize = 64;
/// Simplifies the schemas within one schema of a tool.
pub(super) struct Simplifier<'s> {
    flattener: Flattener<'s>,
    depth: usize,
}

/// A finished schema, and what is said about it where it is used.
struct Finished {
    schema: Map<String, Value>,
    /// A default that the schema's users name, because the schema is shared.
    default: Option<Value>,
}

impl<'s> Simplifier<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        Self {
            flattener: Flattener::new(root),
            depth: 0,
        }
    }

    /// Where a schema leads that is nothing but a reference.
    pub(super) fn alias(&mut self, schema: &Value) -> Option<String> {
        match self.flattener.flat(schema) {
            Flat::Reference { pointer, .. } => Some(pointer),
            _ => None,
        }
    }

    /// The schema as a component.
    pub(super) fn component(
        &mut self,
        components: &mut Components<'_, '_>,
        schema: &Value,
        name: &str,
    ) -> Value {
        // A component is no reference to another one.
        let schema = match self.flattener.flat(schema) {
            Flat::Reference { .. } => &Value::Object(self.flattener.joined(schema)),
            _ => schema,
        };
        let Finished { mut schema, default } = self.finish(components, schema, name);
        if let Some(default) = default {
            schema.insert("default".to_owned(), default);
        }
        Value::Object(schema)
    }

    /// The schema where it is used: objects and enumerations are components.
    pub(super) fn place(&mut self, components: &mut Components<'_, '_>, schema: &Value, like: &str) -> Value {
        if self.depth >= MAX_DEPTH {
            return json!({});
        }
        self.depth += 1;
        let Finished { mut schema, default } = self.finish(components, schema, like);
        self.depth -= 1;
        if !is_named(&schema) {
            if let Some(default) = default {
                schema.insert("default".to_owned(), default);
            }
            return Value::Object(schema);
        }
        let reference = components.lift(like, Value::Object(schema));
        match default {
            Some(default) => json!({ "allOf": [reference], "default": default }),
            None => reference,
        }
    }

    fn finish(&mut self, components: &mut Components<'_, '_>, schema: &Value, like: &str) -> Finished {
        let (mut said, mut finished) = match self.flattener.flat(schema) {
            Flat::Anything => {
                return Finished {
                    schema: Map::new(),
                    default: None,
                };
            }
            Flat::Nothing => {
                return Finished {
                    schema: nothing(),
                    default: None,
                };
            }
            Flat::Reference { pointer, said } => {
                let reference = components.refer(&pointer).unwrap_or_else(|| json!({}));
                let said = notes(&said);
                if said.is_empty() {
                    return Finished {
                        schema: object(reference),
                        default: None,
                    };
                }
                (said, object(json!({ "allOf": [reference] })))
            }
            Flat::Schema(schema) => {
                let said = notes(&schema);
                (said, self.described(components, schema, like))
            }
        };
        let default = said.shift_remove("default");
        if let Some(examples) = said.shift_remove("examples") {
            let fitting = fitting(&finished, examples);
            if !fitting.is_empty() {
                said.insert("examples".to_owned(), Value::Array(fitting));
            }
        }
        let default = default.and_then(|default| {
            let carried = match finished.contains_key("allOf") {
                true => self.is_carried(schema, &default),
                false => carries(&finished, &default),
            };
            if !carried {
                say_default(&mut said, &default);
            }
            carried.then_some(default)
        });
        finished.append(&mut said);
        Finished {
            schema: finished,
            default,
        }
    }

    /// Whether what a reference leads to can carry a default.
    fn is_carried(&mut self, reference: &Value, default: &Value) -> bool {
        let target = self.flattener.joined(reference);
        match target
            .get("enum")
            .and_then(Value::as_array)
            .map(|values| allowed(values))
        {
            Some(only) => {
                matches!(only.as_slice(), [only] if only.as_object().is_some_and(|only| carries(only, default)))
            }
            None => carries(&target, default),
        }
    }

    /// A schema without references and `allOf`.
    fn described(
        &mut self,
        components: &mut Components<'_, '_>,
        mut schema: Map<String, Value>,
        like: &str,
    ) -> Map<String, Value> {
        if let Some(Value::Array(variants)) = schema.shift_remove("anyOf") {
            return self.union(components, &variants, schema, like);
        }
        if let Some(only) = schema.shift_remove("const") {
            schema.insert("enum".to_owned(), json!([only]));
        }
        let kinds: Vec<String> = schema
            .get("type")
            .map(|kinds| types(kinds).iter().map(|&kind| kind.to_owned()).collect())
            .unwrap_or_default();
        if let Some(Value::Array(mut values)) = schema.shift_remove("enum") {
            values.retain(|value| kinds.is_empty() || kinds.iter().any(|kind| has_type(value, kind)));
            return self.any_of(components, allowed(&values), like);
        }
        if kinds.len() > 1 {
            let variants = kinds.iter().map(|kind| {
                let mut variant = schema.clone();
                variant.insert("type".to_owned(), json!(kind));
                self.of_type(components, &variant, like)
            });
            let variants = variants.map(Value::Object).collect();
            return self.any_of(components, variants, like);
        }
        self.of_type(components, &schema, like)
    }

    /// What fits one of several schemas, and what is said beside them.
    fn union(
        &mut self,
        components: &mut Components<'_, '_>,
        variants: &[Value],
        beside: Map<String, Value>,
        like: &str,
    ) -> Map<String, Value> {
        let mut beside = beside;
        beside.retain(|keyword, _| is_constraint(keyword));
        let copied = variants.iter().all(|_| self.flattener.affords_all(&beside));
        if !copied {
            return self.described(components, beside, like);
        }
        let mut finished = Vec::new();
        for (place, variant) in variants.iter().enumerate() {
            let like = format!("{like}.variant{}", place + 1);
            let schema = match self.flattener.flat(variant) {
                Flat::Nothing => continue,
                Flat::Anything => return self.described(components, beside, &like),
                Flat::Reference { pointer, .. } if self.flattener.implies(&pointer, &beside) => {
                    finished.push(components.refer(&pointer).unwrap_or_else(|| json!({})));
                    continue;
                }
                Flat::Reference { .. } => {
                    let mut joined = self.flattener.joined(variant);
                    merge(&mut joined, &beside);
                    joined
                }
                Flat::Schema(mut schema) => {
                    // What only narrows further makes no type of its own.
                    if !has_shape(&schema) {
                        return self.described(components, beside, &like);
                    }
                    merge(&mut schema, &beside);
                    schema
                }
            };
            finished.push(self.place(components, &Value::Object(schema), &like));
        }
        self.any_of(components, finished, like)
    }

    /// What fits one of these finished schemas.
    fn any_of(
        &mut self,
        components: &mut Components<'_, '_>,
        variants: Vec<Value>,
        like: &str,
    ) -> Map<String, Value> {
        let mut all: Vec<Value> = Vec::new();
        for variant in variants {
            let inner = match &variant {
                Value::Object(object) if object.len() == 1 => {
                    object.get("anyOf").and_then(Value::as_array).cloned()
                }
                _ => None,
            };
            for variant in inner.unwrap_or_else(|| vec![variant]) {
                if variant == json!({}) {
                    return Map::new();
                }
                if !all.contains(&variant) {
                    all.push(variant);
                }
            }
        }
        if all.len() > 1 {
            let named = |schema: &Value| schema.as_object().is_some_and(is_named);
            let single = all.iter().filter(|schema| named(schema)).count() == 1;
            for (place, schema) in all.iter_mut().enumerate().filter(|(_, schema)| named(schema)) {
                let like = if single {
                    like
                } else {
                    &format!("{like}.variant{}", place + 1)
                };
                *schema = components.lift(like, schema.take());
            }
            return object(json!({ "anyOf": all }));
        }
        all.pop().map_or_else(nothing, object)
    }
}

/// Whether generators give a finished schema a type with a name.
fn is_named(schema: &Map<String, Value>) -> bool {
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    is_object || schema.contains_key("properties") || schema.contains_key("enum")
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// What no value fits.
fn nothing() -> Map<String, Value> {
    object(json!({ "not": {} }))
}
