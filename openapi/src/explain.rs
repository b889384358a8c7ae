//! Why a tool is available or not: every test of the decision, with what it compared.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::auth::PrincipalKind;
use crate::calls::{CallContext, StateChange};
use crate::remedy::Remedy;
use crate::{Diagnostic, ErrorCode};

/// Asks why tools are available or not, without calling anything.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ExplainRequest {
    /// The tool. Absent: every tool that the caller may see, page by page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "web-search", min_length = 1, max_length = 128)
    )]
    pub tool: Option<String>,
    /// Who would call: `user:<id>`, `service_key:<id>` or `external:<issuer>|<subject>`. Absent: the caller.
    /// Asking about others needs a role that sees who holds what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "service_key:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11",
            max_length = 1100
        )
    )]
    pub principal: Option<String>,
    /// The requested groups. Absent or null asks for `["default"]`; `[]` asks for nothing; `*` for every group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["knowledge"]), max_items = 1000))]
    pub group: Option<Vec<String>>,
    /// The workflow state. Absent, null or `""` is the state `undefined`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "undefined", max_length = 128))]
    pub state: Option<String>,
    /// The session that the call would be made in: its state, its groups and its context count then, and it is its
    /// principal who would call. Not together with `state`. One's own, or any for a role that reads the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
    /// Explain as if the call were made in a session that is in `state`, where the project requires sessions. For roles
    /// that read definitions; not together with `session_id`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub assume_session: bool,
    /// The arguments to check, with `tool` only. Absent: they are not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>, example = json!({"q": "rust"})))]
    pub arguments: Option<Map<String, Value>>,
    /// The time to decide for, because conditions on groups and grants may depend on it. Absent: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<DateTime<Utc>>,
    /// Where the call would come from; conditions and templates may use it.
    #[serde(
        default,
        deserialize_with = "crate::calls::object",
        skip_serializing_if = "Option::is_none"
    )]
    pub context: Option<CallContext>,
    /// `next_cursor` of the page before; without `tool` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_length = 1024))]
    pub cursor: Option<String>,
    /// Tools per page; 50 when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(minimum = 1, maximum = 200))]
    pub limit: Option<u32>,
}

/// Allowed or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DecisionEffect {
    /// The call would run.
    Allow,
    /// Nothing would run.
    Deny,
}

/// One test of a call. They are made in this order, and the first that fails decides, but for `execution`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DecisionTest {
    /// The grant covers every requested group (`insufficient_tool_groups`).
    Grant,
    /// The request names a session (`session_required`); only where the project requires sessions.
    Session,
    /// The project has the tool (`tool_not_found`).
    Exists,
    /// The tool is enabled (`tool_disabled`), and this server can execute its type (`tool_unavailable`).
    Enabled,
    /// The tool is in a requested group (`tool_not_in_groups`).
    Groups,
    /// One of the groups it is reached through is open (`group_closed`).
    Open,
    /// The tool is open in the workflow state (`tool_not_in_state`).
    State,
    /// The arguments fit the tool's parameters (`invalid_arguments`); only when arguments were given.
    Arguments,
    /// The limits that apply leave room for one more call now, on this server (`rate_limited`, `concurrency_limited`).
    Limits,
    /// The tool can be executed now: something executes it, its destination is allowed, its secrets have values, its
    /// circuit breaker is closed (`tool_unavailable`, `egress_denied`). It refuses nothing: a call is admitted, and
    /// fails.
    Execution,
}

/// How a test came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TestOutcome {
    /// It holds.
    Passed,
    /// It does not hold, and so the call is refused with its code; with `execution` it is admitted and fails with it.
    Failed,
    /// An earlier test failed, so this one decides nothing; `would_pass` says how it would come out.
    NotReached,
    /// A simulation cannot know; `hint` says why. It refuses nothing here.
    Unknown,
}

/// A requested group that reaches the tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct GroupMatch {
    /// The tool's group; absent when the request is for `*`, which needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge/read"))]
    pub group: Option<String>,
    /// The requested group that covers it: itself, a parent, or `*`.
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge"))]
    pub through: String,
    /// Whether the condition of the group and of its parents holds.
    pub open: bool,
}

/// A group that is closed, and by which condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ClosedGroup {
    /// The tool's group.
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge/read"))]
    pub group: String,
    /// The group that has the condition: itself or a parent.
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge"))]
    pub closed_by: String,
    /// The condition; only shown to those who may read definitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// What became of it: that it is false, or why it could not be evaluated.
    pub reason: String,
}

/// What a test compared. Only what belongs to the test is there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct TestOperands {
    /// `grant` and `groups`: the requested groups after the default was applied, sorted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub requested: Option<Vec<String>>,
    /// `grant`: what the principal holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub granted: Option<Vec<String>>,
    /// `grant`: requested but not granted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub missing: Option<Vec<String>>,
    /// `groups`: the tool's groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub tool_groups: Option<Vec<String>>,
    /// `groups` and `open`: which requested groups reach the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub matches: Option<Vec<GroupMatch>>,
    /// `open`: the groups that are closed, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub closed: Option<Vec<ClosedGroup>>,
    /// `state`: the states the tool is open in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub tool_states: Option<Vec<String>>,
    /// `state`: the state of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// `arguments`: every fault, with its pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub faults: Option<Vec<Diagnostic>>,
}

/// One test, with its operands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct TestReport {
    /// Which test.
    pub test: DecisionTest,
    /// How it came out.
    pub outcome: TestOutcome,
    /// For a test that was not reached: how it would come out; absent when that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_pass: Option<bool>,
    /// The code a call is refused with when it fails; absent when it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// How to correct it, or why it is not known; absent when it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "request one of the tool's groups"))]
    pub hint: Option<String>,
    /// What was compared. Absent for a tool whose groups and states the caller may not see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operands: Option<TestOperands>,
    /// What must change before it passes, where that is one known thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
}

/// The decision on one tool, test by test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ToolExplanation {
    /// The tool, as it was named.
    #[cfg_attr(feature = "utoipa", schema(example = "web-search"))]
    pub tool: String,
    /// What a call would be answered with.
    pub effect: DecisionEffect,
    /// Why it would be refused; absent when allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// The same in one sentence, with how to correct it.
    pub summary: String,
    /// Every test in its order.
    #[cfg_attr(feature = "utoipa", schema(max_items = 10))]
    pub tests: Vec<TestReport>,
    /// The state now, and the one that a successful call would lead to.
    pub state: StateChange,
}

/// Who an explanation is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ExplainedPrincipal {
    /// Which kind.
    pub kind: PrincipalKind,
    /// Which one.
    pub id: String,
}

/// Why tools are available or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ExplainResponse {
    /// The record of this simulation.
    pub record_id: Uuid,
    /// Who would call.
    pub principal: ExplainedPrincipal,
    /// The time it was decided for.
    pub at: DateTime<Utc>,
    /// What was asked for, after the default was applied.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub requested_groups: Vec<String>,
    /// What the principal may ask for.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub granted_groups: Vec<String>,
    /// The tools, by name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<ToolExplanation>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
