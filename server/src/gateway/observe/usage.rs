//! What was counted, by project: in memory, ahead of the database by a few seconds.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::settings::AlertThresholds;
use toolgate_core::ids::ProjectUid;
use toolgate_core::principal::{PrincipalKind, PrincipalRef};
use toolgate_store::rows::{GroupUseRow, UsageKind, UsageTotal};
use toolgate_store::{Store, StoreError};

use super::counts::{Counts, Used};
use super::tally::{Drained, Tally};
use super::{Ended, Observed, Ticket};
use crate::gateway::server_snapshot::ProjectState;
use crate::telemetry::Metrics;

/// Names, and uses of groups, that are loaded at start: the latest ones.
const LOADED: u32 = 200_000;
/// How far back another server's counts are looked for; longer than any server takes to write them.
const OVERLAP: TimeDelta = TimeDelta::minutes(2);

/// Usage of every project.
pub struct Usage {
    metrics: Metrics,
    projects: RwLock<HashMap<ProjectUid, Arc<ProjectUsage>>>,
}

/// Usage of one project.
pub(super) struct ProjectUsage {
    tally: Mutex<Tally>,
    /// Whether calls ended since what was counted was last taken: the end of a call takes no lock.
    ended: AtomicBool,
}

impl ProjectUsage {
    fn lock(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts how long an admitted call took.
    pub(super) fn took(&self, counts: &[Arc<Counts>], milliseconds: i64) {
        counts.iter().for_each(|counts| counts.took(milliseconds));
        self.ended.store(true, Relaxed);
    }

    fn drain(&self, drained: &mut Drained) {
        let mut tally = self.lock();
        if self.ended.swap(false, Relaxed) {
            tally.touch();
        }
        tally.drain(drained);
    }

    /// Counts a failure of an admitted call.
    pub(super) fn failed(&self, counts: &[Arc<Counts>]) {
        counts.iter().for_each(|counts| counts.failed());
        self.lock().touch();
    }

    /// Counts a move of the state, or one that came too late.
    pub(super) fn moved(&self, end: &Ended<'_>, in_state_since: Option<DateTime<Utc>>) {
        self.lock().moved(end, in_state_since);
    }

    /// Notes that a credential which looks like a key of the project was refused.
    pub(super) fn refused(&self, rules: &AlertThresholds, at: DateTime<Utc>, address: IpAddr) {
        self.lock().refused(rules, at, address);
    }

    /// Notes how long a session was in a state.
    pub(super) fn left_state(&self, state: &str, spent: TimeDelta) {
        self.lock().left_state(state, spent);
    }
}

impl Usage {
    /// Starts from what the database knows.
    pub(super) async fn load(store: &Store, metrics: Metrics) -> Result<Self, StoreError> {
        let usage = Self {
            metrics,
            projects: RwLock::default(),
        };
        usage.follow(store, DateTime::UNIX_EPOCH).await?;
        Ok(usage)
    }

    /// Takes over what other servers have counted since a time.
    pub(super) async fn follow(&self, store: &Store, since: DateTime<Utc>) -> Result<(), StoreError> {
        let since = since.max(DateTime::UNIX_EPOCH + OVERLAP) - OVERLAP;
        for total in store.usage_totals(since, LOADED).await? {
            self.know(&total);
        }
        for row in store.group_uses(since, LOADED).await? {
            self.know_use(&row);
        }
        Ok(())
    }

    fn know(&self, total: &UsageTotal) {
        self.of(total.project).lock().know(total);
    }

    fn know_use(&self, row: &GroupUseRow) {
        if let Some(principal) = PrincipalRef::parse(&row.principal) {
            self.of(row.project).lock().know_use(&principal, row);
        }
    }

    /// Counts one decided request.
    pub(super) fn observed(
        &self,
        seen: &Observed<'_>,
        held_since: impl FnOnce() -> Option<DateTime<Utc>>,
    ) -> Ticket {
        let project = self.of(seen.project.row.uid);
        let counts = {
            let mut tally = project.lock();
            self.label(&mut tally, seen.project);
            tally.observed(seen, held_since)
        };
        Ticket {
            project,
            counts,
            started: seen.at,
            in_state_since: None,
            line: None,
        }
    }

    /// A project that requests name.
    pub(super) fn project(&self, state: &ProjectState) -> Arc<ProjectUsage> {
        let project = self.of(state.row.uid);
        self.label(&mut project.lock(), state);
        project
    }

    fn label(&self, tally: &mut Tally, state: &ProjectState) {
        if !tally.is_labelled() {
            tally.label(self.metrics.project(state.row.id.as_str()));
        }
    }

    fn of(&self, uid: ProjectUid) -> Arc<ProjectUsage> {
        if let Some(known) = self.read(uid) {
            return known;
        }
        let mut projects = self.projects.write().unwrap_or_else(PoisonError::into_inner);
        let made = || {
            Arc::new(ProjectUsage {
                tally: Mutex::new(Tally::new(uid)),
                ended: AtomicBool::new(false),
            })
        };
        Arc::clone(projects.entry(uid).or_insert_with(made))
    }

    fn read(&self, uid: ProjectUid) -> Option<Arc<ProjectUsage>> {
        self.projects
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&uid)
            .cloned()
    }

    /// A tool's calls, here and, up to half a minute ago, on every other server. `None` when it was never asked for.
    #[must_use]
    pub fn tool(&self, project: ProjectUid, name: &str) -> Option<Used> {
        self.used(project, UsageKind::Tool, name)
    }

    /// A group's requests. `None` when it was never asked for.
    #[must_use]
    pub fn group(&self, project: ProjectUid, name: &str) -> Option<Used> {
        self.used(project, UsageKind::Group, name)
    }

    /// A principal's requests. `None` when it was never seen, or not for very long.
    #[must_use]
    pub fn principal(&self, project: ProjectUid, kind: PrincipalKind, id: &str) -> Option<Used> {
        self.read(project)?.lock().principal(kind, id)
    }

    fn used(&self, project: ProjectUid, kind: UsageKind, name: &str) -> Option<Used> {
        self.read(project)?.lock().used(kind, name)
    }

    /// Takes everything that is to be stored.
    pub(super) fn drain(&self) -> Drained {
        let projects: Vec<_> = {
            let projects = self.projects.read().unwrap_or_else(PoisonError::into_inner);
            projects.values().cloned().collect()
        };
        let mut drained = Drained::default();
        for project in projects {
            project.drain(&mut drained);
        }
        drained
    }

    /// Drops projects that are deleted.
    pub(super) fn keep_only(&self, lives: impl Fn(ProjectUid) -> bool) {
        self.projects
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|&uid, _| lives(uid));
    }
}
