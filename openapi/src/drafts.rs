//! Beginning a tool: a definition from what was pasted, and a test of it before it is stored.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::calls::{CallContext, CallResponse};
use crate::problem::Diagnostic;

/// What was pasted.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DraftText {
    /// A URL, a `curl` command or the address of an API description; at most 64 KiB. Nothing in it is executed or expanded.
    #[serde(deserialize_with = "text")]
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "curl https://api.example.com/v1/users/42 -H 'Authorization: Bearer s3cr3t-t0k3n'",
            max_length = 65_536
        )
    )]
    pub text: String,
}

/// Reads a text. The message for anything else does not repeat it: there may be a credential in it.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(text),
        _ => Err(serde::de::Error::custom("what was pasted is a text")),
    }
}

impl std::fmt::Debug for DraftText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DraftText").finish_non_exhaustive()
    }
}

/// What a pasted text describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DraftKind {
    /// One request, which is a tool.
    Tool,
    /// An API, whose description can be imported from `url`.
    ApiDescription,
}

/// A definition to begin with. It is not stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DraftedDefinition {
    /// What the text describes.
    pub kind: DraftKind,
    /// The address of the description (`api_description` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "https://api.example.com/openapi.json", max_length = 65_536)
    )]
    pub url: Option<String>,
    /// The definition as canonical YAML, which can be tested and uploaded (`tool` only).
    pub yaml: String,
    /// The pasted values as arguments of a first call.
    #[cfg_attr(feature = "utoipa", schema(value_type = Object))]
    pub arguments: Map<String, Value>,
    /// The credentials of the text. Their values are in no answer.
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub credentials: Vec<DraftedCredential>,
    /// What was left out or read otherwise than it was written, and what should be corrected.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub diagnostics: Vec<Diagnostic>,
}

/// A credential of a pasted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DraftedCredential {
    /// The name of the secret that the definition refers to.
    #[cfg_attr(feature = "utoipa", schema(example = "EXAMPLE_TOKEN", max_length = 128))]
    pub secret: String,
    /// Where it is sent.
    #[cfg_attr(feature = "utoipa", schema(example = "the header Authorization (Bearer)"))]
    pub place: String,
    /// Whether its value is stored as the secret now.
    pub stored: bool,
    /// Why it is not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A test of a definition that need not be stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct TestDefinition {
    /// One tool as YAML.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "name: greet\ntype: static\ndescription: Greets.\noptions: {static: {result: {text: hello}}}\n",
            max_length = 1_048_576
        )
    )]
    pub yaml: String,
    /// The arguments of the call.
    #[serde(default)]
    #[cfg_attr(feature = "utoipa", schema(value_type = Object))]
    pub arguments: Map<String, Value>,
    /// The workflow state; one that the tool is open in when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_length = 128))]
    pub state: Option<String>,
    /// A session to test in. A success moves its state, as that of any call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
    /// Ids and attributes that conditions and templates use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<CallContext>,
}

/// How a test ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DefinitionTested {
    /// The answer, as a call has it.
    pub call: CallResponse,
    /// The request that was sent, with credentials masked; absent for tools that send none of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<SentRequest>,
    /// What was answered to it, before the definition's `result` shaped it; absent if no answer came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<ReceivedAnswer>,
}

/// A request that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SentRequest {
    /// The method.
    #[cfg_attr(feature = "utoipa", schema(example = "GET"))]
    pub method: String,
    /// The address.
    #[cfg_attr(feature = "utoipa", schema(example = "https://api.example.com/v1/users/42"))]
    pub url: String,
    /// The headers.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub headers: Vec<ShownHeader>,
    /// The content, at most 32 KiB of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// An answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ReceivedAnswer {
    /// The status.
    #[cfg_attr(feature = "utoipa", schema(example = 200, minimum = 100, maximum = 999))]
    pub status: u16,
    /// The headers.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub headers: Vec<ShownHeader>,
    /// The content, at most 32 KiB of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// A header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ShownHeader {
    /// Its name, in lower case.
    #[cfg_attr(feature = "utoipa", schema(example = "accept"))]
    pub name: String,
    /// Its value.
    #[cfg_attr(feature = "utoipa", schema(example = "application/json"))]
    pub value: String,
}
