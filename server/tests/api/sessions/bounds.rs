//! How long sessions last, how many there may be, and how much they may hold.

use serde_json::json;
use toolgate_core::ids::SessionId;
use toolgate_store::rows::{SessionAdmission, SessionLimits};

use super::{SESSIONS, call, create, path, with_steps};
use crate::support::TestApp;

#[tokio::test]
async fn an_expired_session_cannot_be_used() {
    let app = with_steps(&[]).await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["work"]).await;
    let living = create(&agent, json!({"group": ["work"]})).await;
    let store = &app.gateway.store;
    let id = SessionId(living["id"].as_str().unwrap().parse().unwrap());
    let project = app.gateway.snapshots.now().project("demo").unwrap().row.uid;
    let mut row = store.session(project, id).await.unwrap().unwrap();
    row.id = SessionId(app.gateway.clock.new_id());
    row.expires_at = app.gateway.clock.now();
    let limits = SessionLimits {
        per_project: 10,
        per_principal: 10,
    };
    assert_eq!(
        store.create_session(&row, limits).await.unwrap(),
        SessionAdmission::Created
    );
    let expired = json!({"id": row.id.0});
    let problem = call(&agent, &expired, "start")
        .await
        .problem(410, "session_ended");
    assert!(
        problem["detail"].as_str().unwrap().contains("expired"),
        "{problem}"
    );
    agent.get(&path(&expired, "")).await.expect(200);
}

#[tokio::test]
async fn there_may_be_only_so_many() {
    let app = with_steps(&[
        ("TOOLGATE_LIMITS_MAX_SESSIONS_PER_PROJECT", "3"),
        ("TOOLGATE_LIMITS_MAX_SESSIONS_PER_PRINCIPAL", "2"),
    ])
    .await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["work"]).await;
    let other = app.key(&admin, "demo", "agent", &["work"]).await;
    let body = json!({"group": ["work"]});
    let first = create(&agent, body.clone()).await;
    create(&agent, body.clone()).await;
    let problem = agent
        .post(SESSIONS, &body)
        .await
        .problem(429, "too_many_sessions");
    let record = format!("/projects/demo/audit?id={}", problem["call_id"].as_str().unwrap());
    let record = admin.get(&record).await.expect(200).json()["items"][0].clone();
    assert_eq!(
        (&record["outcome"], &record["code"]),
        (&json!("failed"), &json!("too_many_sessions"))
    );
    create(&other, body.clone()).await;
    other
        .post(SESSIONS, &body)
        .await
        .problem(429, "too_many_sessions");
    agent.delete(&path(&first, ""), Some("*")).await.expect(204);
    create(&other, body).await;
}

#[tokio::test]
async fn what_is_too_much_is_refused_with_every_fault() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let body = json!({
        "group": ["g".repeat(129)], "state": "s".repeat(129), "label": "\n", "expires_in_s": 2_592_001,
        "context": {"agent_id": "a".repeat(257)},
    });
    let problem = admin.post(SESSIONS, &body).await.problem(422, "invalid_request");
    let pointers: Vec<&str> = problem["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| fault["pointer"].as_str().unwrap())
        .collect();
    assert_eq!(
        pointers,
        [
            "/group/0",
            "/state",
            "/context/agent_id",
            "/label",
            "/expires_in_s"
        ]
    );
    admin
        .post(SESSIONS, &json!({"grup": []}))
        .await
        .problem(422, "invalid_request");
}
