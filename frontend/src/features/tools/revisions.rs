//! The history of a tool: compare any two revisions, restore one.

use std::sync::Arc;

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::tools::ToolRevision;

use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{Badge, Cells, Confirm, Diff, Field, List, TextInput, TimeAgo, Toasts, Tone};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::paged::{Item, Paged};
use crate::reactive::{effect, part, text, text_memo};
use crate::url::{Navigator, UrlParam};

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
    let [from, to] = ["from", "to"].map(UrlParam::new);
    let navigator = Navigator::new();
    let address = text_memo(move || {
        let (from, to) = (from.get(), to.get());
        if from.is_empty() || to.is_empty() {
            return String::new();
        }
        crate::api::with_query(path(&["diff"]), &[("from", &from), ("to", &to)])
    });
    let compared = Loaded::new(move || address.get());
    let restoring = Action::new();
    let asked = RwSignal::new(0_i64);
    let asking = RwSignal::new(false);
    let toasts = Toasts::get();
    let compare = Callback::new(move |(from, to): (String, String)| {
        navigator.set(&[("from", from.trim()), ("to", to.trim())], true);
    });
    let restore = move |()| {
        let revision = asked.get_untracked();
        let address = untrack(|| path(&["revisions", &revision.to_string(), "restore"]));
        restoring.send(Ask::post(address, Body::None).if_match(&etag), move |_| {
            asking.set(false);
            toasts.done(tf!("Revision {revision} is the current one again.", revision));
            list.reload();
            on_restored.run(());
        });
    };
    let ask = Callback::new(move |revision: i64| {
        asked.set(revision);
        asking.set(true);
    });
    let cells: Cells = Arc::new(move |item: &Item| {
        let revision = item.read::<ToolRevision>();
        revision.map(|revision| row(revision, newest, may_edit, compare, ask))
    });
    let [first, second] = [from, to].map(|param| {
        let value = RwSignal::new(String::new());
        effect(move || value.set(param.get()));
        value
    });
    view! {
        <div class="stack">
            <form
                class="filters"
                on:submit=move |event| {
                    event.prevent_default();
                    compare.run((first.get_untracked(), second.get_untracked()));
                }
            >
                <Field id="compare-from" label=t("Compare revision")>
                    <TextInput id="compare-from" value=first kind="number" />
                </Field>
                <Field id="compare-to" label=t("with revision")>
                    <TextInput id="compare-to" value=second kind="number" />
                </Field>
                <button type="submit" class="button">
                    {t("Compare")}
                </button>
            </form>
            {part(move || {
                if address.get().is_empty() { ().into_any() } else { compared.placeholder(t("the difference")) }
            })}
            {part(move || compared.json().map(|found| difference(&found)).into_any())}
            <List
                list
                what=t("revisions")
                columns=[t("Revision"), t("By"), t("When"), t("Note"), t("Compare and restore")]
                cells
                empty=|| ()
            />
            <Confirm
                open=asking
                title=text(move || tf!("Restore revision {revision}?", revision = asked.get()))
                verb=t("Restore")
                action=restoring
                on_confirm=restore
            >
                <p>{t("It becomes a new revision with the same definition. The ones in between stay in the history.")}</p>
            </Confirm>
        </div>
    }
}

fn difference(found: &Value) -> AnyView {
    let text = found["diff"].as_str().unwrap_or_default().to_owned();
    view! {
        <section class="panel">
            <h2>{tf!("From revision {from} to {to}", from = found["from"], to = found["to"])}</h2>
            <Diff text />
        </section>
    }
    .into_any()
}

fn row(
    revision: ToolRevision,
    newest: Memo<i64>,
    may_edit: bool,
    compare: Callback<(String, String)>,
    restore: Callback<i64>,
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
    let between = move |from: i64, to: i64| compare.run((from.to_string(), to.to_string()));
    let step = (number > 1).then(|| {
        button(
            t("What changed"),
            Callback::new(move |()| between(number - 1, number)),
        )
    });
    let others = move || {
        (newest.get() != number).then(|| {
            let restore = (may_edit && !revision.deleted)
                .then(|| button(t("Restore"), Callback::new(move |()| restore.run(number))));
            let against = Callback::new(move |()| between(number, newest.get_untracked()));
            view! {
                {button(t("Compare with current"), against)}
                {restore}
            }
            .into_any()
        })
    };
    view! {
        <th scope="row" role="rowheader">
            <span class="row">
                <span class="revision">{number}</span>
                {revision.deleted.then(|| view! { <Badge tone=Tone::Bad text=t("deleted") /> })}
                {part(move || (newest.get() == number).then(|| view! { <Badge tone=Tone::Accent text=t("current") /> }).into_any())}
            </span>
        </th>
        <td role="cell" data-label=t("By")>{revision.author}</td>
        <td role="cell" data-label=t("When")>
            <TimeAgo at=revision.created_at />
        </td>
        <td role="cell" data-label=t("Note")>{revision.note.unwrap_or_default()}</td>
        <td role="cell" data-label="">
            <span class="row">{step} {others}</span>
        </td>
    }
    .into_any()
}
