//! Accounts of persons at other services: how they are connected, and which are.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::mcp_servers::McpClientStyle;

/// How a person's own credential is obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccountMethod {
    /// The person signs in at the service: OAuth 2.1 authorization code with PKCE.
    Oauth,
    /// The token of an external issuer that the caller presents is exchanged (RFC 8693). Nothing is connected or stored.
    TokenExchange,
    /// The person pastes a key.
    PersonalKey,
}

/// A service at which persons have accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AccountProviderDefinition {
    /// How the credential is obtained.
    pub method: AccountMethod,
    /// What people call the service; its name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "GitHub", max_length = 100))]
    pub title: Option<String>,
    /// What the account is for, and where a key is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "Reads your issues.", max_length = 1000))]
    pub description: Option<String>,
    /// The hosts that the credential may be sent to, each with its port unless that is the usual one.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["api.example.com"]), min_items = 1, max_items = 50))]
    pub hosts: Vec<String>,
    /// The header that the credential is sent in; `Authorization` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "X-Api-Key", max_length = 100))]
    pub header: Option<String>,
    /// What the header has before the credential and a space. Absent: `Bearer` in `Authorization`, nothing in another header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "Bearer", max_length = 50))]
    pub prefix: Option<String>,
    /// Where the person is sent to sign in (`oauth` only); absent: as the service's metadata says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "https://auth.example.com/authorize", max_length = 2000)
    )]
    pub authorization_url: Option<String>,
    /// Where tokens are given out; absent with `oauth`: as the service's metadata says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "https://auth.example.com/token", max_length = 2000)
    )]
    pub token_url: Option<String>,
    /// The issuer, whose metadata (RFC 8414) says where persons sign in, and which `iss` (RFC 9207) is expected (`oauth` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "https://auth.example.com", max_length = 2000)
    )]
    pub issuer: Option<String>,
    /// The address of the API or of the MCP server. It is named in requests for tokens (RFC 8707), and without `issuer` and addresses
    /// its metadata (RFC 9728) names the issuer (`oauth` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "https://mcp.example.com/mcp", max_length = 2000)
    )]
    pub resource: Option<String>,
    /// The id of our client as a text, `${NAME}` or `${secret:NAME}`. Absent with `oauth`: the service fetches the client's metadata
    /// from here, or the client registers itself (RFC 7591), as the service's metadata says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "toolgate", max_length = 1000))]
    pub client_id: Option<String>,
    /// Its secret as `${secret:NAME}`; absent for a public client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "${secret:CLIENT_SECRET}", max_length = 1000)
    )]
    pub client_secret: Option<String>,
    /// How the client presents its secret.
    #[serde(default)]
    pub auth_style: McpClientStyle,
    /// The scopes to ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["read:issues"]), max_items = 50))]
    pub scopes: Vec<String>,
    /// The audience of the token (`token_exchange` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "issues-api", max_length = 1000))]
    pub audience: Option<String>,
}

/// An account provider as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AccountProvider {
    /// Its name, by which tools and MCP servers refer to it.
    #[cfg_attr(feature = "utoipa", schema(example = "github", max_length = 63))]
    pub name: String,
    /// Grows with every change.
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 1))]
    pub revision: i64,
    /// When it was changed last.
    pub updated_at: DateTime<Utc>,
    /// Who changed it last.
    #[cfg_attr(feature = "utoipa", schema(example = "admin"))]
    pub updated_by: String,
    /// How accounts are connected.
    pub definition: AccountProviderDefinition,
}

/// All account providers of a project, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AccountProviderList {
    /// At most 100.
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub items: Vec<AccountProvider>,
}

/// Whether a connected account can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccountStatus {
    /// Its credential is used.
    Connected,
    /// The service does not take its credential any more: it needs to be connected again.
    Expired,
}

/// A person's account at a service. Its credential is never shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ConnectedAccount {
    /// Its id.
    pub id: Uuid,
    /// The provider's name.
    #[cfg_attr(feature = "utoipa", schema(example = "github"))]
    pub provider: String,
    /// Whose it is, as `user:<id>`.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "user:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11")
    )]
    pub principal: String,
    /// The user's name.
    #[cfg_attr(feature = "utoipa", schema(example = "ada"))]
    pub username: String,
    /// What the service calls the account, if it says, or what the person calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "ada@example.com"))]
    pub label: Option<String>,
    /// Whether it can be used.
    pub status: AccountStatus,
    /// When it was connected.
    pub connected_at: DateTime<Utc>,
    /// When its token was refreshed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refreshed_at: Option<DateTime<Utc>>,
}

/// A provider of a project, and the caller's account there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct OwnAccount {
    /// The provider's name.
    #[cfg_attr(feature = "utoipa", schema(example = "github"))]
    pub provider: String,
    /// What people call it.
    #[cfg_attr(feature = "utoipa", schema(example = "GitHub"))]
    pub title: String,
    /// What the account is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "Reads your issues."))]
    pub description: Option<String>,
    /// How the credential is obtained.
    pub method: AccountMethod,
    /// The hosts that it may be sent to.
    #[cfg_attr(feature = "utoipa", schema(max_items = 50))]
    pub hosts: Vec<String>,
    /// The account; absent when none is connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<ConnectedAccount>,
}

/// The providers of a project, by name, each with the caller's account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct OwnAccountList {
    /// At most 100.
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub items: Vec<OwnAccount>,
}

/// A page of the connected accounts of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ConnectedAccountPage {
    /// The accounts, newest first.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<ConnectedAccount>,
    /// For the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A personal key.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SetPersonalKey {
    /// The key, 8 to 8192 visible ASCII characters. It is encrypted and never shown again.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "key-of-the-service", min_length = 8, max_length = 8192)
    )]
    pub key: String,
    /// What to call the account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "my key", max_length = 100))]
    pub label: Option<String>,
}

/// Where a person connects an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AccountConnection {
    /// The address that the person's browser goes to next. It is good for ten minutes, for this browser session.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "https://auth.example.com/authorize?response_type=code")
    )]
    pub authorization_url: String,
}

/// What a service sent a person back with.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CompleteAccount {
    /// `state` of the address.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "4x8bVh2PqLw0sZt6yKc9Rd", max_length = 200)
    )]
    pub state: String,
    /// `code` of the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "c0de", max_length = 8192))]
    pub code: Option<String>,
    /// `iss` of the address (RFC 9207).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "https://auth.example.com", max_length = 2000)
    )]
    pub iss: Option<String>,
    /// `error` of the address: the service or the person refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(null), max_length = 200))]
    pub error: Option<String>,
}

/// An account that was connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AccountCompleted {
    /// The project.
    #[cfg_attr(feature = "utoipa", schema(example = "demo"))]
    pub project_id: String,
    /// The account.
    pub account: ConnectedAccount,
}
