//! The counters and detectors of one project.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use metrics::{Counter, Histogram};
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, Entrance};
use toolgate_api::settings::AlertThresholds;
use toolgate_core::alerts::{AddressWatch, Finding};
use toolgate_core::ids::ProjectUid;
use toolgate_core::principal::{PrincipalKind, PrincipalRef};
use toolgate_store::rows::{GroupUseRow, UsageDelta, UsageKind, UsageTotal};

use super::counts::{Counts, Outcome, Used};
use super::principals::{Principals, name_of};
use super::{Ended, Found, Observed, subject};
use crate::telemetry::{GroupMetrics, ProjectMetrics, ToolMetrics};

/// Names of each kind that are counted one by one; later names count for the project only.
const MAX_TOOLS: usize = 100_000;
const MAX_GROUPS: usize = 5_000;
const MAX_STATES: usize = 1_000;
/// Patterns that wait to be stored.
const MAX_FOUND: usize = 1_000;
/// Seconds of an hour, and of a minute.
pub(super) const HOUR: i64 = 3600;
const MINUTE: i64 = 60;

/// What is taken to be stored.
#[derive(Debug, Default)]
pub(super) struct Drained {
    pub(super) deltas: Vec<UsageDelta>,
    pub(super) uses: Vec<GroupUseRow>,
    pub(super) found: Vec<(ProjectUid, Found)>,
}

/// Everything that is counted of one project.
pub(super) struct Tally {
    uid: ProjectUid,
    /// Whether there may be something to store.
    touched: bool,
    /// The minute that pending counts belong to, in minutes since 1970.
    minute: i64,
    /// Counts of minutes that are over.
    earlier: Vec<UsageDelta>,
    all: Arc<Counts>,
    tools: HashMap<Box<str>, Tool>,
    groups: HashMap<Box<str>, Group>,
    entrances: [Arc<Counts>; Entrance::ALL.len()],
    states: HashMap<Box<str>, Histogram>,
    principals: Principals,
    addresses: AddressWatch,
    found: Vec<Found>,
    labels: Option<Labels>,
}

/// The project's metrics.
struct Labels {
    metrics: ProjectMetrics,
    /// For groups that the project does not declare.
    other_group: GroupMetrics,
    escalations: Counter,
    filtered: Histogram,
}

#[derive(Default)]
struct Tool {
    counts: Arc<Counts>,
    metrics: Option<ToolMetrics>,
}

#[derive(Default)]
struct Group {
    counts: Arc<Counts>,
    metrics: Option<GroupMetrics>,
}

impl Tally {
    pub(super) fn new(uid: ProjectUid) -> Self {
        Self {
            uid,
            touched: false,
            minute: 0,
            earlier: Vec::new(),
            all: Arc::default(),
            tools: HashMap::new(),
            groups: HashMap::new(),
            entrances: Default::default(),
            states: HashMap::new(),
            principals: Principals::default(),
            addresses: AddressWatch::default(),
            found: Vec::new(),
            labels: None,
        }
    }

    pub(super) fn is_labelled(&self) -> bool {
        self.labels.is_some()
    }

    pub(super) fn label(&mut self, metrics: ProjectMetrics) {
        self.labels = Some(Labels {
            other_group: metrics.group(None),
            escalations: metrics.escalations(),
            filtered: metrics.filtered_tools(),
            metrics,
        });
    }

    pub(super) fn touch(&mut self) {
        self.touched = true;
    }

