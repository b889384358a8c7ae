//! What narrows the record. All of it is in the address.

use leptos::prelude::*;

use super::scope::Scope;
use crate::api::with_query;
use crate::components::{SearchBox, Select};
use crate::features::tools::Exact;
use crate::reactive::When;
use crate::url::UrlParam;

/// The parameters of the API that the page offers, by the same names.
const NAMES: [&str; 11] = [
    "q",
    "action",
    "outcome",
    "entrance",
    "code",
    "tool",
    "principal_name",
    "session_id",
    "requested_group",
    "client_name",
    "connection_id",
];

const ACTIONS: [(&str, &str); 19] = [
    ("", "Everything"),
    ("call", "Calls"),
    ("test", "Tests of drafts"),
    ("resolve", "Resolves"),
    ("explain", "Simulations"),
    ("replay", "Replays"),
    ("cancel", "Cancellations"),
    ("agent_request", "Agent requests"),
    ("mcp_read", "MCP reads"),
    ("session", "Sessions"),
    ("access", "Access changes"),
    ("definition", "Tool changes"),
    ("policy", "Policy changes"),
    ("settings", "Settings and limits"),
    ("secret", "Secrets"),
    ("alert", "Alerts"),
    ("project", "Projects"),
    ("import", "Imports"),
    ("export", "Exports"),
];

const OUTCOMES: [(&str, &str); 6] = [
    ("", "Any outcome"),
    ("succeeded", "Succeeded"),
    ("failed", "Failed"),
    ("denied", "Denied"),
    ("open", "Running"),
    ("interrupted", "Interrupted"),
];

const ENTRANCES: [(&str, &str); 8] = [
    ("", "Any entrance"),
    ("rest", "REST"),
    ("mcp", "MCP"),
    ("bus", "Message bus"),
    ("schedule", "Schedules"),
    ("action", "Actions"),
    ("agent", "Agents"),
    ("internal", "Server"),
];

/// The filters in the address.
#[derive(Clone, Copy)]
pub(super) struct RecordFilter {
    params: [UrlParam; 11],
}

impl RecordFilter {
    /// Of the page that is being built.
    pub(super) fn new() -> Self {
        Self {
            params: NAMES.map(UrlParam::new),
        }
    }

    /// The address of a view of the record under these filters, reactively.
    pub(super) fn address(self, path: String) -> String {
        let values = self.params.map(UrlParam::get);
        let query: Vec<(&str, &str)> = NAMES.into_iter().zip(values.iter().map(String::as_str)).collect();
        with_query(path, &query)
    }

    /// Whether anything is filtered, reactively.
    pub(super) fn is_set(self) -> bool {
        self.params.iter().any(|param| !param.get().is_empty())
    }

    fn clear(self) {
        for param in self.params {
            param.replace("");
        }
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
        entrance,
        code,
        tool,
        principal,
        session,
        group,
        client,
        connection,
    ] = filter.params;
    // The server's own record has no tools, groups and sessions.
    let is_of_project = matches!(scope, Scope::Project(_));
    // What narrows the record is in sight from the beginning.
    let is_open = [
        entrance, code, tool, principal, session, group, client, connection,
    ]
    .iter()
    .any(|param| !param.get_untracked().is_empty());
    let choices = |all: &[(&str, &str)]| {
        Signal::stored(
            all.iter()
                .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()))
                .collect::<Vec<_>>(),
        )
    };
    view! {
        <div class="filters">
            <SearchBox param=q name="Search the record" placeholder="Search words" />
            <Select
                id="filter-action"
                name="What was asked"
                value=action.signal()
                options=choices(&ACTIONS)
                on_change=move |chosen: String| action.push(&chosen)
            />
            <Select
                id="filter-outcome"
                name="Outcome"
                value=outcome.signal()
                options=choices(&OUTCOMES)
                on_change=move |chosen: String| outcome.push(&chosen)
            />
            <When test=move || filter.is_set()>
                <button type="button" class="button button-quiet" on:click=move |_| filter.clear()>
                    "Clear"
                </button>
            </When>
            <details class="filters-more" open=is_open>
                <summary class="button">"More filters"</summary>
                <div class="filters">
                    <div class="filters-field">
                        <label for="filter-entrance">"Entrance"</label>
                        <Select
                            id="filter-entrance"
                            name="Entrance"
                            value=entrance.signal()
                            options=choices(&ENTRANCES)
                            on_change=move |chosen: String| entrance.push(&chosen)
                        />
                    </div>
                    {is_of_project.then(|| view! { <Exact id="filter-tool" label="Tool" param=tool /> })}
                    {is_of_project.then(|| view! { <Exact id="filter-group" label="Group" param=group /> })}
                    {is_of_project.then(|| view! { <Exact id="filter-client" label="Client" param=client /> })}
                    <Exact id="filter-code" label="Code" param=code />
                    <Exact id="filter-principal" label="Who" param=principal />
                    {is_of_project.then(|| view! { <Exact id="filter-session" label="Session" param=session /> })}
                    {is_of_project.then(|| view! { <Exact id="filter-connection" label="Connection" param=connection /> })}
                </div>
            </details>
        </div>
    }
}
