//! The columns of a list of records.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::audit::{AuditOutcome, AuditRecord};

use super::scope::Scope;
use crate::components::{Badge, Cells, TimeAgo, Tone, word};
use crate::paged::Item;

/// The headings of the columns.
pub(super) const COLUMNS: [&str; 5] = ["When", "What", "Who", "State", "Outcome"];

/// The same of the server's own record, which has no states.
pub(super) const SERVER_COLUMNS: [&str; 4] = ["When", "What", "Who", "Outcome"];

/// Records read at once: they fill a large window, and a drawer over them opens soon.
pub(super) const PAGE: usize = 30;

/// The cells of every item of a list; `open` shows a record whole.
pub(super) fn cells(scope: Scope, open: Callback<String>) -> Cells {
    let has_state = matches!(scope, Scope::Project(_));
    Arc::new(move |item: &Item| {
        item.read::<AuditRecord>()
            .map(|record| row(record, has_state, open))
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
pub(super) fn row(record: AuditRecord, has_state: bool, open: Callback<String>) -> AnyView {
    let id = record.id.to_string();
    let what = subject(&record);
    let moved = record
        .state_after
        .filter(|after| *after != record.state_before)
        .map_or_else(
            || record.state_before.clone(),
            |after| format!("{} → {after}", record.state_before),
        );
    let code = record.code.map(toolgate_api::ErrorCode::as_str);
    view! {
        <th scope="row" role="rowheader">
            <button type="button" class="fault-place" data-row="" on:click=move |_| open.run(id.clone())>
                <TimeAgo at=record.at />
            </button>
        </th>
        <td role="cell" data-label="What">
            <span class="muted">{word(&record.action)}</span>
            " "
            <span class="mono">{what}</span>
        </td>
        <td role="cell" data-label="Who">{record.principal_name}</td>
        {has_state
            .then(|| {
                view! {
                    <td role="cell" data-label="State" class="mono">
                        {moved}
                    </td>
                }
            })}
        <td role="cell" data-label="Outcome">
            <span class="row">
                <Badge tone=tone(record.outcome) text=word(&record.outcome) />
                {code.map(|code| view! { <code>{code}</code> })}
                {record.duration_ms.filter(|ms| *ms > 0).map(|ms| view! { <span class="muted">{format!("{ms} ms")}</span> })}
            </span>
        </td>
    }
    .into_any()
}
