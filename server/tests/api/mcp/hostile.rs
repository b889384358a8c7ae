//! What is no request of the protocol, and who may not send one.

use axum::http::{Method, header};
use serde_json::{Value, json};

use super::{MCP, McpClient, agent, initialize, modern, with_tools, with_tools_at};
use crate::permissions::external::Idp;
use crate::support::{TestApp, echo};

#[tokio::test]
async fn without_a_credential_there_is_no_answer() {
    let base = echo().await;
    let app = with_tools_at(&base, &[("TOOLGATE_AUTH_AUTHORIZATION_SERVER", "false")]).await;
    let none = McpClient::new(app.anonymous(), "");
    let answer = none
        .send("initialize", initialize("2025-11-25"))
        .await
        .expect(401);
    // Where only keys are taken, nothing sends clients to a sign-in.
    assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"toolgate\"");
    let metadata = app
        .anonymous()
        .get("/.well-known/oauth-protected-resource/projects/demo/mcp")
        .await;
    metadata.problem(404, "not_found");
    let wrong = McpClient::new(app.client("tgk_wrong"), "");
    wrong
        .send("tools/list", json!({}))
        .await
        .problem(401, "unauthenticated");
    // A member of another project only.
    let admin = app.admin().await;
    admin
        .post("/projects", &json!({"id": "other", "name": "Other"}))
        .await
        .expect(201);
    let other = app.key(&admin, "other", "agent", &["*"]).await;
    McpClient::new(other, "")
        .send("tools/list", json!({}))
        .await
        .problem(404, "not_found");
}

#[tokio::test]
async fn a_client_finds_the_external_issuers() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toolgate.yaml");
    // Where only external issuers are used, the server's own is switched off.
    let issuer = |host: &str, project: &str| {
        format!(
            "    - {{issuer: \"https://{host}\", audience: toolgate, jwks_url: \"https://{host}/jwks\", projects: [{project}]}}\n"
        )
    };
    let issuers = issuer("id.example.com", "demo") + &issuer("other.example.com", "other");
    std::fs::write(
        &file,
        format!("auth:\n  authorization_server: false\n  issuers:\n{issuers}"),
    )
    .expect("a file");
    let file = file.display().to_string();
    let settings = [
        ("TOOLGATE_PUBLIC_URL", "https://tools.example.com"),
        ("TOOLGATE_CONFIG", file.as_str()),
    ];
    let app = TestApp::in_folder(folder, &settings).await;
    let path = "/.well-known/oauth-protected-resource/projects/demo/mcp";
    let answer = McpClient::new(app.anonymous(), "")
        .send("initialize", initialize("2025-11-25"))
        .await
        .expect(401);
    assert_eq!(
        answer.header("www-authenticate"),
        format!("Bearer realm=\"toolgate\", resource_metadata=\"https://tools.example.com{path}\"")
    );
    let metadata = app.anonymous().get(path).await.expect(200).json();
    assert_eq!(
        metadata["resource"],
        "https://tools.example.com/projects/demo/mcp"
    );
    assert_eq!(
        metadata["authorization_servers"],
        json!(["https://id.example.com"])
    );
    let whole = app
        .anonymous()
        .get("/.well-known/oauth-protected-resource")
        .await
        .expect(200)
        .json();
    assert_eq!(whole["resource"], "https://tools.example.com");
    assert_eq!(whole["authorization_servers"].as_array().map(Vec::len), Some(2));
    // The metadata of an issuer is its own, never ours.
    app.anonymous()
        .get("/.well-known/oauth-authorization-server")
        .await
        .expect(404);
}

#[tokio::test]
async fn malformed_messages_are_answered_by_the_protocols_errors() {
    let app = with_tools().await;
    let mcp = McpClient::new(agent(&app, &["default"]).await, "");
    for (body, code) in [
        ("{", -32700),
        ("", -32600),
        ("[]", -32600),
        (
            "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}]",
            -32600,
        ),
        ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"tools/list\"}", -32600),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/list\"}",
            -32600,
        ),
        ("{\"jsonrpc\":\"2.0\",\"id\":1}", -32600),
    ] {
        let answer = mcp.client.send(mcp.request(body)).await.expect(400);
        assert_eq!(answer.json()["error"]["code"], code, "{body}");
    }
    for body in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": []}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "nothing/like-this"}),
    ] {
        let answer = mcp.client.send(mcp.request(body.to_string())).await;
        let error = answer.json()["error"].clone();
        assert!(error["code"].is_i64(), "{body}: {error}");
    }
    // An id keeps its form.
    let answer = mcp
        .client
        .send(mcp.request(json!({"jsonrpc": "2.0", "id": "a-1", "method": "ping"}).to_string()))
        .await
        .expect(200)
        .json();
    assert_eq!(answer["id"], "a-1");
    // A notification has no answer.
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    mcp.client
        .send(mcp.request(initialized.to_string()))
        .await
        .expect(202);
}

