use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::{get, post};
use http::{Extensions, StatusCode};
use rstest::rstest;
use serde_json::Value;
use toolgate_api::ErrorCode;

use super::*;
use crate::config::Limits;
use crate::gateway::Problem;
use crate::middleware::host::HostPolicy;
use crate::serve::raw::{Server, body, header, status};
use crate::telemetry::Metrics;

const KB: usize = 1024;

struct Fixture {
    server: Server,
    metrics: Metrics,
}

/// A tiny router behind the layer: bodies up to 1 kB within a second, answers within two.
async fn fixture() -> Fixture {
    fixture_behind(&[], Limits::default()).await
}

/// The same behind proxies.
async fn fixture_behind(proxies: &[&str], limits: Limits) -> Fixture {
    let metrics = Metrics::new();
    let counted = metrics.clone();
    let server = Server::behind(
        proxies,
        Limits {
            linger_s: 0,
            ..limits
        },
        |listen: SocketAddr| {
            let settings = EdgeSettings {
                hosts: HostPolicy::new(listen, None, &[]),
                https: false,
                max_body_bytes: KB,
                body_timeout: Duration::from_secs(1),
                request_timeout: Duration::from_secs(2),
                metrics: counted,
            };
            wrap(router(), settings)
        },
    )
    .await;
    Fixture { server, metrics }
}

fn router() -> Router {
    let fallback = async || Problem::new(ErrorCode::MethodNotAllowed, "not with this method");
    Router::new()
        .route("/echo/{name}", post(async |body: Bytes| body))
        .route(
            "/id",
            get(async |extensions: Extensions| request_id::of(&extensions).to_owned()),
        )
        .route(
            "/who",
            get(async |extensions: Extensions| LogPrincipal::set(&extensions, "user:me")),
        )
        .route("/panic", get(async || -> () { panic!("on purpose") }))
        .route("/never", get(std::future::pending::<()>))
        .route(
            "/slow",
            get(async || Problem::new(ErrorCode::RateLimited, "too many").retry_after(7)),
        )
        .method_not_allowed_fallback(fallback)
        .fallback(async || Problem::new(ErrorCode::NotFound, "nothing here"))
}

#[tokio::test]
async fn a_client_of_a_proxy_with_too_many_requests_is_refused() {
    let limits = Limits {
        max_connections_per_address: 1,
        ..Limits::default()
    };
    let Fixture { server, metrics } = fixture_behind(&["127.0.0.1"], limits).await;
    let ask = |path: &str| request(&format!("GET {path}"), "x-forwarded-for: 198.51.100.1\r\n", "");
    let mut waiting = server.connect().await;
    waiting.send(ask("/never")).await;
    while server.clients.report().busiest.is_none() {
        tokio::task::yield_now().await;
    }
    let refused = server.exchange(ask("/id")).await;
    assert_eq!((status(&refused), header(&refused, "retry-after")), (429, "1"));
    let problem: Value = serde_json::from_str(body(&refused)).unwrap();
    assert_eq!(problem["code"], "rate_limited");
    assert_eq!(problem["request_id"], header(&refused, "x-request-id"));
    drop(waiting);
    while server.clients.report().busiest.is_some() {
        tokio::task::yield_now().await;
    }
    assert_eq!(status(&server.exchange(ask("/id")).await), 200);
    assert!(
        metrics.render().contains("status=\"429\""),
        "{}",
        metrics.render()
    );
}

/// A whole request with a proper `Host`.
fn request(line: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    )
}

fn problem(answer: &str) -> Value {
    assert_eq!(
        header(answer, "content-type"),
        "application/problem+json",
        "{answer}"
    );
    let problem: Value =
        serde_json::from_str(body(answer)).unwrap_or_else(|_| panic!("not a problem: {answer}"));
    assert_eq!(problem["status"], status(answer), "{answer}");
    assert_eq!(problem["request_id"], header(answer, "x-request-id"), "{answer}");
    problem
}

