//! Bodies, with our errors.

use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::nul;

use crate::gateway::Problem;
use crate::parse_fault;

/// A JSON body.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let body = json_body(request).await?;
        parse_json(&body).map(Self)
    }
}

/// A JSON body that is a tool's arguments. What they may hold is checked with the call.
pub struct Arguments(pub Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for Arguments {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let body = json_body(request).await?;
        parse(&body).map(Self)
    }
}

async fn json_body(request: Request) -> Result<Bytes, Problem> {
    let kind = content_type(request.headers());
    if kind.as_deref() != Some("application/json") {
        return Err(unsupported(kind.as_deref(), "application/json"));
    }
    body(request).await
}

/// Reads a body whole; the middleware sets its limit.
pub async fn body(request: Request) -> Result<Bytes, Problem> {
    Bytes::from_request(request, &())
        .await
        .map_err(|rejection| match rejection.status().as_u16() {
            413 => Problem::new(
                ErrorCode::PayloadTooLarge,
                "The body is larger than this server accepts (1 MiB unless configured).",
            ),
            _ => Problem::new(
                ErrorCode::MalformedRequest,
                "The body could not be read to its end.",
            ),
        })
}

/// Parses JSON: 400 for broken syntax, 422 for content that does not fit, both with line and column. A text with U+0000 is
/// refused, but for `arguments`, which are checked with the call.
pub fn parse_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let value = parse(body)?;
    let faults = nul_faults(body);
    if faults.is_empty() {
        return Ok(value);
    }
    Err(Problem::new(
        ErrorCode::InvalidRequest,
        "The body has texts with the character U+0000; `errors` names each.",
    )
    .errors(faults))
}

fn nul_faults(body: &[u8]) -> Vec<Diagnostic> {
    // JSON has no other way to write it.
    if !std::str::from_utf8(body).is_ok_and(|text| text.contains("\\u0000")) {
        return Vec::new();
    }
    let mut value = serde_json::from_slice(body).unwrap_or(Value::Null);
    if let Value::Object(members) = &mut value {
        members.remove("arguments");
    }
    nul::faults(&value)
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    // A struct could also be read from an array of its members; the API promises objects.
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') && serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok() {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "The body is JSON but not what this operation takes.",
        )
        .errors(vec![Diagnostic::error("expected an object").at(1, 1)]));
    }
    serde_json::from_slice(body).map_err(|error| {
        let (code, detail) = if error.is_data() {
            (
                ErrorCode::InvalidRequest,
                "The body is JSON but not what this operation takes.",
            )
        } else {
            (ErrorCode::MalformedRequest, "The body is not valid JSON.")
        };
        let text = error.to_string();
        let message = parse_fault::of_json(text.split(" at line ").next().unwrap_or(&text));
        let line = u32::try_from(error.line()).unwrap_or(u32::MAX).max(1);
        let column = u32::try_from(error.column()).unwrap_or(u32::MAX).max(1);
        Problem::new(code, detail).errors(vec![Diagnostic::error(message).at(line, column)])
    })
}

/// The media type without its parameters, in lower case.
#[must_use]
pub fn content_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    Some(
        value
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase(),
    )
}

/// 415 that names what would be read.
pub fn unsupported(found: Option<&str>, wanted: &str) -> Problem {
    let found = found.unwrap_or("missing");
    Problem::new(
        ErrorCode::UnsupportedMediaType,
        format!("The Content-Type is {found}; send {wanted}."),
    )
}
