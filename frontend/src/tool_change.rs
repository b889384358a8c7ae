//! A change of where tools stand that a page has collected: what it would do, doing it, and undoing it.

use leptos::prelude::*;
use serde_json::{Value, json};

use crate::action::Action;
use crate::api::{Ask, Body, parse, with_query};
use crate::components::{Dialog, EditorHandle, Field, Placement, TextInput, Toasts};
use crate::features::tools::{address, affected, offer_undo, outlook};
use crate::reactive::{When, effect, part};
use crate::session::Session;

/// What a part of the change is about: the names of tools, and the same change for all of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// The tools.
    pub(crate) names: Vec<String>,
    /// As the API takes it, for example `{"add_groups": ["knowledge"]}`.
    pub(crate) change: Value,
}

/// A change that is looked at before it is saved, and can be undone. Each part is one request, all or nothing; no tool is
/// in two of them.
#[derive(Clone, Copy)]
pub(crate) struct ToolChange {
    project: Memo<String>,
    open: RwSignal<bool>,
    /// What is still to be saved.
    parts: StoredValue<Vec<Part>>,
    /// What the parts would do together, as the server says; null until it has said so of each.
    plan: RwSignal<Value>,
    note: RwSignal<String>,
    ignored: RwSignal<bool>,
    /// What undoes the parts that were saved: tools and their revisions.
    undo: StoredValue<Vec<Value>>,
    action: Action,
    toasts: Toasts,
    session: Session,
    on_done: Callback<()>,
}

impl ToolChange {
    /// Nothing is prepared yet; `on_done` is told when tools were changed, and when that was undone.
    pub(crate) fn new(project: Memo<String>, on_done: impl Fn() + Send + Sync + 'static) -> Self {
        let change = Self {
            project,
            open: RwSignal::new(false),
            parts: StoredValue::new(Vec::new()),
            plan: RwSignal::new(Value::Null),
            note: RwSignal::new(String::new()),
            ignored: RwSignal::new(false),
            undo: StoredValue::new(Vec::new()),
            action: Action::new(),
            toasts: Toasts::get(),
            session: Session::get(),
            on_done: Callback::new(move |()| on_done()),
        };
        change.toasts.on_undo(move || change.on_done.run(()));
        // When a later part is refused, the parts before it are saved.
        effect(move || {
            if change.action.error.get().is_some() {
                change.finish();
            }
        });
        change
    }

    /// Opens the dialog and asks what the parts would do.
    pub(crate) fn review(self, parts: Vec<Part>) {
        self.parts.set_value(parts);
        self.plan.set(Value::Null);
        self.note.set(String::new());
        self.ignored.set(false);
        self.action.error.set(None);
        self.open.set(true);
        self.ask(
            0,
            json!({"items": [], "policy_tests": {"passed": 0, "failed": []}}),
        );
    }

    fn request(self, part: &Part, query: &[(&str, &str)]) -> Ask {
        let mut body = json!({"select": {"names": part.names}, "change": part.change});
        let note = self.note.get_untracked();
        if !note.trim().is_empty() {
            body["note"] = note.trim().into();
        }
        let path = with_query(address(&self.project.get_untracked()), query);
        Ask::post(path, Body::Json(body.to_string()))
    }

    fn ask(self, at: usize, mut plan: Value) {
        let Some(part) = self.parts.with_value(|parts| parts.get(at).cloned()) else {
            self.plan.set(plan);
            return;
        };
        self.action
            .send(self.request(&part, &[("dry_run", "true")]), move |answer| {
                let mut verdict = parse(&answer.text).unwrap_or_default();
                append(&mut plan["items"], &mut verdict["items"]);
                let (tests, found) = (&mut plan["policy_tests"], &mut verdict["policy_tests"]);
                append(&mut tests["failed"], &mut found["failed"]);
                tests["passed"] = found["passed"].take();
                self.ask(at + 1, plan);
            });
    }

    /// Saves the next part. One that is saved is no longer there, so trying again goes on where it failed.
    fn save(self) {
        let Some(part) = self.parts.with_value(|parts| parts.first().cloned()) else {
            self.open.set(false);
            self.finish();
            return;
        };
        let ignore = if self.ignored.get_untracked() { "true" } else { "" };
        self.action.send(
            self.request(&part, &[("ignore_policy_tests", ignore)]),
            move |answer| {
                self.parts.update_value(|parts| {
                    parts.remove(0);
                });
                let mut answer = parse(&answer.text).unwrap_or_default();
                if let Value::Array(tools) = answer["undo"]["undo"]["tools"].take() {
                    self.undo.update_value(|undo| undo.extend(tools));
                }
                self.save();
            },
        );
    }

    /// Tells what was saved, with the way back.
    fn finish(self) {
        let tools = self.undo.get_value();
        if tools.is_empty() {
            return;
        }
        self.undo.set_value(Vec::new());
        let plural = if tools.len() == 1 { "" } else { "s" };
        let text = format!("Changed {} tool{plural}.", tools.len());
        let place = address(&self.project.get_untracked());
        let body = json!({"undo": {"tools": tools}});
        offer_undo(self.toasts, self.session, place, text, &body);
        self.on_done.run(());
    }

    /// The dialog.
    pub(crate) fn view(self) -> AnyView {
        let is_broken = move || {
            self.plan.with(|plan| {
                plan["policy_tests"]["failed"]
                    .as_array()
                    .is_some_and(|failed| !failed.is_empty())
            })
        };
        let is_ready = move || {
            let is_meant = !is_broken() || self.ignored.get();
            is_meant && !self.action.busy.get() && self.plan.with(affected) != 0
        };
        view! {
            <Dialog open=self.open title="Review the change" placement=Placement::Wide>
                <div class="dialog-body">
                    <p class="muted" role="status">
                        {move || self.action.busy.get().then_some("Looking at what would change…")}
                    </p>
                    {part(move || self.plan.with(|plan| if plan.is_null() { ().into_any() } else { outlook(plan) }))}
                    {self.action.refusal(EditorHandle::new())}
                    <When test=is_broken>
                        <label class="check">
                            <input type="checkbox" on:change=move |event| self.ignored.set(event_target_checked(&event)) />
                            "Change them all the same, although policy tests would fail"
                        </label>
                    </When>
                    <Field id="change-note" label="Note" help="Why, for those who read the history later.">
                        <TextInput id="change-note" value=self.note max="500" />
                    </Field>
                </div>
                <footer class="dialog-foot">
                    <button type="button" class="button" on:click=move |_| self.open.set(false)>
                        "Cancel"
                    </button>
                    <button
                        type="button"
                        class="button button-primary"
                        disabled=move || !is_ready()
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

/// Moves the items of one list to the end of another.
fn append(all: &mut Value, more: &mut Value) {
    if let (Value::Array(all), Value::Array(more)) = (all, more.take()) {
        all.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::append;

    #[test]
    fn an_absent_list_adds_nothing() {
        let mut all = json!([1]);
        append(&mut all, &mut json!([2, 3]));
        append(&mut all, &mut Value::Null);
        assert_eq!(all, json!([1, 2, 3]));
    }
}
