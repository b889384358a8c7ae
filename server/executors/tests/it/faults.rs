//! Upstreams that fail in every way they can.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use rstest::rstest;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use toolgate_api::ErrorCode;
use toolgate_executors::Executors;

use crate::support::{Server, Step, answer, call, config, executors, get, ok, tool};

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).expect("writes to memory");
    encoder.finish().expect("writes to memory")
}

const JSON: (&str, &str) = ("content-type", "application/json");
const GZIP: (&str, &str) = ("content-encoding", "gzip");

#[rstest]
#[case::invalid_json(answer(200, &[JSON], "{nope"), ErrorCode::UpstreamInvalid)]
#[case::html_as_json(answer(200, &[JSON], "<html>"), ErrorCode::UpstreamInvalid)]
#[case::invalid_gzip(answer(200, &[JSON, GZIP], "no gzip at all"), ErrorCode::UpstreamInvalid)]
#[case::cut_gzip(answer(200, &[JSON, GZIP], &gzip(&[b'1'; 5000])[..20]), ErrorCode::UpstreamInvalid)]
#[case::other_encoding(answer(200, &[JSON, ("content-encoding", "br")], "x"), ErrorCode::UpstreamInvalid)]
#[case::twice_encoded(answer(200, &[JSON, ("content-encoding", "gzip, gzip")], "x"), ErrorCode::UpstreamInvalid)]
#[case::no_http(b"220 mail.example ESMTP\r\n\r\n".to_vec(), ErrorCode::UpstreamInvalid)]
#[case::broken_header(b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n".to_vec(), ErrorCode::UpstreamInvalid)]
#[case::two_lengths(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab".to_vec(), ErrorCode::UpstreamInvalid)]
#[case::announced_100_mb(b"HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n\r\n".to_vec(), ErrorCode::UpstreamInvalid)]
#[tokio::test]
async fn answers_that_cannot_be_used(#[case] bytes: Vec<u8>, #[case] code: ErrorCode) {
    let server = Server::start([Step::SendAndClose(bytes)]).await;
    let failure = get(&executors(&[&server.url], &[]), &server.url)
        .await
        .expect_err("a failure");
    assert_eq!(
        (failure.code, failure.retryable),
        (code, false),
        "{}",
        failure.message
    );
    assert_eq!(server.requests().len(), 1, "asking again would not help");
}

#[tokio::test]
async fn a_huge_answer_is_cut_off_while_it_streams() {
    let head =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let mut chunk = b"10000\r\n".to_vec();
    chunk.extend(vec![b' '; 0x10000]);
    chunk.extend(b"\r\n");
    let server = Server::start([Step::SendForever(head, chunk)]).await;
    let failure = get(&executors(&[&server.url], &[]), &server.url)
        .await
        .expect_err("too large");
    assert_eq!(failure.code, ErrorCode::UpstreamInvalid);
    assert!(failure.message.contains("10485760 bytes"), "{}", failure.message);
}

#[rstest]
#[case::small_on_the_wire(12 * 1024 * 1024)]
#[case::bomb(48 * 1024 * 1024)]
#[tokio::test]
async fn a_gzip_bomb_is_cut_off_while_it_inflates(#[case] plain_bytes: usize) {
    let bomb = gzip(&vec![b' '; plain_bytes]);
    let server = Server::start([Step::Send(answer(200, &[JSON, GZIP], bomb))]).await;
    let failure = get(&executors(&[&server.url], &[]), &server.url)
        .await
        .expect_err("too large");
    assert_eq!(failure.code, ErrorCode::UpstreamInvalid);
    assert!(failure.message.contains("larger than"), "{}", failure.message);
}

#[tokio::test]
async fn gzip_is_understood_up_to_the_limit() {
    let text = format!("\"{}\"", "a".repeat(998));
    let server = Server::start([Step::Send(answer(200, &[JSON, GZIP], gzip(text.as_bytes())))]).await;
    for (limit, fits) in [(1000, true), (999, false)] {
        let mut config = config(&[&server.url], &[]);
        config.max_response_bytes = limit;
        assert_eq!(
            get(&Executors::new(config), &server.url).await.is_ok(),
            fits,
            "{limit}"
        );
    }
    assert!(server.requests()[0].contains("accept-encoding: gzip\r\n"));
}

