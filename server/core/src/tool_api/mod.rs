//! A project's tools as an API of their own: an OpenAPI 3.1 document in which every tool that one request may call is an
//! operation, for client generators and agent frameworks that read such documents.
//!
//! What the request asked for (groups, state, session) is part of the question, so the document demands it again from
//! every call: its parameters then have one allowed value.

mod flat;
mod merge;
mod names;
mod notes;
mod schemas;
mod simplify;
mod typed;
mod values;

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::snapshot::CompiledTool;
use names::Names;
use schemas::Schemas;

/// Longest summary, in characters; descriptions are whole.
const SUMMARY: usize = 120;
/// The statuses of the problems that a call may be answered with.
const PROBLEMS: [u16; 14] = [
    400, 401, 403, 404, 406, 409, 410, 413, 415, 422, 429, 502, 503, 504,
];

/// What the document says besides its tools.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The project's id.
    pub project: &'a str,
    /// What people call it.
    pub title: &'a str,
    /// The version of its definitions.
    pub version: i64,
    /// Where the server is: an absolute address, or `/`.
    pub server: &'a str,
    /// What the request asked for.
    pub asked: DocumentRequest<'a>,
    /// The schema `Problem` and those that it refers to, as components.
    pub problems: &'a Map<String, Value>,
}

/// What the request asked for; what it did not say stays open in the document.
#[derive(Debug, Clone, Copy, Default)]
pub struct DocumentRequest<'a> {
    /// The groups.
    pub group: Option<&'a [String]>,
    /// The state.
    pub state: Option<&'a str>,
    /// The session, whose state and groups are used.
    pub session: Option<Uuid>,
}

/// The document with these tools, in their order.
pub fn document<'t>(about: &About<'_>, tools: impl Iterator<Item = &'t CompiledTool>) -> Value {
    let mut schemas = Schemas::new(about.problems.clone());
    let mut paths = Map::new();
    let parameters = parameters(&about.asked, &mut schemas);
    let mut ids = Names::default();
    let references: Vec<Value> = parameters
        .keys()
        .map(|name| json!({ "$ref": format!("#/components/parameters/{name}") }))
        .collect();
    for tool in tools {
        let path = format!("/projects/{}/tools/{}/invoke", about.project, tool.name());
        paths.insert(
            path,
            json!({ "post": operation(about, tool, &ids.reserve(tool.name()), &references, &mut schemas) }),
        );
    }
    let mut components = json!({ "securitySchemes": { "bearer": {
        "type": "http", "scheme": "bearer",
        "description": "A service key (`tgk_...`) or an access token of Toolgate.",
    } } });
    // What no operation refers to would be a fault of the document.
    if !paths.is_empty() {
        components["parameters"] = Value::Object(parameters);
        components["headers"] = headers();
        components["responses"] = json!({ "Problem": {
            "description": "The call was refused, or the tool failed; `code` says why.",
            "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
        } });
        components["schemas"] = Value::Object(schemas.finish());
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": about.title,
            "version": about.version.to_string(),
            "description": format!(
                "The tools of the project `{}` that this caller may call with these groups in this state, as of version {} of \
                 its definitions. Every call is decided, limited and recorded by Toolgate.",
                about.project, about.version,
            ),
        },
        "servers": [{ "url": about.server, "description": "Toolgate" }],
        "security": [{ "bearer": [] }],
        "tags": [{ "name": "tools", "description": "Tools that can be called now." }],
        "paths": paths,
        "components": components,
    })
}

/// `id` is the tool's name, with a number where generators would take it for the name of another one.
fn operation(
    about: &About<'_>,
    tool: &CompiledTool,
    id: &str,
    parameters: &[Value],
    schemas: &mut Schemas,
) -> Value {
    let name = tool.name();
    let arguments = schemas.add(name, "arguments", &tool.read_shown_parameters());
    let result = match &tool.definition.output_schema {
        Some(schema) => json!({ "$ref": schemas.add(name, "result", &schema.value()) }),
        None => json!({}),
    };
    let mut responses = json!({ "200": {
        "description": "What the tool answered",
        "headers": {
            "Toolgate-Call": { "$ref": "#/components/headers/ToolgateCall" },
            "Toolgate-State": { "$ref": "#/components/headers/ToolgateState" },
        },
        "content": { "application/json": { "schema": result } },
    } });
    for status in PROBLEMS {
        responses[status.to_string()] = json!({ "$ref": "#/components/responses/Problem" });
    }
    json!({
        "operationId": id,
        "summary": summary(tool),
        "description": description(about, tool),
        "tags": ["tools"],
        "parameters": parameters,
        "requestBody": {
            "required": true,
            "description": "The arguments.",
            "content": { "application/json": { "schema": { "$ref": arguments } } },
        },
        "responses": responses,
    })
}

