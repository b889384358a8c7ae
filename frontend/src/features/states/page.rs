//! The page of the states: the drawing, what is wrong with it, and a walk through it.

use std::time::Duration;

use leptos::leptos_dom::helpers::set_interval_with_handle;
use leptos::prelude::*;
use toolgate_api::sessions::SessionCounts;
use toolgate_api::states::StateGraph;

use super::describe::Describe;
use super::drawing::lazy_drawing;
use super::edit::EditTool;
use super::focus::{DRAWN, Focus};
use super::picked::Picked;
use super::problems::problems;
use super::table::{chosen_arrow, table};
use super::walk::Walk;
use crate::api::in_project;
use crate::components::{EmptyState, SectionHead, Select, Symbol};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, effect, part};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::{Navigator, UrlParam, project_in_path};

/// How often the sessions are counted again.
const PERIOD: Duration = Duration::from_secs(10);

/// The state machine.
#[component]
pub(crate) fn StatesPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let navigator = Navigator::new();
    let graph = Loaded::new(move || in_project(&project.get(), &["states", "graph"]));
    let machine = Memo::new(move |_| graph.read::<StateGraph>());
    let picked = Picked::new(machine);
    let state = Loaded::new(move || match picked.here.get() {
        name if name.is_empty() => String::new(),
        name => in_project(&project.get(), &["states", &name]),
    });
    let edit = EditTool::new(project, graph);
    let may_edit = condition(move || session.may(&project.get(), Permission::EditDefinitions));
    // Other pages lead to the dialog by the address.
    let wanted = UrlParam::new("edit");
    effect(move || {
        let tool = wanted.get();
        if !tool.is_empty() && may_edit.get() {
            edit.open(&tool);
            wanted.replace("");
        }
    });
    let sessions = Loaded::new(move || in_project(&project.get(), &["sessions", "by-state"]));
    if let Ok(timer) = set_interval_with_handle(move || sessions.reload(), PERIOD) {
        on_cleanup(move || timer.clear());
    }
    let counts = Memo::new(move |_| sessions.read::<SessionCounts>().unwrap_or_default());
    let chosen = UrlParam::new("show");
    let choices = Focus::CHOICES.map(|(word, name)| (word.to_owned(), t(name).to_owned()));
    let choices = Signal::stored(choices.to_vec());
    let is_large = condition(move || {
        machine.with(|machine| {
            machine
                .as_ref()
                .is_some_and(|machine| machine.states.len() > DRAWN)
        })
    });
    let drawn = Memo::new(move |_| {
        let focus = match Focus::read(&chosen.get()) {
            Focus::All if is_large.get() => Focus::Around,
            focus => focus,
        };
        // All of it is drawn again only when it has changed, not when another state is picked.
        let here = if focus == Focus::All {
            String::new()
        } else {
            picked.here.get()
        };
        machine.with(|machine| machine.as_ref().map(|machine| focus.of(machine, &here)))
    });
    let describing = RwSignal::new(false);
    let to_state = Callback::new(move |name: String| picked.state(&name));
    let to_tool = Callback::new(move |name: String| {
        if may_edit.get_untracked() {
            edit.open(&name);
        } else {
            navigator.go(&Page::tool(project.get_untracked(), name).path());
        }
    });
    let is_there = condition(move || {
        machine.with(|machine| {
            machine
                .as_ref()
                .is_some_and(|machine| machine.states.len() > 1 || !machine.transitions.is_empty())
        })
    });
    let with_machine = move |make: &dyn Fn(&StateGraph) -> AnyView| {
        machine.with(|machine| machine.as_ref().map_or_else(|| ().into_any(), make))
    };
    let file = move |format: &str| in_project(&project.get(), &["states", "graph"]) + "?format=" + format;
    view! {
        <SectionHead section=PageKind::States text=t("Tools open and close with the state of the workflow, and move it when they succeed.")>
            <a class="button" rel="external" download="states.mmd" href=move || file("mermaid")>
                {t("Mermaid")}
            </a>
            <a class="button" rel="external" download="states.dot" href=move || file("dot")>
                {t("DOT")}
            </a>
        </SectionHead>
        {graph.placeholder(t("the state machine"))}
        {edit.view()}
        <When test=move || machine.with(Option::is_some) && !is_there.get()>
            <EmptyState
                symbol=Symbol::State
                title=t("There is only one state")
                text=t("No tool moves the workflow. Give a tool state: analysis, and another available_in_states: [analysis].")
            >
                <When test=move || may_edit.get()>
                    <button type="button" class="button button-primary" on:click=move |_| edit.open("")>
                        {t("Create the first transition")}
                    </button>
                </When>
            </EmptyState>
        </When>
        <When test=move || is_there.get()>
            <div class="stack">
                <div class="row">
                    <Select
                        id="states-focus"
                        name=t("Show")
                        value=chosen.signal()
                        options=choices
                        on_change=move |word: String| chosen.replace(&word)
                    />
                    {part(move || match is_large.get() {
                        true => view! { <p class="muted">{tf!("Of more than {count} states, those around the current one are drawn.", count = DRAWN)}</p> }.into_any(),
                        false => ().into_any(),
                    })}
                </div>
                {part(move || drawn.with(|drawn| match drawn {
                    Some(machine) => lazy_drawing(machine.clone(), picked, counts),
                    None => ().into_any(),
                }))}
                {part(move || {
                    let edit = may_edit.get().then_some(edit);
                    with_machine(&|machine| chosen_arrow(&project.get(), machine, picked, edit))
                })}
                <div class="columns">
                    <Walk project machine picked state edit describing />
                    {part(move || with_machine(&|machine| problems(machine, to_state, to_tool)))}
                </div>
                {table(project, machine, picked)}
            </div>
        </When>
        <Describe project state here=picked.here open=describing on_renamed=move |()| graph.reload() />
    }
}
