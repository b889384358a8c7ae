//! Which records are asked for. The store narrows down what it reads; this decides.

use chrono::{DateTime, Utc};
use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome, AuditRecord, Entrance};
use toolgate_api::auth::PrincipalKind;
use uuid::Uuid;

use super::search::Search;
use crate::ids::{CallId, SessionId};

/// The ids of a caller's context that can be filtered by.
pub const CONTEXT_IDS: [&str; 9] = [
    "channel_id",
    "agent_id",
    "agent_turn_id",
    "step_id",
    "tool_call_id",
    "parent_step_id",
    "trace_id",
    "turn_epoch",
    "context_box_id",
];

/// Which records to read. Everything given must match; texts are compared exactly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordFilter {
    /// The record's id.
    pub id: Option<CallId>,
    /// What was asked.
    pub action: Option<AuditAction>,
    /// The outcome of the record.
    pub outcome: Option<AuditOutcome>,
    /// The error code.
    pub code: Option<ErrorCode>,
    /// What kind of principal asked.
    pub principal_kind: Option<PrincipalKind>,
    /// The principal's id.
    pub principal_id: Option<String>,
    /// The principal's name at the time.
    pub principal_name: Option<String>,
    /// The tool's name.
    pub tool: Option<String>,
    /// The tool's revision.
    pub revision: Option<i64>,
    /// One of the requested groups.
    pub requested_group: Option<String>,
    /// One of the granted groups.
    pub granted_group: Option<String>,
    /// One of the groups that were requested but not granted.
    pub missing_group: Option<String>,
    /// The state it was decided against.
    pub state_before: Option<String>,
    /// The state afterwards.
    pub state_after: Option<String>,
    /// Whether the session had moved meanwhile.
    pub state_conflict: Option<bool>,
    /// The session.
    pub session: Option<SessionId>,
    /// The HTTP request.
    pub request_id: Option<String>,
    /// The network address.
    pub address: Option<String>,
    /// The entrance.
    pub entrance: Option<Entrance>,
    /// The connection that the client acted by.
    pub connection: Option<Uuid>,
    /// The name that the client program gave itself.
    pub client_name: Option<String>,
    /// The version that the client program gave itself.
    pub client_version: Option<String>,
    /// The version of the definitions.
    pub snapshot_version: Option<i64>,
    /// Ids of the caller's context, by their names in [`CONTEXT_IDS`].
    pub context: Vec<(&'static str, String)>,
    /// Minimum duration in milliseconds; what has not ended does not match.
    pub min_duration_ms: Option<i64>,
    /// Maximum duration in milliseconds; what has not ended does not match.
    pub max_duration_ms: Option<i64>,
    /// At or after.
    pub since: Option<DateTime<Utc>>,
    /// Before.
    pub until: Option<DateTime<Utc>>,
    /// Words to find.
    pub search: Option<Search>,
}

impl RecordFilter {
    /// Whether every record matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a record in its current state matches.
    #[must_use]
    pub fn matches(&self, record: &AuditRecord) -> bool {
        self.matches_fields(record)
            && self.matches_groups(record)
            && self.matches_context(record.context.as_ref())
            && self.search.as_ref().is_none_or(|search| search.finds(record))
    }

    fn matches_fields(&self, record: &AuditRecord) -> bool {
        let duration = |holds: &dyn Fn(i64) -> bool| record.duration_ms.is_some_and(holds);
        is(self.id.map(|id| id.0), record.id)
            && is(self.action, record.action)
            && is(self.outcome, record.outcome)
            && self.code.is_none_or(|code| record.code == Some(code))
            && is(self.principal_kind, record.principal_kind)
            && is(self.principal_id.as_ref(), &record.principal_id)
            && is(self.principal_name.as_ref(), &record.principal_name)
            && has(self.tool.as_ref(), record.tool.as_ref())
            && has(self.revision, record.revision)
            && is(self.state_before.as_ref(), &record.state_before)
            && has(self.state_after.as_ref(), record.state_after.as_ref())
            && is(self.state_conflict, record.state_conflict)
            && has(self.session.map(|session| session.0), record.session_id)
            && is(self.request_id.as_ref(), &record.request_id)
            && has(self.address.as_ref(), record.address.as_ref())
            && has(self.entrance.as_ref(), record.entrance.as_ref())
            && has(
                self.connection,
                record.connection.as_ref().map(|connection| connection.id),
            )
            && has(self.client_name.as_ref(), record.client_name.as_ref())
            && has(self.client_version.as_ref(), record.client_version.as_ref())
            && is(self.snapshot_version, record.snapshot_version)
            && self.since.is_none_or(|since| record.at >= since)
            && self.until.is_none_or(|until| record.at < until)
            && self
                .min_duration_ms
                .is_none_or(|least| duration(&|ms| ms >= least))
            && self.max_duration_ms.is_none_or(|most| duration(&|ms| ms <= most))
    }

    fn matches_groups(&self, record: &AuditRecord) -> bool {
        let contains = |wanted: &Option<String>, groups: &[String]| {
            wanted.as_ref().is_none_or(|name| groups.contains(name))
        };
        contains(&self.requested_group, &record.requested_groups)
            && contains(&self.granted_group, &record.granted_groups)
            && contains(&self.missing_group, &record.missing_groups)
    }

    fn matches_context(&self, context: Option<&Value>) -> bool {
        self.context.iter().all(
            |(name, wanted)| match context.and_then(|context| context.get(name)) {
                Some(Value::String(text)) => text == wanted,
                Some(Value::Number(number)) => number.to_string() == *wanted,
                _ => false,
            },
        )
    }
}

fn is<T: PartialEq + Copy>(wanted: Option<T>, found: T) -> bool {
    wanted.is_none_or(|wanted| wanted == found)
}

fn has<T: PartialEq + Copy>(wanted: Option<T>, found: Option<T>) -> bool {
    wanted.is_none() || wanted == found
}
