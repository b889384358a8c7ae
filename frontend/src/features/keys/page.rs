//! The keys of a project.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::keys::Key;

use super::create::CreateKeyDialog;
use super::on_bus::in_words;
use super::rotate::RotateKeyDialog;
use crate::action::Action;
use crate::api::{Ask, in_project, with_query};
use crate::browser::{encode, now_ms, stamp};
use crate::components::{
    Badge, Cells, Confirm, Deed, EmptyState, List, SearchBox, SectionHead, Symbol, Tags, TimeAgo, Toasts,
    Tone,
};
use crate::contract_words::contract_word;
use crate::language::{t, tf};
use crate::paged::{Item, Paged};
use crate::routes::{Page, PageKind};
use crate::url::{UrlParam, project_in_path};

/// All keys, newest first.
#[component]
pub(crate) fn KeysPage() -> impl IntoView {
    let project = project_in_path();
    let q = UrlParam::new("q");
    let list = Paged::new(move || with_query(in_project(&project.get(), &["keys"]), &[("q", &q.get())]));
    // Other pages lead to the dialog by the address.
    let creating = UrlParam::new("new").drawer();
    // The key that is to be revoked or rotated.
    let chosen = RwSignal::new(None::<Key>);
    let [asking, rotating] = [(); 2].map(|()| RwSignal::new(false));
    let action = Action::new();
    let toasts = Toasts::get();
    let revoke = move |()| {
        let Some(key) = chosen.get_untracked() else {
            return;
        };
        let path = in_project(&project.get_untracked(), &["keys", &key.id.to_string()]);
        action.send(Ask::delete(path).if_match("*"), move |_| {
            asking.set(false);
            toasts.done(tf!(
                "{name} was revoked; it no longer opens anything.",
                name = key.name
            ));
            list.reload();
        });
    };
    let ask = Callback::new(move |key: Key| {
        chosen.set(Some(key));
        action.error.set(None);
        asking.set(true);
    });
    let rotate = Callback::new(move |key: Key| {
        chosen.set(Some(key));
        rotating.set(true);
    });
    let cells: Cells = Arc::new(move |item: &Item| {
        item.read::<Key>()
            .map(|key| row(&project.get_untracked(), key, rotate, ask))
    });
    let first = move || {
        view! {
            <EmptyState
                symbol=Symbol::Key
                title=t("No keys yet")
                text=t("An agent needs a key to call tools. Make one with just the groups that it needs.")
            >
                <button type="button" class="button button-primary" on:click=move |_| creating.set(true)>
                    {t("Create the first key")}
                </button>
            </EmptyState>
        }
    };
    let bulk = Deed {
        verb: t("Revoke"),
        one: "key",
        means: t(
            "Every request with them is refused from now on. This cannot be undone; make new keys instead.",
        ),
        of: Arc::new(|item: &Item| {
            let key = item.read::<Key>()?;
            key.revoked_at.is_none().then(|| (key.id.to_string(), key.name))
        }),
        ask: Arc::new(move |id: &str| {
            Ask::delete(in_project(&project.get_untracked(), &["keys", id])).if_match("*")
        }),
    };
    // A search that finds nothing is not a project without keys.
    let empty = move || match q.get().is_empty() {
        true => first().into_any(),
        false => view! { <p class="note">{t("No key has this text in its name.")}</p> }.into_any(),
    };
    let question = Signal::derive(move || {
        chosen.with(|key| {
            key.as_ref()
                .map_or_else(String::new, |key| tf!("Revoke {name}?", name = key.name))
        })
    });
    view! {
        <SectionHead section=PageKind::Keys text=t("How agents and programs identify themselves. A key holds a role and groups, and belongs to this project alone.")>
            <button type="button" class="button button-primary" on:click=move |_| creating.set(true)>
                {t("New key")}
            </button>
        </SectionHead>
        <div class="filters">
            <SearchBox param=q name=t("Search keys") placeholder=t("Search by name") />
        </div>
        <List
            list
            bulk
            what=t("keys")
            columns=[t("Key"), t("Role"), t("Groups"), t("Created"), t("Last used"), t("Status")]
            cells
            empty
        />
        <CreateKeyDialog project open=creating on_created=move |_| list.reload() />
        <RotateKeyDialog project key=chosen open=rotating on_rotated=move |()| list.reload() />
        <Confirm open=asking title=question verb=t("Revoke the key") action on_confirm=revoke>
            <p>{t("Every request with it is refused from now on. This cannot be undone; make a new key instead.")}</p>
        </Confirm>
    }
}

/// Whether a key opens anything: it is not revoked, has not expired and has a role.
pub(crate) fn is_usable(key: &Key) -> bool {
    let is_expired = key.expires_at.is_some_and(|at| at.timestamp_millis() <= now_ms());
    key.revoked_at.is_none() && !is_expired && key.role.is_some()
}

fn row(project: &str, key: Key, rotate: Callback<Key>, revoke: Callback<Key>) -> AnyView {
    let (tone, status) = if key.revoked_at.is_some() {
        (Tone::Bad, t("revoked"))
    } else if key.expires_at.is_some_and(|at| at.timestamp_millis() <= now_ms()) {
        (Tone::Note, t("expired"))
    } else {
        (Tone::Good, t("works"))
    };
    let role = key
        .role
        .map_or_else(|| t("none").to_owned(), |role| contract_word(&role));
    let buttons = (tone == Tone::Good).then(|| {
        let name = &key.name;
        let labels = [tf!("Rotate {name}", name), tf!("Revoke {name}", name)];
        [(t("Rotate"), rotate), (t("Revoke"), revoke)]
            .into_iter()
            .zip(labels)
            .map(|((verb, act), label)| {
                let whole = key.clone();
                view! {
                    <button
                        type="button"
                        class="button button-small"
                        aria-label=label
                        on:click=move |_| act.run(whole.clone())
                    >
                        {verb}
                    </button>
                }
                .into_any()
            })
            .collect::<Vec<_>>()
    });
    let permission = Page::of_project(project.to_owned(), PageKind::Permissions).path()
        + "?principal="
        + &encode(&key.principal);
    let ends = key.expires_at.map(|at| tf!("until {time}", time = stamp(at)));
    let overlap = key
        .previous_secret_until
        .filter(|at| at.timestamp_millis() > now_ms())
        .map(|at| tf!("the old secret works until {time}", time = stamp(at)));
    let used = key.last_used_at.map_or_else(
        || view! { <span class="muted">{t("never")}</span> }.into_any(),
        |at| view! { <TimeAgo at /> }.into_any(),
    );
    let on_bus = in_words(key.bus.as_ref());
    view! {
        <th scope="row" role="rowheader">
            <span class="tool-name">{key.name}</span>
            <span class="mono muted">{key.prefix} "…"</span>
        </th>
        <td role="cell" data-label=t("Role")>
            <a href=permission>{role}</a>
        </td>
        <td role="cell" data-label=t("Groups")>
            <Tags names=key.groups none=t("none") />
            <span class="muted break">{on_bus}</span>
        </td>
        <td role="cell" data-label=t("Created")>
            <span>
                <TimeAgo at=key.created_at />
                {t(" by ")}
                {key.created_by}
                {key.rotated_at.map(|at| view! { {t(", rotated ")} <TimeAgo at /> })}
            </span>
        </td>
        <td role="cell" data-label=t("Last used")>{used}</td>
        <td role="cell" data-label=t("Status")>
            <span class="row">
                <Badge tone text=status />
                {buttons}
            </span>
            <span class="cell-end">{ends}</span>
            <span class="cell-end">{overlap}</span>
        </td>
    }
    .into_any()
}
