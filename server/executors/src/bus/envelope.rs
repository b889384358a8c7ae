//! The messages of tool services (tool services specification, "Schema").

use async_nats::{HeaderMap, HeaderValue, Message};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolgate_api::ErrorCode;

use crate::failure::Failure;

/// A request: `config` and `arguments` are JSON texts.
#[derive(Debug, Serialize)]
pub(super) struct Request<'a> {
    pub(super) user: &'a str,
    pub(super) config: &'a str,
    pub(super) arguments: String,
}

/// The header with the number of a message within its answer, from 0.
pub(super) const SEQUENCE: &str = "seq";
/// The header that says that `response` is the text of a JSON value.
const CONTENT_TYPE: &str = "content-type";

#[derive(Debug, Deserialize)]
struct Response {
    #[serde(default)]
    error: Option<ServiceError>,
    #[serde(default)]
    response: Value,
    /// A message without it is the only one.
    #[serde(default = "yes")]
    end_of_stream: bool,
}

#[derive(Debug, Deserialize)]
struct ServiceError {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    message: String,
}

const fn yes() -> bool {
    true
}

/// One message of an answer.
#[derive(Debug, PartialEq)]
pub(super) struct Part {
    /// Its number within the answer, if its service counts.
    pub(super) sequence: Option<u64>,
    /// What it says; `None` when that is nothing.
    pub(super) content: Option<Value>,
    /// How many bytes it had.
    pub(super) bytes: usize,
    /// Whether it is the last one.
    pub(super) is_last: bool,
}

/// Reads a message of an answer.
///
/// # Errors
/// What the service says went wrong, or why the message is no answer.
pub(super) fn read(message: &Message) -> Result<Part, Failure> {
    let header = |name: &str| {
        let headers = message.headers.as_ref();
        headers
            .and_then(|headers: &HeaderMap| headers.get(name))
            .map(HeaderValue::as_str)
    };
    let unusable = |fault: String| {
        Failure::new(
            ErrorCode::UpstreamInvalid,
            format!("a message of the service's answer cannot be used: {fault}"),
        )
    };
    let response: Response =
        serde_json::from_slice(&message.payload).map_err(|error| unusable(error.to_string()))?;
    if let Some(error) = response.error {
        return Err(failure(&error));
    }
    let sequence = match header(SEQUENCE) {
        None => None,
        Some(text) => Some(
            text.parse()
                .map_err(|_| unusable(format!("its header {SEQUENCE} is no number")))?,
        ),
    };
    let is_json = header(CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/json"));
    let content = match response.response {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::String(text) if is_json => Some(
            serde_json::from_str(&text)
                .map_err(|error| unusable(format!("its response is not JSON: {error}")))?,
        ),
        value => Some(value),
    };
    Ok(Part {
        sequence,
        content,
        bytes: message.payload.len(),
        is_last: response.end_of_stream,
    })
}

/// The types of errors that mean something to the circuit breaker or to the caller. All others are failures of the tool.
const TYPES: [(&str, ErrorCode); 8] = [
    ("timeout", ErrorCode::Timeout),
    ("rate-limit", ErrorCode::UpstreamRateLimited),
    ("too-many-requests", ErrorCode::UpstreamRateLimited),
    ("unavailable", ErrorCode::UpstreamUnavailable),
    ("auth", ErrorCode::UpstreamAuth),
    ("quota", ErrorCode::UpstreamQuota),
    ("invalid-arguments", ErrorCode::UpstreamRejected),
    ("bad-request", ErrorCode::UpstreamRejected),
];

fn failure(error: &ServiceError) -> Failure {
    let kind = error.kind.replace('_', "-").to_ascii_lowercase();
    let known = TYPES.iter().find(|(name, _)| *name == kind);
    let code = known.map_or(ErrorCode::ExecutionFailed, |(_, code)| *code);
    let said = match (error.kind.as_str(), error.message.as_str()) {
        ("", "") => "it gave no reason".to_owned(),
        (kind, "") => kind.to_owned(),
        (_, message) => message.to_owned(),
    };
    Failure {
        upstream_message: Some(said.clone()),
        ..Failure::new(code, format!("the tool service failed: {said}"))
    }
}

/// The JSON text of what a tool sets of its service's configuration parameters.
pub(super) fn config_text<'a>(
    config: &Map<String, Value>,
    parameters: impl Iterator<Item = &'a str>,
) -> String {
    let set = parameters.filter_map(|name| Some((name.to_owned(), config.get(name)?.clone())));
    Value::Object(set.collect()).to_string()
}
