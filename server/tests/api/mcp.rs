//! A project as an MCP server, through the real router.

mod calling;
mod cancelling;
mod clients;
mod guides;
mod hostile;
mod listing;
mod replicas;
mod search;
mod sessions;
pub(super) mod streams;

use axum::body::Body;
use axum::http::{Method, Request, header};
use serde_json::{Value, json};

use crate::support::{Answer, Client, TestApp, echo, tool};

pub(super) const MCP: &str = "/projects/demo/mcp";
/// Revisions that clients still send.
pub(super) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(super) const MODERN: &str = "2026-07-28";

/// A client of the protocol.
pub(super) struct McpClient<'a> {
    pub(super) client: Client<'a>,
    /// Of the address.
    pub(super) query: String,
    /// Sent with every message.
    pub(super) headers: Vec<(&'static str, String)>,
}

impl<'a> McpClient<'a> {
    /// Without a session.
    pub(super) fn new(client: Client<'a>, query: &str) -> Self {
        Self {
            client,
            query: query.to_owned(),
            headers: Vec::new(),
        }
    }

    /// In a session of its own.
    pub(super) async fn begun(client: Client<'a>, query: &str) -> Self {
        let mut begun = Self::new(client, query);
        let answer = begun
            .send("initialize", initialize("2025-11-25"))
            .await
            .expect(200);
        begun
            .headers
            .push(("mcp-session-id", answer.header("mcp-session-id").to_owned()));
        begun
            .headers
            .push(("mcp-protocol-version", "2025-11-25".to_owned()));
        begun
    }

    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(super) fn request(&self, body: impl Into<Body>) -> Request<Body> {
        let mut request = self
            .client
            .request(Method::POST, &format!("{MCP}{}", self.query))
            .header(header::CONTENT_TYPE, "application/json");
        if !self.headers.iter().any(|(name, _)| *name == "accept") {
            request = request.header(header::ACCEPT, "application/json, text/event-stream");
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        request.body(body.into()).expect("a request")
    }

    pub(super) async fn send(&self, method: &str, params: Value) -> Answer {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.client.send(self.request(body.to_string())).await
    }

    /// Ends its session.
    pub(super) async fn end(&self) -> Answer {
        let mut request = self.client.request(Method::DELETE, MCP);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        self.client
            .send(request.body(Body::empty()).expect("a request"))
            .await
    }

    /// The result of a request.
    #[track_caller]
    pub(super) fn ask(&self, method: &str, params: Value) -> impl Future<Output = Value> {
        let sent = self.send(method, params);
        async move {
            let answer = sent.await.expect(200);
            let answer = last(&answer);
            assert!(answer["error"].is_null(), "{answer}");
            answer["result"].clone()
        }
    }

    pub(super) async fn call(&self, name: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": name, "arguments": arguments}))
            .await
    }

    pub(super) async fn names(&self) -> Vec<String> {
        let listed = self.ask("tools/list", json!({})).await;
        let tools = listed["tools"].as_array().expect("a list");
        tools
            .iter()
            .map(|tool| tool["name"].as_str().expect("a name").to_owned())
            .collect()
    }
}

/// Every message of an answer, whether it is JSON or events.
pub(super) fn messages(answer: &Answer) -> Vec<Value> {
    if !answer.header("content-type").starts_with("text/event-stream") {
        return vec![answer.json()];
    }
    let text = answer.text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| serde_json::from_str(data.trim()).ok())
        .collect()
}

/// The answer itself.
pub(super) fn last(answer: &Answer) -> Value {
    messages(answer).pop().expect("a message")
}

pub(super) fn initialize(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
}

/// The params of a request of the revision without sessions.
pub(super) fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

/// The text of a result.
pub(super) fn text(result: &Value) -> String {
    let content = result["content"].as_array().expect("content");
    let texts = content.iter().filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// Tools in two groups and a workflow: `start` opens `finish`.
pub(super) async fn with_tools() -> TestApp {
    let base = echo().await;
    with_tools_at(&base, &[]).await
}

pub(super) async fn with_tools_at(base: &str, settings: &[(&str, &str)]) -> TestApp {
    let mut settings = settings.to_vec();
    settings.push(("TOOLGATE_EGRESS_ALLOW", base));
    let app = TestApp::with(&settings).await;
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &tools(base))
        .await
        .expect(201);
    app
}

/// The tools of [`with_tools`].
pub(super) fn tools(base: &str) -> String {
    let tools = [
        tool("search", base, "/search", ""),
        tool("read.page", base, "/read", "group: [knowledge]\n"),
        tool(
            "start",
            base,
            "/start",
            "group: [work]\nstate: started\navailable_in_states: [undefined]\n",
        ),
        tool(
            "finish",
            base,
            "/finish",
            "group: [work]\nstate: finished\navailable_in_states: [started]\n",
        ),
    ];
    tools.join("---\n")
}

