//! Tool services as resources: listed, read, stored, and deleted while nothing uses them.

use axum::http::{HeaderName, Method, header};
use rstest::rstest;
use serde_json::{Value, json};

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
async fn a_service_is_stored_whole_by_its_tag() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let path = format!("{SERVICES}/jokes");
    let none: [(HeaderName, &str); 0] = [];
    let put = async |if_match: &[(HeaderName, &str)], body: &Value| {
        admin.send_json(Method::PUT, &path, if_match, body).await
    };
    let if_match = |tag: &'static str| [(header::IF_MATCH, tag)];
    let mut definition = json!({
        "request-queue": "non-persistent://tg/demo/request",
        "response-queue": "non-persistent://tg/demo/response",
        "config-params": [{"name": "style", "required": true}],
        "max-concurrent": 3,
        "envs": {"key": "secret:KEY"},
    });
    put(&if_match("\"1\""), &definition)
        .await
        .problem(412, "precondition_failed");
    let created = put(&none, &definition).await.expect(201);
    assert_eq!(created.headers[header::ETAG], "\"1\"");
    let mut stored = definition.clone();
    stored["id"] = json!("jokes");
    stored["revision"] = json!(1);
    stored["tools"] = json!([]);
    assert_eq!(created.json(), stored);

    definition["max-concurrent"] = json!(5);
    put(&none, &definition)
        .await
        .problem(428, "precondition_required");
    put(&if_match("\"7\""), &definition)
        .await
        .problem(412, "precondition_failed");
    let replaced = put(&if_match("\"1\""), &definition).await.expect(200);
    assert_eq!(replaced.headers[header::ETAG], "\"2\"");
    assert_eq!(replaced.json()["max-concurrent"], 5);
    // What is stored already is no change.
    let same = put(&if_match("\"2\""), &definition).await.expect(200);
    assert_eq!(same.headers[header::ETAG], "\"2\"");
    let records = admin
        .get("/projects/demo/audit?action=definition")
        .await
        .expect(200);
    assert_eq!(records.text().matches("put_tool_service").count(), 2);
}

#[rstest]
#[case::one_queue(json!({"request-queue": "tg.demo.a"}), "", "the service has no \"response-queue\"")]
#[case::foreign(json!({"request-queue": "$SYS.a", "response-queue": "tg.demo.b"}), "/request-queue", "\"request-queue\" is invalid")]
#[case::same(json!({"request-queue": "tg.demo.a", "response-queue": "tg.demo.a"}), "", "requests and responses share one queue")]
#[case::bound(json!({"max-concurrent": 0}), "/max-concurrent", "must be an integer from 1")]
#[case::twice(json!({"config-params": [{"name": "a", "required": true}, {"name": "a", "required": false}]}), "/config-params/1", "duplicate parameter")]
#[case::tool_key(json!({"config-params": [{"name": "group", "required": true}]}), "/config-params/0", "is a key of every tool")]
#[tokio::test]
async fn an_unfit_service_is_refused_with_its_faults(
    #[case] definition: Value,
    #[case] pointer: &str,
    #[case] message: &str,
) {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let path = format!("{SERVICES}/jokes");
    let none: [(HeaderName, &str); 0] = [];
    let refused = admin.send_json(Method::PUT, &path, &none, &definition).await;
    let refused = refused.expect(422).json();
    assert_eq!(refused["code"], "invalid_definition");
    let fault = &refused["errors"][0];
    assert!(fault["message"].as_str().unwrap().contains(message), "{refused}");
    assert!(
        fault["pointer"].as_str().unwrap_or_default().starts_with(pointer),
        "{refused}"
    );
    admin.get(&path).await.problem(404, "not_found");
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
