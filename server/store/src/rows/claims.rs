//! Claims on idempotency keys.

use chrono::{DateTime, Utc};
use toolgate_api::JsonText;
use toolgate_core::ids::{CallId, ProjectUid};

/// Names one idempotent request: keys of different principals and projects are independent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey {
    /// The project.
    pub project: ProjectUid,
    /// The principal's id.
    pub principal_id: String,
    /// What the client sent.
    pub key: String,
}

/// A claim on an idempotency key, made before the call.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Which.
    pub key: IdempotencyKey,
    /// SHA-256 of the request.
    pub fingerprint: [u8; 32],
    /// The call that will run under it.
    pub call: CallId,
    /// When the claim may be deleted.
    pub expires_at: DateTime<Utc>,
}

/// What became of a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum Claimed {
    /// It is ours; the call may run.
    Fresh,
    /// The same request runs right now, as this call.
    InProgress(CallId),
    /// The key was used with another request.
    Mismatch,
    /// The same request has been answered by this call; the body of the answer.
    Answered(CallId, JsonText),
    /// The same request was cut off by a restart; whether it ran is in the record.
    Interrupted(CallId),
}

/// The answer to keep for a claim.
#[derive(Debug, Clone)]
pub struct Settlement {
    /// Which.
    pub key: IdempotencyKey,
    /// The HTTP status.
    pub status: u16,
    /// The body, as JSON.
    pub body: String,
    /// The body when the session had moved meanwhile; needed only with a [`SessionMove`].
    pub body_on_conflict: Option<String>,
}

/// The answer of a call that is kept for its principal.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptAnswer {
    /// What was answered.
    pub body: JsonText,
    /// Until when it is kept.
    pub expires_at: DateTime<Utc>,
}
