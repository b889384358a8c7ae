//! Answers of general HTTP tools.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use toolgate_api::ErrorCode;

use super::send::Answer;
use super::status;
use super::text::{self, Kind};
use crate::failure::Failure;
use crate::invocation::Execution;
use crate::redact::Secrets;

/// JSON becomes the result itself, text `{"text"}`, anything else `{"base64", "content_type"}`, and no body null.
///
/// # Errors
/// What an error status stands for; `upstream_invalid` for JSON that is none.
pub(crate) fn read(answer: &Answer, secrets: &Secrets) -> Result<Execution, Failure> {
    if !answer.status.is_success() {
        let mut failure = status::failure(answer.status, &answer.headers);
        failure.upstream_message = message(answer).map(|text| secrets.message(&text));
        return Err(failure);
    }
    let mut result = value(answer).map_err(|failure| Failure {
        upstream_status: Some(answer.status.as_u16()),
        ..failure
    })?;
    if !secrets.is_empty() {
        secrets.clean(&mut result);
    }
    Ok(Execution { result, usage: None })
}

fn value(answer: &Answer) -> Result<Value, Failure> {
    if answer.body.is_empty() {
        return Ok(Value::Null);
    }
    let media_type = text::media_type(&answer.headers);
    match text::kind(&media_type) {
        Kind::Json => parse(&answer.body),
        Kind::Text | Kind::Unknown => match text::decode(&answer.headers, &answer.body) {
            Some(text) => Ok(json!({ "text": text })),
            None => Ok(binary(answer, &media_type)),
        },
        Kind::Binary => Ok(binary(answer, &media_type)),
    }
}

fn binary(answer: &Answer, media_type: &str) -> Value {
    let media_type = if media_type.is_empty() {
        "application/octet-stream"
    } else {
        media_type
    };
    json!({ "base64": STANDARD.encode(&answer.body), "content_type": media_type })
}

/// Parses JSON of an upstream; nesting is bounded by the parser.
pub(crate) fn parse(body: &[u8]) -> Result<Value, Failure> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    serde_json::from_slice(body).map_err(|error| {
        // Only the place: the parser's own words may quote the content.
        Failure::new(
            ErrorCode::UpstreamInvalid,
            format!(
                "the upstream's answer says it is JSON and is not (line {}, column {})",
                error.line(),
                error.column()
            ),
        )
    })
}

/// What the upstream says about an error, in the places where upstreams say it.
fn message(answer: &Answer) -> Option<String> {
    let media_type = text::media_type(&answer.headers);
    if text::kind(&media_type) == Kind::Json
        && let Ok(value) = parse(&answer.body)
    {
        return json_message(&value);
    }
    // A page for people says nothing in its first 500 characters.
    if media_type == "text/html" {
        return None;
    }
    let text = text::decode(&answer.headers, &answer.body)?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn json_message(value: &Value) -> Option<String> {
    const PLACES: [&str; 8] = [
        "/detail",
        "/message",
        "/error/message",
        "/error_description",
        "/error",
        "/errors/0/message",
        "/errors/0",
        "/title",
    ];
    PLACES
        .iter()
        .find_map(|place| value.pointer(place)?.as_str().map(str::to_owned))
        .or_else(|| value.as_str().map(str::to_owned))
        .or_else(|| Some(value.to_string()))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, HeaderValue, StatusCode, header};
    use rstest::rstest;

    use super::*;

    fn answer(status: u16, content_type: &'static str, body: &'static [u8]) -> Answer {
        let mut headers = HeaderMap::new();
        if !content_type.is_empty() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        let status = StatusCode::from_u16(status).expect("a status");
        Answer {
            status,
            headers,
            body: Bytes::from_static(body),
        }
    }

    #[rstest]
    #[case::json("application/json; charset=utf-8", b"{\"a\":[1]}", json!({"a": [1]}))]
    #[case::json_suffix("application/geo+json", b"null", json!(null))]
    #[case::byte_order_mark("application/json", b"\xef\xbb\xbf[1]", json!([1]))]
    #[case::text("text/plain", b"hello", json!({"text": "hello"}))]
    #[case::xml("application/xml", b"<a/>", json!({"text": "<a/>"}))]
    #[case::latin("text/html; charset=ISO-8859-1", b"caf\xe9", json!({"text": "caf\u{e9}"}))]
    #[case::unnamed("", b"hello", json!({"text": "hello"}))]
    #[case::broken_text("text/plain", b"\xff\xfe", json!({"base64": "//4=", "content_type": "text/plain"}))]
    #[case::binary("image/png", b"\x89PNG", json!({"base64": "iVBORw==", "content_type": "image/png"}))]
    #[case::nothing("application/json", b"", json!(null))]
    fn results(#[case] content_type: &'static str, #[case] body: &'static [u8], #[case] expected: Value) {
        let execution = read(&answer(200, content_type, body), &Secrets::default()).expect("a result");
        assert_eq!(execution.result, expected);
    }

    #[rstest]
    #[case::problem("application/problem+json", br#"{"title":"T","detail":"D"}"#, Some("D"))]
    #[case::nested("application/json", br#"{"error":{"message":"M"}}"#, Some("M"))]
    #[case::plain_error("application/json", br#"{"error":"E"}"#, Some("E"))]
    #[case::other("application/json", br#"{"x":1}"#, Some(r#"{"x":1}"#))]
    #[case::broken("application/json", b"{", Some("{"))]
    #[case::text("text/plain", b" no such page \n", Some("no such page"))]
    #[case::page("text/html", b"<html>", None)]
    #[case::nothing("", b"", None)]
    fn error_messages(
        #[case] content_type: &'static str,
        #[case] body: &'static [u8],
        #[case] expected: Option<&str>,
    ) {
        let failure = read(&answer(404, content_type, body), &Secrets::default()).expect_err("a failure");
        assert_eq!(failure.code, ErrorCode::UpstreamRejected);
        assert_eq!(failure.upstream_message.as_deref(), expected);
    }

    #[test]
    fn json_that_is_none_is_refused_with_its_place() {
        let failure = read(
            &answer(200, "application/json", b"{\"a\":\n nope}"),
            &Secrets::default(),
        )
        .expect_err("broken");
        assert_eq!(failure.code, ErrorCode::UpstreamInvalid);
        assert!(failure.message.contains("line 2"), "{}", failure.message);
        assert!(!failure.message.contains("nope"));
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep: &'static [u8] = Box::leak("[".repeat(100_000).into_boxed_str()).as_bytes();
        assert_eq!(
            read(&answer(200, "application/json", deep), &Secrets::default())
                .expect_err("deep")
                .code,
            ErrorCode::UpstreamInvalid
        );
    }
}
