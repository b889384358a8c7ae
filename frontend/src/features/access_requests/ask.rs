//! The form that asks. What is asked for comes in the address, from the refusal.

use leptos::prelude::*;
use toolgate_api::access_requests::{AskForAccess, Asked};

use super::in_words;
use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{Field, TextArea, Toasts};
use crate::language::t;
use crate::reactive::part;
use crate::url::Navigator;

/// What the parameters of the address ask for.
pub(super) fn asked(groups: &str, host: &str) -> Option<Asked> {
    if !host.is_empty() {
        return Some(Asked::Host {
            origin: host.to_owned(),
        });
    }
    let groups = groups.split(',').map(str::trim).filter(|group| !group.is_empty());
    let groups: Vec<String> = groups.map(str::to_owned).collect();
    (!groups.is_empty()).then_some(Asked::Groups { groups })
}

/// The form; nothing while nothing is asked for.
#[component]
pub(super) fn AskForm(
    /// The project's id.
    project: Memo<String>,
    /// What is asked for.
    wanted: Memo<Option<Asked>>,
    /// It was sent.
    #[prop(into)]
    on_sent: Callback<()>,
) -> impl IntoView {
    let reason = RwSignal::new(String::new());
    let action = Action::new();
    let toasts = Toasts::get();
    let navigator = Navigator::new();
    let leave = move || navigator.set(&[("groups", ""), ("host", "")], false);
    let send = move |_| {
        let Some(asked) = wanted.get_untracked() else {
            return;
        };
        let request = AskForAccess {
            asked,
            reason: reason.get_untracked().trim().to_owned(),
        };
        let path = in_project(&project.get_untracked(), &["access-requests"]);
        action.send(Ask::post(path, Body::json(&request)), move |_| {
            reason.set(String::new());
            toasts.done(t("The request was sent. An administrator decides about it."));
            leave();
            on_sent.run(());
        });
    };
    part(move || {
        wanted
            .get()
            .map(|asked| {
                view! {
                    <section class="panel stack" aria-label=t("Ask for access")>
                        <h2>{t("Ask for access")}</h2>
                        <p>{in_words(&asked)}</p>
                        <Field id="ask-reason" label=t("Reason") help=t("For the administrator who decides.")>
                            <TextArea id="ask-reason" value=reason />
                        </Field>
                        <div class="row">
                            <button
                                type="button"
                                class="button button-primary"
                                disabled=move || action.busy.get() || reason.with(|reason| reason.trim().is_empty())
                                on:click=send
                            >
                                {t("Ask for it")}
                            </button>
                            <button type="button" class="button" on:click=move |_| leave()>
                                {t("Cancel")}
                            </button>
                        </div>
                        {action.outcome()}
                    </section>
                }
            })
            .into_any()
    })
}

#[cfg(test)]
mod tests {
    use toolgate_api::access_requests::Asked;

    use super::asked;

    #[test]
    fn an_address_says_what_is_asked_for() {
        assert_eq!(asked("", ""), None);
        assert_eq!(asked(" , ", ""), None);
        let groups = vec!["a".to_owned(), "b/c".to_owned()];
        assert_eq!(asked("a, b/c", ""), Some(Asked::Groups { groups }));
        let origin = "https://a.example".to_owned();
        assert_eq!(asked("a", "https://a.example"), Some(Asked::Host { origin }));
    }
}
