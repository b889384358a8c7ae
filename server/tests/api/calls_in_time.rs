//! Calls that take time: answered before their end, asked for by their id, cancelled, answered by events.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use axum::routing::any;
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::gate::Gate;
use crate::postgres::new_database;
use crate::support::{ANY, Answer, Client, TestApp, serve, tool};

const CALLS: &str = "/projects/demo/calls";

/// A project whose tool `wait` answers when the test says so, and a key that may call it.
async fn with_gate(settings: &[(&str, &str)]) -> (Gate, TestApp, String) {
    let gate = Gate::start().await;
    let mut settings = settings.to_vec();
    settings.push(("TOOLGATE_EGRESS_ALLOW", &gate.base));
    let app = TestApp::with(&settings).await;
    let admin = app.demo().await;
    let yaml = tool("wait", &gate.base, "/wait", "group: [slow]\nstate: done\n");
    admin.upload("/projects/demo/tools", &yaml).await.expect(201);
    let agent = app.key(&admin, "demo", "agent", &["slow"]).await;
    let token = agent.token.clone().expect("a key");
    (gate, app, token)
}

fn request(client: &Client<'_>, q: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let mut request = client
        .request(Method::POST, CALLS)
        .header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = json!({"tool": "wait", "arguments": {"q": q}, "group": ["slow"]});
    request.body(body.to_string().into()).expect("a request")
}

async fn begin(client: &Client<'_>, q: &str) -> String {
    let answer = client
        .send(request(client, q, &[("prefer", "respond-async")]))
        .await
        .expect(202);
    assert_eq!(answer.header("preference-applied"), "respond-async");
    let state = answer.json();
    assert_eq!(state["status"], "running");
    let location = answer.header("location").to_owned();
    assert_eq!(
        location,
        format!("{CALLS}/{}", state["call_id"].as_str().expect("an id"))
    );
    location
}

async fn waited_for(client: &Client<'_>, location: &str) -> Value {
    let request = client.request(Method::GET, location).header("prefer", "wait=60");
    client
        .send(request.body(Body::empty()).expect("a request"))
        .await
        .expect(200)
        .json()
}

async fn cancel(client: &Client<'_>, location: &str) -> Answer {
    let request = client.request(Method::DELETE, location);
    client.send(request.body(Body::empty()).expect("a request")).await
}

#[tokio::test]
async fn a_call_is_answered_before_its_end_and_its_result_is_found_by_its_id() {
    let (mut gate, app, token) = with_gate(&[]).await;
    let agent = app.client(&token);
    let location = begin(&agent, "a").await;
    assert_eq!(gate.arrival().await, "a");
    let running = agent.get(&location).await.expect(200).json();
    assert_eq!(
        (&running["status"], &running["answer"]),
        (&json!("running"), &Value::Null)
    );
    gate.release("a", 200);
    let ended = waited_for(&agent, &location).await;
    assert_eq!(ended["status"], "succeeded");
    assert_eq!(ended["answer"]["result"], json!({"q": "a"}));
    assert_eq!(ended["answer"]["state"]["after"], "done");
    assert_eq!(ended["answer"]["call_id"], ended["call_id"]);
    assert!(ended["answer_kept_until"].is_string(), "{ended}");

    let failing = begin(&agent, "b").await;
    gate.arrival().await;
    gate.release("b", 500);
    let failed = waited_for(&agent, &failing).await;
    assert_eq!(
        (&failed["status"], &failed["code"]),
        (&json!("failed"), &json!("upstream_unavailable"))
    );
    assert_eq!(failed["answer"]["error"]["code"], "upstream_unavailable");
}

/// Refused before anything runs, a call is answered like any other.
#[tokio::test]
async fn refusals_come_at_once() {
    let (_gate, app, token) = with_gate(&[]).await;
    let agent = app.client(&token);
    for accept in ["application/json", "text/event-stream"] {
        let body = json!({"tool": "absent", "group": ["slow"]});
        let request = agent
            .request(Method::POST, CALLS)
            .header("content-type", "application/json")
            .header("prefer", "respond-async")
            .header("accept", accept)
            .body(body.to_string().into());
        agent
            .send(request.expect("a request"))
            .await
            .problem(404, "tool_not_found");
    }
    let other = agent
        .get(&format!("{CALLS}/0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11"))
        .await;
    other.problem(404, "not_found");
}

#[tokio::test]
async fn a_call_that_ends_in_time_is_answered_as_usual() {
    let (mut gate, app, token) = with_gate(&[]).await;
    let agent = app.client(&token);
    let prefer = [("prefer", "respond-async, wait=60")];
    let (answer, ()) = tokio::join!(agent.send(request(&agent, "a", &prefer)), async {
        gate.arrival().await;
        gate.release("a", 200);
    });
    assert_eq!(answer.expect(200).json()["result"], json!({"q": "a"}));
}

