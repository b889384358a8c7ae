//! An upstream that fails again and again becomes an alert, by its calls and by its probes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use axum::Router;
use axum::http::StatusCode;
use serde_json::json;
use toolgate::gateway::{observe, probes};

use super::{ALERTS, listed, settings};
use crate::support::{TestApp, serve, tool};

#[tokio::test]
async fn calls_that_fail_in_a_row_are_one_alert_until_the_upstream_answers() {
    let status = Arc::new(AtomicU16::new(503));
    let answer = Arc::clone(&status);
    let fallback =
        move || async move { StatusCode::from_u16(answer.load(Ordering::Relaxed)).expect("a status") };
    let base = serve(Router::new().fallback(fallback)).await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    settings(&admin, json!({"alerts": {"upstream_failures": 2}})).await;
    let tools = format!(
        "{}---\n{}",
        tool("a", &base, "/x", ""),
        tool("b", &base, "/y", "")
    );
    admin.upload("/projects/demo/tools", &tools).await.expect(201);
    // The calls of two tools, so that the circuit breaker of neither opens.
    let call = async |name: &str| {
        let path = "/projects/demo/calls";
        admin
            .post(path, &json!({ "tool": name }))
            .await
            .expect(200)
            .json()
    };
    let raised = async || {
        observe::flush(&app.gateway).await.expect("stored");
        listed(&admin, ALERTS).await.len()
    };

    call("a").await;
    assert_eq!(raised().await, 0, "once is not often");
    call("b").await;
    assert_eq!(raised().await, 1);
    let alert = &listed(&admin, ALERTS).await[0];
    assert_eq!(alert["rule"], "upstream_failures");
    assert_eq!(alert["subject"], "upstream:127.0.0.1");
    assert_eq!(
        alert["message"],
        "The upstream 127.0.0.1 failed 2 times in a row."
    );
    let waits = admin.get("/projects/demo/notifications").await.expect(200).json();
    assert_eq!(waits["items"][0]["text"], alert["message"], "it is in the bell");

    app.later(600);
    call("a").await;
    assert_eq!(
        raised().await,
        1,
        "it is the same failure, although the window is over"
    );

    status.store(200, Ordering::Relaxed);
    call("a").await;
    assert_eq!(raised().await, 1);
    status.store(500, Ordering::Relaxed);
    call("a").await;
    call("b").await;
    assert_eq!(raised().await, 2, "after an answer its failures are new");
}

#[tokio::test]
async fn probes_that_fail_in_a_row_are_an_alert() {
    let base = serve(Router::new().fallback(|| async { StatusCode::SERVICE_UNAVAILABLE })).await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    settings(&admin, json!({"alerts": {"upstream_failures": 2}})).await;
    let definition = format!(
        "name: watched\ntype: openapi\ndescription: Calls.\noptions:\n  http: {{base_url: \"{base}\", probe: {{path: /healthz, \
         interval_s: 30}}}}\n"
    );
    admin
        .upload("/projects/demo/tools", &definition)
        .await
        .expect(201);
    probes::run_due(&app.gateway).await;
    for expected in [0, 1] {
        app.later(33);
        probes::run_due(&app.gateway).await;
        observe::flush(&app.gateway).await.expect("stored");
        assert_eq!(listed(&admin, ALERTS).await.len(), expected);
    }
    assert_eq!(listed(&admin, ALERTS).await[0]["subject"], "probe:watched");
}

#[tokio::test]
async fn a_threshold_of_zero_reports_no_upstream() {
    // Nothing listens on the discard port of this machine.
    let dead = "http://127.0.0.1:9";
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", dead)]).await;
    let admin = app.demo().await;
    settings(&admin, json!({"alerts": {"upstream_failures": 0}})).await;
    admin
        .upload("/projects/demo/tools", &tool("a", dead, "/x", ""))
        .await
        .expect(201);
    admin
        .post("/projects/demo/calls", &json!({"tool": "a"}))
        .await
        .expect(200);
    observe::flush(&app.gateway).await.expect("stored");
    assert_eq!(listed(&admin, ALERTS).await.len(), 0);
}
