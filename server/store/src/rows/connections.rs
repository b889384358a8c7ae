//! Connections: what users have let clients do, and the clients, codes and tokens behind it.

use chrono::{DateTime, Utc};
use toolgate_core::ids::{ConnectionId, ProjectUid, UserId};

/// A client that registered itself (RFC 7591).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OauthClientRow {
    /// Its `client_id`.
    pub id: String,
    /// What it calls itself.
    pub name: String,
    /// Where it may be answered.
    pub redirect_uris: Vec<String>,
    /// When it registered.
    pub created_at: DateTime<Utc>,
}

/// What a user has let a client do in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionRow {
    /// The id.
    pub id: ConnectionId,
    /// The only project it is good for.
    pub project: ProjectUid,
    /// Who let the client in.
    pub user: UserId,
    /// The client.
    pub client_id: String,
    /// What the client called itself then.
    pub client_name: String,
    /// Where the client was answered.
    pub redirect_uri: String,
    /// The address that its tokens are for (RFC 8707).
    pub resource: String,
    /// The only groups it may ask for; `None`: those that the user holds.
    pub groups: Option<Vec<String>>,
    /// The user's token generation then: a new password ends the connection.
    pub token_generation: i64,
    /// When the user let the client in.
    pub created_at: DateTime<Utc>,
    /// When it ends by itself.
    pub expires_at: Option<DateTime<Utc>>,
    /// When the client got its first token; `None` while it has none.
    pub connected_at: Option<DateTime<Utc>>,
    /// When the client got its last token.
    pub refreshed_at: Option<DateTime<Utc>>,
    /// The version of the directory that changed it last.
    pub revision: i64,
}

/// An authorization code, which is itself not stored.
#[derive(Clone, PartialEq, Eq)]
pub struct CodeRow {
    /// SHA-256 of the code.
    pub digest: [u8; 32],
    /// The connection that it begins.
    pub connection: ConnectionId,
    /// `code_challenge`, of the method `S256` (RFC 7636).
    pub challenge: String,
    /// When it ends.
    pub expires_at: DateTime<Utc>,
    /// When it was exchanged.
    pub used_at: Option<DateTime<Utc>>,
}

/// A refresh token, which is itself not stored.
#[derive(Clone, PartialEq, Eq)]
pub struct RefreshTokenRow {
    /// SHA-256 of the token.
    pub digest: [u8; 32],
    /// The connection it belongs to.
    pub connection: ConnectionId,
    /// When it ends.
    pub expires_at: DateTime<Utc>,
    /// When it was used first.
    pub used_at: Option<DateTime<Utc>>,
}

/// How the exchange of a code went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeUse {
    /// It was used now, for the first time.
    Used,
    /// It was used before, or is gone.
    UsedBefore,
}

/// How a refresh went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refresh {
    /// The new token is stored.
    Rotated,
    /// The token was used longer ago than the grace period.
    Reused,
    /// The connection has as many living tokens as it may have.
    TooMany,
    /// There is no such token.
    Unknown,
}
