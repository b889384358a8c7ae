//! Calls that any server may complete.

use chrono::{DateTime, Utc};
use toolgate_core::ids::{CallId, ProjectUid};

use super::RecordSeq;

/// An admitted call whose answer may come after the server that began it has stopped. Its record stays open until a server
/// completes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeferredCall {
    /// The project.
    pub project: ProjectUid,
    /// The call.
    pub call: CallId,
    /// Its open record.
    pub record: RecordSeq,
    /// When it fails with a time-out, if nothing has completed it.
    pub until: DateTime<Utc>,
    /// What any server needs to complete it, as JSON.
    pub begun: String,
}

/// A deferred call whose record is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenDeferral {
    /// The call.
    pub deferred: DeferredCall,
    /// Whether its cancellation was requested.
    pub cancelled: bool,
}
