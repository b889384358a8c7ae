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
            toasts.done(format!(
                "{} is set. Its value cannot be read again.",
                name.get_untracked()
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
            toasts.done(format!("{} was removed.", name.get_untracked()));
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
                title="No secrets yet"
                text="Give a tool's service an API key without putting it into the definition: set it here, and write secret:NAME in options.envs."
            >
                <button type="button" class="button button-primary" on:click=new>
                    "Set the first secret"
                </button>
            </EmptyState>
        }
    };
    view! {
        <SectionHead section=PageKind::Secrets text="Encrypted values that definitions use by name. They can be replaced and removed, and never read.">
            <button type="button" class="button button-primary" on:click=new>
                "New secret"
            </button>
        </SectionHead>
        <List list what="secrets" columns=&["Name", "Set", "Used by", "Last used", "Change"] cells empty />
        <FormDialog open=setting title="Set a secret" verb="Set" action ready on_submit=save>
            <Field id="secret-name" label="Name" help="Letters, digits and _; definitions refer to it as secret:NAME." guide="limits-and-secrets#secrets">
                <TextInput id="secret-name" value=name mono=true placeholder="JINA_API_KEY" max="128" />
            </Field>
            <Field id="secret-value" label="Value" help="Sent once, stored encrypted, never shown.">
                <TextInput id="secret-value" value kind="password" max="65536" />
            </Field>
        </FormDialog>
        <Confirm
            open=removing
            title=text(move || format!("Remove {}?", name.get()))
            verb="Remove the secret"
            action
            on_confirm=remove
        >
            <p>
                {move || {
                    if is_used.get() {
                        "Tools use it. They cannot run until it is set again."
                    } else {
                        "Nothing uses it."
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
        users.push("webhook".to_owned());
    }
    view! {
        <th scope="row" role="rowheader">
            <span class="tool-name">{secret.name}</span>
            {(!secret.readable).then(|| view! { <Badge tone=Tone::Bad text="its key is not configured" /> })}
        </th>
        <td role="cell" data-label="Set">
            <TimeAgo at=secret.set_at />
            " by "
            {secret.set_by}
        </td>
        <td role="cell" data-label="Used by">
            <Tags names=users none="nothing" />
        </td>
        <td role="cell" data-label="Last used">
            {secret
                .last_used_at
                .map_or_else(|| view! { <span class="muted">"never"</span> }.into_any(), |at| view! { <TimeAgo at /> }.into_any())}
        </td>
        <td role="cell" data-label="Change">
            <span class="row">
                <button type="button" class="button button-small" on:click=move |_| replace.run(first.clone())>
                    "Replace"
                </button>
                <button type="button" class="button button-small" on:click=move |_| remove.run(second.clone())>
                    "Remove"
                </button>
            </span>
        </td>
    }
    .into_any()
}
