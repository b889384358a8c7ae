//! Connecting MCP clients: their configuration to copy, and those that connected.

use leptos::prelude::*;
use toolgate_api::guides::{McpClient, McpClientList};

use super::clients::{self, CLIENTS};
use crate::api::in_project;
use crate::components::{
    CodeBlock, EmptyState, Field, NameInput, NamesOf, Select, Symbol, Tags, TimeAgo, table,
};
use crate::language::{marked, t};
use crate::loaded::Loaded;
use crate::reactive::{part, text};
use crate::session::{Permission, Session};
use crate::url::UrlParam;

/// How a client says who it is: the value of the choice, and its name.
const CREDENTIALS: [(&str, &str); 2] = [
    ("key", marked("With a key")),
    ("sign-in", marked("By signing in: the address only")),
];

/// Names that are separated by commas.
pub(super) fn names(text: &str) -> Vec<String> {
    let names = text.split(',').map(str::trim);
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The configuration of the chosen client.
pub(super) fn configure(project: Memo<String>, groups: RwSignal<String>) -> AnyView {
    let client = UrlParam::new("client");
    let credential = UrlParam::new("credential");
    let chosen = Memo::new(move |_| {
        let wanted = client.get();
        let found = CLIENTS.iter().find(|(key, ..)| *key == wanted);
        *found.unwrap_or(&CLIENTS[0])
    });
    let by_key = Memo::new(move |_| credential.get() != "sign-in");
    let url = text(move || clients::address(&project.get(), &groups.with(|text| names(text))));
    let configuration =
        text(move || clients::configuration(chosen.get().0, &project.get(), &url.get(), by_key.get()));
    let list = CLIENTS
        .iter()
        .map(|(key, name, _)| ((*key).to_owned(), (*name).to_owned()));
    let list = Signal::stored(list.collect::<Vec<_>>());
    let ways = CREDENTIALS
        .iter()
        .map(|(key, name)| ((*key).to_owned(), t(name).to_owned()));
    let ways = Signal::stored(ways.collect::<Vec<_>>());
    let way = text(move || {
        if by_key.get() {
            "key".to_owned()
        } else {
            "sign-in".to_owned()
        }
    });
    let caption = text(move || {
        let (_, name, place) = chosen.get();
        format!("{name}: {}", t(place))
    });
    view! {
        <div class="stack">
            <div class="columns">
                <Field id="mcp-client" label=t("Client")>
                    <Select
                        id="mcp-client"
                        value=text(move || chosen.get().0.to_owned())
                        options=list
                        on_change=move |key: String| client.push(&key)
                    />
                </Field>
                <Field id="mcp-credential" label=t("Credential")>
                    <Select
                        id="mcp-credential"
                        value=way
                        options=ways
                        on_change=move |key: String| credential.push(if key == "key" { "" } else { &key })
                    />
                </Field>
                <Field id="mcp-groups" label=t("Groups") help=t("Separated by commas; * for every group. Empty: default.")>
                    <NameInput id="mcp-groups" value=groups of=NamesOf::Groups many=true />
                </Field>
            </div>
            <CodeBlock caption=t("Address") text=url />
            <CodeBlock caption text=configuration />
            <p class="muted">
                {move || {
                    if by_key.get() {
                        t("The key stays in the variable TOOLGATE_KEY, or is asked for: it is not written into the configuration.")
                    } else {
                        t("The client opens a browser to sign in. Programs without one, such as curl, still send a key or an access token.")
                    }
                }}
            </p>
        </div>
    }
    .into_any()
}

/// The programs that connected.
pub(super) fn connected(project: Memo<String>) -> AnyView {
    let session = Session::get();
    let may_see = move || session.may(&project.get(), Permission::ReadAccess);
    let loaded = Loaded::new(move || {
        if may_see() {
            in_project(&project.get(), &["mcp-clients"])
        } else {
            String::new()
        }
    });
    part(move || {
        if !may_see() {
            return view! { <p class="note">{t("Owners and auditors of the project see which clients connected.")}</p> }
                .into_any();
        }
        let Some(list) = loaded.read::<McpClientList>() else {
            return loaded.placeholder(t("the clients"));
        };
        if list.items.is_empty() {
            return view! {
                <EmptyState
                    symbol=Symbol::Plug
                    title=t("No client has connected yet")
                    text=t("As soon as one has, its name, version, groups and last use are here.")
                />
            }
            .into_any();
        }
        let rows: Vec<_> = list.items.into_iter().map(row).collect();
        table(
            t("MCP clients"),
            &[
                t("Client"),
                t("Version"),
                t("As"),
                t("Groups now"),
                t("Last used"),
            ],
            rows,
        )
    })
}

fn row(client: McpClient) -> AnyView {
    let groups = match client.groups {
        Some(groups) => view! { <Tags names=groups none=t("none") /> }.into_any(),
        None => view! { <span class="muted">{t("no grant")}</span> }.into_any(),
    };
    view! {
        <tr role="row">
            <th scope="row" role="rowheader">{client.name}</th>
            <td role="cell" data-label=t("Version")>{client.version}</td>
            <td role="cell" data-label=t("As")>{client.principal_name.unwrap_or(client.principal)}</td>
            <td role="cell" data-label=t("Groups now")>{groups}</td>
            <td role="cell" data-label=t("Last used")><TimeAgo at=client.last_at /></td>
        </tr>
    }
    .into_any()
}
