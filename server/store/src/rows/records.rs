//! Rows of the record: what is written about a call, and how it is read.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_api::audit::{AuditFailure, AuditOutcome, AuditQuestion, AuditRecord};
use toolgate_api::tools::AfterExecution;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::ids::{CallId, ProjectUid, SessionId};
use uuid::Uuid;

use super::Settlement;

/// What is written before anything runs. `record.outcome` is `Open` for an admitted call; a denied call is written
/// whole by this alone.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The project.
    pub project: ProjectUid,
    /// The record; boxed, because it is handed on by value several times.
    pub record: Box<AuditRecord>,
}

/// The position of a record: the number of its chain, shifted left by 40 bits, plus its position in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordSeq(pub(crate) i64);

/// What is added when a call has ended.
#[derive(Debug, Clone)]
pub struct Completion {
    /// The project.
    pub project: ProjectUid,
    /// The call.
    pub id: CallId,
    /// The open record, as [`crate::RecordWriter::open`] gave it.
    pub record: RecordSeq,
    /// `Succeeded` or `Failed`.
    pub outcome: AuditOutcome,
    /// Why it failed.
    pub code: Option<ErrorCode>,
    /// The state it was decided against.
    pub state_before: String,
    /// The state afterwards; `state_before` unless it succeeded.
    pub state_after: String,
    /// Milliseconds from the decision to the end.
    pub duration_ms: i64,
    /// What the upstream reported.
    pub usage: Option<Value>,
    /// What there is to know about the result, if anything.
    pub noted: Option<Box<Noted>>,
    /// The move of its session, when it has one and its tool names a state.
    pub session: Option<SessionMove>,
    /// The answer to keep for a repeated request.
    pub settlement: Option<Settlement>,
    /// When a deferred call ended, whose record may be another server's. `None`: the record is this server's.
    pub late: Option<DateTime<Utc>>,
}

/// What is recorded of a call besides that it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// What of it did not fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Diagnostic>,
    /// Where it is kept whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Uuid>,
    /// What the caller's turn does next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_execution: Option<AfterExecution>,
    /// The questions that were put to the caller meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<AuditQuestion>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<AuditFailure>,
}

/// Moves a session from the version a call was admitted at to the next; it applies only to that version of a session that
/// has neither ended nor expired.
#[derive(Debug, Clone)]
pub struct SessionMove {
    /// The session.
    pub session: SessionId,
    /// Its version when the call was admitted.
    pub expected_version: i64,
    /// Its new state.
    pub to: String,
    /// The tool that moves it.
    pub tool: String,
    /// The call.
    pub call: CallId,
    /// When.
    pub at: DateTime<Utc>,
}

/// What a completion came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completed {
    /// The state afterwards, as it was recorded: the one before when the session had moved meanwhile.
    pub state_after: String,
    /// Whether the session had moved, ended or expired meanwhile, so that the move was not applied.
    pub state_conflict: bool,
    /// The session's version after its move; `None` when it was not moved.
    pub version: Option<i64>,
}

/// In which order records are read: that of their ids, which is that of their requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RecordOrder {
    /// The latest first.
    #[default]
    NewestFirst,
    /// The earliest first.
    OldestFirst,
}

/// Which part of the records that match to read.
#[derive(Debug, Clone, Copy)]
pub struct RecordRange {
    /// In which order.
    pub order: RecordOrder,
    /// What follows this one in that order.
    pub after: Option<CallId>,
    /// Only records with lower ids.
    pub before: Option<CallId>,
    /// Records of a page at most.
    pub limit: u32,
    /// Records that are looked at for a page at most; at least one is.
    pub scan: u32,
}

/// A page of records.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordPage {
    /// Those that match.
    pub records: Vec<AuditRecord>,
    /// What to go on after; `None` when there is nothing further. Not always the last of `records`.
    pub next: Option<CallId>,
}

/// The position of a reader in a chain of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainPlace {
    /// The number of the chain.
    pub chain: i64,
    /// The position of the last entry that was read; 0 before the first.
    pub position: i64,
    /// No record up to this position was open by then; at most `position`.
    pub settled: i64,
}
