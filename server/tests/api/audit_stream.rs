//! The record as it grows.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use axum::body::BodyDataStream;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::time::timeout;
use toolgate::config::Limits;
use toolgate::serve::serve;

use crate::audit_export::write_many;
use crate::postgres::new_database;
use crate::support::{Client, TestApp, echo, tool};

const STREAM: &str = "/projects/demo/audit/stream";
const CALLS: &str = "/projects/demo/calls";
/// A guard against an unbounded wait.
const PATIENCE: Duration = Duration::from_secs(20);

/// One event.
#[derive(Debug, Clone, PartialEq)]
struct Event {
    id: String,
    kind: String,
    data: Value,
}

/// A listener.
struct Events {
    body: BodyDataStream,
    text: String,
}

impl Events {
    async fn open(client: &Client<'_>, query: &str, last: Option<&str>) -> Self {
        let headers: Vec<(&'static str, &str)> = last.map(|id| ("last-event-id", id)).into_iter().collect();
        let response = client.open(&format!("{STREAM}?{query}"), &headers).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        let mut events = Self {
            body: response.into_body().into_data_stream(),
            text: String::new(),
        };
        let ready = events.next().await.expect("an event");
        assert_eq!(ready.kind, "ready");
        events
    }

    /// The next event, or `None` at the end.
    async fn next(&mut self) -> Option<Event> {
        timeout(PATIENCE, self.wait()).await.expect("an event comes")
    }

    async fn wait(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let field = |name: &str| {
                    let prefix = format!("{name}: ");
                    event
                        .lines()
                        .find_map(|line| line.strip_prefix(&prefix).map(str::to_owned))
                };
                let Some(data) = field("data") else { continue };
                return Some(Event {
                    id: field("id").expect("every event has an id"),
                    kind: field("event").expect("every event has a name"),
                    data: serde_json::from_str(&data).expect("JSON"),
                });
            }
            let chunk = self.body.next().await?;
            self.text += std::str::from_utf8(&chunk.expect("a chunk")).expect("text");
        }
    }

    async fn records(&mut self, count: usize) -> Vec<Event> {
        let mut events = Vec::new();
        while events.len() < count {
            let event = self.next().await.expect("the stream goes on");
            assert_eq!(event.kind, "record", "{event:?}");
            events.push(event);
        }
        events
    }
}

fn outcomes(events: &[Event]) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    events
        .iter()
        .map(|event| (text(&event.data["tool"]), text(&event.data["outcome"])))
        .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected
        .iter()
        .map(|(tool, outcome)| ((*tool).to_owned(), (*outcome).to_owned()))
        .collect()
}

/// A project with a tool that works, and an agent.
async fn project<'a>(app: &'a TestApp, base: &str) -> (Client<'a>, Client<'a>) {
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &tool("search", base, "/search", ""))
        .await
        .expect(201);
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    (admin, agent)
}

async fn call(agent: &Client<'_>, name: &str) {
    let body = json!({"tool": name, "arguments": {"q": "marmalade"}});
    agent.post(CALLS, &body).await;
}

#[tokio::test]
async fn calls_are_sent_when_they_are_opened_and_when_they_end() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let (admin, agent) = project(&app, &base).await;
    call(&agent, "before").await;
    let auditor = app.auditor(&admin).await;
    let mut whole = Events::open(&auditor, "", None).await;
    let mut denied = Events::open(&admin, "outcome=denied&q=other*", None).await;
    call(&agent, "search").await;
    call(&agent, "another").await;
    call(&agent, "other").await;

    let told = whole.records(4).await;
    assert_eq!(
        outcomes(&told),
        pairs(&[
            ("search", "open"),
            ("search", "succeeded"),
            ("another", "denied"),
            ("other", "denied")
        ])
    );
    assert_eq!(told[0].data["id"], told[1].data["id"]);
    assert_eq!(told[1].data["arguments"], json!({"q": "marmalade"}));
    let id = told[1].data["id"].as_str().expect("an id");
    let read = auditor
        .get(&format!("/projects/demo/audit/{id}"))
        .await
        .expect(200)
        .json();
    assert_eq!(told[1].data, read, "an event is what the record says");
    let told = denied.records(1).await;
    assert_eq!(outcomes(&told), pairs(&[("other", "denied")]));
    assert_eq!(told[0].data["payloads_hidden"], true);
    assert_eq!(told[0].data.get("arguments"), None);
}

