//! One record, whole: what was asked, what was decided and why, and how it ended.

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{
    AuditAction, AuditConnection, AuditFailure, AuditQuestion, AuditRecord, QuestionMode, StateSource,
};
use toolgate_api::explain::{ExplainRequest, ExplainResponse};

use super::columns::tone;
use super::scope::Scope;
use crate::action::Action;
use crate::api::{Ask, Body, in_project, json_of, object, with_query};
use crate::browser::iso;
use crate::components::{Badge, CodeBlock, Dialog, Placement, Tags, TimeAgo, fact, facts, json_block, word};
use crate::contract_words::contract_word;
use crate::features::simulator::why;
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{part, text_memo};
use crate::remedies::{Refusal, remedies};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session};
use crate::snippets;
use crate::url::UrlParam;

/// The drawer with the record that the address names.
#[component]
pub(super) fn RecordDetail(
    /// Whose record it is.
    scope: Scope,
    /// The record's id.
    chosen: UrlParam,
) -> impl IntoView {
    let open = chosen.drawer();
    let address = text_memo(move || match chosen.get() {
        id if id.is_empty() => String::new(),
        id => scope.record(&id),
    });
    let loaded = Loaded::new(move || address.get());
    view! {
        <Dialog open title=t("Record") placement=Placement::Drawer>
            <div class="dialog-body">
                {loaded.placeholder(t("the record"))}
                {part(move || match scope.read(loaded) {
                    Some(record) => content(&scope.project(), record),
                    None if loaded.is_there() && loaded.error.with(Option::is_none) => view! { <p class="note">{t("There is no such record.")}</p> }.into_any(),
                    None => ().into_any(),
                })}
            </div>
        </Dialog>
    }
}

fn content(project: &str, record: AuditRecord) -> AnyView {
    let reason = why(project, &record);
    let actions = actions(project, &record);
    let mut lines = vec![
        fact(
            t("Outcome"),
            view! {
                <span class="row">
                    <Badge tone=tone(record.outcome) text=contract_word(&record.outcome) />
                    {record.code.map(|code| view! { <code>{code.as_str()}</code> })}
                </span>
            },
        ),
        fact(
            t("When"),
            view! { <TimeAgo at=record.at /> " (" {iso(record.at)} ")" },
        ),
        fact(t("What"), contract_word(&record.action)),
    ];
    if let Some(tool) = record.tool.clone() {
        let href = Page::tool(project.to_owned(), tool.clone()).path();
        let revision = record
            .revision
            .map(|revision| tf!(" revision {revision}", revision));
        lines.push(fact(
            t("Tool"),
            view! { <a href=href class="mono">{tool}</a> {revision} },
        ));
    }
    lines.push(fact(
        t("Who"),
        format!(
            "{} ({})",
            record.principal_name,
            contract_word(&record.principal_kind)
        ),
    ));
    lines.extend(
        record
            .connection
            .clone()
            .map(|connection| fact(t("By the client"), by_client(project, connection))),
    );
    lines.extend(record.account.clone().map(|account| {
        let label = account.label.map(|label| format!(": {label}"));
        fact(
            t("With the account at"),
            view! { <span class="break">{account.provider} {label}</span> },
        )
    }));
    lines.extend(record.address.clone().map(|address| fact(t("From"), address)));
    lines.extend(
        record
            .entrance
            .map(|entrance| fact(t("Entrance"), contract_word(&entrance))),
    );
    let client = record
        .client_name
        .as_ref()
        .map(|name| match &record.client_version {
            Some(version) => format!("{name} {version}"),
            None => name.clone(),
        });
    lines.extend(client.map(|client| fact(t("Client"), client)));
    // The server's own record has no groups and no states.
    if !project.is_empty() {
        lines.extend(groups_and_state(&record));
    }
    if let Some(session) = record.session_id {
        let href = Page::of_project(project.to_owned(), PageKind::Sessions).path()
            + "?session="
            + &session.to_string();
        lines.push(fact(
            t("Session"),
            view! { <a href=href class="mono">{session.to_string()}</a> },
        ));
    }
    if matches!(
        record.action,
        AuditAction::Call | AuditAction::Resolve | AuditAction::AgentRequest
    ) {
        lines.push(fact(t("Decision"), view! { <a href=reason>{t("Why?")}</a> }));
    }
    lines.extend(lifted_by(project, &record).map(|remedy| fact(t("Remedy"), remedy)));
    lines.extend(record.failure.and_then(failure));
    lines.extend(record.duration_ms.map(|ms| fact(t("Took"), format!("{ms} ms"))));
    lines.extend(record.deferred_until.map(|until| {
        fact(
            t("Waits for its answer until"),
            view! { <TimeAgo at=until /> " (" {iso(until)} ")" },
        )
    }));
    lines.extend(
        record
            .after_execution
            .map(|after| fact(t("What the caller's turn does next"), contract_word(&after))),
    );
    lines.extend(
        (!record.questions.is_empty())
            .then(|| fact(t("Questions to the caller"), questions(&record.questions))),
    );
    lines.extend(record.artifact_id.map(|id| {
        let href = in_project(project, &["artifacts", &id.to_string()]);
        fact(
            t("Kept whole as"),
            view! { <a href=href download="">{id.to_string()}</a> },
        )
    }));
    lines.push(fact(t("Record"), view! { <code>{record.id.to_string()}</code> }));
    lines.push(fact(t("Request"), view! { <code>{record.request_id}</code> }));
    let hidden = record.payloads_hidden.then(
        || view! { <p class="note">{t("Arguments, context and warnings are shown to auditors only.")}</p> },
    );
    view! {
        {facts(lines)}
        {actions}
        {hidden}
        {record.arguments.map(|value| json_block(t("Arguments"), &value))}
        {record.provenance.map(|value| json_block(t("Where each argument came from"), &value))}
        {(!record.coercions.is_empty()).then(|| json_block(t("Read otherwise than sent"), &json_of(&record.coercions)))}
        {record.context.map(|value| json_block(t("Context"), &value))}
        {record.usage.map(|value| json_block(t("Usage"), &value))}
        {(!record.warnings.is_empty()).then(|| json_block(t("Warnings about the result"), &json_of(&record.warnings)))}
    }
    .into_any()
}

