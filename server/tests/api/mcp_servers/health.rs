//! How the connections are, in the server's status and in its metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{Reply, SERVERS, Upstream, put};
use crate::support::{Client, TestApp};

async fn check(client: &Client<'_>, path: &str) -> Option<Value> {
    let status = client.get(path).await.expect(200).json();
    let checks = status["checks"].as_array().expect("checks").clone();
    checks
        .into_iter()
        .find(|check| check["id"] == "mcp_server:demo:weather")
}

async fn metric(app: &TestApp) -> Vec<String> {
    let text = app.anonymous().get("/metrics").await.expect(200).text();
    let lines = text
        .lines()
        .filter(|line| line.starts_with("agent_mcp_connections{"));
    lines.map(str::to_owned).collect()
}

#[tokio::test]
async fn a_failed_connection_is_in_the_status_of_its_project_and_in_the_metrics() {
    let is_down = Arc::new(AtomicBool::new(true));
    let down = Arc::clone(&is_down);
    let upstream = Upstream::new(move |_| {
        let busy = || Reply::Body(StatusCode::SERVICE_UNAVAILABLE, "text/plain", b"closed".to_vec());
        down.load(Ordering::Acquire).then(busy)
    })
    .await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &upstream.url)]).await;
    let admin = app.demo().await;
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    put(&admin, "weather", json!({"url": upstream.url})).await;
    put(&admin, "unused", json!({"url": upstream.url, "enabled": false})).await;
    let test = format!("{SERVERS}/weather/test");
    assert_eq!(
        admin.post(&test, &json!({})).await.expect(200).json()["ok"],
        false
    );

    let found = check(&admin, "/status")
        .await
        .expect("the server's status has it");
    assert_eq!(found["status"], "failing", "{found}");
    let summary = found["summary"].as_str().expect("words");
    for part in ["upstream_unavailable", "HTTP 503"] {
        assert!(summary.contains(part), "{summary}");
    }
    let auditor = app.key(&admin, "demo", "auditor", &[]).await;
    assert_eq!(check(&auditor, "/status?project_id=demo").await, Some(found));
    assert_eq!(check(&admin, "/status?project_id=other").await, None);
    assert_eq!(
        metric(&app).await,
        [
            r#"agent_mcp_connections{project="demo",server="unused",state="unavailable"} 1"#,
            r#"agent_mcp_connections{project="demo",server="weather",state="failed"} 1"#,
        ]
    );

    is_down.store(false, Ordering::Release);
    assert_eq!(admin.post(&test, &json!({})).await.expect(200).json()["ok"], true);
    let found = check(&admin, "/status?project_id=demo").await.expect("it stays");
    assert_eq!(
        found["status"], "warning",
        "its last error is worth a look: {found}"
    );
    assert!(
        found["summary"].as_str().expect("words").contains("is connected"),
        "{found}"
    );
    assert_eq!(
        metric(&app).await[1],
        r#"agent_mcp_connections{project="demo",server="weather",state="connected"} 1"#
    );
}
