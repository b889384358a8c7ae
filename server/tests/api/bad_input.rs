//! Requests that cannot be answered: each gets a problem that says what, where and how to correct it.

use axum::body::Body;
use axum::http::{Method, Request, header};
use serde_json::json;

use crate::support::{Answer, Client, TestApp};

#[tokio::test]
async fn broken_and_unfitting_bodies() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let calls = "/projects/demo/calls";
    let post = |kind: &'static str, body: &str| admin.body(Method::POST, calls, kind, body.to_owned());
    let broken = post("application/json", "{\"tool\": ")
        .await
        .problem(400, "malformed_request");
    assert_eq!(broken["errors"][0]["line"], 1);
    post("application/json", "")
        .await
        .problem(400, "malformed_request");
    let deep = format!(
        "{{\"tool\": \"a\", \"arguments\": {{\"x\": {}",
        "[".repeat(100_000)
    );
    post("application/json", &deep)
        .await
        .problem(400, "malformed_request");
    post("text/plain", "{}")
        .await
        .problem(415, "unsupported_media_type");
    let unknown = post("application/json", "{\"tool\": \"a\",\n \"grup\": []}")
        .await
        .problem(422, "invalid_request");
    assert_eq!(unknown["errors"][0]["line"], 2, "{unknown}");
    post("application/json", "[\"a\", {}]")
        .await
        .problem(422, "invalid_request");
    post("application/json", "{\"tool\": 1}")
        .await
        .problem(422, "invalid_request");
    post("application/json", "{\"tool\": \"a\", \"group\": \"*\"}")
        .await
        .problem(422, "invalid_request");
    post("application/json", "{\"tool\": \"a\", \"arguments\": []}")
        .await
        .problem(422, "invalid_request");
    let long = json!({"tool": "a", "state": "s".repeat(129), "context": {"agent_id": "a".repeat(257)}});
    let problem = admin.post(calls, &long).await.problem(422, "invalid_request");
    assert_eq!(problem["errors"].as_array().unwrap().len(), 2);
    post(
        "application/json",
        &format!("{{\"tool\": \"{}\"}}", "a".repeat(2 << 20)),
    )
    .await
    .problem(413, "payload_too_large");
}

#[tokio::test]
async fn faults_of_queries_and_bodies_are_reported_in_plain_words() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    for (query, expected) in [
        (
            "tools?limit=-1",
            "`limit` is \"-1\"; it must be a whole number, 0 or more",
        ),
        (
            "tools?limit=many",
            "`limit` is \"many\"; it must be a whole number",
        ),
        (
            "tools?enabled=yes",
            "`enabled` is \"yes\"; it must be true or false",
        ),
        (
            "audit?revision=x",
            "`revision` is \"x\"; it must be a whole number",
        ),
    ] {
        let answer = admin.get(&format!("/projects/demo/{query}")).await;
        let problem = answer.problem(400, "malformed_request");
        let detail = problem["detail"].as_str().expect("a sentence");
        assert!(detail.contains(expected), "{query}: {detail}");
    }
    let body = json!({"question": "q", "limit": -1});
    let problem = admin
        .post("/projects/demo/explain", &body)
        .await
        .problem(422, "invalid_request");
    assert!(!problem.to_string().contains("u32"), "{problem}");
}

#[tokio::test]
async fn paths_and_methods() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin.get("/nothing/here").await.problem(404, "not_found");
    let answer = admin.delete("/projects", None).await;
    assert!(answer.header("allow").contains("POST"));
    answer.problem(405, "method_not_allowed");
    for path in [
        "/projects/..%2Fdemo",
        "/projects/demo%00",
        "/projects/%ff",
        "/projects/DEMO/tools",
    ] {
        let answer = admin.get(path).await;
        assert!(
            [400, 404].contains(&answer.status.as_u16()),
            "{path}: {}",
            answer.status
        );
        assert_eq!(
            answer.header("content-type"),
            "application/problem+json",
            "{path}"
        );
    }
}

#[tokio::test]
async fn hosts_that_are_not_ours() {
    let app = TestApp::new().await;
    for (host, status) in [
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost:8080", 200),
        ("127.0.0.1:8080", 200),
    ] {
        let request = Request::builder()
            .uri("/healthz")
            .header(header::HOST, host)
            .body(Body::empty())
            .unwrap();
        assert_eq!(app.send(request).await.status, status, "{host}");
    }
}

