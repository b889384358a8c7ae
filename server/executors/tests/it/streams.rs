//! Answers that are read while they arrive.

use std::time::Duration;

use bytes::Bytes;
use toolgate_api::ErrorCode;
use toolgate_executors::{Failure, StreamLimits, StreamedAnswer};

use crate::support::{Server, Step, answer, config, executors, ok};

fn limits() -> StreamLimits {
    StreamLimits {
        head: Duration::from_secs(20),
        idle: Duration::from_secs(20),
        total: Duration::from_secs(20),
        max_bytes: 1000,
    }
}

async fn post(server: &Server, limits: StreamLimits) -> Result<StreamedAnswer, Failure> {
    executors(&[&server.url], &[])
        .post_json(&server.url, Bytes::from_static(b"{\"a\":1}"), limits)
        .await
}

fn code(failed: Result<StreamedAnswer, Failure>) -> (ErrorCode, Option<u16>) {
    let failure = failed.err().expect("a failure");
    (failure.code, failure.upstream_status)
}

#[tokio::test]
async fn parts_come_one_by_one() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: Text/Event-Stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n";
    let server = Server::start([Step::Send([&head[..], b"6\r\n world\r\n0\r\n\r\n"].concat())]).await;
    let mut answer = post(&server, limits()).await.expect("an answer");
    assert_eq!(answer.media_type(), "text/event-stream");
    let mut all = Vec::new();
    while let Some(part) = answer.next().await.expect("a part") {
        all.extend_from_slice(&part);
    }
    assert_eq!(all, b"hello world");
    let sent = server.requests().remove(0).to_ascii_lowercase();
    assert!(sent.starts_with("post / http/1.1\r\n"), "{sent}");
    assert!(sent.contains("content-type: application/json\r\n"));
    assert!(sent.contains("accept-encoding: identity\r\n"));
    assert!(sent.ends_with("\r\n\r\n{\"a\":1}"));
}

#[tokio::test]
async fn only_a_success_is_an_answer() {
    let server = Server::start([Step::Send(answer(
        503,
        &[("content-type", "application/json"), ("retry-after", "60")],
        "{\"detail\": \"no model\"}",
    ))])
    .await;
    let failure = post(&server, limits()).await.err().expect("a failure");
    assert_eq!(
        (failure.code, failure.upstream_status, failure.retry_after_s),
        (ErrorCode::UpstreamUnavailable, Some(503), Some(60))
    );
    assert_eq!(failure.upstream_message.as_deref(), Some("no model"));

    let server = Server::start([Step::Send(answer(200, &[("content-encoding", "br")], "xyz"))]).await;
    assert_eq!(
        code(post(&server, limits()).await),
        (ErrorCode::UpstreamInvalid, Some(200))
    );
}

#[tokio::test]
async fn the_gates_are_those_of_tools() {
    let server = Server::start([Step::Send(ok("{}"))]).await;
    let elsewhere = executors(&["https://agent.example.com"], &[]);
    for url in [
        server.url.as_str(),
        "http://169.254.169.254/",
        "file:///etc/passwd",
        "http://u:p@127.0.0.1/",
    ] {
        let refused = elsewhere.post_json(url, Bytes::new(), limits()).await;
        assert_eq!(code(refused).0, ErrorCode::EgressDenied, "{url}");
    }
    assert_eq!(server.connections(), 0);

    let target = Server::start([Step::Send(ok("{}"))]).await;
    let location = format!("{}/agent", target.url);
    let server = Server::start([Step::Send(answer(307, &[("location", &location)], ""))]).await;
    assert_eq!(
        code(post(&server, limits()).await).0,
        ErrorCode::EgressDenied,
        "the redirect leads to an origin that is not listed"
    );
    assert_eq!(target.connections(), 0);
}

#[tokio::test]
async fn size_and_number_are_bounded() {
    let server = Server::start([Step::Send(answer(200, &[], "x".repeat(1001)))]).await;
    let mut large = post(&server, limits()).await.expect("a head");
    let failure = loop {
        match large.next().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it ended"),
            Err(failure) => break failure,
        }
    };
    assert_eq!(failure.code, ErrorCode::UpstreamInvalid);

    let server = Server::start([Step::Send(ok("{}"))]).await;
    let mut few = config(&[&server.url], &[]);
    few.max_streams = 1;
    let executors = toolgate_executors::Executors::new(few);
    let first = executors
        .post_json(&server.url, Bytes::new(), limits())
        .await
        .expect("the first");
    let second = executors.post_json(&server.url, Bytes::new(), limits()).await;
    assert_eq!(code(second).0, ErrorCode::ToolUnavailable);
    drop(first);
    executors
        .post_json(&server.url, Bytes::new(), limits())
        .await
        .expect("its place is free again");
}

#[tokio::test]
async fn each_clock_ends_it() {
    let silent = Server::start([Step::Nothing]).await;
    let short = StreamLimits {
        head: Duration::from_millis(50),
        ..limits()
    };
    assert_eq!(code(post(&silent, short).await).0, ErrorCode::Timeout);

    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc".to_vec();
    for limits in [
        StreamLimits {
            idle: Duration::from_millis(50),
            ..limits()
        },
        StreamLimits {
            total: Duration::from_millis(300),
            ..limits()
        },
    ] {
        let server = Server::start([Step::Send(head.clone())]).await;
        let mut answer = post(&server, limits).await.expect("a head");
        assert_eq!(answer.next().await.expect("a part").as_deref(), Some(&b"abc"[..]));
        assert_eq!(answer.next().await.expect_err("silence").code, ErrorCode::Timeout);
    }
}

#[tokio::test]
async fn a_connection_that_breaks_off_is_no_end() {
    let server = Server::start([Step::SendAndClose(
        b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc".to_vec(),
    )])
    .await;
    let answer = post(&server, limits()).await.expect("a head");
    let failure = answer.collect_at_most(1000).await.expect_err("it broke off");
    assert_eq!(failure.code, ErrorCode::UpstreamUnavailable);
}