#[tokio::test]
async fn texts_that_no_database_takes_do_no_harm() {
    let app = with_tools().await;
    let mcp = McpClient::new(agent(&app, &["default"]).await, "");
    let called = mcp.call("sea\0rch", json!({})).await;
    assert_eq!(called["isError"], true);
    let called = mcp.call("search", json!({"q": "a\r\nb"})).await;
    assert_eq!(called["structuredContent"]["query"], json!({"q": "a\r\nb"}));
    let called = mcp.call("search", json!({"q": "a\0b"})).await;
    assert_eq!(called["isError"], true, "{called}");
}

#[tokio::test]
async fn a_huge_body_is_refused() {
    let base = echo().await;
    let app = with_tools_at(&base, &[("TOOLGATE_LIMITS_MAX_BODY_BYTES", "100000")]).await;
    let mcp = McpClient::new(agent(&app, &["default"]).await, "");
    let params = json!({"name": "search", "arguments": {"q": "x".repeat(100_001)}});
    mcp.send("tools/call", params)
        .await
        .problem(413, "payload_too_large");
}

#[tokio::test]
async fn other_hosts_sites_and_media_types_are_refused() {
    let app = with_tools().await;
    let mcp = McpClient::new(agent(&app, &["default"]).await, "").with("host", "evil.example");
    mcp.send("tools/list", json!({})).await.expect(421);
    let admin = app.admin().await;
    let cookie = format!("toolgate={}", admin.token.clone().expect("a token"));
    let page = McpClient::new(app.anonymous(), "")
        .with("cookie", &cookie)
        .with("origin", "https://evil.example");
    page.send("tools/list", json!({}))
        .await
        .problem(403, "cross_site");
    let request = mcp
        .client
        .request(Method::POST, MCP)
        .header(header::CONTENT_TYPE, "text/plain")
        .body(axum::body::Body::from("{}"))
        .expect("a request");
    mcp.client
        .send(request)
        .await
        .problem(415, "unsupported_media_type");
    mcp.client
        .put(MCP, None, "x")
        .await
        .problem(405, "method_not_allowed");
}

#[tokio::test]
async fn session_ids_cannot_be_made_up() {
    let app = with_tools().await;
    let client = agent(&app, &["default"]).await;
    let begun = McpClient::begun(client.clone(), "").await;
    let id = begun.headers[0].1.clone();
    let mut changed = id.clone().into_bytes();
    let last = changed.last_mut().expect("a letter");
    *last = if *last == b'A' { b'g' } else { b'A' };
    let changed = String::from_utf8(changed).expect("text");
    let truncated = &id[..id.len() - 2];
    let later = id.replace("2025-11-25", "2025-06-18");
    let unused = "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11.2025-11-25.";
    for wrong in ["", "x", "a.b.c", unused, truncated, &changed, &later] {
        let mcp = McpClient::new(client.clone(), "").with("mcp-session-id", wrong);
        mcp.send("tools/list", json!({})).await.problem(404, "not_found");
    }
    // Of another project it is none here.
    let admin = app.admin().await;
    admin
        .post("/projects", &json!({"id": "other", "name": "Other"}))
        .await
        .expect(201);
    let body: Value = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let request = admin
        .request(Method::POST, "/projects/other/mcp")
        .header(header::CONTENT_TYPE, "application/json")
        .header("mcp-session-id", &id)
        .body(axum::body::Body::from(body.to_string()));
    admin
        .send(request.expect("a request"))
        .await
        .problem(404, "not_found");
}

