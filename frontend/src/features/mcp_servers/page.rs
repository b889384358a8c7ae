//! The page of one server: its definition, its connection, its tools, importing them, and its log.

use leptos::prelude::*;
use toolgate_api::mcp_servers::{
    McpChangePolicy, McpInstance, McpServer, McpServerDefinition, McpTransport, StoredMcpServer,
};

use super::account::{credentials, own_account};
use super::changing::{Changed, edit, import};
use super::connection::{connection_facts, target, transport_name, warnings_view};
use super::follow::follow;
use super::log::Log;
use super::removal::Removal;
use super::testing::{Testing, patience_ms};
use super::tools::Tools;
use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::components::{Breadcrumbs, PageHeading, Tabs, Tags, TimeAgo, Toasts, fact, facts};
use crate::language::{marked, t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, part};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::url::{Navigator, UrlParam, mcp_server_in_path, project_in_path};

const TOOLS: (&str, &str) = ("", marked("Tools"));
const IMPORT: (&str, &str) = ("import", marked("Import"));
const LOG: (&str, &str) = ("log", marked("Log"));
const DEFINITION: (&str, &str) = ("definition", marked("Edit"));

/// The views: importing is for those who edit definitions, changing the server for those who manage the project.
const fn views(is_stdio: bool, may_edit: bool, may_manage: bool) -> &'static [(&'static str, &'static str)] {
    match (is_stdio, may_edit, may_manage) {
        (true, _, true) => &[TOOLS, IMPORT, LOG, DEFINITION],
        (false, _, true) => &[TOOLS, IMPORT, DEFINITION],
        (true, true, false) => &[TOOLS, IMPORT, LOG],
        (false, true, false) => &[TOOLS, IMPORT],
        (true, false, false) => &[TOOLS, LOG],
        (false, false, false) => &[TOOLS],
    }
}

/// One server.
#[component]
pub(crate) fn McpServerPage() -> impl IntoView {
    let project = project_in_path();
    let name = mcp_server_in_path();
    let tab = UrlParam::new("tab");
    let session = Session::get();
    let may_edit = condition(move || session.may(&project.get(), Permission::EditDefinitions));
    let may_manage = condition(move || session.may(&project.get(), Permission::ManagePolicy));
    let loaded = Loaded::new(move || in_project(&project.get(), &["mcp-servers", &name.get()]));
    follow(loaded);
    let server = Memo::new(move |_| loaded.read::<McpServer>());
    // What is stored changes seldom; the connection is read again and again.
    let stored =
        Memo::new(move |_| server.with(|server| server.as_ref().map(|server| server.stored.clone())));
    let warnings = Memo::new(move |_| {
        server.with(|server| {
            server
                .as_ref()
                .map(|server| server.warnings.clone())
                .unwrap_or_default()
        })
    });
    let is_there = condition(move || loaded.is_there());
    let is_stdio = condition(move || {
        stored.with(|stored| {
            let definition = stored.as_ref().map(|stored| &stored.definition);
            definition.is_some_and(|definition| definition.transport() == McpTransport::Stdio)
        })
    });
    let awaits =
        condition(move || stored.with(|stored| stored.as_ref().is_some_and(|stored| stored.awaits_approval)));
    let definition =
        move || stored.with_untracked(|stored| stored.as_ref().map(|stored| stored.definition.clone()));
    let patience = move || patience_ms(definition().as_ref());
    let changed = Changed {
        project,
        name,
        on_done: Callback::new(move |()| loaded.reload()),
    };
    let shown = move || {
        let shown = tab.get();
        let choices = views(is_stdio.get(), may_edit.get(), may_manage.get());
        let known = choices.iter().find(|(key, _)| *key == shown);
        if !is_there.get() {
            return ().into_any();
        }
        match known.map_or("", |(key, _)| *key) {
            "import" => import(changed, Signal::derive(patience)),
            "log" => view! { <Log project name /> }.into_any(),
            "definition" => edit(changed, definition().unwrap_or_default(), loaded.etag()),
            _ => view! { <Tools project name may_edit /> }.into_any(),
        }
    };
    view! {
        <Breadcrumbs project section=PageKind::McpServers here=name />
        <div class="page-head">
            <div>
                <PageHeading text=name />
                {part(move || {
                    let description = stored.with(|stored| stored.as_ref()?.definition.description.clone());
                    description.map(|text| view! { <p class="muted break">{text}</p> }).into_any()
                })}
            </div>
            <When test=move || is_there.get() && may_edit.get()>
                <Actions project name may_manage awaits loaded patience=Signal::derive(patience) />
            </When>
        </div>
        {loaded.placeholder(t("the server"))}
        <div class="stack">
            {part(move || warnings.with(|warnings| warnings_view(warnings)))}
            <When test=move || is_there.get()>
                <div class="columns import-about">
                    <section class="panel" aria-label=t("Connection")>
                        <h2>{t("Connection")}</h2>
                        {part(move || server.with(|server| server.as_ref().map(connection_facts)).into_any())}
                    </section>
                    <section class="panel" aria-label=t("About")>
                        <h2>{t("About")}</h2>
                        {part(move || stored.with(|stored| stored.as_ref().map(|stored| about(&project.get_untracked(), stored))).into_any())}
                    </section>
                </div>
            </When>
        </div>
        <When test=move || is_there.get()>
            {part(move || {
                let choices = views(is_stdio.get(), may_edit.get(), may_manage.get());
                (choices.len() > 1).then(|| view! { <Tabs param=tab name=t("Views of the server") choices /> }).into_any()
            })}
        </When>
        {part(shown)}
    }
}

