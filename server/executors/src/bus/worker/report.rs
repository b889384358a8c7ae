//! Checks a report and its card (tool development guide, section 1), and turns them into an outcome.

use std::collections::BTreeMap;

use async_nats::{HeaderMap, Message};
use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_api::calls::ResultNotes;
use toolgate_api::tools::AfterExecution;
use toolgate_api::{Diagnostic, ErrorCode, JsonText};

use super::card::{Card, RESULT, Status, ToolError, ToolResultContent};
use super::headers;
use crate::failure::Failure;
use crate::invocation::Execution;

/// What a report must be an answer to.
pub(super) struct Expected<'a> {
    pub(super) tool: &'a str,
    pub(super) tool_call_id: &'a str,
    pub(super) project: &'a str,
    pub(super) epoch: &'a str,
    pub(super) depth: u32,
    /// What the card of the call says of its lineage; the result's card has the same.
    pub(super) lineage: &'a BTreeMap<String, String>,
    pub(super) after_execution: AfterExecution,
}

/// The business payload of a report.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Report {
    pub(super) tool_result_card_id: String,
    status: Status,
    after_execution: AfterExecution,
}

impl Report {
    /// Reads a report, and who sent it.
    ///
    /// # Errors
    /// The rule that it breaks. Such a report counts for nothing, and the call waits on.
    pub(super) fn read(message: &Message, expected: &Expected<'_>) -> Result<(Self, String), String> {
        let found = message.headers.as_ref();
        let header = |name: &str| {
            let value = found.and_then(|headers: &HeaderMap| headers.get(name));
            value.map_or("", |value| value.as_str())
        };
        let sender = header(headers::SENDER);
        if !sender.starts_with("tool.") {
            return Err(format!(
                "invalid_source_actor: {} is {sender:?}, and must begin with \"tool.\"",
                headers::SENDER
            ));
        }
        let depth = expected.depth.to_string();
        for (name, value) in [
            (headers::PROJECT, expected.project),
            (headers::TURN_EPOCH, expected.epoch),
            (headers::RECURSION_DEPTH, &depth),
        ] {
            if header(name) != value {
                return Err(format!(
                    "protocol_violation: {name} is {:?} instead of {value:?}",
                    header(name)
                ));
            }
        }
        let report = serde_json::from_slice(&message.payload)
            .map_err(|error| format!("protocol_violation: the payload is no report: {error}"))?;
        Ok((report, sender.to_owned()))
    }

    /// What its card says the call came to.
    ///
    /// # Errors
    /// The rule that the card breaks.
    pub(super) fn outcome(
        &self,
        card: &[u8],
        sender: &str,
        expected: &Expected<'_>,
    ) -> Result<Result<Execution, Failure>, String> {
        let broken = |what: String| Err(format!("protocol_violation: {what}"));
        let card: Card<ToolResultContent> = match serde_json::from_slice(card) {
            Ok(card) => card,
            Err(error) => return broken(format!("the card is no {RESULT}: {error}")),
        };
        let metadata = |name: &str| {
            card.metadata
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        for (what, found, wanted) in [
            ("type", card.kind.as_str(), RESULT),
            ("card_id", &card.card_id, self.tool_result_card_id.as_str()),
            ("project_id", &card.project_id, expected.project),
            ("author_id", &card.author_id, sender),
            (
                "tool_call_id",
                card.tool_call_id.as_deref().unwrap_or_default(),
                expected.tool_call_id,
            ),
            (
                "metadata.tool_call_id",
                metadata("tool_call_id"),
                expected.tool_call_id,
            ),
            ("metadata.function_name", metadata("function_name"), expected.tool),
        ] {
            if found != wanted {
                return broken(format!("the card's {what} is {found:?} instead of {wanted:?}"));
            }
        }
        for (name, wanted) in expected.lineage {
            if metadata(name) != wanted {
                return broken(format!(
                    "the card's metadata.{name} is {:?} instead of {wanted:?}, which is that of the call's card",
                    metadata(name)
                ));
            }
        }
        let content = card.content;
        if content.status != self.status || content.after_execution != self.after_execution {
            return broken("status and after_execution of the report and of its card differ".to_owned());
        }
        match (content.status, content.error) {
            (Status::Success, None) => Ok(Ok(execution(&content.result, None, expected))),
            (Status::Success, Some(_)) => broken("a success has no error".to_owned()),
            (_, None) => broken("without a success there is an error".to_owned()),
            (Status::Partial, Some(error)) => Ok(Ok(execution(&content.result, Some(error), expected))),
            (status, Some(error)) => Ok(Err(failure(status, &error))),
        }
    }
}

/// A result, and what its caller's turn does next: what the result itself says, else what was asked for.
fn execution(result: &Value, partial: Option<ToolError>, expected: &Expected<'_>) -> Execution {
    let control = result.pointer("/__cg_control/after_execution").cloned();
    let said = control.and_then(|value| serde_json::from_value(value).ok());
    let warning = |error: ToolError| {
        Diagnostic::warning(format!(
            "the result is partial: {} ({})",
            error.message, error.code
        ))
    };
    Execution {
        result: JsonText::from(result),
        usage: None,
        notes: Some(Box::new(ResultNotes {
            after_execution: Some(said.unwrap_or(expected.after_execution)),
            warnings: partial.into_iter().map(warning).collect(),
            ..ResultNotes::default()
        })),
        artifact: None,
    }
}

/// The largest error that is passed on whole, in bytes.
const LARGEST_ERROR: usize = 256 * 1024;

/// The codes of failed results, and what they are here.
const CODES: [(&str, ErrorCode); 7] = [
    ("bad_request", ErrorCode::UpstreamRejected),
    ("not_found", ErrorCode::UpstreamRejected),
    ("conflict", ErrorCode::UpstreamRejected),
    ("auth_failed", ErrorCode::UpstreamAuth),
    ("upstream_unavailable", ErrorCode::UpstreamUnavailable),
    ("tool_timeout", ErrorCode::Timeout),
    ("internal_error", ErrorCode::ExecutionFailed),
];

fn failure(status: Status, error: &ToolError) -> Failure {
    let known = CODES.iter().find(|(name, _)| *name == error.code);
    let code = match status {
        Status::Canceled => ErrorCode::Cancelled,
        Status::Timeout => ErrorCode::Timeout,
        _ => known.map_or(ErrorCode::ExecutionFailed, |(_, code)| *code),
    };
    let failure = Failure::new(code, format!("the worker failed: {}", error.message));
    let whole = JsonText::from(&json!(error));
    Failure {
        retryable: error.retryable.unwrap_or(failure.retryable),
        upstream_answer: (whole.get().len() <= LARGEST_ERROR).then_some(whole),
        upstream_message: Some(format!("{}: {}", error.code, error.message)),
        ..failure
    }
}
