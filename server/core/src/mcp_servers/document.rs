//! The documents that clients and hosts write of their MCP servers.

use serde_json::{Map, Value};
use toolgate_api::Diagnostic;
use toolgate_api::mcp_servers::{McpServerDefinition, McpTransport};

use super::check::{check, name_fault};
use crate::definition::{TextFormat, parse_document};
use crate::pointer;
use crate::text::node::{Cursor, Node};

/// Keys of clients that say nothing about how a server is reached.
const IGNORED: [&str; 8] = [
    "alwaysAllow",
    "autoApprove",
    "disabledTools",
    "icon",
    "id",
    "name",
    "gallery",
    "trust",
];

/// A server of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its name in the project.
    pub name: String,
    /// Its place in the document.
    pub pointer: String,
    /// How it is reached.
    pub server: McpServerDefinition,
    /// What of it was read in another way than it was written.
    pub warnings: Vec<Diagnostic>,
}

/// The servers of a document that is a text.
///
/// # Errors
/// Every fault, with its place.
pub fn parse(text: &[u8], format: TextFormat) -> Result<Vec<Named>, Vec<Diagnostic>> {
    let document = parse_document(text, format)?;
    let value = document
        .as_ref()
        .map(|document| document.to_value())
        .unwrap_or_default();
    let place = |found: &mut Vec<Diagnostic>| {
        if let Some(document) = &document {
            found.iter_mut().for_each(|one| locate(one, document));
        }
    };
    match read(&value) {
        Ok(mut servers) => {
            servers.iter_mut().for_each(|named| place(&mut named.warnings));
            Ok(servers)
        }
        Err(mut faults) => {
            place(&mut faults);
            Err(faults)
        }
    }
}

/// Adds the line and the column of what a pointer leads to, or of what is nearest above it.
fn locate(found: &mut Diagnostic, document: &Node) {
    let pointer = found.pointer.as_deref().unwrap_or_default();
    if let Some(place) = Cursor::root(document).find(pointer).spot.place {
        (found.line, found.column) = (Some(place.line), Some(place.column));
    }
}

/// The servers of a document: `{"mcpServers": {name: {...}}}` as clients write it (`servers` and `context_servers` are read as
/// the same), or `{"Mcp": {"Servers": [{"Name": ...}]}}`.
///
/// # Errors
/// Every fault, with its place.
pub fn read(document: &Value) -> Result<Vec<Named>, Vec<Diagnostic>> {
    let mut entries: Vec<(String, String, &Map<String, Value>)> = Vec::new();
    let mut faults = Vec::new();
    for key in ["mcpServers", "servers", "context_servers"] {
        let Some(servers) = document.get(key) else {
            continue;
        };
        let Some(servers) = servers.as_object() else {
            faults.push(
                Diagnostic::error("this must be an object with a server under each name")
                    .at_pointer(format!("/{key}")),
            );
            continue;
        };
        for (name, entry) in servers {
            let at = pointer::of([key, name.as_str()]);
            match entry.as_object() {
                Some(entry) => entries.push((name.clone(), at, entry)),
                None => faults.push(Diagnostic::error("a server must be an object").at_pointer(at)),
            }
        }
    }
    if let Some(servers) = document.pointer("/Mcp/Servers") {
        for (at, entry) in servers.as_array().into_iter().flatten().enumerate() {
            let pointer = format!("/Mcp/Servers/{at}");
            let named = entry
                .as_object()
                .and_then(|entry| Some((entry.get("Name")?.as_str()?, entry)));
            match named {
                Some((name, entry)) => entries.push((name.to_owned(), pointer, entry)),
                None => faults.push(
                    Diagnostic::error("a server must be an object with a \"Name\"").at_pointer(pointer),
                ),
            }
        }
    }
    if entries.is_empty() && faults.is_empty() {
        faults.push(
            Diagnostic::error("the document has no servers")
                .hint("write {\"mcpServers\": {\"name\": {\"command\": ...} or {\"url\": ...}}}")
                .at_pointer(""),
        );
    }
    let mut found: Vec<Named> = Vec::new();
    for (name, at, entry) in entries {
        match server(&name, &at, entry) {
            Ok(server) if found.iter().any(|other| other.name == server.name) => faults.push(
                Diagnostic::error(format!("two servers would have the name {:?}", server.name))
                    .at_pointer(at),
            ),
            Ok(server) => found.push(server),
            Err(more) => faults.extend(more),
        }
    }
    if faults.is_empty() { Ok(found) } else { Err(faults) }
}

