//! Jina's errors, as JSON envelope and as the one line it sends to clients that accept text.

use http::{HeaderMap, StatusCode};
use serde_json::Value;
use toolgate_api::ErrorCode;

use crate::failure::Failure;
use crate::http::status;
use crate::redact::Secrets;

/// The names that start a text error, with the HTTP status that belongs to each. In a text answer nothing else
/// distinguishes an error inside a success from a page.
const NAMES: [(&str, u16); 16] = [
    ("ParamValidationError", 40001),
    ("AuthenticationFailedError", 40102),
    ("AuthenticationRequiredError", 40103),
    ("InsufficientCreditsError", 40201),
    ("TierFeatureConstraintError", 40202),
    ("InsufficientBalanceError", 40203),
    ("OperationNotAllowedError", 40301),
    ("BudgetExceededError", 40904),
    ("DownstreamServiceFailureError", 42205),
    ("AssertionFailureError", 42206),
    ("RateLimitTriggeredError", 42903),
    ("SecurityCompromiseError", 45102),
    ("ServiceCrashedError", 50301),
    ("ServiceDisabledError", 50302),
    ("ServiceBadAttemptError", 50303),
    ("ServiceNodeResourceDrainError", 50305),
];

/// The failure in a JSON answer, whatever its HTTP status; `None` when it is a success.
pub(super) fn of_json(
    value: &Value,
    http: StatusCode,
    headers: &HeaderMap,
    secrets: &Secrets,
    key_env: &str,
) -> Option<Failure> {
    let number = |name: &str| {
        value
            .get(name)
            .and_then(Value::as_u64)
            .and_then(|n| u32::try_from(n).ok())
    };
    let detail = number("status").filter(|status| (40_000..60_000).contains(status));
    let code = number("code").filter(|code| (400..600).contains(code));
    let no_data = value.get("data").is_some_and(Value::is_null) && value.get("readableMessage").is_some();
    if http.is_success() && detail.is_none() && code.is_none() && !no_data {
        return None;
    }
    let text = ["readableMessage", "message", "name"]
        .iter()
        .find_map(|name| value.get(name).and_then(Value::as_str));
    let wait = value.get("retryAfter").and_then(Value::as_f64);
    Some(failure(detail, code, http, headers, text, wait, secrets, key_env))
}

/// The failure in a text answer; `None` when it is a success.
pub(super) fn of_text(
    text: &str,
    http: StatusCode,
    headers: &HeaderMap,
    secrets: &Secrets,
    key_env: &str,
) -> Option<Failure> {
    let line = text.trim();
    let named = NAMES.iter().find(|(name, _)| {
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with(": ")) && !line.contains('\n')
    });
    if http.is_success() && named.is_none() {
        return None;
    }
    let detail = named.map(|(_, status)| u32::from(*status));
    let said = (!line.is_empty()).then_some(line);
    Some(failure(detail, None, http, headers, said, None, secrets, key_env))
}

#[expect(
    clippy::too_many_arguments,
    reason = "the places where one error may be written, gathered by two callers"
)]
fn failure(
    detail: Option<u32>,
    code: Option<u32>,
    http: StatusCode,
    headers: &HeaderMap,
    text: Option<&str>,
    wait: Option<f64>,
    secrets: &Secrets,
    key_env: &str,
) -> Failure {
    // The five digits say most, then the envelope's code; the HTTP status may be that of a cheerful proxy.
    let effective = detail
        .map(|detail| detail / 100)
        .or(code)
        .and_then(|status| u16::try_from(status).ok())
        .and_then(|status| StatusCode::from_u16(status).ok())
        .unwrap_or(http);
    let mut failure = status::failure(effective, headers);
    match detail {
        Some(40301) => {
            failure.code = ErrorCode::UpstreamRejected;
            failure.message = "Jina does not allow this operation (status 40301)".to_owned();
        }
        // The page behind the reader failed, which may pass, while Jina itself is available.
        Some(42205) => failure.retryable = true,
        _ => {}
    }
    match failure.code {
        ErrorCode::UpstreamAuth => {
            failure.message = format!("Jina refused the API key, or wants one: check the variable {key_env}");
        }
        ErrorCode::UpstreamQuota => {
            failure.message = format!("the Jina account of the key in {key_env} has no credit left");
        }
        _ => {}
    }
    if let Some(wait) = wait.filter(|wait| wait.is_finite() && *wait >= 0.0)
        && failure.code == ErrorCode::UpstreamRateLimited
    {
        // The cast saturates, which is what an absurd wait deserves.
        failure.retry_after_s = failure.retry_after_s.or(Some(wait.ceil() as u32));
    }
    failure.upstream_message = text.map(|text| secrets.message(text));
    failure
}
