//! Services and workers that announce themselves on the message bus.

mod trusted;

use async_nats::Client as BusClient;
use axum::http::Method;
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::bus::until_connected;
use crate::nats::{Nats, subscribe};
use crate::replicas::two;
use crate::support::{Client, TestApp};

const SUBJECT: &str = "tg.demo.tool-descriptors";
const PROGRAMS: &str = "/projects/demo/bus-programs";
const JOKES: &str = "/projects/demo/bus-programs/tool_service/jokes";
const QUARANTINE: &str = "/projects/demo/quarantine";

/// What the service says of itself.
fn announcement(instance: &str, version: &str, started: &str) -> Value {
    json!({
        "tool-service": {
            "id": "jokes",
            "request-queue": "non-persistent://tg/demo/jokes",
            "response-queue": "non-persistent://tg/demo/jokes-answers",
            "config-params": [{"name": "style"}]
        },
        "instance": instance,
        "version": version,
        "started": started,
        "tools": [{
            "name": "tell-joke",
            "description": "Tells a joke.",
            "style": "pun",
            "arguments": [{"name": "topic", "type": "string", "description": "The topic."}]
        }]
    })
}

fn first() -> Value {
    announcement("a", "1.0.0", "2026-01-01T00:00:00Z")
}

/// A second version, which describes its tool otherwise.
fn second() -> Value {
    let mut message = announcement("b", "2.0.0", "2026-01-02T00:00:00Z");
    message["tools"][0]["description"] = json!("Tells a better joke.");
    message
}

async fn say(client: &BusClient, subject: &'static str, message: &Value) {
    client
        .publish(subject, message.to_string().into())
        .await
        .expect("published");
    client.flush().await.expect("sent");
}

/// A server with its background, and a program's connection. The server has asked for announcements.
async fn listening(nats: &Nats, settings: &[(&str, &str)]) -> (TestApp, BusClient) {
    let url = nats.url();
    let mut settings = settings.to_vec();
    settings.push(("TOOLGATE_NATS_URL", &url));
    let app = TestApp::with(&settings).await;
    until_connected(&app, true).await;
    app.demo().await;
    let client = async_nats::connect(nats.url()).await.expect("connected");
    let mut asked = subscribe(&client, "tg.demo.tool-descriptors.discover").await;
    app.run_background();
    asked.next().await.expect("the server asks who is there");
    (app, client)
}

/// What a path answers when it is as it should be.
async fn until(client: &Client<'_>, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let asked = async {
        loop {
            let answer = client.get(path).await;
            if answer.status.is_success() {
                let found = answer.json();
                if is_so(&found) {
                    return found;
                }
            }
            tokio::task::yield_now().await;
        }
    };
    let found = tokio::time::timeout(std::time::Duration::from_secs(30), asked).await;
    match found {
        Ok(found) => found,
        Err(_) => panic!("{path}: {}", client.get(path).await.text()),
    }
}

