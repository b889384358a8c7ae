//! A tool's arguments in either vocabulary: `parameters` (JSON Schema) or `arguments` (name, type, description).

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::fields;
use super::node::{Cursor, Data};
use super::report::{Report, Spot, listed, shown};
use super::schema;

const KEYS: [&str; 6] = ["name", "type", "description", "required", "enum", "items"];
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "object", "array"];

/// Reads the arguments of a tool; `default` when it says nothing about them.
pub(super) fn read(tool: &Cursor<'_>, default: &dyn Fn() -> Value, report: &mut Report) -> Value {
    match fields::one_of(tool, &["parameters", "arguments"], report) {
        None => default(),
        Some(("arguments", list)) => arguments(&list, report),
        Some((_, parameters)) => schema::read(&parameters, report),
    }
}

/// A list of arguments as JSON Schema (tool services specification, "Tool Configuration").
fn arguments(list: &Cursor<'_>, report: &mut Report) -> Value {
    if !matches!(list.node.data, Data::List(_)) {
        report.error(
            &list.spot,
            format!("\"arguments\" must be a list, not {}", list.node.kind()),
            "write one entry with name, type and description for each argument; a JSON Schema belongs under \"parameters\"",
        );
    }
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut seen = HashSet::new();
    for item in list.items() {
        let Some(argument) = argument(&item, report) else {
            continue;
        };
        if !seen.insert(argument.name.clone()) {
            report.error(
                &item.spot,
                format!("duplicate argument {}", shown(&argument.name)),
                "keep one of them",
            );
            continue;
        }
        if argument.required {
            required.push(Value::String(argument.name.clone()));
        }
        properties.insert(argument.name, argument.schema);
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = Value::Array(required);
    }
    schema
}

struct Argument {
    name: String,
    schema: Value,
    required: bool,
}

fn argument(item: &Cursor<'_>, report: &mut Report) -> Option<Argument> {
    if !fields::map(item, "arguments", report) {
        return None;
    }
    fields::known_keys(item, &KEYS, "an argument", report);
    let mut schema = Map::new();
    let kind = match item.get("type") {
        Some(at) => fields::string(&at, "type", report).and_then(|text| {
            if !TYPES.contains(&text.as_str()) {
                let message = format!("unknown argument type {}", shown(&text));
                report.error(&at.spot, message, format!("types are {}", listed(TYPES)));
                return None;
            }
            Some(text)
        }),
        None => {
            report.error(
                &item.spot,
                "the argument has no \"type\"",
                "write type: string, for example",
            );
            None
        }
    };
    if let Some(kind) = &kind {
        schema.insert("type".to_owned(), Value::String(kind.clone()));
    }
    match item.get("description") {
        Some(at) => {
            if let Some(text) = fields::string(&at, "description", report) {
                schema.insert("description".to_owned(), Value::String(text));
            }
        }
        None => report.warning(
            &item.spot,
            "the argument has no \"description\"",
            "models choose the value by it; say what it means",
        ),
    }
    for keyword in ["enum", "items"] {
        if let Some(at) = item.get(keyword) {
            schema.insert(keyword.to_owned(), at.node.to_value());
        }
    }
    // The rules of schemas hold for arguments too; places are those of the argument.
    let before = report.errors();
    if kind.as_deref() == Some("array")
        && item
            .get("items")
            .is_none_or(|items| items.entries().next().is_none())
    {
        report.error(
            &item.spot,
            "an array needs \"items\" that say what it holds",
            "write items: {type: string}, for example",
        );
    }
    if let Some(at) = item.get("enum")
        && at.items().next().is_none()
    {
        report.error(&at.spot, "\"enum\" must be a list of the allowed values", "");
    }
    let schema = Value::Object(schema);
    if kind.is_some()
        && report.errors() == before
        && let Err(why) = schema::compile(&schema)
    {
        report.error(&item.spot, format!("the argument is not valid: {why}"), "");
    }
    let required = item
        .get("required")
        .is_none_or(|at| fields::boolean(&at, "required", report).unwrap_or(true));
    let Some(at) = item.get("name") else {
        report.error(&item.spot, "the argument has no \"name\"", "");
        return None;
    };
    let name = fields::word(&at, "name", 128, report)?;
    Some(Argument {
        name,
        schema,
        required,
    })
}

/// What a schema says about which arguments exist.
pub(super) struct Declared<'s> {
    schema: &'s Value,
    tool: &'s Cursor<'s>,
}

impl<'s> Declared<'s> {
    /// Of the parameters of a tool.
    pub(super) fn of(schema: &'s Value, tool: &'s Cursor<'s>) -> Self {
        Self { schema, tool }
    }

    /// Where an argument is declared.
    pub(super) fn spot(&self, name: &str) -> Spot {
        let listed = self.tool.find("/arguments").items().find(|item| {
            let declares = |at: Cursor<'_>| matches!(&at.node.data, Data::Text(text) if text == name);
            item.get("name").is_some_and(declares)
        });
        match listed {
            Some(item) => item.spot,
            None => {
                let step = name.replace('~', "~0").replace('/', "~1");
                self.tool.find(&format!("/parameters/properties/{step}")).spot
            }
        }
    }

    /// Whether an argument of this name is declared. Schemas made of other schemas are not taken apart: they may
    /// declare anything.
    pub(super) fn knows(&self, name: &str) -> bool {
        let composed = ["$ref", "allOf", "anyOf", "oneOf", "patternProperties"];
        composed.iter().any(|keyword| self.schema.get(keyword).is_some())
            || self
                .schema
                .get("properties")
                .and_then(Value::as_object)
                .is_some_and(|map| map.contains_key(name))
    }

    /// Whether arguments that are not declared are refused.
    pub(super) fn closed(&self) -> bool {
        ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .any(|keyword| self.schema.get(keyword) == Some(&Value::Bool(false)))
    }

    /// The declared names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'s str> {
        self.schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
    }
}