#[rstest]
#[case::truncated(Step::SendAndClose(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{\"a\"".to_vec()))]
#[case::cut_chunk(Step::SendAndClose(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{".to_vec()))]
#[case::reset_in_body(Step::SendAndReset(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{".to_vec()))]
#[tokio::test]
async fn answers_that_break_off(#[case] step: Step) {
    let server = Server::start([step]).await;
    let failure = get(&executors(&[&server.url], &[]), &server.url)
        .await
        .expect_err("broken off");
    assert_eq!(
        (failure.code, failure.retryable),
        (ErrorCode::UpstreamUnavailable, true),
        "{}",
        failure.message
    );
    assert_eq!(
        server.requests().len(),
        1,
        "half an answer is not asked for again"
    );
}

#[rstest]
#[case::reset(Step::SendAndReset(Vec::new()))]
#[case::closed(Step::SendAndClose(Vec::new()))]
#[case::half_a_head(Step::SendAndClose(b"HTTP/1.1 200".to_vec()))]
#[case::bad_gateway(Step::Send(answer(502, &[], "")))]
#[case::unavailable(Step::Send(answer(503, &[], "")))]
#[case::gateway_timeout(Step::Send(answer(504, &[], "")))]
#[tokio::test]
async fn reading_is_tried_three_times_and_writing_once(#[case] step: Step) {
    let server = Server::start([step.clone(), step.clone(), Step::Send(ok("1"))]).await;
    let executors = executors(&[&server.url], &[]);
    assert_eq!(
        get(&executors, &server.url).await.expect("the third try").result,
        json!(1)
    );
    assert_eq!(server.requests().len(), 3);

    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let server = Server::start([step.clone(), Step::Send(ok("1"))]).await;
        let executors = self::executors(&[&server.url], &[]);
        let tool = tool(json!({"http": {"base_url": server.url, "method": method}}));
        let failure = executors
            .execute(&mut call(&tool, json!({})))
            .await
            .expect_err("not repeated");
        assert_eq!(failure.code, ErrorCode::UpstreamUnavailable);
        assert_eq!(server.requests().len(), 1, "{method} may have been carried out");
    }
}

