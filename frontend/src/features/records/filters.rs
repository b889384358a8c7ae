//! What narrows the record. All of it is in the address.

use leptos::prelude::*;

use crate::api::{in_project, with_query};
use crate::components::{SearchBox, Select};
use crate::features::tools::Exact;
use crate::reactive::When;
use crate::url::UrlParam;

/// The parameters of the API that the page offers, by the same names.
const NAMES: [&str; 8] = [
    "q",
    "action",
    "outcome",
    "code",
    "tool",
    "principal_name",
    "session_id",
    "requested_group",
];

const ACTIONS: [(&str, &str); 16] = [
    ("", "Everything"),
    ("call", "Calls"),
    ("resolve", "Resolves"),
    ("explain", "Simulations"),
    ("replay", "Replays"),
    ("agent_request", "Agent requests"),
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

/// The filters in the address.
#[derive(Clone, Copy)]
pub(super) struct RecordFilter {
    params: [UrlParam; 8],
}

impl RecordFilter {
    /// Of the page that is being built.
    pub(super) fn new() -> Self {
        Self {
            params: NAMES.map(UrlParam::new),
        }
    }

    /// The address of a view of the record under these filters, reactively.
    pub(super) fn address(self, project: &str, parts: &[&str]) -> String {
        let values = self.params.map(UrlParam::get);
        let query: Vec<(&str, &str)> = NAMES.into_iter().zip(values.iter().map(String::as_str)).collect();
        with_query(in_project(project, parts), &query)
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
) -> impl IntoView {
    let [q, action, outcome, code, tool, principal, session, group] = filter.params;
    // What narrows the record is in sight from the beginning.
    let is_open = [code, tool, principal, session, group]
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
                    <Exact id="filter-tool" label="Tool" param=tool />
                    <Exact id="filter-group" label="Group" param=group />
                    <Exact id="filter-code" label="Code" param=code />
                    <Exact id="filter-principal" label="Who" param=principal />
                    <Exact id="filter-session" label="Session" param=session />
                </div>
            </details>
        </div>
    }
}