#[tokio::test]
async fn a_call_is_cancelled() {
    let (mut gate, app, token) = with_gate(&[]).await;
    let agent = app.client(&token);
    let admin = app.admin().await;
    let location = begin(&agent, "a").await;
    gate.arrival().await;
    assert_eq!(
        cancel(&agent, &location).await.expect(202).json()["status"],
        "running"
    );
    let ended = waited_for(&agent, &location).await;
    assert_eq!(
        (&ended["status"], &ended["code"]),
        (&json!("failed"), &json!("cancelled"))
    );
    // Again changes nothing, and leaves no further record.
    assert_eq!(
        cancel(&agent, &location).await.expect(202).json()["status"],
        "failed"
    );
    let records = admin
        .get("/projects/demo/audit?action=cancel")
        .await
        .expect(200)
        .json();
    let records = records["items"].as_array().expect("a list").clone();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["arguments"]["call"], ended["call_id"]);
    let call = admin
        .get(&format!(
            "/projects/demo/audit?id={}",
            ended["call_id"].as_str().expect("an id")
        ))
        .await;
    assert_eq!(
        call.json()["items"][0]["state_after"],
        "undefined",
        "the state stays"
    );

    // A principal that manages the policy may end the calls of others; their state and answer are theirs alone.
    let second = begin(&agent, "b").await;
    gate.arrival().await;
    admin.get(&second).await.problem(404, "not_found");
    let stranger = app.key(&admin, "demo", "agent", &["slow"]).await;
    stranger.get(&second).await.problem(404, "not_found");
    cancel(&stranger, &second).await.problem(404, "not_found");
    cancel(&admin, &second).await.expect(202);
    assert_eq!(waited_for(&agent, &second).await["code"], "cancelled");
}

/// A client that lost its connection sends the same request again, and learns which call to ask for.
#[tokio::test]
async fn a_repeated_request_names_the_call_that_runs() {
    let (mut gate, app, token) = with_gate(&[]).await;
    let agent = app.client(&token);
    let headers = [("idempotency-key", "k"), ("prefer", "respond-async")];
    let first = agent
        .send(request(&agent, "a", &headers))
        .await
        .expect(202)
        .json();
    gate.arrival().await;
    let again = agent
        .send(request(&agent, "a", &headers[..1]))
        .await
        .problem(409, "idempotency_in_progress");
    assert_eq!(again["call_id"], first["call_id"]);
    gate.release("a", 200);
    let location = format!("{CALLS}/{}", first["call_id"].as_str().expect("an id"));
    assert_eq!(waited_for(&agent, &location).await["status"], "succeeded");
    let replayed = agent.send(request(&agent, "a", &headers)).await.expect(200);
    assert_eq!(replayed.header("idempotency-replayed"), "true");
    assert_eq!(replayed.json()["call_id"], first["call_id"]);
}

#[tokio::test]
async fn an_answer_is_shown_while_its_groups_are_held() {
    let (mut gate, app, token) = with_gate(&[]).await;
    let agent = app.client(&token);
    let admin = app.admin().await;
    let location = begin(&agent, "a").await;
    gate.arrival().await;
    gate.release("a", 200);
    assert!(waited_for(&agent, &location).await["answer"].is_object());
    let keys = admin.get("/projects/demo/keys").await.expect(200).json();
    let key = keys["items"][0]["id"].as_str().expect("a key").to_owned();
    let grant = json!({"role": "agent", "groups": [{"group": "other"}]});
    admin
        .send_json(
            Method::PUT,
            &format!("/projects/demo/permissions/service_key:{key}"),
            &ANY,
            &grant,
        )
        .await
        .expect(200);
    let state = agent.get(&location).await.expect(200).json();
    assert_eq!(
        (&state["status"], &state["answer"]),
        (&json!("succeeded"), &Value::Null)
    );
}

#[tokio::test]
async fn a_call_is_answered_by_events() {
    let (mut gate, app, token) = with_gate(&[]).await;
    let agent = app.client(&token);
    let response = app
        .open(request(&agent, "a", &[("accept", "text/event-stream")]))
        .await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut parts = response.into_body().into_data_stream();
    let first = parts.next().await.expect("an event").expect("a body");
    let first = String::from_utf8_lossy(&first).into_owned();
    let id = first
        .strip_prefix("event: call\ndata: ")
        .and_then(|data| serde_json::from_str::<Value>(data.trim()).ok())
        .unwrap_or_else(|| panic!("{first}"))["call_id"]
        .clone();
    gate.arrival().await;
    gate.release("a", 200);
    let mut rest = String::new();
    while let Some(part) = parts.next().await {
        rest.push_str(&String::from_utf8_lossy(&part.expect("a body")));
    }
    let data = rest
        .strip_prefix("event: answer\ndata: ")
        .unwrap_or_else(|| panic!("{rest}"));
    let answer: Value = serde_json::from_str(data.trim()).expect("JSON");
    assert_eq!(answer["call_id"], id);
    assert_eq!(answer["result"], json!({"q": "a"}));
}

