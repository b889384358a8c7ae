//! The page of usage: charts by tool, group, principal and entrance.

use std::collections::BTreeMap;

use leptos::prelude::*;
use toolgate_api::usage::{UsageLine, UsagePoint, UsageSeries};

use super::charts::total_charts;
use super::series::{By, counted_by, principals, records_path, times, title_of, values};
use crate::components::{
    ChartData, ChartLine, EmptyState, SectionHead, Select, Symbol, Tabs, TimeRange, TimeRangePicker, chart,
    table,
};
use crate::language::{marked, t};
use crate::reactive::{condition, part};
use crate::routes::PageKind;
use crate::session::{Permission, Session};
use crate::url::{Navigator, UrlParam, project_in_path};

const CHOICES: [(&str, &str); 5] = [
    ("", marked("Project")),
    ("tool", marked("Tools")),
    ("group", marked("Groups")),
    ("principal", marked("Principals")),
    ("entrance", marked("Entrances")),
];

/// The same for those who may not read who asked.
const CHOICES_OF_READERS: [(&str, &str); 4] = [CHOICES[0], CHOICES[1], CHOICES[2], CHOICES[4]];

const MEASURES: [(&str, &str); 3] = [
    ("", marked("Calls")),
    ("failures", marked("Failed calls")),
    ("denials", marked("Refusals")),
];

const COLUMNS: [&str; 7] = [
    marked("Name"),
    marked("Calls"),
    marked("Failed"),
    marked("Refused"),
    "p50",
    "p95",
    "p99",
];

/// Who reads the page, and which range of which project it shows.
#[derive(Clone, Copy)]
struct Place {
    project: Memo<String>,
    range: TimeRange,
    names: Memo<BTreeMap<String, String>>,
    may_audit: bool,
}

/// Usage over time.
#[component]
pub(crate) fn UsagePage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let [by, measure] = ["by", "measure"].map(UrlParam::new);
    let range = TimeRange::new("now-24h");
    let may_audit = condition(move || session.may(&project.get(), Permission::ReadAudit));
    let kind = Signal::derive(move || By::of(&by.get()));
    let series = counted_by(project, kind, range, || true);
    let names = principals(project);
    let options = Signal::stored(
        MEASURES
            .map(|(key, text)| (key.to_owned(), t(text).to_owned()))
            .to_vec(),
    );
    view! {
        <SectionHead section=PageKind::Usage text=t("How often what was asked for, how it came out, and how long it took. Drag on a chart to see a part of it; click a point for its records.")>
            <TimeRangePicker range />
        </SectionHead>
        {part(move || {
            if may_audit.get() {
                view! { <Tabs param=by name=t("Usage by") choices=&CHOICES /> }.into_any()
            } else {
                view! { <Tabs param=by name=t("Usage by") choices=&CHOICES_OF_READERS /> }.into_any()
            }
        })}
        <div class="stack">
            {part(move || {
                (kind.get() != By::Total)
                    .then(|| {
                        view! {
                            <div class="filters">
                                <Select
                                    id="usage-measure"
                                    name=t("What is counted")
                                    value=measure.signal()
                                    options
                                    on_change=move |key: String| measure.push(&key)
                                />
                            </div>
                        }
                    })
                    .into_any()
            })}
            {series.placeholder(t("the series"))}
            {part(move || {
                let place = Place { project, range, names, may_audit: may_audit.get() };
                let shown = series.read::<UsageSeries>();
                shown.map(|series| content(place, kind.get_untracked(), measure.get(), series)).into_any()
            })}
        </div>
    }
}

fn content(place: Place, by: By, measure: String, series: UsageSeries) -> AnyView {
    if series.lines.is_empty() {
        return view! {
            <EmptyState
                symbol=Symbol::Gauge
                title=t("Nothing was asked for in this range")
                text=t("Calls and refusals appear here within seconds. Choose a longer range, or call a tool.")
            />
        }
        .into_any();
    }
    let times_of_all = (series.since.timestamp(), series.until.timestamp());
    let rows = rows(place, by, &series.lines, times_of_all);
    let charts = if by == By::Total {
        total_charts(place.project, series, place.range, place.may_audit)
    } else {
        charts_by(place, by, &measure, series)
    };
    view! {
        {charts}
        {rows}
    }
    .into_any()
}

