//! The page of the states: the drawing, what is wrong with it, and a walk through it.

use leptos::prelude::*;
use toolgate_api::states::{StateGraph, StatePage};

use super::drawing::drawing;
use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{
    Badge, Dialog, EmptyState, Field, SectionHead, Symbol, Tags, TextArea, Toasts, Tone,
};
use crate::loaded::Loaded;
use crate::reactive::{effect, text, text_memo};
use crate::routes::{Page, Section};
use crate::session::{Need, Session};
use crate::url::{UrlParam, project_in_path};

/// The state machine.
#[component]
pub(crate) fn StatesPage() -> impl IntoView {
    let project = project_in_path();
    let at = UrlParam::new("at");
    let graph = Loaded::new(move || in_project(&project.get(), &["states", "graph"]));
    let states = Loaded::new(move || in_project(&project.get(), &["states"]) + "?limit=200");
    let machine = Memo::new(move |_| graph.read::<StateGraph>());
    let here = text_memo(move || match at.get() {
        name if name.is_empty() => machine.get().map(|machine| machine.start).unwrap_or_default(),
        name => name,
    });
    let choose = Callback::new(move |name: String| at.push(&name));
    let describing = RwSignal::new(false);
    view! {
        <SectionHead section=Section::States text="Tools open and close with the state of the workflow, and move it when they succeed.">
            <a
                class="button"
                rel="external"
                download="states.mmd"
                href=move || in_project(&project.get(), &["states", "graph"]) + "?format=mermaid"
            >
                "Mermaid"
            </a>
            <a
                class="button"
                rel="external"
                download="states.dot"
                href=move || in_project(&project.get(), &["states", "graph"]) + "?format=dot"
            >
                "DOT"
            </a>
        </SectionHead>
        {graph.placeholder("the state machine")}
        {move || {
            let machine = machine.get()?;
            if machine.states.len() <= 1 && machine.transitions.is_empty() {
                return Some(
                    view! {
                        <EmptyState
                            symbol=Symbol::State
                            title="There is only one state"
                            text="No tool moves the workflow. Give a tool `state: analysis`, and another `available_in_states: [analysis]`."
                        />
                    }
                        .into_any(),
                );
            }
            Some(
                view! {
                    <div class="stack">
                        {drawing(&machine, &here.get(), choose)}
                        <div class="columns">
                            {walk(project, &machine, &here.get(), choose, describing)} {problems(&machine)}
                        </div>
                    </div>
                }
                    .into_any(),
            )
        }}
        <Describe project states here open=describing />
    }
}

/// Where one stands, and where one can go from there.
fn walk(
    project: Memo<String>,
    machine: &StateGraph,
    here: &str,
    choose: Callback<String>,
    describing: RwSignal<bool>,
) -> AnyView {
    let session = Session::get();
    let steps: Vec<_> = machine
        .transitions
        .iter()
        .filter(|step| step.from.as_deref().is_none_or(|from| from == here) && step.to != here)
        .map(|step| {
            let to = step.to.clone();
            view! {
                <li class="row row-spread">
                    <span class="mono">{step.tools.join(", ")}</span>
                    <button type="button" class="button button-small" on:click=move |_| choose.run(to.clone())>
                        "Go to " {step.to.clone()}
                    </button>
                </li>
            }
        })
        .collect();
    let stays = steps
        .is_empty()
        .then(|| view! { <p class="muted">"Nothing leads out of it."</p> });
    let tools =
        Page::In(project.get_untracked(), Section::Tools).path() + "?state=" + &crate::browser::encode(here);
    let may_change = session.may(&project.get_untracked(), Need::Own);
    view! {
        <section class="panel stack">
            <h2>
                "Walk through: " <span class="mono">{here.to_owned()}</span>
            </h2>
            <div class="row">
                <a class="button button-small" href=tools>
                    "Tools that are open here"
                </a>
                {may_change
                    .then(|| {
                        view! {
                            <button type="button" class="button button-small" on:click=move |_| describing.set(true)>
                                "Describe"
                            </button>
                        }
                    })}
            </div>
            {stays}
            <ul class="stack">{steps}</ul>
        </section>
    }
    .into_any()
}

/// What is wrong with the machine, in words.
fn problems(machine: &StateGraph) -> AnyView {
    let mut found = Vec::new();
    let mut say = |tone: Tone, text: &'static str, names: Vec<String>| {
        if !names.is_empty() {
            found.push(
                view! {
                    <li class="row">
                        <Badge tone text />
                        <Tags names />
                    </li>
                }
                .into_any(),
            );
        }
    };
    say(Tone::Bad, "cannot be reached", machine.unreachable.clone());
    say(
        Tone::Note,
        "nothing leads out",
        machine.dead_ends.iter().map(|end| end.state.clone()).collect(),
    );
    say(Tone::Note, "no tool names it", machine.unused.clone());
    say(
        Tone::Bad,
        "tools that can never be called",
        machine.never_callable.clone(),
    );
    say(
        Tone::Bad,
        "tools only in unreachable states",
        machine.only_in_unreachable.clone(),
    );
    for cycle in &machine.cycles {
        say(Tone::Plain, "goes round", cycle.clone());
    }
    let fine = found
        .is_empty()
        .then(|| view! { <p class="muted">"Every state can be reached and left."</p> });
    let cut = machine.truncated.then(|| {
        view! {
            <p class="note">
                {format!(
                    "Only a part is shown: there are {} states and {} transitions.",
                    machine.state_count,
                    machine.transition_count,
                )}
            </p>
        }
    });
    view! {
        <section class="panel stack">
            <h2>"Problems and cycles"</h2>
            {fine}
            {cut}
            <ul class="stack">{found}</ul>
        </section>
    }
    .into_any()
}

/// The dialog that describes the state one stands in.
#[component]
fn Describe(
    project: Memo<String>,
    states: Loaded,
    here: Memo<String>,
    open: RwSignal<bool>,
) -> impl IntoView {
    let words = RwSignal::new(String::new());
    let action = Action::new();
    let toasts = Toasts::get();
    let declared = move || {
        let page = states.read::<StatePage>()?;
        page.items
            .into_iter()
            .find(|state| state.name == here.get() && state.declared)
    };
    effect(move || {
        if open.get() {
            words.set(declared().map(|state| state.description).unwrap_or_default());
        }
    });
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let body = Body::json(&toolgate_api::states::PutState {
            description: words.get_untracked().trim().to_owned(),
        });
        let path = in_project(&project.get_untracked(), &["states", &here.get_untracked()]);
        let ask = Ask::put(path, body);
        let ask = if untrack(declared).is_some() {
            ask.if_match("*")
        } else {
            ask.if_new()
        };
        action.send(ask, move |_| {
            toasts.done("The state is described.");
            states.reload();
            open.set(false);
        });
    };
    view! {
        <Dialog open title=text(move || format!("State {}", here.get()))>
            <form on:submit=save>
                <div class="dialog-body">
                    <Field id="state-description" label="Description" help="What it means that a workflow is here.">
                        <TextArea id="state-description" value=words rows=4 />
                    </Field>
                    {action.outcome()}
                </div>
                <footer class="dialog-foot">
                    <button type="submit" class="button button-primary" disabled=move || action.busy.get()>
                        "Save"
                    </button>
                </footer>
            </form>
        </Dialog>
    }
}
