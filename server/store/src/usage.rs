//! Counts of tools, groups and principals: by the hour, in total, and who has used which group.

use chrono::{DateTime, Utc};
use toolgate_api::usage::{UsageCounts, UsageHour, UsageItem};
use toolgate_core::ids::ProjectUid;
use uuid::Uuid;

use crate::Store;
use crate::codec::{Word, micros, text, time};
use crate::db::{both, execute, writing};
use crate::error::Result;
use crate::rows::{GroupUseRow, UsageDelta, UsageKind, UsageTotal};
use crate::usage_series::add_points;

/// Rows that one transaction writes: few, because calls on SQLite wait for it.
const PER_TRANSACTION: usize = 60;
/// Microseconds of an hour.
const HOUR: i64 = 3_600_000_000;

/// Project, kind, name, calls, denials, failures and when last.
type TotalColumns = (Uuid, String, String, i64, i64, i64, i64);

/// Name, calls, denials, failures, when last, ended calls, their milliseconds and those of the slowest.
type NamedColumns = (String, i64, i64, i64, i64, i64, i64, i64);

impl Store {
    /// Adds to the counts. Rows are written in the order of their keys, so that servers that do this at the same time
    /// wait for each other and never deadlock. Returns how many of the rows are stored: all of them, or, with an error,
    /// those that need not be given again.
    pub async fn add_usage(&self, deltas: &mut [UsageDelta]) -> (usize, Result<()>) {
        deltas.sort_unstable_by(|a, b| {
            (a.project, a.kind, &a.name, a.minute).cmp(&(b.project, b.kind, &b.name, b.minute))
        });
        let mut stored = 0;
        for part in deltas.chunks(PER_TRANSACTION) {
            let added = self.add_usage_at_once(part).await;
            if added.is_err() {
                return (stored, added);
            }
            stored += part.len();
        }
        (stored, Ok(()))
    }

