//! Why a text was refused: what is wrong with it, where, and which expectations it would break.

use leptos::prelude::*;

use super::copy::request_id;
use super::{EditorHandle, Faults};
use crate::api::ApiError;
use crate::remedies::{Refusal, remedies};

/// The answer to a text that was refused, with a way to each fault.
#[component]
pub(crate) fn Refused(
    /// The answer.
    error: ApiError,
    /// The editor with the text.
    handle: EditorHandle,
) -> impl IntoView {
    let faults = error.diagnostics().to_vec();
    let broken: Vec<_> = error
        .broken_policy_tests()
        .iter()
        .map(|test| view! { <li>{test.name.clone()}</li> })
        .collect();
    view! {
        <div class="stack" role="alert">
            <p class="problem-title">{error.title()}</p>
            <p>{error.detail()}</p>
            {(!broken.is_empty()).then(|| view! { <ul class="problem-faults">{broken}</ul> })}
            {(!faults.is_empty()).then(|| view! { <Faults faults handle /> })}
            {remedies(&Refusal::of_error(&error), None)}
            {error.request_id().map(request_id)}
        </div>
    }
}
