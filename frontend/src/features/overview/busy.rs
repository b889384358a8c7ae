//! Who and what was busiest, as bars.

use std::collections::BTreeMap;

use leptos::prelude::*;
use toolgate_api::usage::{UsageLine, UsageSeries};

use crate::components::TimeRange;
use crate::features::usage::{By, counted_by, principals, records_path, title_of};
use crate::language::{t, tf};
use crate::reactive::part;
use crate::words::counted;

/// Tools, groups, and callers for those who may know them, side by side.
pub(super) fn busy(project: Memo<String>, range: TimeRange, may_audit: bool) -> AnyView {
    let names = principals(project);
    let most = move |title: &'static str, by: By, is_on: bool| {
        let series = counted_by(project, Signal::stored(by), range, move || is_on);
        is_on.then(|| {
            view! {
                <section class="panel">
                    <h2>{title}</h2>
                    {series.placeholder(t("the names"))}
                    {part(move || {
                        let shown = series.read::<UsageSeries>();
                        shown.map(|series| names.with(|names| bars(&project.get_untracked(), by, &series, may_audit, names))).into_any()
                    })}
                </section>
            }
        })
    };
    let columns = if may_audit {
        "columns columns-three"
    } else {
        "columns columns-two"
    };
    view! {
        <div class=columns>
            {most(t("Tools"), By::Tool, true)} {most(t("Groups"), By::Group, true)}
            {most(t("Callers"), By::Principal, may_audit)}
        </div>
    }
    .into_any()
}

/// A bar for each name: what succeeded, failed and was refused, beside the name and the counts.
fn bars(
    project: &str,
    by: By,
    series: &UsageSeries,
    may_audit: bool,
    names: &BTreeMap<String, String>,
) -> AnyView {
    let all = |line: &UsageLine| line.totals.calls + line.totals.denials;
    let most = series.lines.iter().map(all).max().unwrap_or(0).max(1);
    let times = (series.since.timestamp(), series.until.timestamp());
    let rows: Vec<_> = series
        .lines
        .iter()
        .map(|line| {
            let title = title_of(by, &line.name, names);
            let class = if by == By::Principal { "" } else { "mono" };
            let name = if may_audit {
                let href = records_path(project.to_owned(), (by, &line.name), ("", ""), times);
                view! { <a class=class href=href>{title}</a> }.into_any()
            } else {
                view! { <span class=class>{title}</span> }.into_any()
            };
            let counts = line.totals;
            let part = |class: &'static str, count: i64| {
                let width = format!("{:.1}%", share(count, most));
                view! { <span class=class style:width=width></span> }
            };
            let slow = line.durations.map(|took| tf!(", 95 % within {ms} ms", ms = took.p95_ms));
            view! {
                <li class="usage-row">
                    <span class="row row-spread">
                        {name}
                        <span class="muted">
                            {tf!(
                                "{calls}, {failed} failed, {refused} refused",
                                calls = counted(counts.calls, "call"),
                                failed = counts.failures,
                                refused = counts.denials,
                            )}
                            {slow}
                        </span>
                    </span>
                    <span class="usage-bar" aria-hidden="true">
                        {part("usage-bar-good", counts.calls - counts.failures)} {part("usage-bar-bad", counts.failures)}
                        {part("usage-bar-refused", counts.denials)}
                    </span>
                </li>
            }
        })
        .collect();
    if rows.is_empty() {
        return view! { <p class="muted">{t("None in this range.")}</p> }.into_any();
    }
    view! { <ul class="rows">{rows}</ul> }.into_any()
}

/// A part in percent.
#[expect(clippy::cast_precision_loss, reason = "a width in percent needs few digits")]
fn share(count: i64, most: i64) -> f64 {
    100.0 * count.max(0) as f64 / most as f64
}
