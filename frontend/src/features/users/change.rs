//! What changes a user's access at once: a new password, disabling, enabling. Each is confirmed first.

use leptos::prelude::*;
use toolgate_api::users::{PasswordWasReset, ResetPassword, UpdateUser, User};

use super::password::shown_once;
use crate::action::Action;
use crate::api::{Ask, Body, with_query};
use crate::browser::encode;
use crate::components::{Confirm, Dialog, Toasts};
use crate::expectations;
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
}

impl Deed {
    /// What its button says.
    pub(super) const fn verb(self) -> &'static str {
        match self {
            Self::NewPassword => "New password",
            Self::Disable => "Disable",
            Self::Enable => "Enable",
        }
    }

    /// What the button says that does it.
    const fn confirm(self) -> &'static str {
        match self {
            Self::NewPassword => "Replace the password",
            Self::Disable => "Disable the user",
            Self::Enable => "Enable the user",
        }
    }

    const fn question(self) -> &'static str {
        match self {
            Self::NewPassword => "Replace the password of",
            Self::Disable => "Disable",
            Self::Enable => "Enable",
        }
    }

    const fn consequence(self) -> &'static str {
        match self {
            Self::NewPassword => {
                "The present password stops working, and every sign-in of this user ends within a second. The new password is shown once."
            }
            Self::Disable => {
                "Every sign-in of this user ends within a second, and no new one is allowed. What was granted to the user is kept."
            }
            Self::Enable => "The user can sign in again, and holds what was granted before.",
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
                "can no longer sign in"
            } else {
                "can sign in again"
            };
            toasts.done(format!("{} {done}.", user.username));
            open.set(false);
            on_changed.run(());
        });
    };
    let confirm = move |()| match asked.get_untracked() {
        Some((user, Deed::NewPassword)) => reset(user),
        Some((user, deed)) => switch(user, deed == Deed::Disable),
        None => {}
    };
    let title = text(move || {
        let words = |(user, deed): &(User, Deed)| format!("{} {}?", deed.question(), user.username);
        asked.with(|asked| asked.as_ref().map(words).unwrap_or_default())
    });
    view! {
        <Confirm
            open
            title
            verb=text(move || deed().map(Deed::confirm).unwrap_or_default().to_owned())
            is_danger=Signal::derive(move || deed() != Some(Deed::Enable))
            action
            on_confirm=confirm
        >
            <p>{move || deed().map(Deed::consequence)}</p>
            {expectations::escape(
                "Enable the user all the same, although policy tests would fail",
                ignored,
                move || action.error.with(expectations::refused),
            )}
        </Confirm>
        <Dialog open=shown title="New password">
            {part(move || password.text.get().map(|text| password.view(text, shown)).into_any())}
        </Dialog>
    }
}
