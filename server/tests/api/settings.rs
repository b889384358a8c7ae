//! The settings of a project.

use std::sync::Arc;
use std::time::Instant;

use axum::http::{Method, header};
use serde_json::{Value, json};
use toolgate_core::ids::ToolName;
use toolgate_store::rows::Publication;

use crate::support::{ANY, Answer, Client, TestApp, tool};

const PATH: &str = "/projects/demo/settings";

async fn put(client: &Client<'_>, if_match: Option<&str>, body: &Value) -> Answer {
    let mut request = client
        .request(Method::PUT, PATH)
        .header(header::CONTENT_TYPE, "application/json");
    if let Some(tag) = if_match {
        request = request.header(header::IF_MATCH, tag);
    }
    client
        .send(request.body(body.to_string().into()).expect("a request"))
        .await
}

#[tokio::test]
async fn settings_are_replaced_whole_and_by_revision() {
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", "https://agent.example.com")]).await;
    let admin = app.demo().await;
    let first = admin.get(PATH).await.expect(200);
    assert_eq!(first.header("etag"), "\"r0\"");
    assert_eq!(first.json()["alerts"]["window_s"], 300);
    assert_eq!(first.json()["agent_endpoint"], Value::Null);

    let body =
        json!({"agent_endpoint": "https://agent.example.com/run", "alerts": {"escalation_attempts": 3}});
    put(&admin, None, &body)
        .await
        .problem(428, "precondition_required");
    let second = put(&admin, Some("\"r0\""), &body).await.expect(200);
    assert_eq!(second.header("etag"), "\"r1\"");
    put(&admin, Some("\"r0\""), &body)
        .await
        .problem(412, "precondition_failed");

    let read = admin.get(PATH).await.expect(200);
    assert_eq!(read.header("etag"), "\"r1\"");
    assert_eq!(read.json(), second.json()["settings"]);
    assert_eq!(second.json()["warnings"], json!([]));
    assert_eq!(read.json()["alerts"]["escalation_attempts"], 3);
    assert_eq!(
        read.json()["alerts"]["key_addresses"],
        5,
        "what is left out has its default"
    );

    put(&admin, Some("*"), &json!({})).await.expect(200);
    assert_eq!(admin.get(PATH).await.json()["agent_endpoint"], Value::Null);
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_with_their_fault() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let body = json!({"agent_endpoint": "https://agent.example.com/run", "alerts": {"window_s": 1},
        "start_states": ["undefined", "ad\u{200b}min"]});
    let problem = put(&admin, Some("*"), &body)
        .await
        .problem(422, "invalid_request");
    let errors = problem["errors"].as_array().expect("errors");
    assert_eq!(errors.len(), 3, "{problem}");
    assert_eq!(errors[2]["pointer"], "/start_states/1");
    assert_eq!(errors[0]["pointer"], "/agent_endpoint");
    assert!(
        errors[0]["message"]
            .as_str()
            .expect("text")
            .contains("egress allow-list")
    );
    assert_eq!(errors[1]["pointer"], "/alerts/window_s");
    put(&admin, Some("*"), &json!({"agent": 1}))
        .await
        .problem(422, "invalid_request");
    assert_eq!(
        admin.get(PATH).await.header("etag"),
        "\"r0\"",
        "nothing was stored"
    );
}

#[tokio::test]
async fn settings_survive_a_restart_and_stay_with_their_project() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    put(&admin, Some("*"), &json!({"alerts": {"refused_credentials": 7}}))
        .await
        .expect(200);
    let other = admin.get("/projects/other/settings").await.expect(200).json();
    assert_eq!(other["alerts"]["refused_credentials"], 20);

    let app = app.restart(&[]).await;
    let admin = app.admin().await;
    let read = admin.get(PATH).await.expect(200);
    assert_eq!(read.json()["alerts"]["refused_credentials"], 7);
    assert_eq!(read.header("etag"), "\"r1\"");
}

