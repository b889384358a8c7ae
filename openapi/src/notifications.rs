//! What waits for a user: alerts, changes to approve, requests, and keys that expire.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// What a notification is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum NotificationKind {
    /// An alert that is not acknowledged.
    Alert,
    /// A change of an imported description that waits in the quarantine.
    Quarantine,
    /// A request for access that waits for a decision.
    AccessRequest,
    /// An own request that was decided.
    AccessDecision,
    /// A key that expires soon.
    KeyExpiry,
}

/// One notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Notification {
    /// Its id; the same as long as it is about the same.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "alert:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11", max_length = 300)
    )]
    pub id: String,
    /// What it is about.
    pub kind: NotificationKind,
    /// The project that it is in; absent in the list of one project, and for an alert of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "demo", max_length = 64))]
    pub project_id: Option<String>,
    /// Since when.
    pub at: DateTime<Utc>,
    /// In one sentence.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "The key research agent expires in 3 days.")
    )]
    pub text: String,
    /// The id or name of what it is about: of the alert, the tool, the request or the key.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11", max_length = 300)
    )]
    pub subject: String,
    /// Whether the user has read it.
    pub read: bool,
}

/// The notifications of a user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Notifications {
    /// Newest first, at most 100.
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub items: Vec<Notification>,
    /// How many of them are not read.
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 0))]
    pub unread: u64,
}

/// Which notifications were read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReadNotifications {
    /// Their ids.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = json!(["alert:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11"]), min_items = 1, max_items = 100)
    )]
    pub ids: Vec<String>,
}
