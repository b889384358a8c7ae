//! What is wrong with the machine, in words that lead to the place.

use leptos::prelude::*;
use toolgate_api::states::StateGraph;

use crate::components::{Badge, Tone};
use crate::language::{t, tf};
use crate::reactive::part;

/// Names that are shown of one problem before all of them are asked for.
const FIRST: usize = 24;

/// What a named thing is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    States,
    Tools,
}

/// The problems and the cycles; a name leads to its state or its tool.
pub(super) fn problems(
    machine: &StateGraph,
    to_state: Callback<String>,
    to_tool: Callback<String>,
) -> AnyView {
    let mut found = Vec::new();
    let mut say = |tone: Tone, text: &'static str, kind: Names, names: &[String]| {
        if names.is_empty() {
            return;
        }
        let go = if kind == Names::States { to_state } else { to_tool };
        let names = places(names.to_vec(), go);
        found.push(
            view! {
                <li class="row">
                    <Badge tone text />
                    {names}
                </li>
            }
            .into_any(),
        );
    };
    let ends: Vec<_> = machine.dead_ends.iter().map(|end| end.state.clone()).collect();
    say(
        Tone::Bad,
        t("cannot be reached"),
        Names::States,
        &machine.unreachable,
    );
    say(Tone::Note, t("nothing leads out"), Names::States, &ends);
    say(Tone::Note, t("no tool names it"), Names::States, &machine.unused);
    say(
        Tone::Bad,
        t("tools that can never be called"),
        Names::Tools,
        &machine.never_callable,
    );
    say(
        Tone::Bad,
        t("tools only in unreachable states"),
        Names::Tools,
        &machine.only_in_unreachable,
    );
    for cycle in &machine.cycles {
        say(Tone::Plain, t("goes round"), Names::States, cycle);
    }
    let fine = found
        .is_empty()
        .then(|| view! { <p class="muted">{t("Every state can be reached and left.")}</p> });
    let cut = machine.truncated.then(|| {
        view! {
            <p class="note">
                {tf!(
                    "Only a part is shown: there are {states} states and {transitions} transitions.",
                    states = machine.state_count,
                    transitions = machine.transition_count,
                )}
            </p>
        }
    });
    view! {
        <section class="panel stack">
            <h2>{t("Problems and cycles")}</h2>
            {fine}
            {cut}
            <ul class="stack">{found}</ul>
        </section>
    }
    .into_any()
}

/// Names that lead to what they name: the first ones, and all of them on demand.
fn places(names: Vec<String>, go: Callback<String>) -> AnyView {
    let all = RwSignal::new(names.len() <= FIRST);
    let hidden = names.len().saturating_sub(FIRST);
    part(move || {
        let count = if all.get() { names.len() } else { FIRST };
        let shown: Vec<_> = names
            .iter()
            .take(count)
            .map(|name| {
                let target = name.clone();
                view! {
                    <li>
                        <button type="button" class="fault-place" on:click=move |_| go.run(target.clone())>
                            {name.clone()}
                        </button>
                    </li>
                }
            })
            .collect();
        let more = (!all.get()).then(|| {
            view! {
                <li>
                    <button type="button" class="button button-small" on:click=move |_| all.set(true)>
                        {tf!("Show {hidden} more", hidden)}
                    </button>
                </li>
            }
        });
        view! { <ul class="row">{shown} {more}</ul> }.into_any()
    })
}
