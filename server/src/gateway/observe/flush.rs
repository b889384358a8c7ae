//! From memory to the database: counts, uses of groups, and the patterns that were found.

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_core::alerts;
use toolgate_core::ids::ProjectUid;
use toolgate_core::principal::PrincipalRef;
use toolgate_store::rows::{GroupUseRow, NO_PROJECT, UsageDelta};

use super::upstreams::FailingUpstreams;
use super::{Found, key_since};
use crate::gateway::Gateway;
use crate::gateway::server_snapshot::ServerSnapshot;

/// Rows that wait while the database is unavailable; beyond that, the oldest are dropped.
const MAX_WAITING: usize = 200_000;
/// How often the counts of other servers are looked at.
const FOLLOW: TimeDelta = TimeDelta::seconds(30);
/// How long the hours are kept.
const HOURS_KEPT: TimeDelta = TimeDelta::days(8);
/// How long series are kept by the minute.
pub const MINUTE_POINTS_KEPT: TimeDelta = TimeDelta::days(2);
/// How long series are kept by the hour.
pub const HOUR_POINTS_KEPT: TimeDelta = TimeDelta::days(35);

/// What could not be stored yet.
#[derive(Default)]
pub(super) struct Backlog {
    deltas: Vec<UsageDelta>,
    uses: Vec<GroupUseRow>,
    found: Vec<(ProjectUid, Found)>,
    followed_at: Option<DateTime<Utc>>,
    failing: FailingUpstreams,
}

/// Stores what was counted and found since the last time. One runs at a time; a second one waits and then stores what
/// came meanwhile.
///
/// # Errors
/// When the database does not answer; nothing is lost then, and the next time stores it.
pub async fn flush(gateway: &Gateway) -> anyhow::Result<()> {
    let mut backlog = gateway.observer.backlog.lock().await;
    let drained = gateway.observer.usage.drain();
    let refused = std::mem::take(&mut gateway.observer.refusals().found);
    backlog.deltas.extend(drained.deltas);
    backlog.uses.extend(drained.uses);
    backlog.found.extend(drained.found);
    backlog
        .found
        .extend(refused.into_iter().map(|found| (NO_PROJECT, found)));
    let failing = backlog.failing.look(gateway);
    backlog.found.extend(failing);
    backlog.bound();

    if !backlog.deltas.is_empty() {
        merge(&mut backlog.deltas);
        let (stored, result) = gateway.store.add_usage(&mut backlog.deltas).await;
        backlog.deltas.drain(..stored);
        result?;
    }
    if !backlog.uses.is_empty() {
        let first = gateway.store.add_group_uses(&mut backlog.uses).await?;
        backlog.uses.clear();
        let server_snapshot = gateway.snapshots.now();
        let found = first
            .iter()
            .filter_map(|row| first_use(gateway, &server_snapshot, row));
        backlog.found.extend(found);
    }
    while let Some((project, found)) = backlog.found.last() {
        super::super::alerts::raise(gateway, *project, found).await?;
        backlog.found.pop();
    }
    follow(gateway, &mut backlog).await
}

/// Takes over what other servers have counted. On SQLite there is no other server.
async fn follow(gateway: &Gateway, backlog: &mut Backlog) -> anyhow::Result<()> {
    let now = gateway.clock.now();
    let since = *backlog.followed_at.get_or_insert(now);
    if gateway.store.backend_name() != "sqlite" && now - since >= FOLLOW {
        gateway.observer.usage.follow(&gateway.store, since).await?;
        backlog.followed_at = Some(now);
    }
    Ok(())
}

/// Deletes old hours, and what belongs to deleted projects.
///
/// # Errors
/// When the database does not answer.
pub async fn prune(gateway: &Gateway) -> anyhow::Result<()> {
    let now = gateway.clock.now();
    gateway.store.prune_usage(now - HOURS_KEPT).await?;
    gateway
        .store
        .prune_usage_series(now, MINUTE_POINTS_KEPT, HOUR_POINTS_KEPT)
        .await?;
    gateway
        .store
        .prune_alerts(now - super::super::alerts::KEPT)
        .await?;
    gateway
        .store
        .prune_access_requests(now - super::super::access_requests::KEPT)
        .await?;
    let server_snapshot = gateway.snapshots.now();
    let living: std::collections::HashSet<_> = server_snapshot
        .projects()
        .map(|project| project.row.uid)
        .collect();
    gateway.observer.usage.keep_only(|uid| living.contains(&uid));
    Ok(())
}

impl Backlog {
    fn bound(&mut self) {
        let over = self.deltas.len().saturating_sub(MAX_WAITING);
        if over > 0 {
            self.deltas.drain(..over);
            tracing::warn!(
                over,
                "usage counts were given up, because the database is away for too long"
            );
        }
        let over = self.uses.len().saturating_sub(MAX_WAITING);
        self.uses.drain(..over);
        let over = self.found.len().saturating_sub(super::MAX_FOUND);
        self.found.drain(..over);
    }
}

/// Makes one row of those that count the same.
pub(super) fn merge(deltas: &mut Vec<UsageDelta>) {
    deltas.sort_unstable_by(|a, b| {
        (a.project, a.kind, &a.name, a.minute).cmp(&(b.project, b.kind, &b.name, b.minute))
    });
    deltas.dedup_by(|next, kept| {
        let same = (next.project, next.kind, &next.name, next.minute)
            == (kept.project, kept.kind, &kept.name, kept.minute);
        if same {
            kept.counts.calls += next.counts.calls;
            kept.counts.denials += next.counts.denials;
            kept.counts.failures += next.counts.failures;
            kept.took = std::mem::take(&mut kept.took).and(&next.took);
            kept.last_at = kept.last_at.max(next.last_at);
        }
        same
    });
}

/// The pattern "first use of a group", if it is one of a key that is old enough.
fn first_use(
    gateway: &Gateway,
    server_snapshot: &ServerSnapshot,
    row: &GroupUseRow,
) -> Option<(ProjectUid, Found)> {
    let principal = PrincipalRef::parse(&row.principal)?;
    let project = server_snapshot
        .projects()
        .find(|project| project.row.uid == row.project)?;
    let since = key_since(gateway, principal.kind, &principal.id);
    alerts::first_use_counts(&project.settings.alerts, row.first_at, since).then(|| {
        let found = Found {
            finding: alerts::first_use(&row.group),
            at: row.first_at,
            subject: row.principal.clone(),
            subject_name: super::super::alerts::key_name(server_snapshot, &principal),
            request_id: None,
        };
        (row.project, found)
    })
}
