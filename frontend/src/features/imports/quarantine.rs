//! The quarantine: changes of imported descriptions that wait for approval.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::quarantine::{ApproveChange, MergeChoice, QuarantinedChange};

use super::awaiting::Awaiting;
use super::badges::operation_name;
use super::change::{Decisions, breaking, change_view, sides_view};
use super::decide::{Selected, Several, select_box};
use super::waiting::Waiting;
use crate::action::Action;
use crate::api::{Ask, Body, in_project, with_query};
use crate::components::{
    Badge, Cells, Confirm, EditorHandle, EmptyState, Field, List, SectionHead, Symbol, TextInput, TimeAgo,
    Toasts, Tone,
};
use crate::expectations;
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::paged::{Item, Paged};
use crate::reactive::{When, condition, effect, part, text, text_memo};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::{UrlParam, project_in_path};
use crate::words::counted;

/// What waits over all imports, or one change of it.
#[component]
pub(crate) fn QuarantinePage() -> impl IntoView {
    let project = project_in_path();
    let [import, tool] = ["import", "tool"].map(UrlParam::new);
    let is_one = condition(move || !tool.get().is_empty());
    let address = text_memo(move || {
        with_query(
            in_project(&project.get(), &["quarantine"]),
            &[("import", &import.get())],
        )
    });
    let show = Callback::new(move |name: String| tool.push(&name));
    let session = Session::get();
    let may_edit = condition(move || session.may(&project.get(), Permission::EditDefinitions));
    let selected: Selected = RwSignal::new(BTreeSet::new());
    // What is no longer listed is no longer selected.
    effect(move || {
        address.track();
        selected.set(BTreeSet::new());
    });
    let cells: Cells = Arc::new(move |item: &Item| {
        let change = item.read::<QuarantinedChange>()?;
        let select = may_edit
            .get_untracked()
            .then(|| select_box(selected, &change.tool));
        Some(row(&project.get_untracked(), change, select, show))
    });
    let imports = move || Page::of_project(project.get(), PageKind::Imports).path();
    let empty = move || {
        view! {
            <EmptyState
                symbol=Symbol::Check
                title=t("No changes wait")
                text=t("When a description is imported again with changes, they wait here. A tool stays as it is until its change is approved.")
            >
                <a class="button" href=imports>
                    {t("Show the imports")}
                </a>
            </EmptyState>
        }
    };
    let empty = StoredValue::new(empty);
    let cells = StoredValue::new(cells);
    let inbox = move || {
        let list = Paged::new(move || address.get());
        let (cells, empty) = (cells.get_value(), empty.get_value());
        view! {
            <When test=move || !import.get().is_empty()>
                <p class="row filters">
                    <span>{t("Only changes of the import ")} <code>{move || import.get()}</code></span>
                    <button type="button" class="button button-small" on:click=move |_| import.push("")>
                        {t("Show all")}
                    </button>
                </p>
            </When>
            <Awaiting project />
            <When test=move || may_edit.get()>
                <Several project list selected />
            </When>
            <List list what=t("changes") columns=[t("Tool"), t("Operation"), t("What changed"), t("Import"), t("Since")] cells empty />
        }
        .into_any()
    };
    view! {
        <SectionHead section=PageKind::Quarantine text=t("Changes of imported descriptions. The tools stay as they are until a change is approved.") />
        {part(move || if is_one.get() { view! { <Change project tool /> }.into_any() } else { inbox() })}
    }
}

fn row(
    project: &str,
    waiting: QuarantinedChange,
    select: Option<AnyView>,
    show: Callback<String>,
) -> AnyView {
    let change = &waiting.change;
    let import = Page::import(project.to_owned(), waiting.import.clone()).path();
    let sum = tf!(
        "{changes} by the description, {local} here",
        changes = counted(change.upstream.len(), "change"),
        local = change.local.len()
    );
    let conflicts = (!change.conflicts.is_empty())
        .then(|| view! { <Badge tone=Tone::Bad text=counted(change.conflicts.len(), "conflict") /> });
    let notes = (!waiting.notes.is_empty())
        .then(|| view! { <Badge tone=Tone::Bad text=counted(waiting.notes.len(), "suspicious text") /> });
    let name = waiting.tool.clone();
    view! {
        <th scope="row" role="rowheader">
            <span class="tool-cell">
                {select}
                <button type="button" class="fault-place" data-row="" on:click=move |_| show.run(name.clone())>
                    {waiting.tool}
                </button>
            </span>
        </th>
        <td role="cell" data-label=t("Operation")>{operation_name(&waiting.method, &waiting.path)}</td>
        <td role="cell" data-label=t("What changed")>
            <span class="row">{sum} {breaking(change)} {conflicts} {notes}</span>
        </td>
        <td role="cell" data-label=t("Import")>
            <a href=import>{waiting.import}</a>
        </td>
        <td role="cell" data-label=t("Since")>
            <span>
                <TimeAgo at=waiting.since />
                {t(" by ")}
                {waiting.by}
            </span>
        </td>
    }
    .into_any()
}

