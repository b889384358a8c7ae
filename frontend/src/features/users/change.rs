//! What changes a user's access at once: a new password, disabling, enabling. Each is confirmed first.

use leptos::prelude::*;
use toolgate_api::users::{PasswordWasReset, ResetPassword, UpdateUser, User};

use super::password::shown_once;
use crate::action::Action;
use crate::api::{Ask, Body, with_query};
use crate::browser::encode;
use crate::components::{Confirm, Dialog, Toasts};
use crate::expectations;
use crate::language::{t, tf};
use crate::reactive::{effect, part, text};

/// What can be done to a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    /// Replaces the password by one that is made and shown once.
    NewPassword,
    /// Ends all sign-ins and allows no new ones.
    Disable,
    /// Allows signing in again.
    Enable,
    /// Asks for a second factor at every sign-in.
    RequireFactor,
    /// Leaves a second factor to the user.
    LeaveFactor,
    /// Removes a second factor that was lost.
    RemoveFactor,
}

impl Deed {
    /// What its button says.
    pub(super) fn verb(self) -> &'static str {
        match self {
            Self::NewPassword => t("New password"),
            Self::Disable => t("Disable"),
            Self::Enable => t("Enable"),
            Self::RequireFactor => t("Require 2FA"),
            Self::LeaveFactor => t("2FA optional"),
            Self::RemoveFactor => t("Remove 2FA"),
        }
    }

    /// What the button says that does it.
    fn confirm(self) -> &'static str {
        match self {
            Self::NewPassword => t("Replace the password"),
            Self::Disable => t("Disable the user"),
            Self::Enable => t("Enable the user"),
            Self::RequireFactor => t("Require a second factor"),
            Self::LeaveFactor => t("Do not require it"),
            Self::RemoveFactor => t("Remove the second factor"),
        }
    }

    fn question(self, name: &str) -> String {
        match self {
            Self::NewPassword => tf!("Replace the password of {name}?", name),
            Self::Disable => tf!("Disable {name}?", name),
            Self::Enable => tf!("Enable {name}?", name),
            Self::RequireFactor => tf!("Require a second factor of {name}?", name),
            Self::LeaveFactor => tf!("No longer require a second factor of {name}?", name),
            Self::RemoveFactor => tf!("Remove the second factor of {name}?", name),
        }
    }

    fn consequence(self) -> &'static str {
        match self {
            Self::NewPassword => t(
                "The present password stops working, and every sign-in of this user ends within a second. The new password is shown once.",
            ),
            Self::Disable => t(
                "Every sign-in of this user ends within a second, and no new one is allowed. What was granted to the user is kept.",
            ),
            Self::Enable => t("The user can sign in again, and holds what was granted before."),
            Self::RequireFactor => t(
                "The user needs a code of an authenticator app at every sign-in. A user who has none sets it up at the next one.",
            ),
            Self::LeaveFactor => {
                t("The user may remove the second factor. It is still asked for until then.")
            }
            Self::RemoveFactor => t(
                "For a user who has lost the authenticator and the recovery codes. The password alone signs in, or sets up a new second factor where one is required.",
            ),
        }
    }
}

/// The dialog for what is asked of a user, and the one that shows a password that was made.
#[component]
pub(super) fn ChangeUser(
    /// The user, and what is asked.
    asked: RwSignal<Option<(User, Deed)>>,
    /// It was done.
    #[prop(into)]
    on_changed: Callback<()>,
) -> impl IntoView {
    let [open, ignored, shown] = [(); 3].map(|()| RwSignal::new(false));
    let action = Action::new();
    let toasts = Toasts::get();
    let password = shown_once();
    effect(move || {
        if asked.with(Option::is_some) {
            action.error.set(None);
            ignored.set(false);
            open.set(true);
        }
    });
    effect(move || {
        if !shown.get() {
            password.text.set(None);
        }
    });
    let deed = move || asked.with(|asked| asked.as_ref().map(|(_, deed)| *deed));
    let reset = move |user: User| {
        let path = format!("/users/{}/password", encode(&user.id.to_string()));
        let ask = Ask::post(path, Body::json(&ResetPassword::default()));
        action.send(ask, move |answer| {
            let made = action.read::<PasswordWasReset>(&answer);
            open.set(false);
            password.text.set(made.and_then(|made| made.generated_password));
            shown.set(true);
        });
    };
    let switch = move |user: User, disabled: bool| {
        let body = Body::json(&UpdateUser {
            disabled: Some(disabled),
            ..UpdateUser::default()
        });
        let path = format!("/users/{}", encode(&user.id.to_string()));
        let path = with_query(path, &[expectations::ignoring(ignored)]);
        action.send(Ask::patch(path, body).if_match("*"), move |_| {
            let done = if disabled {
                tf!("{name} can no longer sign in.", name = user.username)
            } else {
                tf!("{name} can sign in again.", name = user.username)
            };
            toasts.done(done);
            open.set(false);
            on_changed.run(());
        });
    };
    let require = move |user: User, required: bool| {
        let body = Body::json(&UpdateUser {
            second_factor_required: Some(required),
            ..UpdateUser::default()
        });
        let path = format!("/users/{}", encode(&user.id.to_string()));
        action.send(Ask::patch(path, body).if_match("*"), move |_| {
            let done = if required {
                tf!("{name} needs a second factor.", name = user.username)
            } else {
                tf!("{name} no longer needs a second factor.", name = user.username)
            };
            toasts.done(done);
            open.set(false);
            on_changed.run(());
        });
    };
    let remove = move |user: User| {
        let path = format!("/users/{}/second-factor", encode(&user.id.to_string()));
        action.send(Ask::delete(path), move |_| {
            toasts.done(tf!(
                "The second factor of {name} is removed.",
                name = user.username
            ));
            open.set(false);
            on_changed.run(());
        });
    };
    let confirm = move |()| match asked.get_untracked() {
        Some((user, Deed::RequireFactor)) => require(user, true),
        Some((user, Deed::LeaveFactor)) => require(user, false),
        Some((user, Deed::RemoveFactor)) => remove(user),
        Some((user, Deed::NewPassword)) => reset(user),
        Some((user, deed)) => switch(user, deed == Deed::Disable),
        None => {}
    };
    let title = text(move || {
        let words = |(user, deed): &(User, Deed)| deed.question(&user.username);
        asked.with(|asked| asked.as_ref().map(words).unwrap_or_default())
    });
    view! {
        <Confirm
            open
            title
            verb=text(move || deed().map(Deed::confirm).unwrap_or_default().to_owned())
            is_danger=Signal::derive(move || !matches!(deed(), Some(Deed::Enable | Deed::RequireFactor)))
            action
            on_confirm=confirm
        >
            <p>{move || deed().map(Deed::consequence)}</p>
            {expectations::escape(
                t("Enable the user all the same, although policy tests would fail"),
                ignored,
                move || action.error.with(expectations::refused),
            )}
        </Confirm>
        <Dialog open=shown title=t("New password")>
            {part(move || password.text.get().map(|text| password.view(text, shown)).into_any())}
        </Dialog>
    }
}
