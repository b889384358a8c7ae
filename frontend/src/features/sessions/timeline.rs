//! What happened in a session: every call and refusal for those who read the record, the moves for everyone else.

use leptos::prelude::*;
use toolgate_api::audit::{AuditAction, AuditOutcome, AuditRecord};
use toolgate_api::sessions::SessionTransition;

use crate::components::{Badge, Icon, Symbol, TimeAgo, Tone};
use crate::contract_words::contract_word;
use crate::features::records::tone;
use crate::features::simulator::why;
use crate::language::t;
use crate::paged::{Item, Paged, Status};
use crate::reactive::{When, part};
use crate::routes::{Page, PageKind};

/// The timeline of a list of records or of transitions.
pub(super) fn timeline(project: Memo<String>, list: Paged, of_records: Memo<bool>) -> AnyView {
    let rows = move || {
        let project = project.get();
        let row: fn(&str, &Item) -> Option<AnyView> = if of_records.get() { entry } else { transition };
        let rows: Vec<_> = list
            .items
            .with(|items| items.iter().filter_map(|item| row(&project, item)).collect());
        if rows.is_empty() && list.status.get() == Status::Ready {
            return view! { <p class="muted">{t("Nothing has happened in it yet.")}</p> }.into_any();
        }
        view! { <ol class="timeline">{rows}</ol> }.into_any()
    };
    view! {
        {part(rows)}
        <When test=move || list.has_more()>
            <button type="button" class="button button-small" on:click=move |_| list.more()>
                {t("Show more")}
            </button>
        </When>
    }
    .into_any()
}

fn record_path(project: &str, id: &str) -> String {
    Page::of_project(project.to_owned(), PageKind::Records).path() + "?record=" + id
}

/// The states before and after.
fn moved(from: String, to: String) -> AnyView {
    view! {
        <span class="row">
            <span class="tag">{from}</span>
            <Icon symbol=Symbol::Arrow />
            <span class="tag tag-accent">{to}</span>
        </span>
    }
    .into_any()
}

fn entry(project: &str, item: &Item) -> Option<AnyView> {
    let record = item.read::<AuditRecord>()?;
    if !matches!(
        record.action,
        AuditAction::Call | AuditAction::Session | AuditAction::AgentRequest | AuditAction::McpRead
    ) {
        return None;
    }
    let href = record_path(project, &record.id.to_string());
    let reason = (record.outcome == AuditOutcome::Denied).then(|| why(project, &record));
    let conflict = record.state_conflict;
    let what = record
        .tool
        .clone()
        .unwrap_or_else(|| contract_word(&record.action));
    let to = record.state_after.filter(|after| *after != record.state_before);
    let view = view! {
        <li>
            <span class="row">
                <a class="mono" href=href>
                    {what}
                </a>
                <Badge tone=tone(record.outcome) text=contract_word(&record.outcome) />
                {record.code.map(|code| view! { <code>{code.as_str()}</code> })}
                {reason.map(|href| view! { <a href=href>{t("Why?")}</a> })}
            </span>
            {to.map(|to| moved(record.state_before, to))}
            {conflict.then(|| view! { <Badge tone=Tone::Note text=t("the session had moved meanwhile") /> })}
            <span class="muted">
                <TimeAgo at=record.at />
                {record.duration_ms.map(|ms| format!(", {ms} ms"))}
            </span>
        </li>
    };
    Some(view.into_any())
}

fn transition(project: &str, item: &Item) -> Option<AnyView> {
    let step = item.read::<SessionTransition>()?;
    let href = record_path(project, &step.call_id.to_string());
    let view = view! {
        <li>
            {moved(step.from, step.to)}
            <span class="muted">
                {t("by ")}
                <a href=href class="mono">
                    {step.tool}
                </a>
                ", "
                <TimeAgo at=step.at />
            </span>
        </li>
    };
    Some(view.into_any())
}