/// The session of another principal is none, also where a message only cancels.
#[tokio::test]
async fn a_foreign_or_ended_session_is_none() {
    let app = with_tools().await;
    let begun = McpClient::begun(agent(&app, &["default"]).await, "").await;
    let mut stranger = McpClient::new(agent(&app, &["default"]).await, "");
    stranger.headers.clone_from(&begun.headers);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    stranger
        .send("tools/list", json!({}))
        .await
        .problem(404, "not_found");
    let answer = stranger.client.send(stranger.request(cancel.to_string())).await;
    answer.problem(404, "not_found");
    // Its own client ends it; from then on it is none for that client either.
    let request = begun.client.request(Method::DELETE, MCP);
    let request = request.header("mcp-session-id", &begun.headers[0].1);
    let ended = request.body(axum::body::Body::empty()).expect("a request");
    begun.client.send(ended).await.expect(204);
    begun
        .send("tools/list", json!({}))
        .await
        .problem(404, "not_found");
}

#[tokio::test]
async fn a_flood_of_cancellations_and_beginnings_stores_little() {
    let app = with_tools().await;
    let client = agent(&app, &["default"]).await;
    let begun = McpClient::begun(client.clone(), "").await;
    let alone = McpClient::new(client.clone(), "");
    for request in 0..50 {
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request}});
        // Outside a session there is nothing to cancel.
        alone
            .client
            .send(alone.request(cancel.to_string()))
            .await
            .expect(202);
        McpClient::begun(client.clone(), "").await;
    }
    assert_eq!(begun.names().await, ["search"]);
    let admin = app.admin().await;
    let records = admin
        .get("/projects/demo/audit?action=cancel")
        .await
        .expect(200)
        .json();
    assert_eq!(records["items"], json!([]));
    let sessions = admin.get("/projects/demo/sessions").await.expect(200).json();
    assert_eq!(
        sessions["items"],
        json!([]),
        "a client that only connects stores no session"
    );
    let clients = admin.get("/projects/demo/mcp-clients").await.expect(200).json();
    assert_eq!(clients["items"].as_array().map(Vec::len), Some(1), "{clients}");
}

#[tokio::test]
async fn deep_and_odd_messages_are_answered() {
    let app = with_tools().await;
    let mcp = McpClient::new(agent(&app, &["default"]).await, "");
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"search","arguments":{arguments}}}}}"#
        )
    };
    let answer = mcp
        .client
        .send(mcp.request(call(&format!(r#"{{"q":{deep}}}"#))))
        .await;
    assert!(answer.json()["error"]["code"].is_i64(), "{}", answer.text());
    // The same within a text is a text.
    let text = json!({"q": deep}).to_string();
    let answer = mcp.client.send(mcp.request(call(&text))).await.expect(200);
    assert_eq!(answer.json()["result"]["isError"], false, "{}", answer.text());
    // What a program says of itself is shown without what would break a line or a page.
    for info in [
        json!({"name": "<b>\u{0}\r\nx", "version": "\u{1b}[31m"}),
        json!({"name": 7}),
        json!("x"),
    ] {
        let mut params = initialize("2025-11-25");
        params["clientInfo"] = info;
        let answer = mcp.send("initialize", params).await;
        assert!(
            answer.status.is_success() || answer.json()["error"]["code"].is_i64(),
            "{}",
            answer.text()
        );
    }
}

#[tokio::test]
async fn a_token_of_an_issuer_counts_for_its_audience_only() {
    let idp = Idp::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toolgate.yaml");
    idp.configure(&file);
    let app = TestApp::with(&[("TOOLGATE_CONFIG", &file.display().to_string())]).await;
    app.demo().await;
    let with = |token: String| McpClient::new(app.client(token), "?group=web");
    with(idp.token(&["web"])).names().await;
    for audience in ["other", "http://localhost/projects/demo/mcp"] {
        let refused = with(idp.token_for(audience, &["web"]))
            .send("tools/list", json!({}))
            .await
            .expect(401);
        assert!(refused.header("www-authenticate").contains("resource_metadata="));
    }
}

#[tokio::test]
async fn a_revision_that_is_not_known_is_refused_with_those_that_are() {
    let app = with_tools().await;
    let mut params = modern(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let answer = McpClient::new(agent(&app, &["default"]).await, "")
        .with("mcp-protocol-version", "2099-01-01")
        .with("mcp-method", "tools/list")
        .send("tools/list", params)
        .await
        .expect(400);
    let error = answer.json()["error"].clone();
    assert!(error.to_string().contains("2026-07-28"), "{error}");
}
