//! The settings of a project.

use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::support::{Answer, Client, TestApp};

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
    assert_eq!(read.json(), second.json());
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
    let body = json!({"agent_endpoint": "https://agent.example.com/run", "alerts": {"window_s": 1}});
    let problem = put(&admin, Some("*"), &body)
        .await
        .problem(422, "invalid_request");
    let errors = problem["errors"].as_array().expect("errors");
    assert_eq!(errors.len(), 2, "{problem}");
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
