//! Several quarantined changes, decided together.

use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::imports_kept::{PETS, again, definition, description, make};
use crate::support::{Answer, Client, TestApp};

const DECISIONS: &str = "/projects/demo/quarantine-decisions";

/// Three operations, `get_a` to `get_c`, with this summary.
fn api(version: &str, summary: &str) -> Value {
    let one = json!({"get": {"summary": summary}});
    description(version, json!({"/a": one, "/b": one, "/c": one}))
}

/// Three changes wait; `get_b` was edited here too.
async fn waiting(admin: &Client<'_>) {
    make(admin, PETS, &api("1", "one")).await.expect(201);
    let mut tool = definition(admin, "get_b").await;
    tool["description"] = json!("ours");
    admin.post("/projects/demo/tools", &tool).await.expect(200);
    again(admin, PETS, &api("2", "two")).await.expect(200);
}

async fn preview(client: &Client<'_>, body: &Value) -> Answer {
    let path = format!("{DECISIONS}?dry_run=true");
    client.send_json(Method::POST, &path, &[], body).await
}

async fn decide(client: &Client<'_>, tag: &str, body: &Value) -> Answer {
    client
        .send_json(Method::POST, DECISIONS, &[(header::IF_MATCH, tag)], body)
        .await
}

/// Tools with their outcome, conflicts and revision.
fn told(answer: &Value) -> Vec<(&str, &str, i64, i64)> {
    let items = answer["items"].as_array().expect("items").iter();
    items
        .map(|item| {
            let text = |key: &str| item[key].as_str().expect("text");
            let number = |key: &str| item[key].as_i64().expect("a number");
            (
                text("tool"),
                text("outcome"),
                number("conflicts"),
                number("revision"),
            )
        })
        .collect()
}

async fn descriptions(client: &Client<'_>) -> [Value; 3] {
    let mut found = [Value::Null, Value::Null, Value::Null];
    for (at, name) in ["get_a", "get_b", "get_c"].into_iter().enumerate() {
        found[at] = definition(client, name).await["description"].take();
    }
    found
}

async fn total(client: &Client<'_>) -> Value {
    client.get("/projects/demo/quarantine").await.expect(200).json()["total"].take()
}

#[tokio::test]
async fn several_are_approved_in_one_transaction_as_the_preview_said() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    waiting(&admin).await;
    let asked = json!({"select": {"import": "pets"}, "decision": "approve", "note": "version 2"});
    let dry = preview(&admin, &asked).await;
    let tag = dry.header("etag").to_owned();
    let dry = dry.expect(200).json();
    assert_eq!(dry["dry_run"], true);
    assert_eq!(
        told(&dry),
        [
            ("get_a", "approved", 0, 2),
            ("get_b", "waiting", 1, 2),
            ("get_c", "approved", 0, 2)
        ]
    );
    assert!(
        dry["items"][0]["diff"]
            .as_str()
            .expect("a diff")
            .contains("+description: two")
    );
    assert_eq!(dry["items"][1].get("diff"), None);
    assert_eq!(total(&admin).await, 3, "nothing was stored");

    let viewer = app.key(&admin, "demo", "viewer", &[]).await;
    preview(&viewer, &asked).await.problem(403, "forbidden");
    admin
        .send_json(Method::POST, DECISIONS, &[], &asked)
        .await
        .problem(428, "precondition_required");
    decide(&admin, "\"stale\"", &asked)
        .await
        .problem(412, "precondition_failed");
    let done = decide(&admin, &tag, &asked).await.expect(200).json();
    assert_eq!((told(&done), &done["dry_run"]), (told(&dry), &json!(false)));
    assert_eq!(descriptions(&admin).await, ["two", "ours", "two"]);
    assert_eq!(total(&admin).await, 1, "the one with a conflict goes on waiting");
    let revisions = admin
        .get("/projects/demo/tools/get_a/revisions")
        .await
        .expect(200)
        .json();
    assert_eq!(revisions["items"][0]["note"], "version 2");
    decide(&admin, &tag, &asked)
        .await
        .problem(412, "precondition_failed");

    let rest = json!({"select": {"names": ["get_b", "get_b"]}, "decision": "approve", "conflicts": "theirs"});
    let done = decide(&admin, "*", &rest).await.expect(200).json();
    assert_eq!(told(&done), [("get_b", "approved", 1, 3)]);
    assert_eq!(descriptions(&admin).await, ["two", "two", "two"]);
    let records = admin
        .get("/projects/demo/audit?action=import&limit=2")
        .await
        .expect(200)
        .json();
    assert_eq!(
        records["items"][0]["arguments"],
        json!({"change": "approve_imported", "imports": ["pets"], "tools": ["get_b"], "still_waiting": [], "conflicts": "theirs"})
    );
    assert_eq!(
        records["items"][1]["arguments"],
        json!({"change": "approve_imported", "imports": ["pets"], "tools": ["get_a", "get_c"], "still_waiting": ["get_b"]})
    );
}

