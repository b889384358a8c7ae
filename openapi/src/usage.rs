//! Usage: how often tools, groups and principals were asked for, over time.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// What was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UsageCounts {
    /// Admitted calls, whether they succeeded or failed.
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, example = 120))]
    #[serde(deserialize_with = "crate::numbers::whole")]
    pub calls: i64,
    /// Refused requests: calls, questions for tools, agent requests.
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, example = 3))]
    #[serde(deserialize_with = "crate::numbers::whole")]
    pub denials: i64,
    /// Those of `calls` that failed.
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, example = 1))]
    #[serde(deserialize_with = "crate::numbers::whole")]
    pub failures: i64,
}

/// The counts of one hour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UsageHour {
    /// When the hour began.
    pub at: DateTime<Utc>,
    /// What was counted in it.
    #[serde(flatten)]
    pub counts: UsageCounts,
}

/// The counts of one tool, group or principal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UsageItem {
    /// The tool's name, the group's name, or the principal (`service_key:<id>`, ...).
    #[cfg_attr(feature = "utoipa", schema(example = "web-search"))]
    pub name: String,
    /// What was counted in the window.
    #[serde(flatten)]
    pub counts: UsageCounts,
    /// When it was last asked for.
    pub last_at: DateTime<Utc>,
    /// How many milliseconds an admitted call took on average; absent when none has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 240, minimum = 0))]
    pub mean_ms: Option<i64>,
    /// How many milliseconds the slowest admitted call took; absent when none has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 1800, minimum = 0))]
    pub slowest_ms: Option<i64>,
}

/// The usage of a project within a window. Hours begin at full hours; the present one is not over yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UsageReport {
    /// When the window begins: a full hour.
    pub since: DateTime<Utc>,
    /// When the window ends: now.
    pub until: DateTime<Utc>,
    /// Everything in the window.
    pub totals: UsageCounts,
    /// Each hour of the window in order, hours without any request included.
    #[cfg_attr(feature = "utoipa", schema(max_items = 168))]
    pub hours: Vec<UsageHour>,
    /// The tools with the most requests.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub tools: Vec<UsageItem>,
    /// The groups that were asked for most.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub groups: Vec<UsageItem>,
    /// The principals with the most requests; only for those who may read the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub principals: Option<Vec<UsageItem>>,
}

/// What series are about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum UsageBy {
    /// The project as a whole.
    #[default]
    Total,
    /// Each tool.
    Tool,
    /// Each group, as it was asked for.
    Group,
    /// Each principal.
    Principal,
    /// Each entrance.
    Entrance,
}

/// How long the calls took that ended: half, 95 % and 99 % of them took so many milliseconds at most. Off by a tenth at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UsageDurations {
    /// Half of them.
    #[cfg_attr(feature = "utoipa", schema(example = 120, minimum = 0))]
    #[serde(deserialize_with = "crate::numbers::whole")]
    pub p50_ms: i64,
    /// 95 %.
    #[cfg_attr(feature = "utoipa", schema(example = 640, minimum = 0))]
    #[serde(deserialize_with = "crate::numbers::whole")]
    pub p95_ms: i64,
    /// 99 %.
    #[cfg_attr(feature = "utoipa", schema(example = 1900, minimum = 0))]
    #[serde(deserialize_with = "crate::numbers::whole")]
    pub p99_ms: i64,
}

/// A slot of a series.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UsagePoint {
    /// When the slot began.
    pub at: DateTime<Utc>,
    /// What was counted in it.
    #[serde(flatten)]
    pub counts: UsageCounts,
    /// How long calls took; absent when none has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durations: Option<UsageDurations>,
}

/// The series of one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UsageLine {
    /// The tool, group, principal or entrance; `""` for the project as a whole.
    #[cfg_attr(feature = "utoipa", schema(example = "web-search"))]
    pub name: String,
    /// Everything in the window.
    pub totals: UsageCounts,
    /// How long the calls of the window took; absent when none has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durations: Option<UsageDurations>,
    /// Its slots in order; those in which nothing was counted are left out.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub points: Vec<UsagePoint>,
}

/// Usage over time, in slots of one length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct UsageSeries {
    /// When the first slot begins.
    pub since: DateTime<Utc>,
    /// When the last slot ends.
    pub until: DateTime<Utc>,
    /// Seconds of a slot.
    #[cfg_attr(feature = "utoipa", schema(example = 3600, minimum = 60))]
    #[serde(deserialize_with = "crate::numbers::whole")]
    pub slot_s: i64,
    /// The names with the most requests, the first of them first.
    #[cfg_attr(feature = "utoipa", schema(max_items = 20))]
    pub lines: Vec<UsageLine>,
}

#[cfg(test)]
mod tests {
    use super::UsageReport;

    #[test]
    fn a_report_is_read_from_its_text() {
        let text = r#"{
            "since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z",
            "totals": {"calls": 3, "denials": 2, "failures": 1},
            "hours": [{"at": "2026-01-01T00:00:00Z", "calls": 3, "denials": 2, "failures": 1}],
            "tools": [{"name": "look-up", "calls": 3, "denials": 2, "failures": 1, "last_at": "2026-01-01T00:00:00Z", "mean_ms": 12}],
            "groups": [], "principals": []
        }"#;
        let report: UsageReport = serde_json::from_str(text).unwrap();
        assert_eq!(report.hours[0].counts, report.totals);
        assert_eq!(
            (report.tools[0].counts.calls, report.tools[0].mean_ms),
            (3, Some(12))
        );
    }
}
