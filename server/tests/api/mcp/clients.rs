//! What a client leaves in the record: its name and version, and arguments that were read otherwise than they were sent.

use axum::http::Method;
use serde_json::{Value, json};

use super::{MODERN, McpClient, agent, initialize, modern, with_tools, with_tools_at};
use crate::support::{TestApp, echo};

async fn records(app: &TestApp, query: &str) -> Vec<Value> {
    let admin = app.admin().await;
    let auditor = app.auditor(&admin).await;
    let page = auditor.get(&format!("/projects/demo/audit?{query}")).await;
    page.expect(200).json()["items"]
        .as_array()
        .expect("a list")
        .clone()
}

/// As `initialize` or `_meta` names it.
fn named(mut params: Value, client: &Value) -> Value {
    for place in ["/clientInfo", "/_meta/io.modelcontextprotocol~1clientInfo"] {
        if let Some(info) = params.pointer_mut(place) {
            info.clone_from(client);
        }
    }
    params
}

#[tokio::test]
async fn the_program_of_a_client_is_on_the_record() {
    let app = with_tools().await;
    let client = agent(&app, &["default"]).await;
    // With a session, its beginning says it once.
    let info = json!({"name": " Claude Code\u{7} ", "title": "x", "version": "2.1.0"});
    let mut begun = McpClient::new(client.clone(), "");
    let answer = begun
        .send("initialize", named(initialize("2025-11-25"), &info))
        .await
        .expect(200);
    begun
        .headers
        .push(("mcp-session-id", answer.header("mcp-session-id").to_owned()));
    begun.call("search", json!({"q": "a"})).await;
    // Without one, each request does.
    let info = json!({"name": "x".repeat(100), "version": "1"});
    let stateless = McpClient::new(client.clone(), "")
        .with("mcp-protocol-version", MODERN)
        .with("mcp-method", "tools/call")
        .with("mcp-name", "search");
    let params = json!({"name": "search", "arguments": {"q": "b"}});
    stateless.ask("tools/call", named(modern(params), &info)).await;
    // A client that does not say it is recorded without.
    McpClient::new(client, "").call("search", json!({"q": "c"})).await;

    let seen: Vec<Value> = records(&app, "action=call&order=oldest_first")
        .await
        .iter()
        .map(|record| {
            json!([
                record["arguments"]["q"],
                record["client_name"],
                record["client_version"]
            ])
        })
        .collect();
    let long = "x".repeat(64);
    assert_eq!(
        seen,
        [
            json!(["a", "Claude Code", "2.1.0"]),
            json!(["b", long, "1"]),
            json!(["c", null, null])
        ]
    );
    let found = records(&app, "action=call&client_name=Claude%20Code&client_version=2.1.0").await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["arguments"]["q"], "a");
    let csv = app
        .admin()
        .await
        .get("/projects/demo/audit/export?format=csv&client_name=Claude%20Code")
        .await;
    let csv = csv.expect(200).text();
    assert!(
        csv.contains("client_name,client_version") && csv.contains(",Claude Code,2.1.0,"),
        "{csv}"
    );
}

#[tokio::test]
async fn the_clients_that_connected_are_listed() {
    let app = with_tools().await;
    let admin = app.admin().await;
    let client = agent(&app, &["default"]).await;
    let mcp = McpClient::begun(client, "").await;
    mcp.call("search", json!({})).await;
    McpClient::begun(admin.clone(), "").await;
    let listed = admin.get("/projects/demo/mcp-clients").await.expect(200).json();
    let listed = listed["items"].as_array().expect("a list");
    assert_eq!(listed.len(), 2, "{listed:?}");
    let of_key = listed
        .iter()
        .find(|client| {
            client["principal"]
                .as_str()
                .is_some_and(|text| text.starts_with("service_key:"))
        })
        .expect("that of the key");
    assert_eq!(
        (&of_key["name"], &of_key["version"]),
        (&json!("test"), &json!("1"))
    );
    assert_eq!(of_key["groups"], json!(["default"]));
    assert!(of_key["principal_name"].is_string(), "{of_key}");
    // A role that may not see who holds what does not see who connected.
    mcp.client
        .get("/projects/demo/mcp-clients")
        .await
        .problem(403, "forbidden");
}

