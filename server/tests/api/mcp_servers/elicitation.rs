//! Questions of MCP servers to the person who called: passed on when the client can be asked, refused otherwise.

use axum::body::Body;
use http_body_util::BodyExt;
use serde_json::{Value, json};

use super::floods::time_out;
use super::stdio::until;
use super::{Reply, Upstream, with_tools};
use crate::mcp::{MODERN, McpClient, initialize, modern, text};
use crate::support::{Answer, Client, TestApp};

fn question(more: &Value) -> String {
    let mut params = json!({
        "message": "Which day?",
        "requestedSchema": {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
    });
    params
        .as_object_mut()
        .expect("an object")
        .extend(more.as_object().cloned().unwrap_or_default());
    json!({"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create", "params": params}).to_string()
}

/// What the upstream's answer says of the answer that it got.
fn told(answer: &Value) -> Value {
    json!({"content": [{"type": "text", "text": format!("{} {}", answer["result"], answer["error"]["message"])}]})
}

async fn asking() -> (Upstream, TestApp) {
    let upstream = Upstream::new(|message| {
        (message["method"] == "tools/call").then(|| Reply::Asks(question(&json!({})), told))
    })
    .await;
    let app = with_tools(&upstream, json!({"url": upstream.url})).await;
    (upstream, app)
}

/// A client in a session that says how it can be asked.
async fn client<'a>(client: Client<'a>, elicitation: Value) -> McpClient<'a> {
    let mut begun = McpClient::new(client, "");
    let mut params = initialize("2025-11-25");
    params["capabilities"] = json!({"elicitation": elicitation});
    let answer = begun.send("initialize", params).await.expect(200);
    begun
        .headers
        .push(("mcp-session-id", answer.header("mcp-session-id").to_owned()));
    begun
        .headers
        .push(("mcp-protocol-version", "2025-11-25".to_owned()));
    begun
}

async fn agent(app: &TestApp) -> Client<'_> {
    let admin = app.admin().await;
    app.key(&admin, "demo", "agent", &["default"]).await
}

/// A call whose answer is read event by event.
struct Running {
    body: Body,
    read: String,
}

impl Running {
    async fn begin(app: &TestApp, mcp: &McpClient<'_>) -> Self {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "forecast", "arguments": {"city": "Oslo"}}});
        let response = app.open(mcp.request(call.to_string())).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            body: response.into_body(),
            read: String::new(),
        }
    }

    async fn next(&mut self) -> Value {
        loop {
            if let Some((event, rest)) = self.read.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                let message = data.and_then(|data| serde_json::from_str(data).ok());
                self.read = rest.to_owned();
                if let Some(message) = message {
                    return message;
                }
                continue;
            }
            let frame = self.body.frame().await.expect("a message").expect("a frame");
            let data = frame.into_data().expect("data");
            self.read.push_str(&String::from_utf8_lossy(&data));
        }
    }
}

async fn answer(mcp: &McpClient<'_>, id: &Value, result: Value) -> Answer {
    let body = json!({"jsonrpc": "2.0", "id": id, "result": result});
    mcp.client.send(mcp.request(body.to_string())).await
}

async fn recorded(app: &TestApp) -> Value {
    let admin = app.admin().await;
    let auditor = app.auditor(&admin).await;
    let page = auditor
        .get("/projects/demo/audit?action=call&limit=1")
        .await
        .expect(200);
    page.json()["items"][0].clone()
}

#[tokio::test]
async fn a_question_reaches_the_client_and_the_answer_the_server() {
    let (upstream, app) = asking().await;
    let mcp = client(agent(&app).await, json!({})).await;
    for (result, outcome) in [
        (
            json!({"action": "accept", "content": {"day": "Monday, my secret"}}),
            "accepted",
        ),
        (json!({"action": "decline"}), "declined"),
        (json!({"action": "cancel"}), "cancelled"),
    ] {
        let mut call = Running::begin(&app, &mcp).await;
        let asked = call.next().await;
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        let mut expected: Value = serde_json::from_str(&question(&json!({}))).expect("JSON");
        expected["params"]["message"] = json!("weather: Which day?");
        assert_eq!(asked["params"], expected["params"], "{asked}");
        answer(&mcp, &asked["id"], result.clone()).await.expect(202);
        let ended = call.next().await;
        let said = text(&ended["result"]);
        assert_eq!(said, format!("{result} null"), "{ended}");
        let record = recorded(&app).await;
        assert_eq!(record["outcome"], "succeeded");
        assert_eq!(record["questions"], json!([{"mode": "form", "outcome": outcome}]));
        assert!(!record.to_string().contains("secret"), "{record}");
        // The same answer again is none.
        let again = answer(&mcp, &asked["id"], result).await;
        assert_eq!(again.expect(400).json()["error"]["code"], -32600);
    }
    let capabilities = &upstream.seen("initialize")[0].0["params"]["capabilities"];
    assert_eq!(capabilities["elicitation"], json!({"form": {}, "url": {}}));
}