#[tokio::test]
async fn three_failed_tries_are_a_failure() {
    let server = Server::start([Step::Send(answer(503, &[("retry-after", "0")], "maintenance"))]).await;
    let failure = get(&executors(&[&server.url], &[]), &server.url)
        .await
        .expect_err("unavailable");
    assert_eq!(
        (failure.code, failure.upstream_status),
        (ErrorCode::UpstreamUnavailable, Some(503))
    );
    assert_eq!(failure.upstream_message.as_deref(), Some("maintenance"));
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_connection_that_the_server_closed_between_calls_is_not_noticed() {
    let server = Server::start([Step::SendAndClose(ok("1"))]).await;
    let executors = executors(&[&server.url], &[]);
    for _ in 0..30 {
        get(&executors, &server.url).await.expect("a fresh connection");
    }
}

#[rstest]
#[case::seconds("120", Some(120))]
#[case::date("Wed, 21 Oct 2099 07:28:30 GMT", Some(30))]
#[case::nonsense("soon", None)]
#[tokio::test]
async fn the_upstreams_wait_is_passed_on(#[case] value: &str, #[case] expected: Option<u32>) {
    let headers = [("retry-after", value), ("date", "Wed, 21 Oct 2099 07:28:00 GMT")];
    let server = Server::start([Step::Send(answer(429, &headers, ""))]).await;
    let failure = get(&executors(&[&server.url], &[]), &server.url)
        .await
        .expect_err("limited");
    assert_eq!(
        (failure.code, failure.retry_after_s),
        (ErrorCode::UpstreamRateLimited, expected)
    );
    assert_eq!(
        server.requests().len(),
        1,
        "a long wait is the caller's to decide"
    );
}

#[tokio::test]
async fn a_short_wait_is_waited_for() {
    let server = Server::start([
        Step::Send(answer(429, &[("retry-after", "0")], "")),
        Step::Send(ok("1")),
    ])
    .await;
    get(&executors(&[&server.url], &[]), &server.url)
        .await
        .expect("the second try");
    assert_eq!(server.requests().len(), 2);
}

#[rstest]
#[case::silence(Step::Nothing)]
#[case::drip(Step::SendForever(b"HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n".to_vec(), b"x".to_vec()))]
#[case::headers_for_ever(Step::Send(b"HTTP/1.1 200 OK\r\n".to_vec()))]
#[tokio::test]
async fn the_time_limit_is_for_the_whole_call(#[case] step: Step) {
    let server = Server::start([step]).await;
    let mut config = config(&[&server.url], &[]);
    config.max_response_bytes = 1 << 30;
    let executors = Executors::new(config);
    let tool = tool(json!({"timeout_ms": 150, "http": {"base_url": server.url}}));
    let started = std::time::Instant::now();
    let failure = executors
        .execute(&mut call(&tool, json!({})))
        .await
        .expect_err("too slow");
    assert_eq!((failure.code, failure.retryable), (ErrorCode::Timeout, true));
    assert!(failure.message.contains("150 ms"), "{}", failure.message);
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

#[tokio::test]
async fn nothing_listens_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let failure = get(&executors(&[&url], &[]), &url).await.expect_err("refused");
    assert_eq!(
        (failure.code, failure.retryable),
        (ErrorCode::UpstreamUnavailable, true)
    );
    assert!(
        failure.message.contains("connection refused"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn https_to_a_server_that_speaks_http_is_an_unavailable_upstream() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let url = format!("https://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 1024]).await;
            let _ = stream.write_all(&answer(400, &[], "speak http")).await;
        }
    });
    let failure = get(&executors(&[&url], &[]), &url).await.expect_err("no TLS");
    assert_eq!(failure.code, ErrorCode::UpstreamUnavailable);
    assert!(
        failure.message.contains("no secure connection") && failure.message.contains("begin with http://?"),
        "{}",
        failure.message
    );
}

#[rstest]
#[case(400, ErrorCode::UpstreamRejected)]
#[case(401, ErrorCode::UpstreamAuth)]
#[case(402, ErrorCode::UpstreamQuota)]
#[case(403, ErrorCode::UpstreamAuth)]
#[case(404, ErrorCode::UpstreamRejected)]
#[case(409, ErrorCode::UpstreamRejected)]
#[case(422, ErrorCode::UpstreamRejected)]
#[case(451, ErrorCode::UpstreamRejected)]
#[case(500, ErrorCode::UpstreamUnavailable)]
#[case(599, ErrorCode::UpstreamUnavailable)]
#[case(304, ErrorCode::UpstreamInvalid)]
#[tokio::test]
async fn statuses_are_distinguished(#[case] status: u16, #[case] code: ErrorCode) {
    let server = Server::start([Step::Send(answer(
        status,
        &[JSON],
        if status == 304 { "" } else { r#"{"message":"why"}"# },
    ))])
    .await;
    let failure = get(&executors(&[&server.url], &[]), &server.url)
        .await
        .expect_err("an error");
    assert_eq!((failure.code, failure.upstream_status), (code, Some(status)));
    if status != 304 {
        assert_eq!(failure.upstream_message.as_deref(), Some("why"));
    }
}

#[tokio::test]
async fn an_endless_error_page_is_still_that_error() {
    let head = b"HTTP/1.1 404 X\r\ncontent-type: text/plain\r\ncontent-length: 99999999\r\n\r\n".to_vec();
    let server = Server::start([Step::SendForever(head, vec![b'x'; 65536])]).await;
    let failure = get(&executors(&[&server.url], &[]), &server.url)
        .await
        .expect_err("an error");
    assert_eq!(
        (failure.code, failure.upstream_status),
        (ErrorCode::UpstreamRejected, Some(404))
    );
}
