//! What a project sets for itself.

use serde::{Deserialize, Serialize};

/// The settings of a project. Whatever is left out has its default; replacing them replaces all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "browser", derive(crate::json::Json))]
#[serde(deny_unknown_fields, default)]
pub struct ProjectSettings {
    /// Where agent requests are forwarded to; reached through the egress rules. Without it an agent request answers with
    /// the tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "https://agent.example.com/run", max_length = 2048)
    )]
    pub agent_endpoint: Option<String>,
    /// Where alerts are sent to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<WebhookSettings>,
    /// When to raise an alert.
    pub alerts: AlertThresholds,
}

/// Where alerts are sent to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "browser", derive(crate::json::Json))]
#[serde(deny_unknown_fields)]
pub struct WebhookSettings {
    /// The address; reached through the egress rules.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "https://hooks.example.com/toolgate", max_length = 2048)
    )]
    pub url: String,
    /// The name of the project's secret that signs the messages (HMAC-SHA-256, Standard Webhooks).
    #[cfg_attr(feature = "utoipa", schema(example = "WEBHOOK_KEY", max_length = 128))]
    pub secret: String,
}

/// When a pattern is suspicious. `0` switches a rule off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "browser", derive(crate::json::Json))]
#[serde(deny_unknown_fields, default)]
pub struct AlertThresholds {
    /// Seconds over which the rules count.
    #[cfg_attr(feature = "utoipa", schema(minimum = 10, maximum = 86_400))]
    pub window_s: u32,
    /// Requests for groups that were not granted, by one principal.
    pub escalation_attempts: u32,
    /// Calls of tools that are closed in the state, by one principal.
    pub invalid_transitions: u32,
    /// Different client addresses of one key.
    pub key_addresses: u32,
    /// Whether the first use of a group by a key is reported (`1`), once the key is older than the window.
    pub first_group_use: u32,
    /// Calls by a principal within the window after it was granted `*`.
    pub calls_after_wide_grant: u32,
    /// Refused keys of the project (wrong, expired or revoked) from one address.
    pub refused_credentials: u32,
}

impl Default for AlertThresholds {
    fn default() -> Self {
        Self {
            window_s: 300,
            escalation_attempts: 5,
            invalid_transitions: 20,
            key_addresses: 5,
            first_group_use: 1,
            calls_after_wide_grant: 50,
            refused_credentials: 20,
        }
    }
}
