//! What there is on the message bus.

use serde_json::json;
use toolgate_api::presence::AnnouncerKind;
use toolgate_store::rows::{AnnouncedProgram, AnnouncementClaim, ProgramKey};

use super::{NO, Trial, change, demo};
use crate::support::{ANY, TestApp};

/// Tool services.
pub(super) async fn services(trial: &mut Trial<'_>) {
    let spare = json!({"envs": {"key": "secret:KEY"}});
    trial
        .does(
            "put_tool_service",
            "definition",
            &demo("tool-services/spare"),
            &NO,
            &spare,
        )
        .await;
    trial
        .does(
            "delete_tool_service",
            "definition",
            &demo("tool-services/spare"),
            &ANY,
            &json!({}),
        )
        .await;
}

/// What a service on the message bus announced, and what differs from the service.
pub(super) async fn announced(trial: &mut Trial<'_>) {
    let gateway = &trial.app.gateway;
    let uid = gateway
        .snapshots
        .now()
        .project("demo")
        .expect("the project")
        .row
        .uid;
    let jokes = json!({"id": "jokes", "request-queue": "tg.demo.a", "response-queue": "tg.demo.b"});
    trial
        .admin
        .upload(
            &demo("tools"),
            "tool-service: {jokes: {request-queue: tg.demo.x, response-queue: tg.demo.b}}",
        )
        .await
        .expect(201);
    let announced = AnnouncedProgram {
        key: ProgramKey {
            project: uid,
            kind: AnnouncerKind::ToolService,
            name: "jokes".to_owned(),
        },
        digest: "d".to_owned(),
        version: "1".to_owned(),
        instance: "a".to_owned(),
        started_at: gateway.clock.now(),
        announced_at: gateway.clock.now(),
        descriptor: Some(jokes),
        base: None,
        problems: Vec::new(),
        imported: false,
    };
    let claimed = gateway
        .store
        .claim_announcement(&announced, gateway.clock.now())
        .await;
    assert_eq!(claimed.expect("stored"), AnnouncementClaim::Mine);
    trial
        .does(
            "decide_announced_descriptor",
            "definition",
            &demo("tool-services/jokes/announced-descriptor"),
            &[],
            &json!({"decision": "approve", "digest": "d"}),
        )
        .await;
}

/// Dead letters of the message bus.
pub(super) async fn dead_letters(trial: &mut Trial<'_>) {
    let subject = "cg.v1r4.demo.main.cmd.tool.toolgate.run";
    for id in [1, 2] {
        bury(trial.app, subject).await;
        let letter = demo(&format!("dead-letters/{id}"));
        let (operation, path) = match id {
            1 => ("drop_dead_letter", letter),
            _ => ("retry_dead_letter", format!("{letter}/retry")),
        };
        let (_, record) = trial.does(operation, "settings", &path, &NO, &json!({})).await;
        assert_eq!(change(&record)["subject"], subject);
    }
}

/// A card of the message bus, by a worker.
pub(super) async fn a_card(trial: &mut Trial<'_>) {
    let key = json!({"name": "worker", "role": "agent", "groups": [], "bus": {"workers": ["search"]}});
    let made = trial.admin.post("/projects/demo/keys", &key).await.expect(201);
    let worker = trial
        .app
        .client(made.json()["secret"].as_str().expect("a secret"));
    let card = json!({
        "card_id": "r1", "project_id": "demo", "type": "tool.result", "author_id": "tool.search", "tool_call_id": "c1",
        "content": {"status": "success", "after_execution": "suspend", "result": 1, "error": null}, "metadata": {},
    });
    let admin = std::mem::replace(&mut trial.admin, worker);
    let (_, record) = trial
        .does("create_card", "settings", "/projects/demo/cards", &NO, &card)
        .await;
    assert_eq!(change(&record)["card"], "r1");
    trial.admin = admin;
}

/// A dead letter whose card can be read.
async fn bury(app: &TestApp, subject: &str) {
    let bus = app.gateway.bus.as_ref().expect("a bus");
    let snapshot = app.gateway.snapshots.now();
    let row = &snapshot.project("demo").expect("the project").row;
    let cards = bus.cards(&row.id).await.expect("the cards");
    cards.put("card", "{}".into()).await.expect("stored");
    let dead = toolgate_executors::Dead {
        subject: subject.to_owned(),
        reason: "a reason".to_owned(),
        deliveries: 1,
        headers: async_nats::HeaderMap::new(),
        payload: json!({"tool_call_card_id": "card"}).to_string().into(),
    };
    bus.bury((row.uid, &row.id), dead).await.expect("kept");
}
