//! The services at which persons of a project have accounts: which there are, and adding, changing and deleting them.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::accounts::AccountProvider;

use super::connected::ConnectedAccounts;
use super::provider_form::{ProviderForm, method_words};
use crate::action::Action;
use crate::api::{Ask, in_project};
use crate::components::{
    Breadcrumbs, Cells, Confirm, EmptyState, List, SectionHead, Symbol, Tags, TimeAgo, Toasts,
};
use crate::language::{t, tf};
use crate::paged::{Item, Paged};
use crate::reactive::{When, condition};
use crate::routes::PageKind;
use crate::session::{Permission, Session};
use crate::url::project_in_path;

/// All providers, and the accounts that are connected.
#[component]
pub(crate) fn AccountProvidersPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let may_manage = condition(move || session.may(&project.get(), Permission::ManagePolicy));
    let may_revoke = condition(move || session.may(&project.get(), Permission::ManageKeys));
    let list = Paged::new(move || in_project(&project.get(), &["account-providers"]));
    let chosen = RwSignal::new(None::<AccountProvider>);
    let [editing, removing] = [(); 2].map(|()| RwSignal::new(false));
    let action = Action::new();
    let toasts = Toasts::get();
    let new = move |()| {
        chosen.set(None);
        editing.set(true);
    };
    let edit = Callback::new(move |provider: AccountProvider| {
        chosen.set(Some(provider));
        editing.set(true);
    });
    let ask_removal = Callback::new(move |provider: AccountProvider| {
        action.error.set(None);
        chosen.set(Some(provider));
        removing.set(true);
    });
    let remove = move |()| {
        let Some(provider) = chosen.get_untracked() else {
            return;
        };
        let path = in_project(&project.get_untracked(), &["account-providers", &provider.name]);
        let ask = Ask::delete(path).if_match(tag(&provider));
        action.send(ask, move |_| {
            removing.set(false);
            toasts.done(tf!("{name} was deleted.", name = provider.name));
            list.reload();
        });
    };
    let cells: Cells = Arc::new(move |item: &Item| {
        let provider = item.read::<AccountProvider>();
        provider.map(|provider| row(provider, may_manage.get_untracked(), edit, ask_removal))
    });
    let empty = move || {
        view! {
            <EmptyState
                symbol=Symbol::Person
                title=t("No account providers yet")
                text=t("Tools that call a service with each person's own account need to know how the accounts are connected. Add the service here, and write auth: {scheme: account, provider: NAME} in the tool.")
            >
                <When test=move || may_manage.get()>
                    <button type="button" class="button button-primary" on:click=move |_| new(())>
                        {t("Add the first provider")}
                    </button>
                </When>
            </EmptyState>
        }
    };
    let title = Signal::derive(move || {
        chosen.with(|provider| {
            let name = provider.as_ref().map(|provider| provider.name.as_str());
            tf!("Delete {name}?", name = name.unwrap_or_default())
        })
    });
    let here = Signal::stored(PageKind::AccountProviders.title().to_owned());
    view! {
        <Breadcrumbs project section=PageKind::Accounts here />
        <SectionHead section=PageKind::AccountProviders text=t("Services at which persons have accounts. A tool that names one is called with the account of its caller.")>
            <When test=move || may_manage.get()>
                <button type="button" class="button button-primary" on:click=move |_| new(())>
                    {t("New provider")}
                </button>
            </When>
        </SectionHead>
        <List list what=t("account providers") columns=[t("Provider"), t("Accounts are"), t("Sent to"), t("Changed"), t("Actions")] cells empty />
        <When test=move || may_revoke.get()>
            <section class="stack" aria-label=t("Connected accounts")>
                <h2>{t("Connected accounts")}</h2>
                <ConnectedAccounts project />
            </section>
        </When>
        <ProviderForm project open=editing provider=chosen on_saved=move |()| list.reload() />
        <Confirm open=removing title verb=t("Delete the provider") action on_confirm=remove>
            <p>{t("Every account that is connected there is deleted. Tools that name it are refused.")}</p>
        </Confirm>
    }
}

/// What a change of it must name.
pub(super) fn tag(provider: &AccountProvider) -> String {
    format!("\"v{}\"", provider.revision)
}

fn row(
    provider: AccountProvider,
    may_manage: bool,
    edit: Callback<AccountProvider>,
    remove: Callback<AccountProvider>,
) -> AnyView {
    let buttons = may_manage.then(|| {
        let button = |verb: &'static str, act: Callback<AccountProvider>| {
            let whole = provider.clone();
            view! {
                <button
                    type="button"
                    class="button button-small"
                    aria-label=tf!("{verb} {name}", verb, name = provider.name)
                    on:click=move |_| act.run(whole.clone())
                >
                    {verb}
                </button>
            }
        };
        view! { {button(t("Edit"), edit)} {button(t("Delete"), remove)} }
    });
    let definition = &provider.definition;
    view! {
        <th scope="row" role="rowheader">
            <span class="tool-name">{provider.name.clone()}</span>
            <span class="muted">{definition.title.clone()}</span>
        </th>
        <td role="cell" data-label=t("Accounts are")>{method_words(definition.method)}</td>
        <td role="cell" data-label=t("Sent to")><Tags names=definition.hosts.clone() none=t("nowhere") /></td>
        <td role="cell" data-label=t("Changed")>
            <TimeAgo at=provider.updated_at />
            {t(" by ")}
            {provider.updated_by.clone()}
        </td>
        <td role="cell" data-label=t("Actions")>
            <span class="row">{buttons}</span>
        </td>
    }
    .into_any()
}
