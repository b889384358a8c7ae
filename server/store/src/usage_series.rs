//! Counts over time: by the minute for two days, by the hour for weeks.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::usage::UsageCounts;
use toolgate_core::ids::ProjectUid;

use crate::Store;
use crate::codec::{Word, micros, text};
use crate::db::{both, execute, writing};
use crate::error::Result;
use crate::rows::{SeriesQuery, SeriesRow, SeriesSlot, UsageDelta};

/// Seconds of the two steps that are kept.
pub(crate) const MINUTE_S: i64 = 60;
pub(crate) const HOUR_S: i64 = 3600;
/// Microseconds of a second.
const SECOND: i64 = 1_000_000;

/// Name, slot, calls, denials and failures.
type PointColumns = (String, i64, i64, i64, i64);

/// Name, slot, range and calls.
type DurationColumns = (String, i64, i64, i64);

/// What is added to one point.
pub(crate) struct Point<'a> {
    pub(crate) delta: &'a UsageDelta,
    pub(crate) step_s: i64,
    /// Microseconds since 1970.
    pub(crate) at: i64,
}

/// The points that deltas are added to, in the order of their keys.
pub(crate) fn points(deltas: &[UsageDelta]) -> impl Iterator<Item = Point<'_>> {
    [MINUTE_S, HOUR_S].into_iter().flat_map(move |step_s| {
        deltas.iter().map(move |delta| Point {
            delta,
            step_s,
            at: micros(delta.minute).div_euclid(step_s * SECOND) * step_s * SECOND,
        })
    })
}

/// Adds to the points of both steps, in a transaction.
macro_rules! add_points {
    ($tx:expr, $deltas:expr) => {
        for point in $crate::usage_series::points($deltas) {
            let delta = point.delta;
            $crate::db::execute!(
                $tx,
                "INSERT INTO usage_points (project_uid, kind, step, at, name, calls, denials, failures)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
                 ON CONFLICT (project_uid, kind, step, at, name) DO UPDATE SET
                     calls = usage_points.calls + excluded.calls,
                     denials = usage_points.denials + excluded.denials,
                     failures = usage_points.failures + excluded.failures",
                delta.project.0,
                delta.kind.word(),
                point.step_s,
                point.at,
                text(&delta.name),
                delta.counts.calls,
                delta.counts.denials,
                delta.counts.failures,
            );
        }
        for point in $crate::usage_series::points($deltas) {
            let delta = point.delta;
            for (bucket, calls) in &delta.took.spread {
                $crate::db::execute!(
                    $tx,
                    "INSERT INTO usage_durations (project_uid, kind, step, at, name, bucket, calls)
                     VALUES ($1, $2, $3, $4, $5, $6, $7)
                     ON CONFLICT (project_uid, kind, step, at, name, bucket) DO UPDATE SET
                         calls = usage_durations.calls + excluded.calls",
                    delta.project.0,
                    delta.kind.word(),
                    point.step_s,
                    point.at,
                    text(&delta.name),
                    i64::try_from(*bucket).unwrap_or(i64::MAX),
                    *calls,
                );
            }
        }
    };
}
pub(crate) use add_points;

