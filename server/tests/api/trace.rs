//! The W3C trace context of a caller reaches the tool, also when this server makes no traces.

use axum::body::Body;
use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::support::{TestApp, echo, tool};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[tokio::test]
async fn a_trace_is_handed_on_as_it_came() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &tool("a", &base, "/x", ""))
        .await
        .expect(201);
    let sent = async |parent: Option<&str>| {
        let mut request = admin
            .request(Method::POST, "/projects/demo/calls")
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(parent) = parent {
            request = request
                .header("traceparent", parent)
                .header("tracestate", "vendor=1");
        }
        let body = Body::from(json!({"tool": "a"}).to_string());
        let answer = admin
            .send(request.body(body).expect("a request"))
            .await
            .expect(200);
        let headers = answer.json()["result"]["headers"].clone();
        (headers["traceparent"].clone(), headers["tracestate"].clone())
    };
    assert_eq!(sent(Some(PARENT)).await, (json!(PARENT), json!("vendor=1")));
    assert_eq!(sent(Some("nonsense")).await, (Value::Null, Value::Null));
    assert_eq!(sent(None).await, (Value::Null, Value::Null));
}
