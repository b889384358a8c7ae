//! Numbers that fit no machine word arrive with the digits that they were given with.

use axum::Router;
use axum::body::Body;
use axum::http::Method;
use axum::response::IntoResponse;
use axum::routing::post;
use serde_json::Value;

use crate::support::{TestApp, serve};

const BIG: &str = "123456789012345678901234567890";
const NEGATIVE: &str = "-98765432109876543210987654321";
const PRECISE: &str = "0.12345678901234567890123456789";

/// Answers the body it was sent and the query.
async fn mirror() -> String {
    let answer = async |uri: axum::http::Uri, body: String| {
        let query = uri.query().unwrap_or_default().to_owned();
        let text = format!("{{\"sent\":{body},\"query\":\"{query}\",\"own\":{BIG}}}");
        ([("content-type", "application/json")], text).into_response()
    };
    serve(Router::new().route("/mirror", post(answer))).await
}

fn tool(base: &str) -> String {
    format!(
        "name: mirror
type: openapi
description: Answers what it was sent.
parameters:
  type: object
  properties:
    id: {{type: integer, minimum: {NEGATIVE}}}
    ratio: {{type: number}}
    serial: {{type: integer}}
    page: {{type: integer}}
  additionalProperties: false
options:
  args: {{defaults: {{serial: {BIG}}}, fixed: {{page: {BIG}}}}}
  http:
    base_url: \"{base}\"
    path: /mirror
    method: POST
    query: {{page: page}}
    body: {{id: id, ratio: ratio, serial: serial}}
"
    )
}

#[tokio::test]
async fn they_reach_upstream_result_and_record_unchanged() {
    let base = mirror().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &tool(&base))
        .await
        .expect(201);

    let call = format!("{{\"tool\":\"mirror\",\"arguments\":{{\"id\":{NEGATIVE},\"ratio\":{PRECISE}}}}}");
    let json = "application/json";
    let answer = admin
        .body(Method::POST, "/projects/demo/calls", json, call)
        .await
        .expect(200);
    let text = answer.text();
    for part in [
        format!("\"id\":{NEGATIVE}"),
        format!("\"ratio\":{PRECISE}"),
        format!("\"serial\":{BIG}"),
        format!("page={BIG}"),
        format!("\"own\":{BIG}"),
    ] {
        assert!(text.contains(&part), "{part} in {text}");
    }

    let id = answer.json()["call_id"].as_str().expect("an id").to_owned();
    let auditor = app.auditor(&admin).await;
    let record = auditor
        .get(&format!("/projects/demo/audit?id={id}"))
        .await
        .expect(200)
        .text();
    for part in [
        format!("\"id\":{NEGATIVE}"),
        format!("\"serial\":{BIG}"),
        format!("\"page\":{BIG}"),
    ] {
        assert!(record.contains(&part), "{part} in {record}");
    }
    let csv = auditor
        .get(&format!("/projects/demo/audit/export?format=csv&id={id}"))
        .await
        .expect(200)
        .text();
    assert!(csv.contains(NEGATIVE), "{csv}");

    let stored = admin
        .request(Method::GET, "/projects/demo/tools/mirror")
        .header("accept", "application/yaml")
        .body(Body::empty())
        .expect("a request");
    let stored = admin.send(stored).await.expect(200).text();
    assert!(stored.contains(&format!("serial: {BIG}")), "{stored}");
    assert!(stored.contains(&format!("minimum: {NEGATIVE}")), "{stored}");
}

/// One below the least that the schema allows, which no float could distinguish.
#[tokio::test]
async fn they_are_compared_digit_by_digit() {
    let base = mirror().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &tool(&base))
        .await
        .expect(201);
    let json = "application/json";
    let call = format!("{{\"tool\":\"mirror\",\"arguments\":{{\"id\":{NEGATIVE}}}}}");
    admin
        .body(Method::POST, "/projects/demo/calls", json, call)
        .await
        .expect(200);
    let below = NEGATIVE.replace("4321", "4322");
    assert_ne!(below, NEGATIVE);
    let call = format!("{{\"tool\":\"mirror\",\"arguments\":{{\"id\":{below}}}}}");
    let refused = admin.body(Method::POST, "/projects/demo/calls", json, call).await;
    refused.problem(422, "invalid_arguments");
}

/// A request whose key was used with a number that differs in its last digit is another request.
#[tokio::test]
async fn a_repeated_request_has_the_same_digits() {
    let base = mirror().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &tool(&base))
        .await
        .expect(201);
    let send = async |id: &str| {
        let body = format!("{{\"tool\":\"mirror\",\"arguments\":{{\"id\":{id}}}}}");
        let request = admin
            .request(Method::POST, "/projects/demo/calls")
            .header("content-type", "application/json")
            .header("idempotency-key", "same")
            .body(body.into())
            .expect("a request");
        admin.send(request).await
    };
    let first: Value = send(BIG).await.expect(200).json();
    let again = send(BIG).await.expect(200);
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.json()["call_id"], first["call_id"]);
    let other = BIG.replace("7890", "7891");
    send(&other).await.problem(422, "idempotency_mismatch");
}

/// A few bytes can name a number whose digits would fill the memory. It is checked and answered like any other.
#[tokio::test]
async fn numbers_without_measure_are_answered() {
    let base = mirror().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let yaml = tool(&base).replace(
        "ratio: {type: number}",
        "ratio: {type: number, multipleOf: 0.01, maximum: 1000}",
    );
    admin.upload("/projects/demo/tools", &yaml).await.expect(201);
    let long = "9".repeat(10_000);
    for (name, number, status) in [
        ("id", "1e999999999", 200),
        ("ratio", "1e999999999", 422),
        ("ratio", "1e-999999999", 422),
        ("ratio", long.as_str(), 422),
    ] {
        let call = format!("{{\"tool\":\"mirror\",\"arguments\":{{\"{name}\":{number}}}}}");
        let answer = admin
            .body(Method::POST, "/projects/demo/calls", "application/json", call)
            .await;
        answer.expect(status);
    }
}
