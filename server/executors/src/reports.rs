//! What is told about tools and their upstreams.

use std::time::Duration;

use toolgate_core::ids::{ProjectId, ToolName};

/// How a tool stands with its upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUpstream {
    /// The tool.
    pub tool: ToolName,
    /// The host that its calls go to.
    pub host: String,
    /// Failures in a row.
    pub failures: u32,
    /// Since when it is left alone, if it is.
    pub open: Option<OpenUpstream>,
    /// Its calls that run now.
    pub in_flight: usize,
}

/// An upstream that is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenUpstream {
    /// For how long already.
    pub ago: Duration,
    /// How long until one call may try it; zero: the next one may.
    pub probe_in: Duration,
    /// Whether one is trying it now.
    pub probing: bool,
}

/// A tool that is left alone because its upstream failed several times in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakerReport {
    /// The project.
    pub project: ProjectId,
    /// The tool.
    pub tool: ToolName,
    /// Milliseconds until one call may probe the upstream again; 0 when it may now.
    pub probe_in_ms: u64,
}
