//! What definitions say about answers: the part that is the result, its size, the next page, and its schema.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use serde_json::{Value, json};

use crate::support::{Client, TestApp, serve};

const CALLS: &str = "/projects/demo/calls";

/// An upstream with two pages of items, and what it was asked to send.
async fn upstream() -> String {
    let items = || async {
        let items: Vec<Value> = (0..50)
            .map(|n| json!({"id": n, "name": format!("item {n}")}))
            .collect();
        let link = "</items?page=2>; rel=\"next\"";
        (
            [(header::LINK, link)],
            axum::Json(json!({"items": items, "cursor": "c2"})),
        )
            .into_response()
    };
    let accepted = |headers: axum::http::HeaderMap| async move {
        let accept = headers[header::ACCEPT].to_str().unwrap_or_default().to_owned();
        axum::Json(json!({ "accept": accept }))
    };
    let events = || async {
        let body = "event: delta\ndata: {\"text\": \"a\"}\n\ndata: [DONE]\n\n";
        ([(header::CONTENT_TYPE, "text/event-stream")], body)
    };
    serve(
        Router::new()
            .route("/items", get(items))
            .route("/accept", get(accepted))
            .route("/events", get(events)),
    )
    .await
}

async fn define(admin: &Client<'_>, base: &str, name: &str, path: &str, result: Value, output: Value) {
    let mut tool = json!({"name": name, "type": "openapi", "description": "Asks.", "parameters": {"type": "object"},
        "options": {"http": {"base_url": base, "path": path, "result": result}}});
    if !output.is_null() {
        tool["output_schema"] = output;
    }
    admin.post("/projects/demo/tools", &tool).await.expect(201);
}

#[tokio::test]
async fn definitions_shape_results() {
    let base = upstream().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let names = json!({"select": "$.items[*].name", "next": "$.cursor", "max_bytes": 100});
    define(&admin, &base, "names", "/items", names, Value::Null).await;
    define(
        &admin,
        &base,
        "first",
        "/items",
        json!({"select": "$.items[0]"}),
        Value::Null,
    )
    .await;
    let accept = json!({"accept": ["text/csv", "application/json"]});
    define(&admin, &base, "accepts", "/accept", accept, Value::Null).await;
    define(&admin, &base, "events", "/events", json!({}), Value::Null).await;
    let call = async |tool: &str| admin.post(CALLS, &json!({"tool": tool})).await.expect(200).json();

    let answer = call("names").await;
    let kept = answer["result"].as_array().expect("a list");
    assert_eq!(kept[0], "item 0");
    assert_eq!(
        answer["notes"]["next"], "c2",
        "what the definition names goes before a header"
    );
    let truncated = &answer["notes"]["truncated"];
    assert_eq!(truncated["kept_bytes"], answer["result"].to_string().len());
    assert!(truncated["total_bytes"].as_u64().is_some_and(|bytes| bytes > 400));

    let answer = call("first").await;
    assert_eq!(answer["result"], json!({"id": 0, "name": "item 0"}));
    assert_eq!(answer["notes"], json!({"next": format!("{base}/items?page=2")}));

    assert_eq!(
        call("accepts").await["result"]["accept"],
        "text/csv, application/json"
    );
    let events = json!({"events": [{"event": "delta", "data": {"text": "a"}}, {"data": "[DONE]"}]});
    let answer = call("events").await;
    assert_eq!(answer["result"], events);
    assert!(answer.get("notes").is_none());

    // The same by its own address.
    let invoke = |tool: &str| format!("/projects/demo/tools/{tool}/invoke");
    let answer = admin.post(&invoke("names"), &json!({})).await.expect(200);
    assert!(answer.json().is_array());
    assert!(
        answer.header("toolgate-truncated").starts_with("kept="),
        "{}",
        answer.header("toolgate-truncated")
    );
    assert_eq!(answer.header("link"), "", "a token is no address");
    let answer = admin.post(&invoke("first"), &json!({})).await.expect(200);
    assert_eq!(
        answer.header("link"),
        format!("<{base}/items?page=2>; rel=\"next\"")
    );
}

#[tokio::test]
async fn a_result_that_does_not_fit_its_schema_is_answered_with_warnings() {
    let base = upstream().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let schema = |kind: &str| json!({"type": "object", "properties": {"id": {"type": kind}, "name": {"type": "string"}}, "required": ["id"]});
    let first = json!({"select": "$.items[0]"});
    define(&admin, &base, "fits", "/items", first.clone(), schema("integer")).await;
    define(&admin, &base, "misfits", "/items", first, schema("string")).await;
    let answer = admin
        .post(CALLS, &json!({"tool": "fits"}))
        .await
        .expect(200)
        .json();
    assert!(answer["notes"].get("warnings").is_none(), "{answer}");
    let answer = admin
        .post(CALLS, &json!({"tool": "misfits"}))
        .await
        .expect(200)
        .json();
    assert_eq!(answer["status"], "succeeded");
    assert_eq!(answer["result"]["id"], 0);
    let [warning] = &answer["notes"]["warnings"].as_array().expect("warnings")[..] else {
        panic!("one warning: {answer}")
    };
    assert_eq!(
        (&warning["severity"], &warning["pointer"]),
        (&json!("warning"), &json!("/id"))
    );
    let answer = admin
        .post("/projects/demo/tools/misfits/invoke", &json!({}))
        .await
        .expect(200);
    assert_eq!(answer.header("toolgate-warnings"), "1");

    // What the tool answers is in the description of the tools.
    let document = admin.get("/projects/demo/openapi.json").await.expect(200).json();
    let operation = &document["paths"]["/projects/demo/tools/fits/invoke"]["post"];
    let reference = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
        .as_str()
        .expect("a reference");
    assert_eq!(
        document.pointer(&reference[1..]).expect("a component"),
        &schema("integer")
    );
}
