//! The upstreams of a project's tools: how they answer, and which have an open circuit breaker.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ErrorCode;

/// Whether a tool's calls go out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum BreakerState {
    /// They do.
    Closed,
    /// Calls are not sent: the upstream failed several times in a row and the circuit breaker is open.
    Open,
    /// One call may go out, or is out, and decides.
    HalfOpen,
}

/// The state of the upstream of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ToolUpstream {
    /// The tool.
    #[cfg_attr(feature = "utoipa", schema(example = "web-search"))]
    pub tool: String,
    /// The host that its calls go to.
    #[cfg_attr(feature = "utoipa", schema(example = "s.jina.ai"))]
    pub host: String,
    /// Whether they go out.
    pub state: BreakerState,
    /// Since when the circuit breaker is open (`open` and `half_open` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<DateTime<Utc>>,
    /// Seconds until one call may try it (`open` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, example = 7))]
    pub retry_in_s: Option<u32>,
    /// Calls in a row that found it unreachable, failing or too slow.
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, example = 0))]
    pub failures: u32,
    /// Calls that run now.
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, example = 2))]
    pub in_flight: u32,
    /// What its last probe has found, if the definition has one (`options.http.probe`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<UpstreamProbe>,
}

/// What the last probe of a tool's upstream has found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UpstreamProbe {
    /// Whether it was answered with a success status.
    pub succeeded: bool,
    /// The status of the answer, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(minimum = 100, maximum = 999, example = 200))]
    pub status: Option<u16>,
    /// Why there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// Probes in a row that did not succeed.
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, example = 0))]
    pub failures: u32,
    /// When it was.
    pub last_at: DateTime<Utc>,
    /// How long it took, in milliseconds.
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, example = 12))]
    pub took_ms: u32,
}

/// How one host has answered the project's tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UpstreamHost {
    /// The host.
    #[cfg_attr(feature = "utoipa", schema(example = "s.jina.ai"))]
    pub host: String,
    /// Whether the last call was answered, whatever the answer was.
    pub answered: bool,
    /// When that was.
    pub last_at: DateTime<Utc>,
    /// Calls of the last hour that found it unreachable, failing or too slow.
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, example = 0))]
    pub failures_last_hour: u32,
}

/// The upstreams of a project, as the server that answers has seen them since it started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Upstreams {
    /// Every tool that was called or probed and is still defined, by name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 20_000))]
    pub tools: Vec<ToolUpstream>,
    /// Every host that was called, by name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 10_000))]
    pub hosts: Vec<UpstreamHost>,
}
