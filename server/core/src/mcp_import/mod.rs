//! From the tools that an MCP server lists to the tools that call them.
//!
//! What comes out is the `Preview` of `imports` and goes the way of every source from there on. A tool that cannot be read
//! costs itself only. `suspicion` finds instructions that are hidden in what models would read.

mod apps;
mod icons;
mod suspicion;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use toolgate_api::imports::DescriptionFormat;

pub use self::suspicion::suspicions;

use crate::definition::kinds::mcp;
use crate::definition::{LONGEST_TITLE, UploadContext, word_fault};
use crate::imports::{ImportedTool, Named, Operation, Preview, assign};

/// How tools of an MCP server are called.
pub const CALL: &str = "tools/call";
/// What a description is cut to, in characters; a definition may have as many.
const LONGEST_DESCRIPTION: usize = 10_000;
/// Tools of one server that are read.
const MAX_TOOLS: usize = 5_000;

/// What an MCP server lists.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct McpListing {
    /// What the server calls itself.
    pub title: String,
    /// Its version.
    pub version: String,
    /// Its tools, as they came.
    pub tools: Vec<Value>,
}

/// A digest of what a server says of a tool: another one when anything of it is another. The order of keys means nothing.
#[must_use]
pub fn fingerprint(tool: &Value) -> String {
    // What a server adds for one connection or one answer says nothing about the tool.
    let mut said = tool.clone();
    if let Some(said) = said.as_object_mut() {
        said.remove("_meta");
        said.remove("icons");
    }
    let digest = Sha256::digest(sorted(&said).to_string());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut keys: Vec<&String> = members.keys().collect();
            keys.sort_unstable();
            Value::Object(
                keys.into_iter()
                    .map(|key| (key.clone(), sorted(&members[key])))
                    .collect(),
            )
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

/// Makes a tool of each tool that a server lists. Nothing is stored.
#[must_use]
pub fn preview(server: &str, listing: &McpListing, prefix: &str, context: &UploadContext<'_>) -> Preview {
    let mut seen = BTreeSet::new();
    let mut problems = Vec::new();
    let mut named = Vec::new();
    for (at, tool) in listing.tools.iter().enumerate().take(MAX_TOOLS) {
        let fault = |what: &str| {
            toolgate_api::Diagnostic::error(what)
                .hint("the author of the server must correct it; the other tools are not affected")
                .at_pointer(format!("/tools/{at}"))
        };
        match tool.get("name").and_then(Value::as_str) {
            None | Some("") => problems.push(fault("the tool has no name, so that nothing can call it")),
            Some(name) if !seen.insert(name) => {
                problems.push(fault(&format!(
                    "the name {name:?} was listed already; the first one is meant"
                )));
            }
            Some(name) => named.push((at, name, tool)),
        }
    }
    if listing.tools.len() > MAX_TOOLS {
        problems.push(toolgate_api::Diagnostic::error(format!(
            "the server lists {} tools; those after the first {MAX_TOOLS} were not read",
            listing.tools.len()
        )));
    }
    let wishes: Vec<Named<'_>> = named
        .iter()
        .map(|(_, name, _)| Named {
            id: Some(name),
            method: CALL,
            path: name,
        })
        .collect();
    let plain_names = assign(&wishes, "");
    let names = match prefix {
        "" => plain_names.clone(),
        prefix => assign(&wishes, prefix),
    };
    let operations = named
        .iter()
        .zip(names.into_iter().zip(plain_names))
        .map(|(&(at, id, tool), names)| operation(server, (at, id), tool, names, context))
        .collect();
    Preview {
        title: listing.title.clone(),
        version: listing.version.clone(),
        format: DescriptionFormat::Mcp,
        operations,
        hosts: BTreeSet::new(),
        problems,
        warnings: Vec::new(),
        service: None,
    }
}

fn operation(
    server: &str,
    (at, id): (usize, &str),
    tool: &Value,
    (name, plain_name): (String, String),
    context: &UploadContext<'_>,
) -> Operation {
    let mut notes = suspicions(tool);
    let definition = definition(server, id, tool, &name, &mut notes);
    let built = definition.and_then(|definition| ImportedTool::new(&definition, context, &mut notes));
    Operation {
        method: CALL.to_owned(),
        path: id.to_owned(),
        pointer: format!("/tools/{at}"),
        operation_id: Some(id.to_owned()),
        tags: Vec::new(),
        summary: title(tool).map(str::to_owned),
        deprecated: false,
        name,
        plain_name,
        tool: built,
        notes,
        security: Vec::new(),
    }
}

/// What people read instead of its name.
fn title(tool: &Value) -> Option<&str> {
    let title = tool.get("title").or_else(|| tool.pointer("/annotations/title"));
    title.and_then(Value::as_str)
}

/// The definition of a tool.
fn definition(
    server: &str,
    id: &str,
    tool: &Value,
    name: &str,
    notes: &mut Vec<String>,
) -> Result<Value, String> {
    let mut definition = Map::new();
    definition.insert("name".to_owned(), json!(name));
    definition.insert("type".to_owned(), json!(mcp::NAME));
    // A title that cannot be one is not worth the tool.
    if let Some(title) = title(tool).map(str::trim)
        && word_fault(title, LONGEST_TITLE).is_none()
    {
        definition.insert("title".to_owned(), json!(title));
    }
    match tool.get("description") {
        Some(Value::String(text)) => {
            if text.chars().count() > LONGEST_DESCRIPTION {
                notes.push(format!(
                    "the description was cut to {LONGEST_DESCRIPTION} characters"
                ));
            }
            let cut: String = text.chars().take(LONGEST_DESCRIPTION).collect();
            definition.insert("description".to_owned(), json!(cut));
        }
        None | Some(Value::Null) => {}
        Some(_) => return Err("its description is no text".to_owned()),
    }
    definition.insert("parameters".to_owned(), arguments(tool.get("inputSchema"))?);
    match tool.get("outputSchema") {
        None | Some(Value::Null) => {}
        Some(schema @ Value::Object(_)) => {
            definition.insert("output_schema".to_owned(), schema.clone());
        }
        Some(_) => notes.push("its outputSchema is no schema and was left out".to_owned()),
    }
    definition.insert(mcp::SERVER.to_owned(), json!(server));
    definition.insert(mcp::TOOL_ID.to_owned(), json!(id));
    if let Some(annotations @ Value::Object(_)) = tool.get("annotations") {
        definition.insert(mcp::ANNOTATIONS.to_owned(), annotations.clone());
    }
    definition.insert(mcp::FINGERPRINT.to_owned(), json!(fingerprint(tool)));
    // Where tasks are optional, an ordinary call does the same.
    if tool.pointer("/execution/taskSupport").and_then(Value::as_str) == Some("required") {
        definition.insert(mcp::TASK_SUPPORT.to_owned(), json!("required"));
    }
    if let Some(icons) = icons::icons(tool, notes) {
        definition.insert(mcp::ICONS.to_owned(), icons);
    }
    if let Some(meta) = apps::meta(tool, notes) {
        definition.insert(mcp::META.to_owned(), Value::Object(meta));
    }
    Ok(Value::Object(definition))
}

/// The schema of the arguments. Servers leave out what every schema of arguments has.
fn arguments(schema: Option<&Value>) -> Result<Value, String> {
    let mut schema = match schema {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(schema)) => schema.clone(),
        Some(_) => return Err("its inputSchema is no object".to_owned()),
    };
    schema.entry("type").or_insert_with(|| json!("object"));
    Ok(Value::Object(schema))
}
