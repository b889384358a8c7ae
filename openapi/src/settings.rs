//! What a project sets for itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Diagnostic;

/// The settings of a project. Whatever is left out has its default; replacing them replaces all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
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
    /// Where alerts are sent to, and what waits: changes in the quarantine, requests for access, keys that expire soon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<WebhookSettings>,
    /// When to raise an alert.
    pub alerts: AlertThresholds,
    /// Whether requests about tools must name a session.
    pub sessions: SessionUse,
    /// The states that a new session may begin in; 1 to 100 different names. Left out: every state, and only `undefined`
    /// when sessions are required. A session that names no state begins in `undefined` if that is one of them, otherwise
    /// in the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = json!(["undefined"]), min_items = 1, max_items = 100)
    )]
    pub start_states: Option<Vec<String>>,
    /// Whether an MCP server that `mcp_register_server` registers is connected to without waiting for approval.
    #[serde(skip_serializing_if = "is_no")]
    pub trust_registrations: bool,
    /// Whether MCP clients search for tools instead of listing them, unless they connect with `search=false`: for projects with more
    /// tools than models can take.
    #[serde(skip_serializing_if = "is_no")]
    pub mcp_search: bool,
    /// The tools that are listed to MCP clients beside the search, as far as a client may call them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["web-search"]), max_items = 100))]
    pub mcp_pinned: Vec<String>,
    /// Whether tools have an optional argument `toolgate_session` for MCP clients without a session: the id of a session that was created
    /// by REST. For hosts that can name no session in the address.
    #[serde(skip_serializing_if = "is_no")]
    pub mcp_session_argument: bool,
    /// Whose announcements on the message bus count at once: what they announce is enabled, and what they change is approved. Each
    /// as in `principal` of the record: `service_key:{id}`, `user:{id}` or `external:{issuer}|{subject}`. The announcement proves
    /// who sends it by the header `Toolgate-Token`. Any other announcement waits for a decision.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = json!(["service_key:0190c2a4-7b7e-7cc3-98c4-dc0c0c07398f"]), max_items = 100)
    )]
    pub trusted_announcers: Vec<String>,
    /// Opens the project to callers on the message bus. Without it messages for this project are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bus_entrance: Option<BusEntrance>,
}

/// How callers on the message bus reach the tools of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct BusEntrance {
    /// The targets whose commands are executed: those of `cg.{ver}.{project_id}.{channel_id}.cmd.tool.{target}.{suffix}`; letters,
    /// digits, `_` and `-`. None: only `tool.invoke`.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["toolgate"]), max_items = 16))]
    pub targets: Vec<String>,
    /// The worker target of each agent: who is woken up by `cmd.agent.{worker_target}.wakeup` when a result was reported.
    #[cfg_attr(feature = "utoipa", schema(example = json!({"researcher": "worker_generic"})))]
    pub agents: BTreeMap<String, String>,
}

impl Default for BusEntrance {
    fn default() -> Self {
        Self {
            targets: vec!["toolgate".to_owned()],
            agents: BTreeMap::new(),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_no(value: &bool) -> bool {
    !*value
}

/// Where the workflow state of a request may come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SessionUse {
    /// From the request, or from the session that it names.
    #[default]
    Optional,
    /// Only from a session: a request without one is refused (`session_required`).
    Required,
}

/// Settings that were stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct StoredSettings {
    /// The settings as they are now.
    pub settings: ProjectSettings,
    /// What may be a mistake: a start state that no tool and no declaration names, a pinned tool that is not there.
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub warnings: Vec<Diagnostic>,
}

/// Where alerts are sent to, and what waits: changes in the quarantine, requests for access, keys that expire soon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
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
    /// Calls in a row that one host did not answer, answered too late or answered with an error of its own; for a tool with a
    /// probe, probes in a row. The window does not matter.
    pub upstream_failures: u32,
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
            upstream_failures: 5,
        }
    }
}