pub(super) async fn agent<'a>(app: &'a TestApp, groups: &[&str]) -> Client<'a> {
    let admin = app.admin().await;
    app.key(&admin, "demo", "agent", groups).await
}

#[tokio::test]
async fn every_revision_is_negotiated() {
    let app = with_tools().await;
    let mcp = McpClient::new(agent(&app, &["default"]).await, "");
    for version in LEGACY {
        let answer = mcp.send("initialize", initialize(version)).await.expect(200);
        assert_eq!(answer.json()["result"]["protocolVersion"], version);
        assert_eq!(
            answer.json()["result"]["capabilities"]["tools"]["listChanged"],
            true
        );
        assert!(answer.header("mcp-session-id").contains(version));
    }
    // An unknown one is negotiated, and so is the one that has no `initialize`.
    for version in ["1999-01-01", "2099-01-01", MODERN] {
        let answer = mcp.send("initialize", initialize(version)).await.expect(200);
        let negotiated = answer.json()["result"]["protocolVersion"].clone();
        assert!(
            LEGACY.contains(&negotiated.as_str().expect("a version")),
            "{version}: {negotiated}"
        );
    }
    // What a client sent before does not matter at the beginning.
    let stale = McpClient::new(mcp.client.clone(), "")
        .with("mcp-protocol-version", "2025-03-26")
        .with("mcp-session-id", "of-another-server");
    stale
        .send("initialize", initialize("2025-11-25"))
        .await
        .expect(200);
}

#[tokio::test]
async fn the_revision_without_sessions_is_served_at_the_same_address() {
    let app = with_tools().await;
    let mcp = McpClient::new(agent(&app, &["default"]).await, "").with("mcp-protocol-version", MODERN);
    let discovered = McpClient::new(mcp.client.clone(), "")
        .with("mcp-protocol-version", MODERN)
        .with("mcp-method", "server/discover")
        .ask("server/discover", modern(json!({})))
        .await;
    let versions = discovered["supportedVersions"].as_array().expect("versions");
    assert!(versions.contains(&json!(MODERN)), "{discovered}");

    let mcp = mcp.with("mcp-method", "tools/list");
    let listed = mcp.ask("tools/list", modern(json!({}))).await;
    assert_eq!(listed["tools"][0]["name"], "search");
    assert_eq!(
        (&listed["ttlMs"], &listed["cacheScope"]),
        (&json!(0), &json!("private"))
    );

    let call = McpClient::new(mcp.client.clone(), "")
        .with("mcp-protocol-version", MODERN)
        .with("mcp-method", "tools/call")
        .with("mcp-name", "search");
    let called = call
        .ask(
            "tools/call",
            modern(json!({"name": "search", "arguments": {"q": "x"}})),
        )
        .await;
    assert_eq!(called["structuredContent"]["query"], json!({"q": "x"}));

    // A request of this revision has no handshake.
    let handshake = McpClient::new(mcp.client.clone(), "")
        .with("mcp-protocol-version", MODERN)
        .with("mcp-method", "initialize");
    let refused = handshake
        .send("initialize", modern(initialize(MODERN)))
        .await
        .expect(404);
    assert_eq!(refused.json()["error"]["code"], -32601);

    // The headers that proxies read must say what the body says.
    let lying = McpClient::new(mcp.client.clone(), "")
        .with("mcp-protocol-version", MODERN)
        .with("mcp-method", "tools/list")
        .with("mcp-name", "search");
    let refused = lying
        .send("tools/call", modern(json!({"name": "search"})))
        .await
        .expect(400);
    assert_eq!(refused.json()["error"]["code"], -32020);
}

#[tokio::test]
async fn what_a_client_accepts_decides_nothing_but_the_form() {
    let app = with_tools().await;
    let agent = agent(&app, &["default"]).await;
    for accept in ["", "*/*", "application/json", "text/event-stream"] {
        let mcp = McpClient::new(agent.clone(), "").with("accept", accept);
        let listed = mcp.ask("tools/list", json!({})).await;
        assert_eq!(listed["tools"][0]["name"], "search", "{accept}");
    }
    // Without events there is no progress, and the answer is JSON.
    let progress = json!({"name": "search", "_meta": {"progressToken": "p"}});
    let mcp = McpClient::new(agent.clone(), "").with("accept", "application/json");
    let answer = mcp.send("tools/call", progress.clone()).await.expect(200);
    assert_eq!(answer.header("content-type"), "application/json");
    let mcp = McpClient::new(agent, "");
    let answer = mcp.send("tools/call", progress).await.expect(200);
    assert_eq!(answer.header("x-accel-buffering"), "no");
    let told = messages(&answer);
    assert_eq!(told[0]["method"], "notifications/progress", "{told:?}");
    assert_eq!(told[0]["params"]["progressToken"], "p");
    assert_eq!(told[1]["result"]["structuredContent"]["path"], "/search");
}
