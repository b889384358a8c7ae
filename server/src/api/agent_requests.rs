//! Questions to an agent.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Map, Value};
use toolgate_api::agent::{AgentRequest, AgentToolSet, ToolFormat};
use toolgate_api::{Diagnostic, ErrorCode};

use crate::events::event_stream;
use crate::extract::{self, InProject, Query, Use, content_type, unsupported};
use crate::gateway::agent::{self, Reply};
use crate::gateway::{Gateway, Problem, bounds};

/// Characters of a question.
const MAX_QUESTION: usize = 32_768;
/// Steps of a history.
const MAX_STEPS: usize = 1000;

/// How to answer.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AgentQuery {
    /// How the tools are described; `mcp` when left out.
    #[param(inline)]
    format: Option<ToolFormat>,
}

/// Ask an agent
///
/// The groups are checked and the tools filtered as for a call, and the question is recorded. Where the project's
/// settings name an `agent_endpoint`, the question goes there with the filtered tools, and the answer comes back as
/// server-sent events: the agent's own if it sends events, otherwise one `answer` event with its JSON. What goes
/// wrong before the answer begins is a problem, what goes wrong later an `error` event with the problem in it. A
/// caller that disconnects cancels the request. Without an endpoint the answer is the tool set, ready for a model.
/// `plan` is no part of the request any more: `group` says which tools may be used.
#[utoipa::path(post, path = "/projects/{project_id}/agent-requests", tag = "agents", params(super::ProjectPath, AgentQuery),
    request_body = AgentRequest,
    responses((status = 200, description = "The tool set, or the agent's events",
        content((AgentToolSet = "application/json"), (String = "text/event-stream")))))]
pub async fn create_agent_request(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Query(query): Query<AgentQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let kind = content_type(request.headers());
    if kind.as_deref() != Some("application/json") {
        return Err(unsupported(kind.as_deref(), "application/json"));
    }
    let request = parse(&extract::body(request).await?)?;
    check(&request)?;
    let format = query.format.unwrap_or_default();
    let requester = place.requester();
    let asked = agent::ask(&gateway, &place.project, &requester, request, format);
    match Box::pin(asked).await? {
        Reply::Tools(set) => Ok(axum::Json(*set).into_response()),
        Reply::Events(events) => Ok(event_stream(events)),
    }
}

fn parse(body: &[u8]) -> Result<AgentRequest, Problem> {
    extract::parse_json(body).map_err(|error| {
        let has_plan = || serde_json::from_slice::<Map<String, Value>>(body).is_ok_and(|map| map.contains_key("plan"));
        if error.code() == ErrorCode::InvalidRequest && has_plan() {
            let fault = Diagnostic::error("unknown key \"plan\"")
                .hint("it is no part of agent requests any more: leave it out, and name the tools' groups in `group`")
                .at_pointer("/plan");
            return Problem::new(
                ErrorCode::InvalidRequest,
                "The body is JSON but not what this operation takes.",
            )
            .errors(vec![fault]);
        }
        error
    })
}

fn check(request: &AgentRequest) -> Result<(), Problem> {
    let mut errors = bounds::faults(
        request.group.as_deref(),
        request.state.as_deref(),
        request.context.as_ref(),
    );
    if request.session_id.is_some() && request.state.is_some() {
        errors.push(bounds::state_beside_session());
    }
    let question = request.question.chars().count();
    if !(1..=MAX_QUESTION).contains(&question) || request.question.trim().is_empty() {
        errors.push(
            Diagnostic::error(format!("a question has 1-{MAX_QUESTION} characters")).at_pointer("/question"),
        );
    }
    if request
        .history
        .as_ref()
        .is_some_and(|steps| steps.len() > MAX_STEPS)
    {
        errors.push(Diagnostic::error(format!("has more than {MAX_STEPS} steps")).at_pointer("/history"));
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(Problem::new(ErrorCode::InvalidRequest, "This cannot be asked.").errors(errors))
    }
}
