//! Results that are too large for an answer are kept whole, for those who may read them.

use axum::Router;
use axum::http::{HeaderMap, header};
use axum::routing::get;
use serde_json::{Value, json};

use crate::support::{Answer, Client, TestApp, serve};

const CALLS: &str = "/projects/demo/calls";
const SECRET: &str = "s3cret-of-the-upstream";

/// An upstream with large answers of each kind, which repeats the credential that it gets.
async fn upstream() -> String {
    let shown = |headers: &HeaderMap| {
        let sent = headers.get(header::AUTHORIZATION);
        sent.map_or_else(String::new, |sent| {
            String::from_utf8_lossy(sent.as_bytes()).into_owned()
        })
    };
    let list = move |headers: HeaderMap| async move {
        let items: Vec<Value> = (0..100).map(|n| json!({"id": n})).collect();
        axum::Json(json!({"items": items, "you_sent": shown(&headers)}))
    };
    let text = move |headers: HeaderMap| async move { format!("{} {}", shown(&headers), "é".repeat(400)) };
    let bytes = move |headers: HeaderMap| async move {
        let mut body = vec![0xff; 400];
        body.extend(shown(&headers).as_bytes());
        ([(header::CONTENT_TYPE, "image/svg+xml; charset=none")], body)
    };
    serve(
        Router::new()
            .route("/list", get(list))
            .route("/text", get(text))
            .route("/bytes", get(bytes)),
    )
    .await
}

async fn demo(app: &TestApp, base: &str) -> Vec<String> {
    let admin = app.demo().await;
    let secret = json!({ "value": SECRET });
    let set = admin.body(
        axum::http::Method::PUT,
        "/projects/demo/secrets/KEY",
        "application/json",
        secret.to_string(),
    );
    set.await.expect(201);
    let tools = [
        ("object", "/list", json!({"max_bytes": 200, "beyond": "keep"})),
        (
            "items",
            "/list",
            json!({"max_bytes": 200, "beyond": "keep", "select": "$.items[*].id", "keep_s": 60}),
        ),
        ("text", "/text", json!({"max_bytes": 200, "beyond": "keep"})),
        ("bytes", "/bytes", json!({"max_bytes": 200, "beyond": "keep"})),
        ("small", "/list", json!({"max_bytes": 100_000, "beyond": "keep"})),
    ];
    for (name, path, result) in &tools {
        let tool = json!({"name": name, "type": "openapi", "description": "Asks.", "parameters": {"type": "object"},
            "output_schema": {"type": ["object", "array"], "items": {"type": "integer"}},
            "options": {"http": {"base_url": base, "path": path, "result": result, "auth": {"env": "secret:KEY"},
                "cache": {"ttl_s": 3600}}}});
        admin.post("/projects/demo/tools", &tool).await.expect(201);
    }
    tools.iter().map(|(name, ..)| (*name).to_owned()).collect()
}

fn settings(base: &str) -> [(&'static str, &str); 2] {
    [
        ("TOOLGATE_EGRESS_ALLOW", base),
        (
            "TOOLGATE_SECRETS_KEY",
            "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=",
        ),
    ]
}

async fn call(client: &Client<'_>, tool: &str) -> Value {
    let answer = client
        .post(CALLS, &json!({"tool": tool}))
        .await
        .expect(200)
        .json();
    assert_eq!(answer["status"], "succeeded", "{answer}");
    answer
}

async fn whole(client: &Client<'_>, answer: &Value) -> Answer {
    let href = answer["notes"]["artifact"]["href"].as_str().expect("a link");
    client.get(href).await
}

#[tokio::test]
async fn what_is_too_large_is_kept_whole() {
    let base = upstream().await;
    let app = TestApp::with(&settings(&base)).await;
    demo(&app, &base).await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["*"]).await;

    // An object cannot be cut, a list can.
    let answer = call(&agent, "object").await;
    assert_eq!(answer["result"], Value::Null);
    let note = &answer["notes"]["artifact"];
    assert_eq!(note["content_type"], "application/json");
    assert!(
        answer["notes"].get("warnings").is_none(),
        "the whole fits its schema: {answer}"
    );
    let file = whole(&agent, &answer).await.expect(200);
    assert_eq!(note["bytes"], file.body.len());
    assert_eq!(answer["notes"]["truncated"]["total_bytes"], file.body.len());
    assert_eq!(file.json()["items"].as_array().map(Vec::len), Some(100));
    assert_eq!(file.json()["you_sent"], "Bearer [redacted]");
    let disposition = file.header("content-disposition");
    assert!(
        disposition.starts_with("attachment; filename=\"demo-") && disposition.ends_with(".json\""),
        "{disposition}"
    );
    for (name, value) in [
        ("content-type", "application/json"),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        (
            "content-security-policy",
            "default-src 'none'; sandbox; frame-ancestors 'none'",
        ),
    ] {
        assert_eq!(file.header(name), value, "{name}");
    }
    let etag = file.header("etag").to_owned();
    let again = agent
        .open(
            note["href"].as_str().expect("a link"),
            &[("if-none-match", &etag)],
        )
        .await;
    assert_eq!(again.status(), 304);

    let answer = call(&agent, "items").await;
    let head = answer["result"].as_array().expect("a list");
    assert!(!head.is_empty() && head.len() < 100);
    let all: Vec<u64> = (0..100).collect();
    assert_eq!(whole(&agent, &answer).await.expect(200).json(), json!(all));

    let answer = call(&agent, "text").await;
    let head = answer["result"]["text"].as_str().expect("a text");
    let file = whole(&agent, &answer).await.expect(200);
    assert_eq!(file.header("content-type"), "text/plain; charset=utf-8");
    assert!(file.text().starts_with(head) && file.text().ends_with("éé"));
    assert!(file.text().starts_with("Bearer [redacted] "));

    let answer = call(&agent, "bytes").await;
    assert_eq!(answer["result"], Value::Null);
    let file = whole(&agent, &answer).await.expect(200);
    assert_eq!(file.header("content-type"), "image/svg+xml");
    assert_eq!(file.body, [&[0xff; 400][..], b"Bearer [redacted]"].concat());

    let answer = call(&agent, "small").await;
    assert_eq!(answer.get("notes"), None);

    // By the tool's own address, too.
    let answer = agent
        .post("/projects/demo/tools/object/invoke", &json!({}))
        .await
        .expect(200);
    assert_eq!(answer.json(), Value::Null);
    let href = answer.header("toolgate-artifact").to_owned();
    agent.get(&href).await.expect(200);
}

