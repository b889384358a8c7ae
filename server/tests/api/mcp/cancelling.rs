//! Calls that a client does not wait for: cancelled by another request, or by closing the answer.

use serde_json::{Value, json};

use super::{McpClient, agent, last, with_tools_at};
use crate::gate::Gate;
use crate::postgres::new_database;
use crate::support::{Client, TestApp, tool};

/// A project whose tool `slow` answers when the test says so.
async fn with_gate(settings: &[(&str, &str)]) -> (Gate, TestApp) {
    let gate = Gate::start().await;
    let app = with_tools_at(&gate.base, settings).await;
    let admin = app.admin().await;
    let slow = tool("slow", &gate.base, "/slow", "");
    admin.upload("/projects/demo/tools", &slow).await.expect(201);
    (gate, app)
}

/// The latest call on the record, once it has ended.
async fn ended(app: &TestApp) -> Value {
    let admin = app.admin().await;
    let auditor = app.auditor(&admin).await;
    let path = "/projects/demo/audit?action=call";
    loop {
        let page = auditor.get(path).await.expect(200).json();
        let records = page["items"].as_array().expect("a list");
        if let Some(record) = records.first()
            && record["outcome"] != "open"
        {
            return record.clone();
        }
        tokio::task::yield_now().await;
    }
}

fn slow(q: &str) -> Value {
    json!({"name": "slow", "arguments": {"q": q}})
}

async fn cancel(mcp: &McpClient<'_>) {
    let body = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    mcp.client.send(mcp.request(body.to_string())).await.expect(202);
}

fn assert_cancelled(record: &Value) {
    assert_eq!(
        (&record["outcome"], &record["code"]),
        (&json!("failed"), &json!("cancelled")),
        "{record}"
    );
    assert_eq!(record["entrance"], "mcp");
}

/// The same client again, at the same or another server.
fn same<'a>(mcp: &McpClient<'_>, client: Client<'a>) -> McpClient<'a> {
    let mut same = McpClient::new(client, &mcp.query);
    same.headers.clone_from(&mcp.headers);
    same
}

#[tokio::test]
async fn a_call_is_cancelled_by_another_request_of_its_session() {
    let (mut gate, app) = with_gate(&[]).await;
    let mcp = McpClient::begun(agent(&app, &["default"]).await, "").await;
    let call = mcp.send("tools/call", slow("a"));
    let (answer, ()) = tokio::join!(call, async {
        gate.arrival().await;
        cancel(&mcp).await;
    });
    assert_eq!(last(&answer.expect(200))["error"]["code"], -32800);
    // The upstream was never let go: the call itself has ended.
    assert_cancelled(&ended(&app).await);
}

#[tokio::test]
async fn a_call_whose_client_goes_away_is_cancelled_and_not_run_again() {
    let (mut gate, app) = with_gate(&[]).await;
    for accept in ["application/json", "application/json, text/event-stream"] {
        let mcp = McpClient::new(agent(&app, &["default"]).await, "")
            .with("idempotency-key", "once")
            .with("accept", accept);
        let again = same(&mcp, mcp.client.clone());
        {
            let call = mcp.send("tools/call", slow("a"));
            tokio::pin!(call);
            tokio::select! {
                answer = &mut call => panic!("the upstream holds it: {}", answer.text()),
                q = gate.arrival() => assert_eq!(q, "a"),
            }
        }
        assert_cancelled(&ended(&app).await);
        // The same request again is answered by how the first one ended.
        let answer = loop {
            let answer = again.ask("tools/call", slow("a")).await;
            if answer["_meta"]["toolgate/code"] != "idempotency_in_progress" {
                break answer;
            }
            tokio::task::yield_now().await;
        };
        assert_eq!(answer["_meta"]["toolgate/code"], "cancelled", "{answer}");
    }
    assert!(gate.is_quiet(), "nothing was sent twice");
}

/// Progress is under way when the client closes the stream of events.
#[tokio::test]
async fn closing_the_stream_of_an_answer_cancels_its_call() {
    let (mut gate, app) = with_gate(&[]).await;
    let mcp = McpClient::new(agent(&app, &["default"]).await, "");
    let mut params = slow("a");
    params["_meta"] = json!({"progressToken": "p"});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let response = app.open(mcp.request(body.to_string())).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    gate.arrival().await;
    drop(response);
    assert_cancelled(&ended(&app).await);
}

#[tokio::test]
async fn a_call_of_another_session_is_not_cancelled() {
    let (mut gate, app) = with_gate(&[]).await;
    let client = agent(&app, &["default"]).await;
    let mcp = McpClient::begun(client.clone(), "").await;
    let other = McpClient::begun(client, "").await;
    let (called, ()) = tokio::join!(mcp.ask("tools/call", slow("a")), async {
        gate.arrival().await;
        cancel(&other).await;
        gate.release("a", 200);
    });
    assert_eq!(called["structuredContent"], json!({"q": "a"}));
}

/// The server that gets the cancellation is not the one that runs the call. A later request may have the same id.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_on_another_server_is_cancelled() {
    let url = new_database().await;
    let (mut gate, first) = with_gate(&[("TOOLGATE_DATABASE_URL", &url)]).await;
    first.run_background();
    let here = McpClient::begun(agent(&first, &["default"]).await, "").await;
    // It begins when the key is there.
    let second = TestApp::with(&[("TOOLGATE_DATABASE_URL", &url)]).await;
    let token = here.client.token.clone().expect("a key");
    let there = same(&here, second.client(&token));
    let (answer, ()) = tokio::join!(here.send("tools/call", slow("a")), async {
        gate.arrival().await;
        cancel(&there).await;
    });
    assert_eq!(last(&answer.expect(200))["error"]["code"], -32800);
    assert_cancelled(&ended(&first).await);
    let (called, ()) = tokio::join!(here.ask("tools/call", slow("b")), async {
        gate.arrival().await;
        gate.release("b", 200);
    });
    assert_eq!(called["structuredContent"], json!({"q": "b"}));
}
