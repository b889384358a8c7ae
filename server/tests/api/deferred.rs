//! Calls of workers that any server completes: nothing is lost and nothing counts twice, whatever stops in between.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::{self, consumer};
use async_nats::{Client as BusClient, HeaderMap};
use axum::body::Body;
use axum::http::Method;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::bus::until_connected;
use crate::mcp::McpClient;
use crate::nats::Nats;
use crate::postgres::new_database;
use crate::replicas::becomes;
use crate::support::{Answer, Client, TestApp};

const CALLS: &str = "/projects/demo/calls";
const REPORTS: &str = "cg.v1r4.demo.toolgate.evt.tool.search.report";

const TOOL: &str = "
name: search
type: worker
description: Searches.
target_subject: cmd.tool.search
after_execution: suspend
state: found
parameters: {type: object, properties: {q: {type: string}}, additionalProperties: false}
options: {timeout_ms: TIMEOUT}
";

/// A worker behind the bus.
struct Worker {
    client: BusClient,
    context: jetstream::Context,
}

/// A command and the id of its call.
struct Command {
    headers: HeaderMap,
    call: String,
}

impl Worker {
    async fn new(nats: &Nats) -> Self {
        let client = async_nats::connect(nats.url()).await.expect("connected");
        Self {
            context: jetstream::new(client.clone()),
            client,
        }
    }

    /// The next command.
    async fn command(&self) -> Command {
        let stream = loop {
            match self.context.get_stream("cg_cmd_v1r4").await {
                Ok(stream) => break stream,
                Err(_) => tokio::task::yield_now().await,
            }
        };
        let settings = consumer::pull::Config {
            durable_name: Some("tool_search".to_owned()),
            ..Default::default()
        };
        let consumer = stream.get_or_create_consumer("tool_search", settings).await;
        let mut messages = consumer.expect("a consumer").messages().await.expect("messages");
        let message = messages.next().await.expect("one").expect("a message");
        message.ack().await.expect("acknowledged");
        let headers = message.headers.clone().expect("headers");
        let call = headers.get("CG-Tool-Call-Id").expect("an id").to_string();
        Command { headers, call }
    }

    /// Stores a result and reports it; the bus has it then.
    async fn report(&self, command: &Command, card_id: &str, result: &Value) {
        let cards = self.context.get_key_value("cards_demo").await.expect("the cards");
        let card = json!({
            "card_id": card_id, "project_id": "demo", "type": "tool.result", "author_id": "tool.search",
            "content": {"status": "success", "after_execution": "suspend", "result": result},
            "tool_call_id": command.call,
            "metadata": {
                "tool_call_id": command.call, "function_name": "search",
                "step_id": command.headers.get("CG-Step-Id").expect("a step").as_str(),
            },
        });
        cards.put(card_id, card.to_string().into()).await.expect("stored");
        let mut headers = HeaderMap::new();
        for name in [
            "CG-Tool-Call-Id",
            "CG-Turn-Epoch",
            "CG-Project-Id",
            "CG-Recursion-Depth",
        ] {
            headers.insert(name, command.headers.get(name).expect("a header").clone());
        }
        headers.insert("CG-Sender", "tool.search");
        let report =
            json!({"status": "success", "after_execution": "suspend", "tool_result_card_id": card_id});
        let sent = self
            .context
            .publish_with_headers(REPORTS, headers, report.to_string().into());
        sent.await.expect("sent").await.expect("kept");
        self.client.flush().await.expect("sent");
    }

    /// Waits until every report that the bus keeps for the project is acknowledged.
    async fn until_acknowledged(&self) {
        let stream = self.context.get_stream("cg_evt_v1r4").await.expect("the stream");
        let mut names = stream.consumer_names();
        let name = names.next().await.expect("a consumer").expect("a name");
        loop {
            let info = stream.consumer_info(&name).await.expect("the consumer");
            if info.num_pending == 0 && info.num_ack_pending == 0 {
                return;
            }
        }
    }
}

/// A server in a runtime of its own, which ends with all its tasks at once, as by a crash.
struct Crashing {
    runtime: Runtime,
    app: Arc<TestApp>,
    token: String,
}

impl Crashing {
    /// On a database, with the project `demo` and the tool; `token` is the administrator's.
    async fn start(nats: &Nats, database: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let (url, database) = (nats.url(), database.to_owned());
        let work = async move {
            let app = on(&url, &database).await;
            let admin = app.demo().await;
            upload(&admin, 30_000).await;
            let token = admin.token.expect("a token");
            (app, token)
        };
        let (app, token) = runtime.spawn(work).await.expect("it starts");
        Self {
            runtime,
            app: Arc::new(app),
            token,
        }
    }

