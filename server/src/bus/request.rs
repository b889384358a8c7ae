//! `tool.invoke` and `tool.invoke.mcp`: a request with the tool and its arguments, answered to its inbox (tools subsystem, "Tool
//! invoke handler" and "Tool invocation flow").

use std::sync::Arc;
use std::time::Instant;

use async_nats::{HeaderMap, Message};
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolgate_api::ErrorCode;
use toolgate_api::calls::{CallContext, CallRequest};
use toolgate_core::definition::Execution;
use toolgate_core::ids::{CallId, ProjectId};
use toolgate_core::management::meant;
use uuid::Uuid;

use super::outcome::Outcome;
use super::{count, depth, groups, header, origin, session};
use crate::gateway::bus::{self, Delivered, ProvenEntry, Refused};
use crate::gateway::call::{KeyText, call_once};
use crate::gateway::problem::in_words;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// The header that names an MCP server.
const MCP_SERVER: &str = "rb-mcp-server";
/// Headers that an answer has from its request.
const CORRELATION: [&str; 2] = ["correlation-id", "rb-correlation-id"];
/// Bytes of a header that is copied to the answer.
const LONGEST_HEADER: usize = 1024;
/// Characters of the message of an error.
const LONGEST: usize = 16_384;
/// How long a token that was used is remembered.
const TOKENS_KEPT: TimeDelta = TimeDelta::minutes(5);

/// The subjects of a project's requests.
pub(super) fn subjects(project: &ProjectId) -> [String; 2] {
    [
        format!("tg.{project}.tool.invoke"),
        format!("tg.{project}.tool.invoke.mcp"),
    ]
}

/// `ToolInvokeRequest`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolInvokeRequest {
    #[serde(alias = "toolCallId", alias = "ToolCallId")]
    tool_call_id: String,
    #[serde(alias = "toolName", alias = "ToolName")]
    tool_name: String,
    #[serde(default, alias = "Arguments")]
    arguments: Option<Arguments>,
    #[serde(default, alias = "sessionId", alias = "SessionId")]
    session_id: Option<String>,
}

/// A JSON text, as the specification has it, or the object itself.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Arguments {
    Text(String),
    Object(Map<String, Value>),
}

/// `ToolInvokeResponse`.
#[derive(Debug, Serialize)]
struct ToolInvokeResponse<'a> {
    tool_call_id: &'a str,
    tool_name: &'a str,
    content: String,
    is_error: bool,
}

/// `ToolError`.
#[derive(Debug, Serialize)]
struct ToolError<'a> {
    tool_call_id: &'a str,
    tool_name: &'a str,
    code: &'static str,
    message: String,
    is_retryable: bool,
}

/// Answers one request.
pub(super) async fn answer(gateway: &Arc<Gateway>, project: &ProjectId, message: Message) {
    let Some(bus) = &gateway.bus else { return };
    let since = Instant::now();
    let headers = message.headers.clone().unwrap_or_default();
    // The rest of the answer is of no use without these.
    let body: Value = serde_json::from_slice(&message.payload).unwrap_or_default();
    let named = |names: [&str; 3]| {
        let mut found = names.into_iter().filter_map(|name| body.get(name)?.as_str());
        let text = found.next().unwrap_or_default();
        text.chars().take(256).collect::<String>()
    };
    let (call, tool) = (
        named(["tool_call_id", "toolCallId", "ToolCallId"]),
        named(["tool_name", "toolName", "ToolName"]),
    );
    let outcome = outcome(gateway, project, &message, &headers, &tool).await;

    let mut said = HeaderMap::new();
    for name in CORRELATION {
        if let Some(value) = header(&headers, name).filter(|value| value.len() <= LONGEST_HEADER) {
            said.insert(name, value);
        }
    }
    if let Some(id) = outcome.call_id {
        said.insert("Toolgate-Call-Id", id.to_string());
    }
    let most = bus.largest();
    let mut status = "success";
    let answer = match outcome.result {
        Ok(result) => {
            let answer = serde_json::to_vec(&ToolInvokeResponse {
                tool_call_id: &call,
                tool_name: &tool,
                content: match result.to_value() {
                    Value::String(text) => text,
                    _ => result.get().to_owned(),
                },
                is_error: false,
            });
            let answer = answer.unwrap_or_default();
            if answer.len() <= most {
                Ok(answer)
            } else {
                Err(too_large(project, outcome.call_id, answer.len(), most))
            }
        }
        Err(problem) => Err(problem),
    };
    let payload = answer.unwrap_or_else(|problem| {
        let mut body = problem.into_body("");
        status = word(body.code);
        for fault in &body.errors {
            body.detail.push_str("\n- ");
            body.detail.push_str(&in_words(fault));
        }
        said.insert("Toolgate-Code", body.code.as_str());
        if let Some(id) = body.call_id {
            said.insert("Toolgate-Call-Id", id.to_string());
        }
        let error = ToolError {
            tool_call_id: &call,
            tool_name: &tool,
            code: status,
            message: body.detail.chars().take(LONGEST).collect(),
            is_retryable: body.retryable,
        };
        serde_json::to_vec(&error).unwrap_or_default()
    });
    count(gateway, project, &tool, status, since);
    let subject = reply_subject(project, message.reply.as_deref());
    let sent = bus.answer(subject, said, payload.into()).await;
    if let Err(failure) = sent {
        // The caller sends it again under the same tool_call_id, and is answered again.
        tracing::warn!(%project, "an answer could not be sent: {}", failure.message);
    }
}

