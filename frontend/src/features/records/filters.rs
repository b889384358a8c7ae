//! What narrows the record. All of it is in the address.

use leptos::prelude::*;

use toolgate_api::ErrorCode;

use super::scope::Scope;
use crate::api::{in_project, with_query};
use crate::candidates::{principal_ids, principal_names, user_ids, user_names};
use crate::components::{Choices, Pick, SearchBox, Select, Source, TimeRange, TimeRangePicker, same};
use crate::language::{marked, t};
use crate::reactive::When;
use crate::url::{Navigator, UrlParam};

/// The parameters of the API that the page offers, by the same names.
const NAMES: [&str; 17] = [
    "q",
    "action",
    "outcome",
    "principal_name",
    "entrance",
    "code",
    "tool",
    "session_id",
    "requested_group",
    "client_name",
    "connection_id",
    "state_before",
    "address",
    "min_duration_ms",
    "max_duration_ms",
    "principal_id",
    "request_id",
];

const ACTIONS: [(&str, &str); 19] = [
    ("", marked("Everything")),
    ("call", marked("Calls")),
    ("test", marked("Tests of drafts")),
    ("resolve", marked("Resolves")),
    ("explain", marked("Simulations")),
    ("replay", marked("Replays")),
    ("cancel", marked("Cancellations")),
    ("agent_request", marked("Agent requests")),
    ("mcp_read", marked("MCP reads")),
    ("session", marked("Sessions")),
    ("access", marked("Access changes")),
    ("definition", marked("Tool changes")),
    ("policy", marked("Policy changes")),
    ("settings", marked("Settings and limits")),
    ("secret", marked("Secrets")),
    ("alert", marked("Alerts")),
    ("project", marked("Projects")),
    ("import", marked("Imports")),
    ("export", marked("Exports")),
];

const OUTCOMES: [(&str, &str); 6] = [
    ("", marked("Any outcome")),
    ("succeeded", marked("Succeeded")),
    ("failed", marked("Failed")),
    ("denied", marked("Denied")),
    ("open", marked("Running")),
    ("interrupted", marked("Interrupted")),
];

const ENTRANCES: [(&str, &str); 8] = [
    ("", marked("Any entrance")),
    ("rest", "REST"),
    ("mcp", "MCP"),
    ("bus", marked("Message bus")),
    ("schedule", marked("Schedules")),
    ("action", marked("Actions")),
    ("agent", marked("Agents")),
    ("internal", marked("Server")),
];

/// The filters in the address.
#[derive(Clone, Copy)]
pub(super) struct RecordFilter {
    params: [UrlParam; 17],
    /// When it was decided.
    pub(super) range: TimeRange,
    navigator: Navigator,
}

impl RecordFilter {
    /// Of the page that is being built.
    pub(super) fn new() -> Self {
        Self {
            params: NAMES.map(UrlParam::new),
            range: TimeRange::new(""),
            navigator: Navigator::new(),
        }
    }

    /// The address of a view of the record under these filters, reactively.
    pub(super) fn address(self, path: String) -> String {
        let values = self.params.map(UrlParam::get);
        let query: Vec<(&str, &str)> = NAMES.into_iter().zip(values.iter().map(String::as_str)).collect();
        let [(since, from), (until, to)] = self.range.query();
        with_query(with_query(path, &query), &[(since, &from), (until, &to)])
    }

    /// The same filters as the query of the page, with the columns that are shown; empty without any.
    pub(super) fn kept(self, columns: &str) -> String {
        let values = self.params.map(UrlParam::get_untracked);
        let query = NAMES.into_iter().zip(values.iter().map(String::as_str));
        let range = self.range.kept();
        let rest = range.iter().map(|(name, value)| (*name, value.as_str()));
        let query: Vec<_> = query.chain(rest).chain([("columns", columns)]).collect();
        let path = with_query(String::new(), &query);
        path.strip_prefix('?').unwrap_or_default().to_owned()
    }

    /// Whether anything is filtered, reactively.
    pub(super) fn is_set(self) -> bool {
        self.params.iter().any(|param| !param.get().is_empty()) || !self.range.is_standard()
    }