    /// A request in the runtime of the server, so that its tasks end with it.
    async fn call(
        &self,
        path: &'static str,
        body: &Value,
        headers: &'static [(&'static str, &'static str)],
    ) -> Answer {
        let (app, token, body) = (Arc::clone(&self.app), self.token.clone(), body.clone());
        let work = async move { post(&app.client(token), path, &body, headers).await };
        self.runtime.spawn(work).await.expect("answered")
    }

    async fn crash(self) {
        let Self { runtime, app, .. } = self;
        let ended = tokio::task::spawn_blocking(move || {
            runtime.shutdown_timeout(Duration::from_secs(30));
            drop(app);
        });
        ended.await.expect("it ends");
    }
}

async fn on(nats: &str, database: &str) -> TestApp {
    let settings = [("TOOLGATE_NATS_URL", nats), ("TOOLGATE_DATABASE_URL", database)];
    let app = TestApp::with(&settings).await;
    until_connected(&app, true).await;
    app
}

async fn upload(admin: &Client<'_>, timeout_ms: u32) {
    let tool = TOOL.replace("TIMEOUT", &timeout_ms.to_string());
    let answer = admin.upload("/projects/demo/tools", &tool).await;
    assert!(answer.status.is_success(), "{}", answer.text());
}

async fn call(client: &Client<'_>, body: &Value, headers: &[(&str, &str)]) -> Answer {
    post(client, CALLS, body, headers).await
}

async fn post(client: &Client<'_>, path: &str, body: &Value, headers: &[(&str, &str)]) -> Answer {
    let mut request = client
        .request(Method::POST, path)
        .header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(body.to_string().into());
    client.send(request.expect("a request")).await
}

/// The call when it has ended.
async fn ended(client: &Client<'_>, location: &str) -> Value {
    let request = client.request(Method::GET, location).header("prefer", "wait=60");
    let answer = client.send(request.body(Body::empty()).expect("a request")).await;
    answer.expect(200).json()
}

async fn record(client: &Client<'_>, call: &str) -> Value {
    client
        .get(&format!("/projects/demo/audit/{call}"))
        .await
        .expect(200)
        .json()
}

