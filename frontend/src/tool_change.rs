//! A change of where tools stand that a page has collected: what it would do, doing it, and undoing it.

use leptos::prelude::*;
use serde_json::Value;

use crate::action::Action;
use crate::api::{Ask, Body, object, parse, with_query};
use crate::components::{Dialog, EditorHandle, Field, Placement, TextInput, Toasts};
use crate::features::tools::{address, affected, offer_undo, outlook};
use crate::reactive::{When, part};
use crate::session::Session;
use crate::words::counted;

/// What a part of the change is about: the names of tools, and the same change for all of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// The tools.
    pub(crate) names: Vec<String>,
    /// As the API takes it, for example `{"add_groups": ["knowledge"]}`.
    pub(crate) change: Value,
}

/// A change that is looked at before it is saved, and can be undone. All parts are one request, all or nothing; no tool is
/// in two of them.
#[derive(Clone, Copy)]
pub(crate) struct ToolChange {
    project: Memo<String>,
    open: RwSignal<bool>,
    parts: StoredValue<Vec<Part>>,
    /// What the parts would do, as the server says; null until it has said so.
    plan: RwSignal<Value>,
    note: RwSignal<String>,
    ignored: RwSignal<bool>,
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
            action: Action::new(),
            toasts: Toasts::get(),
            session: Session::get(),
            on_done: Callback::new(move |()| on_done()),
        };
        change.toasts.on_undo(move || change.on_done.run(()));
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
        self.action
            .send(self.request(&[("dry_run", "true")]), move |answer| {
                self.plan.set(parse(&answer.text).unwrap_or_default());
            });
    }

    fn request(self, query: &[(&str, &str)]) -> Ask {
        let body = self
            .parts
            .with_value(|parts| request(parts, &self.note.get_untracked()));
        let path = with_query(address(&self.project.get_untracked()), query);
        Ask::post(path, Body::Json(body.to_string()))
    }

    /// Saves it, and tells so with the way back.
    fn save(self) {
        let ignore = if self.ignored.get_untracked() { "true" } else { "" };
        self.action
            .send(self.request(&[("ignore_policy_tests", ignore)]), move |answer| {
                let answer = parse(&answer.text).unwrap_or_default();
                self.open.set(false);
                let text = format!("Changed {}.", counted(affected(&answer), "tool"));
                let place = address(&self.project.get_untracked());
                offer_undo(self.toasts, self.session, place, text, &answer["undo"]);
                self.on_done.run(());
            });
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

/// The body of the request.
fn request(parts: &[Part], note: &str) -> Value {
    let changes: Vec<Value> = parts
        .iter()
        .map(|part| {
            object(vec![
                ("select", object(vec![("names", part.names.clone().into())])),
                ("change", part.change.clone()),
            ])
        })
        .collect();
    let mut members = vec![("changes", changes.into())];
    if !note.trim().is_empty() {
        members.push(("note", note.trim().into()));
    }
    object(members)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Part, request};

    #[test]
    fn all_parts_are_one_request() {
        let part = |name: &str| Part {
            names: vec![name.to_owned()],
            change: json!({"add_groups": ["g"]}),
        };
        let change = |name: &str| json!({"select": {"names": [name]}, "change": {"add_groups": ["g"]}});
        assert_eq!(
            request(&[part("a"), part("b")], " "),
            json!({"changes": [change("a"), change("b")]})
        );
        assert_eq!(request(&[part("a")], " why ")["note"], "why");
    }
}