/// Everything that is made of the definitions: where the tools are in memory, and what is searched.
fn made_of_definitions(app: &TestApp) -> (usize, usize, i64) {
    let server_snapshot = app.gateway.snapshots.now();
    let project = server_snapshot.project("demo").expect("the project");
    (
        project.snapshot.tools().as_ptr().addr(),
        Arc::as_ptr(&project.search).addr(),
        project.snapshot.version(),
    )
}

async fn change(client: &Client<'_>, method: Method, path: &str, body: &Value) {
    let answer = client
        .send_json(method, &format!("/projects/demo/{path}"), &ANY, body)
        .await;
    assert!(answer.status.is_success(), "{path}: {}", answer.text());
}

#[tokio::test]
async fn what_is_no_definition_leaves_the_definitions_where_they_are() {
    let key = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=";
    let app = TestApp::with(&[("TOOLGATE_SECRETS_KEY", key)]).await;
    let admin = app.demo().await;
    let tool = |name: &str| tool(name, "https://s.jina.ai", "/x", "");
    admin.upload("/projects/demo/tools", &tool("a")).await.expect(201);
    let (tools, search, mut version) = made_of_definitions(&app);
    let limit = json!({"limits": [{"name": "few", "subject": {"kind": "project"}, "concurrency": 3}]});
    for (method, path, body) in [
        (Method::PUT, "settings", json!({"alerts": {"window_s": 60}})),
        (Method::PUT, "limits", limit),
        (Method::PUT, "secrets/A", json!({"value": "a long enough value"})),
        (
            Method::POST,
            "policy-tests",
            json!([{"name": "t", "granted": [], "tool": "a", "expect": {"effect": "deny"}}]),
        ),
    ] {
        change(&admin, method, path, &body).await;
        version += 1;
        assert_eq!(made_of_definitions(&app), (tools, search, version), "{path}");
    }
    let server_snapshot = app.gateway.snapshots.now();
    let project = server_snapshot.project("demo").expect("the project");
    assert_eq!(project.settings.alerts.window_s, 60);
    assert_eq!(project.limits.document.limits.len(), 1);
    assert!(project.secrets.get("A").is_some() && project.policy_tests.len() == 1);

    admin.upload("/projects/demo/tools", &tool("b")).await.expect(201);
    let after = made_of_definitions(&app);
    assert_ne!((after.0, after.1), (tools, search));
    assert_eq!(after.2, version + 1);
    admin.get("/projects/demo/tools/b").await.expect(200);
}

/// `cargo test --release -p toolgate --test api -- --ignored --nocapture how_long`
#[tokio::test]
#[ignore = "measures, and takes a while"]
async fn how_long_a_change_of_settings_takes_among_100_000_tools() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let definition = |number: usize| {
        let name = format!("tool-{number}");
        let json = json!({"name": name, "type": "openapi", "description": "Does it.", "parameters": {"type": "object"},
            "group": [format!("group-{}", number % 1000)]});
        let definition = serde_json::from_value(json).expect("a definition");
        (ToolName::parse(name).expect("a name"), Some(definition))
    };
    let project = app
        .gateway
        .snapshots
        .now()
        .project("demo")
        .expect("the project")
        .row
        .uid;
    let publication = Publication {
        project,
        expected_version: 1,
        expected_directory: None,
        tools: (0..100_000).map(definition).collect(),
        services: Vec::new(),
        deleted_services: Vec::new(),
        labels: toolgate_store::LabelChange::default(),
        author: "admin".to_owned(),
        at: app.gateway.clock.now(),
        note: None,
    };
    app.gateway.store.publish(&publication).await.expect("published");
    let started = Instant::now();
    app.gateway.snapshots.refresh().await.expect("loaded");
    println!("loading everything: {:?}", started.elapsed());
    for window in [60, 61, 62] {
        let started = Instant::now();
        change(
            &admin,
            Method::PUT,
            "settings",
            &json!({"alerts": {"window_s": window}}),
        )
        .await;
        println!("changing the settings: {:?}", started.elapsed());
    }
}
