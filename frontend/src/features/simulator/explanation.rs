//! The decision on one tool, test by test, and the way to where it can be changed.

use leptos::prelude::*;
use toolgate_api::explain::{DecisionEffect, TestOutcome, TestReport, ToolExplanation};

use crate::components::{Badge, Tags, Tone, word};
use crate::language::t;
use crate::reactive::part;
use crate::remedies::{Refusal, remedies};
use crate::routes::Page;

/// One tool. What hides it is shown at once, the other tests when it is unfolded.
pub(super) fn explanation(project: &str, principal: &str, item: ToolExplanation) -> AnyView {
    let (tone, text) = match item.effect {
        DecisionEffect::Allow => (Tone::Good, t("allowed")),
        DecisionEffect::Deny => (Tone::Bad, t("refused")),
    };
    let href = Page::tool(project.to_owned(), item.tool.clone()).path();
    let refusal = Refusal::of_explanation(project, principal, &item);
    let lifted_by = refusal.map(|refusal| remedies(&refusal, None));
    let reason =
        (item.effect == DecisionEffect::Deny).then(|| view! { <p class="muted">{item.summary.clone()}</p> });
    let leads = (item.state.after != item.state.before)
        .then(|| view! { <span class="muted">{t("leads to ")} <span class="mono">{item.state.after.clone()}</span></span> });
    // Most are never unfolded, and what they hold would be most of the page.
    let (tests, unfolded) = (StoredValue::new(item.tests), RwSignal::new(false));
    let tests = part(move || {
        if !unfolded.get() {
            return ().into_any();
        }
        let tests: Vec<_> = tests.get_value().into_iter().map(test).collect();
        tests.into_any()
    });
    view! {
        <li>
            <details on:toggle=move |_| unfolded.set(true)>
                <summary>
                    <span class="row inline-row">
                        <Badge tone text />
                        <span class="tool-name">{item.tool}</span>
                        {item.code.map(|code| view! { <code>{code.as_str()}</code> })}
                        {leads}
                    </span>
                </summary>
                <ol class="timeline">{tests}</ol>
                <p>
                    <a href=href>{t("Open the tool")}</a>
                </p>
            </details>
            {reason}
            {lifted_by}
        </li>
    }
    .into_any()
}

/// One test of the decision, with what it compared.
fn test(report: TestReport) -> AnyView {
    let (tone, outcome) = match report.outcome {
        TestOutcome::Passed => (Tone::Good, t("passed")),
        TestOutcome::Failed => (Tone::Bad, t("failed")),
        TestOutcome::NotReached => (Tone::Plain, t("not reached")),
        TestOutcome::Unknown => (Tone::Plain, t("cannot be decided")),
    };
    let mut compared = Vec::new();
    if let Some(operands) = report.operands {
        let mut push = |name: &'static str, names: Option<Vec<String>>| {
            if let Some(names) = names {
                compared.push(
                    view! {
                        <span class="row">
                            <span class="muted">{name}</span>
                            <Tags names />
                        </span>
                    }
                    .into_any(),
                );
            }
        };
        push(t("requested"), operands.requested);
        push(t("granted"), operands.granted);
        push(t("missing"), operands.missing.filter(|names| !names.is_empty()));
        push(t("the tool's groups"), operands.tool_groups);
        let closed = operands.closed.unwrap_or_default();
        push(
            t("closed"),
            (!closed.is_empty()).then(|| {
                closed
                    .iter()
                    .map(|group| format!("{}: {}", group.group, group.reason))
                    .collect()
            }),
        );
        push(t("open in"), operands.tool_states);
        push(t("state"), operands.state.map(|state| vec![state]));
        let faults = operands.faults.unwrap_or_default();
        push(
            t("faults"),
            (!faults.is_empty()).then(|| faults.iter().map(|fault| fault.message.clone()).collect()),
        );
    }
    view! {
        <li>
            <span class="row">
                <strong>{word(&report.test)}</strong>
                <Badge tone text=outcome />
            </span>
            {compared}
            {report.hint.map(|hint| view! { <p>{hint}</p> })}
        </li>
    }
    .into_any()
}