/// Objects in texts, absent members as null, and names that model providers do not take, at every level.
#[tokio::test]
async fn coercions_are_on_the_record() {
    let base = echo().await;
    let app = with_tools_at(&base, &[]).await;
    let admin = app.admin().await;
    let rows = json!({"type": "array", "items": {"type": "object", "properties": {
        "$top": {"type": "integer"}, "note": {"type": "string"}}, "additionalProperties": false}});
    let definition = json!({"name": "deep", "type": "openapi", "parameters": {"type": "object", "properties": {
        "filter[rows]": rows}, "additionalProperties": false},
        "options": {"http": {"method": "POST", "base_url": base, "path": "/deep"}}});
    admin
        .body(
            Method::POST,
            "/projects/demo/tools",
            "application/json",
            definition.to_string(),
        )
        .await
        .expect(201);
    let mcp = McpClient::new(agent(&app, &["default"]).await, "");
    let rows = json!([{"_top": "7", "note": null}]).to_string();
    let called = mcp.call("deep", json!({"filter_rows_": rows})).await;
    assert_eq!(called["isError"], false, "{called}");
    let record = records(&app, "action=call").await.remove(0);
    assert_eq!(record["arguments"], json!({"filter[rows]": [{"$top": 7}]}));
    assert_eq!(record["provenance"], json!({"filter[rows]": "caller"}));
    let expected = json!([
        {"pointer": "/filter[rows]", "kind": "read_from_text"},
        {"pointer": "/filter[rows]/0/$top", "kind": "read_from_text"},
        {"pointer": "/filter[rows]/0/note", "kind": "null_left_out"},
    ]);
    assert_eq!(record["coercions"], expected);
    assert_eq!(called["_meta"]["toolgate/coercions"], expected);
    // They are part of what only an auditor sees.
    let page = admin
        .get("/projects/demo/audit?action=call")
        .await
        .expect(200)
        .json();
    assert_eq!(page["items"][0]["payloads_hidden"], true);
    assert!(page["items"][0]["coercions"].is_null());
}

/// Headers that mirror arguments must say what the body says; those of a tool out of reach are not looked at.
#[tokio::test]
async fn headers_that_mirror_arguments_are_compared() {
    let base = echo().await;
    let app = with_tools_at(&base, &[]).await;
    let admin = app.admin().await;
    let definition = json!({"name": "mirrored", "type": "openapi", "parameters": {"type": "object", "properties": {
        "tenant": {"type": "string", "x-mcp-header": "Tenant"}}},
        "options": {"http": {"base_url": base, "path": "/mirrored"}}});
    admin
        .body(
            Method::POST,
            "/projects/demo/tools",
            "application/json",
            definition.to_string(),
        )
        .await
        .expect(201);
    let client = agent(&app, &["default"]).await;
    let call = async |query: &str, tenant: &str| {
        let mcp = McpClient::new(client.clone(), query)
            .with("mcp-protocol-version", MODERN)
            .with("mcp-method", "tools/call")
            .with("mcp-name", "mirrored")
            .with("mcp-param-tenant", tenant);
        let params = json!({"name": "mirrored", "arguments": {"tenant": "a"}});
        mcp.send("tools/call", modern(params)).await
    };
    let same = call("", "a").await.expect(200).json();
    assert_eq!(
        same["result"]["structuredContent"]["query"],
        json!({"tenant": "a"})
    );
    let encoded = call("", "=?base64?YQ==?=").await.expect(200).json();
    assert_eq!(encoded["result"]["isError"], false);
    let other = call("", "b").await.expect(400).json();
    assert_eq!(other["error"]["code"], -32020, "{other}");
    let hidden = call("?group=", "b").await.expect(200).json();
    assert_eq!(hidden["result"]["isError"], true, "{hidden}");
}
