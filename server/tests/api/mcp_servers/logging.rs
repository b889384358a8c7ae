//! What MCP servers log while they run a call: passed on to the caller who wants to see it, with secrets masked.

use axum::http::Method;
use serde_json::{Value, json};

use super::{Reply, Upstream, enable, import, put};
use crate::mcp::{MODERN, McpClient, messages, modern};
use crate::support::{Answer, TestApp};

/// A server that logs at three levels while it runs a call.
async fn logging() -> (Upstream, TestApp) {
    let upstream = Upstream::new(|message| match message["method"].as_str() {
        Some("initialize") => Some(Reply::Result(json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": "weather-server", "version": "1.2.0"},
        }))),
        Some("logging/setLevel") => Some(Reply::Result(json!({}))),
        Some("tools/call") => {
            let log = |level: &str| {
                let params = json!({"level": level, "logger": "db", "data": {"token": "hunter22hunter22", "at": level}});
                json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}).to_string()
            };
            let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
                "progressToken": message["params"]["_meta"]["progressToken"], "progress": 1, "message": "hunter22hunter22",
            }});
            let answer = r#"{"jsonrpc": "2.0", "id": "$ID", "result": {"content": [{"type": "text", "text": "sunny"}]}}"#;
            let mut events: Vec<_> = ["debug", "warning", "error"].map(log).into();
            events.extend([progress.to_string(), answer.to_owned()]);
            Some(Reply::Events(events))
        }
        _ => None,
    })
    .await;
    let settings = [
        ("TOOLGATE_EGRESS_ALLOW", upstream.url.as_str()),
        ("TOOLGATE_SECRETS_KEY", &crate::secrets::key(1)),
    ];
    let app = TestApp::with(&settings).await;
    let admin = app.demo().await;
    let secret = json!({"value": "hunter22hunter22"});
    let path = "/projects/demo/secrets/TOKEN";
    admin.send_json(Method::PUT, path, &[], &secret).await.expect(201);
    let server = json!({"url": upstream.url, "headers": {"Authorization": "Bearer ${secret:TOKEN}"}});
    put(&admin, "weather", server).await;
    import(&admin, "weather").await;
    enable(&admin).await;
    drop(admin);
    (upstream, app)
}

fn call() -> Value {
    json!({"name": "forecast", "arguments": {"city": "Oslo"}})
}

/// The levels of what was logged, in order; nothing that came has the secret.
fn levels(answer: &Answer) -> Vec<Value> {
    let all = messages(answer);
    assert!(!json!(all).to_string().contains("hunter22"), "{all:?}");
    let logged = all
        .iter()
        .filter(|message| message["method"] == "notifications/message");
    let logged = logged.map(|message| {
        let params = &message["params"];
        assert_eq!(params["logger"], "weather: db", "{message}");
        assert_eq!(
            params["data"],
            json!({"token": "[redacted]", "at": params["level"]})
        );
        params["level"].clone()
    });
    let logged = logged.collect();
    assert_eq!(
        all.last().expect("an answer")["result"]["content"][0]["text"],
        "sunny"
    );
    logged
}

#[tokio::test]
async fn a_session_sees_the_log_from_the_level_that_it_sets() {
    let (upstream, app) = logging().await;
    let admin = app.admin().await;
    let key = app.key(&admin, "demo", "agent", &["default"]).await;
    let mcp = McpClient::begun(key.clone(), "").await;
    assert!(levels(&mcp.send("tools/call", call()).await.expect(200)).is_empty());
    for (level, seen) in [
        ("error", vec!["error"]),
        ("warning", vec!["warning", "error"]),
        ("debug", vec!["debug", "warning", "error"]),
        ("emergency", vec![]),
    ] {
        mcp.ask("logging/setLevel", json!({"level": level})).await;
        assert_eq!(
            levels(&mcp.send("tools/call", call()).await.expect(200)),
            seen,
            "{level}"
        );
    }
    // The server was asked for what is wanted most, once for each.
    let asked: Vec<_> = upstream
        .seen("logging/setLevel")
        .into_iter()
        .map(|(message, _)| message["params"]["level"].clone())
        .collect();
    assert_eq!(asked, ["error", "warning", "debug"]);
    // Another client of the same key has not asked for it, nor has one that takes no events.
    let other = McpClient::begun(key.clone(), "").await;
    assert!(levels(&other.send("tools/call", call()).await.expect(200)).is_empty());
    let without_events = mcp.with("accept", "application/json");
    without_events
        .ask("logging/setLevel", json!({"level": "debug"}))
        .await;
    assert!(levels(&without_events.send("tools/call", call()).await.expect(200)).is_empty());
    // Without a session there is nothing to set the level of.
    let refused = McpClient::new(key, "")
        .send("logging/setLevel", json!({"level": "debug"}))
        .await;
    assert_eq!(refused.expect(200).json()["error"]["code"], -32600);
}

#[tokio::test]
async fn a_request_without_a_session_says_its_level_itself() {
    let (upstream, app) = logging().await;
    let admin = app.admin().await;
    let key = app.key(&admin, "demo", "agent", &["default"]).await;
    let mcp = McpClient::new(key, "")
        .with("mcp-protocol-version", MODERN)
        .with("mcp-method", "tools/call")
        .with("mcp-name", "forecast");
    let mut params = modern(call());
    assert!(levels(&mcp.send("tools/call", params.clone()).await.expect(200)).is_empty());
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("warning");
    // The secret in the progress is masked, too.
    params["_meta"]["progressToken"] = json!("p");
    let answer = mcp.send("tools/call", params).await.expect(200);
    assert_eq!(levels(&answer), ["warning", "error"]);
    assert!(answer.text().contains("notifications/progress"));
    let (sent, _) = upstream.seen("tools/call").pop().expect("a call");
    assert_eq!(
        sent["params"]["_meta"]["io.modelcontextprotocol/logLevel"],
        "warning"
    );
}
