//! The record of every decision and call.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::auth::PrincipalKind;
use crate::tools::AfterExecution;
use crate::{Diagnostic, ErrorCode};

/// What was asked of the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AuditAction {
    /// A tool call.
    Call,
    /// A call of a definition that need not be stored, by one who edits definitions.
    Test,
    /// A question what is available.
    Resolve,
    /// A question why something is available or not; nothing ran.
    Explain,
    /// The answer to an earlier call was given again, by its `Idempotency-Key`; nothing ran. `arguments` names the earlier call.
    Replay,
    /// The cancellation of a running call was requested; `arguments` names the call.
    Cancel,
    /// A question to an agent, with the tools it may use.
    AgentRequest,
    /// A resource or a prompt of an MCP server was read, or a completion was asked for; `arguments` names the server and what was
    /// read.
    McpRead,
    /// A session was created or ended.
    Session,
    /// A role, groups, a key or a user was changed, or a user signed out; `arguments` holds the principal and the
    /// values before and after.
    Access,
    /// Groups, states or policy tests were declared, renamed, changed or removed; `arguments` says what, before and after.
    Policy,
    /// Tools or services were uploaded, changed, deleted or restored; `arguments` names their revisions before and after.
    Definition,
    /// The settings or the limits of a project were changed, or a server has started; `arguments` says what, before and after.
    Settings,
    /// A secret was set or removed; `arguments` has its name, never its value.
    Secret,
    /// A project was created or deleted; on the record of the server.
    Project,
    /// An alert was acknowledged; `arguments` names it.
    Alert,
    /// A description or a project file was imported, an import was deleted, or what a newer description changed was approved or rejected;
    /// `arguments` says what.
    Import,
    /// Records or the project were exported; `arguments` holds the filters, `usage` the number of records.
    Export,
}

/// The outcome of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AuditOutcome {
    /// Admitted and running; the completion follows.
    Open,
    /// Admitted and answered.
    Succeeded,
    /// Admitted, then failed.
    Failed,
    /// Refused; nothing ran.
    Denied,
    /// The server stopped while it ran.
    Interrupted,
}

/// By which protocol or part of the server a request entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Entrance {
    /// This API.
    Rest,
    /// The Model Context Protocol.
    Mcp,
    /// The message bus.
    Bus,
    /// A schedule.
    Schedule,
    /// An action.
    Action,
    /// An agent that the server runs.
    Agent,
    /// The server itself.
    Internal,
}

impl Entrance {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 7] = [
        Self::Rest,
        Self::Mcp,
        Self::Bus,
        Self::Schedule,
        Self::Action,
        Self::Agent,
        Self::Internal,
    ];

    /// The name, as it travels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::Mcp => "mcp",
            Self::Bus => "bus",
            Self::Schedule => "schedule",
            Self::Action => "action",
            Self::Agent => "agent",
            Self::Internal => "internal",
        }
    }
}

/// Which layer an argument came from, weakest first (tool development guide, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ArgumentLayer {
    /// The definition's default, because the caller gave nothing.
    Default,
    /// The caller.
    Caller,
    /// The definition's fixed value.
    Fixed,
    /// An environment variable; its value is never kept.
    Env,
}

/// How an argument was read otherwise than it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CoercionKind {
    /// It was JSON in a text, where the schema admits no text.
    ReadFromText,
    /// It was null, where the schema neither requires it nor admits null.
    NullLeftOut,
}

/// An argument that was read otherwise than it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ArgumentCoercion {
    /// Where it is in the arguments: a JSON pointer.
    #[cfg_attr(feature = "utoipa", schema(example = "/filter"))]
    pub pointer: String,
    /// How it was read.
    pub kind: CoercionKind,
}

/// Where the state came from that a request was decided against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum StateSource {
    /// The request named it.
    Request,
    /// The session that the request named is in it.
    Session,
    /// The request named neither: `undefined`, or the first of the project's start states for a new session.
    Default,
}

/// The client that acted for a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AuditConnection {
    /// The connection's id.
    pub id: Uuid,
    /// What the client called itself when the user let it in.
    #[cfg_attr(feature = "utoipa", schema(example = "Claude Code"))]
    pub client_name: String,
}

/// The account at another service that a call used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AuditAccount {
    /// The account provider's name.
    #[cfg_attr(feature = "utoipa", schema(example = "github"))]
    pub provider: String,
    /// What the service calls the account, if it says; the subject of the token that was exchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "ada@example.com"))]
    pub label: Option<String>,
    /// The connected account; absent for a token that was exchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Uuid>,
}

/// Why a call failed, besides its code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AuditFailure {
    /// The host that the tool goes to; absent when the tool has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "api.example.com", max_length = 255))]
    pub upstream: Option<String>,
    /// The HTTP status of the upstream's answer, when there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 503))]
    pub upstream_status: Option<u16>,
    /// What happened, as the caller was answered; left out with the payloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "the upstream answered with HTTP status 503")
    )]
    pub message: Option<String>,
}

/// A question that an upstream put to the caller during a call. What was asked and answered is not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AuditQuestion {
    /// How an answer was asked for.
    pub mode: QuestionMode,
    /// What came of it.
    pub outcome: QuestionOutcome,
}

/// How an answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum QuestionMode {
    /// By a form.
    Form,
    /// By a page that the person visits.
    Url,
}

/// What came of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum QuestionOutcome {
    /// The person answered.
    Accepted,
    /// The person declined.
    Declined,
    /// The person dismissed it.
    Cancelled,
    /// No answer came in time, or one that is none.
    Unanswered,
    /// The caller's client cannot be asked; the upstream got an error.
    Refused,
}