#[tokio::test]
async fn an_artifact_is_for_its_caller_and_for_auditors_until_it_expires() {
    let base = upstream().await;
    let app = TestApp::with(&settings(&base)).await;
    demo(&app, &base).await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["*"]).await;
    let other = app.key(&admin, "demo", "agent", &["*"]).await;
    let owner = app.key(&admin, "demo", "owner", &["*"]).await;
    let auditor = app.auditor(&admin).await;
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);

    let answer = call(&agent, "items").await;
    let id = answer["notes"]["artifact"]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    for reader in [&agent, &auditor] {
        whole(reader, &answer).await.expect(200);
    }
    for stranger in [&other, &owner] {
        whole(stranger, &answer).await.problem(404, "not_found");
    }
    // What the cache serves is the artifact of the principal that was served.
    let served = call(&other, "items").await;
    assert_ne!(served["notes"]["artifact"]["id"], id);
    assert_eq!(served["result"], answer["result"]);
    whole(&other, &served).await.expect(200);
    whole(&agent, &served).await.problem(404, "not_found");
    let elsewhere = format!("/projects/other/artifacts/{id}");
    admin.get(&elsewhere).await.problem(404, "not_found");

    // The record names it.
    let path = format!(
        "/projects/demo/audit/{}",
        answer["call_id"].as_str().expect("an id")
    );
    for reader in [&auditor, &owner] {
        assert_eq!(reader.get(&path).await.expect(200).json()["artifact_id"], id);
    }
    let verified = app.gateway.store.verify_chains().await.expect("reports");
    assert!(verified.iter().all(|report| report.fault.is_none()));

    let lasting = call(&agent, "text").await;
    app.later(61);
    whole(&agent, &answer).await.problem(404, "not_found");
    whole(&agent, &lasting).await.expect(200);
    let now = app.gateway.clock.now();
    assert_eq!(app.gateway.store.prune_artifacts(now).await.expect("pruned"), 2);
    app.later(24 * 3600);
    whole(&agent, &lasting).await.problem(404, "not_found");
}

#[tokio::test]
async fn warnings_are_in_the_record_for_those_who_may_read_payloads() {
    let base = upstream().await;
    let app = TestApp::with(&settings(&base)).await;
    let admin = app.demo().await;
    let auditor = app.auditor(&admin).await;
    let tool = json!({"name": "misfits", "type": "openapi", "description": "Asks.", "parameters": {"type": "object"},
        "output_schema": {"type": "array", "items": {"type": "string"}},
        "options": {"http": {"base_url": base, "path": "/list",
            "result": {"select": "$.items[:2].id"}}}});
    admin.post("/projects/demo/tools", &tool).await.expect(201);
    let answer = call(&admin, "misfits").await;
    let warnings = &answer["notes"]["warnings"];
    assert_eq!(warnings.as_array().map(Vec::len), Some(2));
    let path = format!(
        "/projects/demo/audit/{}",
        answer["call_id"].as_str().expect("an id")
    );
    let record = auditor.get(&path).await.expect(200).json();
    assert_eq!(&record["warnings"], warnings);
    assert!(record.get("artifact_id").is_none());
    let owner = app.key(&admin, "demo", "owner", &["*"]).await;
    let record = owner.get(&path).await.expect(200).json();
    assert_eq!(
        (record.get("warnings"), &record["payloads_hidden"]),
        (None, &json!(true))
    );
    let verified = app.gateway.store.verify_chains().await.expect("reports");
    assert!(verified.iter().all(|report| report.fault.is_none()));
}
