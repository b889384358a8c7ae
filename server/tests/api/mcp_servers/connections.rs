//! Connections to servers: pauses after failures, the end of what nothing needs, calls at the same time, and what they are made with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::stdio::{processes, server, until};
use super::{Reply, SERVERS, Upstream, call, enable, import, put, with_tools};
use crate::support::{Client, TestApp};

fn oslo() -> Value {
    json!({"city": "Oslo"})
}

#[tokio::test]
async fn a_server_that_does_not_connect_is_left_alone_for_a_while() {
    let is_down = Arc::new(AtomicBool::new(false));
    let down = Arc::clone(&is_down);
    let upstream = Upstream::new(move |_| {
        let closed = || Reply::Body(StatusCode::SERVICE_UNAVAILABLE, "text/plain", b"closed".to_vec());
        down.load(Ordering::Acquire).then(closed)
    })
    .await;
    let app = with_tools(&upstream, json!({"url": upstream.url})).await;
    let admin = app.admin().await;
    is_down.store(true, Ordering::Release);
    let test = format!("{SERVERS}/weather/test");
    assert_eq!(
        admin.post(&test, &json!({})).await.expect(200).json()["ok"],
        false
    );
    let attempts = || upstream.seen("server/discover").len() + upstream.seen("initialize").len();
    let before = attempts();
    let refused = call(&admin, "forecast", oslo()).await;
    assert_eq!(attempts(), before, "within the pause it is not asked");
    let error = &refused["error"];
    assert_eq!(
        (&error["code"], &error["retryable"]),
        (&json!("upstream_unavailable"), &json!(true))
    );
    assert_eq!(error["retry_after_s"], 1, "{refused}");
    is_down.store(false, Ordering::Release);
    let comes_back = async {
        while call(&admin, "forecast", oslo()).await["status"] != "succeeded" {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), comes_back)
        .await
        .expect("it is asked again after the pause");
}

#[tokio::test]
async fn a_shared_process_that_nothing_calls_is_ended_and_started_by_the_next_call() {
    let mark = "counts-shared-idle";
    let app = TestApp::with(&[
        ("TOOLGATE_MCP_STDIO_COMMANDS", "sh"),
        ("TOOLGATE_MCP_STDIO_SANDBOX", "false"),
    ])
    .await;
    let admin = app.demo().await;
    let mut definition = server(mark);
    definition["idle_stop_s"] = json!(1);
    put(&admin, "shell", definition).await;
    import(&admin, "shell").await;
    enable(&admin).await;
    let count = async |client: &Client<'_>| {
        call(client, "look", json!({})).await["result"]["content"][0]["text"].take()
    };
    assert_eq!(count(&admin).await, "1");
    assert_eq!(count(&admin).await, "2");
    app.run_background();
    until("its process ends", || processes(mark) == 0).await;
    assert_eq!(count(&admin).await, "1", "the next call starts another one");
}

#[tokio::test]
async fn no_more_calls_run_at_a_server_than_its_definition_allows() {
    let release = Arc::new(Semaphore::new(0));
    let released = Arc::clone(&release);
    let upstream = Upstream::new(move |message| {
        let id = message["id"].clone();
        let released = Arc::clone(&released);
        let answer = stream::once(async move {
            let _one = released.acquire().await;
            json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}).to_string()
        });
        (message["method"] == "tools/call").then(|| Reply::Stream(answer.boxed()))
    })
    .await;
    let app = with_tools(&upstream, json!({"url": upstream.url, "max_concurrent": 1})).await;
    let admin = app.admin().await;
    let second = async {
        while upstream.seen("tools/call").is_empty() {
            tokio::task::yield_now().await;
        }
        let refused = call(&admin, "forecast", oslo()).await;
        assert_eq!(upstream.seen("tools/call").len(), 1, "the second one waits");
        release.add_permits(1);
        refused
    };
    let (first, second) = tokio::join!(call(&admin, "forecast", oslo()), second);
    assert_eq!(first["status"], "succeeded", "{first}");
    let error = &second["error"];
    assert_eq!(
        (&error["code"], &error["retryable"]),
        (&json!("tool_unavailable"), &json!(true)),
        "{second}"
    );
}

#[tokio::test]
async fn a_secret_reaches_a_process_and_comes_back_masked() {
    let app = TestApp::with(&[
        ("TOOLGATE_MCP_STDIO_COMMANDS", "sh"),
        ("TOOLGATE_SECRETS_KEY", &crate::secrets::key(1)),
    ])
    .await;
    let admin = app.demo().await;
    let secret = json!({"value": "hunter22hunter22"});
    let path = "/projects/demo/secrets/TOKEN";
    admin.send_json(Method::PUT, path, &[], &secret).await.expect(201);
    let mut definition = server("plain");
    definition["env"] = json!({"GREETING": "key ${secret:TOKEN}"});
    put(&admin, "shell", definition).await;
    import(&admin, "shell").await;
    enable(&admin).await;
    let answer = call(&admin, "look", json!({})).await;
    let seen = answer["result"]["content"][1]["text"]
        .as_str()
        .unwrap_or_default();
    assert!(seen.ends_with("greeting=key [redacted]"), "{answer}");
}
