//! Rows of results that are kept whole.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use toolgate_core::ids::ProjectUid;
use toolgate_core::principal::PrincipalRef;
use uuid::Uuid;

/// A result that was too large for its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactRow {
    /// The project.
    pub project: ProjectUid,
    /// Its id.
    pub id: Uuid,
    /// Who made the call.
    pub owner: PrincipalRef,
    /// When it was kept.
    pub created_at: DateTime<Utc>,
    /// Until when it is.
    pub expires_at: DateTime<Utc>,
    /// Its media type.
    pub content_type: String,
    /// What it says.
    pub content: Bytes,
}

/// What a project may keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArtifactLimits {
    /// Bytes of all of them.
    pub bytes: i64,
    /// How many there may be.
    pub count: i64,
}
