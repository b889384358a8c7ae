//! Rows of imports and their operations.

use chrono::{DateTime, Utc};
use toolgate_api::imports::{DescriptionFormat, ImportSource};
use toolgate_core::definition::ToolDefinition;
use toolgate_core::ids::ToolName;

/// A description whose operations are tools.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportRow {
    /// Its id in the project.
    pub id: String,
    /// The version of the project that changed it last; what is written gets the next one.
    pub revision: i64,
    /// The API's name.
    pub title: String,
    /// The API's version.
    pub version: String,
    /// How the description is written.
    pub format: DescriptionFormat,
    /// Where it came from, and how it is read.
    pub source: ImportSource,
    /// The origins that its tools send to.
    pub hosts: Vec<String>,
    /// When it was imported first.
    pub created_at: DateTime<Utc>,
    /// Who did.
    pub created_by: String,
    /// When it was imported last.
    pub imported_at: DateTime<Utc>,
    /// Who did.
    pub imported_by: String,
}

/// An operation of an import.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportOperationRow {
    /// The import.
    pub import: String,
    /// The version of the project that changed it last; what is written gets the next one.
    pub revision: i64,
    /// Its method.
    pub method: String,
    /// Its path.
    pub path: String,
    /// The tool that it became, which belongs to no other import.
    pub tool: ToolName,
    /// The definition as the description had it when it was last imported, approved or rejected.
    pub base: ToolDefinition,
    /// A newer one without a decision.
    pub waiting: Option<WaitingRow>,
    /// Since when the description has it no more.
    pub gone_since: Option<DateTime<Utc>>,
}

/// A definition that waits for a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitingRow {
    /// The definition.
    pub definition: ToolDefinition,
    /// When it was imported.
    pub since: DateTime<Utc>,
    /// Who imported it.
    pub by: String,
}

/// A change of imports, committed with the definitions it belongs to: see [`crate::Store::publish_with`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportChange {
    /// An import to store.
    pub put: Option<ImportRow>,
    /// Operations to store; those of the same tool are replaced.
    pub operations: Vec<ImportOperationRow>,
    /// An import to remove with its operations; the tools stay.
    pub remove: Option<String>,
}