/// The call succeeded, and its result does not fit into a message.
fn too_large(project: &ProjectId, call: Option<Uuid>, size: usize, most: usize) -> Problem {
    let mut detail = format!(
        "The tool succeeded, and its answer is larger than a message of the bus: {size} bytes of at most {most}. Bound it by `options.result` of the tool."
    );
    if let Some(id) = call {
        detail.push_str(&format!(
            " The whole answer is at GET /projects/{project}/calls/{id} for a day."
        ));
    }
    let problem = Problem::new(ErrorCode::UpstreamInvalid, detail).final_();
    match call {
        Some(id) => problem.call_id(CallId(id)),
        None => problem,
    }
}

/// Where an answer goes: to the inbox of the request, or to a result subject of its project. What a request names otherwise could
/// be a subject that its sender must not publish to.
fn reply_subject(project: &ProjectId, reply: Option<&str>) -> String {
    let results = format!("tg.{project}.tool.result");
    let is_own = |subject: &str| {
        let plain = subject
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'*' | b'>'));
        let within = subject
            .strip_prefix(results.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        plain && (subject.starts_with("_INBOX.") || within)
    };
    reply
        .filter(|subject| is_own(subject))
        .map_or_else(|| results.clone(), str::to_owned)
}

/// The codes of the specification.
const fn word(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::ToolNotFound => "tool_not_found",
        ErrorCode::Timeout => "timeout",
        ErrorCode::InvalidArguments | ErrorCode::InvalidRequest | ErrorCode::MalformedRequest => {
            "invalid_arguments"
        }
        _ => "execution_failed",
    }
}

async fn outcome(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    message: &Message,
    headers: &HeaderMap,
    tool: &str,
) -> Outcome {
    let snapshot = gateway.snapshots.now();
    let Some(project) = snapshot.project(project.as_str()) else {
        return closed().into();
    };
    if project.settings.bus_entrance.is_none() {
        return closed().into();
    }
    let origin = origin(gateway, headers);
    let delivered = Delivered {
        subject: message.subject.as_str(),
        headers,
        payload: &message.payload,
        published: gateway.clock.now(),
        // A request is delivered once.
        name: gateway.clock.new_id().to_string(),
        kept: TOKENS_KEPT,
    };
    let entered = bus::enter(gateway, project, &delivered, origin.clone()).await;
    let refused = match entered {
        Ok(ProvenEntry { entry, .. }) => match read(&entry.project, message, headers) {
            Ok(call) => return run(gateway, entry, call, headers).await,
            Err(problem) => Refused {
                problem,
                principal: Some(entry.caller.identity.principal),
            },
        },
        Err(refused) => refused,
    };
    let Refused { problem, principal } = refused;
    let code = problem.code();
    let tool = Some(tool).filter(|tool| !tool.is_empty());
    match bus::record_refusal(gateway, project, principal.as_ref(), &origin, tool, code).await {
        Ok(id) => problem.call_id(id).into(),
        Err(problem) => problem.into(),
    }
}

fn closed() -> Problem {
    Problem::new(
        ErrorCode::ToolUnavailable,
        "This project is not open to callers on the message bus.",
    )
    .final_()
}

/// What a request asks for.
struct Asked {
    tool: String,
    arguments: Map<String, Value>,
    key: KeyText,
    tool_call_id: String,
    session: Option<String>,
    /// How deep the caller is.
    depth: Option<u32>,
}

