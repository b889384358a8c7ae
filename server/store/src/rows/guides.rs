//! Rows of guides, and of programs that connected.

use chrono::{DateTime, Utc};
use toolgate_api::guides::GuideDefinition;
use toolgate_core::ids::ProjectUid;

/// A guide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuideRow {
    /// Its id.
    pub id: String,
    /// What was written.
    pub definition: GuideDefinition,
    /// The version of the project that changed it last.
    pub revision: i64,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
    /// By whom.
    pub updated_by: String,
    /// The tools of the import that it is about.
    pub tools: Vec<String>,
}

/// A program that connected by MCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpClientRow {
    /// The project.
    pub project: ProjectUid,
    /// The principal that it came as: kind and id.
    pub principal: String,
    /// The name that it gives itself.
    pub name: String,
    /// The version that it gives itself; empty for none.
    pub version: String,
    /// When it connected first.
    pub first_at: DateTime<Utc>,
    /// When it was used last.
    pub last_at: DateTime<Utc>,
}
