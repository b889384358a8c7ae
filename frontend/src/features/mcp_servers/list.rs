//! The MCP servers of a project, with their connections as they are now.

use leptos::prelude::*;
use toolgate_api::mcp_servers::{McpServer, McpServerList};

use super::add::Add;
use super::connection::{state_view, target, transport_name};
use super::follow::follow;
use super::removal::Removal;
use super::testing::{Testing, patience_ms};
use crate::api::{in_project, with_query};
use crate::components::{EmptyState, SectionHead, Symbol, table};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, part};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::{UrlParam, project_in_path};

/// All servers, or the page that adds some.
#[component]
pub(crate) fn McpServersPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let add = UrlParam::new("add");
    let is_adding = condition(move || !add.get().is_empty());
    let may_manage = condition(move || session.may(&project.get(), Permission::ManagePolicy));
    let all = move || Page::of_project(project.get(), PageKind::McpServers).path();
    let new = move || with_query(all(), &[("add", "1")]);
    let content = move || match (is_adding.get(), may_manage.get()) {
        (false, _) => view! { <Servers project new=new() /> }.into_any(),
        (true, true) => view! { <Add project /> }.into_any(),
        (true, false) => view! {
            <EmptyState
                symbol=Symbol::Lock
                title=t("Adding servers takes the role owner")
                text=t("Ask an owner of this project for it, or to add the server.")
            />
        }
        .into_any(),
    };
    view! {
        <SectionHead section=PageKind::McpServers text=t("Servers whose tools this project uses. They are called through the gateway, by the same rules as any other tool.")>
            <When test=move || may_manage.get() && !is_adding.get()>
                <a class="button button-primary" href=new>
                    {t("Add servers")}
                </a>
            </When>
            <When test=move || is_adding.get()>
                <a class="button" href=all>
                    {t("Show all servers")}
                </a>
            </When>
        </SectionHead>
        {part(content)}
    }
}

/// The list.
#[component]
fn Servers(
    /// The project's id.
    project: Memo<String>,
    /// The address of the page that adds servers.
    new: String,
) -> impl IntoView {
    let session = Session::get();
    let may_manage = condition(move || session.may(&project.get(), Permission::ManagePolicy));
    let may_edit = condition(move || session.may(&project.get(), Permission::EditDefinitions));
    let loaded = Loaded::new(move || in_project(&project.get(), &["mcp-servers"]));
    follow(loaded);
    let servers = Memo::new(move |_| loaded.read::<McpServerList>().map(|list| list.items));
    // The rows stay while what is in them changes, so that the focus stays too.
    let names = Memo::new(move |_| {
        servers.with(|servers| {
            let names = servers.iter().flatten();
            names.map(|server| server.stored.name.clone()).collect::<Vec<_>>()
        })
    });
    let is_empty = condition(move || servers.with(|servers| servers.as_ref().is_some_and(Vec::is_empty)));
    let has_rows = condition(move || names.with(|names| !names.is_empty()));
    let testing = Testing::new(project, move || loaded.reload());
    let removing = RwSignal::new(false);
    let removed = RwSignal::new(String::new());
    let row = move |name: String| {
        let of = name.clone();
        let server = Memo::new(move |_| {
            servers.with(|servers| {
                let mut servers = servers.iter().flatten();
                servers.find(|server| server.stored.name == of).cloned()
            })
        });
        let may = (may_edit.get_untracked(), may_manage.get_untracked());
        let delete = Callback::new(move |name| {
            removed.set(name);
            removing.set(true);
        });
        let buttons = buttons(&project.get_untracked(), &name, server, testing, may, delete);
        view! { <tr role="row">{row(project, name, server, buttons)}</tr> }
    };
    let mut columns = vec![t("Server"), t("Transport"), t("Connection"), t("Its tools")];
    if may_edit.get_untracked() {
        columns.push(t("Actions"));
    }
    let new = StoredValue::new(new);
    view! {
        {loaded.placeholder(t("the servers"))}
        {testing.outcome()}
        <When test=move || is_empty.get()>
            <EmptyState
                symbol=Symbol::Server
                title=t("No MCP servers yet")
                text=t("Add a server by its address or its command, or paste what an MCP client has in its settings. Its tools become tools of this project once you enable them.")
            >
                <When test=move || may_manage.get()>
                    <a class="button button-primary" href=new.get_value()>
                        {t("Add the first server")}
                    </a>
                </When>
            </EmptyState>
        </When>
        <When test=move || has_rows.get()>
            {table(
                t("MCP servers"),
                &columns,
                view! { <For each=move || names.get() key=Clone::clone children=row /> },
            )}
        </When>
        <Removal project name=removed open=removing on_done=move |()| loaded.reload() />
    }
}

