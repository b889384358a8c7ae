//! `tools/call`: the ordinary call, in the protocol's words.

use axum::Router;
use axum::http::Method;
use axum::routing::get;
use serde_json::{Value, json};

use super::{McpClient, agent, text, with_tools, with_tools_at};
use crate::support::{TestApp, echo, serve, tool};

async fn record(app: &TestApp, id: &Value) -> Value {
    let admin = app.admin().await;
    let auditor = app.auditor(&admin).await;
    let path = format!("/projects/demo/audit?id={}", id.as_str().expect("an id"));
    auditor.get(&path).await.expect(200).json()["items"][0].clone()
}

/// What differs from call to call.
fn without_own(mut record: Value) -> Value {
    if let Value::Object(members) = &mut record {
        for own in ["id", "at", "entrance", "request_id", "duration_ms", "address"] {
            members.remove(own);
        }
    }
    record
}

/// What does not differ from call to call; the echo answers with the headers of each.
fn without_call(mut called: Value) -> Value {
    if let Some(meta) = called["_meta"].as_object_mut() {
        meta.remove("toolgate/call_id");
    }
    if called["isError"] == false {
        called["content"] = called["content"][0]["type"].clone();
        called["structuredContent"] = called["structuredContent"]["query"].clone();
    }
    called
}

#[tokio::test]
async fn a_call_is_the_same_as_by_rest_in_decision_record_and_result() {
    let app = with_tools().await;
    let agent = agent(&app, &["default", "work"]).await;
    for (tool, arguments, group, code) in [
        ("search", json!({"q": "rust"}), json!(["default"]), None),
        (
            "search",
            json!({"q": 5}),
            json!(["default"]),
            Some("invalid_arguments"),
        ),
        (
            "search",
            json!({}),
            json!(["secret"]),
            Some("insufficient_tool_groups"),
        ),
        ("absent", json!({}), json!(["default"]), Some("tool_not_found")),
        ("finish", json!({}), json!(["work"]), Some("tool_not_in_state")),
    ] {
        let request = json!({"tool": tool, "arguments": arguments, "group": group});
        let rest = agent.post("/projects/demo/calls", &request).await.json();
        let query = format!("?group={}", group[0].as_str().expect("a group"));
        let mcp = McpClient::new(agent.clone(), &query);
        let called = mcp.call(tool, arguments.clone()).await;
        // Calls with `_meta` go through the protocol's implementation, others past it.
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"example.com/own": 1}});
        let by_implementation = mcp.ask("tools/call", params).await;
        assert_eq!(without_call(by_implementation), without_call(called.clone()));
        let by_rest = record(&app, &rest["call_id"]).await;
        let by_mcp = record(&app, &called["_meta"]["toolgate/call_id"]).await;
        assert_eq!(by_mcp["entrance"], "mcp");
        assert_eq!(without_own(by_mcp), without_own(by_rest));
        match code {
            None => {
                assert_eq!(called["isError"], false);
                assert_eq!(called["structuredContent"]["query"], rest["result"]["query"]);
                let text: Value = serde_json::from_str(&text(&called)).expect("JSON");
                assert_eq!(text, called["structuredContent"]);
            }
            Some(code) => {
                assert_eq!(called["isError"], true, "{called}");
                assert!(called["structuredContent"].is_null(), "{called}");
                assert!(text(&called).starts_with(&format!("{code}: ")), "{called}");
                assert_eq!(called["_meta"]["toolgate/code"], code);
                assert_eq!(rest["code"], code);
            }
        }
    }
}

#[tokio::test]
async fn faults_of_the_arguments_are_named() {
    let app = with_tools().await;
    let mcp = McpClient::new(agent(&app, &["default"]).await, "");
    let called = mcp.call("search", json!({"q": 5, "other": 1})).await;
    let text = text(&called);
    assert!(text.contains("/q: "), "{text}");
    assert!(text.contains("other"), "{text}");
}

