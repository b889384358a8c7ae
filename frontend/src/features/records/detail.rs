//! One record, whole: what was asked, what was decided and why, and how it ended.

use leptos::prelude::*;
use toolgate_api::audit::{AuditAction, AuditRecord, StateSource};
use toolgate_api::json::Json;

use super::page::tone;
use crate::api::in_project;
use crate::browser::iso;
use crate::components::{Badge, Dialog, Placement, Tags, TimeAgo, fact, facts, json_block, word};
use crate::features::simulator::why;
use crate::loaded::Loaded;
use crate::reactive::{part, text_memo};
use crate::routes::{Page, Section};
use crate::url::UrlParam;

/// The drawer with the record that the address names.
#[component]
pub(super) fn RecordDetail(
    /// The project's id.
    project: Memo<String>,
    /// The record's id.
    chosen: UrlParam,
) -> impl IntoView {
    let open = chosen.drawer();
    let address = text_memo(move || match chosen.get() {
        id if id.is_empty() => String::new(),
        id => in_project(&project.get(), &["audit", &id]),
    });
    let loaded = Loaded::new(move || address.get());
    view! {
        <Dialog open title="Record" placement=Placement::Drawer>
            <div class="dialog-body">
                {loaded.placeholder("the record")}
                {part(move || loaded.read::<AuditRecord>().map(|record| content(&project.get(), record)).into_any())}
            </div>
        </Dialog>
    }
}

fn content(project: &str, record: AuditRecord) -> AnyView {
    let reason = why(project, &record);
    let mut lines = vec![
        fact(
            "Outcome",
            view! {
                <span class="row">
                    <Badge tone=tone(record.outcome) text=word(&record.outcome) />
                    {record.code.map(|code| view! { <code>{code.as_str()}</code> })}
                </span>
            },
        ),
        fact(
            "When",
            view! { <TimeAgo at=record.at /> " (" {iso(record.at)} ")" },
        ),
        fact("What", word(&record.action)),
    ];
    if let Some(tool) = record.tool {
        let href = Page::Tool(project.to_owned(), tool.clone()).path();
        let revision = record.revision.map(|revision| format!(" revision {revision}"));
        lines.push(fact(
            "Tool",
            view! { <a href=href class="mono">{tool}</a> {revision} },
        ));
    }
    lines.push(fact(
        "Who",
        format!("{} ({})", record.principal_name, word(&record.principal_kind)),
    ));
    lines.extend(record.address.map(|address| fact("From", address)));
    lines.push(fact(
        "Requested",
        view! { <Tags names=record.requested_groups /> },
    ));
    lines.push(fact("Granted", view! { <Tags names=record.granted_groups /> }));
    if !record.missing_groups.is_empty() {
        lines.push(fact("Missing", view! { <Tags names=record.missing_groups /> }));
    }
    let before = record.state_before;
    lines.push(match record.state_after {
        Some(after) if after == before => fact("State", after),
        after => {
            let after = after.unwrap_or_else(|| "(running)".to_owned());
            fact("State", format!("{before} → {after}"))
        }
    });
    lines.extend(record.state_from.map(|from| {
        let text = match from {
            StateSource::Session => "its session",
            StateSource::Request => "the request itself",
            StateSource::Default => "no one: neither a state nor a session was named",
        };
        fact("State from", text)
    }));
    if record.state_conflict {
        lines.push(fact(
            "Conflict",
            "The session moved meanwhile; the move was not applied.",
        ));
    }
    if let Some(session) = record.session_id {
        let href =
            Page::In(project.to_owned(), Section::Sessions).path() + "?session=" + &session.to_string();
        lines.push(fact(
            "Session",
            view! { <a href=href class="mono">{session.to_string()}</a> },
        ));
    }
    if matches!(
        record.action,
        AuditAction::Call | AuditAction::Resolve | AuditAction::AgentRequest
    ) {
        lines.push(fact("Decision", view! { <a href=reason>"Why?"</a> }));
    }
    lines.extend(record.duration_ms.map(|ms| fact("Took", format!("{ms} ms"))));
    lines.extend(record.artifact_id.map(|id| {
        let href = in_project(project, &["artifacts", &id.to_string()]);
        fact(
            "Kept whole as",
            view! { <a href=href download="">{id.to_string()}</a> },
        )
    }));
    lines.push(fact("Record", view! { <code>{record.id.to_string()}</code> }));
    lines.push(fact("Request", view! { <code>{record.request_id}</code> }));
    let hidden = record
        .payloads_hidden
        .then(|| view! { <p class="note">"Arguments, context and warnings are shown to auditors only."</p> });
    view! {
        {facts(lines)}
        {hidden}
        {record.arguments.map(|value| json_block("Arguments", &value))}
        {record.provenance.map(|value| json_block("Where each argument came from", &value))}
        {record.context.map(|value| json_block("Context", &value))}
        {record.usage.map(|value| json_block("Usage", &value))}
        {(!record.warnings.is_empty()).then(|| json_block("Warnings about the result", &record.warnings.write()))}
    }
    .into_any()
}