/// A client that disconnects does not end its call.
#[tokio::test]
async fn a_call_outlives_its_events() {
    let (mut gate, app, token) = with_gate(&[]).await;
    let agent = app.client(&token);
    let headers = [("accept", "text/event-stream"), ("idempotency-key", "k")];
    let response = app.open(request(&agent, "a", &headers)).await;
    gate.arrival().await;
    drop(response);
    gate.release("a", 200);
    let ended = async {
        loop {
            let again = agent.send(request(&agent, "a", &headers[1..])).await;
            if again.status == 200 {
                return again;
            }
            tokio::task::yield_now().await;
        }
    };
    let again = tokio::time::timeout(Duration::from_secs(60), ended)
        .await
        .expect("it ends");
    assert_eq!(again.header("idempotency-replayed"), "true");
}

/// A call is ended by the server that runs it, whichever server got the request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_on_another_server_is_cancelled() {
    let url = new_database().await;
    let (mut gate, first, token) = with_gate(&[("TOOLGATE_DATABASE_URL", &url)]).await;
    first.run_background();
    let second = TestApp::with(&[("TOOLGATE_DATABASE_URL", &url)]).await;
    let (here, there) = (first.client(&token), second.client(&token));
    let location = begin(&here, "a").await;
    gate.arrival().await;
    assert_eq!(there.get(&location).await.expect(200).json()["status"], "running");
    cancel(&there, &location).await.expect(202);
    assert_eq!(waited_for(&there, &location).await["code"], "cancelled");
}

/// What an upstream streams is passed on as it comes, and is the answer at the end.
#[tokio::test]
async fn the_events_of_an_upstream_are_passed_on() {
    let (go, gone) = tokio::sync::oneshot::channel::<()>();
    let gone = Arc::new(Mutex::new(Some(gone)));
    let stream = move || {
        let gone = gone.lock().expect("no panic").take();
        let first = futures_util::stream::once(async {
            Ok::<_, Infallible>("event: token\ndata: {\"n\": 1}\n\n: hi\n\n")
        });
        let second = futures_util::stream::once(async move {
            if let Some(gone) = gone {
                gone.await.expect("the test goes on");
            }
            Ok("data: canary-7f3a\n\n")
        });
        let body = Body::from_stream(first.chain(second));
        async move { ([("content-type", "text/event-stream")], body) }
    };
    let base = serve(Router::new().route("/stream", any(stream))).await;
    let app = TestApp::with(&[
        ("TOOLGATE_EGRESS_ALLOW", &base),
        ("TOOLGATE_TOOL_ENV_STREAM_KEY", "canary-7f3a"),
    ])
    .await;
    let admin = app.demo().await;
    let yaml = format!(
        "name: stream\ntype: openapi\ndescription: Streams.\nparameters: {{type: object, properties: {{}}}}\noptions:\n  http:\n    base_url: \"{base}\"\n    path: /stream\n    auth: {{scheme: bearer, env: STREAM_KEY}}\n"
    );
    admin.upload("/projects/demo/tools", &yaml).await.expect(201);
    let call = admin
        .request(Method::POST, CALLS)
        .header("content-type", "application/json")
        .header("accept", "text/event-stream")
        .body(json!({"tool": "stream"}).to_string().into())
        .expect("a request");
    let mut parts = app.open(call).await.into_body().into_data_stream();
    let mut seen = String::new();
    while !seen.contains("event: part") {
        seen.push_str(&String::from_utf8_lossy(
            &parts.next().await.expect("a part").expect("a body"),
        ));
    }
    assert!(
        seen.contains("data: {\"event\":\"token\",\"data\":{\"n\":1}}"),
        "{seen}"
    );
    go.send(()).expect("it waits");
    while let Some(part) = parts.next().await {
        seen.push_str(&String::from_utf8_lossy(&part.expect("a body")));
    }
    assert_eq!(seen.matches("event: part").count(), 2, "{seen}");
    assert!(
        seen.contains("event: answer") && seen.contains("\"events\":[{"),
        "{seen}"
    );
    assert!(!seen.contains("canary"), "{seen}");
}