fn server(name: &str, at: &str, entry: &Map<String, Value>) -> Result<Named, Vec<Diagnostic>> {
    let mut warnings = Vec::new();
    let slug = slug(name);
    if slug != name {
        warnings.push(
            Diagnostic::warning(format!(
                "the server is named {slug:?} here: names are lower-case letters, digits and hyphens"
            ))
            .at_pointer(at),
        );
    }
    if let Some(fault) = name_fault(&slug) {
        return Err(vec![Diagnostic::error(fault).at_pointer(at)]);
    }
    let mut plain = Map::new();
    let mut faults = Vec::new();
    for (key, value) in entry {
        let key_at = format!("{at}{}", pointer::of([key.as_str()]));
        let fold: String = key
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_ascii_lowercase();
        let (known, value) = match fold.as_str() {
            "command" => ("command", value.clone()),
            "args" | "arguments" => ("args", value.clone()),
            "env" | "environmentvariables" => ("env", texts(value)),
            "url" | "httpurl" | "serverurl" | "endpoint" => ("url", value.clone()),
            "headers" => ("headers", texts(value)),
            "oauth" => ("oauth", value.clone()),
            "account" => ("account", value.clone()),
            "description" => ("description", value.clone()),
            "network" => ("network", value.clone()),
            "enabled" => ("enabled", value.clone()),
            "disabled" => (
                "enabled",
                value
                    .as_bool()
                    .map_or_else(|| value.clone(), |off| Value::Bool(!off)),
            ),
            "timeoutms" => ("timeout_ms", value.clone()),
            "maxconcurrent" => ("max_concurrent", value.clone()),
            "idlestops" => ("idle_stop_s", value.clone()),
            "refreshs" => ("refresh_s", value.clone()),
            "onchange" => ("on_change", value.clone()),
            "instance" => ("instance", value.clone()),
            "maxinstances" => ("max_instances", value.clone()),
            "resources" => ("resources", value.clone()),
            "prompts" => ("prompts", value.clone()),
            "elicitation" => ("elicitation", value.clone()),
            "type" | "transport" | "transporttype" => match transport(value) {
                Some(transport) => ("transport", transport),
                None => {
                    faults.push(
                        Diagnostic::error("unknown transport")
                            .hint("write stdio, streamable_http or sse")
                            .at_pointer(key_at),
                    );
                    continue;
                }
            },
            _ => {
                if !IGNORED.contains(&key.as_str()) && key != "Name" {
                    warnings
                        .push(Diagnostic::warning(format!("{key:?} is not used here")).at_pointer(key_at));
                }
                continue;
            }
        };
        if plain.insert(known.to_owned(), value).is_some() {
            faults.push(Diagnostic::error(format!("{known:?} is written twice")).at_pointer(key_at));
        }
    }
    let read: Result<McpServerDefinition, _> = serde_json::from_value(Value::Object(plain));
    match read {
        Err(error) => {
            faults.push(Diagnostic::error(format!("the server cannot be read: {error}")).at_pointer(at));
        }
        Ok(server) => {
            for mut fault in check(&server) {
                fault.pointer = Some(format!("{at}{}", fault.pointer.unwrap_or_default()));
                faults.push(fault);
            }
            if faults.is_empty() {
                return Ok(Named {
                    name: slug,
                    pointer: at.to_owned(),
                    server,
                    warnings,
                });
            }
        }
    }
    Err(faults)
}

/// Values of variables and headers, which clients also write as numbers and flags.
fn texts(value: &Value) -> Value {
    let Some(members) = value.as_object() else {
        return value.clone();
    };
    let text = |value: &Value| match value {
        Value::Number(number) => Value::String(number.to_string()),
        Value::Bool(flag) => Value::String(flag.to_string()),
        other => other.clone(),
    };
    Value::Object(
        members
            .iter()
            .map(|(key, value)| (key.clone(), text(value)))
            .collect(),
    )
}

fn transport(value: &Value) -> Option<Value> {
    let text = value.as_str()?;
    let plain: String = text
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_ascii_lowercase();
    let transport = match plain.as_str() {
        "stdio" | "local" => McpTransport::Stdio,
        "http" | "streamablehttp" | "httpstream" | "remote" => McpTransport::StreamableHttp,
        "sse" => McpTransport::Sse,
        _ => return None,
    };
    serde_json::to_value(transport).ok()
}

/// The name as one of this project's servers.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}
