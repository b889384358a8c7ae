//! The accounts that persons have connected in a project, for those who manage its keys.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::accounts::{AccountStatus, ConnectedAccount};

use crate::action::Action;
use crate::api::{Ask, in_project};
use crate::components::{Badge, Cells, Confirm, List, TimeAgo, Toasts, Tone};
use crate::language::{t, tf};
use crate::paged::{Item, Paged};

/// All of them, newest first; no credential is shown to anybody.
#[component]
pub(super) fn ConnectedAccounts(
    /// The project's id.
    project: Memo<String>,
) -> impl IntoView {
    let list = Paged::new(move || in_project(&project.get(), &["connected-accounts"]));
    let chosen = RwSignal::new(None::<ConnectedAccount>);
    let asking = RwSignal::new(false);
    let revoking = Action::new();
    let toasts = Toasts::get();
    let ask = Callback::new(move |account: ConnectedAccount| {
        revoking.error.set(None);
        chosen.set(Some(account));
        asking.set(true);
    });
    let revoke = move |()| {
        let Some(account) = chosen.get_untracked() else {
            return;
        };
        let path = in_project(
            &project.get_untracked(),
            &["connected-accounts", &account.id.to_string()],
        );
        revoking.send(Ask::delete(path), move |_| {
            asking.set(false);
            toasts.done(tf!(
                "The account of {person} is revoked.",
                person = account.username
            ));
            list.reload();
        });
    };
    let cells: Cells =
        Arc::new(move |item: &Item| item.read::<ConnectedAccount>().map(|account| row(account, ask)));
    let empty = || view! { <p class="muted">{t("No account is connected.")}</p> };
    let title = Signal::derive(move || {
        chosen.with(|account| {
            account.as_ref().map_or_else(String::new, |account| {
                tf!(
                    "Revoke the account of {person} at {provider}?",
                    person = account.username,
                    provider = account.provider,
                )
            })
        })
    });
    view! {
        <List list what=t("connected accounts") columns=[t("Person"), t("Provider"), t("Account"), t("Connected"), t("Actions")] cells empty />
        <Confirm open=asking title verb=t("Revoke") action=revoking on_confirm=revoke>
            <p>{t("Its credential is deleted, and revoked at the service where that can be done. Calls of the person that need it are refused until they connect an account again.")}</p>
        </Confirm>
    }
}

fn row(account: ConnectedAccount, revoke: Callback<ConnectedAccount>) -> AnyView {
    let whole = account.clone();
    let expired = (account.status == AccountStatus::Expired)
        .then(|| view! { <Badge tone=Tone::Bad text=t("needs to be connected again") /> });
    let refreshed = account
        .refreshed_at
        .map(|at| view! { <span class="cell-end muted">{t("token refreshed ")} <TimeAgo at /></span> });
    view! {
        <th scope="row" role="rowheader">
            <span class="tool-name">{account.username.clone()}</span>
        </th>
        <td role="cell" data-label=t("Provider")><code>{account.provider.clone()}</code></td>
        <td role="cell" data-label=t("Account")>
            <span class="row">
                <span class="break">{account.label.unwrap_or_else(|| t("not named").to_owned())}</span>
                {expired}
            </span>
        </td>
        <td role="cell" data-label=t("Connected")>
            <TimeAgo at=account.connected_at />
            {refreshed}
        </td>
        <td role="cell" data-label=t("Actions")>
            <button
                type="button"
                class="button button-small"
                aria-label=tf!("Revoke the account of {person} at {provider}", person = account.username, provider = account.provider)
                on:click=move |_| revoke.run(whole.clone())
            >
                {t("Revoke")}
            </button>
        </td>
    }
    .into_any()
}
