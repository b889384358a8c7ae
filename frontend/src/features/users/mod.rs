//! The people who sign in to this server.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::users::{CreateUser, CreatedUser, PasswordWasReset, ResetPassword, UpdateUser, User};

use crate::action::Action;
use crate::api::{Ask, Body};
use crate::browser::encode;
use crate::components::{
    Badge, Cells, Field, FormDialog, List, PageHeading, ShownOnce, TextInput, TimeAgo, Toasts, Tone,
};
use crate::paged::{Item, Paged};
use crate::reactive::{effect, part};

/// All users; for system administrators.
#[component]
pub(crate) fn UsersPage() -> impl IntoView {
    let list = Paged::new(|| "/users".to_owned());
    let creating = RwSignal::new(false);
    let username = RwSignal::new(String::new());
    let display = RwSignal::new(String::new());
    let admin = RwSignal::new(false);
    let password = ShownOnce::new(
        "Password",
        "This password is shown once. Hand it over safely; it can be changed after signing in.",
    );
    let action = Action::new();
    let toasts = Toasts::get();
    effect(move || {
        if !creating.get() {
            username.set(String::new());
            display.set(String::new());
            admin.set(false);
        }
    });
    let create = move |()| {
        let request = CreateUser {
            username: username.get_untracked().trim().to_owned(),
            display_name: Some(display.get_untracked().trim().to_owned()).filter(|name| !name.is_empty()),
            password: None,
            system_admin: admin.get_untracked(),
        };
        action.send(Ask::post("/users", Body::json(&request)), move |answer| {
            password.text.set(
                action
                    .read::<CreatedUser>(&answer)
                    .and_then(|created| created.generated_password),
            );
            list.reload();
        });
    };
    let reset = Callback::new(move |user: User| {
        let path = format!("/users/{}/password", encode(&user.id.to_string()));
        action.send(
            Ask::post(path, Body::json(&ResetPassword::default())),
            move |answer| {
                password.text.set(
                    action
                        .read::<PasswordWasReset>(&answer)
                        .and_then(|reset| reset.generated_password),
                );
                creating.set(true);
            },
        );
    });
    let disable = Callback::new(move |user: User| {
        let disabled = user.disabled_at.is_none();
        let body = Body::json(&UpdateUser {
            disabled: Some(disabled),
            ..UpdateUser::default()
        });
        let ask = Ask::patch(format!("/users/{}", encode(&user.id.to_string())), body).if_match("*");
        action.send(ask, move |_| {
            let done = if disabled {
                "can no longer sign in"
            } else {
                "can sign in again"
            };
            toasts.done(format!("{} {done}.", user.username));
            list.reload();
        });
    });
    let cells: Cells = Arc::new(move |item: &Item| item.read::<User>().map(|user| row(user, reset, disable)));
    view! {
        <div class="page-head">
            <div>
                <PageHeading text="Users" />
                <p class="muted">"People who sign in here. What they may do in a project is granted there."</p>
            </div>
            <div class="page-actions">
                <button type="button" class="button button-primary" on:click=move |_| creating.set(true)>
                    "New user"
                </button>
            </div>
        </div>
        {part(move || if creating.get() { ().into_any() } else { action.outcome() })}
        <List list what="users" columns=&["User", "Since", "Standing", "Change"] cells empty=|| () />
        <FormDialog
            open=creating
            title="User"
            verb="Make the user"
            action
            once=password
            ready=Signal::derive(move || username.with(|name| !name.trim().is_empty()))
            on_submit=create
        >
            <Field id="user-name" label="User name" help="To sign in with.">
                <TextInput id="user-name" value=username mono=true max="64" />
            </Field>
            <Field id="user-display" label="Name" help="For people; may be left out.">
                <TextInput id="user-display" value=display max="100" />
            </Field>
            <label class="check">
                <input
                    type="checkbox"
                    prop:checked=move || admin.get()
                    on:change=move |event| admin.set(event_target_checked(&event))
                />
                "System administrator: manages every project, and users"
            </label>
        </FormDialog>
    }
}

fn row(user: User, reset: Callback<User>, disable: Callback<User>) -> AnyView {
    let (first, second) = (user.clone(), user.clone());
    let is_disabled = user.disabled_at.is_some();
    view! {
        <th scope="row" role="rowheader">
            <span class="tool-name">{user.username}</span>
            <span class="muted">{user.display_name}</span>
        </th>
        <td role="cell" data-label="Since">
            <TimeAgo at=user.created_at />
        </td>
        <td role="cell" data-label="Standing">
            <span class="row">
                {user.system_admin.then(|| view! { <Badge tone=Tone::Accent text="system administrator" /> })}
                {is_disabled.then(|| view! { <Badge tone=Tone::Bad text="disabled" /> })}
            </span>
        </td>
        <td role="cell" data-label="Change">
            <span class="row">
                <button type="button" class="button button-small" on:click=move |_| reset.run(first.clone())>
                    "New password"
                </button>
                <button type="button" class="button button-small" on:click=move |_| disable.run(second.clone())>
                    {if is_disabled { "Enable" } else { "Disable" }}
                </button>
            </span>
        </td>
    }
    .into_any()
}