#[tokio::test]
async fn absent_arguments_and_null_are_no_fault() {
    let app = with_tools().await;
    let mcp = McpClient::new(agent(&app, &["default"]).await, "");
    assert_eq!(
        mcp.ask("tools/call", json!({"name": "search"})).await["isError"],
        false
    );
    let called = mcp.call("search", json!({"q": null})).await;
    assert_eq!(called["structuredContent"]["query"], json!({}), "{called}");
    // A text stays a text where one is wanted.
    let called = mcp.call("search", json!({"q": "{\"a\":1}"})).await;
    assert_eq!(called["structuredContent"]["query"], json!({"q": "{\"a\":1}"}));
}

#[tokio::test]
async fn a_tool_that_fails_says_so_without_structured_content() {
    let base = echo().await;
    let app = with_tools_at(&base, &[]).await;
    app.admin()
        .await
        .upload("/projects/demo/tools", &tool("fails", &base, "/fails", ""))
        .await
        .expect(201);
    let called = McpClient::new(agent(&app, &["default"]).await, "")
        .call("fails", json!({}))
        .await;
    assert_eq!(called["isError"], true);
    assert!(called["structuredContent"].is_null());
    assert!(text(&called).contains("no such thing"), "{called}");
    assert!(text(&called).contains("will fail again"), "{called}");
}

#[tokio::test]
async fn results_that_are_no_objects_are_text() {
    let base = serve(
        Router::new()
            .route("/list", get(|| async { axum::Json(json!([1, 2.50])) }))
            .route("/text", get(|| async { "plain text" })),
    )
    .await;
    let app = with_tools_at(&base, &[]).await;
    let tools = [
        tool("list", &base, "/list", ""),
        tool("plain", &base, "/text", ""),
    ];
    app.admin()
        .await
        .upload("/projects/demo/tools", &tools.join("---\n"))
        .await
        .expect(201);
    let mcp = McpClient::new(agent(&app, &["default"]).await, "");
    let called = mcp.call("list", json!({})).await;
    assert_eq!(text(&called), "[1,2.5]");
    assert!(called["structuredContent"].is_null());
    // An upstream's text is a member of an object, as by REST.
    let called = mcp.call("plain", json!({})).await;
    assert_eq!(called["structuredContent"], json!({"text": "plain text"}));
}

#[tokio::test]
async fn a_large_result_is_linked() {
    let list = || async { axum::Json(json!({"items": (0..200).collect::<Vec<u32>>()})) };
    let base = serve(Router::new().route("/list", get(list))).await;
    let app = with_tools_at(&base, &[]).await;
    let large = json!({"name": "large", "type": "openapi", "parameters": {"type": "object"}, "options": {"http":
        {"base_url": base, "path": "/list", "result": {"max_bytes": 200, "beyond": "keep"}}}});
    app.admin()
        .await
        .body(
            Method::POST,
            "/projects/demo/tools",
            "application/json",
            large.to_string(),
        )
        .await
        .expect(201);
    let agent = agent(&app, &["default"]).await;
    let called = McpClient::new(agent.clone(), "").call("large", json!({})).await;
    assert_eq!(called["isError"], false, "{called}");
    let content = called["content"].as_array().expect("content");
    let link = content
        .iter()
        .find(|block| block["type"] == "resource_link")
        .expect("a link");
    assert_eq!(link["mimeType"], "application/json");
    let path = link["uri"].as_str().expect("an address");
    let path = &path[path.find("/projects/").expect("a path")..];
    let whole = agent.get(path).await.expect(200).json();
    assert_eq!(whole["items"].as_array().map(Vec::len), Some(200));
}

#[tokio::test]
async fn a_repeated_call_is_answered_again_and_not_run_again() {
    let app = with_tools().await;
    let mcp = McpClient::new(agent(&app, &["default"]).await, "").with("idempotency-key", "once");
    let first = mcp.call("search", json!({"q": "a"})).await;
    let again = mcp.call("search", json!({"q": "a"})).await;
    assert_eq!(
        first["_meta"]["toolgate/call_id"],
        again["_meta"]["toolgate/call_id"]
    );
    assert_eq!(first["structuredContent"], again["structuredContent"]);
}
