//! The page of the record.

use std::sync::Arc;

use leptos::prelude::*;
use toolgate_api::audit::{AuditOutcome, AuditRecord};

use super::detail::RecordDetail;
use super::filters::{Filters, RecordFilter};
use super::integrity::Integrity;
use super::tail::Tail;
use crate::components::{Badge, Cells, EmptyState, Icon, List, SectionHead, Symbol, TimeAgo, Tone, word};
use crate::paged::{Item, Paged};
use crate::reactive::text_memo;
use crate::routes::Section;
use crate::url::{UrlParam, project_in_path};

/// Every decision and call, newest first, or as they happen.
#[component]
pub(crate) fn RecordsPage() -> impl IntoView {
    let project = project_in_path();
    let filter = RecordFilter::new();
    let live = UrlParam::new("live");
    let chosen = UrlParam::new("record");
    let is_live = Signal::derive(move || live.get() == "1");
    let address = text_memo(move || {
        if is_live.get() {
            String::new()
        } else {
            filter.address(&project.get(), &["audit"])
        }
    });
    let list = Paged::new(move || address.get());
    let tail = Tail::new(
        is_live,
        Memo::new(move |_| filter.address(&project.get(), &["audit", "stream"])),
    );
    let open = Callback::new(move |id: String| chosen.push(&id));
    let cells: Cells = Arc::new(move |item: &Item| {
        item.read::<AuditRecord>()
            .map(|record| row(record, open))
    });
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
    let live_rows = move || {
        tail.records
            .get()
            .into_iter()
            .map(|record| view! { <tr role="row">{row(record, open)}</tr> })
            .collect::<Vec<_>>()
    };
    view! {
        <SectionHead section=Section::Records text="Every decision and every call, allowed or not, in a chain that shows tampering.">
            <button
                type="button"
                class="button"
                aria-pressed=move || is_live.get().to_string()
                on:click=move |_| live.push(if is_live.get_untracked() { "" } else { "1" })
            >
                {move || {
                    let symbol = if is_live.get() { Symbol::Pause } else { Symbol::Play };
                    view! { <Icon symbol /> }
                }}
                {move || if is_live.get() { "Pause" } else { "Follow live" }}
            </button>
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
                view! {
                    <div class="stack">
                        <p class="row" role="status">
                            {move || {
                                if tail.connected.get() {
                                    view! { <Badge tone=Tone::Good text="live" /> }.into_any()
                                } else {
                                    view! { <Badge tone=Tone::Note text="connecting" /> }.into_any()
                                }
                            }}
                            <span class="muted">"New records appear at the top."</span>
                        </p>
                        <div class="table-wrap" hidden=move || tail.records.with(Vec::is_empty)>
                            <table class="table" role="table">
                                <caption class="visually-hidden">"Records as they are written"</caption>
                                <tbody role="rowgroup">{live_rows}</tbody>
                            </table>
                        </div>
                    </div>
                }
                    .into_any()
            } else {
                view! { <List list what="records" columns=&["When", "What", "Who", "State", "Outcome"] cells=cells.clone() empty /> }
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

fn row(record: AuditRecord, open: Callback<String>) -> AnyView {
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
