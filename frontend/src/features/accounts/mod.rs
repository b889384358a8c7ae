//! One's own accounts at other services: which there are, connecting and disconnecting them.

mod callback;
mod connected;
mod provider_form;
mod providers;

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::accounts::{AccountConnection, AccountMethod, AccountStatus, OwnAccount, SetPersonalKey};

pub(crate) use self::callback::AccountCallbackPage;
pub(crate) use self::providers::AccountProvidersPage;
use crate::action::Action;
use crate::api::{Ask, Body, in_project, object};
use crate::browser;
use crate::components::{
    Badge, Cells, Confirm, EmptyState, Field, FormDialog, List, SectionHead, Symbol, TextInput, TimeAgo,
    Toasts, Tone, row_actions,
};
use crate::language::{t, tf};
use crate::paged::{Item, Paged};
use crate::reactive::{When, condition, effect};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::project_in_path;

/// The services of the project, each with the account of the person.
#[component]
pub(crate) fn AccountsPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let may_read = condition(move || session.may(&project.get(), Permission::ReadDefinitions));
    let providers = move || Page::of_project(project.get(), PageKind::AccountProviders).path();
    let list = Paged::new(move || in_project(&project.get(), &["accounts"]));
    let chosen = RwSignal::new(None::<OwnAccount>);
    let [pasting, asking] = [(); 2].map(|()| RwSignal::new(false));
    let [connecting, storing, removing] = [(); 3].map(|()| Action::new());
    let (key, label) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let toasts = Toasts::get();
    effect(move || {
        if !pasting.get() {
            key.set(String::new());
        }
    });
    let path = move |own: &OwnAccount| in_project(&project.get_untracked(), &["accounts", &own.provider]);
    let connect = Callback::new(move |own: OwnAccount| {
        if own.method == AccountMethod::PersonalKey {
            storing.error.set(None);
            chosen.set(Some(own));
            pasting.set(true);
            return;
        }
        let ask = Ask::post(format!("{}/connect", path(&own)), Body::json(&object(Vec::new())));
        connecting.send(ask, move |answer| {
            if let Some(to) = connecting.read::<AccountConnection>(&answer) {
                browser::leave_to(&to.authorization_url);
            }
        });
    });
    let disconnect = Callback::new(move |own: OwnAccount| {
        removing.error.set(None);
        chosen.set(Some(own));
        asking.set(true);
    });
    let title = move || chosen.with(|own| own.as_ref().map(|own| own.title.clone()).unwrap_or_default());
    let store = move |()| {
        let Some(own) = chosen.get_untracked() else { return };
        let label = label.get_untracked().trim().to_owned();
        let body = SetPersonalKey {
            key: key.get_untracked().trim().to_owned(),
            label: (!label.is_empty()).then_some(label),
        };
        storing.send(Ask::put(path(&own), Body::json(&body)), move |_| {
            pasting.set(false);
            toasts.done(tf!("{name} is connected.", name = own.title));
            list.reload();
        });
    };
    let remove = move |()| {
        let Some(own) = chosen.get_untracked() else { return };
        removing.send(Ask::delete(path(&own)), move |_| {
            asking.set(false);
            toasts.done(tf!("{name} is disconnected.", name = own.title));
            list.reload();
        });
    };
    let cells: Cells =
        Arc::new(move |item: &Item| item.read::<OwnAccount>().map(|own| row(own, connect, disconnect)));
    let empty = move || {
        view! {
            <EmptyState
                symbol=Symbol::Person
                title=t("No services")
                text=t("The tools of this project use no accounts of persons. An owner of the project adds account providers.")
            />
        }
    };
    let ready = Signal::derive(move || key.with(|key| key.trim().len() >= 8));
    view! {
        <SectionHead section=PageKind::Accounts text=t("Your accounts at services that tools call for you. Each call is sent with your own account; others never see or use it.")>
            <When test=move || may_read.get()>
                <a class="button" href=providers>
                    {t("Account providers")}
                </a>
            </When>
        </SectionHead>
        {connecting.outcome()}
        <List list what=t("services") columns=[t("Service"), t("Your account"), t("Sent to"), t("Actions")] cells empty />
        <FormDialog
            open=pasting
            title=Signal::derive(move || tf!("Connect {name}", name = title()))
            verb=t("Connect")
            action=storing
            ready
            on_submit=store
        >
            <Field id="account-key" label=t("Key") help=t("Sent once, stored encrypted, never shown.") guide="accounts#using-a-provider">
                <TextInput id="account-key" value=key kind="password" max="8192" />
            </Field>
            <Field id="account-label" label=t("Label") help=t("What to call the account; may be empty.")>
                <TextInput id="account-label" value=label max="100" />
            </Field>
        </FormDialog>
        <Confirm
            open=asking
            title=Signal::derive(move || tf!("Disconnect {name}?", name = title()))
            verb=t("Disconnect")
            action=removing
            on_confirm=remove
        >
            <p>{t("Calls of tools that use it are refused until you connect an account again.")}</p>
        </Confirm>
    }
}

fn row(own: OwnAccount, connect: Callback<OwnAccount>, disconnect: Callback<OwnAccount>) -> AnyView {
    let account = own.account.clone();
    let is_exchanged = own.method == AccountMethod::TokenExchange;
    let expired = account
        .as_ref()
        .is_some_and(|account| account.status == AccountStatus::Expired);
    let verb = match (&account, expired) {
        (None, _) => t("Connect"),
        (Some(_), true) => t("Connect again"),
        (Some(_), false) => t("Replace"),
    };
    let deeds = [
        (verb, connect, !is_exchanged),
        (t("Disconnect"), disconnect, account.is_some()),
    ];
    let deeds = deeds.into_iter().filter(|(_, _, shown)| *shown);
    let buttons = row_actions(&own.title, &own, deeds.map(|(verb, act, _)| (verb, act)));
    let shown = match account {
        _ if is_exchanged => {
            view! { <span class="muted">{t("by exchange of your token; nothing to connect")}</span> }
                .into_any()
        }
        None => view! { <span class="muted">{t("not connected")}</span> }.into_any(),
        Some(account) => {
            let again =
                expired.then(|| view! { <Badge tone=Tone::Bad text=t("needs to be connected again") /> });
            view! {
                <span>
                    {account.label.unwrap_or_else(|| t("connected").to_owned())}
                    " "
                    <TimeAgo at=account.connected_at />
                    " "
                    {again}
                </span>
            }
            .into_any()
        }
    };
    view! {
        <th scope="row" role="rowheader">
            <span class="tool-name">{own.title.clone()}</span>
            <span class="muted">{own.description.clone()}</span>
        </th>
        <td role="cell" data-label=t("Your account")>
            {shown}
        </td>
        <td role="cell" data-label=t("Sent to")>
            {own.hosts.join(", ")}
        </td>
        <td role="cell" data-label=t("Actions")>
            {buttons}
        </td>
    }
    .into_any()
}
