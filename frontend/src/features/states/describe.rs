//! Saying what a state means.

use leptos::prelude::*;
use toolgate_api::states::{PutState, State};

use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{Dialog, Field, TextArea, Toasts};
use crate::loaded::Loaded;
use crate::reactive::{effect, text};

/// The dialog that describes the current state.
#[component]
pub(super) fn Describe(
    /// The project's id.
    project: Memo<String>,
    /// The state as it is stored.
    state: Loaded,
    /// Its name.
    here: Memo<String>,
    /// Whether the dialog is open.
    open: RwSignal<bool>,
) -> impl IntoView {
    let words = RwSignal::new(String::new());
    let action = Action::new();
    let toasts = Toasts::get();
    let declared = move || state.read::<State>().filter(|state| state.declared);
    effect(move || {
        if open.get() {
            words.set(declared().map(|state| state.description).unwrap_or_default());
        }
    });
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let body = Body::json(&PutState {
            description: words.get_untracked().trim().to_owned(),
        });
        let path = in_project(&project.get_untracked(), &["states", &here.get_untracked()]);
        let ask = Ask::put(path, body);
        let ask = if untrack(declared).is_some() {
            ask.if_match(state.etag())
        } else {
            ask.if_new()
        };
        action.send(ask, move |_| {
            toasts.done("The state is described.");
            state.reload();
            open.set(false);
        });
    };
    view! {
        <Dialog open title=text(move || format!("State {}", here.get()))>
            <form on:submit=save>
                <div class="dialog-body">
                    <Field id="state-description" label="Description" help="What it means that a workflow is here.">
                        <TextArea id="state-description" value=words rows=4 />
                    </Field>
                    {action.outcome()}
                </div>
                <footer class="dialog-foot">
                    <button type="submit" class="button button-primary" disabled=move || action.busy.get()>
                        "Save"
                    </button>
                </footer>
            </form>
        </Dialog>
    }
}
