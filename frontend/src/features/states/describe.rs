//! Saying what a state means, and giving it another name everywhere.

use leptos::prelude::*;
use toolgate_api::groups::{NameEffects, RenameName};
use toolgate_api::states::{PutState, State};

use crate::action::Action;
use crate::api::{Ask, Body, in_project, with_query};
use crate::components::{Dialog, Field, TextArea, TextInput, Toasts};
use crate::expectations;
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, effect, part, text};
use crate::url::Navigator;
use crate::words::counted;

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
    /// It has another name.
    #[prop(into)]
    on_renamed: Callback<()>,
) -> impl IntoView {
    let [words, new_name] = [(); 2].map(|()| RwSignal::new(String::new()));
    let effects = RwSignal::new(None::<NameEffects>);
    let ignored = RwSignal::new(false);
    let [action, looking, renaming] = [(); 3].map(|()| Action::new());
    let navigator = Navigator::new();
    let toasts = Toasts::get();
    let declared = move || state.read::<State>().filter(|state| state.declared);
    effect(move || {
        if open.get() {
            words.set(declared().map(|state| state.description).unwrap_or_default());
            new_name.set(here.get());
            effects.set(None);
            ignored.set(false);
        }
    });
    let rename = move |query: &[(&str, &str)]| {
        let path = in_project(
            &project.get_untracked(),
            &["states", &here.get_untracked(), "rename"],
        );
        let body = RenameName {
            to: new_name.get_untracked().trim().to_owned(),
        };
        Ask::post(with_query(path, query), Body::json(&body)).if_match("*")
    };
    // What renaming touches is looked at first; what it would break is said when it is done.
    let look = move |_| {
        let query = [("dry_run", "true"), ("ignore_policy_tests", "true")];
        looking.send(rename(&query), move |answer| effects.set(looking.read(&answer)));
    };
    let carry_out = move |_| {
        renaming.send(rename(&[expectations::ignoring(ignored)]), move |_| {
            open.set(false);
            toasts.done(t("The state is renamed everywhere."));
            navigator.set(&[("at", new_name.get_untracked().trim()), ("way", "")], true);
            on_renamed.run(());
        });
    };
    let is_same = move || new_name.with(|name| name.trim().is_empty() || name.trim() == here.get());
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
            toasts.done(t("The state is described."));
            state.reload();
            open.set(false);
        });
    };
    view! {
        <Dialog open title=text(move || tf!("State {name}", name = here.get()))>
            <form on:submit=save>
                <div class="dialog-body">
                    <Field id="state-description" label=t("Description") help=t("What it means that a workflow is here.")>
                        <TextArea id="state-description" value=words rows=4 />
                    </Field>
                    {action.outcome()}
                    <Field
                        id="state-name"
                        label=t("New name")
                        help=t("In all tools, sessions, start states, tests and limits at once, on the record.")
                    >
                        <TextInput id="state-name" value=new_name mono=true max="128" />
                    </Field>
                    {looking.outcome()}
                    {renaming.outcome()}
                    {part(move || effects.get().map(|effects| touched(&effects)).into_any())}
                    {expectations::escape(
                        t("Do it all the same, although policy tests would fail"),
                        ignored,
                        move || renaming.error.with(expectations::refused),
                    )}
                    <div class="row">
                        <When
                            test=move || effects.with(Option::is_some) && !is_same()
                        >
                            <button
                                type="button"
                                class="button button-danger"
                                disabled=move || renaming.busy.get()
                                on:click=carry_out
                            >
                                {t("Rename it everywhere")}
                            </button>
                        </When>
                        <When test=move || effects.with(Option::is_none)>
                            <button
                                type="button"
                                class="button"
                                disabled=move || looking.busy.get() || is_same()
                                on:click=look
                            >
                                {t("Rename")}
                            </button>
                        </When>
                    </div>
                </div>
                <footer class="dialog-foot">
                    <button type="submit" class="button button-primary" disabled=move || action.busy.get()>
                        {t("Save")}
                    </button>
                </footer>
            </form>
        </Dialog>
    }
}

/// What renaming touches.
fn touched(effects: &NameEffects) -> AnyView {
    let text = tf!(
        "Touches {tools}, {grants} and {sessions}.",
        tools = counted(effects.tool_count, "tool"),
        grants = counted(effects.grant_count, "grant"),
        sessions = counted(effects.session_count, "session"),
    );
    view! { <p class="note" role="status">{text}</p> }.into_any()
}
