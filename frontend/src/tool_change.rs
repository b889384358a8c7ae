//! A change of where several tools stand: what it would do, doing it, and undoing it.

use leptos::prelude::*;
use serde_json::{Value, json};

use crate::action::Action;
use crate::api::{Ask, Body, in_project, parse, with_query};
use crate::components::{Badge, Dialog, Diff, EditorHandle, Field, Placement, TextInput, Toasts, Tone};
use crate::reactive::part;

/// Differences shown at once.
const SHOWN: usize = 100;

/// What a part of the change is about: the names of tools, and the same change for all of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// The tools.
    pub(crate) names: Vec<String>,
    /// As the API takes it, for example `{"add_groups": ["knowledge"]}`.
    pub(crate) change: Value,
}

/// A change that is prepared, looked at before it is saved, and can be undone. Each part is one request, all or nothing.
#[derive(Clone, Copy)]
pub(crate) struct ToolChange {
    project: Memo<String>,
    open: RwSignal<bool>,
    parts: StoredValue<Vec<Part>>,
    /// What every part would do, as the server says; complete when there is one for each.
    verdicts: RwSignal<Vec<Value>>,
    note: RwSignal<String>,
    /// What undoes the parts that were saved: tools and their revisions.
    undo: RwSignal<Vec<Value>>,
    action: Action,
    undoing: Action,
    on_done: Callback<()>,
}

impl ToolChange {
    /// Nothing is prepared yet; `on_done` is told when tools were changed.
    pub(crate) fn new(project: Memo<String>, on_done: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            project,
            open: RwSignal::new(false),
            parts: StoredValue::new(Vec::new()),
            verdicts: RwSignal::new(Vec::new()),
            note: RwSignal::new(String::new()),
            undo: RwSignal::new(Vec::new()),
            action: Action::new(),
            undoing: Action::new(),
            on_done: Callback::new(move |()| on_done()),
        }
    }

    /// Opens the dialog and asks what the parts would do.
    pub(crate) fn review(self, parts: Vec<Part>) {
        self.parts.set_value(parts);
        self.verdicts.set(Vec::new());
        self.note.set(String::new());
        self.open.set(true);
        self.ask(0);
    }

    /// Whether something is on its way, reactively.
    fn is_busy(self) -> bool {
        self.action.busy.get() || self.undoing.busy.get()
    }

    fn request(self, part: &Part, dry_run: &'static str) -> Ask {
        let path = in_project(&self.project.get_untracked(), &["tool-changes"]);
        let mut body = json!({"select": {"names": part.names}, "change": part.change});
        let note = self.note.get_untracked();
        if !note.trim().is_empty() {
            body["note"] = Value::String(note.trim().to_owned());
        }
        Ask::post(
            with_query(path, &[("dry_run", dry_run)]),
            Body::Json(body.to_string()),
        )
    }

    fn ask(self, at: usize) {
        if let Some(part) = self.parts.with_value(|parts| parts.get(at).cloned()) {
            self.action.send(self.request(&part, "true"), move |answer| {
                self.verdicts
                    .update(|verdicts| verdicts.push(parse(&answer.text).unwrap_or_default()));
                self.ask(at + 1);
            });
        }
    }

    fn save(self) {
        let is_first = self.parts.with_value(Vec::len) == self.verdicts.with_untracked(Vec::len);
        if is_first {
            self.undo.set(Vec::new());
        }
        self.save_next();
    }

    /// A part that is saved is no longer there, so that trying again goes on where it failed.
    fn save_next(self) {
        let Some(part) = self.parts.with_value(|parts| parts.first().cloned()) else {
            self.open.set(false);
            self.on_done.run(());
            return;
        };
        self.action.send(self.request(&part, ""), move |answer| {
            self.parts.update_value(|parts| {
                parts.remove(0);
            });
            let mut answer = parse(&answer.text).unwrap_or_default();
            if let Value::Array(tools) = answer["undo"]["undo"]["tools"].take() {
                self.undo.update(|undo| undo.extend(tools));
            }
            self.save_next();
        });
    }

    fn take_back(self) {
        let path = in_project(&self.project.get_untracked(), &["tool-changes"]);
        let body = json!({"undo": {"tools": self.undo.get_untracked()}});
        let toasts = Toasts::get();
        self.undoing
            .send(Ask::post(path, Body::Json(body.to_string())), move |_| {
                self.undo.set(Vec::new());
                toasts.done("The change is undone.");
                self.on_done.run(());
            });
    }

    /// The dialog, and the line that offers to undo the last change.
    pub(crate) fn view(self) -> AnyView {
        let handle = EditorHandle::new();
        let is_ready = move || {
            let whole = self.parts.with_value(Vec::len);
            self.verdicts.with(|verdicts| {
                verdicts.len() >= whole && verdicts.iter().any(|verdict| changed(verdict) > 0)
            })
        };
        view! {
            <div class="notices" role="status">
                {part(move || {
                    let count = self.undo.with(Vec::len);
                    if count == 0 {
                        return ().into_any();
                    }
                    view! {
                        <p class="notice row">
                            {format!("{} changed.", counted(count))}
                            <button
                                type="button"
                                class="button button-small"
                                disabled=move || self.is_busy()
                                on:click=move |_| self.take_back()
                            >
                                "Undo"
                            </button>
                        </p>
                    }
                        .into_any()
                })}
            </div>
            {self.undoing.outcome()}
            <Dialog open=self.open title="Review the change" placement=Placement::Wide>
                <div class="dialog-body">
                    {part(move || self.verdicts.with(|verdicts| preview(verdicts)))}
                    <Field id="change-note" label="Note" help="Why; kept with every revision. May be left out.">
                        <TextInput id="change-note" value=self.note max="500" />
                    </Field>
                    {self.action.refusal(handle)}
                </div>
                <footer class="dialog-foot">
                    <button type="button" class="button" on:click=move |_| self.open.set(false)>
                        "Cancel"
                    </button>
                    <button
                        type="button"
                        class="button button-primary"
                        disabled=move || self.is_busy() || !is_ready()
                        on:click=move |_| self.save()
                    >
                        "Save the change"
                    </button>
                </footer>
            </Dialog>
        }
        .into_any()
    }
}

