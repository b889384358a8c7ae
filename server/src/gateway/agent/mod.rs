//! The use case "ask an agent" (tool group specification, sections 2.2, 4 and 6.1): check the groups, filter the tools, record
//! it, and hand question and tools on to the project's agent; without one, answer the tools.

pub mod events;
mod forward;

use std::sync::Arc;

use serde_json::json;
use toolgate_api::agent::{AgentRequest, AgentSession, AgentToolSet, ToolFormat};
use toolgate_api::audit::AuditAction;
use toolgate_core::agent::{Described, describe};
use toolgate_core::redact;

pub use self::forward::Events;
use self::forward::{Forward, forward};
use super::available::{self, Available, Question};
use super::record::Requester;
use super::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// Tools of one request. No model chooses well among more, and the text has an end.
const MAX_TOOLS: usize = 1000;

/// How an agent request is answered.
pub enum Reply {
    /// With the tools: the project has no agent.
    Tools(Box<AgentToolSet>),
    /// By the project's agent.
    Events(Events),
}

/// Asks. The request's texts were checked before.
pub async fn ask(
    gateway: &Arc<Gateway>,
    project: &ProjectState,
    requester: &Requester<'_>,
    request: AgentRequest,
    format: ToolFormat,
) -> Result<Reply, Problem> {
    let details = json!({
        "question": request.question,
        "history_steps": request.history.as_ref().map_or(0, Vec::len),
    });
    let question = Question {
        action: AuditAction::AgentRequest,
        group: request.group.clone(),
        state: request.state.as_deref(),
        session_id: request.session_id,
        context: request.context.as_ref(),
        arguments: details.as_object().map(redact::redact),
        offers: None,
    };
    let (mut available, opening) = available::ask(gateway, project, requester, question).await?;
    let running = available.running.take();
    let set = tool_set(project, available, request, format);
    match &project.settings.agent_endpoint {
        None => {
            available::answered(gateway, opening).await?;
            Ok(Reply::Tools(Box::new(set)))
        }
        Some(url) => {
            let content = serde_json::to_vec(&set).map_err(|error| Problem::internal(&error))?;
            let asked = Forward {
                url: url.clone(),
                content: content.into(),
                opening,
                running,
                request_id: requester.origin.request_id.to_string(),
            };
            forward(gateway, asked).await.map(Reply::Events)
        }
    }
}

fn tool_set(
    project: &ProjectState,
    available: Available,
    request: AgentRequest,
    format: ToolFormat,
) -> AgentToolSet {
    let Available {
        id,
        session,
        group,
        availability,
        running: _,
    } = available;
    let tools: Vec<_> = availability.tools().take(MAX_TOOLS).cloned().collect();
    let Described { tools, names } = describe(format, &tools);
    AgentToolSet {
        id: id.0,
        project: project.row.id.to_string(),
        question: request.question,
        state: availability.state.clone(),
        session: session.map(|row| AgentSession {
            id: row.id.0,
            version: row.version,
        }),
        history: request.history,
        group,
        context: request.context,
        requested_groups: availability.requested.clone(),
        format,
        tools,
        tool_names: names,
        available: availability.available_count() as u64,
        filtered_by_group: availability.filtered_by_group_count() as u64,
        filtered_by_state: availability.filtered_by_state_count() as u64,
        filtered_by_condition: availability.filtered_by_condition_count() as u64,
    }
}
