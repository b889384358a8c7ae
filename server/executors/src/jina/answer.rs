//! Jina's answers, JSON and text.

use http::HeaderMap;
use serde_json::{Map, Value, json};
use toolgate_api::{ErrorCode, JsonText};

use super::envelope;
use crate::failure::Failure;
use crate::http::answer::parse;
use crate::http::send::Answer;
use crate::http::status;
use crate::http::text::{self, Kind};
use crate::invocation::Execution;
use crate::redact::Secrets;

/// A JSON envelope becomes its `data`; text becomes `{"text", "title"?, "url"?, "published_time"?}`.
///
/// # Errors
/// Jina's error, also when it comes with HTTP status 200.
pub(super) fn read(answer: &Answer, secrets: &Secrets, key_env: &str) -> Result<Execution, Failure> {
    let Answer {
        status: http,
        headers,
        body,
    } = answer;
    let http = *http;
    let kind = text::kind(&text::media_type(headers));
    if kind == Kind::Json && !body.is_empty() {
        let value = match parse(body) {
            Ok(value) => value,
            Err(failure) if http.is_success() => {
                return Err(Failure {
                    upstream_status: Some(http.as_u16()),
                    ..failure
                });
            }
            Err(_) => return Err(status::failure(http, headers)),
        };
        if let Some(failure) = envelope::of_json(&value, http, headers, secrets, key_env) {
            return Err(failure);
        }
        return Ok(of_envelope(value, headers, secrets));
    }
    match text::decode(headers, body) {
        Some(text) => match envelope::of_text(&text, http, headers, secrets, key_env) {
            Some(failure) => Err(failure),
            None => Ok(of_text(&text, headers, secrets)),
        },
        None if http.is_success() => Err(Failure {
            upstream_status: Some(http.as_u16()),
            ..Failure::new(ErrorCode::UpstreamInvalid, "Jina answered neither JSON nor text")
        }),
        None => Err(status::failure(http, headers)),
    }
}

fn of_envelope(mut value: Value, headers: &HeaderMap, secrets: &Secrets) -> Execution {
    let tokens = tokens(&value).or_else(|| header_tokens(headers));
    let mut result = match value.get_mut("data") {
        Some(data) => data.take(),
        None => value,
    };
    secrets.clean(&mut result);
    Execution {
        result: JsonText::from(&result),
        usage: usage(tokens),
        notes: None,
        artifact: None,
    }
}

fn of_text(text: &str, headers: &HeaderMap, secrets: &Secrets) -> Execution {
    let mut result = Map::new();
    // Only a reader's page starts this way; search results start with a number in brackets.
    if text.starts_with("Title: ") {
        let (head, _) = text.split_once("Markdown Content:").unwrap_or((text, ""));
        for (field, prefix) in [
            ("title", "Title: "),
            ("url", "URL Source: "),
            ("published_time", "Published Time: "),
        ] {
            if let Some(found) = head.lines().find_map(|line| line.strip_prefix(prefix)) {
                result.insert(field.to_owned(), json!(found.trim()));
            }
        }
    }
    result.insert("text".to_owned(), json!(text));
    let mut result = Value::Object(result);
    secrets.clean(&mut result);
    Execution {
        result: JsonText::from(&result),
        usage: usage(header_tokens(headers)),
        notes: None,
        artifact: None,
    }
}

fn usage(tokens: Option<u64>) -> Option<Value> {
    tokens.map(|tokens| json!({ "tokens": tokens }))
}

fn tokens(value: &Value) -> Option<u64> {
    let of = |value: &Value| value.pointer("/usage/tokens").and_then(Value::as_u64);
    value
        .get("meta")
        .and_then(of)
        .or_else(|| match value.get("data")? {
            Value::Array(items) => items.iter().filter_map(of).reduce(u64::saturating_add),
            data => of(data),
        })
}

