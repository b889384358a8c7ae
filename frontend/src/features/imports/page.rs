//! The page of one import: where it came from, its operations, importing it again, and removing it.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::imports::{Import, ImportOperation};

use super::again::Again;
use super::badges::{format_name, operation_name};
use super::hosts::hosts_view;
use super::list::{came_from, count_badge};
use super::next::Next;
use super::waiting::Waiting;
use crate::action::Action;
use crate::api::{Ask, in_project, with_query};
use crate::components::{
    Badge, Breadcrumbs, Cells, Confirm, EmptyState, List, PageHeading, Tabs, Tags, TimeAgo, Toasts, Tone,
    fact, facts,
};
use crate::language::{marked, t, tf};
use crate::loaded::Loaded;
use crate::paged::{Item, Paged};
use crate::reactive::{When, condition, part, text};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::{Navigator, UrlParam, import_in_path, project_in_path};
use crate::words::counted;

/// The views; the last one is for those who may edit.
const VIEWS: [(&str, &str); 2] = [("", marked("Operations")), ("again", marked("Import again"))];

/// One import.
#[component]
pub(crate) fn ImportPage() -> impl IntoView {
    let project = project_in_path();
    let id = import_in_path();
    let tab = UrlParam::new("tab");
    let session = Session::get();
    let loaded = Loaded::new(move || in_project(&project.get(), &["imports", &id.get()]));
    let import = Memo::new(move |_| loaded.read::<Import>());
    let may_edit = condition(move || session.may(&project.get(), Permission::EditDefinitions));
    let source = Memo::new(move |_| {
        import.with(|import| {
            let source = import.as_ref().map(|import| &import.source);
            source.map(|source| (source.mcp_server.clone(), source.url.clone()))
        })
    });
    // Reading it again must not take away the report of the import that was just done.
    let is_there = condition(move || loaded.is_there());
    let content = part(move || {
        if !is_there.get() {
            return ().into_any();
        }
        if tab.get() == "again" && may_edit.get() {
            let on_done = move |()| loaded.reload();
            let (server, url) = source.get().unwrap_or_default();
            return match server {
                Some(server) => at_server(&project.get(), server),
                None => view! { <Again project id import=loaded url on_done /> }.into_any(),
            };
        }
        view! { <Operations project id may_edit /> }.into_any()
    });
    let heading = text(move || {
        import.with(|import| {
            import
                .as_ref()
                .map_or_else(|| id.get(), |import| import.title.clone())
        })
    });
    view! {
        <Breadcrumbs project section=PageKind::Imports here=id />
        <div class="page-head">
            <div>
                <PageHeading text=heading />
                {part(move || import.with(|import| import.as_ref().map(version)).into_any())}
            </div>
            <When test=move || may_edit.get() && loaded.is_there()>
                <Removal project id loaded />
            </When>
        </div>
        {loaded.placeholder(t("the import"))}
        {part(move || {
            let again = Callback::new(move |()| loaded.reload());
            import.with(|import| import.as_ref().map(|import| about(project, import, again))).into_any()
        })}
        <When test=move || loaded.is_there() && may_edit.get()>
            <Tabs param=tab name=t("Views of the import") choices=&VIEWS />
        </When>
        {content}
    }
}

/// The tools of a server are imported again where the server is.
fn at_server(project: &str, server: String) -> AnyView {
    let path = Page::mcp_server(project.to_owned(), server.clone()).path();
    let href = with_query(path, &[("tab", "import")]);
    view! {
        <section class="panel stack-small" aria-label=t("Import again")>
            <h2>{t("Import again")}</h2>
            <p>
                {t("These are the tools of an MCP server. ")}
                <a href=href>{tf!("Import the tools of {server} again", server)}</a>
            </p>
        </section>
    }
    .into_any()
}

fn version(import: &Import) -> AnyView {
    let text = tf!(
        "Version {version}, {format}",
        version = import.version,
        format = format_name(import.format)
    );
    view! { <p class="muted">{text}</p> }.into_any()
}

/// Where it came from, what was chosen, and the hosts.
fn about(project: Memo<String>, import: &Import, on_added: Callback<()>) -> AnyView {
    let source = import.source.clone();
    let from = came_from(&project.get_untracked(), source.clone());
    let waiting = Page::of_project(project.get_untracked(), PageKind::Quarantine).path();
    let waiting = with_query(waiting, &[("import", &import.id)]);
    let chosen = [
        (t("tags"), source.tags),
        (t("paths"), source.paths),
        (t("methods"), source.methods),
        (t("operations"), source.operations),
    ];
    let chosen = chosen
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(word, names)| format!("{word} {}", names.join(", ")))
        .collect::<Vec<_>>();
    let chosen = if chosen.is_empty() {
        t("all operations").to_owned()
    } else {
        chosen.join("; ")
    };
    let credentials = source.credentials.into_iter();
    let credentials = credentials
        .map(|(scheme, from)| format!("{scheme}: {from}"))
        .collect::<Vec<_>>();
    let variables = source.variables.into_iter();
    let variables = variables
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>();
    let counts = import.counts;
    let lines = facts(vec![
        fact(
            t("Operations"),
            view! {
                <span class="row">
                    {counts.operations}
                    {(counts.waiting != 0)
                        .then(|| view! { <a href=waiting>{count_badge(counts.waiting, t("waiting"), Tone::Note)}</a> })}
                    {count_badge(counts.gone, t("gone"), Tone::Plain)}
                </span>
            },
        ),
        fact(t("Chosen"), chosen),
        fact(t("From"), view! { <span class="break">{from}</span> }),
        fact(
            t("Address"),
            source
                .base_url
                .unwrap_or_else(|| t("as the description says").to_owned()),
        ),
        fact(t("Prefix"), source.prefix.unwrap_or_else(|| t("none").to_owned())),
        fact(
            t("Variables"),
            view! { <Tags names=variables none=t("their defaults") /> },
        ),
        fact(
            t("Credentials"),
            view! { <Tags names=credentials none=t("none") /> },
        ),
        fact(
            t("Imported"),
            view! {
                <TimeAgo at=import.imported_at />
                {tf!(" by {name}", name = import.imported_by)}
            },
        ),
        fact(
            t("First"),
            view! {
                <TimeAgo at=import.created_at />
                {tf!(" by {name}", name = import.created_by)}
            },
        ),
    ]);
    view! {
        <div class="columns import-about">
            <section class="panel" aria-label=t("About")>
                <h2>{t("About")}</h2>
                {lines}
            </section>
            <section class="panel stack-small" aria-label=t("Hosts")>
                <h2>{t("Hosts")}</h2>
                {hosts_view(project, &import.hosts, on_added)}
            </section>
        </div>
    }
    .into_any()
}

