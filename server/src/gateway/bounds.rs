//! Bounds of what requests about tools bring along and records keep.

use toolgate_api::calls::CallContext;
use toolgate_api::{Diagnostic, ErrorCode};
use uuid::Uuid;

use super::Problem;

/// Group names of one request.
const MAX_GROUPS: usize = 1000;
/// Characters of a group's name, and of a state's.
const MAX_NAME: usize = 128;
/// Characters of an id in the context.
const MAX_ID: usize = 256;

/// Every text that is too long, with its place.
#[must_use]
pub fn faults(
    group: Option<&[String]>,
    state: Option<&str>,
    context: Option<&CallContext>,
) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let mut too_long = |pointer: String, text: &str, limit: usize| {
        if text.chars().count() > limit {
            errors.push(Diagnostic::error(format!("has more than {limit} characters")).at_pointer(pointer));
        }
    };
    for (at, name) in group.unwrap_or_default().iter().enumerate().take(MAX_GROUPS + 1) {
        if name.len() > MAX_NAME {
            too_long(format!("/group/{at}"), name, MAX_NAME);
        }
    }
    if let Some(state) = state {
        too_long("/state".to_owned(), state, MAX_NAME);
    }
    if let Some(context) = context {
        let ids = [
            ("channel_id", &context.channel_id),
            ("agent_id", &context.agent_id),
            ("agent_turn_id", &context.agent_turn_id),
            ("step_id", &context.step_id),
            ("tool_call_id", &context.tool_call_id),
            ("parent_step_id", &context.parent_step_id),
            ("trace_id", &context.trace_id),
            ("context_box_id", &context.context_box_id),
        ];
        for (name, value) in ids {
            if let Some(value) = value {
                too_long(format!("/context/{name}"), value, MAX_ID);
            }
        }
    }
    if group.is_some_and(|names| names.len() > MAX_GROUPS) {
        errors.push(Diagnostic::error(format!("has more than {MAX_GROUPS} names")).at_pointer("/group"));
    }
    errors
}

/// A state beside a session: the session has one already.
#[must_use]
pub fn state_beside_session() -> Diagnostic {
    Diagnostic::error("a request in a session takes the session's state")
        .hint("leave `state` out, or leave `session_id` out")
        .at_pointer("/state")
}

/// Bounds what will be kept in the record, and rules out a state beside a session.
///
/// # Errors
/// [`ErrorCode::InvalidRequest`] with every fault.
pub fn check(
    group: Option<&[String]>,
    state: Option<&str>,
    session: Option<Uuid>,
    context: Option<&CallContext>,
) -> Result<(), Problem> {
    let mut errors = faults(group, state, context);
    if errors.is_empty() && (session.is_none() || state.is_none()) {
        return Ok(());
    }
    let mut detail = "The request is too large to be recorded.";
    if session.is_some() && state.is_some() {
        detail = "The request contradicts itself, or is too large to be recorded.";
        errors.push(state_beside_session());
    }
    Err(Problem::new(ErrorCode::InvalidRequest, detail).errors(errors))
}
