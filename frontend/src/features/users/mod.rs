//! The people who sign in to this server.

mod change;
mod create;
mod password;

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::users::{UpdateUser, User};

use self::change::{ChangeUser, Deed};
use self::create::NewUser;
use crate::api::{Ask, Body, with_query};
use crate::components::{Badge, Cells, Deed as BulkDeed, List, PageHeading, SearchBox, TimeAgo, Tone};
use crate::language::t;
use crate::paged::{Item, Paged};
use crate::session::Session;
use crate::url::UrlParam;

/// All users; for system administrators.
#[component]
pub(crate) fn UsersPage() -> impl IntoView {
    let q = UrlParam::new("q");
    let list = Paged::new(move || with_query("/users".to_owned(), &[("q", &q.get())]));
    let new = UrlParam::new("new");
    let creating = new.drawer();
    let session = Session::get();
    let asked = RwSignal::new(None::<(User, Deed)>);
    let ask = Callback::new(move |deed| asked.set(Some(deed)));
    let cells: Cells = Arc::new(move |item: &Item| {
        let user = item.read::<User>()?;
        let is_self = untrack(|| session.me()).is_some_and(|me| me.id == user.id.to_string());
        Some(row(user, is_self, ask))
    });
    let bulk = BulkDeed {
        verb: t("Disable"),
        one: "user",
        means: t("They are signed out at once and cannot sign in again until they are enabled."),
        of: Arc::new(move |item: &Item| {
            let user = item.read::<User>()?;
            let is_self = untrack(|| session.me()).is_some_and(|me| me.id == user.id.to_string());
            (!is_self && user.disabled_at.is_none()).then(|| (user.id.to_string(), user.username))
        }),
        ask: Arc::new(|id: &str| {
            let body = UpdateUser {
                disabled: Some(true),
                ..UpdateUser::default()
            };
            Ask::patch(format!("/users/{id}"), Body::json(&body)).if_match("*")
        }),
    };
    view! {
        <div class="page-head">
            <div>
                <PageHeading text=t("Users") />
                <p class="muted">{t("People who sign in here. What they may do in a project is granted there.")}</p>
            </div>
            <div class="page-actions">
                <button type="button" class="button button-primary" on:click=move |_| creating.set(true)>
                    {t("New user")}
                </button>
            </div>
        </div>
        <NewUser open=creating new on_created=move |()| list.reload() />
        <div class="filters">
            <SearchBox param=q name=t("Search users") placeholder=t("Search by name") />
        </div>
        <List list bulk what=t("users") columns=[t("User"), t("Since"), t("Status"), t("Change")] cells empty=|| view! { <p class="note">{t("No user has this text in the name.")}</p> } />
        <ChangeUser asked on_changed=move |()| list.reload() />
    }
}

fn row(user: User, is_self: bool, ask: Callback<(User, Deed)>) -> AnyView {
    let is_disabled = user.disabled_at.is_some();
    let switch = if is_disabled { Deed::Enable } else { Deed::Disable };
    // One's own password is changed in the menu of the account, which takes the present one.
    let mut deeds = if is_self {
        vec![switch]
    } else {
        vec![Deed::NewPassword, switch]
    };
    deeds.push(if user.second_factor_required {
        Deed::LeaveFactor
    } else {
        Deed::RequireFactor
    });
    let has_factor = user.second_factor_at.is_some();
    if has_factor {
        deeds.push(Deed::RemoveFactor);
    }
    let buttons: Vec<_> = deeds
        .into_iter()
        .map(|deed| {
            let whole = user.clone();
            view! {
                <button
                    type="button"
                    class="button button-small"
                    aria-label=format!("{}: {}", deed.verb(), user.username)
                    on:click=move |_| ask.run((whole.clone(), deed))
                >
                    {deed.verb()}
                </button>
            }
            .into_any()
        })
        .collect();
    view! {
        <th scope="row" role="rowheader">
            <span class="tool-name">{user.username}</span>
            <span class="muted">{user.display_name}</span>
        </th>
        <td role="cell" data-label=t("Since")>
            <TimeAgo at=user.created_at />
        </td>
        <td role="cell" data-label=t("Status")>
            <span class="row">
                {is_self.then(|| view! { <Badge text=t("you") /> })}
                {user.system_admin.then(|| view! { <Badge tone=Tone::Accent text=t("system administrator") /> })}
                {has_factor.then(|| view! { <Badge tone=Tone::Good text=t("second factor") /> })}
                {(user.second_factor_required && !has_factor)
                    .then(|| view! { <Badge tone=Tone::Note text=t("second factor missing") /> })}
                {user.signs_in_at.as_ref().map(|_| view! { <Badge text=t("single sign-on") /> })}
                {is_disabled.then(|| view! { <Badge tone=Tone::Bad text=t("disabled") /> })}
            </span>
        </td>
        <td role="cell" data-label=t("Change")>
            <span class="row">{buttons}</span>
        </td>
    }
    .into_any()
}