#[tokio::test]
async fn a_listener_that_comes_back_misses_nothing() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let (admin, agent) = project(&app, &base).await;
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    let elsewhere = app.key(&admin, "other", "agent", &["default"]).await;
    let mut first = Events::open(&admin, "", None).await;
    for name in ["search", "a", "search", "b"] {
        call(&agent, name).await;
        elsewhere
            .post("/projects/other/resolve", &json!({}))
            .await
            .expect(200);
    }
    let whole = first.records(6).await;
    drop(first);
    call(&agent, "c").await;
    for (number, event) in whole.iter().enumerate() {
        let mut again = Events::open(&admin, "", Some(&event.id)).await;
        let rest = again.records(whole.len() - number).await;
        assert_eq!(outcomes(&rest[..rest.len() - 1]), outcomes(&whole[number + 1..]));
        assert_eq!(outcomes(&rest[rest.len() - 1..]), pairs(&[("c", "denied")]));
        // And what comes then comes too, once.
        if number == 0 {
            call(&agent, "d").await;
            assert_eq!(outcomes(&again.records(1).await), pairs(&[("d", "denied")]));
            let mut by_query = Events::open(&admin, &format!("last_event_id={}", event.id), None).await;
            assert_eq!(by_query.records(whole.len()).await.len(), whole.len());
            break;
        }
    }
    let second = &whole[2].id;
    let mut filtered = Events::open(&admin, "tool=b", Some(second)).await;
    assert_eq!(outcomes(&filtered.records(1).await), pairs(&[("b", "denied")]));
    for bad in ["x", "1-1.5.9", "99999999999"] {
        let answer = admin.open(STREAM, &[("last-event-id", bad)]).await;
        assert_eq!(answer.status(), 400, "{bad}");
    }
    admin
        .get(&format!("{STREAM}?limit=1"))
        .await
        .problem(400, "malformed_request");
}

#[tokio::test]
async fn a_restart_is_no_gap() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let agent = app
        .key(&admin, "demo", "agent", &["default"])
        .await
        .token
        .expect("a key");
    let token = admin.token.clone().expect("a token");
    let idle = Arc::strong_count(&app.gateway);
    let mut events = Events::open(&app.client(token.clone()), "action=call", None).await;
    call(&app.client(agent.clone()), "a").await;
    let last = events.records(1).await.remove(0);
    call(&app.client(agent.clone()), "b").await;
    app.gateway.shutdown.stop();
    while events.next().await.is_some() {}
    while Arc::strong_count(&app.gateway) > idle {
        tokio::task::yield_now().await;
    }
    let app = app.restart(&[]).await;
    call(&app.client(agent), "c").await;
    let mut events = Events::open(&app.client(token), "action=call", Some(&last.id)).await;
    assert_eq!(
        outcomes(&events.records(2).await),
        pairs(&[("b", "denied"), ("c", "denied")])
    );
}

#[tokio::test]
async fn streams_end_with_the_credential_and_with_the_server() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let body = json!({"name": "watcher", "role": "auditor", "groups": []});
    let key = admin.post("/projects/demo/keys", &body).await.expect(201).json();
    let watcher = app.client(key["secret"].as_str().expect("a secret"));
    let mut watched = Events::open(&watcher, "action=call", None).await;
    let mut other = Events::open(&admin, "action=call", None).await;
    let path = format!("/projects/demo/keys/{}", key["id"].as_str().expect("an id"));
    admin.delete(&path, Some("*")).await.expect(204);
    let end = watched.next().await.expect("an event");
    assert_eq!(
        (end.kind.as_str(), &end.data["code"]),
        ("end", &json!("unauthenticated"))
    );
    assert_eq!(watched.next().await, None);

    app.gateway.shutdown.stop();
    let end = other.next().await.expect("an event");
    assert_eq!(
        (end.kind.as_str(), &end.data["code"]),
        ("end", &json!("unavailable"))
    );
    assert_eq!(other.next().await, None);
}