/// One decision, and the call that followed if it was allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AuditRecord {
    /// The call's id.
    pub id: Uuid,
    /// When the decision was made.
    pub at: DateTime<Utc>,
    /// What was asked.
    pub action: AuditAction,
    /// The outcome of the record.
    pub outcome: AuditOutcome,
    /// Why it was denied or failed; absent when it succeeded or is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// What kind of principal asked.
    pub principal_kind: PrincipalKind,
    /// Which principal.
    pub principal_id: String,
    /// Its name at the time.
    pub principal_name: String,
    /// The tool, as the caller named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The revision that was decided on and executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<i64>,
    /// The requested groups after the default was applied.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub requested_groups: Vec<String>,
    /// The granted groups at the time.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub granted_groups: Vec<String>,
    /// Requested but not granted.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub missing_groups: Vec<String>,
    /// The session it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
    /// The state it was decided against.
    pub state_before: String,
    /// Where that state came from; absent where nothing was decided against a state, and in records from before this was
    /// recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_from: Option<StateSource>,
    /// The state afterwards; absent until completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_after: Option<String>,
    /// Whether the session had moved meanwhile, so that the call's own move was not applied.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub state_conflict: bool,
    /// The arguments after merging, redacted and shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>))]
    pub arguments: Option<Value>,
    /// Which layer each argument came from: an object of argument name to layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>, example = json!({"q": "caller", "num": "default"})))]
    pub provenance: Option<Value>,
    /// The arguments that were read otherwise than they were sent; part of their provenance, and left out with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub coercions: Vec<ArgumentCoercion>,
    /// The caller's own ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>))]
    pub context: Option<Value>,
    /// The HTTP request this came with.
    pub request_id: String,
    /// The network address it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "192.0.2.7"))]
    pub address: Option<String>,
    /// By which entrance it came; absent in records from before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entrance: Option<Entrance>,
    /// The client that the principal, a user, has let in and that sent it; absent when the user or a key did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<AuditConnection>,
    /// The name that the client program gave itself, where its protocol has one; see `client_version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "claude-code"))]
    pub client_name: Option<String>,
    /// The version that the client program gave itself. Both are what the client says; nothing is decided by them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "2.1.0"))]
    pub client_version: Option<String>,
    /// The caller's account that the call used, if its tool uses accounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<AuditAccount>,
    /// The version of the project's definitions that was decided on.
    pub snapshot_version: i64,
    /// Whether arguments, provenance, context, warnings and the message of a failure are left out, because only an auditor of the
    /// project sees what was passed along. Records of administration are shown whole.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub payloads_hidden: bool,
    /// Milliseconds from the decision to the end of execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    /// Why a call failed; absent for others, and in records from before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<AuditFailure>,
    /// Usage that the upstream reported, in its own units (for example tokens).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>, example = json!({"tokens": 120})))]
    pub usage: Option<Value>,
    /// What of the result did not fit the tool's `output_schema`, redacted; left out with the payloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 21))]
    pub warnings: Vec<Diagnostic>,
    /// Where the whole result was kept for a while; see `GET /projects/{project_id}/artifacts/{artifact_id}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<Uuid>,
    /// What the caller's turn does next, as the answer said (tools of type `worker` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_execution: Option<AfterExecution>,
    /// The questions that the tool's MCP server put to the caller, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 10))]
    pub questions: Vec<AuditQuestion>,
    /// When an open call fails with `timeout` if its answer has not come: any server completes it. Absent once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred_until: Option<DateTime<Utc>>,
}

/// A page of records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AuditPage {
    /// In the order that was asked for. A page looks at a bounded number of records, so it may be short or empty and yet
    /// have a `next_cursor`.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<AuditRecord>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The order of records: that of their ids, which is that of their requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AuditOrder {
    /// The latest first.
    #[default]
    NewestFirst,
    /// The earliest first.
    OldestFirst,
}

/// What an export looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AuditFormat {
    /// One JSON object per line, each as this API shows a record.
    #[default]
    Jsonl,
    /// RFC 4180 with a header; safe to open in a spreadsheet.
    Csv,
}

/// Whether the record is as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum IntegrityStatus {
    /// Every entry that was verified is what was written.
    Intact,
    /// An entry was changed or removed.
    Broken,
    /// Nothing was verified yet.
    Unchecked,
}

/// The first entry that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct IntegrityFault {
    /// Its record, where that is known and belongs to the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_id: Option<Uuid>,
    /// The chain: runs of servers count from 1.
    #[cfg_attr(feature = "utoipa", schema(example = 3, minimum = 1))]
    pub chain: i64,
    /// Its place in the chain; the entries before it are as they were written.
    #[cfg_attr(feature = "utoipa", schema(example = 120, minimum = 0))]
    pub position: i64,
    /// What is wrong with it.
    #[cfg_attr(feature = "utoipa", schema(example = "is not what was written"))]
    pub reason: String,
}

/// What the last verification of the record found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AuditIntegrity {
    /// The state of the verification.
    pub status: IntegrityStatus,
    /// How many entries were verified, of all projects of this server: they are one chain.
    #[cfg_attr(feature = "utoipa", schema(example = 12000, minimum = 0))]
    pub entries: u64,
    /// When the last verification ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_at: Option<DateTime<Utc>>,
    /// The first entry that is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_fault: Option<IntegrityFault>,
}