#[rstest]
#[case::fine("GET /id HTTP/1.1\r\nhost: localhost\r\n", 200, "")]
#[case::no_host("GET /id HTTP/1.1\r\n", 400, "malformed_request")]
#[case::no_host_1_0("GET /id HTTP/1.0\r\n", 400, "malformed_request")]
#[case::two_hosts(
    "GET /id HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n",
    400,
    "malformed_request"
)]
#[case::two_different(
    "GET /id HTTP/1.1\r\nhost: localhost\r\nHost: evil.example\r\n",
    400,
    "malformed_request"
)]
#[case::empty_host("GET /id HTTP/1.1\r\nhost: \r\n", 400, "malformed_request")]
#[case::foreign_host("GET /id HTTP/1.1\r\nhost: evil.example\r\n", 421, "misdirected_request")]
#[case::absolute("GET http://localhost/id HTTP/1.1\r\nhost: localhost\r\n", 200, "")]
#[case::foreign_absolute(
    "GET http://evil.example/id HTTP/1.1\r\nhost: localhost\r\n",
    421,
    "misdirected_request"
)]
#[case::foreign_beside_absolute(
    "GET http://localhost/id HTTP/1.1\r\nhost: evil.example\r\n",
    421,
    "misdirected_request"
)]
#[case::contradiction(
    "GET http://localhost/id HTTP/1.1\r\nhost: 127.0.0.1\r\n",
    400,
    "malformed_request"
)]
#[case::foreign_and_absent("GET /nowhere HTTP/1.1\r\nhost: evil.example\r\n", 421, "misdirected_request")]
#[tokio::test]
async fn hosts_are_checked_before_anything_else(
    #[case] head: &str,
    #[case] expected: u16,
    #[case] code: &str,
) {
    let Fixture { server, .. } = fixture().await;
    let answer = server.exchange(format!("{head}connection: close\r\n\r\n")).await;
    assert_eq!(status(&answer), expected, "{answer}");
    if expected != 200 {
        assert_eq!(problem(&answer)["code"], code);
    }
}

#[rstest]
#[case::absent("GET /nowhere", 404, "not_found")]
#[case::method("PUT /id", 405, "method_not_allowed")]
#[case::panic("GET /panic", 500, "internal")]
#[case::handler("GET /slow", 429, "rate_limited")]
#[tokio::test]
async fn every_failure_is_a_problem(#[case] line: &str, #[case] expected: u16, #[case] code: &str) {
    let Fixture { server, .. } = fixture().await;
    let answer = server.exchange(request(line, "", "")).await;
    assert_eq!(status(&answer), expected, "{answer}");
    let problem = problem(&answer);
    assert_eq!(
        (&problem["code"], &problem["type"]),
        (&code.into(), &format!("urn:toolgate:problem:{code}").into())
    );
    assert!(!answer.contains("on purpose"), "the cause is for the log only");
    let allow = if expected == 405 { "GET,HEAD" } else { "" };
    assert_eq!(header(&answer, "allow"), allow);
    assert_eq!(
        header(&answer, "retry-after"),
        if expected == 429 { "7" } else { "" }
    );
}

#[tokio::test]
async fn the_server_survives_a_panic_on_the_same_connection() {
    let Fixture { server, .. } = fixture().await;
    let mut raw = server.connect().await;
    raw.send("GET /panic HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    raw.until("\"internal\"").await;
    raw.send(request("GET /id", "x-request-id: still-here\r\n", ""))
        .await;
    assert!(raw.rest().await.ends_with("still-here"));
}

#[tokio::test]
async fn request_ids_come_back() {
    let Fixture { server, .. } = fixture().await;
    let given = server
        .exchange(request("GET /id", "x-request-id: trace-1\r\n", ""))
        .await;
    assert_eq!(
        (header(&given, "x-request-id"), body(&given)),
        ("trace-1", "trace-1")
    );
    let made = server
        .exchange(request("GET /id", "x-request-id: <script>\r\n", ""))
        .await;
    assert_eq!(header(&made, "x-request-id"), body(&made));
    assert_eq!(uuid::Uuid::parse_str(body(&made)).unwrap().get_version_num(), 7);
}

#[rstest]
#[case("GET /id")]
#[case("GET /nowhere")]
#[case("PUT /id")]
#[case("GET /panic")]
#[tokio::test]
async fn security_headers_are_on_every_answer(#[case] line: &str) {
    let Fixture { server, .. } = fixture().await;
    let answer = server.exchange(request(line, "", "")).await;
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        (
            "content-security-policy",
            "default-src 'none'; frame-ancestors 'none'",
        ),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(header(&answer, name), value, "{name} of {line}");
    }
}

#[tokio::test]
async fn bodies_up_to_the_limit_are_taken() {
    let Fixture { server, .. } = fixture().await;
    let answer = server
        .exchange(request("POST /echo/x", "", &"x".repeat(KB)))
        .await;
    assert_eq!((status(&answer), body(&answer).len()), (200, KB));
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let Fixture { server, .. } = fixture().await;
    // Declared: refused before it is sent.
    let head = "POST /echo/x HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1025\r\n\r\n";
    let answer = server.exchange(head).await;
    assert_eq!(
        (status(&answer), &problem(&answer)["code"]),
        (413, &"payload_too_large".into())
    );
    // Not declared: refused when it has come.
    let chunk = format!("400\r\n{}\r\n1\r\nx\r\n0\r\n\r\n", "x".repeat(KB));
    let head =
        "POST /echo/x HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
    let answer = server.exchange(format!("{head}{chunk}")).await;
    assert_eq!(
        (status(&answer), &problem(&answer)["code"]),
        (413, &"payload_too_large".into())
    );
}

