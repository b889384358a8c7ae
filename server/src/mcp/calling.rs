//! `tools/call`: the ordinary call.

use std::sync::Arc;

use rmcp::model::CallToolResult;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use toolgate_api::ErrorCode;
use toolgate_api::calls::{CallRequest, CallResponse};
use toolgate_core::definition::Execution;
use toolgate_core::snapshot::CompiledTool;
use toolgate_executors::{Asker, Parts, UpstreamLog};

use super::answer::Whose;
use super::conformed::conformed;
use super::message::SESSION_ARGUMENT;
use super::server::Arguments;
use super::turn::{Placed, Turn};
use super::{answer, guidance, guides, own};
use crate::gateway::call::{CallOptions, Called, call_once_with};
use crate::gateway::idempotency::Answer;
use crate::gateway::{Gateway, Problem, mcp_servers};

/// What a call is run with.
#[derive(Default)]
pub(super) struct With {
    /// Takes the parts of its answer as they come.
    pub(super) parts: Option<Parts>,
    /// Puts questions of the upstream to the client.
    pub(super) asker: Option<Arc<dyn Asker>>,
    /// Takes what the upstream logs.
    pub(super) log: Option<UpstreamLog>,
    /// Ends it.
    pub(super) cancelled: CancellationToken,
}

/// Calls a tool by the name that it is listed under, or one of the tools that are this entrance's own.
///
/// # Errors
/// When the call is refused without a further word about it.
pub(super) async fn call(
    gateway: &Arc<Gateway>,
    turn: &Turn,
    name: &str,
    mut arguments: Arguments,
    with: With,
) -> Result<CallToolResult, Problem> {
    if name.contains('\0') {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "The tool's name has the character U+0000. Remove it.",
        ));
    }
    if turn.entry.project.settings.mcp_session_argument && !matches!(turn.placed, Placed::Own { .. }) {
        // It has placed the call already.
        arguments.remove(SESSION_ARGUMENT);
    }
    if turn.search {
        match name {
            own::SEARCH => return Box::pin(own::search(gateway, turn, arguments)).await,
            own::DESCRIBE => return Box::pin(own::describe(gateway, turn, arguments)).await,
            own::CALL => {
                let (name, arguments) = own::called(arguments)?;
                return Box::pin(tool(gateway, turn, &name, arguments, with)).await;
            }
            _ => {}
        }
    }
    let has_session = !matches!(turn.placed, Placed::Alone) || turn.takes_session_argument();
    let is_free = turn.entry.project.snapshot.tool(own::AVAILABLE).is_none();
    if name == own::AVAILABLE && is_free && has_session {
        return Box::pin(own::available(gateway, turn)).await;
    }
    match name {
        guides::LIST if guides::is_free(turn, name) => return Ok(guides::list(turn)),
        guides::GET if guides::is_free(turn, name) => return guides::get(turn, &arguments),
        _ => {}
    }
    Box::pin(tool(gateway, turn, name, arguments, with)).await
}

/// Calls a tool of the project.
async fn tool(
    gateway: &Arc<Gateway>,
    turn: &Turn,
    listed_name: &str,
    mut arguments: Arguments,
    with: With,
) -> Result<CallToolResult, Problem> {
    let snapshot = &turn.entry.project.snapshot;
    let name = snapshot.listed_names().name(listed_name);
    let tool = snapshot.tool(name);
    let mut read = Vec::new();
    if let Some(listed) = tool.and_then(|tool| tool.listed().ok()) {
        read = listed.input.read(&mut arguments);
    }
    let invokes = tool.is_some_and(|tool| tool.definition.invokes());
    // The tool that it invokes may move the state.
    let uses_session = |tool: &CompiledTool| {
        tool.definition.state.is_some()
            || mcp_servers::keeps_sessions_apart(&turn.entry.project, &tool.definition)
    };
    let needs_session = invokes || tool.is_some_and(|tool| uses_session(tool));
    let stores = needs_session && turn.would_allow(gateway, name);
    let session_id = turn.session(gateway, stores).await?;
    let server = |name: &str| turn.entry.project.mcp_servers.get(name).map(|server| &**server);
    let whose = match tool.and_then(|tool| tool.definition.execution()) {
        Some(Execution::Mcp(call)) => Whose::McpServer(server(call.server)),
        _ => Whose::Others,
    };
    let invoked = arguments.get("server_name").and_then(Value::as_str);
    let invoked = invoked.and_then(|name| server(&name.to_ascii_lowercase()));
    let request = CallRequest {
        tool: name.to_owned(),
        arguments,
        group: turn.asked.group.clone(),
        state: turn.state(session_id),
        session_id,
        context: turn.asked.context.clone(),
    };
    let options = CallOptions {
        key: turn.key.clone(),
        coercions: read.clone(),
        cancelled: with.cancelled,
        parts: with.parts,
        asker: with.asker,
        log: with.log,
        test: None,
    };
    let called = call_once_with(gateway, &turn.entry, Arc::new(request), options);
    let Called { answer, limits: _ } = Box::pin(called).await;
    let response: CallResponse = match answer {
        Ok(Answer::Fresh(response)) => *response,
        Ok(Answer::Replayed(_, body)) => {
            serde_json::from_str(body.get()).map_err(|error| Problem::internal(&error))?
        }
        Err(problem) => {
            let way = guidance::way_on(gateway, turn, name, session_id, problem.code()).await;
            return Ok(answer::problem(turn, problem, way));
        }
    };
    if invokes {
        return Ok(answer::invoked(gateway, response, &read, invoked));
    }
    // A result that is whole and fits its schema has no notes.
    let noted = response.notes.is_some();
    let result = answer::response(gateway, response, &read, whose);
    Ok(match tool {
        Some(tool) if noted => conformed(gateway, tool, result).await,
        _ => result,
    })
}
