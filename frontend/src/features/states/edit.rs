//! Changing where a tool is open and where its success leads.

use leptos::prelude::*;
use serde_json::{Value, json};

use crate::api::in_project;
use crate::components::{Dialog, DialogFoot, Field, NameInput, NamesOf};
use crate::language::t;
use crate::loaded::Loaded;
use crate::reactive::{When, effect};
use crate::tool_change::{Part, ToolChange};

/// Opens the dialog for a tool.
#[derive(Clone, Copy)]
pub(super) struct EditTool {
    project: Memo<String>,
    shown: RwSignal<bool>,
    tool: RwSignal<String>,
    change: ToolChange,
    /// What shows tools, and is read again when one was changed.
    readers: StoredValue<Vec<Loaded>>,
}

impl EditTool {
    /// For a page that is being built; the resource is read again when a tool was changed.
    pub(super) fn new(project: Memo<String>, graph: Loaded) -> Self {
        let readers = StoredValue::new(vec![graph]);
        Self {
            project,
            shown: RwSignal::new(false),
            tool: RwSignal::new(String::new()),
            change: ToolChange::new(project, move || {
                for reader in readers.get_value() {
                    reader.reload();
                }
            }),
            readers,
        }
    }

    /// The resource is read again too.
    pub(super) fn also_reload(self, reader: Loaded) {
        self.readers.update_value(|readers| readers.push(reader));
    }

    /// Opens the dialog; without a name, it asks for one.
    pub(super) fn open(self, tool: &str) {
        self.tool.set(tool.to_owned());
        self.shown.set(true);
    }

    /// The dialog, and that of the review after it.
    pub(super) fn view(self) -> AnyView {
        let loaded = Loaded::new(move || {
            let tool = self.tool.get();
            if !self.shown.get() || tool.trim().is_empty() {
                return String::new();
            }
            in_project(&self.project.get(), &["tools", tool.trim()])
        });
        let stored = move || loaded.json();
        let names = Loaded::new(move || {
            if !self.shown.get() {
                return String::new();
            }
            in_project(&self.project.get(), &["tools"]) + "?view=summary&limit=1000"
        });
        let (leads, open_in) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
        effect(move || {
            let tool = stored().unwrap_or_default();
            leads.set(tool["state"].as_str().unwrap_or_default().to_owned());
            open_in.set(texts(&tool["available_in_states"]).join(", "));
        });
        let review = move |event: leptos::ev::SubmitEvent| {
            event.prevent_default();
            if let Some(tool) = untrack(stored) {
                let part = part_of(&tool, leads.get_untracked().trim(), &open_in.get_untracked());
                self.shown.set(false);
                self.change.review(vec![part]);
            }
        };
        let options = move || {
            names.json().unwrap_or_default()["items"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|item| item["name"].as_str())
                .map(|name| view! { <option value=name.to_owned()></option> })
                .collect::<Vec<_>>()
        };
        view! {
            {self.change.view()}
            <Dialog open=self.shown title=t("Edit a transition")>
                <form on:submit=review>
                    <div class="dialog-body">
                        <Field id="edit-tool" label=t("Tool") help=t("Its name, exactly.")>
                            <input
                                id="edit-tool"
                                class="input mono"
                                list="edit-tool-names"
                                autocomplete="off"
                                spellcheck="false"
                                maxlength="128"
                                aria-describedby="edit-tool-help"
                                prop:value=move || self.tool.get()
                                on:change=move |event| self.tool.set(event_target_value(&event))
                            />
                            <datalist id="edit-tool-names">{options}</datalist>
                        </Field>
                        {move || (!self.tool.with(String::is_empty)).then(|| loaded.placeholder(t("the tool")))}
                        <When test=move || stored().is_some()>
                            <Field id="edit-leads" label=t("Its success leads to the state") help=t("Empty: it moves nothing.") guide="groups-and-states#the-rule">
                                <NameInput id="edit-leads" value=leads of=NamesOf::States max="128" />
                            </Field>
                            <Field
                                id="edit-open"
                                label=t("It is open in the states")
                                help=t("Separated by commas; * is every state. Without any it can never be called.")
                            >
                                <NameInput id="edit-open" value=open_in of=NamesOf::States many=true max="4096" />
                            </Field>
                        </When>
                    </div>
                    <DialogFoot open=self.shown>
                        <button type="submit" class="button button-primary" disabled=move || stored().is_none()>
                            {t("Review")}
                        </button>
                    </DialogFoot>
                </form>
            </Dialog>
        }
        .into_any()
    }
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

/// The difference between a tool and what was typed. What did not change is left out.
fn part_of(tool: &Value, leads: &str, open_in: &str) -> Part {
    let mut change = json!({});
    if tool["state"].as_str().unwrap_or_default() != leads {
        change["set_state"] = if leads.is_empty() {
            Value::Null
        } else {
            leads.into()
        };
    }
    let before = texts(&tool["available_in_states"]);
    let mut after: Vec<String> = Vec::new();
    for state in open_in
        .split(',')
        .map(str::trim)
        .filter(|state| !state.is_empty())
    {
        if after.iter().all(|known| known != state) {
            after.push(state.to_owned());
        }
    }
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these
            .iter()
            .filter(|state| !those.contains(state))
            .cloned()
            .collect()
    };
    for (key, states) in [
        ("add_states", only(&after, &before)),
        ("remove_states", only(&before, &after)),
    ] {
        if !states.is_empty() {
            change[key] = states.into();
        }
    }
    Part {
        names: vec![tool["name"].as_str().unwrap_or_default().to_owned()],
        change,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::part_of;

    #[test]
    fn only_what_differs_is_changed() {
        let tool = json!({"name": "t", "state": "a", "available_in_states": ["x", "y"]});
        assert_eq!(part_of(&tool, "a", " y,x ").change, json!({}));
        assert_eq!(part_of(&tool, "", "x, y").change, json!({"set_state": null}));
        let part = part_of(&tool, "b", "y, z, z");
        assert_eq!(part.names, ["t"]);
        assert_eq!(
            part.change,
            json!({"set_state": "b", "add_states": ["z"], "remove_states": ["x"]})
        );
    }
}