#[tokio::test]
async fn several_are_rejected_together() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    waiting(&admin).await;
    let asked = json!({"select": {"names": ["get_a", "get_b"]}, "decision": "reject"});
    let done = decide(&admin, "*", &asked).await.expect(200).json();
    assert_eq!(
        told(&done),
        [("get_a", "rejected", 0, 1), ("get_b", "rejected", 1, 2)]
    );
    assert_eq!(descriptions(&admin).await, ["one", "ours", "one"]);
    assert_eq!(total(&admin).await, 1);
    // What was rejected counts as seen.
    again(&admin, PETS, &api("2", "two")).await.expect(200);
    assert_eq!(total(&admin).await, 1);
}

#[tokio::test]
async fn what_changed_since_the_preview_is_not_decided() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    waiting(&admin).await;
    let asked = json!({"select": {"import": "pets"}, "decision": "approve", "conflicts": "ours"});
    let first = preview(&admin, &asked)
        .await
        .expect(200)
        .header("etag")
        .to_owned();
    again(&admin, PETS, &api("3", "three")).await.expect(200);
    decide(&admin, &first, &asked)
        .await
        .problem(412, "precondition_failed");
    let second = preview(&admin, &asked)
        .await
        .expect(200)
        .header("etag")
        .to_owned();
    assert_ne!(first, second);
    decide(&admin, &second, &asked).await.expect(200);
    assert_eq!(descriptions(&admin).await, ["three", "ours", "three"]);
}

#[tokio::test]
async fn a_preview_says_how_policy_tests_come_out() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    waiting(&admin).await;
    let asked = json!({"select": {"import": "pets"}, "decision": "approve"});
    let dry = preview(&admin, &asked).await.expect(200).json();
    assert_eq!(dry.get("policy_tests"), None, "the project expects nothing");
    let tests = json!([{"name": "off", "granted": ["default"], "tool": "get_a", "expect": {"effect": "deny", "code": "tool_disabled"}}]);
    admin
        .post("/projects/demo/policy-tests", &json!({"policy_tests": tests}))
        .await
        .expect(201);
    let dry = preview(&admin, &asked).await.expect(200).json();
    assert_eq!(dry["policy_tests"]["failed"], json!([]), "{dry}");
    decide(&admin, "*", &asked).await.expect(200);
}

#[tokio::test]
async fn a_selection_is_checked() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    waiting(&admin).await;
    let many: Vec<String> = (0..1001).map(|at| format!("tool-{at}")).collect();
    for (select, status, code, pointer) in [
        (json!({}), 422, "invalid_request", "/select"),
        (
            json!({"names": ["get_a"], "import": "pets"}),
            422,
            "invalid_request",
            "/select",
        ),
        (json!({"names": []}), 422, "invalid_request", "/select/names"),
        (json!({ "names": many }), 422, "invalid_request", "/select/names"),
    ] {
        let problem = preview(&admin, &json!({"select": select, "decision": "approve"}))
            .await
            .problem(status, code);
        assert_eq!(problem["errors"][0]["pointer"], pointer);
    }
    preview(
        &admin,
        &json!({"select": {"names": ["get_a", "none"]}, "decision": "reject"}),
    )
    .await
    .problem(404, "not_found");
    let none = preview(
        &admin,
        &json!({"select": {"import": "none"}, "decision": "reject"}),
    )
    .await
    .expect(200)
    .json();
    assert_eq!(none["items"], json!([]));
    assert_eq!(total(&admin).await, 3);
}
