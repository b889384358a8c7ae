//! Arguments and results of the kits that are larger than a message of the bus: they are read and stored by the REST API or are
//! failures, and nothing is run again for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use toolgate_worker::{Failure, ToolService, Worker};

use crate::bus::until_connected;
use crate::kits::Program;
use crate::nats::Nats;
use crate::support::{Client, TestApp, serve};

const MOST: usize = 65_536;
const TOOLS: &str = "
tool-service:
  large: {request-queue: tg.demo.large, response-queue: tg.demo.answers}
tool:
  work: {type: worker, description: Works., target_subject: cmd.tool.large, parameters: {type: object, properties: {bytes: {type: integer}, more: {type: string}}}}
  serve: {type: tool-service, description: Serves., service: large, arguments: [{name: bytes, type: integer, description: How many.}]}
";
const PYTHON: &str = "
import os
from toolgate_worker import worker


@worker('large', project='demo')
def large(call):
    with open(os.environ['RUNS'], 'a') as runs:
        runs.write('x')
    return 'x' * (call.arguments['bytes'] + len(call.arguments.get('more', '')))


large.run()
";

async fn started() -> (Nats, TestApp, String) {
    let nats = Nats::with(&format!("max_payload: {MOST}"));
    let app = TestApp::with(&[("TOOLGATE_NATS_URL", &nats.url())]).await;
    until_connected(&app, true).await;
    let admin = app.demo().await;
    admin.upload("/projects/demo/tools", TOOLS).await.expect(201);
    let token = admin.token.clone().expect("a token");
    (nats, app, token)
}

async fn call(admin: &Client<'_>, tool: &str, bytes: usize) -> Value {
    asked(admin, tool, &json!({"bytes": bytes})).await
}

async fn asked(admin: &Client<'_>, tool: &str, arguments: &Value) -> Value {
    let request = json!({"tool": tool, "arguments": arguments});
    let answer = admin.post("/projects/demo/calls", &request).await;
    answer.expect(200).json()
}

/// Arguments that no message carries, whose result no message carries either.
async fn large(admin: &Client<'_>) -> Value {
    asked(admin, "work", &json!({"bytes": 1, "more": "y".repeat(2 * MOST)})).await
}

/// The REST API over a socket, and a service key for the worker.
async fn rest(app: &TestApp, admin: &Client<'_>) -> (String, String) {
    let body = json!({"name": "worker", "role": "agent", "groups": [], "bus": {"workers": ["large"]}});
    let made = admin.post("/projects/demo/keys", &body).await.expect(201).json();
    let key = made["secret"].as_str().expect("a secret").to_owned();
    (serve(app.router()).await, key)
}

/// One result that fits, and one that does not.
async fn calls(admin: &Client<'_>, tool: &str, code: &str) {
    let answer = call(admin, tool, 10).await;
    assert_eq!(answer["result"], "xxxxxxxxxx", "{answer}");
    let answer = call(admin, tool, MOST).await;
    assert_eq!(answer["error"]["code"], "execution_failed", "{answer}");
    assert!(answer["error"].to_string().contains(code), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_is_larger_than_a_message_is_a_failure_of_one_run() {
    let (nats, app, token) = started().await;
    let admin = app.client(&token);
    let runs = Arc::new(AtomicUsize::new(0));
    let text = |arguments: &serde_json::Map<String, Value>| {
        let bytes = arguments["bytes"]
            .as_u64()
            .and_then(|bytes| usize::try_from(bytes).ok());
        let more = arguments.get("more").and_then(Value::as_str).map_or(0, str::len);
        Value::from("x".repeat(bytes.unwrap_or_default() + more))
    };
    let counted = Arc::clone(&runs);
    let worker = Worker::new("large", move |call| {
        counted.fetch_add(1, Ordering::SeqCst);
        std::future::ready(Ok::<_, Failure>(text(&call.arguments)))
    });
    let client = async_nats::connect(nats.url()).await.expect("connected");
    let working = tokio::spawn(worker.project("demo").serve(client, std::future::pending()));
    calls(&admin, "work", "the card of the result has").await;
    let unread = large(&admin).await;
    assert_eq!(unread["error"]["code"], "upstream_unavailable", "{unread}");
    assert!(
        unread["error"]["message"]
            .to_string()
            .contains("larger than a message")
    );
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    working.abort();
    let _ended = working.await;

    let (url, key) = rest(&app, &admin).await;
    let counted = Arc::clone(&runs);
    let worker = Worker::new("large", move |call| {
        counted.fetch_add(1, Ordering::SeqCst);
        std::future::ready(Ok::<_, Failure>(text(&call.arguments)))
    });
    let client = async_nats::connect(nats.url()).await.expect("connected");
    let worker = worker.project("demo").rest(&url, &key);
    let working = tokio::spawn(worker.serve(client, std::future::pending()));
    let answer = call(&admin, "work", 2 * MOST).await;
    assert_eq!(
        answer["result"].as_str().map(str::len),
        Some(2 * MOST),
        "{}",
        answer["error"]
    );
    assert_eq!(runs.load(Ordering::SeqCst), 3);
    let answer = large(&admin).await;
    assert_eq!(
        answer["result"].as_str().map(str::len),
        Some(2 * MOST + 1),
        "{}",
        answer["error"]
    );
    assert_eq!(runs.load(Ordering::SeqCst), 4);
    working.abort();

    let service = ToolService::new("large", move |request| {
        std::future::ready(Ok::<_, Failure>(text(&request.arguments)))
    })
    .request_queue("tg.demo.large")
    .response_queue("tg.demo.answers");
    let client = async_nats::connect(nats.url()).await.expect("connected");
    let serving = tokio::spawn(service.serve(client, std::future::pending()));
    while call(&admin, "serve", 1).await["status"] != "succeeded" {
        tokio::task::yield_now().await;
    }
    calls(&admin, "serve", "a message of the answer has more than").await;
    serving.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_it_is_in_python() {
    let (nats, app, token) = started().await;
    let admin = app.client(&token);
    let folder = tempfile::tempdir().expect("a folder");
    let (script, runs) = (folder.path().join("large.py"), folder.path().join("runs"));
    std::fs::write(&script, PYTHON).expect("written");
    let settings = [("NATS_URL", nats.url()), ("RUNS", runs.display().to_string())];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let worker = Program::python(&script, &settings);
    calls(&admin, "work", "the card of the result has").await;
    assert_eq!(large(&admin).await["error"]["code"], "upstream_unavailable");
    assert_eq!(std::fs::read_to_string(&runs).expect("the runs"), "xx");
    worker.kill();

    let (url, key) = rest(&app, &admin).await;
    let settings = [
        settings[0],
        settings[1],
        ("TOOLGATE_URL", url.as_str()),
        ("TOOLGATE_KEY", &key),
    ];
    let _worker = Program::python(&script, &settings);
    let answer = call(&admin, "work", 2 * MOST).await;
    assert_eq!(
        answer["result"].as_str().map(str::len),
        Some(2 * MOST),
        "{}",
        answer["error"]
    );
    let answer = large(&admin).await;
    assert_eq!(
        answer["result"].as_str().map(str::len),
        Some(2 * MOST + 1),
        "{}",
        answer["error"]
    );
    assert_eq!(std::fs::read_to_string(&runs).expect("the runs"), "xxxx");
}
