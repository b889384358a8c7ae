//! Callers on the message bus, with a real server.

mod commands;
mod dead_letters;
mod killed;
mod proof;
mod requests;

use std::sync::Arc;

use async_nats::jetstream::{self, kv};
use async_nats::{Client as BusClient, HeaderMap, Message};
use serde_json::{Value, json};
use toolgate::gateway::bus::sha256;

use crate::bus::until_connected;
use crate::nats::Nats;
use crate::support::{ANY, Client, TestApp, echo, tool};

const INVOKE: &str = "tg.demo.tool.invoke";
const COMMAND: &str = "cg.v1r4.demo.main.cmd.tool.toolgate.run";
const REPORT: &str = "cg.v1r4.demo.main.evt.tool.toolgate.report";
const WAKEUP: &str = "cg.v1r4.demo.main.cmd.agent.worker_generic.wakeup";

/// A project that is open on the bus, with the tool `search` in the group `knowledge`.
struct Open {
    nats: Nats,
    app: Arc<TestApp>,
    admin: String,
    agent: String,
}

impl Open {
    async fn new() -> Self {
        let nats = Nats::start();
        let base = echo().await;
        let url = nats.url();
        let settings = [
            ("TOOLGATE_NATS_URL", url.as_str()),
            ("TOOLGATE_EGRESS_ALLOW", &base),
        ];
        let app = TestApp::with(&settings).await;
        until_connected(&app, true).await;
        Self::with(nats, app, &base).await
    }

    async fn with(nats: Nats, app: TestApp, base: &str) -> Self {
        let admin = app.demo().await;
        let yaml = tool("search", base, "/search", "group: [knowledge]\nstate: found\n");
        admin.upload("/projects/demo/tools", &yaml).await.expect(201);
        let agent = app.key(&admin, "demo", "agent", &["knowledge", "default"]).await;
        let (admin, agent) = (admin.token.expect("a token"), agent.token.expect("a key"));
        let open = Self {
            nats,
            app: Arc::new(app),
            admin,
            agent,
        };
        open.set(json!({"targets": ["toolgate"], "agents": {"researcher": "worker_generic"}}))
            .await;
        open.app.run_background();
        open
    }

    fn admin(&self) -> Client<'_> {
        self.app.client(&self.admin)
    }

    fn agent(&self) -> Client<'_> {
        self.app.client(&self.agent)
    }

    async fn set(&self, entrance: Value) {
        let settings = json!({"bus_entrance": entrance});
        self.admin()
            .send_json(
                axum::http::Method::PUT,
                "/projects/demo/settings",
                &ANY,
                &settings,
            )
            .await
            .expect(200);
    }

    async fn client(&self) -> BusClient {
        async_nats::connect(self.nats.url()).await.expect("connected")
    }

    /// The last record, as an auditor reads it.
    async fn last_record(&self) -> Value {
        self.records(1).await.remove(0)
    }

    async fn records(&self, count: usize) -> Vec<Value> {
        let page = self
            .app
            .auditor(&self.admin())
            .await
            .get(&format!("/projects/demo/audit?action=call&limit={count}"))
            .await
            .expect(200)
            .json();
        page["items"].as_array().expect("records").clone()
    }
}

/// A token of a principal for a message.
async fn token(principal: &Client<'_>, subject: &str, payload: &[u8], card: Option<&[u8]>) -> String {
    let mut body = json!({"subject": subject, "payload_sha256": sha256(payload)});
    if let Some(card) = card {
        body["card_sha256"] = json!(sha256(card));
    }
    let answer = principal
        .post("/projects/demo/bus-tokens", &body)
        .await
        .expect(201);
    answer.json()["token"].as_str().expect("a token").to_owned()
}

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.insert(*name, *value);
    }
    headers
}

/// Sends a request until the server has opened the entrance, and gives the answer.
async fn request(client: &BusClient, subject: &str, said: HeaderMap, payload: &str) -> (HeaderMap, Value) {
    let message: Message = loop {
        let sent = client
            .request_with_headers(subject.to_owned(), said.clone(), payload.to_owned().into())
            .await;
        match sent {
            Ok(message) => break message,
            Err(error) => assert_eq!(
                error.kind(),
                async_nats::RequestErrorKind::NoResponders,
                "{error}"
            ),
        }
    };
    let body = serde_json::from_slice(&message.payload).expect("JSON");
    (message.headers.unwrap_or_default(), body)
}

