//! Importing descriptions of APIs: what their operations would become.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::problem::Diagnostic;

/// What a description would become.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "browser", derive(crate::json::Json))]
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
}

/// How a description is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "browser", derive(crate::json::Json))]
#[serde(rename_all = "snake_case")]
pub enum DescriptionFormat {
    /// Swagger 2.0.
    Swagger2,
    /// OpenAPI 3.0.
    Openapi30,
    /// OpenAPI 3.1 or 3.2.
    Openapi31,
}

/// One operation, and the tool that it would become.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "browser", derive(crate::json::Json))]
pub struct ImportedOperation {
    /// Its method.
    #[cfg_attr(feature = "utoipa", schema(example = "GET"))]
    pub method: String,
    /// Its path.
    #[cfg_attr(feature = "utoipa", schema(example = "/pets/{petId}"))]
    pub path: String,
    /// Where it stands in the description: a JSON pointer.
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
    /// The name of its tool: the operation's id, or made from method and path.
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
}

/// What storing the tool of an operation would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "browser", derive(crate::json::Json))]
#[serde(rename_all = "snake_case")]
pub enum ImportOutcome {
    /// The project has no tool of that name.
    New,
    /// The project's tool of that name is another.
    Changed,
    /// The project has this very tool.
    Unchanged,
    /// The operation cannot become a tool; `reason` says why.
    Refused,
}

/// One thing that an API asks its callers to present.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "browser", derive(crate::json::Json))]
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
#[cfg_attr(feature = "browser", derive(crate::json::Json))]
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