/// What is stored of it.
fn about(project: &str, stored: &StoredMcpServer) -> AnyView {
    let definition = &stored.definition;
    let is_stdio = definition.transport() == McpTransport::Stdio;
    let place = if is_stdio { t("Command") } else { t("Address") };
    let (what, values) = if is_stdio {
        (t("Environment"), &definition.env)
    } else {
        (t("Headers"), &definition.headers)
    };
    let values: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let credentials = credentials(definition);
    let account = match &definition.account {
        Some(provider) => own_account(project, provider.clone()),
        None if credentials.is_empty() => t("none: calls carry no credential").into_any(),
        None => tf!(
            "{credentials}; the same for every caller",
            credentials = credentials.join(", ")
        )
        .into_any(),
    };
    let network = is_stdio.then(|| {
        let text = if definition.network {
            t("asked for")
        } else {
            t("none")
        };
        fact(t("Network"), text)
    });
    let changed = match definition.on_change {
        McpChangePolicy::Serve => t("are called as approved"),
        McpChangePolicy::Refuse => t("are refused until approved"),
    };
    let connections = match definition.instance {
        McpInstance::Shared => t("shared by all callers"),
        McpInstance::Session => t("one for each session"),
    };
    facts(vec![
        fact(t("Transport"), transport_name(definition.transport())),
        fact(place, view! { <code class="break">{target(definition)}</code> }),
        fact(what, view! { <Tags names=values none=t("none") /> }),
        fact(t("Account"), account),
        network.into_any(),
        fact(t("Connections"), connections),
        fact(t("Bounds"), bounds(definition)),
        fact(t("Changed tools"), changed),
        fact(
            t("Changed"),
            view! {
                <TimeAgo at=stored.updated_at />
                {tf!(" by {who}, revision {revision}", who = stored.updated_by, revision = stored.revision)}
            },
        ),
    ])
}

/// Its bounds, where they are not the defaults.
fn bounds(definition: &McpServerDefinition) -> String {
    let parts = [
        definition.timeout_ms.map(|ms| tf!("time-out {ms} ms", ms)),
        definition
            .max_concurrent
            .map(|calls| tf!("{calls} calls at once", calls)),
        definition
            .max_instances
            .map(|instances| tf!("{instances} instances", instances)),
        definition.idle_stop_s.map(|s| match s {
            0 => t("never ended").to_owned(),
            s => tf!("ended after {s} s without a call", s),
        }),
        definition.refresh_s.map(|s| match s {
            0 => t("tools compared when it says that they changed").to_owned(),
            s => tf!("tools compared every {s} s", s),
        }),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        t("the defaults").to_owned()
    } else {
        parts.join(", ")
    }
}

/// Testing and deleting it.
#[component]
fn Actions(
    project: Memo<String>,
    name: Memo<String>,
    may_manage: Memo<bool>,
    /// Whether it was registered by a tool and waits for approval.
    awaits: Memo<bool>,
    loaded: Loaded,
    /// Milliseconds that the server may take to connect.
    patience: Signal<u32>,
) -> impl IntoView {
    let testing = Testing::new(project, move || loaded.reload());
    let removing = RwSignal::new(false);
    let approving = Action::new();
    let toasts = Toasts::get();
    let approve = move |_| {
        let name = name.get_untracked();
        let path = in_project(&project.get_untracked(), &["mcp-servers", &name, "approve"]);
        let ask = Ask::post(path, Body::None).if_match(loaded.etag());
        approving.send(ask, move |_| {
            toasts.done(tf!("{name} is approved, and is connected to.", name));
            loaded.reload();
        });
    };
    let navigator = Navigator::new();
    let leave =
        move |()| navigator.go(&Page::of_project(project.get_untracked(), PageKind::McpServers).path());
    view! {
        <div class="page-actions">
            <When test=move || may_manage.get() && awaits.get()>
                <button type="button" class="button button-primary" disabled=move || approving.busy.get() on:click=approve>
                    {t("Approve")}
                </button>
            </When>
            {part(move || testing.button(name.get(), "button", move || patience.get_untracked()))}
            <When test=move || may_manage.get()>
                <button type="button" class="button" on:click=move |_| removing.set(true)>
                    {t("Delete")}
                </button>
            </When>
        </div>
        {testing.outcome()}
        {approving.outcome()}
        <Removal project name open=removing on_done=leave />
    }
}
