//! The dialog that decides.

use leptos::prelude::*;
use toolgate_api::access_requests::{AccessRequest, AccessVerdict, DecideAccessRequest};

use super::in_words;
use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{Dialog, DialogFoot, Field, Placement, TextInput, Toasts};
use crate::language::{t, tf};
use crate::reactive::part;

/// What is decided about, and how.
pub(super) type Deciding = Option<(AccessRequest, AccessVerdict)>;

/// The dialog.
#[component]
pub(super) fn DecideDialog(
    /// The project's id.
    project: Memo<String>,
    /// Whether it is open.
    open: RwSignal<bool>,
    /// What is decided.
    deciding: RwSignal<Deciding>,
    /// It was decided.
    #[prop(into)]
    on_decided: Callback<()>,
) -> impl IntoView {
    let note = RwSignal::new(String::new());
    let action = Action::new();
    let toasts = Toasts::get();
    let is_grant = move || deciding.with(|deciding| matches!(deciding, Some((_, AccessVerdict::Grant))));
    let verb = move || if is_grant() { t("Grant") } else { t("Decline") };
    let title = Signal::derive(move || {
        let question = if is_grant() {
            t("Grant the request?")
        } else {
            t("Decline the request?")
        };
        question.to_owned()
    });
    let send = move |_| {
        let Some((request, verdict)) = deciding.get_untracked() else {
            return;
        };
        let said = note.get_untracked().trim().to_owned();
        let body = DecideAccessRequest {
            verdict,
            note: (!said.is_empty()).then_some(said),
        };
        let id = request.id.to_string();
        let path = in_project(&project.get_untracked(), &["access-requests", &id, "decision"]);
        action.send(Ask::post(path, Body::json(&body)), move |_| {
            open.set(false);
            note.set(String::new());
            toasts.done(match verdict {
                AccessVerdict::Grant => tf!("{what}: granted.", what = in_words(&request.asked)),
                AccessVerdict::Decline => tf!("{what}: declined.", what = in_words(&request.asked)),
            });
            on_decided.run(());
        });
    };
    view! {
        <Dialog open title placement=Placement::Centre>
            <div class="dialog-body stack">
                {part(move || {
                    deciding
                        .with(|deciding| {
                            deciding
                                .as_ref()
                                .map(|(request, verdict)| {
                                    let effect = match verdict {
                                        AccessVerdict::Grant => t("The change is effective at once."),
                                        AccessVerdict::Decline => t("Nothing is changed."),
                                    };
                                    view! {
                                        <p>
                                            <strong>{request.principal_name.clone()}</strong>
                                            {t(" asks for ")}
                                            <span class="mono">{in_words(&request.asked)}</span>
                                        </p>
                                        <p class="muted">{effect}</p>
                                    }
                                })
                        })
                        .into_any()
                })}
                <Field id="decide-note" label=t("Note") help=t("Shown to the asker; may be empty.")>
                    <TextInput id="decide-note" value=note max="500" />
                </Field>
                {action.outcome()}
            </div>
            <DialogFoot open>
                <button
                    type="button"
                    class="button button-primary"
                    disabled=move || action.busy.get()
                    on:click=send
                >
                    {verb}
                </button>
            </DialogFoot>
        </Dialog>
    }
}
