//! After an import: which of the new tools are enabled, in which groups and states, and a first call.

use std::collections::BTreeSet;

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_split::wasm_split;
use serde_json::{Value, json};
use toolgate_api::tools::Tool;

use super::badges::counted;
use crate::api::{ApiError, in_project};
use crate::components::{Field, ProblemPanel, Select, TextInput};
use crate::features::tools::CallForm;
use crate::loaded::Loaded;
use crate::reactive::{When, effect, part};
use crate::tool_change::{Part, ToolChange};
use crate::url::UrlParam;

/// The group of tools that name none.
const DEFAULT: &str = "default";

/// Makes the form that calls a tool.
type MakeForm = fn(Memo<String>, Tool) -> AnyView;

/// The form comes when the first tool is tried: most of what it takes is no part of importing.
#[wasm_split(call_form, wasm_split_path = leptos::wasm_split, fallible)]
fn call_form() -> Result<MakeForm, ApiError> {
    Ok(|project, tool| view! { <CallForm project tool /> }.into_any())
}

/// Enabling tools in one step, and calling one.
#[component]
pub(super) fn Next(
    /// The project's id.
    project: Memo<String>,
    /// The tools that were made, disabled.
    tools: Vec<String>,
    /// Tools were changed.
    #[prop(into)]
    on_changed: Callback<()>,
) -> impl IntoView {
    let tried = UrlParam::new("try");
    let chosen = RwSignal::new(tools.iter().cloned().collect::<BTreeSet<_>>());
    let groups = RwSignal::new(DEFAULT.to_owned());
    let states = RwSignal::new(String::new());
    let tool = Loaded::new(move || {
        let name = tried.get();
        if name.is_empty() {
            String::new()
        } else {
            in_project(&project.get(), &["tools", &name])
        }
    });
    let change = ToolChange::new(project, move || {
        tool.reload();
        on_changed.run(());
    });
    let review = move |_| {
        let wanted = wanted(&groups.get_untracked(), &states.get_untracked());
        let names = chosen.with_untracked(|chosen| chosen.iter().cloned().collect());
        change.review(vec![Part {
            names,
            change: wanted,
        }]);
    };
    let boxes: Vec<_> = tools
        .iter()
        .map(|name| {
            let (read, written) = (name.clone(), name.clone());
            view! {
                <li>
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
                        <span class="mono">{name.clone()}</span>
                    </label>
                </li>
            }
        })
        .collect();
    let none = (String::new(), "Choose a tool".to_owned());
    let options = std::iter::once(none).chain(tools.iter().map(|name| (name.clone(), name.clone())));
    let options = Signal::stored(options.collect::<Vec<_>>());
    let current = Memo::new(move |_| tool.read::<Tool>());
    let form = RwSignal::new(None::<Result<MakeForm, ApiError>>);
    let load = move || {
        form.set(None);
        spawn_local(async move {
            let made = call_form().await;
            form.try_set(Some(made));
        });
    };
    let is_tried = move || !tried.signal().with(String::is_empty);
    effect(move || {
        if is_tried() && form.with_untracked(Option::is_none) {
            load();
        }
    });
    let calling = move || match (current.get(), form.get()) {
        (Some(tool), Some(Ok(make))) => make(project, tool),
        (_, Some(Err(error))) => view! { <ProblemPanel error on_retry=move |()| load() /> }.into_any(),
        _ => ().into_any(),
    };
    let is_off = move || current.with(|tool| tool.as_ref().is_some_and(|tool| !tool.enabled));
    view! {
        <section class="panel stack" aria-label="Enable">
            <h2>"Enable"</h2>
            <p class="muted">"The new tools are disabled until you enable them."</p>
            <ul class="names">{boxes}</ul>
            <div class="columns">
                <Field id="next-groups" label="Groups" help="Those who are granted one of them may call the tools. Separated by commas.">
                    <TextInput id="next-groups" value=groups mono=true />
                </Field>
                <Field id="next-states" label="Open in states" help="Separated by commas; empty is every state.">
                    <TextInput id="next-states" value=states mono=true />
                </Field>
            </div>
            <div>
                <button
                    type="button"
                    class="button button-primary"
                    disabled=move || chosen.with(BTreeSet::is_empty)
                    on:click=review
                >
                    {move || format!("Enable {}", counted(chosen.with(BTreeSet::len), "tool"))}
                </button>
            </div>
        </section>
        <section class="panel stack" aria-label="Try a call">
            <h2>"Try a call"</h2>
            <Field id="next-tool" label="Tool">
                <Select
                    id="next-tool"
                    value=tried.signal()
                    options
                    on_change=move |name: String| tried.replace(&name)
                />
            </Field>
            <When test=is_tried>{tool.placeholder("the tool")}</When>
            <When test=is_off>
                <p class="note">"This tool is still disabled: a call is refused."</p>
            </When>
        </section>
        {part(calling)}
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
