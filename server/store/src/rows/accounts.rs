//! Accounts of persons at other services, sealed, and persons who are on their way to connect one.

use chrono::{DateTime, Utc};
use toolgate_core::ids::{ProjectUid, UserId};
use uuid::Uuid;

use super::Resealed;

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountRow {
    /// The id.
    pub id: Uuid,
    /// The project.
    pub project: ProjectUid,
    /// The account provider's name.
    pub provider: String,
    /// Whose it is.
    pub user: UserId,
    /// What the service calls the account.
    pub label: Option<String>,
    /// Whether the service takes its credential no more.
    pub expired: bool,
    /// The credential.
    pub sealed: Resealed,
    /// Counts its credentials.
    pub version: i64,
    /// When it was connected.
    pub connected_at: DateTime<Utc>,
    /// When its credential was refreshed last.
    pub refreshed_at: Option<DateTime<Utc>>,
}

/// A person who is on the way to connect an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountFlowRow {
    /// SHA-256 of the `state`.
    pub digest: [u8; 32],
    /// The project.
    pub project: ProjectUid,
    /// The account provider's name.
    pub provider: String,
    /// Who.
    pub user: UserId,
    /// What the server needs to know when the person comes back.
    pub sealed: Resealed,
    /// When it is too late.
    pub expires_at: DateTime<Utc>,
}
