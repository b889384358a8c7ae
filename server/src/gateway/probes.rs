//! Asking the upstreams of tools whether they are well, for tools whose definition says how.
//!
//! Every server asks for itself. A probe belongs to a tool that is enabled; it is no call: it is not decided, not
//! limited and not recorded. What the last one has found is reported with the upstreams and in the server's status.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::StreamExt;
use futures_util::stream;
use toolgate_core::definition::model::HttpProbe;
use toolgate_core::ids::{ProjectId, ProjectUid};
use toolgate_core::snapshot::CompiledTool;
use toolgate_executors::ProbeReport;

use super::server_snapshot::{ProjectState, ServerSnapshot};
use crate::gateway::Gateway;

/// Probes at the same time.
const AT_ONCE: usize = 16;
/// How much sooner or later than the interval says the next one comes, so that those of many tools do not come together.
const SPREAD: f64 = 0.1;

/// When which upstream is asked next.
#[derive(Default)]
pub struct Probes(Mutex<HashMap<ProjectUid, OfProject>>);

/// The tools of a project that have a probe, as of a version of it.
struct OfProject {
    version: i64,
    tools: Vec<Planned>,
}

struct Planned {
    tool: Arc<CompiledTool>,
    probe: HttpProbe,
    due: DateTime<Utc>,
}

/// The probe of a tool, unless it is disabled.
#[must_use]
pub fn of(tool: &CompiledTool) -> Option<&HttpProbe> {
    let definition = &tool.definition;
    let probe = definition.execution()?.probe()?;
    definition.enabled.then_some(probe)
}

/// A number from 0 up to 1.
type Chance<'c> = &'c mut dyn FnMut() -> f64;

impl Probes {
    /// The tools that are to be probed now; each is due again an interval later.
    fn take_due(
        &self,
        server_snapshot: &ServerSnapshot,
        now: DateTime<Utc>,
        chance: Chance<'_>,
    ) -> Vec<(Arc<ProjectState>, Arc<CompiledTool>)> {
        let mut planned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut due = Vec::new();
        let mut living = HashMap::new();
        for project in server_snapshot.projects() {
            let uid = project.row.uid;
            let before = planned.remove(&uid);
            let version = project.snapshot.version();
            let mut of_project = match before {
                Some(known) if known.version == version => known,
                before => {
                    let known = before.as_ref().map_or(&[][..], |known| &known.tools);
                    let tools = plan(project, known, now, chance);
                    OfProject { version, tools }
                }
            };
            for one in &mut of_project.tools {
                if one.due <= now {
                    let spread = 1.0 + SPREAD * (2.0 * chance() - 1.0);
                    one.due = now + part(&one.probe, spread);
                    due.push((Arc::clone(project), Arc::clone(&one.tool)));
                }
            }
            living.insert(uid, of_project);
        }
        *planned = living;
        due
    }
}

/// The tools of a project that have a probe. Those that had the same one before keep their time; others begin within
/// an interval, so that a start of the server or a large upload does not send all probes at once.
fn plan(project: &ProjectState, before: &[Planned], now: DateTime<Utc>, chance: Chance<'_>) -> Vec<Planned> {
    let before: HashMap<&str, &Planned> = before.iter().map(|one| (one.tool.name(), one)).collect();
    let tools = project.snapshot.tools().iter();
    tools
        .filter_map(|tool| Some((tool, of(tool)?)))
        .map(|(tool, probe)| {
            let same = before.get(tool.name()).filter(|before| before.probe == *probe);
            Planned {
                tool: Arc::clone(tool),
                probe: probe.clone(),
                due: same.map_or_else(|| now + part(probe, chance()), |before| before.due),
            }
        })
        .collect()
}

/// So much of the interval.
fn part(probe: &HttpProbe, share: f64) -> TimeDelta {
    let milliseconds = f64::from(probe.interval_s) * 1000.0 * share;
    #[expect(clippy::cast_possible_truncation, reason = "an interval is at most an hour")]
    TimeDelta::milliseconds(milliseconds as i64)
}

/// Runs the probes that are due, and waits for them.
pub async fn run_due(gateway: &Gateway) {
    let server_snapshot = gateway.snapshots.now();
    // Ids are as random as this needs.
    let mut chance = || f64::from((gateway.clock.new_id().as_u128() & 0xffff) as u16) / f64::from(u16::MAX);
    let due = gateway
        .probes
        .take_due(&server_snapshot, gateway.clock.now(), &mut chance);
    stream::iter(due)
        .for_each_concurrent(AT_ONCE, |(project, tool)| async move {
            let secrets = project.secrets.unused();
            let project_id = &project.row.id;
            let egress = project.egress.origins();
            gateway
                .executors
                .probe(
                    project_id,
                    (&tool.definition, tool.service.as_ref()),
                    Some(&secrets),
                    egress,
                )
                .await;
            let found = gateway.executors.probed(project_id, &tool.definition.name);
            if let Some(found) = found {
                gateway.metrics.probe(found.succeeded);
            }
        })
        .await;
}

/// What the last probe of a tool has found.
pub struct Found {
    /// The project.
    pub project: ProjectId,
    /// The tool.
    pub tool: Arc<CompiledTool>,
    /// What was found.
    pub report: ProbeReport,
}

/// What the last probes have found, of tools that still have one, by project and name.
pub fn found<'p>(gateway: &Gateway, projects: impl Iterator<Item = &'p ProjectState>) -> Vec<Found> {
    let planned = gateway.probes.0.lock().unwrap_or_else(PoisonError::into_inner);
    let mut all = Vec::new();
    for project in projects {
        let tools = planned
            .get(&project.row.uid)
            .map_or(&[][..], |known| &known.tools);
        for Planned { tool, .. } in tools {
            // What was planned may be older than the project.
            let current = project
                .snapshot
                .tool(tool.name())
                .filter(|tool| of(tool).is_some());
            let report = gateway.executors.probed(&project.row.id, &tool.definition.name);
            all.extend(current.zip(report).map(|(tool, report)| Found {
                project: project.row.id.clone(),
                tool: Arc::clone(tool),
                report,
            }));
        }
    }
    drop(planned);
    all.sort_by(|a, b| (&a.project, a.tool.name()).cmp(&(&b.project, b.tool.name())));
    all
}
