//! The charts of a project: what was asked and how it came out, and how long it took.

use leptos::prelude::*;
use toolgate_api::usage::{UsageLine, UsagePoint, UsageSeries};

use super::series::{By, records_path, times, values};
use crate::components::{ChartData, ChartLine, TimeRange, chart};
use crate::language::{marked, t};
use crate::reactive::part;
use crate::url::Navigator;

/// The parts of all requests, their colours, and the filter that finds their records.
const PARTS: [(&str, &str, (&str, &str)); 3] = [
    (marked("Succeeded"), "--accent", ("outcome", "succeeded")),
    (marked("Failed"), "--danger", ("outcome", "failed")),
    (marked("Refused"), "--note", ("outcome", "denied")),
];

/// The percentiles of durations.
type Percentile = fn(&UsagePoint) -> Option<i64>;
const PERCENTILES: [(&str, &str, Percentile); 3] = [
    ("p50", "--chart-1", |point| Some(point.durations?.p50_ms)),
    ("p95", "--chart-2", |point| Some(point.durations?.p95_ms)),
    ("p99", "--chart-3", |point| Some(point.durations?.p99_ms)),
];

/// Requests by how they came out, and percentiles of how long calls took, side by side where there is room. A point leads to
/// its records, for those who may read them.
pub(crate) fn total_charts(
    project: Memo<String>,
    series: UsageSeries,
    range: TimeRange,
    may_audit: bool,
) -> AnyView {
    let navigator = Navigator::new();
    let slot = series.slot_s;
    let lead = move |at: i64, filter: (&'static str, &'static str)| {
        if may_audit {
            let times = (at, at + slot);
            navigator.go(&records_path(
                project.get_untracked(),
                (By::Total, ""),
                filter,
                times,
            ));
        }
    };
    let to_part = Callback::new(move |(at, line): (i64, usize)| {
        if let Some((_, _, filter)) = PARTS.get(line) {
            lead(at, *filter);
        }
    });
    let to_calls = Callback::new(move |(at, _): (i64, usize)| lead(at, ("action", "call")));
    let series = StoredValue::new(series);
    part(move || {
        series.with_value(|series| {
            let times = times(series);
            let none = UsageLine {
                name: String::new(),
                totals: toolgate_api::usage::UsageCounts::default(),
                durations: None,
                points: Vec::new(),
            };
            let line = series.lines.first().unwrap_or(&none);
            view! {
                <div class="columns columns-two">
                    <section class="panel">
                        <h2>{t("Requests")}</h2>
                        {chart(t("Requests over time"), requests(line, &times), range, to_part)}
                    </section>
                    <section class="panel">
                        <h2>{t("How long calls take")}</h2>
                        {chart(t("Percentiles of durations over time"), durations(line, &times), range, to_calls)}
                    </section>
                </div>
            }
            .into_any()
        })
    })
}

fn requests(line: &UsageLine, times: &[i64]) -> ChartData {
    let value: [fn(&UsagePoint) -> i64; 3] = [
        |point| (point.counts.calls - point.counts.failures).max(0),
        |point| point.counts.failures,
        |point| point.counts.denials,
    ];
    let lines = PARTS
        .iter()
        .zip(value)
        .map(|((label, colour, _), value)| ChartLine {
            label: t(label).to_owned(),
            values: values(line, times, Some(0), |point| Some(value(point))),
            colour: Some(colour),
        });
    ChartData {
        times: times.to_vec(),
        lines: lines.collect(),
        unit: "",
        is_stacked: true,
    }
}

fn durations(line: &UsageLine, times: &[i64]) -> ChartData {
    let lines = PERCENTILES.iter().map(|(label, colour, value)| ChartLine {
        label: (*label).to_owned(),
        values: values(line, times, None, value),
        colour: Some(colour),
    });
    ChartData {
        times: times.to_vec(),
        lines: lines.collect(),
        unit: "ms",
        is_stacked: false,
    }
}
