//! Sessions that several callers, runs or servers share.

use serde_json::json;

use super::{CALLS, SESSIONS, call, create, path, steps};
use crate::gate::Gate;
use crate::postgres::new_database;
use crate::support::{TestApp, echo, tool};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_parallel_moves_one_is_a_conflict_and_both_have_a_result() {
    let mut gate = Gate::start().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &gate.base)]).await;
    let admin = app.demo().await;
    for (name, state) in [("left", "left"), ("right", "right")] {
        let more = format!("state: {state}\n");
        admin
            .upload("/projects/demo/tools", &tool(name, &gate.base, "/x", &more))
            .await
            .expect(201);
    }
    let session = create(&admin, json!({})).await;
    let token = admin.token.expect("a token");
    let app = std::sync::Arc::new(app);
    let parallel = |name: &'static str| {
        let (app, token, session) = (std::sync::Arc::clone(&app), token.clone(), session.clone());
        async move {
            let client = app.client(token);
            let body = json!({"tool": name, "arguments": {"q": name}, "session_id": session["id"]});
            let request = client
                .request(axum::http::Method::POST, CALLS)
                .header("content-type", "application/json")
                .header("idempotency-key", name)
                .body(axum::body::Body::from(body.to_string()))
                .unwrap();
            client.send(request).await.expect(200).json()
        }
    };
    let left = tokio::spawn(parallel("left"));
    gate.arrival().await;
    let right = tokio::spawn(parallel("right"));
    gate.arrival().await;
    gate.release("right", 200);
    let right = right.await.unwrap();
    gate.release("left", 200);
    let left = left.await.unwrap();

    assert_eq!(right["state"], json!({"before": "undefined", "after": "right"}));
    assert_eq!(
        right["session"],
        json!({"id": session["id"], "state": "right", "version": 2, "state_conflict": false})
    );
    assert_eq!(left["status"], "succeeded");
    assert_eq!(left["result"], json!({"q": "left"}), "the result is returned");
    assert_eq!(
        left["state"],
        json!({"before": "undefined", "after": "undefined"})
    );
    assert_eq!(
        left["session"],
        json!({"id": session["id"], "state": "undefined", "version": 1, "state_conflict": true})
    );
    let client = app.client(token.clone());
    let record = format!("/projects/demo/audit?id={}", left["call_id"].as_str().unwrap());
    let record = client.get(&record).await.expect(200).json()["items"][0].clone();
    assert_eq!(record["outcome"], "succeeded");
    assert_eq!(record["state_conflict"], true);
    assert_eq!(record["state_after"], "undefined");
    assert_eq!(record.get("code"), None);
    let now = client.get(&path(&session, "")).await.expect(200).json();
    assert_eq!((&now["state"], &now["version"]), (&json!("right"), &json!(2)));
    // Sent again, each is answered as before.
    assert_eq!(parallel("left").await, left);
    assert_eq!(parallel("right").await, right);
}

#[tokio::test]
async fn sessions_survive_a_restart() {
    let base = echo().await;
    let settings = [("TOOLGATE_EGRESS_ALLOW", base.as_str())];
    let app = TestApp::with(&settings).await;
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &steps(&base))
        .await
        .expect(201);
    let token = app
        .key(&admin, "demo", "agent", &["work"])
        .await
        .token
        .expect("a key");
    let agent = app.client(token.clone());
    let session = create(&agent, json!({"group": ["work"]})).await;
    call(&agent, &session, "start").await.expect(200);
    drop((admin, agent));

    let app = app.restart(&settings).await;
    let agent = app.client(token);
    let read = agent.get(&path(&session, "")).await.expect(200).json();
    assert_eq!((&read["state"], &read["version"]), (&json!("started"), &json!(2)));
    let moved = call(&agent, &session, "finish").await.expect(200).json();
    assert_eq!(moved["session"]["state"], "finished");
    let log = agent
        .get(&path(&session, "/transitions"))
        .await
        .expect(200)
        .json();
    assert_eq!(log["items"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_server_of_a_database_serves_any_session() {
    let base = echo().await;
    let url = new_database().await;
    let settings = [
        ("TOOLGATE_EGRESS_ALLOW", base.as_str()),
        ("TOOLGATE_DATABASE_URL", &url),
        ("TOOLGATE_LIMITS_MAX_SESSIONS_PER_PROJECT", "2"),
    ];
    let first = TestApp::with(&settings).await;
    let second = TestApp::with(&settings).await;
    let admin = first.demo().await;
    admin
        .upload("/projects/demo/tools", &steps(&base))
        .await
        .expect(201);
    let here = first.key(&admin, "demo", "agent", &["work"]).await;
    second
        .gateway
        .snapshots
        .refresh()
        .await
        .expect("the database answers");
    let there = second.client(here.token.clone().expect("a key"));

    let session = create(&here, json!({"group": ["work"]})).await;
    let moved = call(&there, &session, "start").await.expect(200).json();
    assert_eq!(moved["session"]["version"], 2);
    let moved = call(&here, &session, "finish").await.expect(200).json();
    assert_eq!(
        (&moved["session"]["state"], &moved["session"]["version"]),
        (&json!("finished"), &json!(3))
    );
    create(&there, json!({"group": ["work"]})).await;
    here.post(SESSIONS, &json!({"group": ["work"]}))
        .await
        .problem(429, "too_many_sessions");
    there
        .delete(&path(&session, ""), Some("\"v3\""))
        .await
        .expect(204);
    call(&here, &session, "start").await.problem(410, "session_ended");
}