/// The operations, by the names of their tools; those that are still disabled can be enabled.
#[component]
fn Operations(project: Memo<String>, id: Memo<String>, may_edit: Memo<bool>) -> impl IntoView {
    let list = Paged::sized(
        move || in_project(&project.get(), &["imports", &id.get(), "operations"]),
        200,
    );
    Toasts::get().on_undo(move || list.reload());
    let cells: Cells = Arc::new(move |item: &Item| {
        let operation = item.read::<ImportOperation>();
        operation.map(|operation| row(&project.get_untracked(), operation))
    });
    let empty = || {
        view! {
            <EmptyState
                title=t("No operations")
                text=t("Nothing of this description became a tool. Import it again with another choice.")
            />
        }
    };
    let disabled = Memo::new(move |_| {
        list.items.with(|items| {
            let operations = items.iter().filter_map(Item::read::<ImportOperation>);
            let disabled = operations.filter(|operation| operation.enabled == Some(false));
            disabled.map(|operation| operation.tool).collect::<Vec<_>>()
        })
    });
    // It stays when the last tool is enabled: that one may be being tried.
    let is_needed = Memo::new(move |was: Option<&bool>| {
        let has_some = disabled.with(|disabled| !disabled.is_empty());
        may_edit.get() && (has_some || was.is_some_and(|was| *was))
    });
    let title = move || match disabled.with(Vec::len) {
        0 => t("Every tool is enabled").to_owned(),
        count => tf!(
            "Enable {tools}, and try them",
            tools = counted(count, "disabled tool")
        ),
    };
    view! {
        <List list what=t("operations") columns=[t("Operation"), t("Tool"), t("Status"), t("Edited here")] cells empty />
        <When test=move || is_needed.get()>
            <details class="settings-more">
                <summary>{title}</summary>
                <div class="stack">
                    <Next project tools=disabled on_changed=move |()| list.reload() />
                </div>
            </details>
        </When>
    }
}

fn row(project: &str, operation: ImportOperation) -> AnyView {
    let tool = if operation.enabled.is_some() {
        let href = Page::tool(project.to_owned(), operation.tool.clone()).path();
        view! { <a class="tool-name" data-row="" href=href>{operation.tool.clone()}</a> }.into_any()
    } else {
        view! { <span class="tool-name">{operation.tool.clone()}</span> }.into_any()
    };
    let enabled = match operation.enabled {
        Some(true) => view! { <Badge tone=Tone::Good text=t("enabled") /> },
        Some(false) => view! { <Badge text=t("disabled") /> },
        None => view! { <Badge text=t("deleted here") /> },
    };
    let waiting = operation.waiting_since.map(|at| {
        let path = Page::of_project(project.to_owned(), PageKind::Quarantine).path();
        let href = with_query(path, &[("tool", &operation.tool)]);
        view! { <a href=href>{t("change waiting, noticed ")} <TimeAgo at /></a> }
    });
    let gone = operation
        .gone_since
        .map(|at| view! { <span class="muted">{t("gone, noticed ")} <TimeAgo at /></span> });
    view! {
        <th scope="row" role="rowheader">
            {operation_name(&operation.method, &operation.path)}
        </th>
        <td role="cell" data-label=t("Tool")>{tool}</td>
        <td role="cell" data-label=t("Status")>
            <span class="row">{enabled} {waiting} {gone}</span>
        </td>
        <td role="cell" data-label=t("Edited here")>
            <Tags names=operation.edited none=t("nothing") />
        </td>
    }
    .into_any()
}

/// The button that removes the import; its tools stay.
#[component]
fn Removal(project: Memo<String>, id: Memo<String>, loaded: Loaded) -> impl IntoView {
    let asking = RwSignal::new(false);
    let action = Action::new();
    let navigator = Navigator::new();
    let toasts = Toasts::get();
    let waiting = Waiting::get();
    let confirm = move |()| {
        let (project, id) = (project.get_untracked(), id.get_untracked());
        let ask = Ask::delete(in_project(&project, &["imports", &id])).if_match(loaded.etag());
        action.send(ask, move |_| {
            asking.set(false);
            toasts.done(tf!("The import {id} was removed. Its tools stay.", id));
            waiting.reload();
            navigator.go(&Page::of_project(project, PageKind::Imports).path());
        });
    };
    view! {
        <div class="page-actions">
            <button type="button" class="button" on:click=move |_| asking.set(true)>
                {t("Remove")}
            </button>
        </div>
        <Confirm
            open=asking
            title=text(move || tf!("Remove the import {id}?", id = id.get()))
            verb=t("Remove the import")
            action
            on_confirm=confirm
        >
            <p>{t("Its tools stay as they are. What waits in the quarantine is dropped, and changes of the description are no longer noticed.")}</p>
        </Confirm>
    }
}
