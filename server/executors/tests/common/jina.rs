//! A stand-in of Jina's two hosts on loopback, close enough to their documented behaviour to test a client against:
//! paths, option headers, keys, JSON envelopes, text forms, usage and errors.
//!
//! Use it from another crate with `#[path = "../executors/tests/common/jina.rs"] mod jina;`.
//!
//! Some inputs ask for an error: the key [`BROKE_KEY`], the search words `rate limited` and `no results`, and targets with
//! a private address.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

/// The key that both hosts accept.
pub(crate) const VALID_KEY: &str = "jina_0123456789abcdef";
/// A key without credit.
pub(crate) const BROKE_KEY: &str = "jina_no_credit_left";

/// One request as a host received it.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    /// The method.
    pub(crate) method: String,
    /// Path and query, as they were on the wire.
    pub(crate) target: String,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The JSON body, or null.
    pub(crate) body: Value,
}

type Log = Arc<Mutex<Vec<Received>>>;

/// Both hosts, running until the test's runtime ends.
pub(crate) struct JinaStandIn {
    /// `http://127.0.0.1:PORT` of the search host.
    pub(crate) search: String,
    /// `http://127.0.0.1:PORT` of the reader host.
    pub(crate) reader: String,
    log: Log,
}

impl JinaStandIn {
    /// Starts both hosts on free ports.
    pub(crate) async fn start() -> Self {
        let log = Log::default();
        let search = serve(Router::new().fallback(search).with_state(log.clone())).await;
        let reader = serve(Router::new().fallback(reader).with_state(log.clone())).await;
        Self { search, reader, log }
    }

    /// Everything that both hosts received so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.log.lock().expect("no panic while logging").clone()
    }
}

async fn serve(app: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}")
}

async fn search(State(log): State<Log>, request: Request) -> Response {
    let received = record(&log, request).await;
    if let Some(refused) = check_key(&received, true) {
        return refused;
    }
    let q = parameter(&received, "q").unwrap_or_else(|| "search".to_owned());
    match q.as_str() {
        "rate limited" => {
            return failure(
                &received,
                429,
                42903,
                "RateLimitTriggeredError",
                "Per minute limit exceeded",
            );
        }
        "no results" => {
            return failure(
                &received,
                422,
                42206,
                "AssertionFailureError",
                "No search results available",
            );
        }
        _ => {}
    }
    let count: u64 = parameter(&received, "num")
        .and_then(|num| num.parse().ok())
        .unwrap_or(10);
    let hits: Vec<Value> = (1..=count)
        .map(|n| {
            json!({
                "title": format!("Result {n} for {q}"), "url": format!("https://site{n}.example/"),
                "description": "", "content": format!("Text {n}"), "usage": {"tokens": 1000},
            })
        })
        .collect();
    if wants_text(&received) {
        let lines: Vec<String> = (1..=count)
            .map(|n| format!("[{n}] Title: Result {n} for {q}\n[{n}] URL Source: https://site{n}.example/\n"))
            .collect();
        return text(200, &lines.join("\n"), 1000 * count);
    }
    success(json!(hits), 1000 * count)
}

async fn reader(State(log): State<Log>, request: Request) -> Response {
    let received = record(&log, request).await;
    if let Some(refused) = check_key(&received, false) {
        return refused;
    }
    // With GET everything after the host belongs to the page's address, the query too.
    let target = match received.body.get("url").and_then(Value::as_str) {
        Some(url) => url.to_owned(),
        None => percent_decoded(received.target.trim_start_matches('/')),
    };
    if !target.starts_with("http") {
        return failure(&received, 400, 40001, "ParamValidationError", "Invalid URL");
    }
    if target.contains("//10.") {
        return failure(
            &received,
            451,
            45102,
            "SecurityCompromiseError",
            "Private addresses are blocked",
        );
    }
    if wants_text(&received) {
        return text(
            200,
            &format!("Title: A page\n\nURL Source: {target}\n\nMarkdown Content:\nHello\n"),
            42,
        );
    }
    success(
        json!({"title": "A page", "url": target, "content": "Hello", "usage": {"tokens": 42}}),
        42,
    )
}

async fn record(log: &Log, request: Request) -> Received {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20)
        .await
        .unwrap_or_else(|_| Bytes::new());
    let received = Received {
        method: head.method.to_string(),
        target: head
            .uri
            .path_and_query()
            .map(ToString::to_string)
            .unwrap_or_default(),
        headers: head.headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    log.lock().expect("no panic while logging").push(received.clone());
    received
}

fn check_key(received: &Received, required: bool) -> Option<Response> {
    let key = received
        .headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    match key.map(|key| key.trim_start_matches("Bearer ")) {
        None if required => Some(failure(
            received,
            401,
            40103,
            "AuthenticationRequiredError",
            "Authentication is required",
        )),
        None | Some(VALID_KEY) => None,
        Some(BROKE_KEY) => Some(failure(
            received,
            402,
            40203,
            "InsufficientBalanceError",
            "Account balance not enough",
        )),
        // Real servers quote what they were sent more often than one would wish.
        Some(other) => Some(failure(
            received,
            401,
            40102,
            "AuthenticationFailedError",
            &format!("Invalid API key {other}"),
        )),
    }
}

fn parameter(received: &Received, name: &str) -> Option<String> {
    match received.body.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(value) => Some(value.to_string()),
        None => {
            let (_, query) = received.target.split_once('?')?;
            let (_, value) = query
                .split('&')
                .filter_map(|pair| pair.split_once('='))
                .find(|(key, _)| *key == name)?;
            Some(percent_decoded(&value.replace('+', " ")))
        }
    }
}

fn percent_decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text)
        .decode_utf8_lossy()
        .into_owned()
}

fn wants_text(received: &Received) -> bool {
    let accept = received
        .headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .unwrap_or("*/*");
    !accept.contains("json")
}

fn success(data: Value, tokens: u64) -> Response {
    let mut envelope = json!({"code": 200, "status": 20000, "meta": {"usage": {"tokens": tokens}}});
    envelope["data"] = data;
    with_usage(axum::Json(envelope).into_response(), tokens)
}

fn text(status: u16, body: &str, tokens: u64) -> Response {
    let status = StatusCode::from_u16(status).expect("a status");
    with_usage((status, body.to_owned()).into_response(), tokens)
}

fn with_usage(mut response: Response, tokens: u64) -> Response {
    response
        .headers_mut()
        .insert("x-usage-tokens", HeaderValue::from(tokens));
    response
}

fn failure(received: &Received, code: u16, status: u32, name: &str, message: &str) -> Response {
    let http = StatusCode::from_u16(code).expect("a status");
    let readable = format!("{name}: {message}");
    let mut response = if wants_text(received) {
        (http, readable).into_response()
    } else {
        let mut envelope = Map::new();
        for (field, value) in [
            ("data", Value::Null),
            ("code", json!(code)),
            ("name", json!(name)),
            ("status", json!(status)),
            ("message", json!(message)),
            ("readableMessage", json!(readable)),
        ] {
            envelope.insert(field.to_owned(), value);
        }
        (http, axum::Json(envelope)).into_response()
    };
    if code == 429 {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from_static("17"));
    }
    response
}
