//! Upstreams that flood, babble and mix up their answers, over each transport.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Method, Response, StatusCode};
use futures_util::StreamExt;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::stdio::{processes, server, until};
use super::{Reply, SERVERS, Streams, Upstream, call, enable, import, put, with_tools};
use crate::support::{Client, TestApp, serve};

const NOTICE: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello"}}"#;

/// Lets a tool run this long.
pub(super) async fn time_out(admin: &Client<'_>, tool: &str, ms: u32) {
    let stored = admin
        .get(&format!("/projects/demo/tools/{tool}"))
        .await
        .expect(200);
    let mut definition = stored.json()["definition"].clone();
    definition["options"] = json!({"timeout_ms": ms});
    admin.post("/projects/demo/tools", &definition).await.expect(200);
}

async fn delete(admin: &Client<'_>, name: &str) {
    admin
        .delete(&format!("{SERVERS}/{name}"), Some("*"))
        .await
        .expect(204);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_before_an_answer_ends_with_its_call_and_costs_no_other_server_anything() {
    let reading = Streams::default();
    let streams = reading.clone();
    let flooding = Upstream::new(move |message| {
        (message["method"] == "tools/call").then(|| Reply::Flood(NOTICE, streams.clone()))
    })
    .await;
    let quiet = Upstream::new(|message| {
        let mut tool = super::forecast("d");
        tool["name"] = json!("quiet");
        (message["method"] == "tools/list").then(|| Reply::Result(json!({"tools": [tool]})))
    })
    .await;
    let allowed = format!("{},{}", flooding.url, quiet.url);
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &allowed)]).await;
    let admin = app.demo().await;
    for (name, upstream) in [("flooding", &flooding), ("quiet", &quiet)] {
        put(&admin, name, json!({"url": upstream.url})).await;
        import(&admin, name).await;
    }
    enable(&admin).await;
    time_out(&admin, "forecast", 500).await;
    let (flooded, other) = tokio::join!(
        call(&admin, "forecast", json!({"city": "Oslo"})),
        call(&admin, "quiet", json!({"city": "Oslo"}))
    );
    assert_eq!(flooded["error"]["code"], "timeout", "{flooded}");
    assert_eq!(other["status"], "succeeded", "{other}");
    delete(&admin, "flooding").await;
    until("the stream is read no more", || reading.count() == 0).await;
}

/// A server of the revision 2024-11-05: one stream brings what `answering` says to each message; without an end if it says
/// [`NOTICE`] alone.
async fn sse(answering: impl Fn(&Value) -> Option<Vec<String>> + Send + Sync + 'static) -> (String, Streams) {
    let open = Streams::default();
    let (streams, answering) = (open.clone(), Arc::new(answering));
    let to_stream: Arc<Mutex<Option<mpsc::UnboundedSender<String>>>> = Arc::default();
    let answer = move |method: Method, body: Bytes| {
        let (to_stream, answering, streams) =
            (Arc::clone(&to_stream), Arc::clone(&answering), streams.clone());
        async move {
            if method == Method::GET {
                let (sender, receiver) = mpsc::unbounded_channel();
                *to_stream.lock().expect("a lock") = Some(sender);
                let first = "event: endpoint\ndata: /messages\n\n".to_owned();
                let events = stream::unfold(
                    (receiver, streams.open(), None::<String>),
                    |(mut receiver, open, again)| async move {
                        let event = match again {
                            Some(event) => Some(event),
                            None => receiver.recv().await,
                        }?;
                        let again = (event == NOTICE).then(|| event.clone());
                        Some((format!("data: {event}\n\n"), (receiver, open, again)))
                    },
                );
                let events = stream::once(std::future::ready(first)).chain(events);
                return Response::builder()
                    .header("content-type", "text/event-stream")
                    .body(Body::from_stream(events.map(Ok::<_, Infallible>)))
                    .expect("a response");
            }
            let message: Value = serde_json::from_slice(&body).expect("JSON");
            let id = message["id"].to_string();
            let result = |result: Value| {
                vec![json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()]
            };
            let usual = match message["method"].as_str() {
                Some("initialize") => result(json!({
                    "protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "old", "version": "1"},
                })),
                Some("tools/list") => result(json!({"tools": [super::forecast("d")]})),
                _ => Vec::new(),
            };
            for event in answering(&message).unwrap_or(usual) {
                let sender = to_stream.lock().expect("a lock");
                let _ended = sender
                    .as_ref()
                    .expect("a stream")
                    .send(event.replace("\"$ID\"", &id));
            }
            Response::builder()
                .status(StatusCode::ACCEPTED)
                .body(Body::empty())
                .expect("a response")
        }
    };
    (serve(Router::new().fallback(answer)).await, open)
}

async fn with_sse(url: &str) -> TestApp {
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", url)]).await;
    let admin = app.demo().await;
    put(
        &admin,
        "weather",
        json!({"url": format!("{url}/sse"), "transport": "sse"}),
    )
    .await;
    import(&admin, "weather").await;
    enable(&admin).await;
    drop(admin);
    app
}

const ANSWER: &str = r#"{"jsonrpc":"2.0","id":"$ID","result":{"content":[{"type":"text","text":"sunny"}]}}"#;
const OTHER: &str =
    r#"{"jsonrpc":"2.0","id":98765,"result":{"content":[{"type":"text","text":"for another"}]}}"#;

