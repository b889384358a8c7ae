//! The tools of the project that a server executes.

use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::imports::ImportOperation;
use toolgate_api::tools::Tool;

use crate::api::{in_project, with_query};
use crate::components::{Badge, Cells, EmptyState, List, Symbol, Tags, TimeAgo, Toasts, Tone};
use crate::features::imports::Next;
use crate::language::{t, tf};
use crate::paged::{Item, Paged, Status};
use crate::reactive::{When, condition, effect, part};
use crate::routes::{Page, PageKind};
use crate::words::counted;

/// Items of a page: the most that the API takes.
const SIZE: usize = 200;

/// What the import knows of each tool, by its name.
type Imported = Memo<BTreeMap<String, ImportOperation>>;

/// The tools, whether they may be called, and what waits; those that are disabled can be enabled.
#[component]
pub(super) fn Tools(
    /// The project's id.
    project: Memo<String>,
    /// The server's name.
    name: Memo<String>,
    /// Whether definitions may be changed.
    may_edit: Memo<bool>,
) -> impl IntoView {
    let list = Paged::sized(
        move || {
            let source = format!("mcp:{}", name.get());
            with_query(in_project(&project.get(), &["tools"]), &[("source", &source)])
        },
        SIZE,
    );
    let has_tools = condition(move || !list.is_empty());
    // A server whose tools were never imported has no import.
    let operations = Paged::sized(
        move || {
            if has_tools.get() {
                in_project(&project.get(), &["imports", &name.get(), "operations"])
            } else {
                String::new()
            }
        },
        SIZE,
    );
    effect(move || {
        if operations.status.get() == Status::Ready && operations.has_more() {
            operations.more();
        }
    });
    let imported: Imported = Memo::new(move |_| {
        operations.items.with(|items| {
            let read = items.iter().filter_map(Item::read::<ImportOperation>);
            read.map(|operation| (operation.tool.clone(), operation))
                .collect()
        })
    });
    let reload = move || {
        list.reload();
        operations.reload();
    };
    Toasts::get().on_undo(reload);
    let cells: Cells = Arc::new(move |item: &Item| {
        let tool = item.read::<Tool>()?;
        Some(row(&project.get_untracked(), tool, imported))
    });
    let import = move || {
        with_query(
            Page::mcp_server(project.get(), name.get()).path(),
            &[("tab", "import")],
        )
    };
    let empty = move || {
        view! {
            <EmptyState
                symbol=Symbol::Tool
                title=t("No tools of it yet")
                text=t("Importing makes tools of what the server lists. They are disabled until an editor enables them.")
            >
                <When test=move || may_edit.get()>
                    <a class="button button-primary" href=import>
                        {t("Import its tools")}
                    </a>
                </When>
            </EmptyState>
        }
    };
    let disabled = Memo::new(move |_| {
        list.items.with(|items| {
            let tools = items.iter().filter_map(Item::read::<Tool>);
            tools
                .filter(|tool| !tool.enabled)
                .map(|tool| tool.name)
                .collect::<Vec<_>>()
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
        <List list what=t("tools") columns=[t("Tool"), t("At the server"), t("Status"), t("Groups")] cells empty />
        <When test=move || is_needed.get()>
            <details class="settings-more">
                <summary>{title}</summary>
                <div class="stack">
                    <Next project tools=disabled on_changed=move |()| reload() />
                </div>
            </details>
        </When>
    }
}

fn row(project: &str, tool: Tool, imported: Imported) -> AnyView {
    let href = Page::tool(project.to_owned(), tool.name.clone()).path();
    let inbox = with_query(
        Page::of_project(project.to_owned(), PageKind::Quarantine).path(),
        &[("tool", &tool.name)],
    );
    let (status, original) = (tool.name.clone(), tool.name.clone());
    let enabled = if tool.enabled {
        view! { <Badge tone=Tone::Good text=t("enabled") /> }
    } else {
        view! { <Badge text=t("disabled") /> }
    };
    let waits = move || {
        let inbox = inbox.clone();
        imported.with(|imported| {
            let Some(operation) = imported.get(&status) else {
                return ().into_any();
            };
            let waiting = operation
                .waiting_since
                .map(|at| view! { <a href=inbox>{t("change waiting, noticed ")} <TimeAgo at /></a> });
            let gone = operation
                .gone_since
                .map(|at| view! { <span class="muted">{t("not listed by the server any more, noticed ")} <TimeAgo at /></span> });
            view! {
                {waiting}
                {gone}
            }
            .into_any()
        })
    };
    let original = move || {
        imported.with(|imported| {
            let operation = imported.get(&original);
            operation.map(|operation| operation.path.clone())
        })
    };
    view! {
        <th scope="row" role="rowheader">
            <a class="tool-name" data-row="" href=href>{tool.name}</a>
            <span class="muted tool-description">{tool.description}</span>
        </th>
        <td role="cell" data-label=t("At the server")>
            <code class="break">{original}</code>
        </td>
        <td role="cell" data-label=t("Status")>
            <span class="row">{enabled} {part(waits)}</span>
        </td>
        <td role="cell" data-label=t("Groups")>
            <Tags names=tool.group none=t("none") />
        </td>
    }
    .into_any()
}
