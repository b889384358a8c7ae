//! MCP servers of a project: where their tools are called, with what, and how their connections are.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::problem::Diagnostic;

/// How an MCP server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum McpTransport {
    /// A process of this server, over its standard input and output.
    Stdio,
    /// Streamable HTTP.
    StreamableHttp,
    /// HTTP with server-sent events, of the revision 2024-11-05.
    Sse,
}

/// What becomes of calls of a tool that its server has changed since it was approved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum McpChangePolicy {
    /// They are sent; callers see the approved definition.
    #[default]
    Serve,
    /// They are refused until the change is approved.
    Refuse,
}

/// Whose calls one connection to an MCP server, or one process of it, serves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum McpInstance {
    /// Those of all callers.
    #[default]
    Shared,
    /// Those of one session of Toolgate; calls without a session have one for each principal.
    Session,
}

/// What becomes of questions that a server puts to the person who calls a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum McpElicitation {
    /// They are passed to the caller's client, if it can be asked; otherwise the server gets an error.
    #[default]
    Pass,
    /// The server learns that it cannot ask, and gets an error when it does.
    Refuse,
}

/// An OAuth 2 client that acts for itself (RFC 6749 section 4.4): Toolgate fetches an access token with it, renews the token, and
/// sends it as `Authorization: Bearer`. The token is asked for the server's address (`resource`, RFC 8707).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct McpOAuthClient {
    /// Where tokens are given out, which must be on an egress list.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "https://auth.example.com/token", max_length = 2000)
    )]
    pub token_url: String,
    /// The client's id, as the value of a header is written.
    #[cfg_attr(feature = "utoipa", schema(example = "toolgate", max_length = 8000))]
    pub client_id: String,
    /// The client's secret, as the value of a header is written.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "${secret:MCP_CLIENT_SECRET}", max_length = 8000)
    )]
    pub client_secret: String,
    /// The scopes to ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub scopes: Vec<String>,
    /// The audience of the token, where the token endpoint requires one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_length = 2000))]
    pub audience: Option<String>,
    /// How the client presents itself.
    #[serde(default, skip_serializing_if = "is_basic")]
    pub auth_style: McpClientStyle,
}

/// How an OAuth 2 client presents itself (RFC 6749 section 2.3.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum McpClientStyle {
    /// `Authorization: Basic`.
    #[default]
    Basic,
    /// `client_id` and `client_secret` in the form.
    Body,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_basic(value: &McpClientStyle) -> bool {
    *value == McpClientStyle::Basic
}

/// Who is offered something of an MCP server beside its tools. It is decided as for a tool: by the requested groups and the state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct McpOffer {
    /// The groups that it is in. Empty: only a request for `*` reaches it.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["weather"]), max_items = 100))]
    pub group: Vec<String>,
    /// The states that it is open in; every state when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(null), max_items = 100))]
    pub available_in_states: Option<Vec<String>>,
}

/// An MCP server as it is written. Values of `env` and `headers` name secrets and variables as `${secret:NAME}` and `${NAME}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct McpServerDefinition {
    /// How it is reached; absent: `stdio` with a `command`, `streamable_http` with a `url`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<McpTransport>,
    /// The command of a stdio server, which must be on the list of the server's configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(null), max_length = 1000))]
    pub command: Option<String>,
    /// The arguments of the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub args: Vec<String>,
    /// Environment variables of the command. It gets no others than these, `PATH`, `HOME` and `LANG`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The address of a server over HTTP, which must be on an egress list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "https://mcp.example.com/mcp", max_length = 2000)
    )]
    pub url: Option<String>,
    /// Headers of every request to it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(example = json!({"Authorization": "Bearer ${secret:MCP_TOKEN}"})))]
    pub headers: BTreeMap<String, String>,
    /// The OAuth client with whose access token every request to it is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth: Option<McpOAuthClient>,
    /// The account provider of the project with whose accounts callers use it: each call is sent with the caller's own credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(null), max_length = 63))]
    pub account: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "Weather of the next days", max_length = 1000)
    )]
    pub description: Option<String>,
    /// Whether it may be connected to; absent when it may.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    #[cfg_attr(feature = "utoipa", schema(default = true))]
    pub enabled: bool,
    /// Whether a stdio server needs the network. It gets it only if the server's configuration allows it.
    #[serde(default, skip_serializing_if = "is_no")]
    #[cfg_attr(feature = "utoipa", schema(default = false))]
    pub network: bool,
    /// Milliseconds that connecting and listing tools may take; 30 000 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(minimum = 100, maximum = 300_000))]
    pub timeout_ms: Option<u32>,
    /// Calls of all its tools at the same time; 16 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(minimum = 1, maximum = 1000))]
    pub max_concurrent: Option<u32>,
    /// Seconds without a call after which the connection or process is ended; 600 when absent, 0 for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, maximum = 86_400))]
    pub idle_stop_s: Option<u32>,
    /// Seconds after which its tools are compared with the approved ones while it is connected, beside the times when it says that they
    /// changed; 3600 when absent, 0 for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, maximum = 604_800))]
    pub refresh_s: Option<u32>,
    /// What becomes of calls of a tool that the server has changed since it was approved.
    #[serde(default, skip_serializing_if = "is_serve")]
    pub on_change: McpChangePolicy,
    /// Whose calls one connection or process serves.
    #[serde(default, skip_serializing_if = "is_shared")]
    pub instance: McpInstance,
    /// Instances at the same time with `instance: session`, on one server of Toolgate; 16 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(null), minimum = 1, maximum = 1000))]
    pub max_instances: Option<u32>,
    /// What becomes of questions that the server puts to the person who calls a tool (elicitation).
    #[serde(default, skip_serializing_if = "is_pass")]
    pub elicitation: McpElicitation,
    /// Who may list and read its resources and resource templates over MCP; absent: no caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<McpOffer>,
    /// Who may list and get its prompts over MCP; absent: no caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<McpOffer>,
}

