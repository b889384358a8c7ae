//! The use case "the upstreams of a project": which answer, and which have an open circuit breaker.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::upstreams::{BreakerState, ToolUpstream, UpstreamHost, UpstreamProbe, Upstreams};
use toolgate_executors::{ProbeReport, UpstreamReport};

use super::probes;
use super::server_snapshot::ProjectState;
use crate::gateway::Gateway;

/// What this server has seen of them since it started.
#[must_use]
pub fn of_project(gateway: &Gateway, project: &ProjectState) -> Upstreams {
    let now = gateway.clock.now();
    let id = &project.row.id;
    let tools = gateway.executors.tool_upstreams(id);
    let hosts = gateway.executors.upstreams();
    Upstreams {
        tools: tools
            .into_iter()
            // A tool of before may be gone, and so may its probe.
            .filter_map(|upstream| {
                let current = project.snapshot.tool(upstream.tool.as_str())?;
                let probe = upstream.probe.filter(|_| probes::of(current).is_some());
                Some(tool(upstream, probe, now))
            })
            .collect(),
        hosts: hosts
            .into_iter()
            .filter(|report| report.project == *id)
            .map(|report| host(report, now))
            .collect(),
    }
}

fn tool(
    upstream: toolgate_executors::ToolUpstream,
    probe: Option<ProbeReport>,
    now: DateTime<Utc>,
) -> ToolUpstream {
    let state = match &upstream.open {
        None => BreakerState::Closed,
        Some(open) if open.probing || open.probe_in.is_zero() => BreakerState::HalfOpen,
        Some(_) => BreakerState::Open,
    };
    ToolUpstream {
        tool: upstream.tool.to_string(),
        host: upstream.host,
        state,
        since: upstream.open.map(|open| before(now, open.ago)),
        retry_in_s: upstream
            .open
            .filter(|_| state == BreakerState::Open)
            .map(|open| u32::try_from(open.probe_in.as_millis().div_ceil(1000)).unwrap_or(u32::MAX)),
        failures: upstream.failures,
        in_flight: u32::try_from(upstream.in_flight).unwrap_or(u32::MAX),
        probe: probe.map(|probe| UpstreamProbe {
            succeeded: probe.succeeded,
            status: probe.status,
            code: probe.code,
            failures: probe.failures,
            last_at: before(now, probe.ago),
            took_ms: u32::try_from(probe.took.as_millis()).unwrap_or(u32::MAX),
        }),
    }
}

fn host(report: UpstreamReport, now: DateTime<Utc>) -> UpstreamHost {
    UpstreamHost {
        host: report.host,
        answered: report.answered,
        last_at: before(now, report.ago),
        failures_last_hour: report.failures,
    }
}

fn before(now: DateTime<Utc>, ago: Duration) -> DateTime<Utc> {
    TimeDelta::from_std(ago)
        .ok()
        .and_then(|ago| now.checked_sub_signed(ago))
        .unwrap_or(now)
}
