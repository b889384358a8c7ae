//! Reports on tools, their upstreams and their answers.

use tokio::time::Instant;
use toolgate_core::ids::{ProjectId, ToolName};

use super::Executors;
use super::probe::report;
use crate::guard::UpstreamReport;
use crate::reports::{AnswerUses, BreakerReport, OpenUpstream, PlaceUses, ToolUpstream, ToolUses};

impl Executors {
    /// The tools whose breaker is open now, in no particular order.
    #[must_use]
    pub fn open_breakers(&self) -> Vec<BreakerReport> {
        let mut reports = Vec::new();
        self.slots.open(Instant::now(), |project, tool, probe_in_ms| {
            reports.push(BreakerReport {
                project: project.clone(),
                tool: tool.clone(),
                probe_in_ms,
            });
        });
        reports
    }

    /// How the hosts that tools went to have answered lately, by project and host.
    #[must_use]
    pub fn upstreams(&self) -> Vec<UpstreamReport> {
        self.upstreams.reports(Instant::now())
    }

    /// The host that the calls of a tool go to, if it has one and was called or probed by this server.
    #[must_use]
    pub fn host(&self, project: &ProjectId, tool: &ToolName) -> Option<String> {
        self.slots.find(project, tool)?.host()
    }

    /// The state of the upstream of every tool of a project that was called or probed by this server, by name.
    #[must_use]
    pub fn tool_upstreams(&self, project: &ProjectId) -> Vec<ToolUpstream> {
        let now = Instant::now();
        let mut reports = Vec::new();
        self.slots.of_project(project, |tool, slot| {
            let Some(host) = slot.host() else { return };
            let breaker = slot.breaker.status(now);
            reports.push(ToolUpstream {
                tool: tool.clone(),
                host,
                failures: breaker.failures,
                open: breaker.open.map(|open| OpenUpstream {
                    ago: open.ago,
                    probe_in: open.probe_in,
                    probing: open.probing,
                }),
                in_flight: self.slots.in_flight(slot),
                probe: slot.probed().map(|probed| report(probed, now)),
            });
        });
        reports.sort_by(|a, b| a.tool.cmp(&b.tool));
        reports
    }

    /// What is counted of the tools of a project whose definition has places of its own, or lets answers serve again.
    #[must_use]
    pub fn tool_uses(&self, project: &ProjectId) -> Vec<ToolUses> {
        let mut all = Vec::new();
        self.slots.of_project(project, |tool, slot| {
            let Some((definition, in_use)) = slot.declared() else {
                return;
            };
            let caches = definition.options.cache().is_some();
            if in_use.is_none() && !caches {
                return;
            }
            let (waiting, refused) = slot.uses.of_places();
            let (hits, misses) = slot.uses.of_answers();
            all.push(ToolUses {
                tool: tool.clone(),
                places: in_use.map(|in_use| PlaceUses {
                    in_use,
                    waiting,
                    refused,
                }),
                answers: caches.then_some(AnswerUses { hits, misses }),
            });
        });
        all
    }

    /// Bytes of all answers that are kept to serve again.
    #[must_use]
    pub fn kept_bytes(&self) -> u64 {
        self.answers.bytes()
    }
}
