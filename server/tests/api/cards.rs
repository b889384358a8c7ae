//! Cards over REST: for programs that work for a target, and larger than a message of the bus.

use async_nats::HeaderMap;
use async_nats::jetstream;
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::bus::until_connected;
use crate::nats::{Nats, subscribe};
use crate::support::{Client, TestApp};

const CARDS: &str = "/projects/demo/cards";
const TOOL: &str = "
name: search
type: worker
description: Searches.
target_subject: cmd.tool.search
arguments: []
options: {timeout_ms: 60000}
---
name: keep
type: worker
description: Keeps a text.
target_subject: cmd.tool.search
parameters: {type: object}
";
/// Of a message of the bus, in bytes.
const MOST: usize = 65_536;

async fn started() -> (Nats, TestApp, String) {
    let nats = Nats::with(&format!("max_payload: {MOST}"));
    let app = TestApp::with(&[("TOOLGATE_NATS_URL", &nats.url())]).await;
    until_connected(&app, true).await;
    let admin = app.demo().await;
    admin.upload("/projects/demo/tools", TOOL).await.expect(201);
    let token = admin.token.clone().expect("a token");
    (nats, app, token)
}

/// A key whose programs may do something on the bus.
async fn key<'a>(app: &'a TestApp, admin: &Client<'_>, bus: Value) -> Client<'a> {
    let body = json!({"name": "program", "role": "agent", "groups": [], "bus": bus});
    let made = admin.post("/projects/demo/keys", &body).await.expect(201).json();
    app.client(made["secret"].as_str().expect("a secret"))
}

