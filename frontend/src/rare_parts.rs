//! Parts that most visits need none of: dialogs of the frame, and what is shown after a refusal. Their code is one file, which is
//! loaded when the first of them is shown.

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;
use toolgate_api::auth::LoginRequest;

use crate::api::ApiError;
use crate::components::{BulkBar, Chosen, Deed, list_csv};
use crate::language::t;
use crate::layout::{NotificationList, Palette, PasswordDialog, SecondFactorDialog};
use crate::lazy::lazy;
use crate::loaded::Loaded;
use crate::paged::Paged;
use crate::reactive::part;
use crate::remedies::{self, Refusal};
use crate::second_factor::SetUpSecondFactor;

/// Makes a dialog that is open while a signal says so.
type Dialog = fn(RwSignal<bool>) -> AnyView;

/// The parts.
#[derive(Clone, Copy)]
pub(crate) struct RareParts {
    /// The box that finds everything.
    pub(crate) palette: Dialog,
    /// Changing one's password.
    pub(crate) password: Dialog,
    /// One's second factor.
    pub(crate) second_factor: Dialog,
    /// What waits for the user.
    pub(crate) notifications: fn(Loaded) -> AnyView,
    /// Doing one thing to several rows of a list.
    pub(crate) bulk: fn(Paged, Deed, Chosen) -> AnyView,
    /// Reading all of a list, and storing it as a file.
    pub(crate) list_csv: fn(Paged, &'static str) -> AnyView,
    set_up_second_factor: fn(LoginRequest, Callback<()>) -> AnyView,
    /// What lifts a refusal.
    pub(crate) remedies: fn(&Refusal, Option<Callback<()>>) -> AnyView,
}

#[wasm_split(rare_parts, wasm_split_path = leptos::wasm_split, fallible)]
fn parts() -> Result<RareParts, ApiError> {
    Ok(RareParts {
        palette: |open| view! { <Palette open /> }.into_any(),
        password: |open| view! { <PasswordDialog open /> }.into_any(),
        second_factor: |open| view! { <SecondFactorDialog open /> }.into_any(),
        notifications: |loaded| view! { <NotificationList loaded /> }.into_any(),
        bulk: |list, deed, chosen| view! { <BulkBar list deed chosen /> }.into_any(),
        list_csv,
        set_up_second_factor: |user, on_done| view! { <SetUpSecondFactor user on_done /> }.into_any(),
        remedies: remedies::shown,
    })
}

/// One of the parts as soon as it is here; until then that `what` is loading, if it has a name.
pub(crate) fn rare_part(
    what: Option<&'static str>,
    make: impl Fn(RareParts) -> AnyView + Send + Sync + 'static,
) -> AnyView {
    lazy(what, true, || Box::pin(parts()), make)
}

/// Setting up a second factor, for a user whose password is known; then what goes on.
pub(crate) fn set_up_second_factor(user: LoginRequest, on_done: Callback<()>) -> AnyView {
    rare_part(Some(t("the second factor")), move |parts| {
        (parts.set_up_second_factor)(user.clone(), on_done)
    })
}

/// A dialog. It is made when it is first opened, and stays: closing gives the focus back to what had it.
pub(crate) fn rare_dialog(open: RwSignal<bool>, dialog: fn(RareParts) -> Dialog) -> AnyView {
    let was_opened =
        Memo::new(move |before: Option<&bool>| open.get() || before.is_some_and(|before| *before));
    part(move || {
        if was_opened.get() {
            rare_part(None, move |parts| dialog(parts)(open))
        } else {
            ().into_any()
        }
    })
}
