//! The state machine in words: the same as the drawing, and what is picked in it.

use leptos::prelude::*;
use toolgate_api::states::{GraphTransition, StateGraph};

use super::edit::EditTool;
use super::picked::{Picked, way_of};
use crate::components;
use crate::language::{t, tf};
use crate::reactive::part;
use crate::routes::Page;
use crate::words::counted;

/// Every transition, as a table that unfolds. It may be long, so it is made when it is unfolded.
pub(super) fn table(project: Memo<String>, machine: Memo<Option<StateGraph>>, picked: Picked) -> AnyView {
    let unfolded = RwSignal::new(false);
    let summary = move || {
        machine.with(|machine| {
            machine.as_ref().map(|machine| {
                let (states, transitions) = (machine.state_count, machine.transition_count);
                tf!(
                    "As a table: {states}, {transitions}",
                    states = counted(states, "state"),
                    transitions = counted(transitions, "transition")
                )
            })
        })
    };
    view! {
        <details class="panel" on:toggle=move |_| unfolded.set(true)>
            <summary>{summary}</summary>
            {part(move || {
                machine.with(|machine| match machine {
                    Some(machine) if unfolded.get() => transitions(&project.get(), machine, picked),
                    _ => ().into_any(),
                })
            })}
        </details>
    }
    .into_any()
}

fn transitions(project: &str, machine: &StateGraph, picked: Picked) -> AnyView {
    let rows: Vec<_> = machine
        .transitions
        .iter()
        .map(|step| {
            let state = |name: &str| {
                let (shown, target) = (name.to_owned(), name.to_owned());
                view! {
                    <button type="button" class="fault-place" on:click=move |_| picked.state(&target)>
                        {shown}
                    </button>
                }
            };
            let from = step.from.as_deref().map_or_else(
                || view! { <span class="muted">{t("every state")}</span> }.into_any(),
                |from| state(from).into_any(),
            );
            view! {
                <tr role="row">
                    <th scope="row" role="rowheader">{from}</th>
                    <td role="cell" data-label=t("Leads to")>{state(&step.to)}</td>
                    <td role="cell" data-label=t("By")>{tools(project, step, None)}</td>
                </tr>
            }
        })
        .collect();
    components::table(t("Transitions"), &[t("From"), t("Leads to"), t("By")], rows).into_any()
}

/// The arrow that is picked, with its tools.
pub(super) fn chosen_arrow(
    project: &str,
    machine: &StateGraph,
    picked: Picked,
    edit: Option<EditTool>,
) -> AnyView {
    let way = picked.way.get();
    let Some(step) = machine.transitions.iter().find(|step| way_of(step) == way) else {
        return ().into_any();
    };
    let from = match step.from.clone() {
        Some(from) => view! { {t("From ")} <span class="mono">{from}</span> }.into_any(),
        None => t("From every state").into_any(),
    };
    view! {
        <section class="panel stack" role="status">
            <div class="row row-spread">
                <h2>
                    {from} {t(" to ")} <span class="mono">{step.to.clone()}</span>
                </h2>
                <button type="button" class="button button-small button-quiet" on:click=move |_| picked.arrow("")>
                    {t("Close")}
                </button>
            </div>
            {tools(project, step, edit)}
        </section>
    }
    .into_any()
}

/// The tools of an arrow.
fn tools(project: &str, step: &GraphTransition, edit: Option<EditTool>) -> AnyView {
    let more = step.tool_count.saturating_sub(step.tools.len() as u64);
    let items: Vec<_> = step
        .tools
        .iter()
        .map(|tool| {
            let href = Page::tool(project.to_owned(), tool.clone()).path();
            let change = edit.map(|edit| {
                let name = tool.clone();
                view! {
                    <button
                        type="button"
                        class="button button-small"
                        aria-label=tf!("Edit the transition of {tool}", tool)
                        on:click=move |_| edit.open(&name)
                    >
                        {t("Edit")}
                    </button>
                }
            });
            view! {
                <li class="row">
                    <a class="mono" href=href>
                        {tool.clone()}
                    </a>
                    {change}
                </li>
            }
        })
        .collect();
    view! {
        <ul class="row">
            {items} {(more > 0).then(|| view! { <li class="muted">{tf!("and {more} more", more)}</li> })}
        </ul>
    }
    .into_any()
}
