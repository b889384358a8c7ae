//! A project as one file: everything that defines it and is not secret.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::accounts::AccountProviderDefinition;
use crate::auth::Role;
use crate::egress::ProjectEgress;
use crate::groups::PutGroup;
use crate::guides::GuideDefinition;
use crate::limits::ProjectLimits;
use crate::mcp_servers::McpServerDefinition;
use crate::permissions::{GrantTerms, GrantedGroup};
use crate::policy_tests::PolicyTest;
use crate::problem::Diagnostic;
use crate::settings::ProjectSettings;
use crate::states::PutState;

/// The format of project files that this version writes and reads.
pub const PROJECT_FILE_FORMAT: u32 = 1;

/// A project as one file. What is left out is not changed by an import.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProjectFile {
    /// The format of the file: 1.
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 1, maximum = 1))]
    pub toolgate_project: u32,
    /// The name of the project that was exported. An import does not rename a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "Demonstration"))]
    pub name: Option<String>,
    /// Its settings, with the rules of its alerts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<ProjectSettings>,
    /// Its limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<ProjectLimits>,
    /// Where its tools may connect to. Only a system administrator can import a change of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub egress: Option<ProjectEgress>,
    /// What is declared about groups, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, PutGroup>,
    /// What is declared about states, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, PutState>,
    /// Where callers have accounts of their own, by name; not the accounts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub account_providers: BTreeMap<String, AccountProviderDefinition>,
    /// Its MCP servers, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp_servers: BTreeMap<String, McpServerDefinition>,
    /// The definitions of its tool services.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Vec<Object>, max_items = 10000))]
    pub tool_services: Vec<Value>,
    /// The definitions of its tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Vec<Object>, max_items = 10000))]
    pub tools: Vec<Value>,
    /// Its guides, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub guides: BTreeMap<String, GuideDefinition>,
    /// What users and subjects of external issuers hold. Service keys are credentials: neither they nor their grants are exported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 10000))]
    pub grants: Vec<FileGrant>,
    /// What it expects of its decisions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 10000))]
    pub policy_tests: Vec<PolicyTest>,
    /// The names of the secrets that it has or refers to; never their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["SEARCH_KEY"]), max_items = 10000))]
    pub secrets: Vec<String>,
}

/// What a user, or a subject of an external issuer, holds in a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct FileGrant {
    /// The user name, for a user. Either this or `subject`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "ada"))]
    pub user: Option<String>,
    /// `<issuer>|<subject>`, for a subject of an external issuer. Either this or `user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The role.
    pub role: Role,
    /// The groups it may ask for.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub groups: Vec<GrantedGroup>,
    /// When the grant expires; never when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "2030-06-01T00:00:00Z"))]
    pub expires_at: Option<DateTime<Utc>>,
}

impl FileGrant {
    /// Who holds it, as it is written in the file.
    #[must_use]
    pub fn holder(&self) -> &str {
        self.user
            .as_deref()
            .or(self.subject.as_deref())
            .unwrap_or_default()
    }

    /// What is granted.
    #[must_use]
    pub fn terms(&self) -> GrantTerms {
        GrantTerms {
            role: self.role,
            groups: self.groups.clone(),
            expires_at: self.expires_at,
        }
    }
}

/// A section of a project file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileSection {
    /// The settings.
    Settings,
    /// The limits.
    Limits,
    /// The egress list.
    Egress,
    /// Declared groups.
    Groups,
    /// Declared states.
    States,
    /// Account providers.
    AccountProviders,
    /// MCP servers.
    McpServers,
    /// Tool services.
    ToolServices,
    /// Tools.
    Tools,
    /// Guides.
    Guides,
    /// Grants.
    Grants,
    /// Policy tests.
    PolicyTests,
}

/// What an import does with one part of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileOutcome {
    /// It is new.
    Created,
    /// It replaces what is there.
    Changed,
    /// It equals what is there.
    Unchanged,
    /// It is left out; `reason` says why.
    Skipped,
}

/// One part of the file: a tool, a group, the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct FilePart {
    /// Its section.
    pub section: FileSection,
    /// Its name; empty where a section is one document.
    #[cfg_attr(feature = "utoipa", schema(example = "web-search"))]
    pub name: String,
    /// What happens to it.
    pub outcome: FileOutcome,
    /// Why it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Unified diff as YAML of what is there and what the file says; absent when unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// What an import did, or would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ProjectImport {
    /// True when nothing was stored because only a preview was asked for.
    pub dry_run: bool,
    /// The parts of the file, in the order in which they are applied.
    #[cfg_attr(feature = "utoipa", schema(max_items = 100_000))]
    pub parts: Vec<FilePart>,
    /// Secrets that the file names and that are not set in the project. What refers to them fails until they are.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["SEARCH_KEY"]), max_items = 10000))]
    pub missing_secrets: Vec<String>,
    /// Accepted, but should be corrected.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub warnings: Vec<Diagnostic>,
}
