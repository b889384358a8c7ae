//! MCP servers behind the gateway: as resources, as sources of tools, as upstreams.

mod calls;
pub(super) mod comparisons;
mod connections;
mod elicitation;
mod floods;
mod health;
mod hostile;
mod imports;
mod instances;
mod logging;
mod management;
mod oauth;
mod offers;
mod registration;
mod replicas;
mod resources;
mod stdio;
mod tasks;

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{Client, TestApp, serve};

pub(super) const SERVERS: &str = "/projects/demo/mcp-servers";

/// What an upstream does with a request.
pub(super) enum Reply {
    /// The result, under the id of the request.
    Result(Value),
    /// A JSON-RPC error.
    Error(i64, &'static str),
    /// A stream of these messages; in their texts `$ID` is the id of the request.
    Events(Vec<String>),
    /// A stream of these messages as they come.
    Stream(BoxStream<'static, String>),
    /// A stream of this message without an end, which is counted while it is read.
    Flood(&'static str, Streams),
    /// A body as it is.
    Body(StatusCode, &'static str, Vec<u8>),
    /// A redirect.
    To(String),
    /// A stream that asks by this message, waits until it is answered, and ends with what this makes of the answer.
    Asks(String, fn(&Value) -> Value),
    /// No answer.
    Never,
}

/// How many streams are read.
#[derive(Clone, Default)]
pub(super) struct Streams(Arc<AtomicUsize>);

impl Streams {
    /// Counts one more until the value is dropped.
    pub(super) fn open(&self) -> OpenStream {
        self.0.fetch_add(1, Ordering::AcqRel);
        OpenStream(Arc::clone(&self.0))
    }

    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }
}

pub(super) struct OpenStream(Arc<AtomicUsize>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

type Answering = dyn Fn(&Value, &HeaderMap) -> Option<Reply> + Send + Sync;

/// An MCP server of the test: answers `initialize`, and what `answering` says.
pub(super) struct Upstream {
    pub(super) url: String,
    /// Every message that came, with the headers.
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    messages: Mutex<VecDeque<(Value, HeaderMap)>>,
    came: Notify,
}

impl Seen {
    /// The answers that came to questions of an id.
    fn answers(&self, id: &Value) -> Vec<Value> {
        let seen = self.messages.lock().expect("a lock");
        let answers = seen.iter().map(|(message, _)| message);
        answers
            .filter(|message| message["method"].is_null() && message["id"] == *id)
            .cloned()
            .collect()
    }

    /// The answer to a question that is put now, when it comes.
    async fn answer(&self, id: &Value, earlier: usize) -> Value {
        loop {
            let came = self.came.notified();
            match self.answers(id).into_iter().nth(earlier) {
                Some(answer) => return answer,
                None => came.await,
            }
        }
    }
}

impl Upstream {
    pub(super) async fn new(answering: impl Fn(&Value) -> Option<Reply> + Send + Sync + 'static) -> Self {
        Self::with_headers(move |message, _| answering(message)).await
    }

    /// One that looks at the headers too.
    pub(super) async fn with_headers(
        answering: impl Fn(&Value, &HeaderMap) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let seen: Arc<Seen> = Arc::default();
        let (messages, answering): (_, Arc<Answering>) = (Arc::clone(&seen), Arc::new(answering));
        let answer = move |method: Method, headers: HeaderMap, body: Bytes| {
            let (messages, answering) = (Arc::clone(&messages), Arc::clone(&answering));
            async move {
                if method != Method::POST {
                    return status(StatusCode::METHOD_NOT_ALLOWED);
                }
                let message: Value = serde_json::from_slice(&body).expect("JSON");
                messages
                    .messages
                    .lock()
                    .expect("a lock")
                    .push_back((message.clone(), headers.clone()));
                messages.came.notify_waiters();
                let Some(id) = message.get("id").filter(|_| message.get("method").is_some()) else {
                    return status(StatusCode::ACCEPTED);
                };
                let reply = answering(&message, &headers).unwrap_or_else(|| usual(&message));
                let mut answer = match reply {
                    Reply::Asks(question, then) => asks(messages, question, then, id.clone()),
                    reply => send(reply, id).await,
                };
                if message["method"] == "initialize" {
                    answer
                        .headers_mut()
                        .insert("mcp-session-id", HeaderValue::from_static("s1"));
                }
                answer
            }
        };
        let url = serve(Router::new().fallback(answer)).await;
        Self { url, seen }
    }

    /// The answers that came so far to what it asked, by the ids of its requests.
    pub(super) fn answers(&self) -> BTreeMap<String, Value> {
        let seen = self.seen.messages.lock().expect("a lock");
        let answers = seen.iter().filter(|(message, _)| message["method"].is_null());
        answers
            .map(|(message, _)| {
                (
                    message["id"].as_str().unwrap_or_default().to_owned(),
                    message.clone(),
                )
            })
            .collect()
    }

    /// Waits until a message of a method has come.
    pub(super) async fn came(&self, method: &str) {
        loop {
            let came = self.seen.came.notified();
            if !self.seen(method).is_empty() {
                return;
            }
            came.await;
        }
    }

    /// The messages of a method that came so far.
    pub(super) fn seen(&self, method: &str) -> Vec<(Value, HeaderMap)> {
        let seen = self.seen.messages.lock().expect("a lock");
        seen.iter()
            .filter(|(message, _)| message["method"] == method)
            .cloned()
            .collect()
    }
}

fn usual(message: &Value) -> Reply {
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => Reply::Result(json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "weather-server", "version": "1.2.0"},
        })),
        "tools/list" => Reply::Result(json!({"tools": [forecast("Says the weather.")]})),
        "tools/call" => Reply::Result(json!({"content": [{"type": "text", "text": "sunny"}]})),
        "ping" => Reply::Result(json!({})),
        _ => Reply::Body(StatusCode::BAD_REQUEST, "text/plain", b"no".to_vec()),
    }
}

