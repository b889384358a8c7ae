//! Tools and their revisions.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::policy_tests::UploadPolicyTests;
use crate::problem::Diagnostic;
use crate::remedy::Remedy;

/// What a caller's turn does after the tool ran (tool development guide, section 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AfterExecution {
    /// The turn waits for the next step.
    Suspend,
    /// The turn ends.
    Terminate,
}

/// A tool as its reader may see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Tool {
    /// The name callers use.
    #[cfg_attr(feature = "utoipa", schema(example = "web-search"))]
    pub name: String,
    /// What executes it.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "utoipa", schema(example = "openapi"))]
    pub type_: String,
    /// Where it comes from, if that is a server that the project names: `mcp:<server>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "mcp:weather"))]
    pub source: Option<String>,
    /// Whether it may be called; a disabled tool is only shown to those who may read definitions.
    #[cfg_attr(feature = "utoipa", schema(example = true))]
    pub enabled: bool,
    /// Why nothing executes it, so that every call is refused with `tool_unavailable`; only shown to those who may read definitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "nothing executes tools of type \"worker\" here: this server is connected to no message bus: the operator sets TOOLGATE_NATS_URL"
        )
    )]
    pub unavailable: Option<String>,
    /// Why MCP clients are not offered it, though it may be called by REST; only shown to those who may read definitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_listed: Option<String>,
    /// What people read instead of its name, if the definition says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "Search the web"))]
    pub title: Option<String>,
    /// What it does, as the model reads it.
    #[cfg_attr(feature = "utoipa", schema(example = "Search the web."))]
    pub description: String,
    /// Its groups; `["default"]` when the definition names none.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["knowledge"]), max_items = 1000))]
    pub group: Vec<String>,
    /// The workflow state after a successful call; absent: no move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "analysis"))]
    pub state: Option<String>,
    /// The states it is open in; `["*"]` when the definition names none.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["*"]), max_items = 1000))]
    pub available_in_states: Vec<String>,
    /// JSON Schema (2020-12) of the arguments as callers give them: fixed and environment parameters are removed,
    /// defaults are shown. Absent in a summary.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Object, example = json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]})))]
    pub parameters: Value,
    /// About how many tokens a model spends on the tool when a client offers it, called or not: the bytes of its name, description
    /// and parameters, divided by 4. Absent in a summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 170, minimum = 0))]
    pub tokens: Option<u64>,
    /// What the caller's turn does afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_execution: Option<AfterExecution>,
    /// The current revision, from 1.
    #[cfg_attr(feature = "utoipa", schema(example = 3, minimum = 1))]
    pub revision: i64,
    /// When the current revision was made.
    pub updated_at: DateTime<Utc>,
    /// Who made it; only shown to those who may read definitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_by: Option<String>,
    /// The whole definition; only shown to those who may read definitions, and not in a summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>))]
    pub definition: Option<Value>,
}

/// A page of tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ToolPage {
    /// The tools, in the order that was asked for.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub items: Vec<Tool>,
    /// How many tools match, on all pages together.
    #[cfg_attr(feature = "utoipa", schema(example = 42, minimum = 0))]
    pub total: usize,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// In which order tools are listed. Tools that are equal in it are in the order of their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolSort {
    /// By name.
    #[default]
    Name,
    /// By name, the last first.
    #[serde(rename = "-name")]
    NameDescending,
    /// The one that was changed the longest ago first.
    UpdatedAt,
    /// The one that was changed last first.
    #[serde(rename = "-updated_at")]
    UpdatedAtDescending,
    /// By type.
    Type,
    /// By type, the last first.
    #[serde(rename = "-type")]
    TypeDescending,
}

/// How much of each tool is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolView {
    /// Everything that the caller may see.
    #[default]
    Full,
    /// Without `parameters` and `definition`; pages may have 1000 tools then.
    Summary,
}

/// The format of a download of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolFileFormat {
    /// RFC 4180 with a header; safe to open in a spreadsheet.
    Csv,
    /// One JSON object per line, each as this API shows a tool.
    Jsonl,
    /// The definitions, one document each, as they can be uploaded again.
    Yaml,
}

/// What an upload did, or would do, with one definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum UploadOutcome {
    /// It is new.
    Created,
    /// It replaces an earlier revision.
    Replaced,
    /// It equals the current revision; no new one was made.
    Unchanged,
}

/// Which kind of definition an upload item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DefinitionKind {
    /// A tool.
    Tool,
    /// A service that tools refer to.
    ToolService,
}

/// One definition of an upload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UploadItem {
    /// What it is.
    pub kind: DefinitionKind,
    /// Its name.
    #[cfg_attr(feature = "utoipa", schema(example = "web-search"))]
    pub name: String,
    /// What happened.
    pub outcome: UploadOutcome,
    /// The revision after the upload (or that it would get).
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 1))]
    pub revision: i64,
    /// Unified diff of the definitions as YAML; absent when unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// What an upload did. All or nothing: with one error nothing is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UploadResult {
    /// True when nothing was stored because only a verdict was asked for.
    pub dry_run: bool,
    /// One entry per definition, in the order of the upload.
    #[cfg_attr(feature = "utoipa", schema(max_items = 10000))]
    pub items: Vec<UploadItem>,
    /// Accepted, but should be corrected.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub warnings: Vec<Diagnostic>,
    /// How the project's policy tests would come out; in the answer to a dry run of a project that has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_tests: Option<UploadPolicyTests>,
}

/// One revision of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ToolRevision {
    /// The tool.
    #[cfg_attr(feature = "utoipa", schema(example = "web-search"))]
    pub name: String,
    /// Counts from 1.
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 1))]
    pub revision: i64,
    /// Who made it.
    #[cfg_attr(feature = "utoipa", schema(example = "admin"))]
    pub author: String,
    /// When.
    pub created_at: DateTime<Utc>,
    /// Why, in the author's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// True when this revision deleted the tool.
    pub deleted: bool,
    /// The definition; absent in lists and for deletions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>))]
    pub definition: Option<Value>,
}

/// A page of revisions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ToolRevisionPage {
    /// Newest first.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<ToolRevision>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The difference of two revisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct RevisionDiff {
    /// The earlier side.
    pub from: i64,
    /// The later side.
    pub to: i64,
    /// Unified diff of the definitions as YAML; empty when equal.
    pub diff: String,
}

/// What a text of definitions is worth; nothing was stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DefinitionsChecked {
    /// Whether an upload would accept it.
    pub valid: bool,
    /// The definitions as canonical YAML, which can be uploaded; empty when they are not valid.
    pub yaml: String,
    /// The tools as JSON, in the order of the text; empty when they are not valid.
    #[cfg_attr(feature = "utoipa", schema(value_type = Vec<Object>, max_items = 10000))]
    pub definitions: Vec<Value>,
    /// Errors and warnings in the order of the text, each with its line, column and a hint.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub diagnostics: Vec<Diagnostic>,
    /// What must be changed outside of the definitions before calls of them can succeed, as far as that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub remedies: Vec<Remedy>,
}
