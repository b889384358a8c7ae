//! Arguments that a schema marks as secret are in no record, log or page.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::support::{TestApp, serve};

const VALUE: &str = "zq-marked-value";

#[tokio::test]
async fn arguments_that_the_schema_marks_are_masked_in_the_record_and_in_messages() {
    let repeat = |body: String| async move {
        let status = if body.contains("fail") {
            StatusCode::BAD_REQUEST
        } else {
            StatusCode::OK
        };
        (
            status,
            axum::Json(json!({ "message": format!("you sent {body}") })),
        )
    };
    let base = serve(axum::Router::new().fallback(repeat)).await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let tool = json!({
        "name": "register", "type": "openapi", "description": "Registers.",
        "parameters": {"type": "object", "properties": {
            "name": {"type": "string"},
            "code": {"type": "string", "format": "password"},
            "people": {"type": "array", "items": {"$ref": "#/$defs/person"}},
        }, "$defs": {"person": {"type": "object", "properties": {"phrase": {"type": "string", "writeOnly": true}}}}},
        "options": {"http": {"base_url": base, "path": "/register", "method": "POST"}},
    });
    admin.post("/projects/demo/tools", &tool).await.expect(201);

    let mut ids = Vec::new();
    for (name, state) in [("ok", "undefined"), ("fail", "undefined"), ("ok", "closed")] {
        let arguments = json!({"name": name, "code": VALUE, "people": [{"phrase": VALUE}]});
        let call = json!({"tool": "register", "arguments": arguments, "state": state});
        let answer = admin.post("/projects/demo/calls", &call).await.expect(200).json();
        if name == "fail" {
            let message = answer["error"]["upstream_message"].as_str().expect("a message");
            assert!(
                message.contains("[redacted]") && !message.contains(VALUE),
                "{message}"
            );
        }
        ids.push(answer["call_id"].as_str().expect("an id").to_owned());
    }
    let wrong = json!({"tool": "register", "arguments": {"name": 7, "code": VALUE}});
    let problem = admin
        .post("/projects/demo/calls", &wrong)
        .await
        .problem(422, "invalid_arguments");
    ids.push(problem["call_id"].as_str().expect("an id").to_owned());
    let denied = json!({"tool": "register", "arguments": {"code": VALUE}, "group": ["elsewhere"]});
    let problem = admin.post("/projects/demo/calls", &denied).await.json();
    ids.push(problem["call_id"].as_str().expect("an id").to_owned());
    let question = json!({"tool": "register", "arguments": {"code": VALUE}});
    admin.post("/projects/demo/explain", &question).await.expect(200);

    let auditor = app.auditor(&admin).await;
    for id in ids {
        let page = auditor
            .get(&format!("/projects/demo/audit?id={id}"))
            .await
            .expect(200);
        assert!(!page.text().contains(VALUE), "{}", page.text());
        let record: Value = page.json()["items"][0].clone();
        assert_eq!(record["arguments"]["code"], "[redacted]", "{record}");
    }
    let whole = auditor
        .get("/projects/demo/audit?limit=100")
        .await
        .expect(200)
        .text();
    assert!(!whole.contains(VALUE), "{whole}");
}