fn header_tokens(headers: &HeaderMap) -> Option<u64> {
    headers.get("x-usage-tokens")?.to_str().ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderValue, StatusCode};
    use rstest::rstest;

    use super::*;

    fn answer(status: u16, content_type: &'static str, body: impl Into<Bytes>) -> Answer {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static(content_type));
        Answer {
            status: StatusCode::from_u16(status).expect("a status"),
            headers,
            body: body.into(),
        }
    }

    fn json_answer(status: u16, body: &Value) -> Answer {
        answer(status, "application/json; charset=utf-8", body.to_string())
    }

    fn read(answer: &Answer) -> Result<Execution, Failure> {
        super::read(answer, &Secrets::default(), "JINA_API_KEY")
    }

    #[rstest]
    #[case::meta(json!({"data": {"title": "T"}, "meta": {"usage": {"tokens": 7}}}), Some(7))]
    #[case::reader(json!({"data": {"title": "T", "usage": {"tokens": 5}}}), Some(5))]
    #[case::search(json!({"data": [{"usage": {"tokens": 2}}, {"usage": {"tokens": 3}}, {}]}), Some(5))]
    #[case::unknown(json!({"data": []}), None)]
    fn envelopes_become_data_and_usage(#[case] mut envelope: Value, #[case] tokens: Option<u64>) {
        envelope["code"] = json!(200);
        envelope["status"] = json!(20000);
        let execution = read(&json_answer(200, &envelope)).expect("a result");
        assert_eq!(execution.result, envelope["data"]);
        assert_eq!(execution.usage, tokens.map(|tokens| json!({"tokens": tokens})));
    }

    #[test]
    fn text_keeps_everything_and_names_its_head() {
        let page = "Title: A page\n\nURL Source: https://x.example/\n\nPublished Time: 2026\n\nMarkdown Content:\nTitle: no\n";
        let mut answer = answer(200, "text/plain; charset=utf-8", page);
        answer
            .headers
            .insert("x-usage-tokens", HeaderValue::from_static("12"));
        let execution = read(&answer).expect("a result");
        assert_eq!(
            execution.result,
            json!({"title": "A page", "url": "https://x.example/", "published_time": "2026", "text": page})
        );
        assert_eq!(execution.usage, Some(json!({"tokens": 12})));
        let search = read(&self::answer(
            200,
            "text/plain",
            "[1] Title: a\n[1] URL Source: b\n",
        ))
        .expect("a result");
        assert_eq!(
            search.result,
            json!({"text": "[1] Title: a\n[1] URL Source: b\n"})
        );
    }

    #[rstest]
    #[case(400, 40001, ErrorCode::UpstreamRejected, false)]
    #[case(401, 40102, ErrorCode::UpstreamAuth, false)]
    #[case(401, 40103, ErrorCode::UpstreamAuth, false)]
    #[case(402, 40201, ErrorCode::UpstreamQuota, false)]
    #[case(402, 40202, ErrorCode::UpstreamQuota, false)]
    #[case(402, 40203, ErrorCode::UpstreamQuota, false)]
    #[case(403, 40301, ErrorCode::UpstreamRejected, false)]
    #[case(404, 40400, ErrorCode::UpstreamRejected, false)]
    #[case(409, 40904, ErrorCode::UpstreamRejected, false)]
    #[case(413, 41301, ErrorCode::UpstreamRejected, false)]
    #[case(422, 42205, ErrorCode::UpstreamRejected, true)]
    #[case(422, 42206, ErrorCode::UpstreamRejected, false)]
    #[case(429, 42903, ErrorCode::UpstreamRateLimited, true)]
    #[case(451, 45102, ErrorCode::UpstreamRejected, false)]
    #[case(503, 50301, ErrorCode::UpstreamUnavailable, true)]
    fn error_envelopes(
        #[case] code: u16,
        #[case] status: u32,
        #[case] expected: ErrorCode,
        #[case] retryable: bool,
    ) {
        let body = json!({"data": null, "code": code, "status": status, "name": "N", "message": "m", "readableMessage": "N: m"});
        for http in [code, 200] {
            let failure = read(&json_answer(http, &body)).expect_err("a failure");
            assert_eq!(
                (failure.code, failure.retryable),
                (expected, retryable),
                "with HTTP {http}"
            );
            assert_eq!(failure.upstream_message.as_deref(), Some("N: m"));
            assert_eq!(failure.upstream_status, Some(code));
        }
    }

    #[rstest]
    #[case("AuthenticationRequiredError: a key is needed", 200, ErrorCode::UpstreamAuth)]
    #[case("InsufficientBalanceError: no credit", 200, ErrorCode::UpstreamQuota)]
    #[case("RateLimitTriggeredError: slow down\n", 200, ErrorCode::UpstreamRateLimited)]
    #[case("anything", 451, ErrorCode::UpstreamRejected)]
    #[case("", 500, ErrorCode::UpstreamUnavailable)]
    fn text_errors(#[case] text: &'static str, #[case] http: u16, #[case] expected: ErrorCode) {
        assert_eq!(
            read(&answer(http, "text/plain", text))
                .expect_err("a failure")
                .code,
            expected
        );
    }

    #[test]
    fn a_page_about_errors_is_a_page() {
        let page = "AuthenticationRequiredError: how to fix it\n\nFirst, ...";
        assert!(read(&answer(200, "text/plain", page)).is_ok());
    }

    #[test]
    fn the_wait_is_taken_from_the_header_or_the_envelope() {
        let body = json!({"data": null, "code": 429, "status": 42903, "message": "m", "retryAfter": 2.5});
        assert_eq!(
            read(&json_answer(429, &body)).expect_err("limited").retry_after_s,
            Some(3)
        );
        let mut with_header = json_answer(429, &body);
        with_header
            .headers
            .insert("retry-after", HeaderValue::from_static("9"));
        assert_eq!(read(&with_header).expect_err("limited").retry_after_s, Some(9));
    }

    #[test]
    fn messages_name_the_variable_of_the_key() {
        let body = json!({"data": null, "code": 401, "status": 40102, "message": "m"});
        let message = read(&json_answer(401, &body)).expect_err("refused").message;
        assert!(message.contains("JINA_API_KEY"), "{message}");
    }

    #[test]
    fn broken_json_is_invalid() {
        assert_eq!(
            read(&answer(200, "application/json", "{"))
                .expect_err("broken")
                .code,
            ErrorCode::UpstreamInvalid
        );
        assert_eq!(
            read(&answer(502, "application/json", "{"))
                .expect_err("failed")
                .code,
            ErrorCode::UpstreamUnavailable
        );
    }
}
