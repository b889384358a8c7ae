//! Cards of calls and of results, as commands and reports point at them (tool development guide, section 1).

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolgate_api::ErrorCode;
use toolgate_api::tools::AfterExecution;
use toolgate_executors::bus::CallContent;

use crate::gateway::Problem;
use crate::gateway::problem::in_words;

/// Members of a call's metadata that its result has too, as they are.
const LINEAGE: [&str; 3] = ["step_id", "trace_id", "parent_step_id"];
/// How long cards of results are kept, as they say.
const TTL_S: u64 = 24 * 3600;

/// A card of type `tool.call`.
#[derive(Debug, Deserialize)]
pub(super) struct CallCard {
    pub(super) project_id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) content: CallContent,
    #[serde(default)]
    pub(super) metadata: Map<String, Value>,
    #[serde(default)]
    pub(super) tool_call_id: Option<String>,
}

/// How a command ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// `success`, `failed`, `canceled` or `timeout`.
    pub(super) status: &'static str,
    result: Value,
    error: Value,
}

impl Ended {
    pub(super) fn succeeded(result: Value) -> Self {
        Self {
            status: "success",
            result,
            error: Value::Null,
        }
    }

    /// With the error of the specification; `detail` has the code and the record of this server.
    pub(super) fn failed(problem: Problem, source: &str) -> Self {
        let mut body = problem.into_body("");
        for fault in &body.errors {
            body.detail.push_str("\n- ");
            body.detail.push_str(&in_words(fault));
        }
        let (status, code) = words(body.code);
        let mut detail = json!({"code": body.code});
        if let Some(id) = body.call_id {
            detail["call_id"] = json!(id);
        }
        let error = json!({
            "code": code,
            "message": body.detail,
            "source": source,
            "retryable": body.retryable,
            "detail": detail,
        });
        Self {
            status,
            result: json!({"error_code": code, "error_message": body.detail, "error": error}),
            error,
        }
    }
}

/// The status and the code of the specification.
fn words(code: ErrorCode) -> (&'static str, &'static str) {
    match (code, code.status()) {
        (ErrorCode::Timeout, _) => ("timeout", "tool_timeout"),
        (ErrorCode::Cancelled, _) => ("canceled", "internal_error"),
        (_, 400 | 413 | 415 | 422) => ("failed", "bad_request"),
        (_, 401 | 403) => ("failed", "auth_failed"),
        (_, 404) => ("failed", "not_found"),
        (_, 409 | 410 | 412 | 428) => ("failed", "conflict"),
        (_, 429 | 502..=504) => ("failed", "upstream_unavailable"),
        _ => ("failed", "internal_error"),
    }
}

/// What a card of a result is about.
pub(super) struct About<'a> {
    pub(super) card_id: &'a str,
    pub(super) project: &'a str,
    pub(super) author: &'a str,
    pub(super) tool: &'a str,
    pub(super) tool_call_id: &'a str,
    pub(super) agent_turn_id: &'a str,
    /// The metadata of the call's card.
    pub(super) call: Option<&'a Map<String, Value>>,
    pub(super) created_at: String,
}

/// A card of type `tool.result`.
pub(super) fn result_card(about: &About<'_>, ended: &Ended, after_execution: AfterExecution) -> Value {
    let mut metadata: Map<String, Value> = LINEAGE
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), about.call?.get(name)?.clone())))
        .collect();
    for (name, value) in [
        ("agent_turn_id", about.agent_turn_id),
        ("tool_call_id", about.tool_call_id),
        ("role", "tool"),
        ("function_name", about.tool),
    ] {
        metadata.insert(name.to_owned(), value.into());
    }
    json!({
        "card_id": about.card_id,
        "project_id": about.project,
        "type": "tool.result",
        "author_id": about.author,
        "tool_call_id": about.tool_call_id,
        "created_at": about.created_at,
        "ttl_seconds": TTL_S,
        "content": {
            "status": ended.status,
            "after_execution": after_execution,
            "result": ended.result,
            "error": ended.error,
        },
        "metadata": metadata,
    })
}
