//! Streams of notifications: that a list has changed, in a session and by `subscriptions/listen`.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Method;
use http_body_util::BodyExt;
use serde_json::{Value, json};

use super::{MCP, MODERN, McpClient, agent, modern, with_tools};
use crate::permissions::{replace, terms};
use crate::support::{ANY, NEW, tool};

/// A stream of notifications.
pub(crate) struct Stream(Body);

impl Stream {
    pub(crate) async fn open(mcp: &McpClient<'_>) -> Self {
        let mut headers: Vec<(&'static str, &str)> = vec![("accept", "text/event-stream")];
        headers.extend(mcp.headers.iter().map(|(name, value)| (*name, value.as_str())));
        let response = mcp.client.open(&format!("{MCP}{}", mcp.query), &headers).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self(response.into_body())
    }

    /// The next message within a time.
    pub(crate) async fn next(&mut self, within: Duration) -> Option<Value> {
        let read = async {
            loop {
                let frame = self.0.frame().await?.ok()?.into_data().ok()?;
                let text = String::from_utf8_lossy(&frame).into_owned();
                if let Some(data) = text.lines().find_map(|line| line.strip_prefix("data: ")) {
                    return serde_json::from_str(data).ok();
                }
            }
        };
        tokio::time::timeout(within, read).await.ok()?
    }
}

pub(crate) const SOON: Duration = Duration::from_secs(30);

#[tokio::test]
async fn subscribers_hear_of_moves_and_of_changes() {
    let app = with_tools().await;
    let client = agent(&app, &["work"]).await;
    let mcp = McpClient::begun(client, "?group=work").await;
    let mut stream = Stream::open(&mcp).await;
    let mut second = Stream::open(&mcp).await;
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    mcp.call("start", json!({})).await;
    assert_eq!(stream.next(SOON).await, Some(changed.clone()));
    assert_eq!(second.next(SOON).await, Some(changed.clone()));

    // A definition that is not visible changes nothing; one that is does.
    let admin = app.admin().await;
    let base = "https://r.jina.ai";
    admin
        .upload("/projects/demo/tools", &tool("hidden", base, "/x", ""))
        .await
        .expect(201);
    assert_eq!(stream.next(Duration::from_millis(1500)).await, None);
    let visible = tool("visible", base, "/x", "group: [work]\n");
    admin.upload("/projects/demo/tools", &visible).await.expect(201);
    assert_eq!(stream.next(SOON).await, Some(changed));
}

#[tokio::test]
async fn subscribers_hear_of_a_grant_that_narrows_and_of_a_condition_that_closes() {
    let app = with_tools().await;
    let admin = app.admin().await;
    let body = json!({"name": "narrowed", "role": "agent", "groups": ["default", "work"]});
    let key = admin.post("/projects/demo/keys", &body).await.expect(201).json();
    let client = app.client(key["secret"].as_str().expect("a secret"));
    let mcp = McpClient::begun(client, "?group=work").await;
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let mut stream = Stream::open(&mcp).await;
    let condition = json!({"condition": "load.calls_in_flight < 0"});
    admin
        .send_json(Method::PUT, "/projects/demo/groups/work", &NEW, &condition)
        .await
        .expect(201);
    assert_eq!(stream.next(SOON).await, Some(changed.clone()));
    assert_eq!(mcp.names().await, [""; 0]);
    admin
        .send_json(Method::PUT, "/projects/demo/groups/work", &ANY, &json!({}))
        .await
        .expect(200);
    assert_eq!(stream.next(SOON).await, Some(changed.clone()));

    let principal = format!(
        "service_key:{}",
        key["key"]["id"].as_str().or(key["id"].as_str()).expect("an id")
    );
    replace(&admin, &principal, &terms("agent", &["default"]))
        .await
        .expect(200);
    assert_eq!(stream.next(SOON).await, Some(changed));
}

#[tokio::test]
async fn a_stream_ends_with_its_session_and_its_grant() {
    let app = with_tools().await;
    let admin = app.admin().await;
    let body = json!({"name": "short", "role": "agent", "groups": ["work"]});
    let key = admin.post("/projects/demo/keys", &body).await.expect(201).json();
    let client = app.client(key["secret"].as_str().expect("a secret"));
    let mcp = McpClient::begun(client, "?group=work").await;
    let mut stream = Stream::open(&mcp).await;
    let id = key["key"]["id"].as_str().or(key["id"].as_str()).expect("an id");
    admin
        .delete(&format!("/projects/demo/keys/{id}"), Some("*"))
        .await
        .expect(204);
    let ended = tokio::time::timeout(SOON, async {
        while let Some(frame) = stream.0.frame().await {
            frame.expect("a frame");
        }
    });
    ended.await.expect("the stream ends");
}

#[tokio::test]
async fn later_revisions_subscribe_by_a_request() {
    let app = with_tools().await;
    let client = agent(&app, &["default"]).await;
    let mcp = McpClient::new(client, "")
        .with("mcp-protocol-version", MODERN)
        .with("mcp-method", "subscriptions/listen");
    let params = modern(json!({"notifications": {"toolsListChanged": true}}));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params});
    let response = app.open(mcp.request(body.to_string())).await;
    assert_eq!(response.status(), 200);
    let mut stream = Stream(response.into_body());
    let first = stream.next(SOON).await.expect("an acknowledgment");
    assert_eq!(
        first["method"], "notifications/subscriptions/acknowledged",
        "{first}"
    );
    let definitions = app.gateway.snapshots.now();
    let before = Arc::downgrade(definitions.project("demo").expect("the project"));
    drop(definitions);
    let tool = tool("another", "https://r.jina.ai", "/x", "");
    app.admin()
        .await
        .upload("/projects/demo/tools", &tool)
        .await
        .expect(201);
    let next = stream.next(SOON).await.expect("a change");
    assert_eq!(next["method"], "notifications/tools/list_changed", "{next}");
    // What was at work for the change lets go of them in a moment; a stream must, too.
    let let_go = async {
        while before.upgrade().is_some() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, let_go)
        .await
        .expect("a stream keeps no old definitions");
}

#[tokio::test]
async fn without_a_session_there_is_no_stream() {
    let app = with_tools().await;
    let client = agent(&app, &["work"]).await;
    let answer = client.get(MCP).await.expect(405);
    assert_eq!(answer.header("allow"), "POST");
    // The revision without sessions has no stream either.
    let modern = client.open(MCP, &[("mcp-protocol-version", MODERN)]).await;
    assert_eq!(modern.status(), 405);
    let response = client.open(MCP, &[("mcp-session-id", "made-up")]).await;
    assert_eq!(response.status(), 404);
}
