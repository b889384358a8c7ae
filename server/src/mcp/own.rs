//! The tools that are this entrance's own: search in place of a list, and what is open in a session.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use toolgate_api::ErrorCode;
use toolgate_api::recommendations::{RecommendationRequest, RecommendedTool};

use super::listing;
use super::message::SESSION_ARGUMENT;
use super::server::Arguments;
use super::turn::Turn;
use crate::gateway::{Gateway, Problem, recommend};

/// Finds tools.
pub(super) const SEARCH: &str = "search_tools";
/// Describes a tool.
pub(super) const DESCRIBE: &str = "describe_tool";
/// Calls a tool.
pub(super) const CALL: &str = "call_tool";
/// Says what is open in a session.
pub(super) const AVAILABLE: &str = "available_tools";

/// Tools that a search finds when it does not say how many, and at most.
const FOUND: (u64, u64) = (10, 50);
/// Characters of a question.
const QUESTION: usize = 4_000;

pub(super) fn tool(name: &'static str, description: &'static str, schema: Value, reads: bool) -> Tool {
    let schema = match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    let hints = ToolAnnotations::new()
        .read_only(reads)
        .destructive(!reads)
        .idempotent(reads)
        .open_world(!reads);
    Tool::new(name, description, Arc::new(schema)).with_annotations(hints)
}

/// What is listed where tools are searched for.
pub(super) fn search_tools() -> Vec<Tool> {
    let name = json!({"type": "string", "description": "The tool's name, as search_tools gives it."});
    vec![
        tool(
            SEARCH,
            "Find the tools that fit what is to be done. Say it in a few words. Only tools that you may use are found.",
            json!({"type": "object", "properties": {
                "query": {"type": "string", "description": "What is to be done."},
                "limit": {"type": "integer", "minimum": 1, "maximum": FOUND.1, "default": FOUND.0}
            }, "required": ["query"]}),
            true,
        ),
        tool(
            DESCRIBE,
            "Get the description of a tool and the schema of its arguments.",
            json!({"type": "object", "properties": {"name": name.clone()}, "required": ["name"]}),
            true,
        ),
        tool(
            CALL,
            "Call a tool with arguments that fit its schema.",
            json!({"type": "object", "properties": {
                "name": name,
                "arguments": {"type": "object", "description": "The tool's arguments.", "properties": {}}
            }, "required": ["name"]}),
            false,
        ),
    ]
}

/// What is listed beside the tools of a session whose list does not follow its state.
pub(super) fn available_tools() -> Tool {
    let schema = json!({"type": "object", "properties": {}});
    tool(
        AVAILABLE,
        "Which tools are open in the session's present state.",
        schema,
        true,
    )
}

/// A tool with the argument that names the session of a call.
pub(super) fn with_session_argument(mut tool: Tool) -> Tool {
    let mut schema = Map::clone(&tool.input_schema);
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.entry(SESSION_ARGUMENT).or_insert_with(|| {
            json!({"type": "string", "description": "The id of the session that the call belongs to, if there is one."})
        });
    }
    tool.input_schema = Arc::new(schema);
    tool
}

fn invalid(detail: &str) -> Problem {
    Problem::new(ErrorCode::InvalidArguments, detail)
}

pub(super) fn text<'a>(arguments: &'a Arguments, name: &str) -> Result<&'a str, Problem> {
    match arguments.get(name).and_then(Value::as_str) {
        Some(text) if !text.trim().is_empty() && !text.contains('\0') => Ok(text),
        _ => Err(invalid(&format!("`{name}` must be a text that is not empty."))),
    }
}

fn result(value: Value) -> CallToolResult {
    CallToolResult::structured(value)
}

/// Finds tools among those that this caller may use.
pub(super) async fn search(
    gateway: &Arc<Gateway>,
    turn: &Turn,
    arguments: Arguments,
) -> Result<CallToolResult, Problem> {
    let question = text(&arguments, "query")?.to_owned();
    if question.chars().nth(QUESTION).is_some() {
        return Err(invalid("`query` is too long: 4,000 characters at most."));
    }
    let limit = match arguments.get("limit") {
        None | Some(Value::Null) => FOUND.0,
        Some(limit) => limit
            .as_u64()
            .filter(|limit| (1..=FOUND.1).contains(limit))
            .ok_or_else(|| invalid("`limit` must be a whole number from 1 to 50."))?,
    };
    let session_id = turn.session(gateway, false).await?;
    // Without groups of its own a request asks for `default`, here as in a list.
    let group = turn.asked.group.clone();
    let group = group.or_else(|| session_id.is_none().then(|| vec!["default".to_owned()]));
    let request = RecommendationRequest {
        question,
        group,
        state: turn.state(session_id),
        session_id,
        limit: None,
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let (project, requester) = (&turn.entry.project, turn.entry.requester());
    let found = recommend::recommend(gateway, project, &requester, request, limit).await?;
    let names = project.snapshot.listed_names();
    let wire = |found: &RecommendedTool| {
        json!({
            "name": names.listed(&found.tool),
            "description": found.description,
            "score": found.score,
        })
    };
    let tools: Vec<Value> = found.tools.iter().map(wire).collect();
    Ok(result(json!({"tools": tools, "state": found.state})))
}

/// Describes a tool that can be called now. Another one is described like one that does not exist.
pub(super) async fn describe(
    gateway: &Arc<Gateway>,
    turn: &Turn,
    arguments: Arguments,
) -> Result<CallToolResult, Problem> {
    let name = text(&arguments, "name")?;
    let available = turn.available(gateway).await?.availability;
    let names = turn.entry.project.snapshot.listed_names();
    let wanted = names.name(name);
    let found = available
        .tools()
        .find(|tool| tool.name() == wanted)
        .and_then(|tool| listing::wire(names, tool, false));
    let Some(found) = found else {
        let shown: String = name.chars().take(80).collect();
        return Err(Problem::new(
            ErrorCode::ToolNotFound,
            format!("There is no tool {shown:?} that you can call now. Use `search_tools` to find one."),
        ));
    };
    serde_json::to_value(found)
        .map(result)
        .map_err(|error| Problem::internal(&error))
}

/// The tool and the arguments of a call.
pub(super) fn called(mut arguments: Arguments) -> Result<(String, Arguments), Problem> {
    let name = text(&arguments, "name")?.to_owned();
    let inner = match arguments.remove("arguments") {
        None | Some(Value::Null) => Arguments::new(),
        Some(Value::Object(inner)) => inner,
        Some(Value::String(text)) => serde_json::from_str(&text)
            .map_err(|_| invalid("`arguments` must be an object with the tool's arguments."))?,
        Some(_) => {
            return Err(invalid(
                "`arguments` must be an object with the tool's arguments.",
            ));
        }
    };
    Ok((name, inner))
}

/// Says what is open in the session.
pub(super) async fn available(gateway: &Arc<Gateway>, turn: &Turn) -> Result<CallToolResult, Problem> {
    let available = turn.available(gateway).await?.availability;
    let names = turn.entry.project.snapshot.listed_names();
    let tools: Vec<&str> = available.tools().map(|tool| names.listed(tool.name())).collect();
    let mut answer = result(json!({"state": available.state, "tools": tools}));
    if tools.is_empty() {
        answer
            .content
            .push(ContentBlock::text("No tool is open in this state."));
    }
    Ok(answer)
}
