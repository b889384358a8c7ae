//! Importing descriptions of APIs: what their operations become, and what becomes of them when the description changes.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::policy_tests::UploadPolicyTests;
use crate::problem::Diagnostic;
use crate::quarantine::OperationChange;

/// What a description would become.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ImportPreview {
    /// The API's name.
    #[cfg_attr(feature = "utoipa", schema(example = "Petstore"))]
    pub title: String,
    /// The API's version.
    #[cfg_attr(feature = "utoipa", schema(example = "1.0.0"))]
    pub version: String,
    /// How the description is written.
    pub format: DescriptionFormat,
    /// How many operations the description has, chosen or not.
    #[cfg_attr(feature = "utoipa", schema(example = 12, minimum = 0, maximum = 5000))]
    pub total: usize,
    /// The chosen operations, in the order of the description.
    #[cfg_attr(feature = "utoipa", schema(max_items = 5000))]
    pub operations: Vec<ImportedOperation>,
    /// Where the tools of the chosen operations would send requests.
    #[cfg_attr(feature = "utoipa", schema(max_items = 5000))]
    pub hosts: Vec<ImportHost>,
    /// What of the description is no operation and cannot be read.
    #[cfg_attr(feature = "utoipa", schema(max_items = 5000))]
    pub problems: Vec<Diagnostic>,
    /// What of the text was read although it is against the rules, and credentials that are named and are not there.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub warnings: Vec<Diagnostic>,
    /// A prefix for the names of the tools with which none of them is taken; present when some of them are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "petstore_", max_length = 32))]
    pub suggested_prefix: Option<String>,
}

/// How a description is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DescriptionFormat {
    /// Swagger 2.0.
    Swagger2,
    /// OpenAPI 3.0.
    Openapi30,
    /// OpenAPI 3.1.
    Openapi31,
    /// OpenAPI 3.2.
    Openapi32,
    /// The tools of an MCP server.
    Mcp,
    /// What a tool service or a worker announced on the message bus.
    Announced,
}

/// One operation, and the tool that it would become.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ImportedOperation {
    /// Its method.
    #[cfg_attr(feature = "utoipa", schema(example = "GET"))]
    pub method: String,
    /// Its path.
    #[cfg_attr(feature = "utoipa", schema(example = "/pets/{petId}"))]
    pub path: String,
    /// Its place in the description: a JSON pointer.
    #[cfg_attr(feature = "utoipa", schema(example = "/paths/~1pets~1{petId}/get"))]
    pub pointer: String,
    /// Its id, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "getPet"))]
    pub operation_id: Option<String>,
    /// Its tags.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["pets"]), max_items = 1000))]
    pub tags: Vec<String>,
    /// Its summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "Get a pet"))]
    pub summary: Option<String>,
    /// Whether the API's authors say that it should no longer be used.
    pub deprecated: bool,
    /// The name of its tool: the operation's id, or made from method and path, behind the prefix of the import.
    #[cfg_attr(feature = "utoipa", schema(example = "getPet", max_length = 64))]
    pub tool: String,
    /// What storing the tool would do.
    pub outcome: ImportOutcome,
    /// Why it cannot become a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "nothing here writes a body of type multipart/mixed")
    )]
    pub reason: Option<String>,
    /// In what the tool differs from the description, or what is left to you.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub notes: Vec<String>,
    /// Ways to be let in by the API: any of them, with everything in it. Empty: without credentials.
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub security: Vec<Vec<ImportSecurity>>,
    /// The definition, when it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>))]
    pub definition: Option<Value>,
    /// The difference from the project's tool of that name, when there is one and definitions were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// What changed since the last import, and what was edited here; for `changed` and `gone` operations of a stored import. What is
    /// gone is one change of the whole definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<OperationChange>,
}

/// What becomes of an operation's tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ImportOutcome {
    /// The project has no tool of that name; an import makes it, disabled.
    New,
    /// The project's tool of that name is another. In an import: the description says something else than the last time; the
    /// change waits in the quarantine, and the tool stays as it is.
    Changed,
    /// The project has this very tool. In an import: the description says what it said, or what the tool says already.
    Unchanged,
    /// The operation cannot become a tool; `reason` says why. A tool that it became earlier stays.
    Refused,
    /// A tool of that name is there that does not belong to the import, so the operation is left out.
    Taken,
    /// The tool that was there is taken into the import as it is; how it differs from the description counts as edited here.
    Adopted,
    /// The description has the operation no more; its tool stays.
    Gone,
    /// Its tool was deleted here, and stays so.
    Deleted,
}

/// One thing that an API asks its callers to present.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ImportSecurity {
    /// Its name in the description.
    #[cfg_attr(feature = "utoipa", schema(example = "apiKey"))]
    pub scheme: String,
    /// What it is.
    #[cfg_attr(feature = "utoipa", schema(example = "an API key in the header X-Key"))]
    pub what: String,
    /// The scopes it must have.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["pets:read"]), max_items = 1000))]
    pub scopes: Vec<String>,
    /// Whether tools can present it.
    pub supported: bool,
}

