//! Sessions: one workflow run of one caller, whose state the gateway keeps.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::auth::PrincipalKind;
use crate::calls::CallContext;
use crate::tools::Tool;

/// What a session begins with. Everything may be left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateSession {
    /// The groups that every call of the session asks for. Absent or null asks for `["default"]`; `[]` asks for nothing;
    /// `*` for every group. All of them must be granted, now and at every use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["knowledge", "compute"]), max_items = 1000))]
    pub group: Option<Vec<String>>,
    /// The state to begin in; the project's settings may allow only some (`start_states`). Absent, null or `""` is the state
    /// `undefined`, or the first of the start states if `undefined` is not one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "undefined", max_length = 128))]
    pub state: Option<String>,
    /// A name for people, 1-200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "research on company X",
            min_length = 1,
            max_length = 200,
            pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"
        )
    )]
    pub label: Option<String>,
    /// Seconds until the session expires, at most 30 days; a day when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 86400, minimum = 1, maximum = 2_592_000))]
    pub expires_in_s: Option<u32>,
    /// Where its calls come from; a call that says more, or otherwise, wins field by field.
    #[serde(
        default,
        deserialize_with = "crate::calls::object",
        skip_serializing_if = "Option::is_none"
    )]
    pub context: Option<CallContext>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Session {
    /// The session's id: send it as `session_id` with calls.
    pub id: Uuid,
    /// What kind of principal it belongs to.
    pub principal_kind: PrincipalKind,
    /// The principal it belongs to, and the only one that can use it.
    pub principal_id: String,
    /// The principal's name when the session was created.
    #[cfg_attr(feature = "utoipa", schema(example = "research agent"))]
    pub principal_name: String,
    /// The name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "research on company X"))]
    pub label: Option<String>,
    /// The groups as they were given; absent when none were, which is not the same as `[]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["knowledge", "compute"]), max_items = 1000))]
    pub group: Option<Vec<String>>,
    /// The groups its calls ask for, after the default was applied; sorted.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["compute", "knowledge"]), max_items = 1000))]
    pub requested_groups: Vec<String>,
    /// Where its calls come from.
    #[serde(
        default,
        deserialize_with = "crate::calls::object",
        skip_serializing_if = "Option::is_none"
    )]
    pub context: Option<CallContext>,
    /// The state now.
    #[cfg_attr(feature = "utoipa", schema(example = "analysis"))]
    pub state: String,
    /// Counts the moves of the state, from 1.
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 1))]
    #[serde(deserialize_with = "crate::numbers::whole")]
    pub version: i64,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When the state last moved; when it was created if it never did.
    pub moved_at: DateTime<Utc>,
    /// When it expires by itself.
    pub expires_at: DateTime<Utc>,
    /// When it was ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<DateTime<Utc>>,
}

/// A new session, with what it can call now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CreatedSession {
    /// The session as it will be listed.
    #[serde(flatten)]
    pub session: Session,
    /// What its principal may ask for at present.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["*"]), max_items = 1000))]
    pub granted_groups: Vec<String>,
    /// The tools that can be called now, by name: the first 200.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub tools: Vec<Tool>,
    /// How many can be called now.
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 0))]
    pub available: u64,
    /// Send it as `cursor` to `GET .../sessions/{session_id}/tools` for the others; absent when these are all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A page of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SessionPage {
    /// Newest first.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<Session>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What a session can call now: decided on its present state, the present grant and the present definitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SessionTools {
    /// The session's state.
    #[cfg_attr(feature = "utoipa", schema(example = "analysis"))]
    pub state: String,
    /// The session's version.
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 1))]
    pub version: i64,
    /// The groups it asks for, after the default was applied.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub requested_groups: Vec<String>,
    /// What its principal may ask for at present.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub granted_groups: Vec<String>,
    /// The tools, by name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<Tool>,
    /// How many can be called now, on all pages.
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 0))]
    pub available: u64,
    /// How many tools are in none of the requested groups.
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 0))]
    pub filtered_by_group: u64,
    /// How many tools of the requested groups are closed in this state.
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 0))]
    pub filtered_by_state: u64,
    /// How many tools have all their requested groups closed by a condition.
    #[cfg_attr(feature = "utoipa", schema(example = 0, minimum = 0))]
    pub filtered_by_condition: u64,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One move of a session's state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SessionTransition {
    /// The session's version after it.
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 2))]
    pub version: i64,
    /// The state before.
    #[cfg_attr(feature = "utoipa", schema(example = "undefined"))]
    pub from: String,
    /// The state after. A tool whose state is the present one moves the session too.
    #[cfg_attr(feature = "utoipa", schema(example = "analysis"))]
    pub to: String,
    /// The tool that moved it.
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge-query"))]
    pub tool: String,
    /// The call, and its record.
    pub call_id: Uuid,
    /// When.
    pub at: DateTime<Utc>,
}

/// A page of transitions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SessionTransitionPage {
    /// Oldest first.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<SessionTransition>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The session of a call, as the call left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct CallSession {
    /// The session.
    pub id: Uuid,
    /// Its state after the call. With `state_conflict`, the state the call was decided against, which it has left by now.
    #[cfg_attr(feature = "utoipa", schema(example = "analysis"))]
    pub state: String,
    /// Its version in that state.
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 1))]
    pub version: i64,
    /// Whether it had moved, ended or expired while the tool ran: the result is valid, the tool's own move was not
    /// applied.
    pub state_conflict: bool,
}

/// How many active sessions are in a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SessionCount {
    /// The state's name.
    #[cfg_attr(feature = "utoipa", schema(example = "analysis"))]
    pub name: String,
    /// How many.
    #[cfg_attr(feature = "utoipa", schema(example = 3, minimum = 1))]
    pub sessions: u64,
}

/// How many active sessions are in each state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SessionCounts {
    /// The states with at least one session, by name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 10000))]
    pub items: Vec<SessionCount>,
}