fn counted(count: usize) -> String {
    if count == 1 {
        "1 tool".to_owned()
    } else {
        format!("{count} tools")
    }
}

/// The tools of a verdict that would not stay as they are.
fn changing(verdict: &Value) -> impl Iterator<Item = &Value> {
    verdict["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|item| item["outcome"] != "unchanged")
}

fn changed(verdict: &Value) -> usize {
    changing(verdict).count()
}

/// What the parts would do, tool by tool, and to the policy tests.
fn preview(verdicts: &[Value]) -> AnyView {
    if verdicts.is_empty() {
        return view! { <p class="muted">"Asking what would change…"</p> }.into_any();
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let items: Vec<_> = verdicts
        .iter()
        .flat_map(changing)
        .take(SHOWN)
        .map(|item| {
            view! {
                <details class="nested" open=verdicts.len() == 1 && changed(&verdicts[0]) <= 3>
                    <summary class="mono">{text(&item["name"])}</summary>
                    <Diff text=text(&item["diff"]) />
                </details>
            }
        })
        .collect();
    let count: usize = verdicts.iter().map(changed).sum();
    let broken: Vec<_> = verdicts
        .iter()
        .filter_map(|verdict| verdict["policy_tests"]["failed"].as_array())
        .flatten()
        .map(|test| view! { <li class="mono">{text(&test["name"])}</li> })
        .collect();
    let heading = if count == 0 {
        "Nothing would change.".to_owned()
    } else {
        format!("{} would change.", counted(count))
    };
    let rest =
        (count > SHOWN).then(|| view! { <p class="muted">{format!("The first {SHOWN} are shown.")}</p> });
    view! {
        <p class="row" role="status">
            <strong>{heading}</strong>
            {(!broken.is_empty()).then(|| view! { <Badge tone=Tone::Bad text="breaks policy tests" /> })}
        </p>
        {(!broken.is_empty()).then(|| view! { <ul class="problem-faults">{broken}</ul> })}
        <div class="stack">{items}</div>
        {rest}
    }
    .into_any()
}
