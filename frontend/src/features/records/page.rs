//! The page of the record.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::audit::{AuditOutcome, AuditRecord};

use super::detail::RecordDetail;
use super::filters::{Filters, RecordFilter};
use super::integrity::Integrity;
use super::live::{LiveList, follow, following};
use super::tail::Tail;
use crate::components::{Badge, Cells, EmptyState, List, SectionHead, Symbol, TimeAgo, Tone, word};
use crate::paged::{Item, Paged};
use crate::reactive::part;
use crate::routes::Section;
use crate::url::{UrlParam, project_in_path};

/// The headings of the columns.
pub(super) const COLUMNS: [&str; 5] = ["When", "What", "Who", "State", "Outcome"];

/// Records read at once: they fill a large window, and a drawer over them opens soon.
const PAGE: usize = 30;

/// Every decision and call, newest first, or as they happen.
#[component]
pub(crate) fn RecordsPage() -> impl IntoView {
    let project = project_in_path();
    let filter = RecordFilter::new();
    let live = UrlParam::new("live");
    let chosen = UrlParam::new("record");
    let is_live = Signal::derive(move || live.get() == "1");
    let list = Paged::sized(move || filter.address(&project.get(), &["audit"]), PAGE);
    let tail = Tail::new(
        is_live,
        Memo::new(move |_| filter.address(&project.get(), &["audit", "stream"])),
    );
    // What came before the stream stood is in the list, and so is all of it once one no longer follows.
    Effect::new(move |before: Option<(bool, bool)>| {
        let now = (is_live.get(), tail.connected.get());
        let began = |before: (bool, bool)| !before.1 && now.1 && !tail.paused.get_untracked();
        if before.is_some_and(|before| began(before) || (before.0 && !now.0)) {
            list.reload();
        }
        now
    });
    let open = Callback::new(move |id: String| chosen.push(&id));
    let cells: Cells =
        Arc::new(move |item: &Item| item.read::<AuditRecord>().map(|record| row(record, open)));
    let export = move |format: &str| {
        let address = filter.address(&project.get(), &["audit", "export"]);
        let join = if address.contains('?') { '&' } else { '?' };
        format!("{address}{join}format={format}")
    };
    let empty = move || {
        view! {
            <EmptyState
                symbol=Symbol::Record
                title="Nothing recorded"
                text="Every call and every refusal appears here, as soon as the first one is made. With filters, only what matches them."
            />
        }
    };
    view! {
        <SectionHead section=Section::Records text="Every decision and every call, allowed or not, in a chain that shows tampering.">
            {part(move || if is_live.get() { following(tail, live) } else { follow(live) })}
            <a class="button" rel="external" download href=move || export("jsonl")>
                "JSONL"
            </a>
            <a class="button" rel="external" download href=move || export("csv")>
                "CSV"
            </a>
        </SectionHead>
        <Integrity project />
        <Filters filter />
        {move || {
            if is_live.get() {
                view! { <LiveList tail list open /> }.into_any()
            } else {
                view! { <List list what="records" columns=&COLUMNS cells=cells.clone() empty /> }
                    .into_any()
            }
        }}
        <RecordDetail project chosen />
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
pub(super) fn row(record: AuditRecord, open: Callback<String>) -> AnyView {
    let id = record.id.to_string();
    let what = record.tool.unwrap_or_default();
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
        <td role="cell" data-label="State" class="mono">
            {moved}
        </td>
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
