//! The history of a tool: compare any two revisions, restore one.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::tools::{RevisionDiff, ToolRevision};

use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{Badge, Cells, Diff, List, TimeAgo, Toasts, Tone};
use crate::paged::{Item, Paged};
use crate::reactive::part;

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
    let path = move |parts: &[&str]| {
        let (project, name) = (project.get(), name.get());
        let mut all = vec!["tools", name.as_str()];
        all.extend(parts);
        in_project(&project, &all)
    };
    let list = Paged::new(move || path(&["revisions"]));
    let newest = Memo::new(move |_| {
        let first = list
            .items
            .with(|items| items.first().and_then(Item::read::<ToolRevision>));
        first.map_or(0, |revision| revision.revision)
    });
    let shown = RwSignal::new(None::<RevisionDiff>);
    let comparing = Action::new();
    let restoring = Action::new();
    let toasts = Toasts::get();
    let compare = Callback::new(move |(from, to): (i64, i64)| {
        let address = format!("{}?from={from}&to={to}", untrack(|| path(&["diff"])));
        comparing.send(Ask::get(address), move |answer| shown.set(answer.read().ok()));
    });
    let bring_back = Callback::new(move |revision: i64| {
        let address = untrack(|| path(&["revisions", &revision.to_string(), "restore"]));
        restoring.send(Ask::post(address, Body::None).if_match(&etag), move |_| {
            toasts.done(format!("Revision {revision} is the current one again."));
            list.reload();
            on_restored.run(());
        });
    });
    let cells: Cells = Arc::new(move |item: &Item| {
        let revision = item.read::<ToolRevision>();
        revision
            .map(|revision| row(revision, newest, may_edit, compare, bring_back))
            .into_any()
    });
    view! {
        <div class="stack">
            {restoring.outcome()} {comparing.outcome()}
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
            <List
                list
                what="revisions"
                columns=&["Revision", "By", "When", "Note", "Compare and restore"]
                cells
                empty=|| ()
            />
        </div>
    }
}

fn row(
    revision: ToolRevision,
    newest: Memo<i64>,
    may_edit: bool,
    compare: Callback<(i64, i64)>,
    bring_back: Callback<i64>,
) -> AnyView {
    let number = revision.revision;
    let button = |text: &'static str, press: Callback<()>| {
        view! {
            <button type="button" class="button button-small" on:click=move |_| press.run(())>
                {text}
            </button>
        }
        .into_any()
    };
    let step = (number > 1).then(|| {
        button(
            "What changed",
            Callback::new(move |()| compare.run((number - 1, number))),
        )
    });
    let others = move || {
        (newest.get() != number).then(|| {
            let restore = (may_edit && !revision.deleted)
                .then(|| button("Restore", Callback::new(move |()| bring_back.run(number))));
            let against = Callback::new(move |()| compare.run((number, newest.get_untracked())));
            view! {
                {button("Compare with current", against)}
                {restore}
            }
            .into_any()
        })
    };
    view! {
        <th scope="row" role="rowheader">
            <span class="row">
                <span class="revision">{number}</span>
                {revision.deleted.then(|| view! { <Badge tone=Tone::Bad text="deleted" /> })}
                {part(move || (newest.get() == number).then(|| view! { <Badge tone=Tone::Accent text="current" /> }).into_any())}
            </span>
        </th>
        <td role="cell" data-label="By">{revision.author}</td>
        <td role="cell" data-label="When">
            <TimeAgo at=revision.created_at />
        </td>
        <td role="cell" data-label="Note">{revision.note.unwrap_or_default()}</td>
        <td role="cell" data-label="">
            <span class="row">{step} {others}</span>
        </td>
    }
    .into_any()
}
