//! Tools that their server runs as tasks only: the task is created, and its result waited for.

use serde_json::{Value, json};

use super::{Reply, Upstream, call, with_tools};

/// A server that runs its tool as a task only; `result` is what the task comes to.
async fn upstream(result: fn() -> Reply) -> Upstream {
    Upstream::new(move |message| match message["method"].as_str() {
        Some("tools/list") => {
            let mut tool = super::forecast("d");
            tool["execution"] = json!({"taskSupport": "required"});
            Some(Reply::Result(json!({"tools": [tool]})))
        }
        Some("tools/call") if message["params"]["task"].is_object() => Some(Reply::Result(
            json!({"task": {"taskId": "t1", "status": "working", "createdAt": "2026-01-01T00:00:00Z", "ttl": 1000, "pollInterval": 10}}),
        )),
        Some("tools/call") => Some(Reply::Error(-32601, "as a task only")),
        Some("tasks/result") => Some(result()),
        Some("tasks/cancel") => Some(Reply::Result(json!({"taskId": "t1", "status": "cancelled"}))),
        _ => None,
    })
    .await
}

fn said() -> Value {
    json!({"content": [{"type": "text", "text": "sunny"}], "structuredContent": {"celsius": 21}})
}

#[tokio::test]
async fn the_result_of_a_task_is_that_of_its_call() {
    let upstream = upstream(|| Reply::Result(said())).await;
    let app = with_tools(&upstream, json!({"url": upstream.url})).await;
    let admin = app.admin().await;
    let tool = admin
        .get("/projects/demo/tools/forecast")
        .await
        .expect(200)
        .json();
    assert_eq!(
        tool["definition"]["config"]["mcp_task_support"], "required",
        "{tool}"
    );
    let answer = call(&admin, "forecast", json!({"city": "Oslo"})).await;
    assert_eq!(answer["status"], "succeeded", "{answer}");
    assert_eq!(answer["result"]["content"], said()["content"]);
    let sent = &upstream.seen("tools/call")[0].0["params"];
    assert_eq!(sent["arguments"], json!({"city": "Oslo"}));
    assert!(sent["task"]["ttl"].as_u64().is_some_and(|ttl| ttl > 0), "{sent}");
    assert_eq!(upstream.seen("tasks/result")[0].0["params"]["taskId"], "t1");
    assert!(upstream.seen("tasks/cancel").is_empty());
}

#[tokio::test]
async fn a_task_whose_result_is_not_waited_for_is_cancelled() {
    let upstream = upstream(|| Reply::Never).await;
    let app = with_tools(&upstream, json!({"url": upstream.url, "timeout_ms": 1000})).await;
    let admin = app.admin().await;
    let answer = call(&admin, "forecast", json!({"city": "Oslo"})).await;
    assert_eq!(answer["error"]["code"], "timeout", "{answer}");
    upstream.came("tasks/cancel").await;
    assert_eq!(upstream.seen("tasks/cancel")[0].0["params"]["taskId"], "t1");
}

#[tokio::test]
async fn a_server_that_answers_with_no_task_is_refused() {
    let upstream = Upstream::new(|message| match message["method"].as_str() {
        Some("tools/list") => {
            let mut tool = super::forecast("d");
            tool["execution"] = json!({"taskSupport": "required"});
            Some(Reply::Result(json!({"tools": [tool]})))
        }
        _ => None,
    })
    .await;
    let app = with_tools(&upstream, json!({"url": upstream.url})).await;
    let answer = call(&app.admin().await, "forecast", json!({"city": "Oslo"})).await;
    assert_eq!(answer["error"]["code"], "upstream_invalid", "{answer}");
}
