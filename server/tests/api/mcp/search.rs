//! `?search=true`: tools are searched for instead of listed.

use axum::http::Method;
use serde_json::json;

use super::{McpClient, agent, text, with_tools};
use crate::support::ANY;

#[tokio::test]
async fn three_tools_stand_for_all() {
    let app = with_tools().await;
    let client = agent(&app, &["default", "knowledge"]).await;
    let mcp = McpClient::new(client, "?search=true&group=default&group=knowledge");
    assert_eq!(mcp.names().await, ["search_tools", "describe_tool", "call_tool"]);

    let found = mcp.call("search_tools", json!({"query": "read"})).await;
    let tools = found["structuredContent"]["tools"]
        .as_array()
        .expect("a list")
        .clone();
    let name = tools[0]["name"].as_str().expect("a name");
    assert!(name.starts_with("read_page_"), "{tools:?}");
    let score = tools[0]["score"].as_f64().expect("a score");
    assert!(0.0 < score && score < 1.0);

    let described = mcp.call("describe_tool", json!({"name": name})).await;
    assert_eq!(described["structuredContent"]["inputSchema"]["type"], "object");
    let called = mcp
        .call("call_tool", json!({"name": name, "arguments": {"q": "x"}}))
        .await;
    assert_eq!(called["structuredContent"]["query"], json!({"q": "x"}));
    // Some models send the arguments as text.
    let called = mcp
        .call("call_tool", json!({"name": name, "arguments": "{\"q\": \"x\"}"}))
        .await;
    assert_eq!(called["structuredContent"]["query"], json!({"q": "x"}));
}

#[tokio::test]
async fn a_project_switches_the_search_on_and_pins_tools() {
    let app = with_tools().await;
    let admin = app.admin().await;
    let pinned = ["search", "start", "not-there"];
    let settings = json!({"mcp_search": true, "mcp_pinned": pinned});
    let path = "/projects/demo/settings";
    let stored = admin
        .send_json(Method::PUT, path, &ANY, &settings)
        .await
        .expect(200)
        .json();
    assert_eq!(stored["warnings"][0]["pointer"], "/mcp_pinned/2", "{stored}");
    let client = agent(&app, &["default"]).await;
    let mcp = McpClient::new(client.clone(), "");
    let listed = mcp.names().await;
    // What the groups of the request do not reach is not listed either.
    assert_eq!(listed, ["search_tools", "describe_tool", "call_tool", "search"]);
    let called = mcp.call("search", json!({"q": "x"})).await;
    assert_eq!(called["isError"], false, "{called}");
    let all = McpClient::new(client, "?search=false").names().await;
    assert!(
        all.contains(&"search".to_owned()) && !all.contains(&"search_tools".to_owned()),
        "{all:?}"
    );

    let long = json!({"mcp_pinned": vec!["a"; 101]});
    let refused = admin.send_json(Method::PUT, path, &ANY, &long).await;
    let refused = refused.problem(422, "invalid_request");
    assert_eq!(refused["errors"][0]["pointer"], "/mcp_pinned", "{refused}");
    let empty = json!({"mcp_pinned": [""]});
    let refused = admin.send_json(Method::PUT, path, &ANY, &empty).await;
    assert_eq!(
        refused.problem(422, "invalid_request")["errors"][0]["pointer"],
        "/mcp_pinned/0"
    );
}

#[tokio::test]
async fn a_hidden_tool_stays_hidden() {
    let app = with_tools().await;
    let client = agent(&app, &["default", "work"]).await;
    let mcp = McpClient::new(client, "?search=true");
    for query in ["start", "read page", "finish"] {
        let found = mcp.call("search_tools", json!({"query": query})).await;
        assert_eq!(found["structuredContent"]["tools"], json!([]), "{query}");
    }
    let hidden = mcp.call("describe_tool", json!({"name": "start"})).await;
    let absent = mcp.call("describe_tool", json!({"name": "nonce"})).await;
    assert_eq!(text(&hidden).replace("start", "nonce"), text(&absent));
    assert_eq!(
        mcp.call("call_tool", json!({"name": "start"})).await["isError"],
        true
    );
}

#[tokio::test]
async fn faults_are_named() {
    let app = with_tools().await;
    let mcp = McpClient::new(agent(&app, &["default"]).await, "?search=true");
    for (name, arguments) in [
        ("search_tools", json!({})),
        ("search_tools", json!({"query": " "})),
        ("search_tools", json!({"query": "a", "limit": 51})),
        ("describe_tool", json!({"name": 7})),
        ("call_tool", json!({"arguments": {}})),
        ("call_tool", json!({"name": "search", "arguments": [1]})),
    ] {
        let answer = mcp.call(name, arguments.clone()).await;
        assert_eq!(
            answer["_meta"]["toolgate/code"], "invalid_arguments",
            "{name} {arguments}"
        );
    }
}