/// The server stops between command and report; the report comes while there is none. Another server completes the call.
async fn a_report_survives_the_server(database: &str) {
    let nats = Nats::start();
    let worker = Worker::new(&nats).await;
    let first = Crashing::start(&nats, database).await;
    let token = first.token.clone();
    let session = first
        .call("/projects/demo/sessions", &json!({}), &[])
        .await
        .expect(201)
        .json()["id"]
        .clone();
    let body = json!({"tool": "search", "arguments": {"q": "cats"}, "session_id": session});
    let begun = first
        .call(
            CALLS,
            &body,
            &[("prefer", "respond-async"), ("idempotency-key", "k1")],
        )
        .await
        .expect(202);
    let location = begun.header("location").to_owned();
    let command = worker.command().await;
    first.crash().await;
    worker.report(&command, "r1", &json!({"found": 3})).await;

    let second = on(&nats.url(), database).await;
    let client = second.client(&token);
    let running = client.get(&location).await.expect(200).json();
    assert_eq!(running["status"], "running", "it is not closed as interrupted");
    assert!(running["deferred_until"].is_string(), "{running}");
    assert_eq!(
        record(&client, &command.call).await["deferred_until"],
        running["deferred_until"]
    );
    second.run_background();
    let done = ended(&client, &location).await;
    assert_eq!(done["status"], "succeeded", "{done}");
    assert_eq!(done["answer"]["result"], json!({"found": 3}));
    assert_eq!(
        done["answer"]["state"],
        json!({"before": "undefined", "after": "found"})
    );
    assert_eq!(done["answer"]["notes"]["after_execution"], "suspend");
    assert_eq!(done["deferred_until"], Value::Null);
    let recorded = record(&client, &command.call).await;
    assert_eq!(recorded["after_execution"], "suspend", "{recorded}");
    assert_eq!(recorded["state_after"], "found");
    let place = format!("/projects/demo/sessions/{}", session.as_str().expect("an id"));
    assert_eq!(client.get(&place).await.expect(200).json()["state"], "found");
    let again = call(&client, &body, &[("idempotency-key", "k1")])
        .await
        .expect(200);
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.json(), done["answer"]);

    // The same worker reports again, and another one too.
    worker.report(&command, "r1", &json!({"found": 3})).await;
    worker.report(&command, "r2", &json!({"found": 4})).await;
    worker.until_acknowledged().await;
    assert_eq!(record(&client, &command.call).await, recorded);
    assert_eq!(ended(&client, &location).await["answer"], done["answer"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_survives_the_server_on_sqlite() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = format!("sqlite:{}", folder.path().join("toolgate.db").display());
    Box::pin(a_report_survives_the_server(&database)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_survives_the_server_on_postgres() {
    let database = new_database().await;
    Box::pin(a_report_survives_the_server(&database)).await;
}

/// What waits in another server for a report fails at its deadline, or when it is cancelled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_report_another_server_completes_the_call() {
    let nats = Nats::start();
    let worker = Worker::new(&nats).await;
    let database = new_database().await;
    let first = Crashing::start(&nats, &database).await;
    let token = first.token.clone();
    let mut locations = Vec::new();
    for _ in 0..2 {
        let begun = first
            .call(CALLS, &json!({"tool": "search"}), &[("prefer", "respond-async")])
            .await;
        locations.push(begun.expect(202).header("location").to_owned());
        worker.command().await;
    }
    first.crash().await;

    let second = on(&nats.url(), &database).await;
    second.run_background();
    let client = second.client(&token);
    client.delete(&locations[0], None).await.expect(202);
    let cancelled = ended(&client, &locations[0]).await;
    assert_eq!(
        (&cancelled["status"], &cancelled["code"]),
        (&json!("failed"), &json!("cancelled"))
    );
    assert_eq!(client.get(&locations[1]).await.json()["status"], "running");
    second.later(60);
    let late = ended(&client, &locations[1]).await;
    assert_eq!(
        (&late["status"], &late["code"]),
        (&json!("failed"), &json!("timeout"))
    );
    assert_eq!(late["answer"]["error"]["code"], "timeout");
    assert_eq!(late["answer"]["state"]["after"], "undefined");
}

/// A caller that waits is answered as for any call; what comes after the end changes nothing and is acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_report_changes_nothing() {
    let nats = Nats::start();
    let worker = Worker::new(&nats).await;
    let database = new_database().await;
    let app = on(&nats.url(), &database).await;
    app.run_background();
    let admin = app.demo().await;
    upload(&admin, 30_000).await;
    let body = json!({"tool": "search"});
    let (answer, command) = tokio::join!(call(&admin, &body, &[]), async {
        let command = worker.command().await;
        worker.report(&command, "r1", &json!("found")).await;
        command
    });
    let answer = answer.expect(200).json();
    assert_eq!(answer["result"], "found", "{answer}");
    let recorded = record(&admin, &command.call).await;
    worker.report(&command, "r2", &json!("again")).await;
    worker.until_acknowledged().await;
    assert_eq!(record(&admin, &command.call).await, recorded);
    let kept = ended(&admin, &format!("{CALLS}/{}", command.call)).await;
    assert_eq!(kept["answer"], answer, "a deferred call's answer is kept");

    let mcp = McpClient::new(admin.clone(), "");
    let (called, ()) = tokio::join!(mcp.call("search", json!({})), async {
        let command = worker.command().await;
        worker.report(&command, "r4", &json!("by MCP")).await;
    });
    assert_eq!(called["content"][0]["text"], "by MCP", "{called}");
    assert_eq!(called["_meta"]["toolgate/after_execution"], "suspend", "{called}");

    upload(&admin, 300).await;
    let failed = call(&admin, &body, &[]).await.expect(200).json();
    assert_eq!(failed["error"]["code"], "timeout", "{failed}");
    let command = worker.command().await;
    let recorded = record(&admin, &command.call).await;
    worker.report(&command, "r3", &json!("late")).await;
    worker.until_acknowledged().await;
    assert_eq!(record(&admin, &command.call).await, recorded);
}

/// A server that waits for the answer of a call gives it, although another one completed the call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_another_server_completed_is_answered_where_it_waits() {
    let nats = Nats::start();
    let worker = Worker::new(&nats).await;
    let database = new_database().await;
    let (first, second) = (on(&nats.url(), &database).await, on(&nats.url(), &database).await);
    first.run_background();
    let admin = first.demo().await;
    upload(&admin, 30_000).await;
    second.run_background();
    let there = second.client(admin.token.clone().expect("a token"));
    becomes(&there, "/projects/demo/tools/search", 200).await;
    // The other server takes the deadline for over.
    second.later(60);
    let body = json!({"tool": "search"});
    let (answer, command) = tokio::join!(call(&admin, &body, &[]), worker.command());
    let answer = answer.expect(200).json();
    assert_eq!(answer["error"]["code"], "timeout", "{answer}");
    assert!(
        answer["error"]["message"]
            .to_string()
            .contains("whether the tool acted"),
        "{answer}"
    );
    let recorded = record(&admin, &command.call).await;
    assert_eq!(recorded["code"], "timeout");
    assert_eq!(recorded["duration_ms"], answer["duration_ms"]);
}
