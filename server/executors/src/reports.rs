//! Reports on tools and their upstreams.

use std::time::Duration;

use toolgate_api::ErrorCode;
use toolgate_core::ids::{ProjectId, ToolName};

/// The state of the upstream of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUpstream {
    /// The tool.
    pub tool: ToolName,
    /// The host that its calls go to.
    pub host: String,
    /// Failures in a row.
    pub failures: u32,
    /// Since when its circuit breaker is open, if it is.
    pub open: Option<OpenUpstream>,
    /// Its calls that run now.
    pub in_flight: usize,
    /// What its last probe has found, if there was one.
    pub probe: Option<ProbeReport>,
}

/// What a probe has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeReport {
    /// Whether it was answered with a success status.
    pub succeeded: bool,
    /// The status, if it was answered.
    pub status: Option<u16>,
    /// Why it was not.
    pub code: Option<ErrorCode>,
    /// Probes in a row that did not succeed.
    pub failures: u32,
    /// How long ago it was.
    pub ago: Duration,
    /// How long it took.
    pub took: Duration,
}

/// An upstream whose circuit breaker is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenUpstream {
    /// For how long already.
    pub ago: Duration,
    /// How long until one call may try it; zero: the next one may.
    pub probe_in: Duration,
    /// Whether one is trying it now.
    pub probing: bool,
}

/// A tool whose circuit breaker is open because its upstream failed several times in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakerReport {
    /// The project.
    pub project: ProjectId,
    /// The tool.
    pub tool: ToolName,
    /// Milliseconds until one call may probe the upstream again; 0 when it may now.
    pub probe_in_ms: u64,
}

/// What is counted of a tool since it was first called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUses {
    /// The tool.
    pub tool: ToolName,
    /// Of the places that its definition has for its calls (`concurrency`).
    pub places: Option<PlaceUses>,
    /// Of its answers that serve again (`cache`).
    pub answers: Option<AnswerUses>,
}

/// What is counted of a tool's own places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceUses {
    /// Calls that have one now.
    pub in_use: usize,
    /// Calls that wait for one now.
    pub waiting: u32,
    /// Calls that got none in time.
    pub refused: u64,
}

/// What is counted of a tool's answers that serve again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerUses {
    /// Calls that were served by an answer to another one.
    pub hits: u64,
    /// Calls for which a request was sent.
    pub misses: u64,
}
