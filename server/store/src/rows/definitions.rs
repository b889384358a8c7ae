//! Rows of projects and their definitions.

use chrono::{DateTime, Utc};
use toolgate_api::accounts::AccountProvider;
use toolgate_api::egress::ProjectEgress;
use toolgate_api::limits::ProjectLimits;
use toolgate_api::mcp_servers::StoredMcpServer;
use toolgate_api::policy_tests::StoredPolicyTest;
use toolgate_api::settings::ProjectSettings;
use toolgate_core::definition::{ServiceDefinition, ToolDefinition};
use toolgate_core::ids::{ProjectId, ProjectUid, ToolName};
use toolgate_core::snapshot::LabelInput;

use super::{GuideRow, Revised, SecretRow};
use crate::labels::LabelChange;

/// A project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRow {
    /// Never used again.
    pub uid: ProjectUid,
    /// The slug, unique among projects that are not deleted.
    pub id: ProjectId,
    /// For people.
    pub name: String,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}

/// A tool at its current revision.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolRow {
    /// The definition.
    pub definition: ToolDefinition,
    /// Counts from 1 over the tool's whole life, deletions included.
    pub revision: i64,
    /// When this revision was made.
    pub updated_at: DateTime<Utc>,
    /// Who made it.
    pub updated_by: String,
}

/// A tool service as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceRow {
    /// The definition.
    pub definition: ServiceDefinition,
    /// Counts from 1.
    pub revision: i64,
}

/// A project with its definitions, in one consistent read.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectRows {
    /// What it has beside its definitions.
    pub parts: ProjectParts,
    /// The version that changed the definitions last; `None` when that is not known.
    pub definitions_version: Option<i64>,
    /// Its tools that are not deleted, by name.
    pub tools: Vec<ToolRow>,
    /// Its services, by id.
    pub services: Vec<ServiceRow>,
    /// What it declares about groups, by name.
    pub groups: Vec<LabelInput>,
    /// What it declares about states, by name.
    pub states: Vec<LabelInput>,
}

/// What changed of a project since a version, in one consistent read.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectChanges {
    /// What it has beside its definitions.
    pub parts: ProjectParts,
    /// The version that changed the definitions last; `None` when that is not known.
    pub definitions_version: Option<i64>,
    /// The tools that were added or replaced, by name.
    pub changed: Vec<ToolRow>,
    /// The tools that were deleted.
    pub deleted: Vec<ToolName>,
    /// Its services, by id, also those that did not change.
    pub services: Vec<ServiceRow>,
    /// What it declares about groups, by name.
    pub groups: Vec<LabelInput>,
    /// What it declares about states, by name.
    pub states: Vec<LabelInput>,
}

/// A project without its definitions, in one consistent read.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectParts {
    /// The version this is.
    pub version: i64,
    /// The project.
    pub project: ProjectRow,
    /// What it expects of its decisions, by name.
    pub policy_tests: Vec<StoredPolicyTest>,
    /// What it sets for itself.
    pub settings: Revised<ProjectSettings>,
    /// How much of it may be used.
    pub limits: Revised<ProjectLimits>,
    /// Where its tools may connect to.
    pub egress: Revised<ProjectEgress>,
    /// Its guides, by id.
    pub guides: Vec<GuideRow>,
    /// Its MCP servers, by name.
    pub mcp_servers: Revised<Vec<StoredMcpServer>>,
    /// The account providers.
    pub account_providers: Revised<Vec<AccountProvider>>,
    /// Its secrets, sealed, by name.
    pub secrets: Vec<SecretRow>,
}

/// One revision of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct RevisionRow {
    /// The tool.
    pub name: ToolName,
    /// Counts from 1.
    pub revision: i64,
    /// Who made it.
    pub author: String,
    /// When.
    pub created_at: DateTime<Utc>,
    /// Why.
    pub note: Option<String>,
    /// The definition; `None` when this revision deleted the tool.
    pub definition: Option<ToolDefinition>,
}

/// A change of definitions, applied whole or not at all.
#[derive(Debug, Clone)]
pub struct Publication {
    /// The project.
    pub project: ProjectUid,
    /// The version the change was computed from; another one in the database is a conflict.
    pub expected_version: i64,
    /// The version of the directory that the change was judged with; another one in the database is a conflict. `None`:
    /// who holds what did not matter.
    pub expected_directory: Option<i64>,
    /// The tools to store or, with `None`, to delete; each gets the revision after its last.
    pub tools: Vec<(ToolName, Option<ToolDefinition>)>,
    /// The services to store.
    pub services: Vec<ServiceDefinition>,
    /// The services to delete.
    pub deleted_services: Vec<ToolName>,
    /// What changes about groups and states beside the tools.
    pub labels: LabelChange,
    /// Who.
    pub author: String,
    /// When.
    pub at: DateTime<Utc>,
    /// Why.
    pub note: Option<String>,
}
