//! How a failed request is shown: what failed, why, what to do, and the id that finds it in the log.

use leptos::prelude::*;

use super::copy::request_id;
use super::{Icon, Symbol};
use crate::api::ApiError;
use crate::language::t;
use crate::remedies::{Refusal, remedies};

/// An error, announced at once, with a button that tries again.
#[component]
pub(crate) fn ProblemPanel(
    /// What went wrong.
    error: ApiError,
    /// Tries again.
    #[prop(into, optional)]
    on_retry: Option<Callback<()>>,
) -> impl IntoView {
    let diagnostics: Vec<_> = error
        .diagnostics()
        .iter()
        .map(|fault| {
            let hint = fault.hint.clone().map(|hint| format!(" ({hint})"));
            view! { <li>{fault.message.clone()}{hint}</li> }
        })
        .collect();
    view! {
        <div class="problem" role="alert">
            <Icon symbol=Symbol::Alert />
            <div class="problem-body">
                <p class="problem-title">{error.title()}</p>
                <p class="problem-detail">{error.detail()}</p>
                {(!diagnostics.is_empty()).then(|| view! { <ul class="problem-faults">{diagnostics}</ul> })}
                {remedies(&Refusal::of_error(&error), None)}
                {error.request_id().map(request_id)}
            </div>
            {on_retry
                .map(|retry| {
                    view! {
                        <button type="button" class="button" on:click=move |_| retry.run(())>
                            <Icon symbol=Symbol::Retry />
                            {t("Try again")}
                        </button>
                    }
                })}
        </div>
    }
}
