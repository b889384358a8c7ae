//! What somebody would see, and why: the same decision as for calls, without any effect.

use leptos::prelude::*;
use toolgate_api::explain::{
    DecisionEffect, ExplainRequest, ExplainResponse, TestOutcome, TestReport, ToolExplanation,
};
use toolgate_api::permissions::PermissionMatrix;

use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{Badge, Field, SectionHead, Select, Tags, TextInput, Tone, word};
use crate::loaded::Loaded;
use crate::reactive::{condition, effect, part};
use crate::routes::{Page, Section};
use crate::session::{Need, Session};
use crate::url::{UrlParam, project_in_path};

/// The question, and the answer for every tool.
#[component]
pub(crate) fn SimulatorPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let [principal, group, state, tool] = ["principal", "group", "state", "tool"].map(UrlParam::new);
    let [group_text, state_text, tool_text] =
        [group, state, tool].map(|param| RwSignal::new(param.get_untracked()));
    let may_ask_about_others = condition(move || session.may(&project.get(), Need::Audit));
    let people = Loaded::new(move || {
        if may_ask_about_others.get() {
            in_project(&project.get(), &["permissions"]) + "?limit=200"
        } else {
            String::new()
        }
    });
    let action = Action::new();
    let answer = RwSignal::new(None::<ExplainResponse>);
    let ask = move || {
        let text = |param: UrlParam| Some(param.get_untracked()).filter(|text| !text.is_empty());
        let request = ExplainRequest {
            tool: text(tool),
            principal: text(principal),
            group: text(group).map(|names| names.split(',').map(|name| name.trim().to_owned()).collect()),
            state: text(state),
            limit: Some(100),
            ..ExplainRequest::default()
        };
        let path = in_project(&project.get_untracked(), &["explain"]);
        action.send(Ask::post(path, Body::json(&request)), move |found| {
            answer.set(found.read().ok());
        });
    };
    // The question is in the address, so that an answer can be shared as a link.
    effect(move || {
        for param in [principal, group, state, tool] {
            param.signal().track();
        }
        project.track();
        ask();
    });
    let options = Signal::derive(move || {
        let mut all = vec![(String::new(), "Myself".to_owned())];
        if let Some(matrix) = people.read::<PermissionMatrix>() {
            all.extend(matrix.items.into_iter().map(|row| {
                (
                    row.principal,
                    format!("{} ({})", row.name, word(&row.kind).replace('_', " ")),
                )
            }));
        }
        all
    });
    view! {
        <SectionHead section=Section::Simulator text="What would they see in this state with these groups, and why? The answer is the gateway's own decision; nothing runs and nothing moves." />
        <form
            class="panel columns"
            on:submit=move |event| {
                event.prevent_default();
                for (param, text) in [(group, group_text), (state, state_text), (tool, tool_text)] {
                    param.push(text.get_untracked().trim());
                }
                ask();
            }
        >
            <Field id="simulate-who" label="Who">
                <Select
                    id="simulate-who"
                    value=principal.signal()
                    options
                    on_change=move |chosen: String| principal.push(&chosen)
                />
            </Field>
            <Field id="simulate-group" label="Asks for the groups" help="Separated by commas; empty is default.">
                <TextInput id="simulate-group" value=group_text mono=true placeholder="default" />
            </Field>
            <Field id="simulate-state" label="In the state" help="Empty is undefined.">
                <TextInput id="simulate-state" value=state_text mono=true placeholder="undefined" max="128" />
            </Field>
            <Field id="simulate-tool" label="About the tool" help="Empty: about every tool.">
                <TextInput id="simulate-tool" value=tool_text mono=true max="128" />
            </Field>
            <div class="row">
                <button type="submit" class="button button-primary" disabled=move || action.busy.get()>
                    "Show"
                </button>
            </div>
        </form>
        {action.outcome()}
        <div class="stack" role="status">
            {part(move || answer.get().map(|answer| result(project.get_untracked(), answer)).into_any())}
        </div>
    }
}

fn result(project: String, answer: ExplainResponse) -> AnyView {
    let allowed = answer
        .items
        .iter()
        .filter(|item| item.effect == DecisionEffect::Allow)
        .count();
    let more = answer.next_cursor.is_some();
    let total = answer.items.len();
    let rows: Vec<_> = answer
        .items
        .into_iter()
        .map(|item| explanation(&project, item))
        .collect();
    view! {
        <p class="row simulator-sum">
            <strong>{format!("{allowed} of {total}{} tools can be called", if more { "+" } else { "" })}</strong>
            <span class="muted">"Granted:"</span>
            <Tags names=answer.granted_groups />
        </p>
        <ul class="stack">{rows}</ul>
    }
    .into_any()
}

fn explanation(project: &str, item: ToolExplanation) -> AnyView {
    let (tone, text) = match item.effect {
        DecisionEffect::Allow => (Tone::Good, "allowed"),
        DecisionEffect::Deny => (Tone::Bad, "refused"),
    };
    let href = Page::Tool(project.to_owned(), item.tool.clone()).path();
    let tests: Vec<_> = item.tests.into_iter().map(test).collect();
    view! {
        <li class="panel">
            <details>
                <summary class="row">
                    <Badge tone text />
                    <span class="tool-name">{item.tool}</span>
                    {item.code.map(|code| view! { <code>{code.as_str()}</code> })}
                </summary>
                <div class="stack">
                    <p>{item.summary}</p>
                    <ol class="timeline">{tests}</ol>
                    <p>
                        <a href=href>"Open the tool"</a>
                    </p>
                </div>
            </details>
        </li>
    }
    .into_any()
}

/// One test of the decision, with what it compared.
fn test(report: TestReport) -> AnyView {
    let (tone, outcome) = match report.outcome {
        TestOutcome::Passed => (Tone::Good, "passed"),
        TestOutcome::Failed => (Tone::Bad, "failed"),
        TestOutcome::NotReached => (Tone::Plain, "not reached"),
        TestOutcome::Unknown => (Tone::Plain, "cannot be told"),
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
        push("requested", operands.requested);
        push("granted", operands.granted);
        push("missing", operands.missing.filter(|names| !names.is_empty()));
        push("the tool's groups", operands.tool_groups);
        let closed = operands.closed.unwrap_or_default();
        push(
            "closed",
            (!closed.is_empty()).then(|| {
                closed
                    .iter()
                    .map(|group| format!("{}: {}", group.group, group.reason))
                    .collect()
            }),
        );
        push("open in", operands.tool_states);
        push("state", operands.state.map(|state| vec![state]));
        let faults = operands.faults.unwrap_or_default();
        push(
            "faults",
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