async fn send(reply: Reply, id: &Value) -> Response<Body> {
    let body = |status: StatusCode, kind: &str, body: Vec<u8>| {
        let response = Response::builder().status(status).header("content-type", kind);
        response.body(Body::from(body)).expect("a response")
    };
    let message = |value: Value| body(StatusCode::OK, "application/json", value.to_string().into_bytes());
    match reply {
        Reply::Result(result) => message(json!({"jsonrpc": "2.0", "id": id, "result": result})),
        Reply::Error(code, text) => {
            message(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}}))
        }
        Reply::Events(events) => {
            let events: String = events
                .iter()
                .map(|event| format!("data: {}\n\n", event.replace("\"$ID\"", &id.to_string())))
                .collect();
            body(StatusCode::OK, "text/event-stream", events.into_bytes())
        }
        Reply::Stream(messages) => {
            let events = messages.map(|message| Ok::<_, Infallible>(format!("data: {message}\n\n")));
            Response::builder()
                .header("content-type", "text/event-stream")
                .body(Body::from_stream(events))
                .expect("a response")
        }
        Reply::Flood(message, streams) => {
            let open = streams.open();
            let events = stream::repeat_with(move || {
                let _open = &open;
                Ok::<_, Infallible>(format!("data: {message}\n\n"))
            });
            Response::builder()
                .header("content-type", "text/event-stream")
                .body(Body::from_stream(events))
                .expect("a response")
        }
        Reply::Body(status, kind, bytes) => body(status, kind, bytes),
        Reply::To(location) => Response::builder()
            .status(StatusCode::TEMPORARY_REDIRECT)
            .header("location", location)
            .body(Body::empty())
            .expect("a response"),
        Reply::Never | Reply::Asks(..) => std::future::pending().await,
    }
}

/// Asks, waits for the answer, and answers.
fn asks(seen: Arc<Seen>, question: String, then: fn(&Value) -> Value, id: Value) -> Response<Body> {
    let asked: Value = serde_json::from_str(&question).expect("JSON");
    let earlier = seen.answers(&asked["id"]).len();
    let first = futures_util::stream::once(async move { format!("data: {question}\n\n") });
    let second = futures_util::stream::once(async move {
        let answer = seen.answer(&asked["id"], earlier).await;
        format!(
            "data: {}\n\n",
            json!({"jsonrpc": "2.0", "id": id, "result": then(&answer)})
        )
    });
    let events = first.chain(second).map(Ok::<_, std::convert::Infallible>);
    let response = Response::builder().header("content-type", "text/event-stream");
    response.body(Body::from_stream(events)).expect("a response")
}

fn status(status: StatusCode) -> Response<Body> {
    Response::builder()
        .status(status)
        .body(Body::empty())
        .expect("a response")
}

/// A tool as a server lists it.
pub(super) fn forecast(description: &str) -> Value {
    json!({
        "name": "forecast", "description": description,
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "annotations": {"readOnlyHint": true},
    })
}

/// An application that may reach an upstream, with its tools imported and enabled.
pub(super) async fn with_tools(upstream: &Upstream, definition: Value) -> TestApp {
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &upstream.url)]).await;
    let admin = app.demo().await;
    put(&admin, "weather", definition).await;
    import(&admin, "weather").await;
    enable(&admin).await;
    drop(admin);
    app
}

pub(super) async fn put(admin: &Client<'_>, name: &str, definition: Value) -> Value {
    let path = format!("{SERVERS}/{name}");
    admin.send_json(Method::PUT, &path, &[], &definition).await.json()
}

pub(super) async fn import(admin: &Client<'_>, name: &str) -> Value {
    let path = format!("{SERVERS}/{name}/refresh?definitions=true");
    admin.post(&path, &json!({})).await.expect(200).json()
}

/// Enables all tools of the project.
pub(super) async fn enable(admin: &Client<'_>) {
    let enable = json!({"select": {"filter": {}}, "change": {"enabled": true}});
    admin
        .post("/projects/demo/tool-changes", &enable)
        .await
        .expect(200);
}

pub(super) async fn call(client: &Client<'_>, tool: &str, arguments: Value) -> Value {
    let request = json!({"tool": tool, "arguments": arguments});
    client
        .post("/projects/demo/calls", &request)
        .await
        .expect(200)
        .json()
}
