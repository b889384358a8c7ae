//! How often what was asked for.

use std::sync::Arc;

use axum::extract::State;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use toolgate_api::ErrorCode;
use toolgate_api::usage::{UsageCounts, UsageHour, UsageReport};
use toolgate_core::principal::Permission;
use toolgate_store::rows::UsageKind;

use crate::extract::{InProject, Query, ReadDefinitions, check_lengths};
use crate::gateway::observe::{self, first_hour};
use crate::gateway::{Gateway, Problem, cursor};

/// Hours of a week, the longest window.
const WEEK: u32 = 168;

/// Which usage to report.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct UsageQuery {
    /// Hours of the window, the present one included.
    #[param(minimum = 1, maximum = 168, default = 24)]
    hours: Option<u32>,
    /// Report the hours and totals of this tool alone.
    #[param(max_length = 128)]
    tool: Option<String>,
    /// Names per list.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// Report usage
///
/// How many calls were admitted, refused and failed: hour by hour, and by tool, group and principal. Principals are shown
/// to those who may read the record. Counts are a few seconds old at most.
#[utoipa::path(get, path = "/projects/{project_id}/usage", tag = "usage", params(super::ProjectPath, UsageQuery),
    responses((status = 200, description = "The usage", body = UsageReport)))]
pub async fn get_usage(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
    Query(query): Query<UsageQuery>,
) -> Result<axum::Json<UsageReport>, Problem> {
    check_lengths(&[("tool", &query.tool, 128)])?;
    let limit = u32::try_from(cursor::limit(query.limit)?).unwrap_or(u32::MAX);
    let hours = query.hours.unwrap_or(24);
    if !(1..=WEEK).contains(&hours) {
        return Err(Problem::new(
            ErrorCode::MalformedRequest,
            format!("`hours` is {hours}; it must be from 1 to {WEEK}."),
        ));
    }
    let until = gateway.clock.now();
    let since = first_hour(until, hours);
    if let Err(error) = observe::flush(&gateway).await {
        tracing::debug!(
            cause = format!("{error:#}"),
            "the latest counts are not in this report"
        );
    }
    let uid = place.project.row.uid;
    let (kind, name) = match &query.tool {
        Some(tool) => (UsageKind::Tool, tool.as_str()),
        None => (UsageKind::Project, ""),
    };
    let counted = gateway.store.usage_by_hour(uid, kind, name, since).await?;
    let by_name = async |kind| gateway.store.usage_by_name(uid, kind, since, limit).await;
    let principals = if place.may(Permission::ReadAudit) {
        Some(by_name(UsageKind::Principal).await?)
    } else {
        None
    };
    Ok(axum::Json(UsageReport {
        since,
        until,
        totals: sum(&counted),
        hours: every_hour(since, hours, counted),
        tools: by_name(UsageKind::Tool).await?,
        groups: by_name(UsageKind::Group).await?,
        principals,
    }))
}

fn sum(hours: &[UsageHour]) -> UsageCounts {
    hours
        .iter()
        .fold(UsageCounts::default(), |sum, hour| UsageCounts {
            calls: sum.calls + hour.counts.calls,
            denials: sum.denials + hour.counts.denials,
            failures: sum.failures + hour.counts.failures,
        })
}

/// Puts in the hours in which nothing was asked.
fn every_hour(since: DateTime<Utc>, hours: u32, counted: Vec<UsageHour>) -> Vec<UsageHour> {
    let mut counted = counted.into_iter().peekable();
    (0..hours)
        .map(|n| {
            let at = since + TimeDelta::hours(i64::from(n));
            counted
                .next_if(|hour| hour.at == at)
                .unwrap_or_else(|| UsageHour {
                    at,
                    counts: UsageCounts::default(),
                })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn the_window_begins_at_a_full_hour_and_ends_with_the_present_one() {
        let now = at("2026-03-01T10:59:59Z");
        assert_eq!(first_hour(now, 1), at("2026-03-01T10:00:00Z"));
        assert_eq!(first_hour(now, 24), at("2026-02-28T11:00:00Z"));
    }

    #[test]
    fn empty_hours_are_shown() {
        let since = at("2026-03-01T10:00:00Z");
        let busy = UsageHour {
            at: at("2026-03-01T11:00:00Z"),
            counts: UsageCounts {
                calls: 3,
                denials: 2,
                failures: 1,
            },
        };
        let hours = every_hour(since, 3, vec![busy.clone()]);
        assert_eq!(hours.len(), 3);
        assert_eq!(hours[1], busy);
        assert_eq!(
            (hours[0].counts, hours[2].at),
            (UsageCounts::default(), at("2026-03-01T12:00:00Z"))
        );
        assert_eq!(sum(&hours), busy.counts);
    }
}
