//! Programs that connect to the bus with a service key: the real server asks Toolgate who may connect.

use async_nats::{Client as BusClient, ConnectOptions, Event, HeaderMap, jetstream};
use axum::http::Method;
use futures_util::StreamExt;
use nkeys::{KeyPair, XKey};
use rstest::rstest;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolgate::gateway::bus::sha256;
use toolgate_worker::{Failure, ToolService, Worker};

use crate::bus::until_connected;
use crate::kits::{Program, example};
use crate::nats::Nats;
use crate::support::{ANY, Client, TestApp};

const TOOLS: &str = "
tool-service:
  jokes: {request-queue: tg.demo.jokes, response-queue: tg.demo.answers}
  kept-jokes: {request-queue: persistent://tg/demo/kept, response-queue: tg.demo.answers}
tool:
  tell-joke: {type: tool-service, description: Tells a joke., service: jokes, arguments: []}
  tell-kept-joke: {type: tool-service, description: Tells a joke., service: kept-jokes, arguments: []}
  search-library:
    type: worker
    description: Searches.
    target_subject: cmd.tool.search
    arguments: [{name: q, type: string, description: What to look for.}]
";

/// A gateway that a bus asks, and the project `demo` with tools.
struct Asked {
    nats: Nats,
    app: TestApp,
    admin: String,
}

/// A key for the bus.
struct BusKey {
    id: String,
    secret: String,
}

/// A connection, and what the bus complains of to it.
struct Connected {
    client: BusClient,
    complaints: mpsc::UnboundedReceiver<String>,
}

impl Asked {
    async fn new(encrypted: bool) -> Self {
        let (account, curve) = (KeyPair::new_account(), XKey::new());
        let xkey = if encrypted {
            format!("xkey: {}", curve.public_key())
        } else {
            String::new()
        };
        let nats = Nats::with(&format!(
            "authorization {{\n users: [{{user: gate, password: open-sesame}}]\n \
             auth_callout {{issuer: {}, auth_users: [gate]\n {xkey}}}\n}}",
            account.public_key()
        ));
        let (url, seed) = (nats.url(), account.seed().expect("a seed"));
        let curve = curve.seed().expect("a seed");
        let mut settings = vec![
            ("TOOLGATE_NATS_URL", url.as_str()),
            ("TOOLGATE_NATS_USER", "gate"),
            ("TOOLGATE_NATS_PASSWORD", "open-sesame"),
            ("TOOLGATE_NATS_AUTH_CALLOUT_ISSUER_SEED", &seed),
        ];
        if encrypted {
            settings.push(("TOOLGATE_NATS_AUTH_CALLOUT_XKEY_SEED", &curve));
        }
        let app = TestApp::with(&settings).await;
        until_connected(&app, true).await;
        let admin = app.demo().await;
        admin.upload("/projects/demo/tools", TOOLS).await.expect(201);
        let admin = admin.token.expect("a token");
        app.run_background();
        Self { nats, app, admin }
    }

    fn admin(&self) -> Client<'_> {
        self.app.client(&self.admin)
    }

    async fn key(&self, bus: &Value) -> BusKey {
        let mut body = json!({"name": "program", "role": "agent", "groups": ["default"]});
        if !bus.is_null() {
            body["bus"] = bus.clone();
        }
        let made = self
            .admin()
            .post("/projects/demo/keys", &body)
            .await
            .expect(201)
            .json();
        let text = |name: &str| made[name].as_str().expect("a text").to_owned();
        BusKey {
            id: text("id"),
            secret: text("secret"),
        }
    }

    async fn try_to_connect(
        &self,
        user: &str,
        password: &str,
    ) -> Result<Connected, async_nats::ConnectError> {
        let (said, complaints) = mpsc::unbounded_channel();
        let options = ConnectOptions::with_user_and_password(user.to_owned(), password.to_owned())
            .custom_inbox_prefix(format!("_INBOX.{user}"))
            .event_callback(move |event| {
                if let Event::ServerError(error) = event {
                    let _gone = said.send(error.to_string());
                }
                std::future::ready(())
            });
        let client = options.connect(self.nats.url()).await?;
        Ok(Connected { client, complaints })
    }

    /// A connection, as soon as the gateway listens to the questions of the bus.
    async fn connect(&self, key: &BusKey) -> Connected {
        loop {
            match self.try_to_connect(&key.id, &key.secret).await {
                Ok(connected) => return connected,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let request = json!({"tool": tool, "arguments": arguments});
        let answer = self.admin().post("/projects/demo/calls", &request).await;
        answer.expect(200).json()
    }
}

impl Connected {
    async fn complaint(&mut self) -> String {
        self.complaints.recv().await.expect("a complaint")
    }

    async fn may_not_publish(&mut self, subject: &str) {
        self.client
            .publish(subject.to_owned(), "".into())
            .await
            .expect("sent");
        let complaint = self.complaint().await;
        assert!(
            complaint.to_lowercase().contains("publish") && complaint.contains(subject),
            "{subject}: {complaint}"
        );
    }

    async fn may_not_read(&mut self, subject: &str) {
        let _refused = self.client.subscribe(subject.to_owned()).await.expect("sent");
        let complaint = self.complaint().await;
        assert!(
            complaint.to_lowercase().contains("subscription") && complaint.contains(subject),
            "{subject}: {complaint}"
        );
    }
}

#[rstest]
#[case::services(json!({"services": true}), &["tg.demo.jokes", "tg.demo.tool-descriptors"], &["tg.demo.jokes"])]
#[case::workers(json!({"workers": ["search"]}), &["cg.v1r4.demo.main.evt.tool.search.report", "$KV.cards_demo.x"],
    &["cg.v1r4.demo.deliver.search"])]
