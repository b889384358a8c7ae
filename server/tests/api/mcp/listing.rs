//! `tools/list`: exactly what a call would be allowed, in a form that every provider accepts.

use serde_json::{Value, json};

use super::{McpClient, agent, with_tools, with_tools_at};
use crate::support::{echo, tool};

#[tokio::test]
async fn what_is_listed_can_be_called_and_nothing_else() {
    let app = with_tools().await;
    let agent = agent(&app, &["default", "knowledge", "work"]).await;
    for (query, group) in [
        ("", None),
        ("?group=", Some(json!([]))),
        ("?group=knowledge", Some(json!(["knowledge"]))),
        ("?group=knowledge&group=work", Some(json!(["knowledge", "work"]))),
        ("?group=work&state=started", Some(json!(["work"]))),
    ] {
        let mcp = McpClient::new(agent.clone(), query);
        let listed = mcp.names().await;
        let mut request = json!({ "group": group });
        if query.contains("state=") {
            request["state"] = json!("started");
        }
        let resolved = agent
            .post("/projects/demo/resolve", &request)
            .await
            .expect(200)
            .json();
        let available = resolved["available"].as_array().expect("a list");
        assert_eq!(listed.len(), available.len(), "{query}: {listed:?} {available:?}");
        for tool in ["search", "read_page_e6a56269", "start", "finish"] {
            let called = mcp.call(tool, json!({})).await;
            let is_listed = listed.iter().any(|name| name == tool);
            assert_eq!(called["isError"] == true, !is_listed, "{query} {tool}: {called}");
        }
    }
}

#[tokio::test]
async fn groups_are_named_by_the_address_or_a_header() {
    let app = with_tools().await;
    let agent = agent(&app, &["default", "knowledge", "work"]).await;
    let by_header = |groups: &str| McpClient::new(agent.clone(), "").with("toolgate-groups", groups);
    assert_eq!(by_header("work").names().await, ["start"]);
    assert_eq!(by_header("").names().await, [""; 0]);
    assert_eq!(by_header("default, work").names().await, ["search", "start"]);
    let both = McpClient::new(agent.clone(), "?group=work").with("toolgate-groups", "work");
    both.send("tools/list", json!({}))
        .await
        .problem(400, "malformed_request");
}

#[tokio::test]
async fn asking_for_more_than_was_granted_is_refused_and_recorded() {
    let app = with_tools().await;
    let agent = agent(&app, &["default"]).await;
    let answer = McpClient::new(agent, "?group=work")
        .send("tools/list", json!({}))
        .await
        .expect(200);
    let error = answer.json()["error"].clone();
    assert_eq!(error["data"]["code"], "insufficient_tool_groups", "{error}");
    assert_eq!(error["data"]["missing_groups"], json!(["work"]));
    let admin = app.admin().await;
    let auditor = app.auditor(&admin).await;
    let records = auditor
        .get("/projects/demo/audit?entrance=mcp&outcome=denied")
        .await
        .expect(200)
        .json();
    assert_eq!(records["items"][0]["missing_groups"], json!(["work"]));
}

/// A tool whose arguments no provider would take as they are.
fn odd(base: &str) -> String {
    format!(
        "name: v1.odd\ntype: openapi\ndescription: Odd.\nparameters:\n  type: object\n  properties:\n    \
         $top: {{$ref: '#/$defs/Top'}}\n    filter[x]: {{type: string}}\n  required: [$top]\n  \
         anyOf: [{{required: [$top]}}]\n  $defs: {{Top: {{type: integer}}}}\n\
         output_schema: {{type: object}}\noptions:\n  http: {{base_url: \"{base}\", path: /odd, method: PUT}}\n"
    )
}

