//! Values that definitions use and that cannot be read again.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::secrets::{Secret, SetSecret};

use crate::action::Action;
use crate::api::{Ask, Body, in_project, with_query};
use crate::components::{
    Badge, Cells, Confirm, EmptyState, Field, FormDialog, List, SectionHead, Symbol, Tags, TextInput,
    TimeAgo, Toasts, Tone,
};
use crate::language::{t, tf};
use crate::paged::{Item, Paged};
use crate::reactive::{effect, text};
use crate::routes::PageKind;
use crate::url::{UrlParam, project_in_path};

/// The names of all secrets; never a value.
#[component]
pub(crate) fn SecretsPage() -> impl IntoView {
    let project = project_in_path();
    let list = Paged::new(move || in_project(&project.get(), &["secrets"]));
    let setting = RwSignal::new(false);
    let removing = RwSignal::new(false);
    let name = RwSignal::new(String::new());
    let value = RwSignal::new(String::new());
    let is_used = RwSignal::new(false);
    let action = Action::new();
    let toasts = Toasts::get();
    effect(move || {
        if !setting.get() {
            value.set(String::new());
        }
    });
    let path = move || {
        in_project(
            &project.get_untracked(),
            &["secrets", name.get_untracked().trim()],
        )
    };
    // An address with a name comes from a tool that lacks the secret.
    let wanted = UrlParam::new("set");
    effect(move || {
        let missing = wanted.get();
        if !missing.is_empty() {
            name.set(missing);
            setting.set(true);
            wanted.replace("");
        }
    });
    let ready =
        Signal::derive(move || name.with(|name| !name.trim().is_empty()) && !value.with(String::is_empty));
    let save = move |()| {
        let body = Body::json(&SetSecret {
            value: value.get_untracked(),
        });
        action.send(Ask::put(path(), body).if_match("*"), move |_| {
            toasts.done(tf!(
                "{name} is set. Its value cannot be read again.",
                name = name.get_untracked()
            ));
            setting.set(false);
            list.reload();
        });
    };
    let remove = move |()| {
        let force = if is_used.get_untracked() { "true" } else { "" };
        let ask = Ask::delete(with_query(path(), &[("force", force)])).if_match("*");
        action.send(ask, move |_| {
            removing.set(false);
            toasts.done(tf!("{name} was removed.", name = name.get_untracked()));
            list.reload();
        });
    };
    let replace = Callback::new(move |secret: Secret| {
        name.set(secret.name);
        setting.set(true);
    });
    let ask_removal = Callback::new(move |secret: Secret| {
        is_used.set(!secret.used_by.is_empty());
        name.set(secret.name);
        action.error.set(None);
        removing.set(true);
    });
    let new = move |_| {
        name.set(String::new());
        setting.set(true);
    };
    let cells: Cells = Arc::new(move |item: &Item| {
        let secret = item.read::<Secret>();
        secret.map(|secret| row(secret, replace, ask_removal))
    });
    let empty = move || {
        view! {
            <EmptyState
                symbol=Symbol::Lock
                title=t("No secrets yet")
                text=t("Give a tool's service an API key without putting it into the definition: set it here, and write secret:NAME in options.envs.")
            >
                <button type="button" class="button button-primary" on:click=new>
                    {t("Set the first secret")}
                </button>
            </EmptyState>
        }
    };
    view! {
        <SectionHead section=PageKind::Secrets text=t("Encrypted values that definitions use by name. They can be replaced and removed, and never read.")>
            <button type="button" class="button button-primary" on:click=new>
                {t("New secret")}
            </button>
        </SectionHead>
        <List list what=t("secrets") columns=[t("Name"), t("Last set"), t("Used by"), t("Last used"), t("Change")] cells empty />
        <FormDialog open=setting title=t("Set a secret") verb=t("Set") action ready on_submit=save>
            <Field id="secret-name" label=t("Name") help=t("Letters, digits and _; definitions refer to it as secret:NAME.") guide="limits-and-secrets#secrets">
                <TextInput id="secret-name" value=name mono=true placeholder="JINA_API_KEY" max="128" />
            </Field>
            <Field id="secret-value" label=t("Value") help=t("Sent once, stored encrypted, never shown.")>
                <TextInput id="secret-value" value kind="password" max="65536" />
            </Field>
        </FormDialog>
        <Confirm
            open=removing
            title=text(move || tf!("Remove {name}?", name = name.get()))
            verb=t("Remove the secret")
            action
            on_confirm=remove
        >
            <p>
                {move || {
                    if is_used.get() {
                        t("Tools use it. They cannot run until it is set again.")
                    } else {
                        t("Nothing uses it.")
                    }
                }}
            </p>
        </Confirm>
    }
}

fn row(secret: Secret, replace: Callback<Secret>, remove: Callback<Secret>) -> AnyView {
    let (first, second) = (secret.clone(), secret.clone());
    let mut users = secret.used_by.tools;
    users.extend(secret.used_by.services);
    users.extend(secret.used_by.mcp_servers);
    users.extend(secret.used_by.account_providers);
    if secret.used_by.webhook {
        users.push(t("webhook").to_owned());
    }
    view! {
        <th scope="row" role="rowheader">
            <span class="tool-name">{secret.name}</span>
            {(!secret.readable).then(|| view! { <Badge tone=Tone::Bad text=t("its key is not configured") /> })}
        </th>
        <td role="cell" data-label=t("Last set")>
            <TimeAgo at=secret.set_at />
            {t(" by ")}
            {secret.set_by}
        </td>
        <td role="cell" data-label=t("Used by")>
            <Tags names=users none=t("nothing") />
        </td>
        <td role="cell" data-label=t("Last used")>
            {secret
                .last_used_at
                .map_or_else(|| view! { <span class="muted">{t("never")}</span> }.into_any(), |at| view! { <TimeAgo at /> }.into_any())}
        </td>
        <td role="cell" data-label=t("Change")>
            <span class="row">
                <button type="button" class="button button-small" on:click=move |_| replace.run(first.clone())>
                    {t("Replace")}
                </button>
                <button type="button" class="button button-small" on:click=move |_| remove.run(second.clone())>
                    {t("Remove")}
                </button>
            </span>
        </td>
    }
    .into_any()
}