fn read(project: &ProjectState, message: &Message, headers: &HeaderMap) -> Result<Asked, Problem> {
    let bad = |what: String| Problem::new(ErrorCode::InvalidArguments, what);
    let request: ToolInvokeRequest = serde_json::from_slice(&message.payload)
        .map_err(|error| bad(format!("The payload is no ToolInvokeRequest: {error}.")))?;
    let key = KeyText::parse(&request.tool_call_id)
        .ok_or_else(|| bad("tool_call_id must have 1-255 visible ASCII characters.".to_owned()))?;
    let arguments = match request.arguments {
        None => Map::new(),
        Some(Arguments::Object(arguments)) => arguments,
        Some(Arguments::Text(text)) if text.trim().is_empty() => Map::new(),
        Some(Arguments::Text(text)) => serde_json::from_str(&text)
            .map_err(|error| bad(format!("`arguments` is no JSON text of an object: {error}.")))?,
    };
    let tool = if message.subject.ends_with(".mcp") {
        let server = header(headers, MCP_SERVER).ok_or_else(|| {
            bad(format!(
                "A request on this subject names one MCP server by the header {MCP_SERVER}."
            ))
        })?;
        of_server(project, server, &request.tool_name)?
    } else {
        request.tool_name
    };
    Ok(Asked {
        tool,
        arguments,
        key,
        tool_call_id: request.tool_call_id,
        session: request.session_id.filter(|alias| !alias.is_empty()),
        depth: depth(headers)?,
    })
}

/// The tool of the project that a name means at an MCP server: the tool's own name, or the one that it has there.
fn of_server(project: &ProjectState, server: &str, name: &str) -> Result<String, Problem> {
    let absent = || {
        Problem::new(
            ErrorCode::ToolNotFound,
            format!("The MCP server {server:?} has no tool {name:?} in this project."),
        )
    };
    let servers = project.mcp_servers.iter().map(|server| server.name.as_str());
    let server = meant(server, servers).ok_or_else(absent)?.to_owned();
    let tools: Vec<(&str, &str)> = project
        .snapshot
        .tools()
        .iter()
        .filter_map(|tool| match tool.definition.execution() {
            Some(Execution::Mcp(call)) if call.server == server => Some((tool.name(), call.tool)),
            _ => None,
        })
        .collect();
    let own = meant(name, tools.iter().map(|(own, _)| *own));
    let there = || {
        let there = meant(name, tools.iter().map(|(_, there)| *there))?;
        tools.iter().find(|(_, name)| *name == there).map(|(own, _)| *own)
    };
    own.or_else(there).map(str::to_owned).ok_or_else(absent)
}

async fn run(
    gateway: &Arc<Gateway>,
    entry: crate::gateway::entry::Entry,
    asked: Asked,
    headers: &HeaderMap,
) -> Outcome {
    let group = groups(headers);
    let agent = header(headers, "CG-Agent-Id");
    let session = match &asked.session {
        None => None,
        Some(alias) => {
            let named = session::named(
                gateway,
                &entry,
                agent.unwrap_or_default(),
                alias,
                group.as_deref(),
            )
            .await;
            match named {
                Ok(session) => Some(session),
                Err(problem) => return problem.into(),
            }
        }
    };
    let request = CallRequest {
        tool: asked.tool,
        arguments: asked.arguments,
        group,
        state: header(headers, "Toolgate-State").map(str::to_owned),
        session_id: session,
        context: Some(CallContext {
            tool_call_id: Some(asked.tool_call_id),
            agent_id: agent.map(str::to_owned),
            // A worker that it is passed on to is one call deeper.
            recursion_depth: asked.depth.map(|depth| depth + 1),
            ..CallContext::default()
        }),
    };
    call_once(gateway, &Arc::new(entry), Arc::new(request), Some(asked.key))
        .await
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_go_to_inboxes_and_to_results_of_the_project_only() {
        let project = ProjectId::parse("demo").expect("an id");
        for (reply, subject) in [
            (None, "tg.demo.tool.result"),
            (Some("_INBOX.abc.1"), "_INBOX.abc.1"),
            (Some("tg.demo.tool.result.agent"), "tg.demo.tool.result.agent"),
            (Some("tg.demo.tool.results"), "tg.demo.tool.result"),
            (Some("tg.other.tool.result"), "tg.demo.tool.result"),
            (Some("cg.v1r4.demo.main.cmd.tool.x.run"), "tg.demo.tool.result"),
            (Some("$JS.API.STREAM.DELETE.x"), "tg.demo.tool.result"),
            (Some("_INBOX.>"), "tg.demo.tool.result"),
        ] {
            assert_eq!(reply_subject(&project, reply), subject, "{reply:?}");
        }
    }
}