/// One change, with all that it takes to decide.
#[component]
fn Change(project: Memo<String>, tool: UrlParam) -> impl IntoView {
    let session = Session::get();
    let loaded = Loaded::new(move || {
        let tool = tool.get();
        if tool.is_empty() {
            String::new()
        } else {
            in_project(&project.get(), &["quarantine", &tool])
        }
    });
    let change = Memo::new(move |_| loaded.read::<QuarantinedChange>());
    let may_edit = condition(move || session.may(&project.get(), Permission::EditDefinitions));
    let decisions: Decisions = RwSignal::new(BTreeMap::new());
    view! {
        <div class="stack">
            <p>
                <button type="button" class="button button-small" on:click=move |_| tool.push("")>
                    {t("Back to all that waits")}
                </button>
            </p>
            {loaded.placeholder_or(t("the change"), t("No change of this tool waits: it was decided, or the import was removed."))}
            {part(move || {
                let decides = may_edit.get().then_some(decisions);
                change.with(|change| change.as_ref().map(|change| one(&project.get_untracked(), change, decides))).into_any()
            })}
            <When test=move || may_edit.get() && loaded.is_there()>
                <Deciding project tool loaded change decisions />
            </When>
        </div>
    }
}

fn one(project: &str, waiting: &QuarantinedChange, decisions: Option<Decisions>) -> AnyView {
    let tool = Page::tool(project.to_owned(), waiting.tool.clone()).path();
    let import = Page::import(project.to_owned(), waiting.import.clone()).path();
    view! {
        <section class="panel stack" aria-label=t("The change")>
            <h2 class="break">{waiting.tool.clone()}</h2>
            <p>
                {operation_name(&waiting.method, &waiting.path)} {t(" of ")} <a href=import>{waiting.import.clone()}</a>
                {t(", noticed ")} <TimeAgo at=waiting.since /> {tf!(" by {name}. ", name = waiting.by)} <a href=tool>{t("Show the tool")}</a>
            </p>
            {suspicious(&waiting.notes)}
            {change_view(&waiting.tool, &waiting.change, decisions)}
        </section>
        {waiting.definitions.as_ref().map(sides_view)}
    }
    .into_any()
}

/// What the new definition hides from people.
fn suspicious(notes: &[String]) -> Option<AnyView> {
    let items: Vec<_> = notes
        .iter()
        .map(|note| view! { <li class="break">{note.clone()}</li> })
        .collect();
    (!items.is_empty()).then(|| {
        view! {
            <div class="stack-small">
                <p>
                    <Badge tone=Tone::Bad text=t("look closely") />
                    {t(" The new definition may give instructions to the model that the tool does not have today.")}
                </p>
                <ul>{items}</ul>
            </div>
        }
        .into_any()
    })
}

/// Approving and rejecting.
#[component]
fn Deciding(
    project: Memo<String>,
    tool: UrlParam,
    loaded: Loaded,
    change: Memo<Option<QuarantinedChange>>,
    decisions: Decisions,
) -> impl IntoView {
    let approving = Action::new();
    let rejecting = Action::new();
    let asking = RwSignal::new(false);
    let note = RwSignal::new(String::new());
    let ignored = RwSignal::new(false);
    let toasts = Toasts::get();
    let waiting = Waiting::get();
    let open = move || {
        change.with(|change| {
            let conflicts = change.iter().flat_map(|change| &change.change.conflicts);
            decisions.with(|decisions| {
                conflicts
                    .filter(|one| !decisions.contains_key(&one.pointer))
                    .count()
            })
        })
    };
    let path = move |verb: &str| {
        in_project(
            &project.get_untracked(),
            &["quarantine", &tool.get_untracked(), verb],
        )
    };
    let done = move |words: String| {
        toasts.done(words);
        waiting.reload();
        tool.push("");
    };
    let approve = move |_| {
        let choices = decisions.get_untracked().into_iter();
        let choices = choices
            .map(|(pointer, take)| MergeChoice { pointer, take })
            .collect();
        let body = Body::json(&ApproveChange {
            conflicts: None,
            choices,
        });
        let note = note.get_untracked();
        let query = [("note", note.trim()), expectations::ignoring(ignored)];
        let ask = Ask::post(with_query(path("approve"), &query), body).if_match(loaded.etag());
        approving.send(ask, move |_| {
            done(tf!("{tool} is as approved.", tool = tool.get_untracked()));
        });
    };
    let reject = move |()| {
        let ask = Ask::post(path("reject"), Body::None).if_match(loaded.etag());
        rejecting.send(ask, move |_| {
            asking.set(false);
            done(tf!(
                "The change was rejected. {tool} stays as it is.",
                tool = tool.get_untracked()
            ));
        });
    };
    view! {
        <section class="panel stack" aria-label=t("Decide")>
            <h2>{t("Decide")}</h2>
            <Field id="approve-note" label=t("Note") help=t("Why, for those who read the history later.")>
                <TextInput id="approve-note" value=note max="500" />
            </Field>
            {expectations::escape(
                t("Approve it all the same, although policy tests would fail"),
                ignored,
                move || approving.error.with(expectations::refused),
            )}
            <div class="row">
                <button
                    type="button"
                    class="button button-primary"
                    disabled=move || approving.busy.get() || open() != 0
                    on:click=approve
                >
                    {t("Approve")}
                </button>
                <button type="button" class="button" on:click=move |_| asking.set(true)>
                    {t("Reject")}
                </button>
                <span class="muted" role="status">
                    {move || match open() {
                        0 => String::new(),
                        count => tf!("Decide {conflicts} first.", conflicts = counted(count, "conflict")),
                    }}
                </span>
            </div>
            {approving.refusal(EditorHandle::new())}
        </section>
        <Confirm
            open=asking
            title=text(move || tf!("Reject the change of {tool}?", tool = tool.get()))
            verb=t("Reject the change")
            action=rejecting
            on_confirm=reject
        >
            <p>{t("The tool stays as it is, and this change is not shown again. The next change of the description is compared with this one.")}</p>
        </Confirm>
    }
}
