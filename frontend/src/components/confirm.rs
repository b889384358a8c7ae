//! Asks before something is removed, or access changes at once.

use leptos::prelude::*;

use super::{Dialog, DialogFoot, Field, TextInput};
use crate::action::Action;
use crate::language::tf;
use crate::reactive::text;

/// A question with what will happen, and a button that says what it does.
#[component]
pub(crate) fn Confirm(
    /// Whether it is asked.
    open: RwSignal<bool>,
    /// The question.
    #[prop(into)]
    title: Signal<String>,
    /// The button's text: a verb.
    #[prop(into)]
    verb: Signal<String>,
    /// A text that must be typed first, for what can never be taken back.
    #[prop(optional, into)]
    typed: Option<Signal<String>>,
    /// Whether the action removes something.
    #[prop(into, default = true.into())]
    is_danger: Signal<bool>,
    /// The request that it starts; its error is shown here.
    action: Action,
    /// Yes.
    #[prop(into)]
    on_confirm: Callback<()>,
    /// What will happen.
    children: ChildrenFn,
) -> impl IntoView {
    let entered = RwSignal::new(String::new());
    let children = StoredValue::new(children);
    let is_ready = move || typed.is_none_or(|wanted| wanted.get() == entered.get());
    view! {
        <Dialog open title>
            <div class="dialog-body">
                {children.with_value(|children| children())}
                {typed
                    .map(|wanted| {
                        view! {
                            <Field id="confirm-typed" label=text(move || tf!("Type {name} to confirm", name = wanted.get()))>
                                <TextInput id="confirm-typed" value=entered mono=true />
                            </Field>
                        }
                    })}
                {action.outcome()}
            </div>
            <DialogFoot open>
                <button
                    type="button"
                    class=move || if is_danger.get() { "button button-danger" } else { "button button-primary" }
                    disabled=move || !is_ready() || action.busy.get()
                    on:click=move |_| on_confirm.run(())
                >
                    {verb}
                </button>
            </DialogFoot>
        </Dialog>
    }
}