/// A request with its own token, as the kits send it.
async fn invoke(
    client: &BusClient,
    principal: &Client<'_>,
    said: &[(&str, &str)],
    payload: &Value,
) -> (HeaderMap, Value) {
    let payload = payload.to_string();
    let mut headers = headers(said);
    headers.insert(
        "Toolgate-Token",
        token(principal, INVOKE, payload.as_bytes(), None).await,
    );
    request(client, INVOKE, headers, &payload).await
}

/// An agent system: it stores cards, sends commands, and reads reports.
struct Caller<'o> {
    open: &'o Open,
    context: jetstream::Context,
    cards: kv::Store,
}

impl<'o> Caller<'o> {
    /// When the server takes commands.
    async fn new(open: &'o Open) -> Self {
        let context = jetstream::new(open.client().await);
        let stream = loop {
            match context.get_stream("cg_cmd_v1r4").await {
                Ok(stream) => break stream,
                Err(_) => tokio::task::yield_now().await,
            }
        };
        while stream.get_info().await.expect("a stream").state.consumer_count == 0 {
            tokio::task::yield_now().await;
        }
        let cards = match context.get_key_value("cards_demo").await {
            Ok(cards) => cards,
            Err(_) => context
                .create_key_value(kv::Config {
                    bucket: "cards_demo".to_owned(),
                    ..kv::Config::default()
                })
                .await
                .expect("a bucket"),
        };
        Self { open, context, cards }
    }

    /// The card and the payload of a call.
    fn call(id: &str, tool: &str, arguments: &Value) -> (Value, Value) {
        let card = json!({
            "card_id": format!("card-{id}"), "project_id": "demo", "type": "tool.call", "author_id": "agent.researcher",
            "created_at": "2026-05-04T08:00:00.000Z", "tool_call_id": id,
            "content": {"tool_name": tool, "arguments": arguments, "status": "called", "target_subject": COMMAND},
            "metadata": {"agent_turn_id": "turn-1", "tool_call_id": id, "step_id": "step-1", "trace_id": "trace-1",
                         "parent_step_id": "step-0"},
        });
        let payload = json!({"tool_call_card_id": format!("card-{id}"), "tool_name": tool, "after_execution": "suspend"});
        (card, payload)
    }

    fn control(id: &str) -> HeaderMap {
        headers(&[
            ("CG-Agent-Id", "researcher"),
            ("CG-Turn-Id", "turn-1"),
            ("CG-Tool-Call-Id", id),
            ("CG-Turn-Epoch", "3"),
            ("CG-Recursion-Depth", "1"),
            ("CG-Step-Id", "step-1"),
            (
                "traceparent",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            ),
            ("Toolgate-Group", "knowledge"),
        ])
    }

    async fn store(&self, card: &Value) -> String {
        let text = card.to_string();
        let id = card["card_id"].as_str().expect("an id");
        self.cards.put(id, text.clone().into()).await.expect("stored");
        text
    }

    /// Publishes a command with a token for it and its card.
    async fn send(&self, mut said: HeaderMap, card: &str, payload: &Value) {
        let payload = payload.to_string();
        let token = token(
            &self.open.agent(),
            COMMAND,
            payload.as_bytes(),
            Some(card.as_bytes()),
        )
        .await;
        said.insert("Toolgate-Token", token);
        self.publish(said, payload).await;
    }

    async fn publish(&self, said: HeaderMap, payload: String) {
        let sent = self
            .context
            .publish_with_headers(COMMAND, said, payload.into())
            .await;
        sent.expect("sent").await.expect("kept");
    }

    /// The message of a subject that a stream has, when it is there.
    async fn kept(&self, stream: &str, subject: &str, after: u64) -> jetstream::message::StreamMessage {
        loop {
            if let Ok(stream) = self.context.get_stream(stream).await
                && let Ok(message) = stream.get_first_raw_message_by_subject(subject, after + 1).await
            {
                return message;
            }
            tokio::task::yield_now().await;
        }
    }

    async fn report(&self, after: u64) -> (u64, HeaderMap, Value, Value) {
        let message = self.kept("cg_evt_v1r4", REPORT, after).await;
        let report: Value = serde_json::from_slice(&message.payload).expect("JSON");
        let card = report["tool_result_card_id"].as_str().expect("a card");
        let card = self.cards.get(card).await.expect("an answer").expect("a card");
        let card = serde_json::from_slice(&card).expect("JSON");
        (message.sequence, message.headers, report, card)
    }

    async fn dead_letter(&self) -> Value {
        loop {
            let page = self
                .open
                .admin()
                .get("/projects/demo/dead-letters")
                .await
                .expect(200)
                .json();
            if let Some(letter) = page["items"].as_array().and_then(|items| items.last()) {
                return letter.clone();
            }
            tokio::task::yield_now().await;
        }
    }
}