/// The first line of the description.
fn summary(tool: &CompiledTool) -> String {
    let first = tool
        .definition
        .description
        .trim()
        .lines()
        .next()
        .unwrap_or_default();
    let mut text: String = first.chars().take(SUMMARY).collect();
    if first.chars().nth(SUMMARY).is_some() {
        text.push('…');
    }
    if text.is_empty() {
        tool.name().clone_into(&mut text);
    }
    text
}

fn description(about: &About<'_>, tool: &CompiledTool) -> String {
    let said = tool.definition.description.trim();
    let blank = if said.is_empty() { "" } else { "\n\n" };
    let moves = match &tool.definition.state {
        Some(state) => format!(", and moves the workflow to the state `{state}` when it succeeds"),
        None => String::new(),
    };
    format!(
        "{said}{blank}Calls the tool `{}` of the project `{}`{moves}.",
        tool.name(),
        about.project
    )
}

/// What a call may, or must, say besides its arguments, by component name.
fn parameters(asked: &DocumentRequest<'_>, schemas: &mut Schemas) -> Map<String, Value> {
    let mut all = Map::new();
    let mut add = |key: &str, name: &str, place: &str, pinned: bool, schema: Value, description: &str| {
        all.insert(
            key.to_owned(),
            json!({ "name": name, "in": place, "required": pinned, "schema": schema, "description": description }),
        );
    };
    let names = match asked.group {
        None => json!({ "type": "array", "items": { "type": "string" } }),
        Some(names) => json!({ "type": "array", "items": pinned(schemas, "RequestedGroup", names),
            "minItems": names.len(), "maxItems": names.len() }),
    };
    let groups =
        "The requested groups, each as a parameter of its own. Absent: `default`, or those of the session.";
    add("Group", "group", "query", asked.group.is_some(), names, groups);
    if let Some(session) = asked.session {
        let schema = pinned(schemas, "RequestedSession", &[session.to_string()]);
        let description = "The session whose state and groups are used, and whose state a success moves.";
        add("Session", "session_id", "query", true, schema, description);
    } else {
        let (pinned, schema) = match asked.state {
            None => (false, json!({ "type": "string", "maxLength": 128 })),
            Some(state) => (true, pinned(schemas, "RequestedState", &[state.to_owned()])),
        };
        let description = "The workflow state that the call is made in; `undefined` when absent.";
        add("State", "state", "query", pinned, schema, description);
    }
    let key = json!({ "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$" });
    let description =
        "Makes a repeated request harmless: it is answered again and not run again, for 24 hours.";
    add(
        "IdempotencyKey",
        "Idempotency-Key",
        "header",
        false,
        key,
        description,
    );
    all
}

/// One of these texts: a component, so that generators make one type of it and not one for each tool.
fn pinned(schemas: &mut Schemas, name: &str, texts: &[String]) -> Value {
    let texts: Vec<Value> = texts.iter().map(|text| json!(text)).collect();
    let schema = match values::allowed(&texts).as_slice() {
        [] => json!({ "type": "string" }),
        [_] => json!({ "type": "string", "enum": texts }),
        several => json!({ "anyOf": several }),
    };
    json!({ "$ref": schemas.own(name, schema) })
}

fn headers() -> Value {
    json!({
        "ToolgateCall": { "description": "The call's id, and that of its record.", "schema": { "type": "string", "format": "uuid" } },
        "ToolgateState": { "description": "The workflow state after the call, percent-encoded.", "schema": { "type": "string" } },
    })
}

#[cfg(test)]
mod tests;