impl McpServerDefinition {
    /// How it is reached, as stated or evident.
    #[must_use]
    pub fn transport(&self) -> McpTransport {
        self.transport.unwrap_or(match self.url {
            Some(_) => McpTransport::StreamableHttp,
            None => McpTransport::Stdio,
        })
    }
}

fn yes() -> bool {
    true
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_yes(value: &bool) -> bool {
    *value
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_no(value: &bool) -> bool {
    !*value
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_serve(value: &McpChangePolicy) -> bool {
    *value == McpChangePolicy::Serve
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_shared(value: &McpInstance) -> bool {
    *value == McpInstance::Shared
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_pass(value: &McpElicitation) -> bool {
    *value == McpElicitation::Pass
}

/// An MCP server as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct StoredMcpServer {
    /// Its name: that of its import, and of the source of its tools (`mcp:<name>`).
    #[cfg_attr(feature = "utoipa", schema(example = "weather", max_length = 63))]
    pub name: String,
    /// Counts from 1.
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 1))]
    pub revision: i64,
    /// When it was changed last.
    pub updated_at: DateTime<Utc>,
    /// Who changed it last.
    #[cfg_attr(feature = "utoipa", schema(example = "admin"))]
    pub updated_by: String,
    /// Whether `updated_by` registered it by `mcp_register_server` and it waits for approval. Until then it is neither connected to
    /// nor imported.
    #[serde(default, skip_serializing_if = "is_no")]
    #[cfg_attr(feature = "utoipa", schema(default = false))]
    pub awaits_approval: bool,
    /// How it is reached.
    pub definition: McpServerDefinition,
}

/// An MCP server with its connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct McpServer {
    /// As it is stored.
    #[serde(flatten)]
    pub stored: StoredMcpServer,
    /// How it is reached.
    pub transport: McpTransport,
    /// What keeps it from being reached, and what to do.
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub warnings: Vec<Diagnostic>,
    /// The connection of the server that answered.
    pub connection: McpConnection,
}

/// How the connection to an MCP server is, on the server that answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct McpConnection {
    /// Its state.
    pub state: McpConnectionState,
    /// Since when it is connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<DateTime<Utc>>,
    /// What the server calls itself, with its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "weather-server 1.2.0"))]
    pub server: Option<String>,
    /// The revision of the protocol that was agreed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "2025-11-25"))]
    pub protocol: Option<String>,
    /// Tools of its last list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 12, minimum = 0))]
    pub tools: Option<u32>,
    /// Calls that run now.
    #[cfg_attr(feature = "utoipa", schema(example = 0, minimum = 0))]
    pub running: u32,
    /// Connections or processes that serve one session or principal each; always 0 for a shared server.
    #[serde(default)]
    #[cfg_attr(feature = "utoipa", schema(example = 0, minimum = 0))]
    pub instances: u32,
    /// Why it was not connected, or was lost, the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<McpConnectionError>,
}

/// The state of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum McpConnectionState {
    /// It is not connected; the next call connects.
    Idle,
    /// It is being connected.
    Connecting,
    /// It is connected.
    Connected,
    /// The last attempt failed; it is tried again after a pause.
    Failed,
    /// It is not connected to: disabled, or not allowed by the server's configuration.
    Unavailable,
}

impl McpConnectionState {
    /// Its name in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Failed => "failed",
            Self::Unavailable => "unavailable",
        }
    }
}

/// Why a connection failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct McpConnectionError {
    /// When.
    pub at: DateTime<Utc>,
    /// The kind of failure.
    pub code: crate::ErrorCode,
    /// The HTTP status, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 503))]
    pub status: Option<u16>,
    /// What happened.
    #[cfg_attr(feature = "utoipa", schema(example = "the process ended with exit status: 1"))]
    pub message: String,
}

/// A test of a connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct McpServerTest {
    /// Whether the server was connected to and listed its tools.
    pub ok: bool,
    /// How long that took, in milliseconds.
    #[cfg_attr(feature = "utoipa", schema(example = 120, minimum = 0))]
    pub duration_ms: u64,
    /// The names of its tools.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["get_forecast"]), max_items = 5000))]
    pub tools: Vec<String>,
    /// The connection afterwards.
    pub connection: McpConnection,
}

/// A line that a stdio server wrote to its standard error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct McpLogLine {
    /// When.
    pub at: DateTime<Utc>,
    /// What, cut to 2000 characters; secrets are masked.
    #[cfg_attr(feature = "utoipa", schema(example = "listening on stdio"))]
    pub text: String,
}

/// The last lines of a stdio server on the server that answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct McpServerLog {
    /// The oldest first.
    #[cfg_attr(feature = "utoipa", schema(max_items = 500))]
    pub lines: Vec<McpLogLine>,
    /// Lines that are not kept any more.
    #[cfg_attr(feature = "utoipa", schema(example = 0, minimum = 0))]
    pub dropped: u64,
}

/// All MCP servers of a project, by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct McpServerList {
    /// At most 200.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<McpServer>,
}

/// What came of adding servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct McpServersAdded {
    /// Whether nothing was stored.
    pub dry_run: bool,
    /// The servers of the document, by name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<McpServer>,
}
