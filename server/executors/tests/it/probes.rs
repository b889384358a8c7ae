//! Asking upstreams whether they are well.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_core::definition::model::ToolDefinition;
use toolgate_core::ids::ProjectId;
use toolgate_executors::{Executors, ProbeReport};

use crate::support::{Server, Step, answer, call, executors, ok, tool};

fn probed_tool(upstream: &Server, more: Value) -> Arc<ToolDefinition> {
    let mut http = json!({"base_url": format!("{}/v1", upstream.url), "path": "/things", "auth": {"env": "KEY"},
        "headers": {"X-Client": "toolgate"}, "retry": {"attempts": 3},
        "probe": {"path": "/healthz?deep=1", "interval_s": 30}});
    if let (Value::Object(http), Value::Object(more)) = (&mut http, more) {
        http.extend(more);
    }
    tool(json!({ "http": http }))
}

async fn probe(executors: &Executors, tool: &Arc<ToolDefinition>) -> Option<ProbeReport> {
    let project = ProjectId::parse("demo").expect("a slug");
    executors.probe(&project, (tool, None), None, None).await;
    executors.probed(&project, &tool.name)
}

#[tokio::test]
async fn a_probe_is_one_request_with_the_credential_of_a_call() {
    let elsewhere = Server::start([Step::Send(ok("{}"))]).await;
    let upstream = Server::start([
        Step::Send(ok("{}")),
        Step::Send(answer(503, &[("retry-after", "0")], "")),
        Step::Send(answer(302, &[("location", &elsewhere.url)], "")),
        Step::Send(answer(401, &[], "")),
        Step::Send(answer(204, &[], "")),
    ])
    .await;
    let executors = executors(&[&upstream.url, &elsewhere.url], &[("KEY", "k-secret-1")]);
    let tool = probed_tool(&upstream, json!({}));
    for (count, (status, failures)) in [(200, 0), (503, 1), (302, 2), (401, 3), (204, 0)]
        .into_iter()
        .enumerate()
    {
        let found = probe(&executors, &tool).await.expect("it was asked");
        assert_eq!(
            (found.succeeded, found.status, found.code, found.failures),
            (failures == 0, Some(status), None, failures)
        );
        assert_eq!(upstream.requests().len(), count + 1, "nothing is tried again");
    }
    assert_eq!(elsewhere.requests().len(), 0, "redirects are not followed");
    let request = upstream.requests().remove(0).to_ascii_lowercase();
    assert!(
        request.starts_with("get /v1/healthz?deep=1 http/1.1\r\n"),
        "{request}"
    );
    for line in ["authorization: bearer k-secret-1", "x-client: toolgate"] {
        assert!(request.contains(line), "{request}");
    }
    let reports = executors.tool_upstreams(&ProjectId::parse("demo").expect("a slug"));
    assert_eq!(reports[0].probe.and_then(|probe| probe.status), Some(204));
    assert_eq!(
        (reports[0].failures, reports[0].in_flight),
        (0, 0),
        "it is no call"
    );
}

#[tokio::test]
async fn a_lost_connection_says_nothing_about_the_upstream() {
    let upstream = Server::start([
        Step::Send(ok("{}")),
        Step::SendAndClose(Vec::new()),
        Step::Send(answer(204, &[], "")),
    ])
    .await;
    let executors = executors(&[&upstream.url], &[("KEY", "k-secret-1")]);
    let tool = probed_tool(&upstream, json!({}));
    for status in [200, 204] {
        let found = probe(&executors, &tool).await.expect("it was asked");
        assert_eq!((found.status, found.failures), (Some(status), 0));
    }
    assert_eq!(upstream.requests().len(), 3);
}

#[tokio::test]
async fn what_keeps_a_call_from_going_out_keeps_a_probe_too() {
    let upstream = Server::start([Step::SendAndClose(Vec::new())]).await;
    let key = [("KEY", "k-secret-1")];
    for (executors, code) in [
        (executors(&["https://a.example"], &key), ErrorCode::EgressDenied),
        (executors(&[&upstream.url], &[]), ErrorCode::ToolUnavailable),
        (executors(&[&upstream.url], &key), ErrorCode::UpstreamUnavailable),
    ] {
        let found = probe(&executors, &probed_tool(&upstream, json!({})))
            .await
            .expect("it was tried");
        assert_eq!(
            (found.succeeded, found.status, found.code),
            (false, None, Some(code))
        );
    }
    let executors = executors(&[&upstream.url], &key);
    assert_eq!(
        probe(&executors, &probed_tool(&upstream, json!({"probe": null}))).await,
        None
    );
}

#[tokio::test]
async fn a_probe_that_succeeds_lets_the_next_call_try() {
    let upstream = Server::start([
        Step::Send(answer(500, &[], "")),
        Step::Send(answer(503, &[], "")),
        Step::Send(ok("{}")),
        Step::Send(ok("{}")),
    ])
    .await;
    let executors = executors(&[&upstream.url], &[("KEY", "k-secret-1")]);
    let more = json!({"retry": {"attempts": 1}, "breaker": {"failures": 1, "open_s": 3600}});
    let tool = probed_tool(&upstream, more);
    let called = async || {
        executors
            .execute(&mut call(&tool, json!({})))
            .await
            .map_err(|failure| failure.code)
    };
    assert_eq!(called().await.err(), Some(ErrorCode::UpstreamUnavailable));
    assert_eq!(
        called().await.err(),
        Some(ErrorCode::ToolUnavailable),
        "it is left alone"
    );
    probe(&executors, &tool).await;
    assert_eq!(
        called().await.err(),
        Some(ErrorCode::ToolUnavailable),
        "it still fails"
    );
    probe(&executors, &tool).await;
    assert_eq!(executors.open_breakers().len(), 1, "a probe alone closes nothing");
    assert!(called().await.is_ok());
    assert_eq!(executors.open_breakers().len(), 0);
}