/// The connection that a client acted by, with the way to all that it did.
fn by_client(project: &str, connection: AuditConnection) -> AnyView {
    let href = Page::of_project(project.to_owned(), PageKind::Records).path()
        + "?connection_id="
        + &connection.id.to_string();
    view! { <a href=href>{connection.client_name}</a> }.into_any()
}

/// Why it failed: the message, or where that is hidden, the upstream and its status.
fn failure(failure: AuditFailure) -> Option<AnyView> {
    let status = failure.upstream_status.map(|status| format!("HTTP {status}"));
    let text: Vec<_> = [failure.upstream, status, failure.message]
        .into_iter()
        .flatten()
        .collect();
    (!text.is_empty()).then(|| fact(t("Failure"), text.join(" · ")))
}

/// How the upstream asked the caller during the call, and what came of each question.
fn questions(all: &[AuditQuestion]) -> String {
    let one = |question: &AuditQuestion| {
        let mode = match question.mode {
            QuestionMode::Form => t("a form"),
            QuestionMode::Url => t("a page to visit"),
        };
        format!("{mode}: {}", contract_word(&question.outcome))
    };
    all.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// What to do with a record: find those like it, and make the same call again.
fn actions(project: &str, record: &AuditRecord) -> AnyView {
    let kind = if project.is_empty() {
        PageKind::ServerRecords
    } else {
        PageKind::Records
    };
    let path = Page::of_project(project.to_owned(), kind).path();
    let (action, outcome) = (word(&record.action), word(&record.outcome));
    let code = record.code.map_or("", ErrorCode::as_str);
    let tool = record.tool.as_deref().unwrap_or_default();
    let alike = with_query(
        path,
        &[
            ("action", &action),
            ("outcome", &outcome),
            ("tool", tool),
            ("code", code),
        ],
    );
    let is_call = record.action == AuditAction::Call && !record.payloads_hidden;
    let curl = is_call.then(|| {
        let body = object(vec![
            ("tool", tool.into()),
            ("arguments", from_caller(record)),
            (
                "group",
                record.requested_groups.iter().map(String::as_str).collect(),
            ),
            ("state", record.state_before.as_str().into()),
        ]);
        let text = snippets::call(project, &body.to_string());
        view! {
            <details>
                <summary>{t("The same call with curl")}</summary>
                <CodeBlock caption=t("The call, with a token in TOOLGATE_TOKEN") text />
            </details>
        }
    });
    view! {
        <p>
            <a class="button button-small" href=alike>{t("More like this")}</a>
        </p>
        {curl}
    }
    .into_any()
}

/// The arguments of a call that its caller gave.
fn from_caller(record: &AuditRecord) -> Value {
    let given = |name: &str| {
        let layer = record.provenance.as_ref().map(|layers| &layers[name]);
        layer.is_none_or(|layer| layer.is_null() || layer == "caller")
    };
    let arguments = record
        .arguments
        .as_ref()
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let kept = arguments.filter(|(name, _)| given(name));
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// What lifts the refusal or failure of a call. Where the record does not name it, the same call is explained as it would
/// be decided now.
fn lifted_by(project: &str, record: &AuditRecord) -> Option<AnyView> {
    if project.is_empty() || record.action != AuditAction::Call {
        return None;
    }
    let code = record.code?;
    let principal = format!("{}:{}", word(&record.principal_kind), record.principal_id);
    let refusal = Refusal {
        project: project.to_owned(),
        code: Some(code),
        principal: principal.clone(),
        tool: record.tool.clone().unwrap_or_default(),
        state: record.state_before.clone(),
        missing_groups: record.missing_groups.clone(),
        ..Refusal::default()
    };
    match code {
        ErrorCode::EgressDenied
        | ErrorCode::ToolUnavailable
        | ErrorCode::ToolNotInState
        | ErrorCode::GroupClosed => {}
        ErrorCode::InsufficientToolGroups
        | ErrorCode::ToolNotInGroups
        | ErrorCode::ToolDisabled
        | ErrorCode::SessionRequired
        | ErrorCode::RateLimited
        | ErrorCode::ConcurrencyLimited => return Some(remedies(&refusal, None)),
        _ => return None,
    }
    // Only these roles may ask about others.
    let session = Session::get();
    if !untrack(|| session.may(project, Permission::ReadAccess)) {
        return None;
    }
    let question = ExplainRequest {
        tool: record.tool.clone(),
        principal: Some(principal),
        group: Some(record.requested_groups.clone()),
        state: Some(record.state_before.clone()),
        assume_session: record.state_from == Some(StateSource::Session),
        ..ExplainRequest::default()
    };
    Some(explained(refusal, question))
}

/// A button that asks what lifts a refusal, and then the answer.
fn explained(refusal: Refusal, question: ExplainRequest) -> AnyView {
    let action = Action::new();
    let found = RwSignal::new(None::<Option<Refusal>>);
    let refusal = StoredValue::new(refusal);
    let ask = move |()| {
        let path = refusal.with_value(|refusal| in_project(&refusal.project, &["explain"]));
        action.send(Ask::post(path, Body::json(&question)), move |answer| {
            let Some(answer) = action.read::<ExplainResponse>(&answer) else {
                return;
            };
            let item = answer.items.first();
            let of = |refusal: &Refusal| Refusal::of_explanation(&refusal.project, &refusal.principal, item?);
            found.set(Some(refusal.with_value(of)));
        });
    };
    let ask = Callback::new(ask);
    part(move || match found.get() {
        Some(Some(refusal)) => remedies(&refusal, None),
        Some(None) => {
            view! { <span class="muted" role="status">{t("The same call would be executed now.")}</span> }
                .into_any()
        }
        None => ask_button(action, ask),
    })
}

fn ask_button(action: Action, ask: Callback<()>) -> AnyView {
    view! {
        <div class="stack-small">
            <button type="button" class="button button-small" on:click=move |_| ask.run(())>
                {t("Find the remedy")}
            </button>
            {action.outcome()}
        </div>
    }
    .into_any()
}

/// What was asked for, what was held, and the state before and after.
fn groups_and_state(record: &AuditRecord) -> Vec<AnyView> {
    let mut lines = vec![
        fact(
            t("Requested"),
            view! { <Tags names=record.requested_groups.clone() /> },
        ),
        fact(
            t("Granted"),
            view! { <Tags names=record.granted_groups.clone() /> },
        ),
    ];
    if !record.missing_groups.is_empty() {
        lines.push(fact(
            t("Missing"),
            view! { <Tags names=record.missing_groups.clone() /> },
        ));
    }
    let before = &record.state_before;
    lines.push(match &record.state_after {
        Some(after) if after == before => fact(t("State"), after.clone()),
        after => {
            let after = after.as_deref().unwrap_or(t("(running)"));
            fact(t("State"), format!("{before} → {after}"))
        }
    });
    lines.extend(record.state_from.map(|from| {
        let text = match from {
            StateSource::Session => t("its session"),
            StateSource::Request => t("the request itself"),
            StateSource::Default => t("the default: the request named neither a state nor a session"),
        };
        fact(t("State from"), text)
    }));
    if record.state_conflict {
        lines.push(fact(
            t("Conflict"),
            t("The session moved meanwhile; the move was not applied."),
        ));
    }
    lines
}
