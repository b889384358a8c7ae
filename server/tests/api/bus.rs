//! Tool services behind a message bus, as callers and administrators see them.

use async_nats::{Client as BusClient, HeaderMap, Message, Subscriber};
use axum::http::Method;
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::mcp::{McpClient, messages};
use crate::nats::{Nats, subscribe};
use crate::support::{Client, TestApp};

const TOOLS: &str = "/projects/demo/tools";
const CALLS: &str = "/projects/demo/calls";

/// The examples of the tool services specification, as it has them.
const SERVICE: &str = r#"{
  "id": "joke-service",
  "request-queue": "non-persistent://tg/request/joke",
  "response-queue": "non-persistent://tg/response/joke",
  "config-params": [{"name": "style", "required": false}]
}"#;
const TOOL: &str = r#"{
  "type": "tool-service",
  "name": "tell-joke",
  "description": "Tell a joke on a given topic",
  "service": "joke-service",
  "style": "pun",
  "arguments": [
    {"name": "topic", "type": "string", "description": "The topic for the joke"}
  ]
}"#;

/// What the specification's descriptors need of the operator.
const SUBJECTS: &str = "tg.request.joke,tg.response.joke,tg.{project_id}.>";

/// A joke service as the specification has it: it answers on its response queue, by the id.
struct Jokes {
    client: BusClient,
    requests: Subscriber,
}

impl Jokes {
    async fn start(nats: &Nats, requests: &'static str) -> Self {
        let client = async_nats::connect(nats.url()).await.expect("connected");
        let requests = subscribe(&client, requests).await;
        Self { client, requests }
    }

    async fn request(&mut self) -> (Message, Value) {
        let request = self.requests.next().await.expect("a request");
        let envelope: Value = serde_json::from_slice(&request.payload).expect("JSON");
        (request, envelope)
    }

    async fn answer(&self, queue: &'static str, request: &Message, body: &Value) {
        let id = request
            .headers
            .as_ref()
            .and_then(|headers| headers.get("id"))
            .expect("an id");
        let mut headers = HeaderMap::new();
        headers.insert("id", id.clone());
        self.client
            .publish_with_headers(queue, headers, body.to_string().into())
            .await
            .expect("published");
        self.client.flush().await.expect("sent");
    }

    /// Answers the next request like the specification's example.
    async fn tell(&mut self) {
        let (request, envelope) = self.request().await;
        let read = |name: &str| -> Value {
            serde_json::from_str(envelope[name].as_str().expect("a text")).expect("JSON")
        };
        let (config, arguments) = (read("config"), read("arguments"));
        let user = envelope["user"].as_str().expect("a name");
        let style = config["style"].as_str().unwrap_or("pun");
        let topic = arguments["topic"].as_str().unwrap_or_default();
        let response = format!("Hey {user}! Here's a {style} for you:\n\n{topic}");
        let body = json!({"error": null, "response": response, "end_of_stream": true});
        self.answer("tg.response.joke", &request, &body).await;
    }
}

async fn with_bus(nats: &Nats) -> TestApp {
    let url = nats.url();
    let app = TestApp::with(&[("TOOLGATE_NATS_URL", &url), ("TOOLGATE_NATS_SUBJECTS", SUBJECTS)]).await;
    until_connected(&app, true).await;
    app
}

pub(crate) async fn until_connected(app: &TestApp, connected: bool) {
    let bus = app.gateway.bus.as_ref().expect("a bus");
    let changed = async {
        while bus.is_connected() != connected {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), changed)
        .await
        .expect("it changes in time");
}

async fn upload(admin: &Client<'_>, json: &str) -> Value {
    let answer = admin
        .body(Method::POST, TOOLS, "application/json", json.to_owned())
        .await;
    assert!(answer.status.is_success(), "{}", answer.text());
    answer.json()
}