    /// Counts one decided request; the counters in which the end of an admitted call counts too.
    pub(super) fn observed(
        &mut self,
        seen: &Observed<'_>,
        held_since: impl FnOnce() -> Option<DateTime<Utc>>,
    ) -> Vec<Arc<Counts>> {
        self.turn_to(seen.at);
        self.touched = true;
        let admitted = seen.action == AuditAction::Call && seen.code.is_none();
        let outcome = match seen.code {
            Some(_) => Outcome::Refused,
            None if admitted => Outcome::Admitted,
            None => Outcome::Answered,
        };
        let mut ticket = Vec::with_capacity(if admitted { 4 + seen.requested.len() } else { 0 });
        let mut count = |counts: &Arc<Counts>| {
            counts.count(outcome, seen.at);
            if admitted {
                ticket.push(Arc::clone(counts));
            }
        };
        count(&self.all);
        let entrance = seen.requester.origin.entrance;
        let place = Entrance::ALL.iter().position(|known| *known == entrance);
        if let Some(counts) = place.and_then(|place| self.entrances.get(place)) {
            count(counts);
        }
        if let Some(tool) = seen.tool.and_then(|name| self.tool(name)) {
            count(&tool.counts);
            if seen.code == Some(ErrorCode::ToolNotInState)
                && let Some(metrics) = &tool.metrics
            {
                metrics.closed.increment(1);
            }
        }
        for name in seen.requested {
            match self.group(name, seen) {
                Some(group) => {
                    count(&group.counts);
                    if let Some(metrics) = &group.metrics {
                        metrics.requests.increment(1);
                    }
                }
                None => self.other_group(|metrics| &metrics.requests),
            }
        }
        for name in seen.missing {
            match self.group(name, seen).and_then(|group| group.metrics.as_ref()) {
                Some(metrics) => metrics.denied.increment(1),
                None => self.other_group(|metrics| &metrics.denied),
            }
        }
        if let Some(labels) = &self.labels {
            if seen.code == Some(ErrorCode::InsufficientToolGroups) {
                labels.escalations.increment(1);
            }
            if let Some(available) = seen.available {
                let tools = u32::try_from(available.available_count()).unwrap_or(u32::MAX);
                labels.filtered.record(f64::from(tools));
            }
        }
        if let Some((counts, findings)) = self.principals.observe(seen, outcome, held_since) {
            count(&counts);
            findings.into_iter().for_each(|finding| self.found(finding, seen));
        }
        ticket
    }

    fn found(&mut self, finding: Finding, seen: &Observed<'_>) {
        if self.found.len() < MAX_FOUND {
            self.found.push(Found {
                finding,
                at: seen.at,
                subject: subject(seen.requester.principal),
                subject_name: Some(seen.requester.principal.name.clone()),
                request_id: Some(seen.requester.origin.request_id.to_string()),
            });
        }
    }

    pub(super) fn refused(&mut self, rules: &AlertThresholds, at: DateTime<Utc>, address: IpAddr) {
        if let Some(finding) = self.addresses.observe(rules, at, address)
            && self.found.len() < MAX_FOUND
        {
            self.found.push(Found::of_address(finding, at));
        }
    }

    pub(super) fn moved(&mut self, end: &Ended<'_>, in_state_since: Option<DateTime<Utc>>) {
        if let Some(metrics) = self.tool(end.tool).and_then(|tool| tool.metrics.as_ref()) {
            if end.state_conflict {
                metrics.conflicts.increment(1);
            } else {
                metrics.transitions.increment(1);
            }
        }
        if let (Some(since), false) = (in_state_since, end.state_conflict) {
            self.left_state(end.before, end.at - since);
        }
    }

    pub(super) fn left_state(&mut self, state: &str, spent: TimeDelta) {
        let Some(labels) = &self.labels else { return };
        let seconds = spent.as_seconds_f64().max(0.0);
        match self.states.get(state) {
            Some(histogram) => histogram.record(seconds),
            None => {
                let histogram = labels.metrics.time_in_state(state);
                histogram.record(seconds);
                if self.states.len() < MAX_STATES {
                    self.states.insert(state.into(), histogram);
                }
            }
        }
    }

    /// The tool; only tools that exist are asked for here.
    fn tool(&mut self, name: &str) -> Option<&Tool> {
        if !self.tools.contains_key(name) && self.tools.len() < MAX_TOOLS {
            self.tools.insert(name.into(), Tool::default());
        }
        let tool = self.tools.get_mut(name)?;
        if tool.metrics.is_none() {
            tool.metrics = self.labels.as_ref().map(|labels| labels.metrics.tool(name));
        }
        Some(tool)
    }

