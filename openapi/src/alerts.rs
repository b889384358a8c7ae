//! Alerts: suspicious patterns, noticed while requests are decided.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// Which pattern was noticed. The thresholds are in the project's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AlertRule {
    /// One principal asked again and again for groups that it was not granted.
    EscalationAttempts,
    /// A key asked, and was allowed, for a group that it never used before.
    FirstGroupUse,
    /// One principal called again and again tools that are closed in the state.
    InvalidTransitions,
    /// A principal made many calls soon after it was granted `*`.
    CallsAfterWideGrant,
    /// One key was used from many addresses.
    KeyAddresses,
    /// Many credentials from one address were refused: keys of the project, or, in the alerts of the server, sign-ins and
    /// credentials of every kind.
    RefusedCredentials,
    /// An upstream failed several times in a row: calls of its tools, or the probe of a tool.
    UpstreamFailures,
}

impl AlertRule {
    /// Every rule.
    pub const ALL: [Self; 7] = [
        Self::EscalationAttempts,
        Self::FirstGroupUse,
        Self::InvalidTransitions,
        Self::CallsAfterWideGrant,
        Self::KeyAddresses,
        Self::RefusedCredentials,
        Self::UpstreamFailures,
    ];

    /// The rule as it travels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EscalationAttempts => "escalation_attempts",
            Self::FirstGroupUse => "first_group_use",
            Self::InvalidTransitions => "invalid_transitions",
            Self::CallsAfterWideGrant => "calls_after_wide_grant",
            Self::KeyAddresses => "key_addresses",
            Self::RefusedCredentials => "refused_credentials",
            Self::UpstreamFailures => "upstream_failures",
        }
    }
}

/// How far the message about an alert has come on its way to the project's webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AlertDelivery {
    /// The project had no webhook when the alert was raised.
    None,
    /// To be sent, or to be sent again.
    Pending,
    /// The receiver answered with a 2xx status.
    Delivered,
    /// Not delivered: the last attempt failed.
    Failed,
}

/// One alert. The same pattern of the same subject is reported once in a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Alert {
    /// The alert's id; also the id of its webhook message.
    pub id: Uuid,
    /// When the pattern was noticed.
    pub at: DateTime<Utc>,
    /// Which pattern.
    pub rule: AlertRule,
    /// Who: a principal (`service_key:<id>`, `user:<id>`, `external:<issuer>|<subject>`), `address:<address>`,
    /// `upstream:<host>`, or `probe:<tool>`.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "service_key:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11",
            max_length = 1100
        )
    )]
    pub subject: String,
    /// The subject's name when it was noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "research agent"))]
    pub subject_name: Option<String>,
    /// What was noticed, in one sentence.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "research agent asked 5 times within 300 s for groups that it was not granted.")
    )]
    pub message: String,
    /// The facts behind the sentence: an object with what the rule counted (`count`, and `window_s` where it counts in a window) and, where they matter,
    /// `groups`, `addresses` and the `request_id` that completed the pattern.
    #[cfg_attr(
        feature = "utoipa",
        schema(value_type = Object, example = json!({"count": 5, "window_s": 300, "groups": ["admin"]}))
    )]
    pub details: Value,
    /// When it was acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_at: Option<DateTime<Utc>>,
    /// Who said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_by: Option<String>,
    /// What became of the message to the webhook.
    pub delivery: AlertDelivery,
    /// How often sending it was begun.
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, example = 1))]
    pub attempts: i64,
    /// When it was delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<DateTime<Utc>>,
    /// Why the last attempt failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "the receiver answered 500"))]
    pub last_error: Option<String>,
}

/// A page of alerts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AlertPage {
    /// Newest first.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<Alert>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
