//! Where a service sends a person back to: the account is completed, and the page of accounts follows.

use leptos::prelude::*;
use toolgate_api::accounts::{AccountCompleted, CompleteAccount};

use crate::action::Action;
use crate::api::{Ask, Body};
use crate::components::{PageHeading, Toasts};
use crate::language::t;
use crate::routes::{Page, PageKind};
use crate::url::Navigator;

/// The page.
#[component]
pub(crate) fn AccountCallbackPage() -> impl IntoView {
    let action = Action::new();
    let (toasts, navigator) = (Toasts::get(), Navigator::new());
    let search = window().location().search().unwrap_or_default();
    let part = |name: &str| parameter(&search, name);
    let state = part("state");
    let is_incomplete = state.is_none();
    if let Some(state) = state {
        let body = CompleteAccount {
            state,
            code: part("code"),
            iss: part("iss"),
            error: part("error"),
        };
        action.send(
            Ask::post("/auth/accounts".to_owned(), Body::json(&body)),
            move |answer| {
                if let Some(done) = action.read::<AccountCompleted>(&answer) {
                    toasts.done(t("Your account is connected."));
                    navigator.go(&Page::of_project(done.project_id, PageKind::Accounts).path());
                }
            },
        );
    }
    view! {
        <div class="page-head">
            <PageHeading text=t("Connecting your account") />
        </div>
        {is_incomplete
            .then(|| {
                view! {
                    <p class="note">
                        {t("The address has no answer of a service. Connect the account again on the page Accounts of your project.")}
                    </p>
                }
            })}
        {action.outcome()}
    }
}

/// A parameter of the address.
fn parameter(search: &str, name: &str) -> Option<String> {
    let pairs = search.trim_start_matches('?').split('&');
    let found = pairs
        .filter_map(|pair| pair.split_once('='))
        .find(|(known, _)| *known == name);
    found.map(|(_, value)| crate::browser::decode(&value.replace('+', " ")))
}