#[tokio::test]
async fn the_joke_service_of_the_specification_is_called_with_the_name_of_the_principal() {
    let nats = Nats::start();
    let app = with_bus(&nats).await;
    let admin = app.demo().await;
    let mut jokes = Jokes::start(&nats, "tg.request.joke").await;
    upload(&admin, SERVICE).await;
    assert_eq!(upload(&admin, TOOL).await["warnings"], json!([]));
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;

    // What a caller says about itself does not count.
    let call =
        json!({"tool": "tell-joke", "arguments": {"topic": "animals"}, "context": {"agent_id": "root"}});
    let (answer, ()) = tokio::join!(agent.post(CALLS, &call), jokes.tell());
    let answer = answer.expect(200).json();
    assert_eq!(answer["status"], "succeeded", "{answer}");
    assert_eq!(
        answer["result"],
        "Hey agent key! Here's a pun for you:\n\nanimals"
    );
    let (answer, ()) = tokio::join!(admin.post(CALLS, &call), jokes.tell());
    assert_eq!(
        answer.expect(200).json()["result"],
        "Hey admin! Here's a pun for you:\n\nanimals"
    );

    // A changed descriptor and a changed tool count for the next call.
    upload(&admin, &TOOL.replace("\"pun\"", "\"dad-joke\"")).await;
    let (answer, ()) = tokio::join!(agent.post(CALLS, &call), jokes.tell());
    assert_eq!(
        answer.expect(200).json()["result"],
        "Hey agent key! Here's a dad-joke for you:\n\nanimals"
    );
    upload(
        &admin,
        &SERVICE.replace("non-persistent://tg/request/joke", "tg.demo.joke"),
    )
    .await;
    let mut moved = Jokes::start(&nats, "tg.demo.joke").await;
    let (answer, ()) = tokio::join!(agent.post(CALLS, &call), moved.tell());
    assert_eq!(answer.expect(200).json()["status"], "succeeded");

    let records = admin
        .get("/projects/demo/audit?tool=tell-joke")
        .await
        .expect(200)
        .json();
    let outcomes: Vec<&Value> = records["items"]
        .as_array()
        .expect("records")
        .iter()
        .map(|record| &record["outcome"])
        .collect();
    assert_eq!(outcomes, ["succeeded"; 4]);
}

#[tokio::test]
async fn parts_of_an_answer_reach_the_caller_as_they_come() {
    let nats = Nats::start();
    let app = with_bus(&nats).await;
    let admin = app.demo().await;
    let mut jokes = Jokes::start(&nats, "tg.request.joke").await;
    upload(&admin, SERVICE).await;
    upload(&admin, TOOL).await;
    let request = admin
        .request(Method::POST, CALLS)
        .header("content-type", "application/json")
        .header("accept", "text/event-stream")
        .body(
            json!({"tool": "tell-joke", "arguments": {"topic": "cats"}})
                .to_string()
                .into(),
        );
    let response = app.open(request.expect("a request")).await;
    let mut events = response.into_body().into_data_stream();
    let mut next = async || {
        let event = events.next().await.expect("an event").expect("a body");
        String::from_utf8_lossy(&event).into_owned()
    };
    assert!(next().await.starts_with("event: call\n"));
    let (request, _) = jokes.request().await;
    for (word, is_last) in [("Knock ", false), ("knock", false), ("", true)] {
        let body = json!({"response": word, "end_of_stream": is_last});
        jokes.answer("tg.response.joke", &request, &body).await;
        // The next part is sent when the one before has reached the caller.
        let event = next().await;
        if is_last {
            let data = event
                .strip_prefix("event: answer\ndata: ")
                .unwrap_or_else(|| panic!("{event}"));
            let answer: Value = serde_json::from_str(data.trim()).expect("JSON");
            assert_eq!(answer["result"], "Knock knock");
        } else {
            assert!(event.contains(&json!(word).to_string()), "{event}");
        }
    }
}

