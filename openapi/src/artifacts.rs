//! Results that are kept whole for a while, because they are too large for an answer.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Where a result is kept whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Artifact {
    /// Its id.
    pub id: Uuid,
    /// Its address on this server, for the principal that made the call.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "/projects/demo/artifacts/0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")
    )]
    pub href: String,
    /// Its media type: JSON for results that are JSON, otherwise what the upstream says.
    #[cfg_attr(feature = "utoipa", schema(example = "application/json"))]
    pub content_type: String,
    /// How large it is.
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, example = 2_097_152))]
    pub bytes: u64,
    /// Until when it is kept at the longest: where a project keeps too much, the oldest go earlier.
    pub expires_at: DateTime<Utc>,
}
