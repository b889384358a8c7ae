//! What happens in a project: calls and denials over time, busy tools, what to look at.

mod chart;
mod first_steps;

use leptos::prelude::*;
use toolgate_api::alerts::Alert;
use toolgate_api::usage::{UsageItem, UsageReport};

use crate::api::in_project;
use crate::components::{SectionHead, Tabs, TimeAgo};
use crate::loaded::Loaded;
use crate::paged::{Item, Paged};
use crate::reactive::{condition, part};
use crate::routes::{Page, Section};
use crate::session::{Need, Session};
use crate::url::{UrlParam, project_in_path};
use chart::hours_chart;
use first_steps::FirstSteps;

/// The first page of a project.
#[component]
pub(crate) fn OverviewPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let span = UrlParam::new("span");
    let may_read = condition(move || session.may(&project.get(), Need::Read));
    let may_audit = condition(move || session.may(&project.get(), Need::Audit));
    let usage = Loaded::new(move || {
        let hours = if span.get() == "week" { 168 } else { 24 };
        if may_read.get() {
            format!("{}?hours={hours}&limit=5", in_project(&project.get(), &["usage"]))
        } else {
            String::new()
        }
    });
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
        (!rows.is_empty()).then(|| {
            view! {
                <section class="panel stack">
                    <h2>"To look at"</h2>
                    <ul class="stack">{rows}</ul>
                    <p>
                        <a href=move || Page::In(project.get(), Section::Alerts).path()>"All alerts"</a>
                    </p>
                </section>
            }
        })
    };
    view! {
        <SectionHead section=Section::Overview text="Calls, refusals and failures, and what deserves a look." />
        <Tabs param=span name="Time span" choices=&[("", "24 hours"), ("week", "7 days")] />
        <Show when=move || may_read.get() fallback=move || view! { <FirstSteps project /> }>
            {usage.placeholder("the figures")}
        </Show>
        {part(move || usage.read::<UsageReport>().map(|report| figures(project, report)).into_any())}
        {suspicious}
    }
}

fn figures(project: Memo<String>, report: UsageReport) -> AnyView {
    let totals = report.totals;
    if totals.calls + totals.denials == 0 {
        return view! { <FirstSteps project /> }.into_any();
    }
    let figure = |value: i64, text: &'static str, query: &str| {
        let href = Page::In(project.get_untracked(), Section::Records).path() + query;
        view! {
            <a class="figure card" href=href>
                <span class="figure-value">{value}</span>
                <span class="muted">{text}</span>
            </a>
        }
        .into_any()
    };
    view! {
        <div class="stack">
            <div class="figures">
                {figure(totals.calls, "calls", "?action=call")}
                {figure(totals.denials, "refused", "?outcome=denied")}
                {figure(totals.failures, "failed", "?outcome=failed")}
            </div>
            <section class="panel">
                <h2>"Hour by hour"</h2>
                {hours_chart(report.since, report.until, report.hours)}
            </section>
            <div class="columns">
                {most("Tools", report.tools)} {most("Groups", report.groups)}
                {report.principals.map(|principals| most("Callers", principals))}
            </div>
        </div>
    }
    .into_any()
}

/// Who or what was busiest.
fn most(title: &'static str, items: Vec<UsageItem>) -> AnyView {
    let rows: Vec<_> = items
        .into_iter()
        .map(|item| {
            let counts = item.counts;
            view! {
                <li class="row row-spread">
                    <span class="mono">{item.name}</span>
                    <span class="muted">
                        {format!("{} calls, {} refused, {} failed", counts.calls, counts.denials, counts.failures)}
                    </span>
                </li>
            }
        })
        .collect();
    view! {
        <section class="panel">
            <h2>{title}</h2>
            <ul class="stack">{rows}</ul>
        </section>
    }
    .into_any()
}

