//! What happens in a project: calls and denials over time, busy tools, what to look at.

mod chart;
mod first_steps;
mod place;

use std::collections::BTreeMap;

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::alerts::Alert;
use toolgate_api::usage::{UsageItem, UsageReport};

use crate::api::{in_project, with_query};
use crate::components::{SectionHead, Tabs, TimeAgo};
use crate::loaded::Loaded;
use crate::paged::{Item, Paged};
use crate::reactive::{When, condition, part, text};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::{UrlParam, project_in_path};
use crate::words::counted;
use chart::hours_chart;
use first_steps::FirstSteps;
use place::Place;

/// Principals and what they are called.
type Names = Memo<BTreeMap<String, String>>;

/// A call that takes longer deserves a look, in milliseconds.
const SLOW_MS: i64 = 2_000;

/// The first page of a project.
#[component]
pub(crate) fn OverviewPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let span = UrlParam::new("span");
    let may_read = condition(move || session.may(&project.get(), Permission::ReadDefinitions));
    let may_audit = condition(move || session.may(&project.get(), Permission::ReadAudit));
    let usage = Loaded::new(move || {
        let hours = if span.get() == "week" { 168 } else { 24 };
        if may_read.get() {
            format!(
                "{}?hours={hours}&limit=10",
                in_project(&project.get(), &["usage"])
            )
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
    // Callers are counted by what they are; people know them by their names.
    let people = Loaded::new(move || {
        if session.may(&project.get(), Permission::ReadAccess) && usage.is_there() {
            in_project(&project.get(), &["permissions"]) + "?limit=200"
        } else {
            String::new()
        }
    });
    let names = Memo::new(move |_| people.json().map(|people| names_of(&people)).unwrap_or_default());
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
                <h2>"To look at"</h2>
                <ul class="rows">{rows}</ul>
                <p>
                    <a href=move || Page::of_project(project.get(), PageKind::Alerts).path()>"All alerts"</a>
                </p>
            </section>
        }
        .into_any()
    };
    view! {
        {part(move || {
            if !may_read.get() {
                return view! {
                    <SectionHead section=PageKind::Overview text="Your place in this project." />
                    <Place project />
                }
                    .into_any();
            }
            view! {
                <SectionHead section=PageKind::Overview text="Calls, refusals and failures, and open problems." />
                <Tabs param=span name="Time span" choices=&[("", "24 hours"), ("week", "7 days")] />
                <div class="stack">
                    {usage.placeholder("the figures")}
                    {part(move || {
                        usage.read::<UsageReport>().map(|report| figures(project, report, names, may_audit.get())).into_any()
                    })}
                    // What is below the figures comes with them or after them, so that nothing moves.
                    <When test=move || usage.is_known()>{part(suspicious)}</When>
                </div>
            }
                .into_any()
        })}
    }
}

fn figures(project: Memo<String>, report: UsageReport, names: Names, may_audit: bool) -> AnyView {
    let totals = report.totals;
    if totals.calls + totals.denials == 0 {
        return view! { <FirstSteps project /> }.into_any();
    }
    let figure = |value: i64, text: &'static str, query: &str| {
        let words = view! {
            <span class="figure-value">{value}</span>
            <span class="muted">{text}</span>
        };
        if !may_audit {
            return view! { <div class="figure">{words}</div> }.into_any();
        }
        let href = Page::of_project(project.get_untracked(), PageKind::Records).path() + query;
        view! { <a class="figure card" href=href>{words}</a> }.into_any()
    };
    let slow = slow_and_failing(&project.get_untracked(), &report.tools, may_audit);
    let is_four = slow.is_some() && report.principals.is_some();
    view! {
        <div class="stack">
            <div class="figures">
                {figure(totals.calls, if totals.calls == 1 { "call" } else { "calls" }, "?action=call")}
                {figure(totals.denials, "refused", "?outcome=denied")}
                {figure(totals.failures, "failed", "?outcome=failed")}
            </div>
            <section class="panel">
                <h2>"Hour by hour"</h2>
                {hours_chart(report.since, report.until, report.hours)}
            </section>
            <div class=if is_four { "columns columns-two" } else { "columns" }>
                {slow} {most("Tools", report.tools, None)}
                {most("Groups", report.groups, None)}
                {report.principals.map(|principals| most("Callers", principals, Some(names)))}
            </div>
        </div>
    }
    .into_any()
}

/// Who or what was busiest.
fn most(title: &'static str, items: Vec<UsageItem>, names: Option<Names>) -> AnyView {
    let rows: Vec<_> = items
        .into_iter()
        .map(|item| {
            let counts = item.counts;
            let name = text(move || {
                let known = names.and_then(|names| names.with(|names| names.get(&item.name).cloned()));
                known.unwrap_or_else(|| item.name.clone())
            });
            view! {
                <li class="row row-spread">
                    <span class=if names.is_some() { "" } else { "mono" }>{name}</span>
                    <span class="muted">
                        {format!("{}, {} refused, {} failed", counted(counts.calls, "call"), counts.denials, counts.failures)}
                    </span>
                </li>
            }
        })
        .collect();
    view! {
        <section class="panel">
            <h2>{title}</h2>
            <ul class="rows">{rows}</ul>
        </section>
    }
    .into_any()
}

/// What principals are called.
fn names_of(people: &Value) -> BTreeMap<String, String> {
    let people = people["items"].as_array().into_iter().flatten();
    let mut names = BTreeMap::new();
    for one in people {
        if let (Some(principal), Some(name)) = (one["principal"].as_str(), one["name"].as_str()) {
            names.insert(principal.to_owned(), name.to_owned());
        }
    }
    names
}

/// Tools that fail, then those that take long.
fn slow_and_failing(project: &str, tools: &[UsageItem], may_audit: bool) -> Option<AnyView> {
    let noted = tools
        .iter()
        .filter(|tool| tool.counts.failures > 0 || tool.slowest_ms.is_some_and(|ms| ms >= SLOW_MS));
    // They are few, and sorting is heavier code.
    let badness = |tool: &UsageItem| (tool.counts.failures, tool.slowest_ms);
    let mut worst_first: Vec<&UsageItem> = Vec::new();
    for tool in noted {
        let at = worst_first.partition_point(|other| badness(other) >= badness(tool));
        worst_first.insert(at, tool);
    }
    let rows: Vec<_> = worst_first
        .into_iter()
        .map(|tool| {
            let href = if may_audit {
                let path = Page::of_project(project.to_owned(), PageKind::Records).path();
                with_query(path, &[("tool", &tool.name), ("action", "call")])
            } else {
                Page::tool(project.to_owned(), tool.name.clone()).path()
            };
            let failed = format!("{} of {} failed", tool.counts.failures, tool.counts.calls);
            let took = |name: &str, ms: Option<i64>| ms.map(|ms| format!(", {name} {ms} ms"));
            let (mean, slowest) = (took("mean", tool.mean_ms), took("slowest", tool.slowest_ms));
            view! {
                <li class="row row-spread">
                    <a class="mono" href=href>
                        {tool.name.clone()}
                    </a>
                    <span class="muted">{failed} {mean} {slowest}</span>
                </li>
            }
            .into_any()
        })
        .collect();
    (!rows.is_empty()).then(|| {
        view! {
            <section class="panel">
                <h2>"Slow or failing"</h2>
                <ul class="rows">{rows}</ul>
            </section>
        }
        .into_any()
    })
}