impl Store {
    /// The series of the names with the most requests, or of one name. The finer points are read for slots of less than an
    /// hour. Slots in which nothing was counted are left out.
    pub async fn usage_series(&self, project: ProjectUid, query: &SeriesQuery<'_>) -> Result<Vec<SeriesRow>> {
        let step_s = if query.slot_s < HOUR_S { MINUTE_S } else { HOUR_S };
        let points: Vec<PointColumns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT name, at - at % $6, CAST(SUM(calls) AS BIGINT), CAST(SUM(denials) AS BIGINT),
                        CAST(SUM(failures) AS BIGINT)
                 FROM usage_points
                 WHERE project_uid = $1 AND kind = $2 AND step = $3 AND at >= $4 AND at < $5 AND name IN (
                     SELECT name FROM usage_points
                     WHERE project_uid = $1 AND kind = $2 AND step = $3 AND at >= $4 AND at < $5
                       AND ($7 IS NULL OR name = $7)
                     GROUP BY name ORDER BY SUM(calls) + SUM(denials) DESC, name LIMIT $8)
                 GROUP BY name, at - at % $6 ORDER BY 2",
            )
            .bind(project.0)
            .bind(query.kind.word())
            .bind(step_s)
            .bind(micros(query.since))
            .bind(micros(query.until))
            .bind(query.slot_s * SECOND)
            .bind(query.name.map(text))
            .bind(i64::from(query.limit))
            .fetch_all(pool)
            .await?
        })
        .await?;
        let mut series: BTreeMap<String, BTreeMap<i64, SeriesSlot>> = BTreeMap::new();
        for (name, at, calls, denials, failures) in points {
            let slot = series.entry(name).or_default().entry(at / SECOND).or_default();
            slot.at_s = at / SECOND;
            slot.counts = UsageCounts {
                calls,
                denials,
                failures,
            };
        }
        for name in series.keys().cloned().collect::<Vec<_>>() {
            for (at, bucket, calls) in self.durations(project, query, step_s, &name).await? {
                let slots = series.get_mut(&name).and_then(|slots| slots.get_mut(&at));
                if let (Some(slot), Ok(bucket)) = (slots, usize::try_from(bucket)) {
                    slot.spread.push((bucket, calls));
                }
            }
        }
        let mut rows: Vec<SeriesRow> = series
            .into_iter()
            .map(|(name, slots)| SeriesRow {
                name,
                slots: slots.into_values().collect(),
            })
            .collect();
        let requests = |row: &SeriesRow| -> i64 {
            let counts = row.slots.iter().map(|slot| slot.counts);
            counts.map(|counts| counts.calls + counts.denials).sum()
        };
        rows.sort_by_cached_key(|row| std::cmp::Reverse(requests(row)));
        Ok(rows)
    }

    /// Slot, range and calls of one name, in order.
    async fn durations(
        &self,
        project: ProjectUid,
        query: &SeriesQuery<'_>,
        step_s: i64,
        name: &str,
    ) -> Result<Vec<(i64, i64, i64)>> {
        let rows: Vec<DurationColumns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT name, at - at % $6, bucket, CAST(SUM(calls) AS BIGINT) FROM usage_durations
                 WHERE project_uid = $1 AND kind = $2 AND step = $3 AND at >= $4 AND at < $5 AND name = $7
                 GROUP BY name, at - at % $6, bucket ORDER BY 2, 3",
            )
            .bind(project.0)
            .bind(query.kind.word())
            .bind(step_s)
            .bind(micros(query.since))
            .bind(micros(query.until))
            .bind(query.slot_s * SECOND)
            .bind(text(name))
            .fetch_all(pool)
            .await?
        })
        .await?;
        let slot = |(_, at, bucket, calls): DurationColumns| (at / SECOND, bucket, calls);
        Ok(rows.into_iter().map(slot).collect())
    }

    /// Deletes the points that are older than these spans, and those of deleted projects.
    pub async fn prune_usage_series(
        &self,
        now: DateTime<Utc>,
        minutes_kept: TimeDelta,
        hours_kept: TimeDelta,
    ) -> Result<()> {
        writing!(self, |tx| {
            for (step_s, kept) in [(MINUTE_S, minutes_kept), (HOUR_S, hours_kept)] {
                for table in [
                    "DELETE FROM usage_points WHERE step = $1 AND at < $2",
                    "DELETE FROM usage_durations WHERE step = $1 AND at < $2",
                ] {
                    execute!(tx, table, step_s, micros(now - kept));
                }
            }
            for table in [
                "DELETE FROM usage_points
                 WHERE project_uid IN (SELECT uid FROM projects WHERE deleted_at IS NOT NULL)",
                "DELETE FROM usage_durations
                 WHERE project_uid IN (SELECT uid FROM projects WHERE deleted_at IS NOT NULL)",
            ] {
                execute!(tx, table);
            }
        })
        .await
    }
}
