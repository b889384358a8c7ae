//! Renaming and removing groups.

use axum::http::Method;
use serde_json::json;

use super::{GROUPS, TOOLS, declare, demo, names, rename};
use crate::support::TestApp;

#[tokio::test]
async fn a_group_is_renamed_everywhere_at_once() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    let agent = app.key(&admin, "demo", "agent", &["knowledge"]).await;
    declare(&admin, "knowledge", json!({"description": "What is known."}))
        .await
        .expect(201);
    let session = agent
        .post("/projects/demo/sessions", &json!({"group": ["knowledge/read"]}))
        .await
        .expect(201)
        .json();
    let expectation =
        "name: readers\ngranted: [knowledge]\ngroup: [knowledge/read]\ntool: read\nexpect: allow\n";
    admin
        .upload("/projects/demo/policy-tests", expectation)
        .await
        .expect(201);

    let dry = admin
        .send_json(
            Method::POST,
            &format!("{GROUPS}/knowledge/rename?dry_run=true"),
            &[],
            &json!({"to": "info"}),
        )
        .await
        .expect(200)
        .json();
    assert_eq!(dry["dry_run"], true);
    assert_eq!(
        (&dry["tool_count"], &dry["grant_count"], &dry["session_count"]),
        (&json!(2), &json!(1), &json!(1))
    );
    assert_eq!(
        dry["tools"][1]["before"]["group"],
        json!(["knowledge/write", "admin"])
    );
    assert_eq!(dry["tools"][1]["after"]["group"], json!(["info/write", "admin"]));
    assert_eq!(dry["policy_tests"], json!(["readers"]));
    assert_eq!(
        admin.get(&format!("{GROUPS}/info")).await.status,
        404,
        "a dry run changes nothing"
    );

    admin
        .send_json(
            Method::POST,
            &format!("{GROUPS}/knowledge/rename"),
            &[],
            &json!({"to": "info"}),
        )
        .await
        .problem(428, "precondition_required");
    let done = rename(&admin, "knowledge", "info").await.expect(200).json();
    assert_eq!(done["dry_run"], false);
    let read = admin.get(&format!("{TOOLS}/read")).await.expect(200);
    assert_eq!(read.header("etag"), "\"r2\"", "a new revision");
    assert_eq!(read.json()["group"], json!(["info/read"]));
    let info = admin.get(&format!("{GROUPS}/info")).await.expect(200).json();
    assert_eq!(info["description"], "What is known.");
    admin
        .get(&format!("{GROUPS}/knowledge"))
        .await
        .problem(404, "not_found");

    // What the agent held it holds under the new name; its session goes on.
    assert_eq!(
        names(&agent.get(GROUPS).await.expect(200).json()),
        ["info", "info/read", "info/write"]
    );
    let tools = agent
        .get(&format!(
            "/projects/demo/sessions/{}/tools",
            session["id"].as_str().unwrap()
        ))
        .await
        .expect(200)
        .json();
    assert_eq!(tools["items"][0]["name"], "read", "{tools}");
    let run = admin
        .post("/projects/demo/policy-tests/run", &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!((&run["passed"], &run["failed"]), (&json!(1), &json!(0)), "{run}");

    let records = app.auditor(&admin).await;
    let records = records
        .get("/projects/demo/audit?action=policy")
        .await
        .expect(200)
        .json();
    let record = &records["items"][0];
    assert_eq!(record["outcome"], "succeeded");
    assert_eq!(record["arguments"]["change"], "rename_group");
    assert_eq!(
        (&record["arguments"]["name"], &record["arguments"]["to"]),
        (&json!("knowledge"), &json!("info"))
    );
}

#[tokio::test]
async fn a_name_that_is_taken_or_built_in_is_refused() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    for (group, to, status, code) in [
        ("admin", "knowledge", 409, "conflict"),
        ("knowledge%2Fread", "knowledge", 409, "conflict"),
        ("admin", "admin", 422, "invalid_request"),
        ("admin", "*", 422, "invalid_request"),
        ("admin", " x", 422, "invalid_request"),
        ("default", "x", 422, "invalid_request"),
        ("none", "x", 404, "not_found"),
    ] {
        rename(&admin, group, to).await.problem(status, code);
    }
    // A grant that names what is to become of another would give more than was granted.
    app.key(&admin, "demo", "agent", &["root"]).await;
    rename(&admin, "admin", "root").await.problem(409, "conflict");
    assert_eq!(
        admin.get(&format!("{TOOLS}/write")).await.expect(200).json()["group"],
        json!(["knowledge/write", "admin"])
    );
}

#[tokio::test]
async fn removing_a_group_never_opens_a_tool() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    let agent = app
        .key(&admin, "demo", "agent", &["knowledge/read", "default"])
        .await;
    let path = format!("{GROUPS}/knowledge%2Fread");
    let preview = admin
        .delete(&format!("{path}?dry_run=true"), None)
        .await
        .expect(200)
        .json();
    assert_eq!(preview["unreachable_tools"], json!(["read"]));
    assert_eq!(preview["grant_count"], 1);
    admin
        .delete(&path, None)
        .await
        .problem(428, "precondition_required");
    admin
        .delete(&path, Some("\"v9\""))
        .await
        .problem(412, "precondition_failed");
    admin.delete(&path, Some("*")).await.expect(200);

    let read = admin.get(&format!("{TOOLS}/read")).await.expect(200).json();
    assert_eq!(read["group"], json!([]), "in no group, and not in default");
    assert_eq!(read["definition"]["group"], json!([]));
    let seen = agent
        .post("/projects/demo/resolve", &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!(seen["available"], json!(["free"]));
    agent
        .post("/projects/demo/resolve", &json!({"group": ["knowledge/read"]}))
        .await
        .problem(403, "insufficient_tool_groups");
    admin
        .delete(&format!("{GROUPS}/default"), Some("*"))
        .await
        .problem(422, "invalid_request");
}
