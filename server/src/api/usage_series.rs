//! How often what was asked for, over time.

use std::sync::Arc;

use axum::extract::State;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use toolgate_api::ErrorCode;
use toolgate_api::usage::{UsageBy, UsageCounts, UsageDurations, UsageLine, UsagePoint, UsageSeries};
use toolgate_core::durations::percentile;
use toolgate_core::principal::Permission;
use toolgate_core::usage_slots::{LONGEST, slots};
use toolgate_store::rows::{SeriesQuery, SeriesRow, SeriesSlot, Took, UsageKind};

use crate::extract::{InProject, Query, ReadDefinitions, check_lengths};
use crate::gateway::observe::{self, MINUTE_POINTS_KEPT};
use crate::gateway::{Gateway, Problem};

/// The most names of one answer.
const MOST_LINES: u32 = 20;

/// Which series to report.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct UsageSeriesQuery {
    /// Where the window begins; a day before its end without it.
    since: Option<DateTime<Utc>>,
    /// Where the window ends; now without it. It is longer than nothing and no longer than 366 days.
    until: Option<DateTime<Utc>>,
    /// What the series are about.
    #[serde(default)]
    #[param(inline, default = "total")]
    by: UsageBy,
    /// Only the series of this tool, group, principal or entrance.
    #[param(max_length = 1100)]
    name: Option<String>,
    /// The most names.
    #[param(minimum = 1, maximum = 20, default = 8)]
    limit: Option<u32>,
}

/// Report usage over time
///
/// Calls, refusals and failures in slots of one length, with percentiles of how long calls took: of the project, or of each
/// tool, group, principal or entrance with the most requests. Slots have from one minute to a week, as the window asks for;
/// minutes are kept for two days and hours for five weeks. Series of principals are shown to those who may read the record.
#[utoipa::path(get, path = "/projects/{project_id}/usage/series", tag = "usage",
    params(super::ProjectPath, UsageSeriesQuery),
    responses((status = 200, description = "The series", body = UsageSeries)))]
pub async fn get_usage_series(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
    Query(query): Query<UsageSeriesQuery>,
) -> Result<axum::Json<UsageSeries>, Problem> {
    check_lengths(&[("name", &query.name, 1100)])?;
    let limit = query.limit.unwrap_or(8);
    if !(1..=MOST_LINES).contains(&limit) {
        return Err(invalid(&format!(
            "`limit` is {limit}; it must be from 1 to {MOST_LINES}"
        )));
    }
    if query.by == UsageBy::Principal && !place.may(Permission::ReadAudit) {
        return Err(Problem::new(
            ErrorCode::Forbidden,
            "Series of principals are shown to those who may read the record: owners and auditors.",
        ));
    }
    let now = gateway.clock.now();
    let until = query.until.unwrap_or(now);
    let a_day = || until.checked_sub_signed(TimeDelta::days(1)).unwrap_or(until);
    let since = query.since.unwrap_or_else(a_day);
    let window = slots(since, until, now - MINUTE_POINTS_KEPT).ok_or_else(|| {
        let days = LONGEST.num_days();
        invalid(&format!(
            "`until` must be later than `since`, by {days} days at most"
        ))
    })?;
    if let Err(error) = observe::flush(&gateway).await {
        tracing::debug!(
            cause = format!("{error:#}"),
            "the latest counts are not in this report"
        );
    }
    let asked = SeriesQuery {
        kind: kind(query.by),
        name: query.name.as_deref(),
        since: window.since,
        until: window.until,
        slot_s: window.slot_s,
        limit,
    };
    let rows = gateway.store.usage_series(place.project.row.uid, &asked).await?;
    Ok(axum::Json(UsageSeries {
        since: window.since,
        until: window.until,
        slot_s: window.slot_s,
        lines: rows.into_iter().map(line).collect(),
    }))
}

fn kind(by: UsageBy) -> UsageKind {
    match by {
        UsageBy::Total => UsageKind::Project,
        UsageBy::Tool => UsageKind::Tool,
        UsageBy::Group => UsageKind::Group,
        UsageBy::Principal => UsageKind::Principal,
        UsageBy::Entrance => UsageKind::Entrance,
    }
}

fn line(row: SeriesRow) -> UsageLine {
    let mut totals = UsageCounts::default();
    let mut took = Took::default();
    for slot in &row.slots {
        totals.calls += slot.counts.calls;
        totals.denials += slot.counts.denials;
        totals.failures += slot.counts.failures;
        took = took.and(&Took {
            spread: slot.spread.clone(),
            ..Took::default()
        });
    }
    UsageLine {
        name: row.name,
        totals,
        durations: durations(&took.spread),
        points: row.slots.iter().map(point).collect(),
    }
}

fn point(slot: &SeriesSlot) -> UsagePoint {
    UsagePoint {
        at: DateTime::from_timestamp(slot.at_s, 0).unwrap_or_default(),
        counts: slot.counts,
        durations: durations(&slot.spread),
    }
}

fn durations(spread: &[(usize, i64)]) -> Option<UsageDurations> {
    Some(UsageDurations {
        p50_ms: percentile(spread, 50)?,
        p95_ms: percentile(spread, 95)?,
        p99_ms: percentile(spread, 99)?,
    })
}

fn invalid(problem: &str) -> Problem {
    Problem::new(
        ErrorCode::MalformedRequest,
        format!("The query is not valid: {problem}."),
    )
}
