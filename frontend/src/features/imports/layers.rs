//! Where the arguments of a tool come from: the caller, a default, a fixed value, the environment. What is decided before an
//! import is written into the tools as soon as they are there.

use std::collections::BTreeMap;

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Value, json};
use toolgate_api::imports::ImportPreview;

use super::questions::Questions;
use crate::action::Action;
use crate::api::{ApiError, Ask, Body, in_project, parse, with_query};
use crate::components::{Dialog, Placement, ProblemPanel, Skeleton};
use crate::language::{marked, t, tf};
use crate::reactive::{part, text};

/// The layers of one tool: by parameter the layer, and its value or the name of the variable.
type Layers = BTreeMap<String, (String, String)>;

/// The layers with their words; the first is what a parameter is without a decision.
const LAYERS: [(&str, &str); 4] = [
    ("", marked("The caller gives it")),
    ("default", marked("Default, when the caller gives nothing")),
    ("fixed", marked("Fixed; callers do not see it")),
    ("env", marked("From the environment; callers do not see it")),
];

/// The decisions for all tools of an import, and the dialog in which they are made.
#[derive(Clone, Copy)]
pub(super) struct Layering {
    questions: Questions,
    open: RwSignal<bool>,
    tool: RwSignal<String>,
    /// The definition of the tool in the dialog.
    definition: RwSignal<Value>,
    decided: RwSignal<BTreeMap<String, Layers>>,
    action: Action,
    /// Why the decisions could not be written.
    refused: RwSignal<Option<ApiError>>,
}

impl Layering {
    /// Nothing is decided yet.
    pub(super) fn new(questions: Questions) -> Self {
        Self {
            questions,
            open: RwSignal::new(false),
            tool: RwSignal::new(String::new()),
            definition: RwSignal::new(Value::Null),
            decided: RwSignal::new(BTreeMap::new()),
            action: Action::new(),
            refused: RwSignal::new(None),
        }
    }

    /// Forgets everything: another description was read.
    pub(super) fn clear(self) {
        self.decided.set(BTreeMap::new());
    }

    /// Takes the new names of the tools.
    pub(super) fn rename(self, names: &BTreeMap<String, String>) {
        self.decided.update(|all| {
            let before = std::mem::take(all);
            all.extend(
                before
                    .into_iter()
                    .filter_map(|(tool, layers)| Some((names.get(&tool)?.clone(), layers))),
            );
        });
    }

    /// The button that opens the dialog for a tool.
    pub(super) fn button(self, tool: String) -> AnyView {
        let [shown, label] = [(); 2].map(|()| tool.clone());
        let decided = move || self.decided.with(|all| all.get(&shown).map_or(0, Layers::len));
        view! {
            <button
                type="button"
                class="button button-small button-quiet"
                aria-label=tf!("Arguments of {tool}", tool = label)
                on:click=move |_| self.begin(tool.clone())
            >
                {move || match decided() {
                    0 => t("Arguments").to_owned(),
                    count => tf!("Arguments ({count} set)", count),
                }}
            </button>
        }
        .into_any()
    }

    fn begin(self, tool: String) {
        let more = [("operation_id", tool.clone()), ("definitions", "true".to_owned())];
        self.tool.set(tool.clone());
        self.definition.set(Value::Null);
        self.open.set(true);
        self.action.send(self.questions.preview(&more), move |answer| {
            let Some(preview) = self.action.read::<ImportPreview>(&answer) else {
                return;
            };
            let mut found = preview.operations.into_iter().filter(|one| one.tool == tool);
            let found = found.next().and_then(|one| one.definition);
            self.definition.set(found.unwrap_or_else(|| json!({})));
        });
    }

    /// The dialog.
    pub(super) fn view(self) -> AnyView {
        let rows = move || {
            let names = self.definition.with(|definition| {
                let properties = definition["parameters"]["properties"].as_object();
                let names = properties.into_iter().flatten();
                names
                    .map(|(name, schema)| (name.clone(), hint(schema)))
                    .collect::<Vec<_>>()
            });
            if self.definition.with(Value::is_null) {
                let is_waiting = self.action.busy.get();
                return is_waiting
                    .then(|| view! { <Skeleton what=t("the arguments") rows=3 /> })
                    .into_any();
            }
            if names.is_empty() {
                return view! { <p class="muted">{t("This operation takes no arguments.")}</p> }.into_any();
            }
            let rows: Vec<_> = names
                .into_iter()
                .enumerate()
                .map(|(at, (name, hint))| self.row(at, name, hint))
                .collect();
            view! { <ul class="stack">{rows}</ul> }.into_any()
        };
        view! {
            <Dialog
                open=self.open
                title=text(move || tf!("Arguments of {tool}", tool = self.tool.get()))
                placement=Placement::Wide
            >
                <div class="dialog-body">
                    <p class="muted">
                        {t("What is decided here is written into the tool right after the import. Variables are those that the server permits to definitions, and secrets of this project as secret:NAME.")}
                    </p>
                    {self.action.outcome()}
                    {part(rows)}
                </div>
                <footer class="dialog-foot">
                    <button type="button" class="button button-primary" on:click=move |_| self.open.set(false)>
                        {t("Done")}
                    </button>
                </footer>
            </Dialog>
        }
        .into_any()
    }

