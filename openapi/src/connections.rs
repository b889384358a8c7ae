//! Connections: MCP clients that users have let in, without a key.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A client that a user has let in. It calls tools of one project for the user, and manages nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Connection {
    /// The connection's id.
    pub id: Uuid,
    /// The client's own id: an address with its metadata, or what it got when it registered.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "https://client.example.com/oauth/metadata.json")
    )]
    pub client_id: String,
    /// What the client called itself when it was let in. Only the host of an address as `client_id` is verified.
    #[cfg_attr(feature = "utoipa", schema(example = "Claude Code"))]
    pub client_name: String,
    /// Where the client was answered.
    #[cfg_attr(feature = "utoipa", schema(example = "127.0.0.1"))]
    pub redirect_host: String,
    /// The user who let it in.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "user:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")
    )]
    pub principal: String,
    /// The user's name.
    #[cfg_attr(feature = "utoipa", schema(example = "ada"))]
    pub username: String,
    /// The only groups that it may ask for; `[]`: none. Absent: those that the user holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["default"]), max_items = 1000))]
    pub groups: Option<Vec<String>>,
    /// The groups that it may ask for now: those of `groups` that the user holds.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["default"]), max_items = 1000))]
    pub granted_groups: Vec<String>,
    /// When the user let it in.
    pub created_at: DateTime<Utc>,
    /// When it got its last token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refreshed_at: Option<DateTime<Utc>>,
    /// When it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
}

/// A page of connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ConnectionPage {
    /// The connections, newest first.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<Connection>,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// How to limit a connection.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitConnection {
    /// The only groups that it may ask for; `[]`: none. Left out: those that the user holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["default"]), max_items = 1000))]
    pub groups: Option<Vec<String>>,
}

/// What a client asks a user for, or where the user is sent at once because it asks in a wrong way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Consent {
    /// What is asked for; absent with `redirect_to`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<ConsentOffer>,
    /// The client's address with the error (RFC 6749, section 4.1.2.1); absent with `offer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_to: Option<String>,
}

/// What a client asks a user for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ConsentOffer {
    /// The client's own id.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "https://client.example.com/oauth/metadata.json")
    )]
    pub client_id: String,
    /// What the client calls itself.
    #[cfg_attr(feature = "utoipa", schema(example = "Claude Code"))]
    pub client_name: String,
    /// The host that the client's metadata came from; absent when the client registered itself and nothing is verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "client.example.com"))]
    pub client_host: Option<String>,
    /// Where the answer is sent to: a host, or the scheme of a program's own.
    #[cfg_attr(feature = "utoipa", schema(example = "127.0.0.1"))]
    pub redirect_host: String,
    /// Whether the answer goes to a program on the user's own machine.
    pub redirect_is_local: bool,
    /// The project that the client is let into.
    #[cfg_attr(feature = "utoipa", schema(example = "demo"))]
    pub project_id: String,
    /// The project's name.
    #[cfg_attr(feature = "utoipa", schema(example = "Demonstration"))]
    pub project_name: String,
    /// The groups that the user may give: those that it holds, and the groups of the project within them.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["default", "knowledge"])))]
    pub groups: Vec<String>,
}

/// What a user decides about a client.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ConsentDecision {
    /// The query that the client sent the user with.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "response_type=code&client_id=tgc_4x8bVh2PqLw0sZt6yKc9Rd&code_challenge=...",
            max_length = 8192
        )
    )]
    pub request: String,
    /// Whether the client is let in.
    pub allow: bool,
    /// The only groups that it may ask for; `[]`: none. Left out: those that the user holds, now and later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["default"]), max_items = 1000))]
    pub groups: Option<Vec<String>>,
    /// Seconds until it ends by itself (at most ten years); until it is revoked when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = 2_592_000, minimum = 1, maximum = 315_360_000)
    )]
    pub expires_in_s: Option<u32>,
}

/// Where the user goes after a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ConsentGiven {
    /// The client's address with a code or an error.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "http://127.0.0.1:51763/callback?code=...&state=...&iss=...")
    )]
    pub redirect_to: String,
}
