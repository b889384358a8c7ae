//! How a call ended, in words that a model can go by.

use std::fmt::Write;

use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Resource};
use serde_json::{Map, Value, json};
use toolgate_api::audit::ArgumentCoercion;
use toolgate_api::calls::{CallError, CallResponse, CallStatus, ResultNotes};
use toolgate_api::mcp_servers::StoredMcpServer;
use toolgate_api::{ErrorCode, JsonText};
use toolgate_core::mcp::upstream;

use super::turn::Turn;
use crate::gateway::problem::in_words;
use crate::gateway::{Gateway, Problem};

/// Faults that an answer names.
const FAULTS: usize = 20;

/// Whose result it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Whose<'s> {
    /// That of an MCP server, which may not be known.
    McpServer(Option<&'s StoredMcpServer>),
    /// That of anything else.
    Others,
}

/// The answer to an admitted call; `read` says which arguments were read otherwise than they were sent. The blocks of an answer
/// of an MCP server are passed on, with the addresses that clients see of its resources.
pub(super) fn response(
    gateway: &Gateway,
    response: CallResponse,
    read: &[ArgumentCoercion],
    whose: Whose<'_>,
) -> CallToolResult {
    let mut meta = MetaObject::default();
    meta.insert("toolgate/call_id".to_owned(), json!(response.call_id));
    meta.insert("toolgate/state".to_owned(), json!(response.state));
    if let Some(session) = &response.session {
        meta.insert("toolgate/session".to_owned(), json!(session));
    }
    if !read.is_empty() {
        meta.insert("toolgate/coercions".to_owned(), json!(read));
    }
    let mut content = Vec::new();
    let mut structured = None;
    let is_error = response.status == CallStatus::Failed;
    match (response.result, response.error) {
        (_, Some(mut error)) => {
            meta.insert("toolgate/code".to_owned(), json!(error.code));
            let answer = error
                .upstream_answer
                .take()
                .and_then(|answer| of_mcp_server(whose, &answer));
            if answer.is_some() {
                // Its words are among the blocks.
                error.upstream_message = None;
            }
            content.push(ContentBlock::text(failure(&error)));
            if let Some(answer) = answer {
                content.extend(answer.blocks);
                // Clients check structured content against the schema of results, also that of an error.
                content.extend(
                    answer
                        .structured
                        .map(|structured| ContentBlock::text(structured.to_string())),
                );
                meta.0.extend(answer.noted);
            }
        }
        (Some(result), None) => match of_mcp_server(whose, &result) {
            Some(answer) => {
                content = answer.blocks;
                structured = answer.structured;
                meta.0.extend(answer.noted);
            }
            None => {
                let value = result.to_value();
                content.push(ContentBlock::text(match &value {
                    Value::String(text) => text.clone(),
                    _ => result.get().to_owned(),
                }));
                structured = value.is_object().then_some(value);
            }
        },
        (None, None) => content.push(ContentBlock::text("null")),
    }
    let after_execution = response.notes.as_ref().and_then(|notes| notes.after_execution);
    if let Some(after_execution) = after_execution {
        meta.insert("toolgate/after_execution".to_owned(), json!(after_execution));
    }
    if let Some(notes) = &response.notes {
        note(gateway, notes, &mut content);
    }
    if response.session.is_some_and(|session| session.state_conflict) {
        content.push(ContentBlock::text(format!(
            "{}: The result is valid, but another call had moved the session meanwhile, so this one did not move it.",
            ErrorCode::StateConflict
        )));
    }
    let mut result = match is_error {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    result.structured_content = structured;
    result.with_meta(Some(meta))
}

/// The answer to a call that invoked another one: that of the other one, with both ids.
pub(super) fn invoked(
    gateway: &Gateway,
    outer: CallResponse,
    read: &[ArgumentCoercion],
    server: Option<&StoredMcpServer>,
) -> CallToolResult {
    let inner = outer
        .result
        .as_ref()
        .and_then(|result| serde_json::from_str::<CallResponse>(result.get()).ok());
    let Some(inner) = inner else {
        return response(gateway, outer, read, Whose::Others);
    };
    let invoked = inner.call_id;
    let mut result = response(gateway, inner, read, Whose::McpServer(server));
    let meta = result.meta.get_or_insert_default();
    meta.insert("toolgate/call_id".to_owned(), json!(outer.call_id));
    meta.insert("toolgate/invoked_call_id".to_owned(), json!(invoked));
    result
}

/// What an MCP server answered.
struct OfMcpServer {
    blocks: Vec<ContentBlock>,
    structured: Option<Value>,
    noted: Map<String, Value>,
}

/// What of an answer is passed on; `None` when it is no MCP server's, or the definition made something else of it.
fn of_mcp_server(whose: Whose<'_>, answer: &JsonText) -> Option<OfMcpServer> {
    let Whose::McpServer(server) = whose else {
        return None;
    };
    let mut answer = answer.to_value();
    if let Some(server) = server {
        readdress(server, &mut answer);
    }
    let blocks: Option<Vec<ContentBlock>> = answer
        .get_mut("content")?
        .as_array_mut()?
        .iter_mut()
        .map(|block| serde_json::from_value(block.take()).ok())
        .collect();
    let mut noted = match answer.get_mut("_meta").map(Value::take) {
        Some(Value::Object(noted)) => noted,
        _ => Map::new(),
    };
    noted.retain(|key, _| !key.starts_with("toolgate/"));
    Some(OfMcpServer {
        blocks: blocks?,
        structured: answer.get_mut("structuredContent").map(Value::take),
        noted,
    })
}

/// Gives what a result names of its server the addresses that clients see.
fn readdress(server: &StoredMcpServer, result: &mut Value) {
    let links = server.definition.resources.is_some();
    let blocks = result.get_mut("content").and_then(Value::as_array_mut);
    for block in blocks.into_iter().flatten() {
        upstream::readdress_block(&server.name, links, block);
    }
    if let Some(meta) = result.get_mut("_meta") {
        upstream::readdress_views(&server.name, meta);
    }
}

/// The answer to a call that was refused, and the way on if there is one.
pub(super) fn problem(turn: &Turn, problem: Problem, way: Option<String>) -> CallToolResult {
    let retry_after_s = problem.retry_after_s();
    let body = problem.into_body(&turn.entry.caller.origin.request_id);
    let mut text = format!("{}: {}", body.code, body.detail);
    for fault in body.errors.iter().take(FAULTS) {
        let _infallible = write!(text, "\n- {}", in_words(fault));
    }
    if body.errors.len() > FAULTS {
        let _infallible = write!(text, "\n- and {} more", body.errors.len() - FAULTS);
    }
    if let Some(seconds) = retry_after_s {
        let _infallible = write!(text, "\nTry again in {seconds} s.");
    }
    if let Some(way) = way {
        text.push('\n');
        text.push_str(&way);
    }
    let mut meta = MetaObject::default();
    meta.insert("toolgate/code".to_owned(), json!(body.code));
    meta.insert("toolgate/retryable".to_owned(), json!(body.retryable));
    if let Some(id) = body.call_id {
        meta.insert("toolgate/call_id".to_owned(), json!(id));
    }
    CallToolResult::error(vec![ContentBlock::text(text)]).with_meta(Some(meta))
}

fn failure(error: &CallError) -> String {
    let mut text = format!("{}: {}", error.code, error.message);
    if let Some(words) = &error.upstream_message {
        let _infallible = write!(text, "\nThe upstream said: {words}");
    }
    match (error.retryable, error.retry_after_s) {
        (_, Some(seconds)) => {
            let _infallible = write!(text, "\nTry again in {seconds} s.");
        }
        (true, None) => text.push_str("\nThe same call may succeed later."),
        (false, None) => text.push_str("\nThe same call will fail again."),
    }
    text
}

fn note(gateway: &Gateway, notes: &ResultNotes, content: &mut Vec<ContentBlock>) {
    if let Some(cut) = &notes.truncated {
        content.push(ContentBlock::text(format!(
            "The result was cut: {} of {} bytes are here.",
            cut.kept_bytes, cut.total_bytes
        )));
    }
    if let Some(artifact) = &notes.artifact {
        let link = format!("{}{}", gateway.config.base_url(), artifact.href);
        let resource = Resource::new(link, format!("result-{}", artifact.id))
            .with_description(format!("The whole result, until {}.", artifact.expires_at))
            .with_mime_type(artifact.content_type.clone())
            .with_size(artifact.bytes);
        content.push(ContentBlock::resource_link(resource));
    }
    if let Some(next) = &notes.next {
        content.push(ContentBlock::text(format!("The next page: {next}")));
    }
    for warning in &notes.warnings {
        content.push(ContentBlock::text(format!("Warning: {}", in_words(warning))));
    }
}
