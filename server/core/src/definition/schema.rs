//! JSON Schema of a tool's arguments and results: what is accepted.

use serde_json::Value;

use super::nearest::nearest;
use super::node::{Cursor, Data};
use super::report::{Report, Spot, listed, shown};
use crate::validation::Schema;

/// The only dialect.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
const TYPES: [&str; 7] = [
    "object", "array", "string", "number", "integer", "boolean", "null",
];
/// Keywords whose value is a schema, a list of schemas, or a map of names to schemas.
pub(crate) const SINGLE: [&str; 11] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];
pub(crate) const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
pub(crate) const MAPS: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];

pub(super) const MAX_NODES: usize = 5_000;
pub(super) const MAX_HEIGHT: usize = 32;
pub(super) const MAX_PATTERNS: usize = 100;
const MAX_FAULTS: usize = 20;

/// Compiles a schema that was accepted.
///
/// # Errors
/// A text that says what is wrong; never for the `parameters` of a checked definition.
pub fn compile(schema: &Value) -> Result<Schema, String> {
    Schema::new(schema).map_err(|error| short(&error))
}

/// Reads a schema of arguments and reports everything wrong with it. The value comes back even when faulty, so that
/// checks of other parts can go on.
pub(super) fn read(cursor: &Cursor<'_>, report: &mut Report) -> Value {
    read_for(cursor, "parameters", report)
}

/// Reads a schema of results, which may be of any type.
pub(super) fn read_output(cursor: &Cursor<'_>, report: &mut Report) -> Value {
    read_for(cursor, "output_schema", report)
}

fn read_for(cursor: &Cursor<'_>, key: &str, report: &mut Report) -> Value {
    let empty = || serde_json::json!({"type": "object"});
    if !cursor.is_map() {
        let hint = match cursor.node.data {
            Data::Null if key == "output_schema" => "leave it out when results have no schema",
            Data::Null => "leave it out for a tool without arguments",
            Data::List(_) => "a list of name, type and description belongs under \"arguments\"",
            _ => "write {type: object, properties: {...}}",
        };
        let message = format!("{key:?} must be a JSON Schema, not {}", cursor.node.kind());
        report.error(&cursor.spot, message, hint);
        return empty();
    }
    if cursor.node.size.nodes > MAX_NODES || cursor.node.size.height > MAX_HEIGHT {
        report.error(
            &cursor.spot,
            too_large(),
            "describe the arguments more simply; move repeated parts to $defs",
        );
        return empty();
    }
    let before = report.errors();
    let mut value = cursor.node.to_value();
    dialect(cursor, &mut value, report);
    if key == "parameters" {
        root_type(cursor, &mut value, report);
    }
    let mut walk = Walk {
        report,
        patterns: 0,
        faulty: Vec::new(),
    };
    walk.schema(cursor);
    let faulty = walk.faulty;
    for error in jsonschema::draft202012::meta::validator()
        .iter_errors(&value)
        .take(MAX_FAULTS)
    {
        let pointer = error.instance_path().as_str();
        // A fault that was already reported in plainer words.
        if faulty.iter().any(|known| *known == pointer) {
            continue;
        }
        let at = cursor.find(pointer);
        report.error(
            &at.spot,
            format!("not a valid JSON Schema: {}", short(&error.to_string())),
            "",
        );
    }
    if report.errors() == before {
        match compile(&value) {
            Err(why) => report.error(
                &cursor.spot,
                format!("the schema cannot be compiled: {why}"),
                "references must point into this schema (#/$defs/...); patterns cannot use look-around or back references",
            ),
            Ok(schema) => {
                if let Some(why) = schema.warning() {
                    report.warning(
                        &cursor.spot,
                        why,
                        "give each alternative members of its own names, or choose between them by if, then and else",
                    );
                }
            }
        }
    }
    value
}

pub(super) fn too_large() -> String {
    format!("the schema is too large: at most {MAX_NODES} values, nested {MAX_HEIGHT} deep")
}

pub(super) fn too_many_patterns() -> String {
    format!("more than {MAX_PATTERNS} patterns in one schema")
}

/// Another dialect is read as 2020-12, which differs in rarely used keywords only.
fn dialect(cursor: &Cursor<'_>, value: &mut Value, report: &mut Report) {
    let Some(at) = cursor.get("$schema") else { return };
    if let Data::Text(text) = &at.node.data
        && text.trim_end_matches('#') != DIALECT
    {
        report.warning(
            &at.spot,
            format!(
                "the schema is read as JSON Schema 2020-12, not as {}",
                shown(text)
            ),
            "leave $schema out",
        );
        if let Value::Object(map) = value {
            map.shift_remove("$schema");
        }
    }
}