#[tokio::test]
async fn an_answer_is_found_among_what_is_none_over_sse() {
    let (url, _) = sse(|message| {
        (message["method"] == "tools/call").then(|| {
            let events = [
                NOTICE,
                "{not JSON",
                "[]",
                "42",
                OTHER,
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#,
                ANSWER,
            ];
            // The notice alone would be said for ever.
            events[1..].iter().map(|&event| event.to_owned()).collect()
        })
    })
    .await;
    let app = with_sse(&url).await;
    let admin = app.admin().await;
    let answer = call(&admin, "forecast", json!({"city": "Oslo"})).await;
    assert_eq!(answer["result"]["content"][0]["text"], "sunny", "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_over_sse_ends_with_its_server() {
    let (url, open) =
        sse(|message| (message["method"] == "tools/call").then(|| vec![NOTICE.to_owned()])).await;
    let app = with_sse(&url).await;
    let admin = app.admin().await;
    time_out(&admin, "forecast", 500).await;
    let answer = call(&admin, "forecast", json!({"city": "Oslo"})).await;
    assert_eq!(answer["error"]["code"], "timeout", "{answer}");
    assert_eq!(open.count(), 1, "the stream is open");
    delete(&admin, "weather").await;
    until("the stream is read no more", || open.count() == 0).await;
}

#[tokio::test]
async fn an_event_that_is_too_large_ends_the_call_over_sse() {
    let (url, _) = sse(|message| {
        (message["method"] == "tools/call").then(|| vec![ANSWER.replace("sunny", &"x".repeat(12 << 20))])
    })
    .await;
    let app = with_sse(&url).await;
    let admin = app.admin().await;
    let answer = call(&admin, "forecast", json!({"city": "Oslo"})).await;
    assert_eq!(answer["error"]["code"], "upstream_unavailable", "{answer}");
    assert_eq!(answer["error"]["retryable"], false, "it may have run: {answer}");
}

/// An application with the tool of a process in that mode.
async fn with_process(mode: &str) -> TestApp {
    let app = TestApp::with(&[("TOOLGATE_MCP_STDIO_COMMANDS", "sh")]).await;
    let admin = app.demo().await;
    put(&admin, "shell", server(mode)).await;
    import(&admin, "shell").await;
    enable(&admin).await;
    drop(admin);
    app
}

#[tokio::test]
async fn an_answer_is_found_among_what_is_none_over_a_pipe() {
    let app = with_process("babbles").await;
    let admin = app.admin().await;
    let answer = call(&admin, "look", json!({})).await;
    assert_eq!(answer["result"]["content"][0]["text"], "after all", "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_floods_ends_with_its_server() {
    let mark = "notices-without-an-end";
    let app = with_process(mark).await;
    let admin = app.admin().await;
    time_out(&admin, "look", 500).await;
    let answer = call(&admin, "look", json!({})).await;
    assert_eq!(answer["error"]["code"], "timeout", "{answer}");
    delete(&admin, "shell").await;
    until("its process ends", || processes(mark) == 0).await;
}

#[tokio::test]
async fn a_body_that_answers_another_request_is_refused_at_once() {
    let bodies: [(&'static str, Option<&str>); 5] = [
        (OTHER, Some("upstream_invalid")),
        (
            r#"{"jsonrpc":"2.0","id":98765,"error":{"code":-32602,"message":"for another"}}"#,
            Some("upstream_invalid"),
        ),
        (NOTICE, Some("upstream_invalid")),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            Some("upstream_invalid"),
        ),
        // Servers that could not read a request do not know its id.
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no"}}"#,
            Some("upstream_rejected"),
        ),
    ];
    for (body, code) in bodies {
        let upstream = Upstream::new(move |message| {
            (message["method"] == "tools/call")
                .then(|| Reply::Body(StatusCode::OK, "application/json", body.as_bytes().to_vec()))
        })
        .await;
        let app = with_tools(&upstream, json!({"url": upstream.url})).await;
        let admin = app.admin().await;
        let answer = call(&admin, "forecast", json!({"city": "Oslo"})).await;
        assert_eq!(answer["error"]["code"].as_str(), code, "{body}: {answer}");
    }
}

#[tokio::test]
async fn a_list_whose_cursor_always_changes_is_given_up() {
    let pages = std::sync::atomic::AtomicUsize::new(0);
    let upstream = Upstream::new(move |message| {
        (message["method"] == "tools/list").then(|| {
            let page = pages.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Reply::Result(json!({"tools": [], "nextCursor": format!("c{page}")}))
        })
    })
    .await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &upstream.url)]).await;
    let admin = app.demo().await;
    put(&admin, "weather", json!({"url": upstream.url})).await;
    let refused = admin
        .post(&format!("{SERVERS}/weather/refresh"), &json!({}))
        .await;
    refused.problem(502, "upstream_invalid");
    assert_eq!(upstream.seen("tools/list").len(), 200);
}

#[tokio::test]
async fn an_answer_that_asks_for_input_is_never_a_result() {
    // What revision 2026-07-28 answers instead of asking by a request of its own.
    let asks = json!({
        "resultType": "input_required", "requestState": "s1",
        "inputRequests": {"who": {"method": "elicitation/create", "params": {
            "mode": "form", "message": "Your password?", "requestedSchema": {"type": "object", "properties": {}},
        }}},
    });
    let mixed = json!({"resultType": "input_required", "requestState": "s1", "content": [{"type": "text", "text": "sunny"}]});
    // A server that asks nothing wants its state back, and gets it so often.
    for (result, calls) in [(asks, 1), (mixed, 11)] {
        let upstream = Upstream::new(move |message| {
            (message["method"] == "tools/call").then(|| Reply::Result(result.clone()))
        })
        .await;
        let app = with_tools(&upstream, json!({"url": upstream.url})).await;
        let admin = app.admin().await;
        let answer = call(&admin, "forecast", json!({"city": "Oslo"})).await;
        assert_eq!(answer["error"]["code"], "upstream_invalid", "{answer}");
        assert_eq!(
            upstream.seen("tools/call").len(),
            calls,
            "nothing is answered in a person's name"
        );
    }
}