#[tokio::test]
async fn names_and_schemas_fit_the_providers_and_are_mapped_back() {
    let base = echo().await;
    let app = with_tools_at(&base, &[]).await;
    app.admin()
        .await
        .upload("/projects/demo/tools", &odd(&base))
        .await
        .expect(201);
    let mcp = McpClient::new(agent(&app, &["default"]).await, "");
    let listed = mcp.ask("tools/list", json!({})).await;
    let tool = &listed["tools"][1];
    let name = tool["name"].as_str().expect("a name");
    assert!(name.starts_with("v1_odd_"), "{tool}");
    assert_eq!(tool["title"], "V1 odd");
    assert_eq!(tool["_meta"], json!({"toolgate/tool": "v1.odd"}));
    assert_eq!(
        tool["inputSchema"],
        json!({"type": "object", "properties": {"_top": {"type": "integer"}, "filter_x_": {"type": "string"}}, "required": ["_top"]})
    );
    assert_eq!(tool["outputSchema"], json!({"type": "object", "properties": {}}));
    let hints = json!({"title": "V1 odd", "readOnlyHint": false, "destructiveHint": true, "idempotentHint": true, "openWorldHint": true});
    assert_eq!(tool["annotations"], hints);

    let called = mcp.call(name, json!({"_top": "3", "filter_x_": "a"})).await;
    assert_eq!(called["isError"], false, "{called}");
    let body: Value =
        serde_json::from_str(called["structuredContent"]["body"].as_str().expect("a body")).expect("JSON");
    assert_eq!(body, json!({"$top": 3, "filter[x]": "a"}));
    assert_eq!(
        called["_meta"]["toolgate/coercions"],
        json!([{"pointer": "/$top", "kind": "read_from_text"}])
    );
    // The tool's own names are understood, too.
    let called = mcp.call("v1.odd", json!({"$top": 3})).await;
    assert_eq!(called["isError"], false, "{called}");
}

#[tokio::test]
async fn a_disabled_tool_is_neither_listed_nor_called() {
    let app = with_tools().await;
    let admin = app.admin().await;
    let agent = agent(&app, &["default"]).await;
    let mcp = McpClient::new(agent, "");
    assert_eq!(mcp.names().await, ["search"]);
    admin
        .upload(
            "/projects/demo/tools",
            &tool("search", "https://r.jina.ai", "/x", "enabled: false\n"),
        )
        .await
        .expect(200);
    assert_eq!(mcp.names().await, [""; 0]);
    let called = mcp.call("search", json!({})).await;
    assert_eq!(called["_meta"]["toolgate/code"], "tool_disabled", "{called}");
}

#[tokio::test]
async fn the_list_is_the_same_every_time() {
    let app = with_tools().await;
    let mcp = McpClient::new(agent(&app, &["*"]).await, "?group=*");
    let first = mcp.send("tools/list", json!({})).await.expect(200).body;
    for _ in 0..3 {
        assert_eq!(mcp.send("tools/list", json!({})).await.expect(200).body, first);
    }
    let error = mcp
        .send("tools/list", json!({"cursor": "made up"}))
        .await
        .expect(200)
        .json();
    assert_eq!(error["error"]["code"], -32602, "{error}");
}

#[tokio::test]
async fn a_definition_says_its_title_and_what_it_does_to_its_environment() {
    let app = with_tools().await;
    let admin = app.admin().await;
    let more =
        "title: Look it up\nannotations: {readOnlyHint: false, idempotentHint: true, openWorldHint: false}\n";
    admin
        .upload(
            "/projects/demo/tools",
            &tool("look", "http://127.0.0.1:9", "/", more),
        )
        .await
        .expect(201);
    let rest = admin.get("/projects/demo/tools/look").await.expect(200).json();
    assert_eq!(rest["title"], "Look it up");
    let mcp = McpClient::new(agent(&app, &["default"]).await, "");
    let listed = mcp.ask("tools/list", json!({})).await;
    let look = listed["tools"].as_array().expect("tools");
    let look = look.iter().find(|tool| tool["name"] == "look").expect("listed");
    assert_eq!(look["title"], "Look it up");
    assert_eq!(
        look["annotations"],
        json!({
            "title": "Look it up",
            "readOnlyHint": false,
            "destructiveHint": true,
            "idempotentHint": true,
            "openWorldHint": false,
        })
    );
}

#[tokio::test]
async fn thousands_of_tools_come_in_pages() {
    let app = with_tools().await;
    let admin = app.admin().await;
    let tools: Vec<String> = (0..2_500)
        .map(|at| format!("  t-{at:04}: {{type: static, description: A tool., group: [many], options: {{static: {{result: 1}}}}}}\n"))
        .collect();
    for part in tools.chunks(1_000) {
        let yaml = format!("tool:\n{}", part.concat());
        admin.upload("/projects/demo/tools", &yaml).await.expect(201);
    }
    let mcp = McpClient::new(agent(&app, &["many"]).await, "?group=many");
    let first = mcp.ask("tools/list", json!({})).await;
    assert_eq!(first["tools"].as_array().map(Vec::len), Some(2_000));
    let cursor = first["nextCursor"].as_str().expect("another page");
    let second = mcp.ask("tools/list", json!({"cursor": cursor})).await;
    assert_eq!(second["tools"].as_array().map(Vec::len), Some(500));
    assert_eq!(second["tools"][0]["name"], "t-2000");
    assert!(second["nextCursor"].is_null(), "{}", second["nextCursor"]);
}