#[tokio::test]
async fn nobody_else_answers_a_question() {
    let (upstream, app) = asking().await;
    let mcp = client(agent(&app).await, json!({"form": {}})).await;
    let admin = app.admin().await;
    let other = app.key(&admin, "demo", "viewer", &["default"]).await;
    let other = client(other, json!({"form": {}})).await;
    let mut call = Running::begin(&app, &mcp).await;
    let asked = call.next().await;
    let forged = json!({"action": "accept", "content": {"day": "forged"}});
    answer(&other, &asked["id"], forged.clone()).await.expect(400);
    answer(&other, &json!("q1"), forged.clone()).await.expect(400);
    // The session of one is none of the other.
    let mut stolen = McpClient::new(other.client.clone(), "");
    stolen.headers.clone_from(&mcp.headers);
    answer(&stolen, &asked["id"], forged).await.expect(404);
    assert!(upstream.answers().is_empty());
    answer(&mcp, &asked["id"], json!({"action": "decline"}))
        .await
        .expect(202);
    assert!(text(&call.next().await["result"]).contains("decline"));
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_not_asked() {
    let (upstream, app) = asking().await;
    let agent = agent(&app).await;
    let without = McpClient::begun(agent.clone(), "").await;
    let without_events = client(agent.clone(), json!({}))
        .await
        .with("accept", "application/json");
    let by_page_only = client(agent.clone(), json!({"url": {}})).await;
    let without_session = McpClient::new(agent, "");
    for (mcp, outcome) in [
        (without, Value::Null),
        (without_events, Value::Null),
        (without_session, Value::Null),
        (by_page_only, json!([{"mode": "form", "outcome": "refused"}])),
    ] {
        let result = mcp.call("forecast", json!({"city": "Oslo"})).await;
        assert!(text(&result).contains("offers no elicitation"), "{result}");
        assert_eq!(recorded(&app).await["questions"], outcome);
    }
    assert_eq!(upstream.answers()["q1"]["error"]["code"], -32601);
}

#[tokio::test]
async fn a_question_that_is_not_answered_ends_with_its_call() {
    let (upstream, app) = asking().await;
    let admin = app.admin().await;
    time_out(&admin, "forecast", 300).await;
    let mcp = client(agent(&app).await, json!({})).await;
    let mut call = Running::begin(&app, &mcp).await;
    let asked = call.next().await;
    let ended = call.next().await;
    assert!(text(&ended["result"]).starts_with("timeout"), "{ended}");
    let late = answer(&mcp, &asked["id"], json!({"action": "decline"})).await;
    late.expect(400);
    assert_eq!(
        recorded(&app).await["questions"],
        json!([{"mode": "form", "outcome": "unanswered"}])
    );
    // The server is not left without an answer.
    until("an error", || upstream.answers().contains_key("q1")).await;
    // A client that goes away is not waited for.
    time_out(&admin, "forecast", 60_000).await;
    let mut call = Running::begin(&app, &mcp).await;
    call.next().await;
    drop(call);
    loop {
        let record = recorded(&app).await;
        if record["code"] == "cancelled" {
            assert_eq!(record["questions"][0]["outcome"], "unanswered", "{record}");
            break;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_server_that_wants_answers_before_it_answers_is_called_again_with_them() {
    let upstream = Upstream::new(|message| {
        let params = &message["params"];
        (message["method"] == "tools/call").then(|| match params.get("inputResponses") {
            Some(answers) => Reply::Result(json!({
                "content": [{"type": "text", "text": format!("{answers} {}", params["requestState"])}],
            })),
            None => Reply::Result(json!({
                "resultType": "input_required",
                "inputRequests": {"day": {"method": "elicitation/create", "params": {
                    "mode": "url", "message": "Sign in", "url": "https://a.example/", "elicitationId": "e",
                }}},
                "requestState": "opaque",
            })),
        })
    })
    .await;
    let app = with_tools(&upstream, json!({"url": upstream.url})).await;
    let agent = agent(&app).await;
    let mcp = client(agent.clone(), json!({"form": {}, "url": {}})).await;
    let mut call = Running::begin(&app, &mcp).await;
    let asked = call.next().await;
    assert_eq!(asked["params"]["url"], "https://a.example/", "{asked}");
    answer(&mcp, &asked["id"], json!({"action": "accept"}))
        .await
        .expect(202);
    let ended = call.next().await;
    assert_eq!(
        text(&ended["result"]),
        "{\"day\":{\"action\":\"accept\"}} \"opaque\"",
        "{ended}"
    );
    assert_eq!(
        recorded(&app).await["questions"],
        json!([{"mode": "url", "outcome": "accepted"}])
    );
    let without = McpClient::begun(agent, "").await;
    let result = without.call("forecast", json!({"city": "Oslo"})).await;
    assert_eq!(result["isError"], true);
    assert!(text(&result).contains("offers no elicitation"), "{result}");
}

#[tokio::test]
async fn a_server_whose_definition_does_not_let_it_ask_is_told_so() {
    let upstream = Upstream::new(|message| {
        (message["method"] == "tools/call").then(|| Reply::Asks(question(&json!({})), told))
    })
    .await;
    let app = with_tools(&upstream, json!({"url": upstream.url, "elicitation": "refuse"})).await;
    let mcp = client(agent(&app).await, json!({})).await;
    let result = mcp.call("forecast", json!({"city": "Oslo"})).await;
    assert!(text(&result).contains("null"), "{result}");
    assert_eq!(upstream.answers()["q1"]["error"]["code"], -32601);
    let capabilities = &upstream.seen("initialize")[0].0["params"]["capabilities"];
    assert_eq!(capabilities.get("elicitation"), None);
}

fn without_sessions<'a>(client: Client<'a>, query: &str) -> McpClient<'a> {
    McpClient::new(client, query)
        .with("mcp-protocol-version", MODERN)
        .with("mcp-method", "tools/call")
        .with("mcp-name", "forecast")
}

/// A call by a client of the revision without sessions that can be asked.
fn asked_call(more: &Value) -> Value {
    let mut params = modern(json!({"name": "forecast", "arguments": {"city": "Oslo"}}));
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {"form": {}}});
    params
        .as_object_mut()
        .expect("an object")
        .extend(more.as_object().cloned().unwrap_or_default());
    params
}

