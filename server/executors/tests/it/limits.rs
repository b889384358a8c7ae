//! Breaker and concurrency limits.

use std::sync::Arc;

use serde_json::json;
use toolgate_api::ErrorCode;
use toolgate_executors::Executors;

use crate::support::{Server, Step, answer, call, config, executors, named_tool, ok};

#[tokio::test]
async fn after_five_failures_the_upstream_is_left_alone() {
    let server = Server::start([Step::Send(answer(500, &[], ""))]).await;
    let executors = executors(&[&server.url], &[]);
    let tool = named_tool("broken", json!({"http": {"base_url": server.url}}));
    for _ in 0..5 {
        let failure = executors
            .execute(&mut call(&tool, json!({})))
            .await
            .expect_err("failed");
        assert_eq!(failure.code, ErrorCode::UpstreamUnavailable);
    }
    let failure = executors
        .execute(&mut call(&tool, json!({})))
        .await
        .expect_err("open");
    assert_eq!(
        (failure.code, failure.retryable),
        (ErrorCode::ToolUnavailable, true)
    );
    assert!(
        failure
            .retry_after_s
            .is_some_and(|seconds| (9..=10).contains(&seconds)),
        "{failure:?}"
    );
    assert_eq!(server.requests().len(), 5);

    let reports = executors.open_breakers();
    assert_eq!((reports.len(), reports[0].tool.as_str()), (1, "broken"));
    let other = named_tool("other", json!({"http": {"base_url": server.url}}));
    let failure = executors
        .execute(&mut call(&other, json!({})))
        .await
        .expect_err("failed");
    assert_eq!(
        failure.code,
        ErrorCode::UpstreamUnavailable,
        "another tool is not affected"
    );
}

#[tokio::test]
async fn refusals_do_not_open_the_breaker() {
    let server = Server::start([Step::Send(answer(404, &[], ""))]).await;
    let executors = executors(&[&server.url], &[]);
    let tool = named_tool("strict", json!({"http": {"base_url": server.url}}));
    for _ in 0..20 {
        let failure = executors
            .execute(&mut call(&tool, json!({})))
            .await
            .expect_err("refused");
        assert_eq!(failure.code, ErrorCode::UpstreamRejected);
    }
}

#[tokio::test]
async fn one_tool_cannot_take_every_place() {
    let stuck = Server::start([Step::Nothing]).await;
    let fine = Server::start([Step::Send(ok("1"))]).await;
    let mut config = config(&[&stuck.url, &fine.url], &[]);
    config.max_concurrent_per_tool = 1;
    config.max_concurrent = 2;
    let executors = Arc::new(Executors::new(config));
    let slow = named_tool("slow", json!({"http": {"base_url": stuck.url}}));
    let running = tokio::spawn({
        let (executors, mut invocation) = (executors.clone(), call(&slow, json!({})));
        async move { executors.execute(&mut invocation).await }
    });
    while stuck.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    let impatient = named_tool("slow", json!({"timeout_ms": 50, "http": {"base_url": stuck.url}}));
    let failure = executors
        .execute(&mut call(&impatient, json!({})))
        .await
        .expect_err("full");
    assert_eq!(
        (failure.code, failure.retryable, failure.retry_after_s),
        (ErrorCode::ToolUnavailable, true, Some(1))
    );
    let other = named_tool("other", json!({"http": {"base_url": fine.url}}));
    executors
        .execute(&mut call(&other, json!({})))
        .await
        .expect("another tool has its place");

    // Going away gives the place back.
    running.abort();
    assert!(running.await.expect_err("aborted").is_cancelled());
    let failure = executors
        .execute(&mut call(&impatient, json!({})))
        .await
        .expect_err("too slow");
    assert_eq!(failure.code, ErrorCode::Timeout, "{}", failure.message);
}