#[tokio::test]
async fn every_answer_carries_the_security_headers() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    for path in [
        "/healthz",
        "/projects",
        "/projects/demo/tools",
        "/nothing",
        "/openapi.json",
        "/ui/",
        "/metrics",
    ] {
        let answer = admin.get(path).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert!(
            answer
                .header("content-security-policy")
                .contains("frame-ancestors 'none'"),
            "{path}"
        );
        assert!(!answer.header("x-request-id").is_empty(), "{path}");
    }
}

#[tokio::test]
async fn hostile_uploads_end_quickly_and_clearly() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let tools = "/projects/demo/tools";
    let bombs = [
        "{a: ".repeat(20_000),
        format!(
            "a: &a [{}]\n{}",
            "x,".repeat(100),
            (b'b'..=b'j')
                .map(|c| {
                    let (c, p) = (c as char, (c - 1) as char);
                    format!("{c}: &{c} [*{p},*{p},*{p},*{p},*{p},*{p},*{p},*{p},*{p}]\n")
                })
                .collect::<String>()
        ),
        "name: a\nname: b\n".to_owned(),
        "name: !!python/object:os.system x\n".to_owned(),
        "\u{0}".to_owned(),
        String::new(),
        "- - - -".to_owned(),
    ];
    for bomb in bombs {
        let problem = admin
            .upload(tools, &bomb)
            .await
            .problem(422, "invalid_definition");
        assert!(!problem["errors"].as_array().unwrap().is_empty());
    }
    admin
        .upload(tools, &format!("# {}\n", "x".repeat(2 << 20)))
        .await
        .problem(413, "payload_too_large");
}

/// Wherever an address may be named, one with a password is refused, and the answer does not repeat it.
#[tokio::test]
async fn a_password_in_an_address_is_refused_without_repeating_it() {
    const PASSWORD: &str = "hunter2-of-the-owner";
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let project = |path: &str| format!("/projects/demo/{path}");
    // The second is so long that messages cut it off, the third has characters that end an authority.
    for user in [
        format!("user:{PASSWORD}"),
        format!("{}:{PASSWORD}", "u".repeat(30)),
        format!("user:a/b?{PASSWORD}#c"),
        format!("user:{PASSWORD}\\\""),
    ] {
        let address = format!("https://{user}@api.example.com");
        let tool = |options: serde_json::Value| json!({"name": "a", "type": "openapi", "description": "A.", "parameters": {"type": "object"}, "options": options});
        let http = tool(json!({"http": {"base_url": address, "path": "/"}}));
        let jina = tool(json!({"jina": {"mode": "read", "base_url": address}}));
        let description = json!({"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "servers": [{"url": address}],
            "paths": {"/x": {"get": {"operationId": "x", "responses": {}}}}});
        let query = format!("imports?base_url={}", percent(&address));
        let document = format!("imports?document_url={}", percent(&address));
        let fetched = format!("imports?url={}", percent(&address));
        let answers = [
            admin.post(&project("tools"), &http).await,
            admin.post(&project("tools"), &jina).await,
            admin.post(&project("definitions/check"), &http).await,
            admin.upload(&project("tools"), &http.to_string()).await,
            admin.post(&project("imports"), &description).await,
            admin.post(&project(&query), &description).await,
            admin.post(&project(&document), &description).await,
            admin.post(&project(&fetched), &json!(null)).await,
            replace(&admin, &project("egress"), &json!({"hosts": [address]})).await,
            replace(&admin, &project("egress"), &json!({"hosts": address})).await,
            replace(&admin, &project("settings"), &json!({"agent_endpoint": address})).await,
            replace(
                &admin,
                &project("settings"),
                &json!({"webhook": {"url": address, "secret": "S"}}),
            )
            .await,
            replace(&admin, &project("settings"), &json!({"webhook": address})).await,
            admin.post("/projects", &json!({"id": address})).await,
        ];
        for (at, answer) in answers.iter().enumerate() {
            let text = answer.text();
            assert!(!text.contains(PASSWORD), "answer {at} to {address}: {text}");
        }
    }
}

fn percent(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

async fn replace(client: &Client<'_>, path: &str, body: &serde_json::Value) -> Answer {
    client
        .send_json(Method::PUT, path, &[(header::IF_MATCH, "*")], body)
        .await
}
