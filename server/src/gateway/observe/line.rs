//! The log line of a request (tool group specification, section 8.2), under the target `toolgate::request` at the level
//! `debug`. It is off unless the log filter asks for it, and costs one comparison then. It holds names and counts, never
//! arguments.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditAction;
use toolgate_api::calls::CallContext;
use toolgate_core::snapshot::Availability;

use super::{Ended, Observed, subject};
use crate::gateway::load;

/// The log target of these lines.
pub const TARGET: &str = "toolgate::request";
/// Names of a list; the number beside it counts all of them.
const MAX_NAMES: usize = 100;
/// Characters of a name.
const MAX_CHARACTERS: usize = 128;

/// Whether the lines are written at all, so that nothing need be computed for them.
pub(super) fn is_wanted() -> bool {
    tracing::enabled!(target: TARGET, tracing::Level::DEBUG)
}

/// What the line says; made when the request was decided, written when it has ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct RequestLine {
    request_id: String,
    action: AuditAction,
    project: String,
    principal: String,
    requested_groups: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing_groups: Vec<String>,
    initial_state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<ErrorCode>,
    state_transitions: Vec<Transition>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    available: Option<Available>,
    /// Seconds, as in `0.012s`.
    execution_time: String,
    #[serde(skip)]
    started: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Transition {
    tool: String,
    from: String,
    to: String,
    timestamp: DateTime<Utc>,
}

/// How many tools there are and which, up to a bound.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Available {
    available_count: usize,
    filtered_by_group_count: usize,
    filtered_by_state_count: usize,
    available_tools: Vec<String>,
    filtered_by_group: Vec<String>,
    filtered_by_state: Vec<String>,
}

impl RequestLine {
    pub(super) fn new(seen: &Observed<'_>) -> Self {
        let available = match seen.available {
            Some(available) => Some(Available::of(available)),
            None => of_call(seen),
        };
        Self {
            request_id: short(&seen.requester.origin.request_id),
            action: seen.action,
            project: seen.project.row.id.to_string(),
            principal: subject(seen.requester.principal),
            requested_groups: names(seen.requested),
            missing_groups: names(seen.missing),
            initial_state: short(seen.state),
            tool: seen.tool.map(short),
            outcome: "",
            code: None,
            state_transitions: Vec::new(),
            available,
            execution_time: String::new(),
            started: seen.at,
        }
    }

    pub(super) fn started(&self) -> DateTime<Utc> {
        self.started
    }

    /// Completes and writes the line. `end` is given for calls that were admitted.
    pub(super) fn write(
        mut self: Box<Self>,
        end: Option<&Ended<'_>>,
        code: Option<ErrorCode>,
        took: TimeDelta,
    ) {
        self.complete(end, code, took);
        let record = serde_json::to_string(&self).unwrap_or_default();
        tracing::debug!(target: TARGET, record, "request");
    }

    fn complete(&mut self, end: Option<&Ended<'_>>, code: Option<ErrorCode>, took: TimeDelta) {
        self.outcome = match (end, code) {
            (None, Some(_)) => "denied",
            (Some(_), Some(_)) => "failed",
            (_, None) => "succeeded",
        };
        self.code = code;
        if let Some(end) = end.filter(|end| end.before != end.after) {
            self.state_transitions.push(Transition {
                tool: short(end.tool),
                from: short(end.before),
                to: short(end.after),
                timestamp: end.at,
            });
        }
        self.execution_time = format!("{:.3}s", took.as_seconds_f64().max(0.0));
    }
}

/// What was available to a call: computed for the line alone. `None` when the request was refused as a whole.
fn of_call(seen: &Observed<'_>) -> Option<Available> {
    let context: Option<CallContext> = seen
        .context
        .and_then(|context| serde_json::from_value(context.clone()).ok());
    let evaluation = load::evaluation(seen.project, seen.at, seen.requester.principal, context.as_ref());
    let snapshot = &seen.project.snapshot;
    let available = snapshot.resolve(
        seen.requester.granted,
        Some(seen.requested),
        Some(seen.state),
        &evaluation,
    );
    available.ok().map(|available| Available::of(&available))
}

impl Available {
    fn of(available: &Availability) -> Self {
        let first = |mut names: Vec<String>| {
            names.truncate(MAX_NAMES);
            names
        };
        Self {
            available_count: available.available_count(),
            filtered_by_group_count: available.filtered_by_group_count(),
            filtered_by_state_count: available.filtered_by_state_count(),
            available_tools: first(available.available()),
            filtered_by_group: first(available.filtered_by_group()),
            filtered_by_state: first(available.filtered_by_state()),
        }
    }
}

fn names(list: &[String]) -> Vec<String> {
    list.iter().take(MAX_NAMES).map(|name| short(name)).collect()
}

fn short(text: &str) -> String {
    text.chars().take(MAX_CHARACTERS).collect()
}