/// Where tools would send requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ImportHost {
    /// Scheme, host and port.
    #[cfg_attr(feature = "utoipa", schema(example = "https://petstore.example.com"))]
    pub origin: String,
    /// Whether calls may go there.
    pub allowed: bool,
    /// Why they may not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A description whose operations are tools of the project. Its tools work without it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Import {
    /// Its id in the project.
    #[cfg_attr(feature = "utoipa", schema(example = "petstore", max_length = 63))]
    pub id: String,
    /// The API's name.
    #[cfg_attr(feature = "utoipa", schema(example = "Petstore"))]
    pub title: String,
    /// The API's version, as it was imported last.
    #[cfg_attr(feature = "utoipa", schema(example = "1.0.0"))]
    pub version: String,
    /// How the description is written.
    pub format: DescriptionFormat,
    /// Where it came from, and the options it was imported with.
    pub source: ImportSource,
    /// Where its tools send requests.
    #[cfg_attr(feature = "utoipa", schema(max_items = 5000))]
    pub hosts: Vec<ImportHost>,
    /// How many of its operations are in which state.
    pub counts: ImportCounts,
    /// Grows with every change of the import; 0 in the answer to a dry run of a new one.
    #[cfg_attr(feature = "utoipa", schema(example = 7, minimum = 0))]
    pub revision: i64,
    /// When it was imported first.
    pub created_at: DateTime<Utc>,
    /// Who did.
    #[cfg_attr(feature = "utoipa", schema(example = "admin"))]
    pub created_by: String,
    /// When it was imported last.
    pub imported_at: DateTime<Utc>,
    /// Who did.
    #[cfg_attr(feature = "utoipa", schema(example = "admin"))]
    pub imported_by: String,
}

/// Where a description came from, and how it is read. Importing again without a word about it uses this again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ImportSource {
    /// The address that it was fetched from; absent when it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "https://petstore.example.com/openapi.json", max_length = 2000)
    )]
    pub url: Option<String>,
    /// The MCP server whose tools they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_length = 63))]
    pub mcp_server: Option<String>,
    /// The tool service that announced them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_length = 128))]
    pub tool_service: Option<String>,
    /// The worker that announced them, by its target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_length = 128))]
    pub worker: Option<String>,
    /// Operations with any of these tags become tools; empty: whatever their tags.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["pets"]), max_items = 1000))]
    pub tags: Vec<String>,
    /// Operations with any of these paths.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["/pets/**"]), max_items = 1000))]
    pub paths: Vec<String>,
    /// Operations with any of these methods.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["GET"]), max_items = 1000))]
    pub methods: Vec<String>,
    /// These operations, by their id or the name of their tool.
    #[cfg_attr(feature = "utoipa", schema(max_items = 5000))]
    pub operations: Vec<String>,
    /// Where the description came from, for servers without a host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document_url: Option<String>,
    /// The API's address, instead of the servers of the description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Values of variables in the addresses of servers.
    #[cfg_attr(feature = "utoipa", schema(example = json!({"region": "eu"})))]
    pub variables: BTreeMap<String, String>,
    /// Security scheme to the name of an environment variable or `secret:NAME`; never a value.
    #[cfg_attr(feature = "utoipa", schema(example = json!({"apiKey": "secret:PETSTORE_KEY"})))]
    pub credentials: BTreeMap<String, String>,
    /// What the names of new tools begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "petstore_", max_length = 32))]
    pub prefix: Option<String>,
}

/// How many operations of an import are in which state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ImportCounts {
    /// All of them.
    #[cfg_attr(feature = "utoipa", schema(example = 12, minimum = 0))]
    pub operations: u32,
    /// Those with a change that waits in the quarantine.
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 0))]
    pub waiting: u32,
    /// Those that the description has no more.
    #[cfg_attr(feature = "utoipa", schema(example = 0, minimum = 0))]
    pub gone: u32,
}

/// A page of imports, by id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ImportPage {
    /// The imports.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<Import>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What an import did, or would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ImportReport {
    /// True when nothing was stored because only a verdict was asked for.
    pub dry_run: bool,
    /// The import afterwards.
    pub import: Import,
    /// How many operations the description has, chosen or not.
    #[cfg_attr(feature = "utoipa", schema(example = 12, minimum = 0, maximum = 5000))]
    pub total: usize,
    /// The chosen operations and those imported earlier, in the order of the description; then those that are gone.
    #[cfg_attr(feature = "utoipa", schema(max_items = 10000))]
    pub operations: Vec<ImportedOperation>,
    /// What of the description is no operation and cannot be read.
    #[cfg_attr(feature = "utoipa", schema(max_items = 5000))]
    pub problems: Vec<Diagnostic>,
    /// What of the text was read although it is against the rules, and credentials that are named and are not there.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub warnings: Vec<Diagnostic>,
    /// A prefix for the names of the tools with which none of them is taken; present when some of them are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "petstore_", max_length = 32))]
    pub suggested_prefix: Option<String>,
    /// How the project's policy tests would come out; in the answer to a dry run of a project that has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_tests: Option<UploadPolicyTests>,
}

/// An operation of a stored import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ImportOperation {
    /// Its method.
    #[cfg_attr(feature = "utoipa", schema(example = "GET"))]
    pub method: String,
    /// Its path.
    #[cfg_attr(feature = "utoipa", schema(example = "/pets/{petId}"))]
    pub path: String,
    /// The name of its tool.
    #[cfg_attr(feature = "utoipa", schema(example = "getPet", max_length = 128))]
    pub tool: String,
    /// Whether its tool may be called; absent when the tool was deleted here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// What of the definition was edited here: JSON pointers.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["/description"]), max_items = 1000))]
    pub edited: Vec<String>,
    /// Since when a change waits in the quarantine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_since: Option<DateTime<Utc>>,
    /// Since when the description has it no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone_since: Option<DateTime<Utc>>,
}

/// A page of operations, by the names of their tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ImportOperationPage {
    /// The operations.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<ImportOperation>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
