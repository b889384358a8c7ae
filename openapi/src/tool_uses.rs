//! What a tool has to do with: who reaches it, what mentions it, and how often it is called.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::auth::Role;

/// A principal whose grant reaches a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ToolPrincipal {
    /// `user:<id>`, `service_key:<id>` or `external:<issuer>|<subject>`.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "service_key:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")
    )]
    pub principal: String,
    /// The name for people.
    #[cfg_attr(feature = "utoipa", schema(example = "research agent"))]
    pub name: String,
    /// Its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The granted groups that let it in.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["knowledge"]), max_items = 1000))]
    pub via: Vec<String>,
    /// When the last of them ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
}

/// What a tool has to do with now. Lists end after 1000.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ToolUses {
    /// Who may ask for one of its groups; only for roles that see who holds what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub principals: Option<Vec<ToolPrincipal>>,
    /// The policy tests about it.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["agents-can-search"]), max_items = 1000))]
    pub policy_tests: Vec<String>,
    /// Active sessions in a state it is open in.
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 0))]
    pub open_sessions: u64,
    /// The tool service it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "search"))]
    pub service: Option<String>,
    /// The secrets it uses, itself or by its service.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["JINA_API_KEY"]), max_items = 1000))]
    pub secrets: Vec<String>,
    /// The tools that lead to a state it is open in.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["analyze"]), max_items = 1000))]
    pub reached_from: Vec<String>,
    /// Admitted calls of the last 24 hours.
    #[cfg_attr(feature = "utoipa", schema(example = 120, minimum = 0))]
    pub calls_24h: i64,
    /// Refused calls of the last 24 hours.
    #[cfg_attr(feature = "utoipa", schema(example = 3, minimum = 0))]
    pub denials_24h: i64,
    /// Those of `calls_24h` that failed.
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 0))]
    pub failures_24h: i64,
    /// When it was last asked for; absent when never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_at: Option<DateTime<Utc>>,
}