fn is_imported(version: &str) -> impl Fn(&Value) -> bool {
    let version = version.to_owned();
    move |status: &Value| {
        status["program"]["announced"]["version"] == version && !status["program"]["tools"][0].is_null()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_service_announces_is_there_disabled_until_it_is_enabled() {
    let nats = Nats::start();
    let (app, client) = listening(&nats, &[]).await;
    let admin = app.admin().await;
    let mut requests = subscribe(&client, "tg.demo.jokes").await;
    say(&client, SUBJECT, &first()).await;
    let status = until(&admin, JOKES, is_imported("1.0.0")).await;
    let program = &status["program"];
    assert_eq!(program["tools"], json!(["tell-joke"]));
    assert_eq!(program["disabled"], 1);
    assert_eq!(status["queue"], json!({"state": "not_kept"}));
    let instance = &program["instances"][0];
    assert_eq!(
        (&instance["instance"], &instance["version"], &instance["state"]),
        (&json!("a"), &json!("1.0.0"), &json!("alive"))
    );
    let import = admin
        .get("/projects/demo/imports/service-jokes")
        .await
        .expect(200)
        .json();
    assert_eq!(
        (
            &import["format"],
            &import["source"]["tool_service"],
            &import["imported_by"]
        ),
        (&json!("announced"), &json!("jokes"), &json!("bus"))
    );
    // It may not be fetched.
    admin
        .send_json(
            Method::POST,
            "/projects/demo/imports/service-jokes/refresh",
            &crate::support::ANY,
            &json!({}),
        )
        .await
        .problem(422, "invalid_request");

    let call = json!({"tool": "tell-joke", "arguments": {"topic": "cats"}});
    admin.post("/projects/demo/calls", &call).await.expect(403);
    let enable = json!({"select": {"names": ["tell-joke"]}, "change": {"enabled": true}});
    admin
        .post("/projects/demo/tool-changes", &enable)
        .await
        .expect(200);
    let answering = async {
        let request = requests.next().await.expect("a request");
        let body = json!({"response": "Knock knock"}).to_string();
        client
            .publish(request.reply.expect("an inbox"), body.into())
            .await
            .expect("sent");
    };
    let (answer, ()) = tokio::join!(admin.post("/projects/demo/calls", &call), answering);
    assert_eq!(answer.expect(200).json()["result"], "Knock knock");

    // The same again changes nothing; a process that stops is shown and disables nothing.
    let revision = &admin.get("/projects/demo/imports/service-jokes").await.json()["revision"];
    say(&client, SUBJECT, &first()).await;
    let stopping = json!({"service": "jokes", "instance": "a", "version": "1.0.0", "stopping": true});
    say(&client, "tg.demo.tool-descriptors.heartbeat", &stopping).await;
    let status = until(&admin, JOKES, |status| {
        status["program"]["instances"][0]["state"] == "stopped"
    })
    .await;
    assert_eq!(status["program"]["disabled"], 0);
    assert_eq!(
        &admin.get("/projects/demo/imports/service-jokes").await.json()["revision"],
        revision
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_announcement_waits_and_the_latest_process_speaks() {
    let nats = Nats::start();
    let (app, client) = listening(&nats, &[]).await;
    let admin = app.admin().await;
    say(&client, SUBJECT, &first()).await;
    until(&admin, JOKES, is_imported("1.0.0")).await;
    say(&client, SUBJECT, &second()).await;
    let waiting = until(&admin, QUARANTINE, |page| page["total"] == 1).await;
    let change = &waiting["items"][0];
    assert_eq!(
        (&change["tool"], &change["by"]),
        (&json!("tell-joke"), &json!("bus"))
    );
    assert!(
        change["change"]["diff"].to_string().contains("better joke"),
        "{change}"
    );
    let tool = admin
        .get("/projects/demo/tools/tell-joke")
        .await
        .expect(200)
        .json();
    assert_eq!(tool["definition"]["description"], "Tells a joke.");
    let status = until(&admin, JOKES, |status| {
        status["program"]["announced"]["waiting"] == 1
    })
    .await;
    assert_eq!(status["program"]["announced"]["instance"], "b");

    // A process of the earlier version that answers a question later takes nothing back.
    say(&client, SUBJECT, &first()).await;
    let beat = json!({"service": "jokes", "instance": "c", "version": "2.0.0"});
    say(&client, "tg.demo.tool-descriptors.heartbeat", &beat).await;
    let status = until(&admin, JOKES, |status| {
        status["program"]["instances"][2]["instance"] == "c"
    })
    .await;
    assert_eq!(status["program"]["announced"]["version"], "2.0.0");
    assert_eq!(admin.get(QUARANTINE).await.expect(200).json()["total"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_descriptor_waits_for_a_decision() {
    let nats = Nats::start();
    let (app, client) = listening(&nats, &[]).await;
    let admin = app.admin().await;
    say(&client, SUBJECT, &first()).await;
    until(&admin, JOKES, is_imported("1.0.0")).await;
    let mut moved = second();
    moved["tool-service"]["request-queue"] = json!("non-persistent://tg/demo/elsewhere");
    say(&client, SUBJECT, &moved).await;
    let status = until(&admin, JOKES, |status| {
        !status["program"]["announced"]["descriptor_diff"].is_null()
    })
    .await;
    let announced = &status["program"]["announced"];
    assert!(
        announced["descriptor_diff"].to_string().contains("elsewhere"),
        "{announced}"
    );
    let queue =
        async || admin.get("/projects/demo/tool-services/jokes").await.json()["request-queue"].clone();
    assert_eq!(queue().await, "non-persistent://tg/demo/jokes");

    let path = "/projects/demo/tool-services/jokes/announced-descriptor";
    let decide = |decision: &str, digest: &Value| json!({"decision": decision, "digest": digest});
    admin
        .post(path, &decide("approve", &json!("another")))
        .await
        .problem(412, "precondition_failed");
    admin
        .post(path, &decide("reject", &announced["digest"]))
        .await
        .expect(204);
    admin
        .post(path, &decide("approve", &announced["digest"]))
        .await
        .problem(409, "conflict");
    assert_eq!(queue().await, "non-persistent://tg/demo/jokes");

    moved["version"] = json!("3.0.0");
    moved["tool-service"]["request-queue"] = json!("non-persistent://tg/demo/third");
    say(&client, SUBJECT, &moved).await;
    let status = until(&admin, JOKES, |status| {
        status["program"]["announced"]["descriptor_diff"]
            .to_string()
            .contains("third")
    })
    .await;
    let digest = &status["program"]["announced"]["digest"];
    admin.post(path, &decide("approve", digest)).await.expect(204);
    assert_eq!(queue().await, "non-persistent://tg/demo/third");
    let records = admin
        .get("/projects/demo/audit?action=definition&limit=2")
        .await
        .expect(200)
        .text();
    assert!(
        records.contains("approve_descriptor") && records.contains("reject_descriptor"),
        "{records}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_not_be_announced_is_refused_and_shown() {
    let nats = Nats::start();
    let (app, client) = listening(&nats, &[]).await;
    let admin = app.admin().await;
    // What belongs to another project, what asks for secrets, and what is no announcement.
    let mut foreign = first();
    foreign["tool-service"]["request-queue"] = json!("non-persistent://tg/other/jokes");
    say(&client, SUBJECT, &foreign).await;
    let status = until(&admin, JOKES, |status| {
        status["program"]["announced"]["problems"][0].is_object()
    })
    .await;
    let problems = &status["program"]["announced"]["problems"];
    assert!(
        problems[0]["message"].to_string().contains("may not use"),
        "{problems}"
    );
    admin
        .get("/projects/demo/tool-services/jokes")
        .await
        .problem(404, "not_found");

    let mut greedy = second();
    greedy["tools"][0]["envs"] = json!({"key": "secret:KEY"});
    say(&client, SUBJECT, &greedy).await;
    let status = until(&admin, JOKES, |status| {
        status["program"]["announced"]["problems"]
            .to_string()
            .contains("envs")
    })
    .await;
    assert_eq!(status["program"]["tools"], json!([]));
    say(&client, SUBJECT, &json!({"instance": "x"})).await;
    say(&client, "tg.nobody.tool-descriptors", &first()).await;
    let programs = until(&admin, PROGRAMS, |programs| programs["refused"][0].is_object()).await;
    assert_eq!(programs["bus"], "connected");
    assert_eq!(programs["refused"].as_array().map(Vec::len), Some(1));
    assert_eq!(programs["items"].as_array().map(Vec::len), Some(1));
    admin
        .get("/projects/demo/bus-programs/worker/jokes")
        .await
        .problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_announces_its_tools_and_its_queue_is_shown() {
    let nats = Nats::start();
    let (app, client) = listening(&nats, &[]).await;
    let admin = app.admin().await;
    let message = json!({
        "worker": {"target": "search"}, "instance": "w", "version": "1",
        "tools": [{"name": "search-library", "description": "Searches.", "after_execution": "suspend",
                   "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}}]
    });
    say(&client, SUBJECT, &message).await;
    let path = "/projects/demo/bus-programs/worker/search";
    let status = until(&admin, path, |status| {
        status["program"]["tools"][0] == "search-library"
    })
    .await;
    assert_eq!(status["queue"], json!({"state": "empty"}));
    let context = async_nats::jetstream::new(client.clone());
    let stream = async_nats::jetstream::stream::Config {
        name: "cg_cmd_v1r4".to_owned(),
        subjects: vec!["cg.v1r4.*.*.cmd.>".to_owned()],
        ..Default::default()
    };
    let stream = context.create_stream(stream).await.expect("a stream");
    let consumer = async_nats::jetstream::consumer::pull::Config {
        durable_name: Some("tool_demo_search_cmd_v1r4".to_owned()),
        filter_subject: "cg.v1r4.demo.*.cmd.tool.search.>".to_owned(),
        ..Default::default()
    };
    stream.create_consumer(consumer).await.expect("a consumer");
    for _ in 0..3 {
        let sent = context
            .publish("cg.v1r4.demo.public.cmd.tool.search.run", "".into())
            .await;
        sent.expect("sent").await.expect("kept");
    }
    let status = admin.get(path).await.expect(200).json();
    assert_eq!(status["queue"]["state"], "kept", "{status}");
    assert_eq!(
        (&status["queue"]["waiting"], &status["queue"]["in_progress"]),
        (&json!(3), &json!(0))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_servers_one_imports_an_announcement() {
    let nats = Nats::start();
    let url = nats.url();
    let (one, other) = two(&[("TOOLGATE_NATS_URL", &url)]).await;
    let admin = one.demo().await;
    let client = async_nats::connect(nats.url()).await.expect("connected");
    let mut asked = subscribe(&client, "tg.demo.tool-descriptors.discover").await;
    for app in [&one, &other] {
        until_connected(app, true).await;
        app.run_background();
    }
    asked.next().await.expect("one asks");
    asked.next().await.expect("and the other");
    for message in [first(), second()] {
        say(&client, SUBJECT, &message).await;
    }
    let elsewhere = other.client(admin.token.clone().expect("a token"));
    for client in [&admin, &elsewhere] {
        // Both have heard both processes.
        until(client, JOKES, |status| {
            status["program"]["instances"].as_array().map(Vec::len) == Some(2)
        })
        .await;
        until(client, QUARANTINE, |page| page["total"] == 1).await;
    }
    // One of each, and both end.
    until(&admin, "/projects/demo/audit?action=import", |records| {
        let items = records["items"].as_array().expect("records");
        items.len() == 2 && items.iter().all(|record| record["outcome"] == "succeeded")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_heartbeat_of_an_unknown_process_is_a_reason_to_ask() {
    let nats = Nats::start();
    let (app, client) = listening(&nats, &[]).await;
    let admin = app.admin().await;
    let mut asked = subscribe(&client, "tg.demo.tool-descriptors.discover").await;
    let beat = json!({"service": "jokes", "instance": "a", "version": "1.0.0"});
    say(&client, "tg.demo.tool-descriptors.heartbeat", &beat).await;
    asked.next().await.expect("asked");
    let status = until(&admin, JOKES, |status| {
        status["program"]["instances"][0]["state"] == "alive"
    })
    .await;
    assert!(status["program"]["announced"].is_null(), "{status}");
    // Heard last for so long that it does not run any more.
    app.later(60);
    let status = until(&admin, JOKES, |status| {
        status["program"]["instances"][0]["state"] == "silent"
    })
    .await;
    assert_eq!(status["program"]["instances"][0]["version"], "1.0.0");
}