    fn row(self, at: usize, name: String, hint: String) -> AnyView {
        let name = StoredValue::new(name);
        let now = Memo::new(move |_| {
            self.decided.with(|all| {
                let layers = self.tool.with(|tool| all.get(tool));
                let layer = layers.and_then(|layers| name.with_value(|name| layers.get(name)));
                layer.cloned().unwrap_or_default()
            })
        });
        let set = move |layer: String, value: String| {
            self.decided.update(|all| {
                let layers = all.entry(self.tool.get_untracked()).or_default();
                if layer.is_empty() {
                    layers.remove(&name.get_value());
                } else {
                    layers.insert(name.get_value(), (layer, value));
                }
            });
        };
        let options: Vec<_> = LAYERS
            .into_iter()
            .map(|(key, words)| {
                view! {
                    <option value=key selected=untrack(|| now.get().0 == key)>
                        {t(words)}
                    </option>
                }
            })
            .collect();
        let (source, value) = (format!("layer-source-{at}"), format!("layer-value-{at}"));
        view! {
            <li class="columns">
                <div class="field">
                    <label for=source.clone() class="mono">
                        {name.get_value()}
                    </label>
                    <select
                        id=source
                        class="input select"
                        on:change=move |event| set(event_target_value(&event), now.get_untracked().1)
                    >
                        {options}
                    </select>
                    <p class="field-help">{hint}</p>
                </div>
                <div class="field" hidden=move || now.get().0.is_empty()>
                    <label for=value.clone()>
                        {move || if now.get().0 == "env" { t("Name of the variable, or secret:NAME") } else { t("Value") }}
                    </label>
                    <input
                        id=value
                        class="input mono"
                        type="text"
                        maxlength="4000"
                        autocomplete="off"
                        spellcheck="false"
                        prop:value=move || now.get().1
                        on:input=move |event| set(now.get_untracked().0, event_target_value(&event))
                    />
                </div>
            </li>
        }
        .into_any()
    }

    /// Writes what was decided for tools that are there now, and then goes on. A failure is shown by [`Self::refusal`], with
    /// a way to try again.
    pub(super) fn write(self, project: String, tools: Vec<String>, then: Callback<()>) {
        self.refused.set(None);
        let decided = self.decided.get_untracked().into_iter();
        let decided: Vec<(String, Layers)> = decided
            .filter(|(tool, layers)| !layers.is_empty() && tools.contains(tool))
            .collect();
        spawn_local(async move {
            match write_all(&project, decided).await {
                Ok(()) => _ = then.try_run(()),
                Err(error) => _ = self.refused.try_set(Some(error)),
            }
        });
    }

    /// Why writing failed; `again` tries once more.
    pub(super) fn refusal(self, again: Callback<()>) -> AnyView {
        part(move || {
            let problem = |error| {
                view! {
                    <p class="note">{t("The operations are imported, but the arguments that you have set are not in the tools yet.")}</p>
                    <ProblemPanel error on_retry=again />
                }
            };
            self.refused.get().map(problem).into_any()
        })
    }
}

/// What a parameter takes, in short.
fn hint(schema: &Value) -> String {
    let kind = schema["type"].as_str().unwrap_or(t("any value"));
    match schema["description"].as_str() {
        Some(words) => format!("{kind}: {words}"),
        None => kind.to_owned(),
    }
}

async fn write_all(project: &str, decided: Vec<(String, Layers)>) -> Result<(), ApiError> {
    if decided.is_empty() {
        return Ok(());
    }
    let mut definitions = Vec::new();
    for (tool, layers) in decided {
        let stored = Ask::get(in_project(project, &["tools", &tool])).send().await?;
        let mut stored = parse(&stored.text)?;
        let mut definition = stored["definition"].take();
        add_layers(&mut definition, &layers);
        definition["expect_revision"] = stored["revision"].take();
        definitions.push(definition);
    }
    let path = with_query(
        in_project(project, &["tools"]),
        &[("note", "Arguments set while importing")],
    );
    Ask::post(path, Body::Json(Value::Array(definitions).to_string()))
        .send()
        .await
        .map(|_| ())
}

/// Adds layers to a definition.
fn add_layers(definition: &mut Value, layers: &Layers) {
    for (name, (layer, value)) in layers {
        let schema = &definition["parameters"]["properties"][name];
        let is_text = schema["type"] == "string" || layer == "env";
        let value = match parse(value) {
            Ok(read) if !is_text => read,
            _ => Value::String(value.clone()),
        };
        match layer.as_str() {
            "default" => definition["options"]["args"]["defaults"][name] = value,
            "fixed" => definition["options"]["args"]["fixed"][name] = value,
            _ => definition["options"]["envs"][name] = value,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Layers, add_layers, hint};

    #[test]
    fn layers_become_options() {
        let mut definition = json!({
            "name": "listPets",
            "parameters": {"properties": {"limit": {"type": "integer"}, "tag": {"type": "string"}, "all": {}}},
            "options": {"http": {"base_url": "https://pets.example"}}
        });
        let layer =
            |name: &str, layer: &str, value: &str| (name.to_owned(), (layer.to_owned(), value.to_owned()));
        let layers = Layers::from([
            layer("limit", "default", "10"),
            layer("tag", "fixed", "12"),
            layer("all", "fixed", "[tru"),
            layer("key", "env", "secret:KEY"),
        ]);
        add_layers(&mut definition, &layers);
        assert_eq!(
            definition["options"],
            json!({
                "http": {"base_url": "https://pets.example"},
                "args": {"defaults": {"limit": 10}, "fixed": {"tag": "12", "all": "[tru"}},
                "envs": {"key": "secret:KEY"}
            })
        );
    }

    #[test]
    fn a_parameter_is_described_in_short() {
        assert_eq!(
            hint(&json!({"type": "integer", "description": "How many"})),
            "integer: How many"
        );
        assert_eq!(hint(&json!({})), "any value");
    }
}
