//! General HTTP tools.

use rstest::rstest;
use serde_json::{Value, json};
use toolgate_api::ErrorCode;

use crate::support::{Server, Step, answer, call, executors, get, named_tool, ok, tool};

#[tokio::test]
async fn a_call_becomes_one_request_and_its_answer_the_result() {
    let server = Server::start([Step::Send(ok(r#"{"id":7,"name":"Ada"}"#))]).await;
    let executors = executors(&[&server.url], &[("CRM_KEY", "k-123456789")]);
    let tool = tool(json!({
        "http": {
            "base_url": format!("{}/v1", server.url), "path": "/people/{id}", "method": "PATCH",
            "query": {"fields": "fields"}, "header": {"X-Trace": "trace"},
            "headers": {"X-Constant": "c"}, "auth": {"env": "CRM_KEY"},
        }
    }));
    let arguments = json!({"id": "a/b", "fields": ["x", "y"], "trace": "t1", "name": "Ada", "age": 36});
    let execution = executors
        .execute(&mut call(&tool, arguments))
        .await
        .expect("a result");
    assert_eq!(execution.result, json!({"id": 7, "name": "Ada"}));
    let request = &server.requests()[0];
    let (head, body) = request.split_once("\r\n\r\n").expect("head and body");
    assert!(
        head.starts_with("PATCH /v1/people/a%2Fb?fields=x&fields=y HTTP/1.1\r\n"),
        "{head}"
    );
    for line in [
        "authorization: Bearer k-123456789",
        "x-trace: t1",
        "x-constant: c",
        "content-type: application/json",
    ] {
        assert!(
            head.lines().any(|found| found == line),
            "{line} is missing in {head}"
        );
    }
    let body: Value = serde_json::from_str(body).expect("JSON");
    assert_eq!(body, json!({"name": "Ada", "age": 36}));
}

#[tokio::test]
async fn calls_share_connections() {
    let server = Server::start([Step::Send(ok("1"))]).await;
    let executors = executors(&[&server.url], &[]);
    for _ in 0..20 {
        assert_eq!(
            get(&executors, &server.url).await.expect("a result").result,
            json!(1)
        );
    }
    assert_eq!((server.requests().len(), server.connections()), (20, 1));
}

#[rstest]
#[case::no_content(answer(204, &[], ""), json!(null))]
#[case::text(answer(200, &[("content-type", "text/plain")], "hi"), json!({"text": "hi"}))]
#[case::binary(answer(200, &[("content-type", "image/gif")], b"GIF"), json!({"base64": "R0lG", "content_type": "image/gif"}))]
#[case::chunked(
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n3\r\n[1,\r\n2\r\n2]\r\n0\r\n\r\n".to_vec(),
    json!([1, 2])
)]
#[tokio::test]
async fn kinds_of_answers(#[case] bytes: Vec<u8>, #[case] expected: Value) {
    let server = Server::start([Step::Send(bytes)]).await;
    let executors = executors(&[&server.url], &[]);
    assert_eq!(
        get(&executors, &server.url).await.expect("a result").result,
        expected
    );
}

#[tokio::test]
async fn a_definition_that_changed_is_prepared_again() {
    let server = Server::start([Step::Send(ok("1"))]).await;
    let executors = executors(&[&server.url], &[]);
    for path in ["/old", "/new", "/old"] {
        let tool = tool(json!({"http": {"base_url": server.url, "path": path}}));
        executors
            .execute(&mut call(&tool, json!({})))
            .await
            .expect("a result");
    }
    let paths: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.split(' ').nth(1).expect("a path").to_owned())
        .collect();
    assert_eq!(paths, ["/old", "/new", "/old"]);
}

#[tokio::test]
async fn tools_that_nothing_executes_say_so() {
    let failure = executors(&[], &[])
        .execute(&mut call(&named_tool("worker", json!({})), json!({})))
        .await
        .expect_err("nothing to execute");
    assert_eq!(
        (failure.code, failure.retryable),
        (ErrorCode::ToolUnavailable, false)
    );
    assert!(
        failure
            .message
            .contains("nothing executes tools of type \"openapi\" here"),
        "{}",
        failure.message
    );
}

#[rstest]
#[case::parameter(json!({"envs": {"key": "MISSING"}, "http": {"base_url": "https://s.jina.ai", "header": {"X-Key": "key"}}}))]
#[case::empty(json!({"envs": {"key": "EMPTY"}, "http": {"base_url": "https://s.jina.ai", "header": {"X-Key": "key"}}}))]
#[case::credential(json!({"http": {"base_url": "https://s.jina.ai", "auth": {"env": "MISSING"}}}))]
#[case::search_key(json!({"jina": {"mode": "search", "auth_env": "MISSING"}}))]
#[case::reader_key(json!({"jina": {"mode": "reader", "auth_env": "MISSING"}}))]
#[tokio::test]
async fn a_missing_variable_is_named(#[case] options: Value) {
    let executors = executors(&[], &[("EMPTY", "")]);
    let arguments = json!({"q": "x", "url": "https://x.example"});
    let failure = executors
        .execute(&mut call(&tool(options), arguments))
        .await
        .expect_err("not configured");
    assert_eq!(
        (failure.code, failure.retryable),
        (ErrorCode::ToolUnavailable, false)
    );
    assert!(
        failure.message.contains("MISSING") || failure.message.contains("EMPTY"),
        "{}",
        failure.message
    );
}

/// The bytes on the wire, for a request whose every part is named.
#[tokio::test]
async fn a_named_request_is_sent_byte_by_byte() {
    let server = Server::start([Step::Send(ok("true"))]).await;
    let executors = executors(&[&server.url], &[]);
    let tool = tool(json!({
        "http": {
            "base_url": server.url, "path": "/files/{path}", "method": "QUERY",
            "request": {
                "parameters": [
                    {"name": "path", "in": "path", "allow_reserved": true},
                    {"name": "q", "in": "query", "allow_reserved": true},
                    {"name": "ids", "in": "query", "style": "pipeDelimited"},
                    {"name": "where", "in": "query", "content_type": "application/json"},
                    {"name": "a", "in": "cookie", "style": "cookie"},
                ],
                "body": {"argument": "form", "content_type": "application/x-www-form-urlencoded"},
            },
        }
    }));
    let arguments = json!({
        "path": "a:b@c/d", "q": "x:y/z?'&+", "ids": [1, 2], "where": {"a": null}, "a": ["1", "2"],
        "form": {"text": "a b", "list": [1, 2]}, "leftover": "not sent",
    });
    executors
        .execute(&mut call(&tool, arguments))
        .await
        .expect("a result");
    let request = &server.requests()[0];
    let (head, body) = request.split_once("\r\n\r\n").expect("head and body");
    assert!(
        head.starts_with(
            "QUERY /files/a:b@c%2Fd?q=x:y/z?%27%26%2B&ids=1%7C2&where=%7B%22a%22%3Anull%7D HTTP/1.1\r\n"
        ),
        "{head}"
    );
    for line in [
        "cookie: a=1; a=2",
        "content-type: application/x-www-form-urlencoded",
    ] {
        assert!(
            head.lines().any(|found| found == line),
            "{line} is missing in {head}"
        );
    }
    assert_eq!(body, "text=a+b&list=1&list=2");
}
