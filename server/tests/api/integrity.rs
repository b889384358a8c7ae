//! Whether the record is intact, as the server finds out beside its other work.

use serde_json::json;
use toolgate::gateway::integrity;

use crate::support::{TestApp, tool};

const INTEGRITY: &str = "/projects/demo/audit/integrity";

#[tokio::test]
async fn the_record_is_verified_part_by_part_and_a_change_is_named() {
    let app = TestApp::started_first(&[]).await;
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &tool("a", "https://s.jina.ai", "/x", ""))
        .await
        .expect(201);
    let before = admin.get(INTEGRITY).await.expect(200).json();
    assert_eq!(before, json!({"status": "unchecked", "entries": 0}));

    // More than one part holds.
    for _ in 0..300 {
        admin.post("/projects/demo/resolve", &json!({})).await.expect(200);
    }
    app.gateway
        .records
        .heartbeat(app.gateway.clock.now())
        .await
        .expect("alive");
    integrity::verify(&app.gateway).await.expect("a part");
    let intact = admin.get(INTEGRITY).await.expect(200).json();
    assert_eq!(intact["status"], "intact", "{intact}");
    let entries = intact["entries"].as_u64().unwrap();
    assert!(entries >= 300, "{intact}");
    assert!(intact["checked_at"].is_string());

    // What is added is verified when it is looked at again.
    let refused = admin
        .post("/projects/demo/calls", &json!({"tool": "none"}))
        .await
        .problem(404, "tool_not_found");
    integrity::verify(&app.gateway).await.expect("a part");
    let again = admin.get(INTEGRITY).await.expect(200).json();
    assert_eq!(again["entries"], entries + 1);

    // The database is changed past the server, which restarts and verifies from the beginning.
    let id = refused["call_id"].as_str().unwrap().to_owned();
    app.side(&format!(
        "UPDATE records SET tool = 'other' WHERE id = x'{}'",
        id.replace('-', "")
    ))
    .await;
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    let app = app.restart(&[]).await;
    let admin = app.admin().await;
    integrity::verify(&app.gateway).await.expect("a part");
    let broken = admin.get(INTEGRITY).await.expect(200).json();
    assert_eq!(broken["status"], "broken", "{broken}");
    let fault = &broken["first_fault"];
    assert_eq!(fault["record_id"], id);
    assert_eq!(fault["reason"], "is not what was written");
    assert_eq!(
        (&fault["chain"], &fault["position"]),
        (&json!(1), &json!(entries + 1))
    );
    let elsewhere = admin
        .get("/projects/other/audit/integrity")
        .await
        .expect(200)
        .json();
    assert_eq!(elsewhere["status"], "broken");
    assert_eq!(
        elsewhere["first_fault"].get("record_id"),
        None,
        "a record of another project is not named"
    );
    let status = admin.get("/status").await.expect(200).json();
    assert_eq!(status["status"], "failing");
    let check = status["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["id"] == "record_integrity")
        .unwrap();
    assert_eq!(check["status"], "failing");
    assert!(check["fix"].is_string());
}
