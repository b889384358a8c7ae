//! Changing one's own password.

use leptos::prelude::*;
use toolgate_api::users::ChangePassword;

use crate::action::Action;
use crate::api::{Ask, Body};
use crate::components::{Field, FormDialog, TextInput, Toasts};
use crate::language::t;
use crate::reactive::{condition, effect};

/// The dialog. Every other sign-in of the user ends; the answer brings this one a new cookie.
#[component]
pub(crate) fn PasswordDialog(
    /// Whether it is open.
    open: RwSignal<bool>,
) -> impl IntoView {
    let fields = [(); 3].map(|()| RwSignal::new(String::new()));
    let [current, new, again] = fields;
    let action = Action::new();
    let toasts = Toasts::get();
    effect(move || {
        if !open.get() {
            for field in fields {
                field.set(String::new());
            }
        }
    });
    let is_other = condition(move || again.with(|again| new.with(|new| !again.is_empty() && again != new)));
    let change = move |()| {
        let body = Body::json(&ChangePassword {
            current: current.get_untracked(),
            new: new.get_untracked(),
        });
        action.send(Ask::post("/auth/password", body), move |_| {
            open.set(false);
            toasts.done(t("Your password is changed. All your other sign-ins have ended."));
        });
    };
    let is_filled = move || fields.iter().all(|field| field.with(|text| !text.is_empty()));
    view! {
        <FormDialog
            open
            title=t("Change your password")
            verb=t("Change the password")
            action
            ready=Signal::derive(move || is_filled() && !is_other.get())
            on_submit=change
        >
            <Field id="password-current" label=t("Present password")>
                <TextInput id="password-current" value=current kind="password" autocomplete="current-password" />
            </Field>
            <Field id="password-new" label=t("New password") help=t("At least 12 characters.")>
                <TextInput id="password-new" value=new kind="password" autocomplete="new-password" />
            </Field>
            <Field
                id="password-again"
                label=t("New password, again")
                error=Signal::derive(move || is_other.get().then(|| t("The two are not the same.").to_owned()))
            >
                <TextInput id="password-again" value=again kind="password" autocomplete="new-password" />
            </Field>
        </FormDialog>
    }
}
