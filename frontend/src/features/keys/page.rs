//! The keys of a project.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::keys::Key;

use super::create::CreateKeyDialog;
use crate::action::Action;
use crate::api::{Ask, in_project};
use crate::browser::now_ms;
use crate::components::{
    Badge, Cells, Confirm, EmptyState, List, SectionHead, Symbol, Tags, TimeAgo, Toasts, Tone,
};
use crate::paged::{Item, Paged};
use crate::routes::Section;
use crate::url::project_in_path;

/// All keys, newest first.
#[component]
pub(crate) fn KeysPage() -> impl IntoView {
    let project = project_in_path();
    let list = Paged::new(move || in_project(&project.get(), &["keys"]));
    let creating = RwSignal::new(false);
    let revoking = RwSignal::new(None::<Key>);
    let asking = RwSignal::new(false);
    let action = Action::new();
    let toasts = Toasts::get();
    let revoke = move |()| {
        let Some(key) = revoking.get_untracked() else {
            return;
        };
        let path = in_project(&project.get_untracked(), &["keys", &key.id.to_string()]);
        action.send(Ask::delete(path).if_match("*"), move |_| {
            asking.set(false);
            toasts.done(format!("{} was revoked; it no longer opens anything.", key.name));
            list.reload();
        });
    };
    let ask = Callback::new(move |key: Key| {
        revoking.set(Some(key));
        action.error.set(None);
        asking.set(true);
    });
    let cells: Cells = Arc::new(move |item: &Item| item.read::<Key>().map(|key| row(key, ask)).into_any());
    let first = move || {
        view! {
            <EmptyState
                symbol=Symbol::Key
                title="No keys yet"
                text="An agent needs a key to call tools. Make one with just the groups that it needs."
            >
                <button type="button" class="button button-primary" on:click=move |_| creating.set(true)>
                    "Make the first key"
                </button>
            </EmptyState>
        }
    };
    let question = Signal::derive(move || {
        revoking.with(|key| {
            key.as_ref()
                .map_or_else(String::new, |key| format!("Revoke {}?", key.name))
        })
    });
    view! {
        <SectionHead section=Section::Keys text="How agents and programs identify themselves. A key holds a role and groups, and belongs to this project alone.">
            <button type="button" class="button button-primary" on:click=move |_| creating.set(true)>
                "New key"
            </button>
        </SectionHead>
        <List
            list
            what="keys"
            columns=&["Key", "Role", "Groups", "Created", "Standing"]
            cells
            empty=first
        />
        <CreateKeyDialog project open=creating on_created=move |()| list.reload() />
        <Confirm open=asking title=question verb="Revoke the key" action on_confirm=revoke>
            <p>"Whoever uses it is refused from now on. This cannot be undone; make a new key instead."</p>
        </Confirm>
    }
}

fn row(key: Key, on_revoke: Callback<Key>) -> AnyView {
    let (tone, standing) = if key.revoked_at.is_some() {
        (Tone::Bad, "revoked")
    } else if key.expires_at.is_some_and(|at| at.timestamp_millis() <= now_ms()) {
        (Tone::Note, "expired")
    } else {
        (Tone::Good, "works")
    };
    let role = key
        .role
        .map_or_else(|| "none".to_owned(), |role| format!("{role:?}").to_lowercase());
    let whole = key.clone();
    let button = (tone == Tone::Good).then(|| {
        view! {
            <button type="button" class="button button-small" on:click=move |_| on_revoke.run(whole.clone())>
                "Revoke"
            </button>
        }
    });
    view! {
        <th scope="row" role="rowheader">
            <span class="tool-name">{key.name}</span>
            <span class="mono muted">{key.prefix} "…"</span>
        </th>
        <td role="cell" data-label="Role">{role}</td>
        <td role="cell" data-label="Groups">
            <Tags names=key.groups none="none" />
        </td>
        <td role="cell" data-label="Created">
            <TimeAgo at=key.created_at />
            " by "
            {key.created_by}
        </td>
        <td role="cell" data-label="Standing">
            <span class="row">
                <Badge tone text=standing />
                {button}
            </span>
        </td>
    }
    .into_any()
}
