//! The current state of a walk: what is open there, or what a caller can call there, where each tool leads, and going there.

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::states::{State, StateGraph};

use super::caller::Caller;
use super::edit::EditTool;
use super::picked::Picked;
use crate::api::{in_project, with_query};
use crate::browser::encode;
use crate::components::{Icon, Symbol};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, effect, part};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};

/// The current state, and the way to it.
#[component]
pub(super) fn Walk(
    /// The project's id.
    project: Memo<String>,
    /// The whole machine.
    machine: Memo<Option<StateGraph>>,
    /// The current state.
    picked: Picked,
    /// The state as it is stored.
    state: Loaded,
    /// Changes a tool.
    edit: EditTool,
    /// Opens the dialog that describes the state.
    describing: RwSignal<bool>,
) -> impl IntoView {
    let session = Session::get();
    let here = picked.here;
    let caller = Caller::new(project, picked);
    let tools = Loaded::new(move || {
        let (state, project) = (here.get(), project.get());
        if state.is_empty() {
            return String::new();
        }
        let query = [("view", "summary"), ("limit", "200"), ("state", state.as_str())];
        with_query(in_project(&project, &["tools"]), &query)
    });
    edit.also_reload(tools);
    // The states before this one, with the tool that left each.
    let trail = RwSignal::new(Vec::<(String, String)>::new());
    // What the next state is if it was reached by a step; any other one begins a new walk.
    let expected = StoredValue::new(String::new());
    effect(move || {
        if here.get() != expected.get_value() {
            trail.set(Vec::new());
        }
    });
    let step = Callback::new(move |(tool, to): (String, String)| {
        expected.set_value(to.clone());
        trail.update(|trail| trail.push((here.get_untracked(), tool)));
        picked.state(&to);
    });
    // Back to a state of the trail, which stays the way to it.
    let back = Callback::new(move |at: usize| {
        let Some(state) = trail.with_untracked(|trail| trail.get(at).map(|(state, _)| state.clone())) else {
            return;
        };
        expected.set_value(state.clone());
        trail.update(|trail| trail.truncate(at));
        picked.state(&state);
    });
    let link = move |section: PageKind, name: &str| {
        Page::of_project(project.get(), section).path() + "?" + name + "=" + &encode(&here.get())
    };
    let may_edit = move || session.may(&project.get(), Permission::EditDefinitions);
    view! {
        <section class="panel stack" aria-label=t("Walk through")>
            <div class="stack-small">
                <h2>
                    {t("In state ")} <span class="mono">{here}</span>
                </h2>
                {part(move || {
                    let words = state.read::<State>().map(|state| state.description).filter(|words| !words.is_empty());
                    words.map(|words| view! { <p class="muted">{words}</p> }).into_any()
                })}
                {part(move || way(&trail.get(), picked, back))}
            </div>
            <div class="row">
                <a class="button button-small" href=move || link(PageKind::Tools, "state")>
                    {t("List its tools")}
                </a>
                <a class="button button-small" href=move || link(PageKind::Simulator, "state")>
                    {t("Simulate a caller here")}
                </a>
                <When test=move || session.may(&project.get(), Permission::ManagePolicy)>
                    <button type="button" class="button button-small" on:click=move |_| describing.set(true)>
                        {t("Describe or rename")}
                    </button>
                </When>
                <When test=may_edit>
                    <button type="button" class="button button-small" on:click=move |_| edit.open("")>
                        {t("Edit a transition")}
                    </button>
                </When>
            </div>
            {caller.view()}
            {tools.placeholder(t("the tools"))}
            {part(move || {
                let edit = may_edit().then_some(edit);
                let page = tools.json();
                if caller.is_chosen() {
                    return called(&project.get(), &here.get(), &page.unwrap_or_default(), caller, step, edit);
                }
                machine.with(|machine| {
                    let (Some(machine), Some(page)) = (machine, page) else {
                        return ().into_any();
                    };
                    let project = project.get();
                    view! {
                        {moves(&project, machine, &here.get(), step, edit)}
                        {staying(&project, &page, edit)}
                    }
                        .into_any()
                })
            })}
        </section>
    }
}

/// The way so far; each state on it leads back.
fn way(trail: &[(String, String)], picked: Picked, back: Callback<usize>) -> AnyView {
    if trail.is_empty() {
        return ().into_any();
    }
    let steps: Vec<_> = trail
        .iter()
        .enumerate()
        .map(|(at, (state, tool))| {
            view! {
                <li class="row">
                    <button type="button" class="fault-place" on:click=move |_| back.run(at)>
                        {state.clone()}
                    </button>
                    <Icon symbol=Symbol::Arrow />
                    <span class="muted mono">{tool.clone()}</span>
                    <Icon symbol=Symbol::Arrow />
                </li>
            }
        })
        .collect();
    view! {
        <ol class="row trail" aria-label=t("The way so far")>
            {steps} <li class="mono">{picked.here.get_untracked()}</li>
        </ol>
    }
    .into_any()
}

