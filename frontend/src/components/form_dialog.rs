//! A dialog with a form: fields, the error of the last attempt, and two buttons.

use leptos::prelude::*;

use super::{Dialog, Placement};
use crate::action::Action;

/// A form in a dialog. It is sent by its button or by Enter; its content is made anew whenever it opens.
#[component]
pub(crate) fn FormDialog(
    /// Whether it is open.
    open: RwSignal<bool>,
    /// Its name and heading.
    #[prop(into)]
    title: Signal<String>,
    /// The text of the button that sends it: a verb.
    #[prop(into)]
    verb: Signal<String>,
    /// What it sends; its error is shown here.
    action: Action,
    /// Whether it is filled in well enough to be sent.
    #[prop(optional, into)]
    ready: Option<Signal<bool>>,
    /// Where it stands.
    #[prop(optional)]
    placement: Placement,
    /// It is sent.
    #[prop(into)]
    on_submit: Callback<()>,
    /// The fields.
    children: ChildrenFn,
) -> impl IntoView {
    let children = StoredValue::new(children);
    view! {
        <Dialog open title placement>
            <form on:submit=move |event| {
                event.prevent_default();
                on_submit.run(());
            }>
                <div class="dialog-body">{children.with_value(|children| children())} {action.outcome()}</div>
                <footer class="dialog-foot">
                    <button type="button" class="button" on:click=move |_| open.set(false)>
                        "Cancel"
                    </button>
                    <button
                        type="submit"
                        class="button button-primary"
                        disabled=move || action.busy.get() || ready.is_some_and(|ready| !ready.get())
                    >
                        {verb}
                    </button>
                </footer>
            </form>
        </Dialog>
    }
}
