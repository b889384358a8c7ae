//! The second factor of a sign-in. Most people need none of it, so its code is loaded when it is first used.

mod dialog;
mod set_up;

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;
use toolgate_api::auth::LoginRequest;

use self::dialog::SecondFactorDialog;
use self::set_up::SetUpSecondFactor;
use crate::api::ApiError;
use crate::lazy::lazy;

/// The dialog of one's own second factor, and setting one up to sign in.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    /// Setting one up, for a user whose password is known; then what goes on.
    pub(crate) set_up: fn(LoginRequest, Callback<()>) -> AnyView,
    /// The dialog, which is open while the signal says so.
    pub(crate) dialog: fn(RwSignal<bool>) -> AnyView,
}

#[wasm_split(second_factor_parts, wasm_split_path = leptos::wasm_split, fallible)]
fn parts() -> Result<Parts, ApiError> {
    Ok(Parts {
        set_up: |user, on_done| view! { <SetUpSecondFactor user on_done /> }.into_any(),
        dialog: |open| view! { <SecondFactorDialog open /> }.into_any(),
    })
}

/// One of the parts, as soon as it is here.
pub(crate) fn second_factor_part(make: impl Fn(Parts) -> AnyView + Send + Sync + 'static) -> AnyView {
    lazy("the second factor", true, || Box::pin(parts()), make)
}
