//! Secrets of a project: set and used, never shown.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize};

/// A new value of a secret.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SetSecret {
    /// The value, 8 characters to 64 KiB. It is encrypted and never shown again.
    #[serde(deserialize_with = "text")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "correct horse battery staple", format = Password, min_length = 8, max_length = 65_536)
    )]
    pub value: String,
}

/// Reads a text. The message for anything else does not repeat it, as that of the derive would.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::String(text) => Ok(text),
        _ => Err(serde::de::Error::custom("the value of a secret is a text")),
    }
}

impl std::fmt::Debug for SetSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SetSecret").finish_non_exhaustive()
    }
}

/// A secret, without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Secret {
    /// Its name; definitions refer to it as `secret:<name>`.
    #[cfg_attr(feature = "utoipa", schema(example = "SEARCH_API_KEY", max_length = 128))]
    pub name: String,
    /// Counts the values it had, from 1.
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 1))]
    pub revision: i64,
    /// When this value was set.
    pub set_at: DateTime<Utc>,
    /// Who set it.
    pub set_by: String,
    /// When a call last used it; up to half a minute late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<DateTime<Utc>>,
    /// Whether the server can read it: its key is configured. What uses an unreadable secret fails.
    pub readable: bool,
    /// What refers to it.
    pub used_by: SecretUses,
}

/// What refers to a secret.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SecretUses {
    /// Names of tools, sorted; at most 1000 of them.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["web-search"]), max_items = 1000))]
    pub tools: Vec<String>,
    /// Ids of tool services, sorted; at most 1000 of them.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub services: Vec<String>,
    /// Names of MCP servers, sorted; at most 1000 of them.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub mcp_servers: Vec<String>,
    /// Names of account providers, sorted; at most 100 of them.
    #[serde(default)]
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub account_providers: Vec<String>,
    /// Whether it signs the alerts of the project's webhook.
    pub webhook: bool,
}

impl SecretUses {
    /// Whether nothing refers to it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
            && self.services.is_empty()
            && self.mcp_servers.is_empty()
            && self.account_providers.is_empty()
            && !self.webhook
    }
}

/// A page of secrets, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SecretPage {
    /// The secrets.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<Secret>,
    /// Pass it as `cursor` for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
