//! Rows of sessions and their moves.

use chrono::{DateTime, Utc};
use toolgate_api::calls::CallContext;
use toolgate_core::ids::{CallId, ProjectUid, SessionId};
use toolgate_core::principal::PrincipalRef;

/// A session: one workflow run of one principal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// The id.
    pub id: SessionId,
    /// The project.
    pub project: ProjectUid,
    /// Whose it is.
    pub principal: PrincipalRef,
    /// The principal's name when it was created.
    pub principal_name: String,
    /// For people.
    pub label: Option<String>,
    /// The groups its calls ask for; `None` is "absent", which is not `[]`.
    pub groups: Option<Vec<String>>,
    /// Where its calls come from.
    pub context: Option<CallContext>,
    /// The state now.
    pub state: String,
    /// Counts the moves, from 1.
    pub version: i64,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it last moved.
    pub moved_at: DateTime<Utc>,
    /// From then on it cannot be used.
    pub expires_at: DateTime<Utc>,
    /// When it was ended.
    pub ended_at: Option<DateTime<Utc>>,
}

/// How many active sessions there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLimits {
    /// In one project.
    pub per_project: u32,
    /// Of one principal in one project.
    pub per_principal: u32,
}

/// Whether a session was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionAdmission {
    /// It was.
    Created,
    /// The project has as many active sessions as it may have.
    ProjectFull,
    /// The principal has.
    PrincipalFull,
}

/// What came of ending a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnd {
    /// It was ended now.
    Ended,
    /// It had been ended before.
    Before,
    /// It is not at the expected version but at this one.
    Moved(i64),
    /// There is no such session.
    NotThere,
}

/// The state of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPlace {
    /// Which session.
    pub id: SessionId,
    /// Counts its moves.
    pub version: i64,
    /// The state it is in.
    pub state: String,
    /// Whether it was ended.
    pub ended: bool,
    /// When it expires.
    pub expires_at: DateTime<Utc>,
}

/// Which sessions to read. Everything given must match.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    /// Whose.
    pub principal: Option<PrincipalRef>,
    /// In which state.
    pub state: Option<String>,
    /// Only those that can be used at this time.
    pub living_at: Option<DateTime<Utc>>,
    /// Created at or after this time.
    pub since: Option<DateTime<Utc>>,
    /// Created before this time.
    pub until: Option<DateTime<Utc>>,
    /// A text in the label or the name of the principal, in any case.
    pub text: Option<String>,
}

/// One move of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransitionRow {
    /// The session's version after it.
    pub version: i64,
    /// The call.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// The state before.
    pub from: String,
    /// The state after.
    pub to: String,
    /// When.
    pub at: DateTime<Utc>,
}
