//! How a call ended, and what was sent and received for it.

use leptos::prelude::*;
use toolgate_api::calls::{CallResponse, CallStatus};
use toolgate_api::drafts::{ReceivedAnswer, SentRequest, ShownHeader};

use crate::api::with_query;
use crate::components::{Badge, CodeBlock, Tone, json_block, word};
use crate::language::t;
use crate::remedies::{Refusal, remedies};
use crate::routes::{Page, PageKind};
use crate::session::Session;

/// The end of a call. `on_lifted` is called when what refused it was lifted in place.
pub(super) fn outcome(project: &str, tool: &str, call: &CallResponse, on_lifted: Callback<()>) -> AnyView {
    let (tone, status) = match call.status {
        CallStatus::Succeeded => (Tone::Good, t("succeeded")),
        CallStatus::Failed => (Tone::Bad, t("failed")),
        CallStatus::Running => (Tone::Bad, t("running")),
    };
    let error = call.error.as_ref().map(|error| {
        let refusal = Refusal {
            project: project.to_owned(),
            code: Some(error.code),
            tool: tool.to_owned(),
            remedy: error.remedy.clone(),
            ..Refusal::default()
        };
        view! {
            <p>
                <code>{word(&error.code)}</code>
                ": "
                {error.message.clone()}
                " "
                <span class="muted">{error.upstream_message.clone()}</span>
            </p>
            {remedies(&refusal, Some(on_lifted))}
        }
    });
    let id = call.call_id.to_string();
    let records = Page::of_project(project.to_owned(), PageKind::Records).path();
    let href = with_query(records, &[("record", &id)]);
    let session = Session::get();
    let record = untrack(|| session.may_follow(&href)).then(|| view! { <a href=href>{t("Record")}</a> });
    let result = call
        .result
        .as_ref()
        .map(|result| json_block(t("Result"), &result.to_value()));
    view! {
        <div class="row" role="status">
            <Badge tone text=status />
            <span class="muted">{format!("{} ms", call.duration_ms)}</span>
            {record}
        </div>
        {error}
        {result}
    }
    .into_any()
}

/// The request as it was sent.
pub(super) fn request(sent: &SentRequest) -> AnyView {
    let SentRequest {
        method,
        url,
        headers,
        body,
    } = sent;
    message(t("Request"), format!("{method} {url}"), headers, body.as_deref())
}

/// The answer as it was received.
pub(super) fn answer(received: &ReceivedAnswer) -> AnyView {
    let ReceivedAnswer {
        status,
        headers,
        body,
    } = received;
    message(t("Answer"), status.to_string(), headers, body.as_deref())
}

fn message(caption: &'static str, first: String, headers: &[ShownHeader], body: Option<&str>) -> AnyView {
    let mut text = first;
    for ShownHeader { name, value } in headers {
        text += &format!("\n{name}: {value}");
    }
    if let Some(body) = body {
        text += &format!("\n\n{body}");
    }
    view! { <CodeBlock caption text /> }.into_any()
}
