//! How the server is doing: what works, what does not, and how to correct it.

use serde::{Deserialize, Serialize};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum StatusLevel {
    /// As it should be.
    Ok,
    /// It works, but needs attention.
    Warning,
    /// It does not work.
    Failing,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct StatusCheck {
    /// Which one; it stays the same over time.
    #[cfg_attr(feature = "utoipa", schema(example = "database"))]
    pub id: String,
    /// The same for people.
    #[cfg_attr(feature = "utoipa", schema(example = "Database"))]
    pub title: String,
    /// How it is.
    pub status: StatusLevel,
    /// What was found, in a sentence.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "SQLite answers in 1 ms and can be written; it has 4.2 MiB.")
    )]
    pub summary: String,
    /// How to correct it; absent when there is nothing to correct.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// Everything that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SystemStatus {
    /// The worst of the checks.
    pub status: StatusLevel,
    /// The checks, in the same order every time.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub checks: Vec<StatusCheck>,
}