#[tokio::test]
async fn without_sessions_a_question_is_a_result_and_the_answer_comes_with_the_next_call() {
    let (upstream, app) = asking().await;
    let mcp = without_sessions(agent(&app).await, "");
    let asked = mcp.ask("tools/call", asked_call(&json!({}))).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["question"];
    assert_eq!(
        (&question["method"], &question["params"]["message"]),
        (&json!("elicitation/create"), &json!("weather: Which day?"))
    );
    let answered = json!({
        "requestState": asked["requestState"],
        "inputResponses": {"question": {"action": "accept", "content": {"day": "Monday"}}},
    });
    // No other principal goes on with it.
    let admin = app.admin().await;
    let other = app.key(&admin, "demo", "viewer", &["default"]).await;
    let refused = without_sessions(other, "")
        .send("tools/call", asked_call(&answered))
        .await;
    assert_eq!(refused.json()["error"]["code"], -32602);
    assert!(upstream.answers().is_empty());

    let ended = mcp.ask("tools/call", asked_call(&answered)).await;
    assert!(text(&ended).contains("Monday"), "{ended}");
    assert_eq!(upstream.seen("tools/call").len(), 1, "one call");
    let record = recorded(&app).await;
    assert_eq!(record["outcome"], "succeeded");
    assert_eq!(
        record["questions"],
        json!([{"mode": "form", "outcome": "accepted"}])
    );
    let again = mcp.send("tools/call", asked_call(&answered)).await.json();
    assert_eq!(again["error"]["code"], -32602, "{again}");
}

#[tokio::test]
async fn without_sessions_a_call_whose_client_does_not_come_back_ends_in_time() {
    let (upstream, app) = asking().await;
    let admin = app.admin().await;
    time_out(&admin, "forecast", 300).await;
    let mcp = without_sessions(agent(&app).await, "");
    let asked = mcp.ask("tools/call", asked_call(&json!({}))).await;
    until("an error", || upstream.answers().contains_key("q1")).await;
    loop {
        let record = recorded(&app).await;
        if record["outcome"] != "open" {
            assert_eq!(record["code"], "timeout", "{record}");
            assert_eq!(record["questions"][0]["outcome"], "unanswered");
            break;
        }
        tokio::task::yield_now().await;
    }
    let late =
        json!({"requestState": asked["requestState"], "inputResponses": {"question": {"action": "decline"}}});
    let ended = mcp.ask("tools/call", asked_call(&late)).await;
    assert!(text(&ended).starts_with("timeout"), "{ended}");
}