#[tokio::test]
async fn listeners_are_bounded_per_project() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    let mut open = Vec::new();
    for _ in 0..32 {
        open.push(Events::open(&admin, "", None).await);
    }
    admin.get(STREAM).await.problem(429, "concurrency_limited");
    let other = admin.open("/projects/other/audit/stream", &[]).await;
    assert_eq!(other.status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listener_that_takes_nothing_gets_the_id_to_continue_from() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    let mut slow = Events::open(&admin, "action=resolve", None).await;
    let mut quick = Events::open(&admin, "tool=last", None).await;
    // More than the queues of a listener hold, and then what says that all of it was read.
    let count = 36 * 500;
    write_many(&app, count).await;
    call(&agent, "last").await;
    quick.records(1).await;
    let mut seen = Vec::new();
    let lagged = loop {
        let event = slow.next().await.expect("an event");
        if event.kind == "lagged" {
            break event;
        }
        seen.push(event);
    };
    assert_eq!(lagged.data["resume_from"], lagged.id.as_str());
    assert_eq!(slow.next().await, None);
    assert!(seen.len() < count);
    let mut again = Events::open(&admin, "action=resolve", Some(&lagged.id)).await;
    seen.extend(again.records(count - seen.len()).await);
    let told: HashSet<&str> = seen
        .iter()
        .filter_map(|event| event.data["id"].as_str())
        .collect();
    assert_eq!(told.len(), count, "each once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_on_one_server_is_sent_by_another() {
    let url = new_database().await;
    let settings = [("TOOLGATE_DATABASE_URL", url.as_str())];
    let first = TestApp::with(&settings).await;
    let admin = first.demo().await;
    let agent = first.key(&admin, "demo", "agent", &["default"]).await;
    let second = TestApp::with(&settings).await;
    let there = second.client(admin.token.clone().expect("a token"));
    let agent_there = second.client(agent.token.clone().expect("a key"));
    let mut here = Events::open(&admin, "", None).await;
    let mut elsewhere = Events::open(&there, "", None).await;
    let mut last = String::new();
    for (client, name) in [
        (&agent, "a"),
        (&agent_there, "b"),
        (&agent, "c"),
        (&agent_there, "d"),
    ] {
        call(client, name).await;
        for events in [&mut here, &mut elsewhere] {
            let told = events.records(1).await;
            assert_eq!(outcomes(&told), pairs(&[(name, "denied")]));
            if name == "b" {
                last.clone_from(&told[0].id);
            }
        }
    }
    // What one server gave out, another understands; a third that has started since gets it too.
    let third = TestApp::with(&settings).await;
    call(&third.client(agent.token.clone().expect("a key")), "e").await;
    let mut again = Events::open(&admin, "", Some(&last)).await;
    let mut told = outcomes(&again.records(3).await);
    told.sort();
    assert_eq!(told, pairs(&[("c", "denied"), ("d", "denied"), ("e", "denied")]));
}

/// Over a socket, with every time limit of a connection at its least.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_outlives_the_limits_of_requests_and_not_the_server() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    let limits = Limits {
        header_timeout_s: 1,
        body_timeout_s: 1,
        idle_timeout_s: 1,
        request_timeout_s: 1,
        linger_s: 0,
        ..app.gateway.config.limits.clone()
    };
    let (router, shutdown) = (app.router(), app.gateway.shutdown.clone());
    let clients = app.clients();
    let served = tokio::spawn(async move { serve(listener, router, &limits, clients, shutdown).await });
    let mut response = reqwest::Client::new()
        .get(format!("http://{address}{STREAM}"))
        .bearer_auth(admin.token.as_deref().expect("a token"))
        .send()
        .await
        .expect("an answer");
    assert_eq!(response.status(), 200);
    let mut text = String::new();
    let mut more = async |until: &str, patience| {
        while !text.contains(until) {
            match timeout(patience, response.chunk()).await {
                Ok(Ok(Some(chunk))) => text += std::str::from_utf8(&chunk).expect("text"),
                Ok(ended) => panic!("it ended with {ended:?} after {text}"),
                Err(_nothing) => return false,
            }
        }
        true
    };
    assert!(more("event: ready", PATIENCE).await);
    assert!(
        !more("event: record", Duration::from_millis(1500)).await,
        "nothing happens"
    );
    call(&agent, "late").await;
    assert!(more("\"late\"", PATIENCE).await);

    let stopped = std::time::Instant::now();
    app.gateway.shutdown.stop();
    assert!(more("event: end", PATIENCE).await);
    let drained = timeout(PATIENCE, served)
        .await
        .expect("it stops")
        .expect("it served");
    assert_eq!(drained.aborted, 0);
    assert!(
        stopped.elapsed() < Duration::from_secs(10),
        "without waiting for the time to drain"
    );
}