#[case::calls(json!({"calls": true}), &["tg.demo.tool.invoke", "cg.v1r4.demo.main.cmd.tool.toolgate.run"],
    &["tg.demo.tool.result.x", "cg.v1r4.demo.*.evt.tool.toolgate.report"])]
#[case::all(json!({"calls": true, "services": true, "workers": ["search"]}), &["tg.demo.tool.invoke.mcp"], &["tg.demo.tool.result"])]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_opens_its_own_subjects_and_no_other(
    #[case] bus: Value,
    #[case] publishes: &[&str],
    #[case] reads: &[&str],
) {
    let asked = Asked::new(false).await;
    let key = asked.key(&bus).await;
    let mut program = asked.connect(&key).await;
    for subject in publishes {
        let sent = program.client.publish((*subject).to_owned(), "".into()).await;
        sent.expect("sent");
    }
    let mut read = Vec::new();
    for subject in reads {
        let subscribed = program.client.subscribe((*subject).to_owned()).await;
        read.push(subscribed.expect("sent"));
    }
    // What was allowed is not among the complaints: the first one is about the first subject here.
    for subject in [
        "tg.other.jokes",
        "tg.other.tool.invoke",
        "tg.demo.tool-descriptors.discover",
        "tg.demo.dead-letters",
        "tg.demo.tool.result",
        "cg.v1r4.other.main.evt.tool.search.report",
        "cg.v1r4.demo.main.evt.tool.other.report",
        "cg.v1r4.demo.main.cmd.tool.search.run",
        "$KV.cards_other.x",
        "$JS.API.STREAM.NAMES",
        "$JS.API.STREAM.INFO.cg_cmd_v1r4",
        "$JS.API.CONSUMER.INFO.cg_cmd_v1r4.tool_other_search_cmd_v1r4",
        "$JS.API.CONSUMER.CREATE.cg_cmd_v1r4.tool_demo_search_cmd_v1r4",
        "$JS.API.CONSUMER.DURABLE.CREATE.cg_cmd_v1r4.tool_demo_search_cmd_v1r4",
        "$JS.ACK.cg_cmd_v1r4.tool_other_search_cmd_v1r4.1.1.1.1.1",
        "$SYS.REQ.USER.AUTH",
        "_INBOX.other.x",
    ] {
        program.may_not_publish(subject).await;
    }
    for subject in [
        ">",
        "tg.other.jokes",
        "tg.*.jokes",
        "tg.demo.tool.invoke",
        "tg.demo.tool-descriptors",
        "_INBOX.>",
        "cg.v1r4.other.*.cmd.tool.search.>",
        "cg.v1r4.demo.*.cmd.tool.search.>",
        "cg.v1r4.other.deliver.search",
        "$KV.cards_demo.>",
    ] {
        program.may_not_read(subject).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn services_and_workers_serve_their_project_with_a_key() {
    let asked = Asked::new(false).await;
    let key = asked.key(&json!({"services": true, "workers": ["search"]})).await;
    let own = [
        ("tg.demo.jokes", "tell-joke"),
        ("persistent://tg/demo/kept", "tell-kept-joke"),
    ];
    for (queue, tool) in own {
        let service = ToolService::new("any", async |request| Ok(format!("Hey {}!", request.user).into()))
            .request_queue(queue)
            .response_queue("tg.demo.answers");
        let client = asked.connect(&key).await.client;
        let serving = tokio::spawn(service.serve(client, std::future::pending()));
        assert_eq!(until_answered(&asked, tool, json!({})).await, "Hey admin!");
        serving.abort();
    }
    let client = asked.connect(&key).await.client;
    let found = async |call: toolgate_worker::Call| -> Result<Value, Failure> {
        Ok(json!({"found": [call.arguments["q"]]}))
    };
    let worker = Worker::new("search", found).project("demo");
    let working = tokio::spawn(worker.serve(client, std::future::pending()));
    let answer = asked.call("search-library", json!({"q": "cats"})).await;
    assert_eq!(answer["result"], json!({"found": ["cats"]}), "{answer}");
    working.abort();

    // The same in Python, by the consumer that is there.
    let url = asked.nats.url();
    let settings = [
        ("NATS_URL", url.as_str()),
        ("NATS_USER", &key.id),
        ("NATS_PASSWORD", &key.secret),
        ("TOOLGATE_PROJECT", "demo"),
    ];
    let _python = Program::python(&example("search.py"), &settings);
    let answer = asked.call("search-library", json!({"q": "dogs"})).await;
    assert_eq!(answer["result"], json!({"found": ["Dogs at sea"]}), "{answer}");
}

/// The result of a tool, as soon as its service listens.
async fn until_answered(asked: &Asked, tool: &str, arguments: Value) -> Value {
    loop {
        let answer = asked.call(tool, arguments.clone()).await;
        if answer["error"]["code"] != "upstream_unavailable" {
            return answer["result"].clone();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_key_for_the_bus_is_refused_and_a_revoked_key_at_the_next_connection() {
    let asked = Asked::new(true).await;
    let (key, plain) = (
        asked.key(&json!({"calls": true})).await,
        asked.key(&Value::Null).await,
    );
    let before = asked.connect(&key).await;
    let admin = asked.admin;
    for (user, password) in [
        (key.id.as_str(), "wrong"),
        (&key.id, &format!("{}x", key.secret)),
        ("demo", &key.secret),
        (&plain.id, &key.secret),
        (&plain.id, &plain.secret),
        (&key.id, &admin),
        ("", ""),
    ] {
        let connected = asked_again(&asked.nats, user, password).await;
        assert!(connected.is_err(), "{user}");
    }
    let path = format!("/projects/demo/keys/{}", key.id);
    let admin = asked.app.client(&admin);
    admin
        .send_json(Method::DELETE, &path, &ANY, &Value::Null)
        .await
        .expect(204);
    assert!(asked_again(&asked.nats, &key.id, &key.secret).await.is_err());
    // The connection itself lives on, for an hour at most; a call needs a token, and there is none for a revoked key.
    before.client.flush().await.expect("it lives");
}

async fn asked_again(nats: &Nats, user: &str, password: &str) -> Result<BusClient, async_nats::ConnectError> {
    let options = ConnectOptions::with_user_and_password(user.to_owned(), password.to_owned());
    options.connect(nats.url()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_with_a_key_proves_no_message() {
    let asked = Asked::new(true).await;
    let settings = json!({"bus_entrance": {}});
    let put = asked.admin();
    put.send_json(Method::PUT, "/projects/demo/settings", &ANY, &settings)
        .await
        .expect(200);
    let key = asked.key(&json!({"calls": true})).await;
    let program = asked.connect(&key).await;
    let payload = json!({"tool_call_id": "c1", "tool_name": "tell-joke", "arguments": "{}"}).to_string();
    let agent = asked.app.client(&key.secret);
    let body = json!({"subject": "tg.demo.tool.invoke", "payload_sha256": sha256(payload.as_bytes())});
    let token = agent
        .post("/projects/demo/bus-tokens", &body)
        .await
        .expect(201)
        .json();
    let mut proven = HeaderMap::new();
    proven.insert("Toolgate-Token", token["token"].as_str().expect("a token"));
    for (headers, code) in [
        (HeaderMap::new(), "unauthenticated"),
        (proven, "upstream_unavailable"),
    ] {
        let answer = loop {
            let sent = program.client.request_with_headers(
                "tg.demo.tool.invoke",
                headers.clone(),
                payload.clone().into(),
            );
            match sent.await {
                Ok(answer) => break answer,
                Err(error) => assert_eq!(
                    error.kind(),
                    async_nats::RequestErrorKind::NoResponders,
                    "{error}"
                ),
            }
        };
        let said = answer.headers.expect("headers");
        assert_eq!(
            said.get("Toolgate-Code").map(async_nats::HeaderValue::as_str),
            Some(code)
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_reads_commands_of_its_project_and_target_only() {
    let asked = Asked::new(false).await;
    let key = asked.key(&json!({"workers": ["search"]})).await;
    let program = asked.connect(&key).await;
    let gate = ConnectOptions::with_user_and_password("gate".to_owned(), "open-sesame".to_owned());
    let gate = gate.connect(asked.nats.url()).await.expect("connected");
    let context = jetstream::new(gate);
    let group = "tool_demo_search_cmd_v1r4";
    let mut delivered = program
        .client
        .queue_subscribe("cg.v1r4.demo.deliver.search", group.to_owned())
        .await
        .expect("subscribed");
    program.client.flush().await.expect("sent");
    for subject in [
        "cg.v1r4.other.main.cmd.tool.search.run",
        "cg.v1r4.demo.main.cmd.tool.index.run",
        "cg.v1r4.demo.main.cmd.tool.search.run",
    ] {
        let kept = context.publish(subject, "".into()).await.expect("sent");
        kept.await.expect("kept");
    }
    let first = delivered.next().await.expect("a command");
    assert_eq!(first.subject.as_str(), "cg.v1r4.demo.main.cmd.tool.search.run");
}