    fn clear(self) {
        let none: Vec<_> = NAMES
            .into_iter()
            .chain(["from", "to"])
            .map(|name| (name, ""))
            .collect();
        self.navigator.set(&none, false);
    }
}

/// The controls.
#[component]
pub(super) fn Filters(
    /// What they change.
    filter: RecordFilter,
    /// Whose record is filtered.
    scope: Scope,
) -> impl IntoView {
    let [
        q,
        action,
        outcome,
        principal,
        entrance,
        code,
        tool,
        session,
        group,
        client,
        connection,
        state,
        address,
        least,
        most,
        principal_id,
        request,
    ] = filter.params;
    // The server's own record has no tools, groups and sessions.
    let is_of_project = matches!(scope, Scope::Project(_));
    // What narrows the record is in sight from the beginning.
    let is_open = filter.params[4..]
        .iter()
        .any(|param| !param.get_untracked().is_empty());
    let listed = move |part: &'static str| {
        Choices::names(move || match scope {
            Scope::Project(project) => in_project(&project.get(), &[part]) + "?limit=200",
            Scope::Server => String::new(),
        })
    };
    let (names, ids) = match scope {
        Scope::Project(project) => (principal_names(project), principal_ids(project)),
        Scope::Server => (user_names(), user_ids()),
    };
    let newest = move || scope.list() + "?limit=100";
    let addresses = Choices::of(vec![Source::new(newest, |record| same(&record["address"]))]);
    let clients = Choices::of(vec![Source::new(newest, |record| same(&record["client_name"]))]);
    let codes = Choices::fixed(ErrorCode::ALL.iter().map(|code| code.as_str()));
    let choices = |all: &[(&'static str, &'static str)]| {
        Signal::stored(
            all.iter()
                .map(|(key, text)| ((*key).to_owned(), t(text).to_owned()))
                .collect::<Vec<_>>(),
        )
    };
    view! {
        <div class="filters">
            <SearchBox param=q name=t("Search the record") placeholder=t("Search words") />
            <Select
                id="filter-action"
                name=t("What was asked")
                value=action.signal()
                options=choices(&ACTIONS)
                on_change=move |chosen: String| action.push(&chosen)
            />
            <Select
                id="filter-outcome"
                name=t("Outcome")
                value=outcome.signal()
                options=choices(&OUTCOMES)
                on_change=move |chosen: String| outcome.push(&chosen)
            />
            <Pick id="filter-principal" label=t("Who") param=principal choices=names />
            <TimeRangePicker range=filter.range />
            <When test=move || filter.is_set()>
                <button type="button" class="button button-quiet" on:click=move |_| filter.clear()>
                    {t("Clear")}
                </button>
            </When>
            <details class="filters-more" open=is_open>
                <summary class="button">{t("More filters")}</summary>
                <div class="filters">
                    <div class="filters-field">
                        <label for="filter-entrance">{t("Entrance")}</label>
                        <Select
                            id="filter-entrance"
                            name=t("Entrance")
                            value=entrance.signal()
                            options=choices(&ENTRANCES)
                            on_change=move |chosen: String| entrance.push(&chosen)
                        />
                    </div>
                    {is_of_project
                        .then(|| {
                            view! {
                                <Pick id="filter-tool" label=t("Tool") param=tool choices=listed("tools") />
                                <Pick id="filter-group" label=t("Group") param=group choices=listed("groups") />
                                <Pick id="filter-state" label=t("State") param=state choices=listed("states") />
                                <Pick id="filter-client" label=t("Client") param=client choices=clients />
                            }
                        })}
                    <Pick id="filter-code" label=t("Code") param=code choices=codes />
                    <Pick id="filter-principal-id" label=t("Principal's id") param=principal_id choices=ids />
                    <Pick id="filter-address" label=t("Address") param=address choices=addresses />
                    <Pick id="filter-least" label=t("At least ms") param=least kind="number" />
                    <Pick id="filter-most" label=t("At most ms") param=most kind="number" />
                    {is_of_project.then(|| view! { <Pick id="filter-session" label=t("Session") param=session /> })}
                    {is_of_project.then(|| view! { <Pick id="filter-connection" label=t("Connection") param=connection /> })}
                    <Pick id="filter-request" label=t("Request") param=request />
                </div>
            </details>
        </div>
    }
}
