//! Schemas in the profile that OpenAI, Anthropic and Gemini accept for a tool.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use thiserror::Error;
use toolgate_api::audit::ArgumentCoercion;

use super::coerce::read_texts;
use super::inline::inlined;
use super::rename::Renames;

/// The alternatives at the root that are merged into one object.
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// What else providers refuse at the root.
const REFUSED: [&str; 9] = [
    "not",
    "propertyNames",
    "if",
    "then",
    "else",
    "enum",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
];

/// A tool cannot be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("its parameters are not the schema of an object")]
pub struct NotListable;

/// The schema of a tool's arguments as it is listed: an object with `properties`, without references, without alternatives
/// at the root, with keys of 1-64 letters, digits, `_`, `.` and `-`.
#[derive(Debug)]
pub struct InputSchema {
    schema: Arc<Map<String, Value>>,
    renames: Renames,
}

impl InputSchema {
    /// From the schema that callers see.
    ///
    /// # Errors
    /// When it is not the schema of an object.
    pub fn new(parameters: &Value) -> Result<Self, NotListable> {
        let Value::Object(mut root) = inlined(parameters) else {
            return Err(NotListable);
        };
        if !may_be_object(&root) {
            return Err(NotListable);
        }
        let mut properties = match root.shift_remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        };
        let mut required = required_of(&root);
        absorb(&mut root, &mut properties, &mut required);
        root.retain(|keyword, _| !REFUSED.contains(&keyword.as_str()));
        for name in &required {
            properties.entry(name.clone()).or_insert_with(|| json!({}));
        }
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        for (keyword, value) in root {
            schema.entry(keyword).or_insert(value);
        }
        if required.is_empty() {
            schema.shift_remove("required");
        }
        let renames = Renames::make(&mut schema);
        Ok(Self {
            schema: Arc::new(schema),
            renames,
        })
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &Arc<Map<String, Value>> {
        &self.schema
    }

    /// Reads the arguments of a call as the tool takes them: JSON in texts where the schema admits no text, and under the names
    /// that the tool knows. An argument under its own name stays. What was read otherwise than it was sent.
    pub fn read(&self, arguments: &mut Map<String, Value>) -> Vec<ArgumentCoercion> {
        let mut changed = read_texts(&self.schema, arguments);
        self.renames.restore(arguments);
        for coercion in &mut changed {
            self.renames.restore_pointer(coercion);
        }
        changed
    }
}

/// The schema of a result as it is listed; `None` unless it is plainly that of an object.
#[must_use]
pub fn output_schema(schema: &Value) -> Option<Map<String, Value>> {
    let Value::Object(mut root) = inlined(schema) else {
        return None;
    };
    let is_object = root.get("type").is_some_and(|kind| kind == "object");
    let has_alternatives = LISTS.iter().any(|keyword| root.contains_key(*keyword));
    if !is_object || has_alternatives {
        return None;
    }
    root.entry("properties").or_insert_with(|| json!({}));
    Some(root)
}

fn may_be_object(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        None => true,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(kind) => kind == "object",
    }
}

fn required_of(schema: &Map<String, Value>) -> Vec<String> {
    let names = schema.get("required").and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

/// Takes the alternatives and conditions out of a schema, and their properties in. What every alternative requires is
/// required; a property that alternatives describe differently may be as each of them says.
fn absorb(schema: &mut Map<String, Value>, properties: &mut Map<String, Value>, required: &mut Vec<String>) {
    for keyword in LISTS {
        let Some(Value::Array(branches)) = schema.shift_remove(keyword) else {
            continue;
        };
        let mut common: Option<Vec<String>> = None;
        let mut offered = Map::new();
        for branch in branches {
            let Value::Object(mut branch) = branch else {
                continue;
            };
            let demanded = take_in(&mut branch, &mut offered, keyword == "allOf");
            common = Some(match (common, keyword) {
                (None, _) => demanded,
                (Some(before), "allOf") => before.into_iter().chain(demanded).collect(),
                (Some(before), _) => before
                    .into_iter()
                    .filter(|name| demanded.contains(name))
                    .collect(),
            });
        }
        add(properties, offered);
        for name in common.into_iter().flatten() {
            if !required.contains(&name) {
                required.push(name);
            }
        }
    }
    let mut offered = Map::new();
    for keyword in ["then", "else"] {
        if let Some(Value::Object(mut branch)) = schema.shift_remove(keyword) {
            take_in(&mut branch, &mut offered, false);
        }
    }
    add(properties, offered);
}

/// Adds properties that are not described beside the alternatives.
fn add(properties: &mut Map<String, Value>, offered: Map<String, Value>) {
    for (name, schema) in offered {
        properties.entry(name).or_insert(schema);
    }
}

/// One schema for what fits one of two.
fn either(first: &mut Value, second: Value) {
    if *first == second {
        return;
    }
    match first {
        Value::Object(members) if members.len() == 1 && members.get("anyOf").is_some_and(Value::is_array) => {
            if let Some(Value::Array(all)) = members.get_mut("anyOf")
                && !all.contains(&second)
            {
                all.push(second);
            }
        }
        _ => *first = json!({ "anyOf": [first.take(), second] }),
    }
}

/// Adds the properties of an alternative; what it requires. `all`: every alternative holds, so that one description says
/// enough.
fn take_in(branch: &mut Map<String, Value>, offered: &mut Map<String, Value>, all: bool) -> Vec<String> {
    let mut demanded = required_of(branch);
    let mut own = match branch.shift_remove("properties") {
        Some(Value::Object(own)) => own,
        _ => Map::new(),
    };
    absorb(branch, &mut own, &mut demanded);
    for (name, schema) in own {
        match offered.get_mut(&name) {
            None => {
                offered.insert(name, schema);
            }
            Some(known) if !all => either(known, schema),
            Some(_) => {}
        }
    }
    demanded
}
