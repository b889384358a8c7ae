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
use crate::language::{marked, t, tf};
use crate::paged::{Item, Paged};
use crate::reactive::{When, condition};
use crate::routes::{Page, PageKind};
use crate::url::project_in_path;

/// How the groups are limited.
const LIMITS: [(&str, &str); 2] = [
    ("chosen", marked("Only these groups")),
    ("held", marked("Every group that the user holds")),
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
            toasts.done(tf!("{client} is disconnected.", client = connection.client_name));
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
            toasts.done(tf!(
                "{client} has other groups now.",
                client = connection.client_name
            ));
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
                title=t("No clients yet")
                text=t("Add the address of the MCP endpoint to a client. It leads you to this dashboard, which asks before it lets the client in.")
            >
                <a class="button button-primary" href=move || Page::of_project(project.get(), PageKind::Connect).path()>
                    {t("How to connect")}
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
            .map(|(key, text)| (key.to_owned(), t(text).to_owned()))
            .to_vec(),
    );
    view! {
        <SectionHead section=PageKind::Connections text=t("MCP clients that were let in without a key. They call tools for the user who let them in, and never more than that user may.") />
        <List
            list
            what=t("connections")
            columns=[
                t("Client"),
                t("User"),
                t("May ask for"),
                t("Connected"),
                t("Last token"),
                t("Actions"),
            ]
            cells
            empty
        />
        <Confirm
            open=asking
            title=Signal::derive(move || tf!("Disconnect {name}?", name = name()))
            verb=t("Disconnect")
            action=revoking
            on_confirm=revoke
        >
            <p>{t("Its tokens are worth nothing from now on. It can ask again.")}</p>
        </Confirm>
        <FormDialog
            open=limiting
            title=Signal::derive(move || tf!("Groups of {name}", name = name()))
            verb=t("Change")
            action=changing
            on_submit=change
        >
            <Field id="connection-limit" label=t("It may ask for")>
                <Select
                    id="connection-limit"
                    value=limit
                    options
                    on_change=move |chosen| limit.set(chosen)
                />
            </Field>
            <When test=move || is_chosen.get()>
                <Field id="connection-groups" label=t("Groups") help=t("Separated by commas. Empty: none.")>
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
        [(t("Groups"), limit), (t("Disconnect"), revoke)],
    );
    let records = Page::of_project(project.to_owned(), PageKind::Records).path()
        + "?connection_id="
        + &connection.id.to_string();
    let token = connection.refreshed_at.map(|at| view! { <TimeAgo at /> });
    let ends = connection
        .expires_at
        .map(|at| tf!(" until {time}", time = stamp(at)));
    let whole = connection
        .groups
        .is_none()
        .then(|| view! { <span class="muted">{t("all of the user's")}</span> });
    view! {
        <th scope="row" role="rowheader">
            <span class="tool-name">{connection.client_name.clone()}</span>
            <span class="muted">{connection.redirect_host}</span>
        </th>
        <td role="cell" data-label=t("User")>
            {connection.username}
        </td>
        <td role="cell" data-label=t("May ask for")>
            <Tags names=connection.granted_groups none=t("none") />
            {whole}
        </td>
        <td role="cell" data-label=t("Connected")>
            <span>
                <TimeAgo at=connection.created_at />
                {ends}
            </span>
        </td>
        <td role="cell" data-label=t("Last token")>
            {token}
        </td>
        <td role="cell" data-label=t("Actions")>
            <span class="row">
                <a class="button button-small" href=records aria-label=tf!("Records: {name}", name = connection.client_name)>
                    {t("Records")}
                </a>
                {buttons}
            </span>
        </td>
    }
    .into_any()
}