/// The card of a result.
fn card(id: &str, call: &str, step: &str, result: &Value) -> Value {
    json!({
        "card_id": id, "project_id": "demo", "type": "tool.result", "author_id": "tool.search", "tool_call_id": call,
        "content": {"status": "success", "after_execution": "suspend", "result": result, "error": null},
        "metadata": {"tool_call_id": call, "function_name": "search", "role": "tool", "step_id": step},
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_stores_a_result_that_no_message_carries_and_its_caller_gets_it_whole() {
    let (nats, app, token) = started().await;
    let admin = app.client(&token);
    let worker = key(&app, &admin, json!({"workers": ["search"]})).await;
    let client = async_nats::connect(nats.url()).await.expect("connected");
    let mut commands = subscribe(&client, "cg.v1r4.demo.*.cmd.tool.search.>").await;
    let working = async {
        let command = commands.next().await.expect("a command");
        let headers = command.headers.clone().expect("headers");
        let header = |name: &str| headers.get(name).map_or("", |value| value.as_str());
        let payload: Value = serde_json::from_slice(&command.payload).expect("JSON");
        let id = payload["tool_call_card_id"].as_str().expect("a card");
        let call = worker.get(&format!("{CARDS}/{id}")).await.expect(200).json();
        assert_eq!(
            (&call["type"], &call["content"]["tool_name"]),
            (&json!("tool.call"), &json!("search"))
        );

        let result = json!({"text": "x".repeat(3 * MOST)});
        let result = card("r1", header("CG-Tool-Call-Id"), header("CG-Step-Id"), &result);
        let answer = worker.post(CARDS, &result).await.expect(201);
        assert_eq!(answer.header("location"), "/projects/demo/cards/r1");
        let stored = answer.json();
        assert!(stored["artifact_id"].is_string(), "{stored}");
        let context = jetstream::new(client.clone());
        let bucket = context.get_key_value("cards_demo").await.expect("the cards");
        let there = bucket.get("r1").await.expect("an answer").expect("a card");
        assert!(there.len() < 1024, "the card names the artifact");

        let mut said = HeaderMap::new();
        for name in [
            "CG-Tool-Call-Id",
            "CG-Turn-Epoch",
            "CG-Project-Id",
            "CG-Recursion-Depth",
        ] {
            said.insert(name, header(name));
        }
        said.insert("CG-Sender", "tool.search");
        let report = json!({"status": "success", "after_execution": "suspend", "tool_result_card_id": "r1"});
        let sent = client.publish_with_headers(
            "cg.v1r4.demo.toolgate.evt.tool.search.report",
            said,
            report.to_string().into(),
        );
        sent.await.expect("sent");
        client.flush().await.expect("sent");
        let mut whole = worker.get(&format!("{CARDS}/r1")).await.expect(200).json();
        let ttl = whole.as_object_mut().expect("a card").remove("ttl_seconds");
        assert_eq!(ttl, Some(json!(86_400)));
        assert_eq!(whole, result);
    };
    let call = json!({"tool": "search", "arguments": {}});
    let (answer, ()) = tokio::join!(admin.post("/projects/demo/calls", &call), working);
    let answer = answer.expect(200).json();
    assert_eq!(answer["status"], "succeeded", "{}", answer["error"]);
    assert_eq!(answer["result"]["text"].as_str().map(str::len), Some(3 * MOST));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cards_are_for_auditors_and_for_programs_of_the_bus() {
    let (_nats, app, token) = started().await;
    let admin = app.client(&token);
    let worker = key(&app, &admin, json!({"workers": ["search"]})).await;
    let other = key(&app, &admin, json!({"workers": ["other"]})).await;
    let caller = key(&app, &admin, json!({"calls": true})).await;
    let service = key(&app, &admin, json!({"services": true})).await;
    let good = card("r1", "c1", "s1", &json!("found"));
    for refused in [&other, &caller, &service, &admin] {
        refused.post(CARDS, &good).await.problem(403, "forbidden");
    }
    let stored = worker.post(CARDS, &good).await.expect(201).json();
    assert_eq!(stored["artifact_id"], Value::Null);
    worker.post(CARDS, &good).await.problem(409, "conflict");
    for (pointer, value) in [
        ("/card_id", json!("a/b")),
        ("/card_id", json!("")),
        ("/type", json!("tool.note")),
        ("/project_id", json!("other")),
        ("/content/status", json!("done")),
        ("/content/after_execution", json!("later")),
        ("/content", json!("found")),
        ("/tool_call_id", json!(7)),
    ] {
        let mut wrong = good.clone();
        *wrong.pointer_mut(pointer).expect("there") = value;
        worker.post(CARDS, &wrong).await.problem(422, "invalid_request");
    }
    let mut more = good.clone();
    more["content"]["more"] = json!(1);
    worker.post(CARDS, &more).await.problem(422, "invalid_request");

    let auditor = app.auditor(&admin).await;
    let path = format!("{CARDS}/r1");
    for reader in [&worker, &other, &caller, &auditor] {
        let read = reader.get(&path).await.expect(200).json();
        assert_eq!(read["content"]["result"], "found");
    }
    service.get(&path).await.problem(403, "forbidden");
    for absent in ["r2", "a%20b", "%3E"] {
        worker
            .get(&format!("{CARDS}/{absent}"))
            .await
            .problem(404, "not_found");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_that_no_message_carries_are_an_artifact_that_the_worker_reads() {
    let (nats, app, token) = started().await;
    let admin = app.client(&token);
    let worker = key(&app, &admin, json!({"workers": ["search"]})).await;
    let client = async_nats::connect(nats.url()).await.expect("connected");
    let mut commands = subscribe(&client, "cg.v1r4.demo.*.cmd.tool.search.>").await;
    let text = "x".repeat(3 * MOST);
    let reading = async {
        let command = commands.next().await.expect("a command");
        let payload: Value = serde_json::from_slice(&command.payload).expect("JSON");
        let id = payload["tool_call_card_id"].as_str().expect("a card").to_owned();
        let context = jetstream::new(client.clone());
        let bucket = context.get_key_value("cards_demo").await.expect("the cards");
        let there = bucket.get(&id).await.expect("an answer").expect("a card");
        let there: Value = serde_json::from_slice(&there).expect("JSON");
        let mut whole = worker.get(&format!("{CARDS}/{id}")).await.expect(200).json();
        assert_eq!(whole["content"]["arguments"], json!({"text": text}));
        let named = there["content"]["arguments"]["__cg_artifact"].clone();
        assert!(named["id"].is_string(), "{there}");
        assert_eq!(named["bytes"], json!(whole.to_string().len()));
        // Nothing else differs.
        whole["content"]["arguments"] = there["content"]["arguments"].clone();
        assert_eq!(whole, there);
    };
    let asked = json!({"tool": "keep", "arguments": {"text": text}});
    tokio::select! {
        ended = admin.post("/projects/demo/calls", &asked) => panic!("nothing reports: {}", ended.text()),
        () = reading => {}
    }
    let reserved = json!({"tool": "keep", "arguments": {"__cg_artifact": {"id": "7"}}});
    admin
        .post("/projects/demo/calls", &reserved)
        .await
        .problem(422, "invalid_arguments");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_card_of_a_call_is_stored_by_a_key_that_may_call() {
    let (_nats, app, token) = started().await;
    let admin = app.client(&token);
    let caller = key(&app, &admin, json!({"calls": true})).await;
    let worker = key(&app, &admin, json!({"workers": ["search"]})).await;
    let call = json!({
        "card_id": "c1", "project_id": "demo", "type": "tool.call", "author_id": "agent.a", "tool_call_id": "t1",
        "content": {"tool_name": "keep", "arguments": {"text": "x".repeat(2 * MOST)}, "status": "called"}, "metadata": {},
    });
    worker.post(CARDS, &call).await.problem(403, "forbidden");
    let mut wrong = call.clone();
    wrong["content"]["result"] = json!(1);
    caller.post(CARDS, &wrong).await.problem(422, "invalid_request");
    let stored = caller.post(CARDS, &call).await.expect(201).json();
    assert!(stored["artifact_id"].is_string(), "{stored}");
    assert_eq!(stored["sha256"].as_str().map(str::len), Some(64));
    let whole = caller.get(&format!("{CARDS}/c1")).await.expect(200).json();
    assert_eq!(whole["content"], call["content"]);
}