/// Arguments are an object; a schema that does not say so is completed.
fn root_type(cursor: &Cursor<'_>, value: &mut Value, report: &mut Report) {
    match cursor.get("type") {
        None => {
            if let Value::Object(map) = value {
                map.shift_insert(0, "type".to_owned(), Value::String("object".to_owned()));
            }
        }
        Some(at) => match &at.node.data {
            Data::Text(text) if text == "object" => {}
            // Reported by the walk.
            Data::Text(text) if !TYPES.contains(&text.as_str()) => {}
            _ => report.error(
                &at.spot,
                "the arguments of a tool are an object",
                "write type: object and put the arguments under properties",
            ),
        },
    }
}

/// Goes through all schemas within a schema. Values of `default`, `const`, `enum` and the like are data, not schemas.
struct Walk<'r> {
    report: &'r mut Report,
    patterns: usize,
    /// Pointers within the schema whose faults are reported.
    faulty: Vec<String>,
}

impl Walk<'_> {
    fn schema(&mut self, root: &Cursor<'_>) {
        let base = root.spot.pointer.as_deref().unwrap_or_default().len();
        self.step(root, base);
    }

    fn step(&mut self, schema: &Cursor<'_>, base: usize) {
        for keyword in ["$ref", "$dynamicRef"] {
            if let Some(at) = schema.get(keyword)
                && let Data::Text(text) = &at.node.data
                && !text.starts_with('#')
            {
                self.error(
                    &at.spot,
                    base,
                    format!("{keyword} may not leave the schema: {}", shown(text)),
                    "copy what it refers to under $defs and write #/$defs/<name>",
                );
            }
        }
        self.types(schema, base);
        let patterns = usize::from(schema.get("pattern").is_some())
            + schema
                .get("patternProperties")
                .map_or(0, |map| map.entries().count());
        let had = self.patterns;
        self.patterns += patterns;
        if had <= MAX_PATTERNS && self.patterns > MAX_PATTERNS {
            self.error(&schema.spot, base, too_many_patterns(), "");
        }
        for keyword in SINGLE {
            if let Some(inner) = schema.get(keyword) {
                self.step(&inner, base);
            }
        }
        for keyword in LISTS {
            if let Some(inner) = schema.get(keyword) {
                inner.items().for_each(|schema| self.step(&schema, base));
            }
        }
        for keyword in MAPS {
            if let Some(inner) = schema.get(keyword) {
                inner
                    .entries()
                    .for_each(|(_, _, schema)| self.step(&schema, base));
            }
        }
    }

    fn types(&mut self, schema: &Cursor<'_>, base: usize) {
        let Some(at) = schema.get("type") else { return };
        let mut names: Vec<Cursor<'_>> = at.items().collect();
        if names.is_empty() {
            names.push(at.clone());
        }
        for name in &names {
            if let Data::Text(text) = &name.node.data
                && !TYPES.contains(&text.as_str())
            {
                let hint = match (text.as_str(), nearest(text, TYPES)) {
                    ("map" | "dict", _) => "write object".to_owned(),
                    ("list", _) => "write array".to_owned(),
                    ("float" | "double", _) => "write number".to_owned(),
                    (_, Some(near)) => format!("did you mean {near:?}?"),
                    (_, None) => format!("types are {}", listed(TYPES)),
                };
                self.error(&name.spot, base, format!("unknown type {}", shown(text)), &hint);
                // The list as a whole is faulty for the meta-schema.
                self.faulty.push(relative(&at.spot, base));
            }
        }
        let is_array = names
            .iter()
            .any(|name| matches!(&name.node.data, Data::Text(text) if text == "array"));
        let has_items = schema
            .get("items")
            .is_some_and(|items| items.entries().next().is_some());
        if is_array && !has_items {
            self.error(
                &schema.spot,
                base,
                "an array needs \"items\" that say what it holds".to_owned(),
                "write items: {type: string}, for example",
            );
            if let Some(items) = schema.get("items") {
                self.faulty.push(relative(&items.spot, base));
            }
        }
    }

    fn error(&mut self, spot: &Spot, base: usize, message: String, hint: &str) {
        self.faulty.push(relative(spot, base));
        self.report.error(spot, message, hint);
    }
}

fn relative(spot: &Spot, base: usize) -> String {
    spot.pointer
        .as_deref()
        .unwrap_or_default()
        .get(base..)
        .unwrap_or_default()
        .to_owned()
}

/// Messages of the library repeat the whole faulty value.
fn short(message: &str) -> String {
    const LONGEST: usize = 240;
    let mut text: String = message.chars().take(LONGEST).collect();
    if text.len() < message.len() {
        text.push('…');
    }
    text
}
