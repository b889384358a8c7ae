//! The upstreams of a project's tools, and what definitions say about them.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::any;
use serde_json::{Value, json};

use crate::support::{TestApp, serve, tool};

const CALLS: &str = "/projects/demo/calls";
const UPSTREAMS: &str = "/projects/demo/upstreams";

#[tokio::test]
async fn an_upstream_that_fails_is_left_alone_and_seen() {
    let fails = any(|| async { StatusCode::INTERNAL_SERVER_ERROR });
    let base = serve(Router::new().route("/fails", fails).fallback(|| async { "fine" })).await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let empty = admin.get(UPSTREAMS).await.expect(200).json();
    assert_eq!(empty, json!({"tools": [], "hosts": []}));
    let broken = format!(
        "name: broken\ntype: openapi\ndescription: Fails.\noptions:\n  http: {{base_url: \"{base}\", path: /fails, breaker: \
         {{failures: 2, open_s: 60}}}}\n"
    );
    for definition in [broken, tool("fine", &base, "/", "")] {
        admin
            .upload("/projects/demo/tools", &definition)
            .await
            .expect(201);
    }
    let call = async |tool: &str| {
        let answer = admin.post(CALLS, &json!({"tool": tool})).await.expect(200).json();
        answer["error"]["code"].clone()
    };
    assert_eq!(call("fine").await, Value::Null);
    for code in ["upstream_unavailable", "upstream_unavailable", "tool_unavailable"] {
        assert_eq!(call("broken").await, code);
    }
    let seen = admin.get(UPSTREAMS).await.expect(200).json();
    let [broken, fine] = &seen["tools"].as_array().expect("tools")[..] else {
        panic!("two tools were called: {seen}")
    };
    assert_eq!(
        (&broken["tool"], &broken["state"]),
        (&json!("broken"), &json!("open"))
    );
    assert_eq!(
        (&broken["failures"], &broken["in_flight"]),
        (&json!(2), &json!(0))
    );
    assert!(
        broken["retry_in_s"]
            .as_u64()
            .is_some_and(|seconds| (1..=60).contains(&seconds))
    );
    assert!(broken["since"].is_string());
    assert_eq!(
        (&fine["tool"], &fine["state"]),
        (&json!("fine"), &json!("closed"))
    );
    assert!(fine.get("since").is_none() && fine.get("retry_in_s").is_none());
    assert_eq!(seen["hosts"][0]["host"], "127.0.0.1");
    assert_eq!(seen["hosts"][0]["failures_last_hour"], 2);

    let metrics = admin.get("/metrics").await.expect(200).text();
    assert!(metrics.contains("\ntoolgate_open_breakers 1\n"), "{metrics}");

    // What is not defined any more is not shown.
    admin
        .delete("/projects/demo/tools/broken", Some("*"))
        .await
        .expect(204);
    let seen = admin.get(UPSTREAMS).await.expect(200).json();
    assert_eq!(seen["tools"].as_array().map(Vec::len), Some(1));
}
