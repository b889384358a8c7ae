//! The MCP clients that users have let in: one's own, or all of the project for those who manage keys.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::connections::{Connection, LimitConnection};

use crate::action::Action;
use crate::api::{Ask, Body, in_project};
use crate::browser::stamp;
use crate::components::{
    Cells, Confirm, EmptyState, Field, FormDialog, List, NameInput, NamesOf, SectionHead, Select, Symbol,
    Tags, TimeAgo, Toasts, row_actions,
};
use crate::paged::{Item, Paged};
use crate::reactive::{When, condition};
use crate::routes::{Page, PageKind};
use crate::url::project_in_path;

/// How the groups are limited.
const LIMITS: [(&str, &str); 2] = [
    ("chosen", "Only these groups"),
    ("held", "Every group that the user holds"),
];

/// All of them, newest first.
#[component]
pub(crate) fn ConnectionsPage() -> impl IntoView {
    let project = project_in_path();
    let list = Paged::new(move || in_project(&project.get(), &["connections"]));
    let chosen = RwSignal::new(None::<Connection>);
    let [asking, limiting] = [(); 2].map(|()| RwSignal::new(false));
    let (revoking, changing) = (Action::new(), Action::new());
    let (limit, groups) = (
        RwSignal::new(LIMITS[0].0.to_owned()),
        RwSignal::new(String::new()),
    );
    let is_chosen = condition(move || limit.with(|limit| limit == "chosen"));
    let toasts = Toasts::get();
    let path = move |connection: &Connection| {
        in_project(
            &project.get_untracked(),
            &["connections", &connection.id.to_string()],
        )
    };
    let revoke = move |()| {
        let Some(connection) = chosen.get_untracked() else {
            return;
        };
        revoking.send(Ask::delete(path(&connection)).if_match("*"), move |_| {
            asking.set(false);
            toasts.done(format!("{} is disconnected.", connection.client_name));
            list.reload();
        });
    };
    let change = move |()| {
        let Some(connection) = chosen.get_untracked() else {
            return;
        };
        let named = || {
            let groups = groups.get_untracked();
            let groups = groups.split(',').map(str::trim).filter(|group| !group.is_empty());
            groups.map(str::to_owned).collect()
        };
        let body = LimitConnection {
            groups: is_chosen.get_untracked().then(named),
        };
        let ask = Ask::put(path(&connection), Body::json(&body)).if_match("*");
        changing.send(ask, move |_| {
            limiting.set(false);
            toasts.done(format!("{} has other groups now.", connection.client_name));
            list.reload();
        });
    };
    let ask = Callback::new(move |connection: Connection| {
        revoking.error.set(None);
        chosen.set(Some(connection));
        asking.set(true);
    });
    let ask_limit = Callback::new(move |connection: Connection| {
        let kind = usize::from(connection.groups.is_none());
        limit.set(LIMITS[kind].0.to_owned());
        groups.set(connection.groups.clone().unwrap_or_default().join(", "));
        chosen.set(Some(connection));
        limiting.set(true);
    });
    let cells: Cells = Arc::new(move |item: &Item| {
        item.read::<Connection>()
            .map(|connection| row(&project.get_untracked(), connection, ask_limit, ask))
    });
    let empty = move || {
        view! {
            <EmptyState
                symbol=Symbol::Plug
                title="No clients yet"
                text="Add the address of the MCP endpoint to a client. It leads you to this dashboard, which asks before it lets the client in."
            >
                <a class="button button-primary" href=move || Page::of_project(project.get(), PageKind::Connect).path()>
                    "How to connect"
                </a>
            </EmptyState>
        }
    };
    let name = move || {
        chosen.with(|chosen| {
            chosen
                .as_ref()
                .map(|one| one.client_name.clone())
                .unwrap_or_default()
        })
    };
    let options = Signal::stored(
        LIMITS
            .map(|(key, text)| (key.to_owned(), text.to_owned()))
            .to_vec(),
    );
    view! {
        <SectionHead section=PageKind::Connections text="MCP clients that were let in without a key. They call tools for the user who let them in, and never more than that user may." />
        <List
            list
            what="connections"
            columns=&["Client", "User", "May ask for", "Connected", "Last token", "Actions"]
            cells
            empty
        />
        <Confirm
            open=asking
            title=Signal::derive(move || format!("Disconnect {}?", name()))
            verb="Disconnect"
            action=revoking
            on_confirm=revoke
        >
            <p>"Its tokens are worth nothing from now on. It can ask again."</p>
        </Confirm>
        <FormDialog
            open=limiting
            title=Signal::derive(move || format!("Groups of {}", name()))
            verb="Change"
            action=changing
            on_submit=change
        >
            <Field id="connection-limit" label="It may ask for">
                <Select
                    id="connection-limit"
                    value=limit
                    options
                    on_change=move |chosen| limit.set(chosen)
                />
            </Field>
            <When test=move || is_chosen.get()>
                <Field id="connection-groups" label="Groups" help="Separated by commas. Empty: none.">
                    <NameInput id="connection-groups" value=groups of=NamesOf::Groups many=true />
                </Field>
            </When>
        </FormDialog>
    }
}

fn row(
    project: &str,
    connection: Connection,
    limit: Callback<Connection>,
    revoke: Callback<Connection>,
) -> AnyView {
    let buttons = row_actions(
        &connection.client_name,
        &connection,
        [("Groups", limit), ("Disconnect", revoke)],
    );
    let records = Page::of_project(project.to_owned(), PageKind::Records).path()
        + "?connection_id="
        + &connection.id.to_string();
    let token = connection.refreshed_at.map(|at| view! { <TimeAgo at /> });
    let ends = connection.expires_at.map(|at| format!(" until {}", stamp(at)));
    let whole = connection
        .groups
        .is_none()
        .then(|| view! { <span class="muted">"all of the user's"</span> });
    view! {
        <th scope="row" role="rowheader">
            <span class="tool-name">{connection.client_name.clone()}</span>
            <span class="muted">{connection.redirect_host}</span>
        </th>
        <td role="cell" data-label="User">
            {connection.username}
        </td>
        <td role="cell" data-label="May ask for">
            <Tags names=connection.granted_groups none="none" />
            {whole}
        </td>
        <td role="cell" data-label="Connected">
            <span>
                <TimeAgo at=connection.created_at />
                {ends}
            </span>
        </td>
        <td role="cell" data-label="Last token">
            {token}
        </td>
        <td role="cell" data-label="Actions">
            <span class="row">
                <a class="button button-small" href=records aria-label=format!("Records: {}", connection.client_name)>
                    "Records"
                </a>
                {buttons}
            </span>
        </td>
    }
    .into_any()
}
