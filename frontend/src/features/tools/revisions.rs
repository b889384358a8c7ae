//! The history of a tool: compare any two revisions, restore one.

use leptos::prelude::*;
use toolgate_api::tools::{RevisionDiff, ToolRevision};

use crate::action::Action;
use crate::api::tools::{diff, restore, revisions};
use crate::components::{Badge, Diff, More, ProblemPanel, Skeleton, TimeAgo, Toasts, Tone};
use crate::paged::{Paged, Status};

/// All revisions, newest first.
#[component]
pub(super) fn Revisions(
    /// The project's id.
    project: Memo<String>,
    /// The tool's name.
    name: Memo<String>,
    /// The tag of the current revision.
    etag: String,
    /// Whether one may restore.
    may_edit: bool,
    /// One was restored.
    #[prop(into)]
    on_restored: Callback<()>,
) -> impl IntoView {
    let key = Memo::new(move |_| (project.get(), name.get()));
    let list: Paged<(String, String), ToolRevision> =
        Paged::new(key, |(project, name): (String, String), cursor| async move {
            let page = revisions(&project, &name, cursor).await?;
            Ok((page.items, page.next_cursor))
        });
    let newest = Memo::new(move |_| list.items.with(|items| items.first().map_or(0, |item| item.revision)));
    let shown = RwSignal::new(None::<RevisionDiff>);
    let comparing = Action::new();
    let restoring = Action::new();
    let toasts = Toasts::get();
    let compare = Callback::new(move |(from, to): (i64, i64)| {
        let (project, name) = (project.get_untracked(), name.get_untracked());
        comparing.run(
            async move { diff(&project, &name, from, to).await },
            move |found| shown.set(Some(found)),
        );
    });
    let etag = StoredValue::new(etag);
    let bring_back = Callback::new(move |revision: i64| {
        let (project, name) = (project.get_untracked(), name.get_untracked());
        restoring.run(
            async move { restore(&project, &name, revision, &etag.get_value()).await },
            move |_| {
                toasts.done(format!("Revision {revision} is the current one again."));
                list.reload();
                on_restored.run(());
            },
        );
    });
    let row = move |revision: ToolRevision| {
        let number = revision.revision;
        view! {
            <tr role="row">
                <th scope="row" role="rowheader">
                    <span class="row">
                        <span class="revision">{number}</span>
                        {revision.deleted.then(|| view! { <Badge tone=Tone::Bad text="deleted" /> })}
                        <Show when=move || newest.get() == number>
                            <Badge tone=Tone::Accent text="current" />
                        </Show>
                    </span>
                </th>
                <td role="cell" data-label="By">{revision.author}</td>
                <td role="cell" data-label="When">
                    <TimeAgo at=revision.created_at />
                </td>
                <td role="cell" data-label="Note">{revision.note.unwrap_or_default()}</td>
                <td role="cell" data-label="">
                    <span class="row">
                        {(number > 1)
                            .then(|| {
                                view! {
                                    <button
                                        type="button"
                                        class="button button-small"
                                        on:click=move |_| compare.run((number - 1, number))
                                    >
                                        "What changed"
                                    </button>
                                }
                            })}
                        <Show when=move || newest.get() != number>
                            <button
                                type="button"
                                class="button button-small"
                                on:click=move |_| compare.run((number, newest.get_untracked()))
                            >
                                "Compare with current"
                            </button>
                            <Show when=move || may_edit && !revision.deleted>
                                <button
                                    type="button"
                                    class="button button-small"
                                    on:click=move |_| bring_back.run(number)
                                >
                                    "Restore"
                                </button>
                            </Show>
                        </Show>
                    </span>
                </td>
            </tr>
        }
    };
    view! {
        <div class="stack">
            {restoring.outcome()}
            {comparing.outcome()}
            {move || {
                shown
                    .get()
                    .map(|found| {
                        view! {
                            <section class="panel">
                                <h2>{format!("From revision {} to {}", found.from, found.to)}</h2>
                                <Diff text=found.diff />
                            </section>
                        }
                    })
            }}
            {move || match list.status.get() {
                Status::Failed(error) => {
                    view! { <ProblemPanel error on_retry=move |()| list.retry() /> }.into_any()
                }
                Status::Loading => view! { <Skeleton what="revisions" rows=3 /> }.into_any(),
                _ => ().into_any(),
            }}
            <div class="table-wrap" hidden=move || list.items.with(Vec::is_empty)>
                <table class="table" role="table">
                    <caption class="visually-hidden">"Revisions"</caption>
                    <thead role="rowgroup">
                        <tr role="row">
                            <th scope="col" role="columnheader">"Revision"</th>
                            <th scope="col" role="columnheader">"By"</th>
                            <th scope="col" role="columnheader">"When"</th>
                            <th scope="col" role="columnheader">"Note"</th>
                            <th scope="col" role="columnheader">
                                <span class="visually-hidden">"Actions"</span>
                            </th>
                        </tr>
                    </thead>
                    <tbody role="rowgroup">
                        <For each=move || list.items.get() key=|item| item.revision children=row />
                    </tbody>
                </table>
            </div>
            <More list what="revisions" />
        </div>
    }
}