#[tokio::test]
async fn parts_of_an_answer_are_progress_of_an_mcp_call() {
    let nats = Nats::start();
    let app = with_bus(&nats).await;
    let admin = app.demo().await;
    let mut jokes = Jokes::start(&nats, "tg.request.joke").await;
    upload(&admin, SERVICE).await;
    upload(&admin, TOOL).await;
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    let mcp = McpClient::new(agent, "");
    let call = json!({"name": "tell-joke", "arguments": {"topic": "cats"}, "_meta": {"progressToken": "p"}});
    let answering = async {
        let (request, _) = jokes.request().await;
        for (part, is_last) in [
            (json!("Knock "), false),
            (json!({"n": 2}), false),
            (json!(""), true),
        ] {
            let body = json!({"response": part, "end_of_stream": is_last});
            jokes.answer("tg.response.joke", &request, &body).await;
        }
    };
    let (answer, ()) = tokio::join!(mcp.send("tools/call", call), answering);
    let told = messages(&answer.expect(200));
    let progress: Vec<&Value> = told.iter().map(|told| &told["params"]["message"]).collect();
    assert_eq!(
        progress,
        [
            &json!("the call is running"),
            &json!("Knock "),
            &json!("{\"n\":2}"),
            &json!(null)
        ]
    );
    let numbers: Vec<&Value> = told.iter().map(|told| &told["params"]["progress"]).collect();
    assert_eq!(numbers[..3], [&json!(1.0), &json!(2.0), &json!(3.0)]);
    let result = &told.last().expect("a result")["result"];
    assert_eq!(result["isError"], json!(false), "{result}");
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_the_service() {
    let nats = Nats::start();
    let app = with_bus(&nats).await;
    let admin = app.demo().await;
    let mut jokes = Jokes::start(&nats, "tg.request.joke").await;
    let mut cancelled = Jokes::start(&nats, "tg.request.joke.cancel").await;
    upload(&admin, SERVICE).await;
    upload(&admin, TOOL).await;
    let request = admin
        .request(Method::POST, CALLS)
        .header("content-type", "application/json")
        .header("prefer", "respond-async")
        .body(
            json!({"tool": "tell-joke", "arguments": {"topic": "cats"}})
                .to_string()
                .into(),
        );
    let begun = admin.send(request.expect("a request")).await.expect(202);
    let (request, _) = jokes.request().await;
    admin.delete(begun.header("location"), None).await.expect(202);
    let cancellation = cancelled.requests.next().await.expect("a cancellation");
    let id = |message: &Message| {
        message
            .headers
            .as_ref()
            .and_then(|headers| headers.get("id"))
            .cloned()
    };
    assert_eq!(id(&cancellation), id(&request));
}

#[tokio::test]
async fn a_service_of_another_projects_subjects_is_refused_at_the_upload() {
    let nats = Nats::start();
    let app = with_bus(&nats).await;
    let admin = app.demo().await;
    for queue in [
        "non-persistent://tg/other/joke",
        "$SYS.REQ",
        "_INBOX.x",
        "tg.demo.>",
    ] {
        let service = SERVICE.replace("non-persistent://tg/request/joke", queue);
        let problem = admin
            .body(Method::POST, TOOLS, "application/json", service)
            .await
            .problem(422, "invalid_definition");
        let fault = &problem["errors"][0];
        assert!(
            fault["message"].to_string().contains("request-queue"),
            "{queue}: {problem}"
        );
    }
}

#[tokio::test]
async fn operators_see_whether_the_bus_is_connected() {
    let plain = TestApp::new().await;
    assert_eq!(
        plain.anonymous().get("/readyz").await.expect(200).json()["message_bus"],
        json!(null)
    );

    let mut nats = Nats::start();
    let app = with_bus(&nats).await;
    let admin = app.demo().await;
    upload(&admin, SERVICE).await;
    upload(&admin, TOOL).await;
    let check = async || -> Value {
        let status = admin.get("/status").await.expect(200).json();
        let mut checks = status["checks"].as_array().expect("checks").clone().into_iter();
        checks
            .find(|check| check["id"] == "message_bus")
            .expect("the bus")
    };
    let found = check().await;
    assert_eq!(found["status"], "ok", "{found}");
    assert!(found["summary"].to_string().contains(&nats.url()), "{found}");
    let ready = async || app.anonymous().get("/readyz").await.expect(200).json();
    assert_eq!(ready().await, json!({"status": "ok", "message_bus": true}));
    let metrics = async || app.anonymous().get("/metrics").await.expect(200).text();
    assert!(metrics().await.contains("toolgate_bus_connected 1"));

    nats.stop();
    until_connected(&app, false).await;
    let found = check().await;
    assert_eq!(found["status"], "failing", "{found}");
    assert!(
        found["summary"].to_string().contains("Not connected to"),
        "{found}"
    );
    assert_eq!(ready().await, json!({"status": "ok", "message_bus": false}));
    assert!(metrics().await.contains("toolgate_bus_connected 0"));
    let answer = admin
        .post(
            CALLS,
            &json!({"tool": "tell-joke", "arguments": {"topic": "cats"}}),
        )
        .await
        .expect(200)
        .json();
    assert_eq!(answer["error"]["code"], "tool_unavailable", "{answer}");
    assert_eq!(answer["error"]["retryable"], true);
}
