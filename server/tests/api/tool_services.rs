//! Tool services as resources: listed, read, and deleted while nothing uses them.

use axum::http::{Method, header};
use serde_json::json;

use crate::support::TestApp;

const SERVICES: &str = "/projects/demo/tool-services";
const UPLOAD: &str = "
tool-service:
  joke-service:
    request-queue: non-persistent://tg/demo/request
    response-queue: non-persistent://tg/demo/response
    config-params: [{name: style, required: false}]
    max-concurrent: 3
  other: {envs: {key: 'secret:KEY'}}
tool:
  tell-joke: {type: tool-service, description: Tells a joke., service: joke-service, style: pun}
";

#[tokio::test]
async fn services_are_listed_with_the_tools_that_use_them() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin.upload("/projects/demo/tools", UPLOAD).await.expect(201);
    let service = json!({
        "id": "joke-service",
        "request-queue": "non-persistent://tg/demo/request",
        "response-queue": "non-persistent://tg/demo/response",
        "config-params": [{"name": "style", "required": false}],
        "max-concurrent": 3,
        "envs": {},
        "revision": 1,
        "tools": ["tell-joke"],
    });
    let one = admin.get(&format!("{SERVICES}/joke-service")).await.expect(200);
    assert_eq!(one.headers[header::ETAG], "\"1\"");
    assert_eq!(one.json(), service);
    let first = admin.get(&format!("{SERVICES}?limit=1")).await.expect(200).json();
    assert_eq!(first["items"], json!([service]));
    let cursor = first["next_cursor"].as_str().expect("another page");
    let rest = admin
        .get(&format!("{SERVICES}?cursor={cursor}"))
        .await
        .expect(200)
        .json();
    assert_eq!(rest["items"][0]["id"], "other");
    assert_eq!(rest["items"][0]["tools"], json!([]));
    admin
        .get(&format!("{SERVICES}/absent"))
        .await
        .problem(404, "not_found");
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    agent.get(SERVICES).await.problem(403, "forbidden");
}

#[tokio::test]
async fn a_service_is_deleted_when_no_tool_uses_it() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin.upload("/projects/demo/tools", UPLOAD).await.expect(201);
    let path = format!("{SERVICES}/joke-service");
    admin
        .delete(&path, None)
        .await
        .problem(428, "precondition_required");
    admin
        .delete(&path, Some("\"7\""))
        .await
        .problem(412, "precondition_failed");
    let refused = admin.delete(&path, Some("*")).await.expect(409).json();
    assert_eq!(refused["code"], "in_use");
    assert_eq!(refused["errors"][0]["message"], "the tool \"tell-joke\" uses it");
    admin
        .delete("/projects/demo/tools/tell-joke", Some("*"))
        .await
        .expect(204);
    admin.delete(&path, Some("\"1\"")).await.expect(204);
    admin.get(&path).await.problem(404, "not_found");
    admin.delete(&path, Some("*")).await.problem(404, "not_found");
    let record = admin
        .get("/projects/demo/audit?action=definition&limit=1")
        .await
        .expect(200)
        .json();
    let what = record["items"][0].to_string();
    assert!(what.contains("delete_tool_service"), "{what}");
    // What is uploaded with its name later is a new service.
    let answer = admin
        .send_json(
            Method::POST,
            "/projects/demo/tools",
            &[],
            &json!({"yaml": UPLOAD}),
        )
        .await
        .expect(201)
        .json();
    assert!(answer.to_string().contains("joke-service"), "{answer}");
}
