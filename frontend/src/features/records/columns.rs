//! The columns of a list of records.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::audit::{AuditOutcome, AuditRecord};

use crate::components::{Badge, Cells, TimeAgo, Tone};
use crate::contract_words::contract_word;
use crate::language::{marked, t};
use crate::paged::Item;

/// A column: its word in the address and its heading.
pub(super) type Column = (&'static str, &'static str);

/// Every column but the first, which says when.
pub(super) const ALL: [Column; 10] = [
    ("what", marked("What")),
    ("who", marked("Who")),
    ("state", marked("State")),
    ("outcome", marked("Outcome")),
    ("duration", marked("Took")),
    ("groups", marked("Groups")),
    ("entrance", marked("Entrance")),
    ("address", marked("Address")),
    ("client", marked("Client")),
    ("session", marked("Session")),
];

/// Those that are shown when nothing else was chosen.
pub(super) const STANDARD: &str = "what,who,state,outcome";

/// The same of the server's own record, which has no states.
pub(super) const OF_SERVER: &str = "what,who,outcome";

/// The columns that a list of words names.
pub(super) fn named(words: &str) -> Vec<Column> {
    let is_named = |column: &Column| words.split(',').any(|word| word == column.0);
    ALL.into_iter().filter(is_named).collect()
}

/// The headings of columns, with that of the first.
pub(super) fn headings(columns: &[Column]) -> Vec<&'static str> {
    let rest = columns.iter().map(|(_, heading)| t(heading));
    std::iter::once(t("When")).chain(rest).collect()
}

/// Records read at once: they fill a large window, and a drawer over them opens soon.
pub(super) const PAGE: usize = 30;

/// The cells of every item of a list; `open` shows a record whole.
pub(super) fn cells(columns: Vec<Column>, open: Callback<String>) -> Cells {
    Arc::new(move |item: &Item| {
        item.read::<AuditRecord>()
            .map(|record| row(record, &columns, open))
    })
}

/// The tool of a record, or which change it is about.
fn subject(record: &AuditRecord) -> String {
    let change = || record.arguments.as_ref()?["change"].as_str();
    match (&record.tool, change()) {
        (Some(tool), _) => tool.clone(),
        (None, Some(change)) => change.replace('_', " "),
        (None, None) => String::new(),
    }
}

/// The colour of an outcome.
pub(crate) fn tone(outcome: AuditOutcome) -> Tone {
    match outcome {
        AuditOutcome::Succeeded => Tone::Good,
        AuditOutcome::Failed | AuditOutcome::Denied => Tone::Bad,
        AuditOutcome::Open => Tone::Accent,
        AuditOutcome::Interrupted => Tone::Note,
    }
}

/// The cells of a record.
pub(super) fn row(record: AuditRecord, columns: &[Column], open: Callback<String>) -> AnyView {
    let id = record.id.to_string();
    let cells: Vec<_> = columns
        .iter()
        .map(|(word, heading)| {
            view! {
                <td role="cell" data-label=t(heading)>
                    {cell(word, &record)}
                </td>
            }
        })
        .collect();
    view! {
        <th scope="row" role="rowheader">
            <button type="button" class="fault-place" data-row="" on:click=move |_| open.run(id.clone())>
                <TimeAgo at=record.at />
            </button>
        </th>
        {cells}
    }
    .into_any()
}

/// What a record says in a column.
fn cell(column: &str, record: &AuditRecord) -> AnyView {
    let mono = |text: String| view! { <span class="mono">{text}</span> }.into_any();
    match column {
        "what" => view! {
            <span class="muted">{contract_word(&record.action)}</span>
            " "
            <span class="mono">{subject(record)}</span>
        }
        .into_any(),
        "who" => record.principal_name.clone().into_any(),
        "state" => mono(moved(record)),
        "outcome" => outcome(record),
        "duration" => record.duration_ms.map(|ms| format!("{ms} ms")).into_any(),
        "groups" => mono(record.requested_groups.join(", ")),
        "entrance" => record
            .entrance
            .map(|entrance| contract_word(&entrance))
            .into_any(),
        "address" => mono(record.address.clone().unwrap_or_default()),
        "client" => record.client_name.clone().into_any(),
        "session" => mono(record.session_id.map(|id| id.to_string()).unwrap_or_default()),
        _ => ().into_any(),
    }
}

/// The state before, and the one after if it is another.
fn moved(record: &AuditRecord) -> String {
    let before = &record.state_before;
    match record.state_after.as_ref().filter(|after| *after != before) {
        Some(after) => format!("{before} → {after}"),
        None => before.clone(),
    }
}

fn outcome(record: &AuditRecord) -> AnyView {
    let code = record.code.map(toolgate_api::ErrorCode::as_str);
    view! {
        <span class="row">
            <Badge tone=tone(record.outcome) text=contract_word(&record.outcome) />
            {code.map(|code| view! { <code>{code}</code> })}
            {record.duration_ms.filter(|ms| *ms > 0).map(|ms| view! { <span class="muted">{format!("{ms} ms")}</span> })}
        </span>
    }
    .into_any()
}
