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

#[tokio::test]
async fn the_key_of_a_call_may_be_among_its_meta() {
    let app = with_tools().await;
    let client = agent(&app, &["default"]).await;
    let mcp = McpClient::new(client.clone(), "");
    let keyed = |key: Value| json!({"name": "search", "arguments": {"q": "a"}, "_meta": {"toolgate/idempotency_key": key}});
    let first = mcp.ask("tools/call", keyed(json!("once"))).await;
    let again = mcp.ask("tools/call", keyed(json!("once"))).await;
    assert_eq!(
        first["_meta"]["toolgate/call_id"],
        again["_meta"]["toolgate/call_id"]
    );
    let by_header = McpClient::new(client, "").with("idempotency-key", "once");
    let called = by_header.call("search", json!({"q": "a"})).await;
    assert_eq!(
        called["_meta"]["toolgate/call_id"],
        first["_meta"]["toolgate/call_id"]
    );
    for key in [json!(7), json!(""), json!("a b"), json!("x".repeat(256))] {
        let refused = mcp.send("tools/call", keyed(key)).await;
        refused.problem(400, "malformed_request");
    }
    let two = by_header.send("tools/call", keyed(json!("other"))).await;
    two.problem(400, "malformed_request");
}

/// Clients check structured content against the schema that is listed, and discard a result that does not fit.
#[tokio::test]
async fn a_result_that_does_not_fit_its_output_schema_is_text_that_clients_read() {
    let base = serve(
        Router::new()
            .route("/fits", get(|| async { axum::Json(json!({"n": 1})) }))
            .route("/unfit", get(|| async { axum::Json(json!({"n": "one"})) }))
            .route("/text", get(|| async { "plain" }))
            .route(
                "/long",
                get(|| async { axum::Json(json!({"n": 1, "text": "x".repeat(500)})) }),
            ),
    )
    .await;
    let app = with_tools_at(&base, &[]).await;
    let admin = app.admin().await;
    let schema = "output_schema: {type: object, properties: {n: {type: integer}}, required: [n]}\n";
    for path in ["fits", "unfit", "text"] {
        let tool = tool(path, &base, &format!("/{path}"), schema);
        admin.upload("/projects/demo/tools", &tool).await.expect(201);
    }
    let cut = tool("long", &base, "/long", schema)
        .replace("options:", "options:\n  result: {max_bytes: 100, beyond: keep}");
    admin.upload("/projects/demo/tools", &cut).await.expect(201);
    let client = agent(&app, &["default"]).await;
    let mcp = McpClient::new(client.clone(), "");

    let called = mcp.call("fits", json!({})).await;
    assert_eq!(
        (&called["isError"], &called["structuredContent"]),
        (&json!(false), &json!({"n": 1}))
    );
    for (name, kept) in [
        ("unfit", "\"one\""),
        ("text", "plain"),
        ("long", "The result was cut"),
    ] {
        let called = mcp.call(name, json!({})).await;
        assert_eq!(called["isError"], true, "{called}");
        assert!(called["structuredContent"].is_null(), "{called}");
        assert!(text(&called).starts_with("The call succeeded."), "{called}");
        assert!(
            called["content"].to_string().contains(&kept.replace('"', "\\\"")),
            "{called}"
        );
        let record = record(&app, &called["_meta"]["toolgate/call_id"]).await;
        assert_eq!(record["outcome"], "succeeded");
        let rest = client
            .post("/projects/demo/calls", &json!({"tool": name}))
            .await
            .expect(200);
        assert_eq!(rest.json()["status"], "succeeded");
    }
}

#[tokio::test]
async fn a_secret_comes_back_in_no_part_of_a_result() {
    let base = echo().await;
    let app = with_tools_at(&base, &[("TOOLGATE_TOOL_ENV_KEY", "canary-7f3a")]).await;
    let yaml = format!(
        "name: keyed\ntype: openapi\ndescription: Keyed.\nparameters: {{type: object, properties: {{key: {{type: string}}}}}}\noptions:\n  envs: {{key: TOOLGATE_TOOL_ENV_KEY}}\n  http: {{base_url: \"{base}\", path: /search, header: {{x-api-key: key}}}}\n"
    );
    app.admin()
        .await
        .upload("/projects/demo/tools", &yaml)
        .await
        .expect(201);
    let mcp = McpClient::new(agent(&app, &["default"]).await, "");
    let called = mcp.call("keyed", json!({})).await;
    assert_eq!(called["structuredContent"]["headers"]["x-api-key"], "[redacted]");
    assert!(text(&called).contains("[redacted]"), "{called}");
    assert!(!called.to_string().contains("canary-7f3a"), "{called}");
}
