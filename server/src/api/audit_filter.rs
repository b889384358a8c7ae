//! The filters that list, export and stream of the record have in common.

use std::net::IpAddr;

use chrono::{DateTime, Utc};
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome, Entrance};
use toolgate_api::auth::PrincipalKind;
use toolgate_core::ids::{CallId, SessionId};
use toolgate_core::record::{RecordFilter, Search, SearchScope};
use uuid::Uuid;

use crate::extract::check_lengths;
use crate::gateway::Problem;

/// What was asked for, borrowed from a query.
pub(super) struct FilterRequest<'a> {
    pub(super) id: Option<Uuid>,
    pub(super) action: Option<AuditAction>,
    pub(super) outcome: Option<AuditOutcome>,
    pub(super) code: Option<ErrorCode>,
    pub(super) principal_kind: Option<PrincipalKind>,
    pub(super) principal_id: &'a Option<String>,
    pub(super) principal_name: &'a Option<String>,
    pub(super) tool: &'a Option<String>,
    pub(super) revision: Option<i64>,
    pub(super) requested_group: &'a Option<String>,
    pub(super) granted_group: &'a Option<String>,
    pub(super) missing_group: &'a Option<String>,
    pub(super) state_before: &'a Option<String>,
    pub(super) state_after: &'a Option<String>,
    pub(super) state_conflict: Option<bool>,
    pub(super) session_id: Option<Uuid>,
    pub(super) request_id: &'a Option<String>,
    pub(super) address: &'a Option<String>,
    pub(super) entrance: Option<Entrance>,
    pub(super) connection_id: Option<Uuid>,
    pub(super) client_name: &'a Option<String>,
    pub(super) client_version: &'a Option<String>,
    pub(super) snapshot_version: Option<i64>,
    pub(super) min_duration_ms: Option<i64>,
    pub(super) max_duration_ms: Option<i64>,
    pub(super) since: Option<DateTime<Utc>>,
    pub(super) until: Option<DateTime<Utc>>,
    pub(super) q: &'a Option<String>,
    /// By the names of the context's ids.
    pub(super) context: [(&'static str, Option<String>); 9],
}

/// A query with all filters, and with parameters of its own.
macro_rules! filters {
    (
        $(#[$doc:meta])*
        pub struct $name:ident {
            $($(#[$own_doc:meta])* $own:ident: $own_type:ty,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, serde::Serialize, serde::Deserialize, utoipa::IntoParams)]
        #[serde(deny_unknown_fields)]
        #[into_params(parameter_in = Query)]
        pub struct $name {
            /// The record's id, which for a call is the call's.
            id: Option<Uuid>,
            /// What was asked.
            action: Option<AuditAction>,
            /// The outcome of the record.
            outcome: Option<AuditOutcome>,
            /// The error code.
            code: Option<ErrorCode>,
            /// What kind of principal asked.
            principal_kind: Option<PrincipalKind>,
            /// The principal's id.
            #[param(max_length = 1024)]
            principal_id: Option<String>,
            /// The principal's name at the time.
            #[param(max_length = 256)]
            principal_name: Option<String>,
            /// The tool's name.
            #[param(max_length = 128)]
            tool: Option<String>,
            /// The tool's revision.
            #[param(minimum = 1)]
            revision: Option<i64>,
            /// One of the requested groups.
            #[param(max_length = 128)]
            requested_group: Option<String>,
            /// One of the groups granted at the time.
            #[param(max_length = 128)]
            granted_group: Option<String>,
            /// One of the groups that were requested but not granted.
            #[param(max_length = 128)]
            missing_group: Option<String>,
            /// The state it was decided against.
            #[param(max_length = 128)]
            state_before: Option<String>,
            /// The state afterwards.
            #[param(max_length = 128)]
            state_after: Option<String>,
            /// Whether the session had moved meanwhile.
            state_conflict: Option<bool>,
            /// The session.
            session_id: Option<Uuid>,
            /// The HTTP request.
            #[param(max_length = 128)]
            request_id: Option<String>,
            /// The network address, as the record has it.
            #[param(max_length = 45, example = "192.0.2.7")]
            address: Option<String>,
            /// The entrance it came by.
            entrance: Option<Entrance>,
            /// The connection that the client acted by, when a user let it in without a key.
            connection_id: Option<Uuid>,
            /// The name that the client program gave itself.
            #[param(max_length = 64, example = "claude-code")]
            client_name: Option<String>,
            /// The version that the client program gave itself.
            #[param(max_length = 64, example = "2.1.0")]
            client_version: Option<String>,
            /// The version of the definitions.
            #[param(minimum = 0)]
            snapshot_version: Option<i64>,
            /// At least so many milliseconds; what has not ended does not match.
            #[param(minimum = 0)]
            min_duration_ms: Option<i64>,
            /// At most so many milliseconds; what has not ended does not match.
            #[param(minimum = 0)]
            max_duration_ms: Option<i64>,
            /// Decided at or after this time.
            since: Option<DateTime<Utc>>,
            /// Decided before this time.
            until: Option<DateTime<Utc>>,
            /// Words to find in tool, principal's name, requested and missing groups, states and code, and for auditors in
            /// arguments and context. Every term must be found: a word, words joined like `web-search` or in double quotes
            /// for words that follow each other, `sea*` for a beginning. Upper and lower case are the same.
            #[param(min_length = 1, max_length = 256, example = "web-search timeout")]
            q: Option<String>,
            /// The context's channel; for auditors, as all that follow.
            #[param(max_length = 256)]
            channel_id: Option<String>,
            /// The context's agent.
            #[param(max_length = 256)]
            agent_id: Option<String>,
            /// The context's turn of the agent.
            #[param(max_length = 256)]
            agent_turn_id: Option<String>,
            /// The context's step.
            #[param(max_length = 256)]
            step_id: Option<String>,
            /// The context's id of the tool call.
            #[param(max_length = 256)]
            tool_call_id: Option<String>,
            /// The context's step above.
            #[param(max_length = 256)]
            parent_step_id: Option<String>,
            /// The context's trace.
            #[param(max_length = 256)]
            trace_id: Option<String>,
            /// The context's epoch.
            #[param(maximum = 4_294_967_295_u64)]
            turn_epoch: Option<u32>,
            /// The context's box.
            #[param(max_length = 256)]
            context_box_id: Option<String>,
            $($(#[$own_doc])* $own: $own_type,)*
        }

        impl $name {
            fn asked(&self) -> $crate::api::audit_filter::FilterRequest<'_> {
                $crate::api::audit_filter::FilterRequest {
                    id: self.id,
                    action: self.action,
                    outcome: self.outcome,
                    code: self.code,
                    principal_kind: self.principal_kind,
                    principal_id: &self.principal_id,
                    principal_name: &self.principal_name,
                    tool: &self.tool,
                    revision: self.revision,
                    requested_group: &self.requested_group,
                    granted_group: &self.granted_group,
                    missing_group: &self.missing_group,
                    state_before: &self.state_before,
                    state_after: &self.state_after,
                    state_conflict: self.state_conflict,
                    session_id: self.session_id,
                    request_id: &self.request_id,
                    address: &self.address,
                    entrance: self.entrance,
                    connection_id: self.connection_id,
                    client_name: &self.client_name,
                    client_version: &self.client_version,
                    snapshot_version: self.snapshot_version,
                    min_duration_ms: self.min_duration_ms,
                    max_duration_ms: self.max_duration_ms,
                    since: self.since,
                    until: self.until,
                    q: &self.q,
                    context: [
                        ("channel_id", self.channel_id.clone()),
                        ("agent_id", self.agent_id.clone()),
                        ("agent_turn_id", self.agent_turn_id.clone()),
                        ("step_id", self.step_id.clone()),
                        ("tool_call_id", self.tool_call_id.clone()),
                        ("parent_step_id", self.parent_step_id.clone()),
                        ("trace_id", self.trace_id.clone()),
                        ("turn_epoch", self.turn_epoch.map(|epoch| epoch.to_string())),
                        ("context_box_id", self.context_box_id.clone()),
                    ],
                }
            }
        }
    };
}
pub(super) use filters;

/// The filter of a query, for a reader who sees payloads or not.
pub(super) fn record_filter(asked: &FilterRequest<'_>, payloads: bool) -> Result<RecordFilter, Problem> {
    check_lengths(&[
        ("principal_id", asked.principal_id, 1024),
        ("principal_name", asked.principal_name, 256),
        ("tool", asked.tool, 128),
        ("requested_group", asked.requested_group, 128),
        ("granted_group", asked.granted_group, 128),
        ("missing_group", asked.missing_group, 128),
        ("state_before", asked.state_before, 128),
        ("state_after", asked.state_after, 128),
        ("request_id", asked.request_id, 128),
        ("address", asked.address, 45),
        ("client_name", asked.client_name, 64),
        ("client_version", asked.client_version, 64),
        ("q", asked.q, 256),
    ])?;
    for (name, value, least) in [
        ("revision", asked.revision, 1),
        ("snapshot_version", asked.snapshot_version, 0),
        ("min_duration_ms", asked.min_duration_ms, 0),
        ("max_duration_ms", asked.max_duration_ms, 0),
    ] {
        if value.is_some_and(|value| value < least) {
            return Err(invalid(&format!("`{name}` is less than {least}")));
        }
    }
    Ok(RecordFilter {
        id: asked.id.map(CallId),
        action: asked.action,
        outcome: asked.outcome,
        code: asked.code,
        principal_kind: asked.principal_kind,
        principal_id: asked.principal_id.clone(),
        principal_name: asked.principal_name.clone(),
        tool: asked.tool.clone(),
        revision: asked.revision,
        requested_group: asked.requested_group.clone(),
        granted_group: asked.granted_group.clone(),
        missing_group: asked.missing_group.clone(),
        state_before: asked.state_before.clone(),
        state_after: asked.state_after.clone(),
        state_conflict: asked.state_conflict,
        session: asked.session_id.map(SessionId),
        request_id: asked.request_id.clone(),
        address: asked.address.as_deref().map(canonical),
        entrance: asked.entrance,
        connection: asked.connection_id,
        client_name: asked.client_name.clone(),
        client_version: asked.client_version.clone(),
        snapshot_version: asked.snapshot_version,
        context: context(&asked.context, payloads)?,
        min_duration_ms: asked.min_duration_ms,
        max_duration_ms: asked.max_duration_ms,
        since: asked.since,
        until: asked.until,
        search: search(asked.q.as_deref(), payloads)?,
    })
}

/// Filtering by what a caller may not see would disclose it bit by bit.
fn context(
    asked: &[(&'static str, Option<String>); 9],
    payloads: bool,
) -> Result<Vec<(&'static str, String)>, Problem> {
    for (name, value) in asked {
        check_lengths(&[(name, value, 256)])?;
        if value.is_some() && !payloads {
            return Err(Problem::new(
                ErrorCode::Forbidden,
                format!("`{name}` is part of the context, which only an auditor of the project may read."),
            ));
        }
    }
    let given = |(name, value): &(&'static str, Option<String>)| Some((*name, value.clone()?));
    Ok(asked.iter().filter_map(given).collect())
}

fn search(text: Option<&str>, payloads: bool) -> Result<Option<Search>, Problem> {
    let scope = if payloads {
        SearchScope::Payloads
    } else {
        SearchScope::Metadata
    };
    text.map(|text| {
        Search::parse(text, scope).map_err(|fault| invalid(&format!("`q` cannot be used: {fault}")))
    })
    .transpose()
}

/// The address as records have it; a text that is none matches nothing.
fn canonical(text: &str) -> String {
    text.parse::<IpAddr>()
        .map_or_else(|_| text.to_owned(), |address| address.to_canonical().to_string())
}

fn invalid(problem: &str) -> Problem {
    Problem::new(
        ErrorCode::MalformedRequest,
        format!("The query is not valid: {problem}."),
    )
}
