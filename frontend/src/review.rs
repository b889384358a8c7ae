//! The frame of dialogs that show what a change would do before it is made.

use leptos::prelude::*;
use serde_json::Value;

use crate::action::Action;
use crate::api::{Answer, Ask, parse};
use crate::components::{Dialog, DialogFoot, EditorHandle, Field, Placement, TextInput};
use crate::expectations;
use crate::language::t;
use crate::reactive::{When, part};

/// A change that is reviewed, and then applied or discarded.
#[derive(Clone, Copy)]
pub(crate) struct Review {
    /// Whether the dialog is open.
    pub(crate) open: RwSignal<bool>,
    /// What it would do, as the server says; null until it has said so.
    pub(crate) plan: RwSignal<Value>,
    /// Why.
    pub(crate) note: RwSignal<String>,
    /// Whether it may break policy tests.
    pub(crate) ignored: RwSignal<bool>,
    /// Doing it.
    pub(crate) action: Action,
    /// Asking what it would do; a later question takes the place of an earlier one.
    looking: Action,
}

/// What is particular about one dialog.
pub(crate) struct Frame {
    /// Its heading.
    pub(crate) title: Signal<String>,
    /// What is asked before the change can be looked at.
    pub(crate) before: Option<ViewFn>,
    /// What would happen, of what the server said.
    pub(crate) outlook: fn(&Value) -> AnyView,
    /// The words beside the box that ignores policy tests.
    pub(crate) all_the_same: &'static str,
    /// The id of the field for the note.
    pub(crate) note_id: &'static str,
    /// Whether there is a note to write.
    pub(crate) is_noted: Signal<bool>,
    /// What is asked before the change can be made.
    pub(crate) after: Option<ViewFn>,
    /// What the button says that makes it.
    pub(crate) verb: Signal<String>,
    /// Whether it removes something.
    pub(crate) is_danger: Signal<bool>,
    /// Whether there is something to be done.
    pub(crate) is_ready: Signal<bool>,
    /// It is to be made.
    pub(crate) on_confirm: Callback<()>,
}

impl Review {
    /// Nothing is looked at yet.
    pub(crate) fn new() -> Self {
        Self {
            open: RwSignal::new(false),
            plan: RwSignal::new(Value::Null),
            note: RwSignal::new(String::new()),
            ignored: RwSignal::new(false),
            action: Action::new(),
            looking: Action::new(),
        }
    }

    /// Opens the dialog for another change.
    pub(crate) fn begin(self) {
        self.forget();
        self.note.set(String::new());
        self.ignored.set(false);
        self.open.set(true);
    }

    /// Asks what the change would do.
    pub(crate) fn look(self, ask: Ask) {
        self.look_then(ask, |_| {});
    }

    /// The same; `then` gets the answer once the plan is there.
    pub(crate) fn look_then(self, ask: Ask, then: impl FnOnce(&Answer) + 'static) {
        self.looking.ask(ask, move |answer| {
            self.plan.set(parse(&answer.text).unwrap_or_default());
            then(&answer);
        });
    }

    /// Drops what the server said, or is about to say: it is about another change.
    pub(crate) fn forget(self) {
        self.plan.set(Value::Null);
        self.looking.error.set(None);
        self.looking.drop_pending();
        self.action.error.set(None);
    }

    /// Whether the server is asked what would change, reactively.
    pub(crate) fn is_looking(self) -> bool {
        self.looking.busy.get()
    }

    /// Whether what was looked at would break policy tests that hold now, reactively.
    pub(crate) fn breaks(self) -> bool {
        self.plan.with(|plan| expectations::breaks(&plan["policy_tests"]))
    }

    /// Whether nothing is broken, or that is meant, reactively.
    pub(crate) fn is_meant(self) -> bool {
        !self.breaks() || self.ignored.get()
    }

    /// The dialog.
    pub(crate) fn view(self, frame: Frame) -> AnyView {
        let Self {
            open,
            plan,
            note,
            ignored,
            action,
            looking,
        } = self;
        let is_busy = move || action.busy.get() || looking.busy.get();
        let Frame {
            title,
            before,
            outlook,
            all_the_same,
            note_id,
            is_noted,
            after,
            verb,
            is_danger,
            is_ready,
            on_confirm,
        } = frame;
        let [before, after] = [before, after].map(|asked| StoredValue::new(asked.unwrap_or_default()));
        view! {
            <Dialog open title placement=Placement::Wide>
                <div class="dialog-body">
                    {before.with_value(ViewFn::run)}
                    <p class=move || if is_busy() { "muted" } else { "visually-hidden" } role="status">
                        {move || is_busy().then_some(t("Checking what would change…"))}
                    </p>
                    {part(move || plan.with(|plan| if plan.is_null() { ().into_any() } else { outlook(plan) }))}
                    {looking.refusal(EditorHandle::new())}
                    {action.refusal(EditorHandle::new())}
                    {expectations::escape(all_the_same, ignored, move || self.breaks())}
                    <When test=is_noted>
                        <Field id=note_id label=t("Note") help=t("Why, for those who read the history later.")>
                            <TextInput id=note_id value=note max="500" />
                        </Field>
                    </When>
                    {after.with_value(ViewFn::run)}
                </div>
                <DialogFoot open>
                    <button
                        type="button"
                        class=move || if is_danger.get() { "button button-danger" } else { "button button-primary" }
                        disabled=move || !is_ready.get() || is_busy()
                        on:click=move |_| on_confirm.run(())
                    >
                        {verb}
                    </button>
                </DialogFoot>
            </Dialog>
        }
        .into_any()
    }
}
