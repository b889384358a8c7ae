//! A real server process that sends traces to a collector and writes the records of its requests into a JSON log.

use std::path::Path;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::support::{PATIENCE, Server, serve};

const KEY: &str = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// A server that sends its traces to a collector, and writes a JSON log.
fn start(folder: &Path, upstream: &str, collector: &str, log: &str) -> Server {
    let settings = [
        ("TOOLGATE_SECRETS_KEY", KEY),
        ("TOOLGATE_LOG", log),
        ("TOOLGATE_LOG_FORMAT", "json"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector),
        ("OTEL_BSP_SCHEDULE_DELAY", "50"),
    ];
    Server::start(folder, upstream, &settings)
}

/// Its next record of a request with this action.
async fn record(server: &mut Server, action: &str) -> Value {
    loop {
        let line = server.line().await;
        let line: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}"));
        if line["target"] == "toolgate::request" && line["action"] == action {
            return line;
        }
    }
}

/// The header that names the trace that a request belongs to (W3C Trace Context, section 3.2).
fn traced() -> HeaderMap {
    let parent = format!("00-{TRACE}-{CALLER}-01").parse().expect("a value");
    HeaderMap::from_iter([(header::HeaderName::from_static("traceparent"), parent)])
}

/// One span, as far as the test looks at it.
#[derive(Debug, Clone, PartialEq)]
struct Span {
    trace: String,
    id: String,
    parent: String,
    name: String,
}

/// The length-delimited fields of a protobuf message: number and bytes.
fn fields(mut message: &[u8]) -> Vec<(u64, &[u8])> {
    fn varint(message: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (&byte, rest) = message.split_first().expect("a varint");
            *message = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }
    let mut found = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message);
        let length = match key & 7 {
            0 => {
                varint(&mut message);
                continue;
            }
            1 => 8,
            2 => usize::try_from(varint(&mut message)).expect("a length"),
            5 => 4,
            other => panic!("wire type {other}"),
        };
        let (bytes, rest) = message.split_at(length);
        message = rest;
        if key & 7 == 2 {
            found.push((key >> 3, bytes));
        }
    }
    found
}