    /// The group, if the project declares it.
    fn group(&mut self, name: &str, seen: &Observed<'_>) -> Option<&Group> {
        if !self.groups.contains_key(name)
            && self.groups.len() < MAX_GROUPS
            && seen.project.snapshot.has_group(name)
        {
            self.groups.insert(name.into(), Group::default());
        }
        let group = self.groups.get_mut(name)?;
        if group.metrics.is_none() {
            group.metrics = self
                .labels
                .as_ref()
                .map(|labels| labels.metrics.group(Some(name)));
        }
        Some(group)
    }

    fn other_group(&self, counter: fn(&GroupMetrics) -> &Counter) {
        if let Some(labels) = &self.labels {
            counter(&labels.other_group).increment(1);
        }
    }

    /// Closes the books of the minute before, when a minute has passed.
    fn turn_to(&mut self, at: DateTime<Utc>) {
        let minute = at.timestamp().div_euclid(MINUTE);
        if minute > self.minute {
            if self.touched {
                let mut earlier = std::mem::take(&mut self.earlier);
                self.take_counts(&mut earlier);
                self.earlier = earlier;
            }
            self.minute = minute;
        }
    }

    /// Takes what is to be stored.
    pub(super) fn drain(&mut self, drained: &mut Drained) {
        drained.deltas.append(&mut self.earlier);
        let found = self.found.drain(..).map(|found| (self.uid, found));
        drained.found.extend(found);
        if !std::mem::take(&mut self.touched) {
            return;
        }
        self.take_counts(&mut drained.deltas);
        self.principals.take_uses(self.uid, &mut drained.uses);
    }

    fn take_counts(&self, out: &mut Vec<UsageDelta>) {
        let project = self.uid;
        let minute = DateTime::from_timestamp(self.minute * MINUTE, 0).unwrap_or_default();
        let mut take = |kind, counts: &Counts, name: &dyn Fn() -> String| {
            if let Some(taken) = counts.take() {
                out.push(UsageDelta {
                    project,
                    kind,
                    name: name(),
                    minute,
                    counts: taken.counts,
                    took: taken.took,
                    last_at: taken.last_at,
                });
            }
        };
        take(UsageKind::Project, &self.all, &String::new);
        for (name, tool) in &self.tools {
            take(UsageKind::Tool, &tool.counts, &|| name.to_string());
        }
        for (name, group) in &self.groups {
            take(UsageKind::Group, &group.counts, &|| name.to_string());
        }
        for (entrance, counts) in Entrance::ALL.iter().zip(&self.entrances) {
            take(UsageKind::Entrance, counts, &|| entrance.as_str().to_owned());
        }
        for (kind, id, counts) in self.principals.counts() {
            take(UsageKind::Principal, counts, &|| name_of(kind, id));
        }
    }

    pub(super) fn know(&mut self, total: &UsageTotal) {
        let counts: &Counts = match total.kind {
            UsageKind::Project => &self.all,
            UsageKind::Tool => &entry(&mut self.tools, &total.name).counts,
            UsageKind::Group => &entry(&mut self.groups, &total.name).counts,
            UsageKind::Principal => match PrincipalRef::parse(&total.name) {
                Some(principal) => self.principals.known(&principal),
                None => return,
            },
            UsageKind::Entrance => return,
        };
        counts.know(total.counts, total.last_at);
    }

    pub(super) fn know_use(&mut self, principal: &PrincipalRef, row: &GroupUseRow) {
        self.principals.know_use(principal, row);
    }

    pub(super) fn used(&self, kind: UsageKind, name: &str) -> Option<Used> {
        let counts = match kind {
            UsageKind::Project => &self.all,
            UsageKind::Tool => &self.tools.get(name)?.counts,
            UsageKind::Group => &self.groups.get(name)?.counts,
            UsageKind::Principal | UsageKind::Entrance => return None,
        };
        Some(counts.used())
    }

    pub(super) fn principal(&self, kind: PrincipalKind, id: &str) -> Option<Used> {
        self.principals.used(kind, id)
    }
}

/// The entry of a name, made when it is new. It copies the name, so it is not for the path of calls.
fn entry<'m, T: Default>(map: &'m mut HashMap<Box<str>, T>, name: &str) -> &'m mut T {
    map.entry(name.into()).or_default()
}
