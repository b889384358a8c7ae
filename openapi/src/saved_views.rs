//! Views of the record that were kept under a name.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A view to keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SaveView {
    /// Its name; a view of the same name is replaced.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "Failures of the week", min_length = 1, max_length = 80)
    )]
    pub name: String,
    /// The query of the record's page: filters, range of time and columns, as in its address.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "outcome=failed&from=now-7d", min_length = 1, max_length = 2000)
    )]
    pub query: String,
    /// Whether everyone sees it who may read the record; only its owner does without.
    #[serde(default)]
    #[cfg_attr(feature = "utoipa", schema(example = false, default = false))]
    pub shared: bool,
}

/// A kept view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SavedView {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    #[cfg_attr(feature = "utoipa", schema(example = "Failures of the week"))]
    pub name: String,
    /// The query of the record's page.
    #[cfg_attr(feature = "utoipa", schema(example = "outcome=failed&from=now-7d"))]
    pub query: String,
    /// Whether everyone sees it who may read the record.
    #[cfg_attr(feature = "utoipa", schema(example = false))]
    pub shared: bool,
    /// Who kept it, written as a principal.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "user:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")
    )]
    pub author: String,
    /// When it was kept.
    pub created_at: DateTime<Utc>,
}

/// The kept views that a caller sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SavedViews {
    /// The caller's own and the shared ones, by name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 400))]
    pub items: Vec<SavedView>,
}
