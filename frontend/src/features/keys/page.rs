//! The keys of a project.

use leptos::prelude::*;
use toolgate_api::keys::Key;

use super::create::CreateKeyDialog;
use crate::action::Action;
use crate::api::keys::{list_keys, revoke_key};
use crate::browser::now_ms;
use crate::components::{
    Badge, Confirm, EmptyState, More, ProblemPanel, SectionHead, Skeleton, Symbol, Tags, TimeAgo, Toasts, Tone,
};
use crate::paged::{Paged, Status};
use crate::routes::Section;
use crate::url::project_in_path;

/// All keys, newest first.
#[component]
pub(crate) fn KeysPage() -> impl IntoView {
    let project = project_in_path();
    let list: Paged<String, Key> = Paged::new(project, |project: String, cursor| async move {
        let page = list_keys(&project, cursor).await?;
        Ok((page.items, page.next_cursor))
    });
    let creating = RwSignal::new(false);
    let revoking = RwSignal::new(None::<Key>);
    let asking = RwSignal::new(false);
    let action = Action::new();
    let toasts = Toasts::get();
    let is_empty = Memo::new(move |_| list.items.with(Vec::is_empty));
    let revoke = move |()| {
        let Some(key) = revoking.get_untracked() else {
            return;
        };
        let project = project.get_untracked();
        action.run(
            async move { revoke_key(&project, &key.id.to_string()).await.map(|()| key.name) },
            move |name| {
                asking.set(false);
                toasts.done(format!("{name} was revoked; it no longer opens anything."));
                list.reload();
            },
        );
    };
    view! {
        <SectionHead section=Section::Keys text="How agents and programs identify themselves. A key holds a role and groups, and belongs to this project alone.">
            <button type="button" class="button button-primary" on:click=move |_| creating.set(true)>
                "New key"
            </button>
        </SectionHead>
        {move || match (list.status.get(), is_empty.get()) {
            (Status::Failed(error), _) => {
                view! { <ProblemPanel error on_retry=move |()| list.retry() /> }.into_any()
            }
            (Status::Loading, true) => view! { <Skeleton what="keys" rows=3 /> }.into_any(),
            (Status::Ready, true) => {
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
                    .into_any()
            }
            _ => ().into_any(),
        }}
        <Show when=move || !is_empty.get()>
            <div class="table-wrap">
                <table class="table" role="table">
                    <caption class="visually-hidden">"Keys of this project"</caption>
                    <thead role="rowgroup">
                        <tr role="row">
                            <th scope="col" role="columnheader">"Key"</th>
                            <th scope="col" role="columnheader">"Role"</th>
                            <th scope="col" role="columnheader">"Groups"</th>
                            <th scope="col" role="columnheader">"Created"</th>
                            <th scope="col" role="columnheader">"Standing"</th>
                        </tr>
                    </thead>
                    <tbody role="rowgroup">
                        <For each=move || list.items.get() key=|key| (key.id, key.revoked_at, key.groups.clone()) let:key>
                            <KeyRow
                                key
                                on_revoke=move |key| {
                                    revoking.set(Some(key));
                                    action.error.set(None);
                                    asking.set(true);
                                }
                            />
                        </For>
                    </tbody>
                </table>
            </div>
            <More list what="keys" />
        </Show>
        <CreateKeyDialog project open=creating on_created=move |()| list.reload() />
        <Confirm
            open=asking
            title=Signal::derive(move || {
                format!("Revoke {}?", revoking.with(|key| key.as_ref().map_or_else(String::new, |key| key.name.clone())))
            })
            verb="Revoke the key"
            action
            on_confirm=revoke
        >
            <p>"Whoever uses it is refused from now on. This cannot be undone; make a new key instead."</p>
        </Confirm>
    }
}

#[component]
fn KeyRow(
    key: Key,
    #[prop(into)] on_revoke: Callback<Key>,
) -> impl IntoView {
    let now = now_ms();
    let (tone, standing) = if key.revoked_at.is_some() {
        (Tone::Bad, "revoked")
    } else if key.expires_at.is_some_and(|at| at.timestamp_millis() <= now) {
        (Tone::Note, "expired")
    } else {
        (Tone::Good, "works")
    };
    let works = tone == Tone::Good;
    let role = key.role.map_or_else(|| "none".to_owned(), |role| format!("{role:?}").to_lowercase());
    let whole = StoredValue::new(key.clone());
    view! {
        <tr role="row">
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
                    {works
                        .then(|| {
                            view! {
                                <button
                                    type="button"
                                    class="button button-small"
                                    on:click=move |_| on_revoke.run(whole.get_value())
                                >
                                    "Revoke"
                                </button>
                            }
                        })}
                </span>
            </td>
        </tr>
    }
}
