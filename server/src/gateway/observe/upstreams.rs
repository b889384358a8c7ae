//! Upstreams that fail. They are looked for when counts are stored, so that a call does nothing for it.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use toolgate_core::alerts;
use toolgate_core::ids::ProjectUid;

use super::Found;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, probes};

/// The failing upstreams that were found. One that answers is forgotten, so that its next failures are found again.
#[derive(Debug, Default)]
pub(super) struct FailingUpstreams(HashSet<(ProjectUid, String)>);

impl FailingUpstreams {
    /// Those that have begun to fail since the last time.
    pub(super) fn look(&mut self, gateway: &Gateway) -> Vec<(ProjectUid, Found)> {
        let mut failing = failing(gateway);
        let key = |(project, found): &(ProjectUid, Found)| (*project, found.subject.clone());
        let before = std::mem::replace(&mut self.0, failing.iter().map(key).collect());
        failing.retain(|found| !before.contains(&key(found)));
        failing
    }
}

/// The upstreams that have failed as often in a row as their project's settings say: by their calls, or by their probes.
fn failing(gateway: &Gateway) -> Vec<(ProjectUid, Found)> {
    let now = gateway.clock.now();
    let server_snapshot = gateway.snapshots.now();
    let mut all = Vec::new();
    for report in gateway.executors.upstreams() {
        let project = server_snapshot.project(report.project.as_str());
        let name = format!("upstream {}", report.host);
        let subject = format!("upstream:{}", report.host);
        all.extend(project.and_then(|project| found(project, report.in_a_row, now, subject, name)));
    }
    let projects = server_snapshot.projects().map(AsRef::as_ref);
    for probed in probes::found(gateway, projects) {
        let project = server_snapshot.project(probed.project.as_str());
        let tool = probed.tool.name();
        let name = format!("probe of the upstream of {tool}");
        let subject = format!("probe:{tool}");
        all.extend(project.and_then(|project| found(project, probed.report.failures, now, subject, name)));
    }
    all
}

fn found(
    project: &ProjectState,
    in_a_row: u32,
    at: DateTime<Utc>,
    subject: String,
    name: String,
) -> Option<(ProjectUid, Found)> {
    let finding = alerts::upstream_failures(&project.settings.alerts, in_a_row)?;
    let found = Found {
        finding,
        at,
        subject,
        subject_name: Some(name),
        request_id: None,
    };
    Some((project.row.uid, found))
}