/// The ways out of a state, tool by tool, as the graph has them.
fn moves(
    project: &str,
    machine: &StateGraph,
    here: &str,
    step: Callback<(String, String)>,
    edit: Option<EditTool>,
) -> AnyView {
    let mut rows = Vec::new();
    for way in &machine.transitions {
        if way.from.as_deref().is_some_and(|from| from != here) {
            continue;
        }
        for tool in &way.tools {
            rows.push(open_tool(project, tool, Some((&way.to, step)), edit));
        }
        let more = way.tool_count.saturating_sub(way.tools.len() as u64);
        if more > 0 {
            let text = tf!("and {more} more tools lead to {to}", more, to = way.to);
            rows.push(view! { <li class="muted">{text}</li> }.into_any());
        }
    }
    moving(rows)
}

fn moving(rows: Vec<AnyView>) -> AnyView {
    if rows.is_empty() {
        return view! { <p class="muted">{t("No tool that is open here moves the workflow.")}</p> }
            .into_any();
    }
    view! { <ul class="list">{rows}</ul> }.into_any()
}

/// What a caller can call in a state, tool by tool, as the gateway would decide.
fn called(
    project: &str,
    here: &str,
    page: &Value,
    caller: Caller,
    step: Callback<(String, String)>,
    edit: Option<EditTool>,
) -> AnyView {
    let open = page["items"].as_array().map_or(&[][..], Vec::as_slice);
    let tools = caller.callable().map(|tools| {
        // A refused call leads nowhere, but the caller who would be admitted is another one.
        let tools = tools.into_iter().map(|(name, to)| {
            let tool = open
                .iter()
                .find(|tool| to == here && tool["name"] == name.as_str());
            let to = tool
                .and_then(|tool| tool["state"].as_str())
                .map_or(to, str::to_owned);
            (name, to)
        });
        let (stays, moves): (Vec<_>, Vec<_>) = tools.partition(|(_, to)| to == here);
        let moves = moves
            .iter()
            .map(|(tool, to)| open_tool(project, tool, Some((to, step)), edit));
        let stays = stays.iter().map(|(tool, _)| open_tool(project, tool, None, edit));
        view! {
            <h3>{t("From here the caller can call")}</h3>
            {moving(moves.collect())}
            {folded(stays.collect(), "")}
        }
    });
    view! {
        {tools}
        {caller.rest()}
    }
    .into_any()
}

/// The tools that are open here and move nothing, folded away.
fn staying(project: &str, page: &Value, edit: Option<EditTool>) -> AnyView {
    let rows: Vec<_> = page["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|tool| !tool["state"].is_string())
        .filter_map(|tool| Some(open_tool(project, tool["name"].as_str()?, None, edit)))
        .collect();
    folded(rows, if page["next_cursor"].is_string() { "+" } else { "" })
}

fn folded(rows: Vec<AnyView>, more: &str) -> AnyView {
    if rows.is_empty() {
        return ().into_any();
    }
    let heading = tf!("Tools that stay here: {count}{more}", count = rows.len(), more);
    view! {
        <details>
            <summary>{heading}</summary>
            <ul class="list">{rows}</ul>
        </details>
    }
    .into_any()
}

/// One tool, with the step that it makes, if any.
fn open_tool(
    project: &str,
    name: &str,
    way: Option<(&str, Callback<(String, String)>)>,
    edit: Option<EditTool>,
) -> AnyView {
    let href = Page::tool(project.to_owned(), name.to_owned()).path();
    let go = way.map(|(to, step)| {
        let taken = (name.to_owned(), to.to_owned());
        view! {
            <button type="button" class="button button-small" on:click=move |_| step.run(taken.clone())>
                <Icon symbol=Symbol::Arrow />
                {t("Go to ")}
                {to.to_owned()}
            </button>
        }
    });
    let change = edit.map(|edit| {
        let label = tf!("Edit the transition of {tool}", tool = name);
        let name = name.to_owned();
        view! {
            <button
                type="button"
                class="button button-small button-quiet"
                aria-label=label
                on:click=move |_| edit.open(&name)
            >
                {t("Edit")}
            </button>
        }
    });
    view! {
        <li class="row row-spread">
            <a class="tool-name" href=href>
                {name.to_owned()}
            </a>
            <span class="row">{go} {change}</span>
        </li>
    }
    .into_any()
}