/// A line for each name: what is counted, and the percentile that most calls stay below.
fn charts_by(place: Place, by: By, measure: &str, series: UsageSeries) -> AnyView {
    let count: fn(&UsagePoint) -> i64 = match measure {
        "failures" => |point| point.counts.failures,
        "denials" => |point| point.counts.denials,
        _ => |point| point.counts.calls,
    };
    let filter = match measure {
        "failures" => ("outcome", "failed"),
        "denials" => ("outcome", "denied"),
        _ => ("action", "call"),
    };
    let heading = MEASURES
        .into_iter()
        .find(|(key, _)| *key == measure)
        .unwrap_or(MEASURES[0])
        .1;
    let times = times(&series);
    let lines = |absent: Option<i64>, value: &dyn Fn(&UsagePoint) -> Option<i64>| -> Vec<ChartLine> {
        let line = |line: &UsageLine| ChartLine {
            label: place.names.with(|names| title_of(by, &line.name, names)),
            values: values(line, &times, absent, value),
            colour: None,
        };
        series.lines.iter().map(line).collect()
    };
    let counts = ChartData {
        times: times.clone(),
        lines: lines(Some(0), &|point| Some(count(point))),
        unit: "",
        is_stacked: true,
    };
    let durations = ChartData {
        times: times.clone(),
        lines: lines(None, &|point| Some(point.durations?.p95_ms)),
        unit: "ms",
        is_stacked: false,
    };
    let navigator = Navigator::new();
    let (slot, names): (i64, Vec<String>) = (
        series.slot_s,
        series.lines.into_iter().map(|line| line.name).collect(),
    );
    let on_point = Callback::new(move |(at, line): (i64, usize)| {
        if let (true, Some(name)) = (place.may_audit, names.get(line)) {
            let project = place.project.get_untracked();
            navigator.go(&records_path(project, (by, name), filter, (at, at + slot)));
        }
    });
    view! {
        <div class="columns columns-two">
            <section class="panel">
                <h2>{t(heading)}</h2>
                {chart(t("Counts over time"), counts, place.range, on_point)}
            </section>
            <section class="panel">
                <h2>{t("95 % of calls took at most")}</h2>
                {chart(t("95th percentile of durations over time"), durations, place.range, on_point)}
            </section>
        </div>
    }
    .into_any()
}

fn rows(place: Place, by: By, lines: &[UsageLine], times: (i64, i64)) -> AnyView {
    let rows: Vec<_> = lines
        .iter()
        .map(|line| {
            let name = place.names.with(|names| title_of(by, &line.name, names));
            let link = |text: String, filter: (&'static str, &'static str)| {
                if !place.may_audit {
                    return text.into_any();
                }
                let href = records_path(place.project.get_untracked(), (by, &line.name), filter, times);
                view! { <a href=href>{text}</a> }.into_any()
            };
            let ms = |value: Option<i64>| value.map_or_else(|| "–".to_owned(), |ms| format!("{ms} ms"));
            let took = line.durations;
            let counts = line.totals;
            view! {
                <tr role="row">
                    <th scope="row" role="rowheader">{name}</th>
                    <td role="cell" data-label=t("Calls")>{link(counts.calls.to_string(), ("action", "call"))}</td>
                    <td role="cell" data-label=t("Failed")>{link(counts.failures.to_string(), ("outcome", "failed"))}</td>
                    <td role="cell" data-label=t("Refused")>{link(counts.denials.to_string(), ("outcome", "denied"))}</td>
                    <td role="cell" data-label="p50">{ms(took.map(|took| took.p50_ms))}</td>
                    <td role="cell" data-label="p95">{ms(took.map(|took| took.p95_ms))}</td>
                    <td role="cell" data-label="p99">{ms(took.map(|took| took.p99_ms))}</td>
                </tr>
            }
        })
        .collect();
    table(t("Usage in this range"), &COLUMNS.map(t), rows)
}