/// The spans of an `ExportTraceServiceRequest`: resource spans, scope spans, spans.
fn spans(request: &[u8]) -> Vec<Span> {
    let inner = |message, number| fields(message).into_iter().filter(move |field| field.0 == number);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    inner(request, 1)
        .flat_map(|(_, resource)| inner(resource, 2))
        .flat_map(|(_, scope)| inner(scope, 2))
        .map(|(_, span)| {
            let field = |number| inner(span, number).next().map_or(&[][..], |(_, bytes)| bytes);
            Span {
                trace: hex(field(1)),
                id: hex(field(2)),
                parent: hex(field(4)),
                name: String::from_utf8(field(5).to_vec()).expect("a name"),
            }
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_one_trace_from_its_caller_to_its_upstream_and_one_line_of_the_log() {
    let (exported, mut exports) = mpsc::unbounded_channel();
    let take = move |uri: Uri, body: Bytes| {
        assert_eq!(uri.path(), "/v1/traces");
        let _kept = exported.send(spans(&body));
        async { "" }
    };
    let collector = serve(Router::new().fallback(take)).await;
    let (called, mut calls) = mpsc::unbounded_channel();
    let answer = move |headers: HeaderMap| {
        let _kept = called.send(headers);
        async { axum::Json(json!({"ok": true})) }
    };
    let upstream = serve(Router::new().fallback(answer)).await;

    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut server = start(
        folder.path(),
        &upstream,
        &collector,
        "warn,toolgate::request=debug",
    );
    let client = server.demo(traced()).await;
    let tool = json!({"name": "search", "type": "openapi", "description": "S.", "parameters": {"type": "object"},
        "group": ["knowledge"], "state": "analysis",
        "options": {"http": {"base_url": upstream, "path": "/x"}}});
    client.post(server.at("/projects/demo/tools"), &tool).await;
    let asked = json!({"tool": "search", "group": ["knowledge"]});
    let answer = client.post(server.at("/projects/demo/calls"), &asked).await;
    assert_eq!(answer["status"], "succeeded", "{answer}");
    client
        .post(
            server.at("/projects/demo/resolve"),
            &json!({"group": ["knowledge"], "state": "x"}),
        )
        .await;

    // The trace.
    let mut seen = Vec::new();
    let (request, call) = loop {
        seen.extend(exports.recv().await.expect("spans"));
        let named = |name: &str| seen.iter().find(|span: &&Span| span.name == name).cloned();
        if let (Some(request), Some(call)) =
            (named("POST /projects/{project_id}/calls"), named("call search"))
        {
            break (request, call);
        }
    };
    assert_eq!((request.trace.as_str(), request.parent.as_str()), (TRACE, CALLER));
    assert_eq!((call.trace.as_str(), &call.parent), (TRACE, &request.id));
    let headers = calls.recv().await.expect("a call");
    let expected = format!("00-{TRACE}-{}-01", call.id);
    assert_eq!(headers["traceparent"].to_str().expect("text"), expected);

    // The line.
    let line = record(&mut server, "call").await;
    assert_eq!(line["requested_groups"], json!(["knowledge"]));
    assert_eq!(line["initial_state"], "undefined");
    assert_eq!(line["state_transitions"][0]["from"], "undefined");
    assert_eq!(line["state_transitions"][0]["to"], "analysis");
    assert_eq!(line["state_transitions"][0]["tool"], "search");
    assert_eq!(
        (&line["available_count"], &line["filtered_by_state_count"]),
        (&json!(1), &json!(0))
    );
    for (list, names) in [
        ("available_tools", json!(["search"])),
        ("filtered_by_group", json!([])),
        ("filtered_by_state", json!([])),
    ] {
        assert_eq!(line[list], names, "{list} of a call");
    }
    assert!(line["execution_time"].as_str().expect("text").ends_with('s'));
    assert_eq!(
        (&line["outcome"], &line["level"]),
        (&json!("succeeded"), &json!("DEBUG"))
    );
    assert!(line["request_id"].is_string());
    let line = record(&mut server, "resolve").await;
    assert_eq!(line["available_tools"], json!(["search"]));
    assert_eq!(line["filtered_by_group"], json!([]));
}

/// It goes to its upstream, and is neither in what the collector gets nor in a line of the log, however much is logged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_is_in_no_span_and_in_no_line() {
    const CANARY: &str = "canary-8d1f60b7a2c94e35";
    let (exported, mut exports) = mpsc::unbounded_channel();
    let take = move |headers: HeaderMap, body: Bytes| {
        let _kept = exported.send((headers, body));
        async { "" }
    };
    let collector = serve(Router::new().fallback(take)).await;
    // What the upstream is sent comes back, with success and with failure.
    let answer = |uri: Uri, headers: HeaderMap, body: String| async move {
        assert_eq!(headers["authorization"], format!("Bearer {CANARY}"));
        assert!(body.contains(CANARY), "{body}");
        let status = match uri.path() {
            "/refuses" => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        };
        let sent = format!("{uri} {headers:?} {body}");
        (status, axum::Json(json!({"message": sent, CANARY: CANARY})))
    };
    let upstream = serve(Router::new().fallback(answer)).await;

    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut server = start(folder.path(), &upstream, &collector, "trace");
    let client = server.demo(traced()).await;
    let secret = server.at("/projects/demo/secrets/KEY");
    client.send(Method::PUT, secret, &json!({"value": CANARY})).await;
    for (name, status) in [("answers", "succeeded"), ("refuses", "failed")] {
        let tool = json!({"name": name, "type": "openapi", "description": "S.",
            "parameters": {"type": "object", "properties": {"token": {"type": "string"}}},
            "options": {"envs": {"token": "secret:KEY"}, "http": {"base_url": upstream, "path": format!("/{name}"),
                "method": "POST", "body": {"inner": "token"}, "auth": {"env": "secret:KEY"}}}});
        client.post(server.at("/projects/demo/tools"), &tool).await;
        let answer = client
            .post(server.at("/projects/demo/calls"), &json!({"tool": name}))
            .await;
        assert_eq!(answer["status"], status, "{answer}");
    }

    let clean = |what: &str, bytes: &[u8]| {
        let mut windows = bytes.windows(CANARY.len());
        let found = windows.any(|window| window == CANARY.as_bytes());
        assert!(
            !found,
            "{what} holds the secret: {}",
            String::from_utf8_lossy(bytes)
        );
    };
    let mut names = Vec::new();
    while !names.iter().any(|name| name == "call refuses") {
        let (headers, body) = timeout(PATIENCE, exports.recv())
            .await
            .expect("it comes")
            .expect("spans");
        clean("the head of an export", format!("{headers:?}").as_bytes());
        clean("an export", &body);
        names.extend(spans(&body).into_iter().map(|span| span.name));
    }
    assert!(names.iter().any(|name| name == "call answers"), "{names:?}");
    // Sending spans makes none: there are those of the requests and of the calls.
    let strange = names
        .iter()
        .find(|name| !name.starts_with("call ") && !name.contains(" /"));
    assert_eq!(strange, None);
    let mut lines = 0;
    let mut calls = 0;
    while calls < 2 {
        let line = server.line().await;
        clean("the log", line.as_bytes());
        lines += 1;
        calls += usize::from(line.contains("toolgate::request") && line.contains("\"action\":\"call\""));
    }
    assert!(lines > 20, "{lines} lines: much was logged");
}