    async fn add_usage_at_once(&self, deltas: &[UsageDelta]) -> Result<()> {
        writing!(self, |tx| {
            // Entrances have series only.
            let has_totals = |delta: &&UsageDelta| delta.kind != UsageKind::Entrance;
            for delta in deltas.iter().filter(has_totals) {
                execute!(
                    tx,
                    "INSERT INTO usage_totals (project_uid, kind, name, calls, denials, failures, last_at)
                     VALUES ($1, $2, $3, $4, $5, $6, $7)
                     ON CONFLICT (project_uid, kind, name) DO UPDATE SET
                         calls = usage_totals.calls + excluded.calls,
                         denials = usage_totals.denials + excluded.denials,
                         failures = usage_totals.failures + excluded.failures,
                         last_at = CASE WHEN excluded.last_at > usage_totals.last_at
                                        THEN excluded.last_at ELSE usage_totals.last_at END",
                    delta.project.0,
                    delta.kind.word(),
                    text(&delta.name),
                    delta.counts.calls,
                    delta.counts.denials,
                    delta.counts.failures,
                    micros(delta.last_at),
                );
            }
            // All of one table before the other: the order of locks stays the same in every transaction.
            for delta in deltas.iter().filter(has_totals) {
                execute!(
                    tx,
                    "INSERT INTO usage_hours (project_uid, kind, hour, name, calls, denials, failures, last_at,
                                              ended, total_ms, slowest_ms)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
                     ON CONFLICT (project_uid, kind, hour, name) DO UPDATE SET
                         calls = usage_hours.calls + excluded.calls,
                         denials = usage_hours.denials + excluded.denials,
                         failures = usage_hours.failures + excluded.failures,
                         ended = usage_hours.ended + excluded.ended,
                         total_ms = usage_hours.total_ms + excluded.total_ms,
                         slowest_ms = CASE WHEN excluded.slowest_ms > usage_hours.slowest_ms
                                           THEN excluded.slowest_ms ELSE usage_hours.slowest_ms END,
                         last_at = CASE WHEN excluded.last_at > usage_hours.last_at
                                        THEN excluded.last_at ELSE usage_hours.last_at END",
                    delta.project.0,
                    delta.kind.word(),
                    micros(delta.minute) / HOUR * HOUR,
                    text(&delta.name),
                    delta.counts.calls,
                    delta.counts.denials,
                    delta.counts.failures,
                    micros(delta.last_at),
                    delta.took.ended,
                    delta.took.total_ms,
                    delta.took.slowest_ms,
                );
            }
            add_points!(tx, deltas);
        })
        .await
    }

    /// Stores that groups were used; those of the rows that are the very first use, as far as any server knows.
    pub async fn add_group_uses(&self, uses: &mut [GroupUseRow]) -> Result<Vec<GroupUseRow>> {
        uses.sort_unstable_by(|a, b| {
            (a.project, &a.principal, &a.group).cmp(&(b.project, &b.principal, &b.group))
        });
        let mut first = Vec::new();
        for part in uses.chunks(PER_TRANSACTION) {
            let new: Vec<bool> = writing!(self, |tx| {
                let mut new = Vec::with_capacity(part.len());
                for row in part {
                    let inserted = execute!(
                        tx,
                        "INSERT INTO group_uses (project_uid, principal, group_name, first_at, last_at)
                         VALUES ($1, $2, $3, $4, $5)
                         ON CONFLICT (project_uid, principal, group_name) DO NOTHING",
                        row.project.0,
                        text(&row.principal),
                        text(&row.group),
                        micros(row.first_at),
                        micros(row.last_at),
                    );
                    if inserted == 0 {
                        execute!(
                            tx,
                            "UPDATE group_uses SET last_at = $4
                             WHERE project_uid = $1 AND principal = $2 AND group_name = $3 AND last_at < $4",
                            row.project.0,
                            text(&row.principal),
                            text(&row.group),
                            micros(row.last_at),
                        );
                    }
                    new.push(inserted > 0);
                }
                new
            })
            .await?;
            first.extend(
                part.iter()
                    .zip(new)
                    .filter(|(_, new)| *new)
                    .map(|(row, _)| row.clone()),
            );
        }
        Ok(first)
    }

    /// The totals in projects that are not deleted of what was asked for at or after a time, the latest first.
    pub async fn usage_totals(&self, since: DateTime<Utc>, limit: u32) -> Result<Vec<UsageTotal>> {
        let rows: Vec<TotalColumns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT u.project_uid, u.kind, u.name, u.calls, u.denials, u.failures, u.last_at
                 FROM usage_totals u JOIN projects p ON p.uid = u.project_uid
                 WHERE p.deleted_at IS NULL AND u.last_at >= $1 ORDER BY u.last_at DESC LIMIT $2",
            )
            .bind(micros(since))
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter()
            .map(|(project, kind, name, calls, denials, failures, last_at)| {
                Ok(UsageTotal {
                    project: ProjectUid(project),
                    kind: UsageKind::from_word(&kind)?,
                    name,
                    counts: UsageCounts {
                        calls,
                        denials,
                        failures,
                    },
                    last_at: time(last_at)?,
                })
            })
            .collect()
    }

    /// Who has used which group of a project, in no order.
    pub async fn group_uses_of(&self, project: ProjectUid) -> Result<Vec<GroupUseRow>> {
        let rows: Vec<(String, String, i64, i64)> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT principal, group_name, first_at, last_at FROM group_uses WHERE project_uid = $1",
            )
            .bind(project.0)
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter()
            .map(|(principal, group, first_at, last_at)| {
                Ok(GroupUseRow {
                    project,
                    principal,
                    group,
                    first_at: time(first_at)?,
                    last_at: time(last_at)?,
                })
            })
            .collect()
    }

    /// Who has used which group in projects that are not deleted, at or after a time, the latest first.
    pub async fn group_uses(&self, since: DateTime<Utc>, limit: u32) -> Result<Vec<GroupUseRow>> {
        let rows: Vec<(Uuid, String, String, i64, i64)> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT u.project_uid, u.principal, u.group_name, u.first_at, u.last_at
                 FROM group_uses u JOIN projects p ON p.uid = u.project_uid
                 WHERE p.deleted_at IS NULL AND u.last_at >= $1 ORDER BY u.last_at DESC LIMIT $2",
            )
            .bind(micros(since))
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter()
            .map(|(project, principal, group, first_at, last_at)| {
                Ok(GroupUseRow {
                    project: ProjectUid(project),
                    principal,
                    group,
                    first_at: time(first_at)?,
                    last_at: time(last_at)?,
                })
            })
            .collect()
    }

    /// The hours of one name since a time, in order; hours without any request are left out.
    pub async fn usage_by_hour(
        &self,
        project: ProjectUid,
        kind: UsageKind,
        name: &str,
        since: DateTime<Utc>,
    ) -> Result<Vec<UsageHour>> {
        let rows: Vec<(i64, i64, i64, i64)> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT hour, calls, denials, failures FROM usage_hours
                 WHERE project_uid = $1 AND kind = $2 AND hour >= $3 AND name = $4 ORDER BY hour",
            )
            .bind(project.0)
            .bind(kind.word())
            .bind(micros(since))
            .bind(text(name))
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter()
            .map(|(hour, calls, denials, failures)| {
                Ok(UsageHour {
                    at: time(hour)?,
                    counts: UsageCounts {
                        calls,
                        denials,
                        failures,
                    },
                })
            })
            .collect()
    }

    /// The names of a kind with the most requests since a time, with their sums.
    pub async fn usage_by_name(
        &self,
        project: ProjectUid,
        kind: UsageKind,
        since: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<UsageItem>> {
        let rows: Vec<NamedColumns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT name, CAST(SUM(calls) AS BIGINT), CAST(SUM(denials) AS BIGINT),
                        CAST(SUM(failures) AS BIGINT), MAX(last_at),
                        CAST(SUM(ended) AS BIGINT), CAST(SUM(total_ms) AS BIGINT), MAX(slowest_ms)
                 FROM usage_hours WHERE project_uid = $1 AND kind = $2 AND hour >= $3
                 GROUP BY name ORDER BY SUM(calls) + SUM(denials) DESC, name LIMIT $4",
            )
            .bind(project.0)
            .bind(kind.word())
            .bind(micros(since))
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter()
            .map(
                |(name, calls, denials, failures, last_at, ended, total_ms, slowest_ms)| {
                    Ok(UsageItem {
                        name,
                        counts: UsageCounts {
                            calls,
                            denials,
                            failures,
                        },
                        last_at: time(last_at)?,
                        mean_ms: total_ms.checked_div(ended),
                        slowest_ms: (ended > 0).then_some(slowest_ms),
                    })
                },
            )
            .collect()
    }

    /// Deletes the hours that began before a time, and everything of deleted projects.
    pub async fn prune_usage(&self, hours_before: DateTime<Utc>) -> Result<()> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM usage_hours WHERE hour < $1",
                micros(hours_before)
            );
            execute!(
                tx,
                "DELETE FROM usage_totals
                 WHERE project_uid IN (SELECT uid FROM projects WHERE deleted_at IS NOT NULL)"
            );
            execute!(
                tx,
                "DELETE FROM group_uses
                 WHERE project_uid IN (SELECT uid FROM projects WHERE deleted_at IS NOT NULL)"
            );
        })
        .await
    }
}
