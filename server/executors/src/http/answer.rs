//! Answers of general HTTP tools.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use toolgate_api::{ErrorCode, JsonText};

use super::send::Answer;
use super::text::{self, Kind};
use super::{events, status};
use crate::failure::Failure;
use crate::invocation::Execution;
use crate::redact::Secrets;

/// How deep the parser goes.
const MAX_DEPTH: usize = 127;

/// JSON becomes the result itself, a stream of events `{"events"}`, text `{"text"}`, anything else `{"base64", "content_type"}`, and no body null.
///
/// # Errors
/// What an error status stands for; `upstream_invalid` for JSON that is none.
pub(crate) fn read(answer: &Answer, secrets: &Secrets) -> Result<Execution, Failure> {
    accepted(answer, secrets)?;
    let result = result(answer, secrets).map_err(|failure| with_status(answer, failure))?;
    Ok(Execution {
        result,
        usage: None,
        notes: None,
        artifact: None,
    })
}

/// Whether it is a success.
///
/// # Errors
/// What an error status stands for.
pub(crate) fn accepted(answer: &Answer, secrets: &Secrets) -> Result<(), Failure> {
    if answer.status.is_success() {
        return Ok(());
    }
    let mut failure = status::failure(answer.status, &answer.headers);
    failure.upstream_message = message(answer).map(|text| secrets.message(&text));
    Err(failure)
}

/// A failure over an answer that came.
pub(crate) fn with_status(answer: &Answer, failure: Failure) -> Failure {
    Failure {
        upstream_status: Some(answer.status.as_u16()),
        ..failure
    }
}

fn result(answer: &Answer, secrets: &Secrets) -> Result<JsonText, Failure> {
    let media_type = text::media_type(&answer.headers);
    let kind = text::kind(&media_type);
    if kind == Kind::Json && !answer.body.is_empty() && !secrets.spoil(&answer.body) {
        return pass(&answer.body);
    }
    let mut value = value(answer, kind, &media_type)?;
    secrets.clean(&mut value);
    Ok(JsonText::from(&value))
}

/// The answer as a value, secrets still in it.
///
/// # Errors
/// `upstream_invalid` for JSON that is none.
pub(crate) fn value(answer: &Answer, kind: Kind, media_type: &str) -> Result<Value, Failure> {
    Ok(match kind {
        _ if answer.body.is_empty() => Value::Null,
        Kind::Json => parse(&answer.body)?,
        Kind::Events => match text::decode(&answer.headers, &answer.body) {
            Some(text) => events::read(text.as_bytes()),
            None => binary(answer, media_type),
        },
        Kind::Text | Kind::Unknown => match text::decode(&answer.headers, &answer.body) {
            Some(text) => json!({ "text": text }),
            None => binary(answer, media_type),
        },
        Kind::Binary => binary(answer, media_type),
    })
}

/// JSON in which nothing has to be masked goes on as it came.
fn pass(body: &[u8]) -> Result<JsonText, Failure> {
    // Passing it on costs no stack, but the next parser may have little of it.
    if is_deep(body) {
        return Err(Failure::new(
            ErrorCode::UpstreamInvalid,
            format!("the upstream's answer is nested deeper than {MAX_DEPTH} levels"),
        ));
    }
    JsonText::parse(without_mark(body)).map_err(|error| no_json(&error))
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
    serde_json::from_slice(without_mark(body)).map_err(|error| no_json(&error))
}

/// Whether arrays and objects are nested too deep.
fn is_deep(body: &[u8]) -> bool {
    let opens = |byte: &u8| matches!(byte, b'[' | b'{');
    // Counting is cheaper than looking, and mostly enough; in parts whose count fits a byte it is done many bytes at once.
    let count = |part: &[u8]| usize::from(part.iter().map(|byte| u8::from(opens(byte))).sum::<u8>());
    if body.chunks(usize::from(u8::MAX)).map(count).sum::<usize>() <= MAX_DEPTH {
        return false;
    }
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ if opens(byte) => depth += 1,
            _ => {}
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

fn without_mark(body: &[u8]) -> &[u8] {
    body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body)
}

/// Only the place: the parser's own words may quote the content.
fn no_json(error: &serde_json::Error) -> Failure {
    Failure::new(
        ErrorCode::UpstreamInvalid,
        format!(
            "the upstream's answer says it is JSON and is not (line {}, column {})",
            error.line(),
            error.column()
        ),
    )
}

/// What the upstream says about an error, in the places where upstreams say it.
pub(crate) fn message(answer: &Answer) -> Option<String> {
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
    #[case::events("text/event-stream", b"data: {\"a\":1}\n\n", json!({"events": [{"data": {"a": 1}}]}))]
    #[case::unnamed("", b"hello", json!({"text": "hello"}))]
    #[case::broken_text("text/plain", b"\xff\xfe", json!({"base64": "//4=", "content_type": "text/plain"}))]
    #[case::binary("image/png", b"\x89PNG", json!({"base64": "iVBORw==", "content_type": "image/png"}))]
    #[case::nothing("application/json", b"", json!(null))]
    fn results(#[case] content_type: &'static str, #[case] body: &'static [u8], #[case] expected: Value) {
        let execution = read(&answer(200, content_type, body), &Secrets::default()).expect("a result");
        assert_eq!(execution.result, expected);
    }

    #[test]
    fn numbers_go_on_as_they_came_beside_a_secret() {
        let body = b"{\"n\": 123456789012345678901234567890, \"x\": 1.10}";
        let mut secrets = Secrets::default();
        secrets.add(&"another-value".into());
        let execution = read(&answer(200, "application/json", body), &secrets).expect("a result");
        assert_eq!(execution.result.get().as_bytes(), body);
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
    fn only_nesting_counts_as_depth() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let wide = format!("[{}]", vec!["{\"a\":[\"[[\\\"[\"]}"; 500].join(","));
        for (text, deep) in [
            (nested(MAX_DEPTH), false),
            (nested(MAX_DEPTH + 1), true),
            (wide, false),
            (format!("\"{}\"", "[".repeat(1000)), false),
        ] {
            assert_eq!(is_deep(text.as_bytes()), deep, "{text}");
            assert_eq!(parse(text.as_bytes()).is_err(), deep, "{text}");
            assert_eq!(pass(text.as_bytes()).is_err(), deep, "{text}");
        }
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
