//! Rows of messages to the webhooks of projects.

use chrono::{DateTime, Utc};
use toolgate_api::notifications::Notification;
use toolgate_core::ids::ProjectUid;

/// A message about what waits in a project, which is to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct DueNotice {
    /// The project.
    pub project: ProjectUid,
    /// What waits.
    pub notice: Notification,
    /// How often sending it was begun.
    pub attempts: i64,
    /// When it was to be sent; a server that claims it must name this.
    pub due_at: DateTime<Utc>,
}

/// How the messages to a project's webhook have come out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageDeliveries {
    /// The project.
    pub project: ProjectUid,
    /// Messages that were taken.
    pub delivered: i64,
    /// Messages that were refused and will be tried again.
    pub retried: i64,
    /// Messages that were dropped after the last attempt.
    pub failed: i64,
}
