//! Guides: how tools are used, for agents and for people.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::tools::UploadOutcome;

/// What a guide says, and what about. It is about the tools of a group or of an import; without either, about the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GuideDefinition {
    /// One line that says what the guide is good for: agents choose by it.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "How to search, and when to read a page instead",
            min_length = 1,
            max_length = 200
        )
    )]
    pub summary: String,
    /// The group whose tools it is about. It is shown to callers that may use the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge", max_length = 128))]
    pub group: Option<String>,
    /// The import whose tools it is about. It is shown to callers that may use one of these tools. Not beside `group`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_length = 128))]
    pub source: Option<String>,
    /// The guide itself, in Markdown; at most 64 KiB.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "# Searching\n\nCall `web-search` first.",
            min_length = 1,
            max_length = 65_536
        )
    )]
    pub text: String,
}

/// A guide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Guide {
    /// Its id.
    #[cfg_attr(feature = "utoipa", schema(example = "searching", max_length = 64))]
    pub id: String,
    /// One line that says what the guide is good for.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "How to search, and when to read a page instead")
    )]
    pub summary: String,
    /// The group whose tools it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge"))]
    pub group: Option<String>,
    /// The import whose tools it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The guide itself, in Markdown; absent in a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "# Searching\n\nCall `web-search` first.")
    )]
    pub text: Option<String>,
    /// Grows with every change.
    #[cfg_attr(feature = "utoipa", schema(example = 7, minimum = 1))]
    pub revision: i64,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
    /// Who changed it last; only shown to those who may read definitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_by: Option<String>,
}

/// A page of guides, by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct GuidePage {
    /// The guides, without their texts.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<Guide>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What an upload did with one guide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct GuideItem {
    /// Its id.
    #[cfg_attr(feature = "utoipa", schema(example = "searching"))]
    pub id: String,
    /// What was done.
    pub outcome: UploadOutcome,
}

/// What an upload of guides did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct GuideUpload {
    /// The guides of the upload, by id.
    #[cfg_attr(feature = "utoipa", schema(max_items = 500))]
    pub items: Vec<GuideItem>,
}

/// A program that connected by MCP, as it names itself, and the principal that it came as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct McpClient {
    /// The name that it gives itself.
    #[cfg_attr(feature = "utoipa", schema(example = "claude-code"))]
    pub name: String,
    /// The version that it gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "2.1.0"))]
    pub version: Option<String>,
    /// The principal: its kind and id.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "service_key:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")
    )]
    pub principal: String,
    /// The name of the principal, while it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "Research agent"))]
    pub principal_name: Option<String>,
    /// The groups that the principal holds now; absent when it holds no grant (any more).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["knowledge"]), max_items = 1000))]
    pub groups: Option<Vec<String>>,
    /// When it connected first.
    pub first_at: DateTime<Utc>,
    /// When it was used last; up to half a minute late.
    pub last_at: DateTime<Utc>,
}

/// The programs that connected by MCP, those used last first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct McpClientList {
    /// The clients, at most 200.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<McpClient>,
}
