//! After an import: which of the new tools are enabled, in which groups and states, and a first call.

use std::collections::BTreeSet;

use leptos::prelude::*;
use serde_json::{Value, json};

use super::trying::Trying;
use crate::components::{Field, NameInput, NamesOf};
use crate::language::{t, tf};
use crate::reactive::{effect, part};
use crate::tool_change::{Part, ToolChange};
use crate::words::counted;

/// The group of tools that name none.
const DEFAULT: &str = "default";

/// Enabling tools in one step, and trying one.
#[component]
pub(crate) fn Next(
    /// The project's id.
    project: Memo<String>,
    /// The tools that were made, disabled.
    #[prop(into)]
    tools: Signal<Vec<String>>,
    /// Tools were changed.
    #[prop(into)]
    on_changed: Callback<()>,
) -> impl IntoView {
    let chosen = RwSignal::new(BTreeSet::new());
    effect(move || chosen.set(tools.get().into_iter().collect()));
    let groups = RwSignal::new(DEFAULT.to_owned());
    let states = RwSignal::new(String::new());
    let tried = RwSignal::new(None::<String>);
    let changes = RwSignal::new(0);
    let change = ToolChange::new(project, move || {
        changes.update(|count| *count += 1);
        on_changed.run(());
    });
    let enable = move |names: Vec<String>| {
        let change_to = wanted(&groups.get_untracked(), &states.get_untracked());
        change.review(vec![Part {
            names,
            change: change_to,
        }]);
    };
    let review = move |_| enable(chosen.with_untracked(|chosen| chosen.iter().cloned().collect()));
    let row = move |name: String| {
        let [read, written, meant, shown] = [(); 4].map(|()| name.clone());
        let label = tf!("Try {name}", name);
        view! {
            <li class="row">
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || chosen.with(|chosen| chosen.contains(&read))
                        on:change=move |event| {
                            let is_meant = event_target_checked(&event);
                            chosen.update(|chosen| {
                                if is_meant {
                                    chosen.insert(written.clone());
                                } else {
                                    chosen.remove(&written);
                                }
                            });
                        }
                    />
                    <span class="mono">{name}</span>
                </label>
                <button
                    type="button"
                    class="button button-small button-quiet"
                    aria-label=label
                    aria-pressed=move || tried.with(|tried| tried.as_ref() == Some(&shown)).to_string()
                    on:click=move |_| tried.set(Some(meant.clone()))
                >
                    {t("Try")}
                </button>
            </li>
        }
    };
    let boxes = move || tools.get().into_iter().map(row).collect::<Vec<_>>().into_any();
    view! {
        <section class="panel stack" aria-label=t("Enable")>
            <h2>{t("Enable and try")}</h2>
            <p class="muted">
                {t("The new tools are disabled until you enable them: all of them, or one that you try first.")}
            </p>
            <ul class="names">{part(boxes)}</ul>
            <div class="columns">
                <Field
                    id="next-groups"
                    label=t("Groups")
                    help=t("Those who are granted one of them may call the tools. Separated by commas.")
                >
                    <NameInput id="next-groups" value=groups of=NamesOf::Groups many=true />
                </Field>
                <Field id="next-states" label=t("Open in states") help=t("Separated by commas; empty is every state.") guide="groups-and-states#the-rule">
                    <NameInput id="next-states" value=states of=NamesOf::States many=true />
                </Field>
            </div>
            <div>
                <button
                    type="button"
                    class="button button-primary"
                    disabled=move || chosen.with(BTreeSet::is_empty)
                    on:click=review
                >
                    {move || tf!("Enable {tools}", tools = counted(chosen.with(BTreeSet::len), "tool"))}
                </button>
            </div>
        </section>
        {part(move || {
            let Some(name) = tried.get() else {
                return ().into_any();
            };
            let on_enable = move |name| enable(vec![name]);
            view! { <Trying project name changes on_enable /> }.into_any()
        })}
        {change.view()}
    }
}

/// The change that enables tools and puts them into groups and states. They are in the group `default` and open in every
/// state before.
fn wanted(groups: &str, states: &str) -> Value {
    let (groups, states) = (names(groups), names(states));
    let mut change = json!({"enabled": true});
    let others: Vec<&&str> = groups.iter().filter(|name| **name != DEFAULT).collect();
    if !others.is_empty() {
        change["add_groups"] = json!(others);
    }
    if !groups.is_empty() && !groups.contains(&DEFAULT) {
        change["remove_groups"] = json!([DEFAULT]);
    }
    if !states.is_empty() && !states.contains(&"*") {
        change["add_states"] = json!(states);
        change["remove_states"] = json!(["*"]);
    }
    change
}

fn names(text: &str) -> Vec<&str> {
    let names = text.split(',').map(str::trim);
    names.filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::wanted;

    #[test]
    fn groups_and_states_become_a_change() {
        for (groups, states, expected) in [
            ("default", "", json!({"enabled": true})),
            ("", " * ", json!({"enabled": true})),
            (
                "default, pets",
                "",
                json!({"enabled": true, "add_groups": ["pets"]}),
            ),
            (
                "pets",
                "open,done",
                json!({
                    "enabled": true, "add_groups": ["pets"], "remove_groups": ["default"],
                    "add_states": ["open", "done"], "remove_states": ["*"]
                }),
            ),
        ] {
            assert_eq!(wanted(groups, states), expected, "{groups} {states}");
        }
    }
}