#[rstest]
#[case::nothing_comes(0)]
#[case::too_little_comes(5)]
#[tokio::test]
async fn a_slow_body_is_refused(#[case] sent: usize) {
    let Fixture { server, .. } = fixture().await;
    let head = "POST /echo/x HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n";
    let answer = server.exchange(format!("{head}{}", "x".repeat(sent))).await;
    assert_eq!(
        (status(&answer), &problem(&answer)["code"]),
        (408, &"request_timeout".into())
    );
}

#[tokio::test]
async fn a_handler_that_never_answers_is_given_up() {
    let Fixture { server, .. } = fixture().await;
    let answer = server.exchange(request("GET /never", "", "")).await;
    assert_eq!(
        (status(&answer), &problem(&answer)["code"]),
        (504, &"timeout".into())
    );
}

#[rstest]
#[case::browser_elsewhere("cookie: s=1\r\nsec-fetch-site: cross-site\r\n", 403)]
#[case::old_browser_elsewhere("cookie: s=1\r\norigin: https://evil.example\r\n", 403)]
#[case::browser_here("cookie: s=1\r\nsec-fetch-site: same-origin\r\n", 200)]
#[case::old_browser_here("cookie: s=1\r\norigin: http://localhost\r\n", 200)]
#[case::bearer("authorization: Bearer x\r\norigin: https://evil.example\r\n", 200)]
#[case::no_browser("cookie: s=1\r\n", 200)]
#[tokio::test]
async fn other_sites_cannot_change_anything(#[case] headers: &str, #[case] expected: u16) {
    let Fixture { server, .. } = fixture().await;
    let answer = server.exchange(request("POST /echo/x", headers, "x")).await;
    assert_eq!(status(&answer), expected, "{answer}");
    if expected == 403 {
        assert_eq!(problem(&answer)["code"], "cross_site");
    }
}

#[tokio::test]
async fn requests_are_counted_by_template() {
    let Fixture { server, metrics } = fixture().await;
    for name in ["a", "b"] {
        server
            .exchange(request(&format!("POST /echo/{name}?secret=1"), "", "x"))
            .await;
    }
    server.exchange(request("GET /nowhere/else", "", "")).await;
    // A client that goes away before its answer.
    let mut gone = server.connect().await;
    gone.send("GET /never HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    drop(gone);
    let given_up = "toolgate_http_requests_total{method=\"GET\",route=\"/never\",status=\"499\"} 1";
    let text = loop {
        let text = metrics.render();
        if text.contains("route=\"/never\"") {
            break text;
        }
        tokio::task::yield_now().await;
    };
    for line in [
        "toolgate_http_requests_total{method=\"POST\",route=\"/echo/{name}\",status=\"200\"} 2",
        "toolgate_http_requests_total{method=\"GET\",route=\"unmatched\",status=\"404\"} 1",
        given_up,
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "{line} is not in\n{text}"
        );
    }
    assert!(!text.contains("secret") && !text.contains("else"), "{text}");
}

#[tokio::test]
async fn the_log_line_says_what_happened_and_no_secret() {
    use std::sync::{Arc, Mutex};
    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let sink = Sink::default();
    let writer = sink.clone();
    // All of this test runs on one thread, so that its subscriber sees the server's lines.
    let subscriber = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_writer(move || writer.clone())
        .finish();
    let _default = tracing::subscriber::set_default(subscriber);
    // While there is only one subscriber in the process, lines that another test's thread reaches first are taken to have
    // no subscriber. With a second one every subscriber is asked.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());

    let Fixture { server, .. } = fixture().await;
    let headers = "x-request-id: trace-1\r\ncookie: session=hunter2\r\n";
    let answer = server
        .exchange(request("GET /who?token=hunter2", headers, ""))
        .await;
    assert_eq!(status(&answer), StatusCode::OK.as_u16());

    let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
    let line = text
        .lines()
        .find(|line| line.contains("toolgate::http"))
        .unwrap_or_else(|| panic!("no line in {text}"));
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["method"], "GET");
    assert_eq!(line["route"], "/who");
    assert_eq!(line["status"], 200);
    assert_eq!(line["request_id"], "trace-1");
    assert_eq!(line["principal"], "user:me");
    assert!(line["duration_ms"].as_f64().is_some_and(|ms| ms >= 0.0));
    assert!(!text.contains("hunter2"), "{text}");
}