fn row(project: Memo<String>, name: String, server: Memo<Option<McpServer>>, buttons: AnyView) -> AnyView {
    let href = Page::mcp_server(project.get_untracked(), name.clone()).path();
    let about = Memo::new(move |_| {
        server.with(|server| {
            let definition = &server.as_ref()?.stored.definition;
            Some((
                definition.description.clone().unwrap_or_default(),
                target(definition),
                transport_name(definition.transport()),
            ))
        })
    });
    let words = move || {
        let (description, target, _) = about.get().unwrap_or_default();
        view! {
            {(!description.is_empty()).then(|| view! { <p class="muted tool-description">{description}</p> })}
            <code class="muted break">{target}</code>
        }
        .into_any()
    };
    let tools = move || {
        server.with(|server| {
            let connection = server.as_ref().map(|server| &server.connection);
            match connection.and_then(|connection| connection.tools) {
                Some(count) => count.to_string().into_any(),
                None => view! { <span class="muted">{t("not known")}</span> }.into_any(),
            }
        })
    };
    view! {
        <th scope="row" role="rowheader">
            <a class="tool-name" data-row="" href=href>{name}</a>
            <div class="muted server-place">{part(words)}</div>
        </th>
        <td role="cell" data-label=t("Transport")>
            {move || about.get().map(|(_, _, transport)| transport)}
        </td>
        <td role="cell" data-label=t("Connection")>
            {part(move || server.with(|server| server.as_ref().map(state_view)).into_any())}
        </td>
        <td role="cell" data-label=t("Its tools")>{part(tools)}</td>
        {buttons}
    }
    .into_any()
}

/// What may be done with a server: those who edit definitions test it and import its tools, those who manage the project change it.
fn buttons(
    project: &str,
    name: &str,
    server: Memo<Option<McpServer>>,
    testing: Testing,
    (may_edit, may_manage): (bool, bool),
    delete: Callback<String>,
) -> AnyView {
    if !may_edit {
        return ().into_any();
    }
    let patience = move || {
        server.with_untracked(|server| patience_ms(server.as_ref().map(|one| &one.stored.definition)))
    };
    let page = Page::mcp_server(project.to_owned(), name.to_owned()).path();
    let link = |tab: &str, verb: &'static str, label: String| {
        let href = with_query(page.clone(), &[("tab", tab)]);
        view! {
            <a class="button button-small" aria-label=label href=href>
                {verb}
            </a>
        }
    };
    let deleted = name.to_owned();
    let managing = may_manage.then(|| {
        view! {
            {link("definition", t("Edit"), tf!("Edit {name}", name))}
            <button
                type="button"
                class="button button-small"
                aria-label=tf!("Delete {name}", name)
                on:click=move |_| delete.run(deleted.clone())
            >
                {t("Delete")}
            </button>
        }
    });
    view! {
        <td role="cell" data-label=t("Actions")>
            <span class="row">
                {testing.button(name.to_owned(), "button button-small", patience)} {link("import", t("Refresh"), tf!("Refresh {name}", name))} {managing}
            </span>
        </td>
    }
    .into_any()
}
