//! The imports of a project.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::imports::{Import, ImportSource};

use super::badges::format_name;
use crate::api::in_project;
use crate::components::{Badge, Cells, EmptyState, List, SectionHead, Symbol, TimeAgo, Tone};
use crate::language::{t, tf};
use crate::paged::{Item, Paged};
use crate::reactive::When;
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::project_in_path;
use crate::words::counted;

/// All imports: what they are of, and what waits.
#[component]
pub(crate) fn ImportsPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let list = Paged::new(move || in_project(&project.get(), &["imports"]));
    let new = move || Page::of_project(project.get(), PageKind::NewImport).path();
    let may_import = move || session.may(&project.get(), Permission::EditDefinitions);
    let cells: Cells = Arc::new(move |item: &Item| {
        let import = item.read::<Import>();
        import.map(|import| row(&project.get_untracked(), import))
    });
    let empty = move || {
        view! {
            <EmptyState
                symbol=Symbol::Import
                title=t("No imports yet")
                text=t("A description of an API, as OpenAPI or Swagger, becomes tools: one for each operation that you choose. When the description changes later, the changes wait for approval.")
            >
                <When test=may_import>
                    <a class="button button-primary" href=new>
                        {t("Import a description")}
                    </a>
                </When>
            </EmptyState>
        }
    };
    view! {
        <SectionHead section=PageKind::Imports text=t("Descriptions of APIs whose operations are tools of this project.")>
            <When test=may_import>
                <a class="button button-primary" href=new>
                    {t("New import")}
                </a>
            </When>
        </SectionHead>
        <List list what=t("imports") columns=[t("Import"), t("Operations"), t("Hosts"), t("From"), t("Imported")] cells empty />
    }
}

fn row(project: &str, import: Import) -> AnyView {
    let href = Page::import(project.to_owned(), import.id.clone()).path();
    let closed = import.hosts.iter().filter(|host| !host.allowed).count();
    let hosts = counted(import.hosts.len(), "host");
    let from = came_from(project, import.source);
    view! {
        <th scope="row" role="rowheader">
            <a class="tool-name" data-row="" href=href>
                {import.id}
            </a>
            <span class="muted tool-description">
                {format!("{} {}, {}", import.title, import.version, format_name(import.format))}
            </span>
        </th>
        <td role="cell" data-label=t("Operations")>
            <span class="row">
                {import.counts.operations} {count_badge(import.counts.waiting, t("waiting"), Tone::Note)}
                {count_badge(import.counts.gone, t("gone"), Tone::Plain)}
            </span>
        </td>
        <td role="cell" data-label=t("Hosts")>
            <span class="row">{hosts} {count_badge(u32::try_from(closed).unwrap_or(u32::MAX), t("not allowed"), Tone::Bad)}</span>
        </td>
        <td role="cell" data-label=t("From")>
            <span class="break">{from}</span>
        </td>
        <td role="cell" data-label=t("Imported")>
            <span>
                <TimeAgo at=import.imported_at />
                {t(" by ")}
                {import.imported_by}
            </span>
        </td>
    }
    .into_any()
}

/// Where the description of an import came from.
pub(super) fn came_from(project: &str, source: ImportSource) -> AnyView {
    if let Some(server) = source.mcp_server {
        let href = Page::mcp_server(project.to_owned(), server.clone()).path();
        return view! { <a href=href>{tf!("MCP server {server}", server)}</a> }.into_any();
    }
    source
        .url
        .unwrap_or_else(|| t("sent as a text").to_owned())
        .into_any()
}

/// How many of something, when there are any.
pub(super) fn count_badge(count: u32, word: &str, tone: Tone) -> AnyView {
    let badge = (count != 0).then(|| view! { <Badge tone text=format!("{count} {word}") /> });
    badge.into_any()
}
