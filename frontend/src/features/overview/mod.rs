//! What happens in a project: calls and refusals over time, busy tools, what to look at.

mod busy;
mod first_steps;
mod place;

use leptos::prelude::*;
use toolgate_api::alerts::Alert;
use toolgate_api::usage::{UsageCounts, UsageSeries};

use crate::api::in_project;
use crate::components::{SectionHead, TimeAgo, TimeRange, TimeRangePicker};
use crate::features::usage::{By, counted_by, records_path, total_charts};
use crate::language::t;
use crate::paged::{Item, Paged};
use crate::reactive::{When, condition, part};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::project_in_path;
use busy::busy;
use first_steps::FirstSteps;
use place::Place;

/// Where the range begins when nothing else is chosen.
const DAY: &str = "now-24h";

/// The first page of a project.
#[component]
pub(crate) fn OverviewPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let range = TimeRange::new(DAY);
    let may_read = condition(move || session.may(&project.get(), Permission::ReadDefinitions));
    let may_audit = condition(move || session.may(&project.get(), Permission::ReadAudit));
    let usage = counted_by(project, Signal::stored(By::Total), range, move || may_read.get());
    let alerts = Paged::new(move || {
        if may_audit.get() {
            in_project(&project.get(), &["alerts"]) + "?acknowledged=false"
        } else {
            String::new()
        }
    });
    let suspicious = move || {
        let all: Vec<Alert> = alerts
            .items
            .with(|items| items.iter().take(5).filter_map(Item::read).collect());
        let rows: Vec<_> = all
            .into_iter()
            .map(|alert| view! { <li>{alert.message} " " <span class="muted"><TimeAgo at=alert.at /></span></li> })
            .collect();
        if rows.is_empty() {
            return ().into_any();
        }
        view! {
            <section class="panel">
                <h2>{t("To look at")}</h2>
                <ul class="rows">{rows}</ul>
                <p>
                    <a href=move || Page::of_project(project.get(), PageKind::Alerts).path()>{t("All alerts")}</a>
                </p>
            </section>
        }
        .into_any()
    };
    view! {
        {part(move || {
            if !may_read.get() {
                return view! {
                    <SectionHead section=PageKind::Overview text=t("Your place in this project.") />
                    <Place project />
                }
                    .into_any();
            }
            view! {
                <SectionHead section=PageKind::Overview text=t("Calls, refusals and failures, and open problems.")>
                    <TimeRangePicker range />
                </SectionHead>
                <div class="stack">
                    {usage.placeholder(t("the figures"))}
                    {part(move || {
                        let may_audit = may_audit.get();
                        usage.read::<UsageSeries>().map(|series| figures(project, series, range, may_audit)).into_any()
                    })}
                    // What is below the figures comes with them or after them, so that nothing moves.
                    <When test=move || usage.is_known()>{part(suspicious)}</When>
                </div>
            }
                .into_any()
        })}
    }
}

fn figures(project: Memo<String>, series: UsageSeries, range: TimeRange, may_audit: bool) -> AnyView {
    let (totals, durations) = series
        .lines
        .first()
        .map_or((UsageCounts::default(), None), |line| {
            (line.totals, line.durations)
        });
    if totals.calls + totals.denials == 0 {
        return view! {
            {range.is_standard().then(|| view! { <FirstSteps project /> })}
            {(!range.is_standard()).then(|| view! { <p class="note">{t("Nothing was asked for in this range.")}</p> })}
        }
        .into_any();
    }
    let times = (series.since.timestamp(), series.until.timestamp());
    let figure = |value: String, text: &'static str, filter: (&'static str, &'static str)| {
        let words = view! {
            <span class="figure-value">{value}</span>
            <span class="muted">{text}</span>
        };
        if !may_audit {
            return view! { <div class="figure">{words}</div> }.into_any();
        }
        let href = records_path(project.get_untracked(), (By::Total, ""), filter, times);
        view! { <a class="figure card" href=href>{words}</a> }.into_any()
    };
    let calls = if totals.calls == 1 { t("call") } else { t("calls") };
    let took = durations.map(|took| {
        view! {
            <div class="figure">
                <span class="figure-value">{format!("{} ms", took.p95_ms)}</span>
                <span class="muted">{t("took 95 % of calls at most")}</span>
            </div>
        }
    });
    view! {
        <div class="stack">
            <div class="figures">
                {figure(totals.calls.to_string(), calls, ("action", "call"))}
                {figure(totals.denials.to_string(), t("refused"), ("outcome", "denied"))}
                {figure(totals.failures.to_string(), t("failed"), ("outcome", "failed"))}
                {took}
            </div>
            {total_charts(project, series, range, may_audit)}
            {busy(project, range, may_audit)}
        </div>
    }
    .into_any()
}
