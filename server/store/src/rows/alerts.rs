//! Rows of alerts.

use chrono::{DateTime, Utc};
use toolgate_api::alerts::{Alert, AlertRule};
use toolgate_core::ids::ProjectUid;
use uuid::Uuid;

/// The id for the server itself, where an alert belongs to no project.
pub const NO_PROJECT: ProjectUid = ProjectUid(Uuid::nil());

/// An alert to store, unless the same pattern of the same subject was stored in this window before.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAlert {
    /// The project, or [`NO_PROJECT`].
    pub project: ProjectUid,
    /// The alert. It is sent when `delivery` is `Pending`.
    pub alert: Alert,
    /// What further distinguishes alerts of one subject: a group, or `""`.
    pub object: String,
    /// When the window began that it falls into.
    pub window_start: DateTime<Utc>,
}

/// An alert whose message is to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct DueAlert {
    /// The project.
    pub project: ProjectUid,
    /// The alert.
    pub alert: Alert,
    /// When it was to be sent; a server that claims it must name this.
    pub due_at: DateTime<Utc>,
}

/// Which alerts to read. Everything given must match.
#[derive(Debug, Clone, Default)]
pub struct AlertFilter {
    /// The pattern.
    pub rule: Option<AlertRule>,
    /// Whether it was acknowledged.
    pub acknowledged: Option<bool>,
    /// Raised at or after this time.
    pub since: Option<DateTime<Utc>>,
    /// Raised before this time.
    pub until: Option<DateTime<Utc>>,
    /// A text in the message or the name of the subject, in any case.
    pub text: Option<String>,
}
