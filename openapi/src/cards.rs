//! Cards of calls and results, as commands and reports of the UTP tool protocol point at them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

/// A card of the bucket `cards_{project_id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Its id: 1-255 letters, digits, `-`, `_`, `=` and single dots within it.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11.result",
            min_length = 1,
            max_length = 255
        )
    )]
    pub card_id: String,
    /// The project.
    #[cfg_attr(feature = "utoipa", schema(example = "demo"))]
    pub project_id: String,
    /// `tool.result`, or `tool.call` of a command that is sent to the project's entrance.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "utoipa", schema(example = "tool.result"))]
    pub kind: String,
    /// `ToolResultContent`: `status`, `after_execution`, `result` and `error`, and nothing else; or `ToolCallContent`:
    /// `tool_name`, `arguments`, `status` and `target_subject`.
    #[cfg_attr(feature = "utoipa", schema(value_type = Object, example = json!(
        {"status": "success", "after_execution": "suspend", "result": {"found": 3}, "error": null})))]
    pub content: Map<String, Value>,
    /// Who wrote it: `tool.{target}` for a result.
    #[cfg_attr(feature = "utoipa", schema(example = "tool.search"))]
    pub author_id: String,
    /// The call that it belongs to.
    #[cfg_attr(feature = "utoipa", schema(example = "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11"))]
    pub tool_call_id: String,
    /// `tool_call_id`, `function_name`, and the lineage that is copied from the card of the call.
    #[serde(default)]
    #[cfg_attr(feature = "utoipa", schema(value_type = Object, example = json!(
        {"tool_call_id": "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11", "function_name": "search-papers", "role": "tool"})))]
    pub metadata: Map<String, Value>,
    /// When it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<DateTime<Utc>>,
    /// How long it is kept; Toolgate sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(minimum = 0))]
    pub ttl_seconds: Option<u64>,
}

/// A card that was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct StoredCard {
    /// Its id.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11.result")
    )]
    pub card_id: String,
    /// The bytes of its JSON text.
    #[cfg_attr(feature = "utoipa", schema(example = 2_500_000, minimum = 0))]
    pub bytes: u64,
    /// When it is deleted.
    pub expires_at: DateTime<Utc>,
    /// The artifact that has it, because it is larger than a message of the bus. The card in the bucket names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<Uuid>,
    /// SHA-256 of the card as the bucket has it: `card_sha256` of the token for a command that names a `tool.call`.
    #[cfg_attr(
        feature = "utoipa",
        schema(pattern = "^[0-9a-f]{64}$", min_length = 64, max_length = 64)
    )]
    pub sha256: String,
}
