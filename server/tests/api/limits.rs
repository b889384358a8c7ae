//! Limits: who is stopped by which, what callers are answered, and what is recorded.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::http::{Method, header};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::postgres::new_database;
use crate::support::{Answer, Client, TestApp, echo, serve, tool};

const PATH: &str = "/projects/demo/limits";
const CALLS: &str = "/projects/demo/calls";

async fn put(client: &Client<'_>, if_match: &str, limits: &Value) -> Answer {
    let request = client
        .request(Method::PUT, PATH)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::IF_MATCH, if_match)
        .body(json!({ "limits": limits }).to_string().into());
    client.send(request.expect("a request")).await
}

/// A project with the tool `search`, and its limits.
async fn limited<'a>(app: &'a TestApp, base: &str, more: &str, limits: &Value) -> Client<'a> {
    let admin = app.demo().await;
    admin
        .upload("/projects/demo/tools", &tool("search", base, "/search", more))
        .await
        .expect(201);
    put(&admin, "*", limits).await.expect(200);
    admin
}

fn per_key(count: u32) -> Value {
    json!([{"name": "per-key", "subject": {"kind": "each_key"}, "requests": {"count": count, "per_s": 3600}}])
}

#[tokio::test]
async fn limits_are_replaced_whole_by_revision_and_checked() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let first = admin.get(PATH).await.expect(200);
    assert_eq!(
        (first.header("etag"), first.json()),
        ("\"r0\"", json!({"limits": []}))
    );
    let limits = json!([
        {"name": "all", "subject": {"kind": "project"}, "concurrency": 3},
        {"name": "costly", "subject": {"kind": "group", "group": "costly"}, "requests": {"count": 1, "per_s": 1}},
    ]);
    put(&admin, "\"r0\"", &limits).await.expect(200);
    put(&admin, "\"r0\"", &limits)
        .await
        .problem(412, "precondition_failed");
    let read = admin.get(PATH).await.expect(200);
    assert_eq!(
        (read.header("etag"), read.json()),
        ("\"r1\"", json!({"limits": limits}))
    );

    let wrong = json!([{"name": "x", "subject": {"kind": "principal", "principal": "me"}}]);
    let problem = put(&admin, "*", &wrong).await.problem(422, "invalid_request");
    let pointers: Vec<&Value> = problem["errors"]
        .as_array()
        .expect("errors")
        .iter()
        .map(|error| &error["pointer"])
        .collect();
    assert_eq!(pointers, ["/limits/0", "/limits/0/subject/principal"]);
    let unknown = json!([{"name": "x", "subject": {"kind": "everybody"}, "concurrency": 1}]);
    put(&admin, "*", &unknown).await.problem(422, "invalid_request");

    let app = app.restart(&[]).await;
    assert_eq!(
        app.admin().await.get(PATH).await.json(),
        json!({"limits": limits})
    );
}

#[tokio::test]
async fn a_key_that_has_used_its_limit_waits_and_no_other() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = limited(&app, &base, "", &per_key(2)).await;
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    let other = app.key(&admin, "demo", "agent", &["default"]).await;

    // What is denied does not count, and neither do questions.
    agent
        .post(CALLS, &json!({"tool": "none"}))
        .await
        .problem(404, "tool_not_found");
    agent
        .post(CALLS, &json!({"tool": "search", "arguments": {"x": 1}}))
        .await
        .problem(422, "invalid_arguments");
    agent.post("/projects/demo/resolve", &json!({})).await.expect(200);

    for left in [1, 0] {
        let answer = agent.post(CALLS, &json!({"tool": "search"})).await.expect(200);
        assert_eq!(answer.header("ratelimit-policy"), "\"per-key\";q=2;w=3600");
        let standing = answer.header("ratelimit").to_owned();
        assert!(
            standing.starts_with(&format!("\"per-key\";r={left};t=")),
            "{standing}"
        );
    }
    let refused = agent.post(CALLS, &json!({"tool": "search"})).await;
    let retry_after: u32 = refused.header("retry-after").parse().expect("seconds");
    assert!((1790..=1800).contains(&retry_after), "{retry_after}");
    assert!(refused.header("ratelimit").starts_with("\"per-key\";r=0;t=3"));
    let problem = refused.problem(429, "rate_limited");
    assert!(
        problem["detail"].as_str().expect("text").contains("\"per-key\""),
        "{problem}"
    );
    assert_eq!(problem["retryable"], true);

    let path = format!(
        "/projects/demo/audit?id={}",
        problem["call_id"].as_str().expect("an id")
    );
    let record = admin.get(&path).await.expect(200).json()["items"][0].clone();
    assert_eq!(
        (&record["outcome"], &record["code"]),
        (&json!("denied"), &json!("rate_limited"))
    );

    other.post(CALLS, &json!({"tool": "search"})).await.expect(200);
    let admins = admin.post(CALLS, &json!({"tool": "search"})).await.expect(200);
    assert_eq!(admins.header("ratelimit"), "", "no limit applies to users");

    let usage = admin.get("/projects/demo/limits/usage").await.expect(200).json();
    assert_eq!(usage["servers"], 1);
    let items = usage["items"].as_array().expect("items");
    assert_eq!(items.len(), 2, "{usage}");
    assert_eq!(
        (&items[0]["remaining"], &items[1]["remaining"]),
        (&json!(0), &json!(1))
    );
    assert!(
        items[0]["principal"]
            .as_str()
            .expect("text")
            .starts_with("service_key:")
    );

    // A wider limit of the same name keeps what is used; without limits there are no headers.
    put(&admin, "*", &per_key(3)).await.expect(200);
    agent.post(CALLS, &json!({"tool": "search"})).await.expect(200);
    agent
        .post(CALLS, &json!({"tool": "search"}))
        .await
        .problem(429, "rate_limited");
    put(&admin, "*", &json!([])).await.expect(200);
    let free = agent.post(CALLS, &json!({"tool": "search"})).await.expect(200);
    assert_eq!(free.header("ratelimit-policy"), "");
}

#[tokio::test]
async fn a_limit_of_a_group_holds_whichever_group_is_asked_for() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let limits = json!([
        {"name": "costly", "subject": {"kind": "group", "group": "costly"}, "requests": {"count": 1, "per_s": 3600}},
        {"name": "tool", "subject": {"kind": "tool", "tool": "other"}, "requests": {"count": 1, "per_s": 3600}},
    ]);
    let admin = limited(&app, &base, "group: [knowledge, costly/search]\n", &limits).await;
    admin
        .upload(
            "/projects/demo/tools",
            &tool("other", &base, "/other", "group: [knowledge]\n"),
        )
        .await
        .expect(201);
    let call = |name: &str, group: &str| json!({"tool": name, "group": [group]});
    admin.post(CALLS, &call("search", "knowledge")).await.expect(200);
    admin
        .post(CALLS, &call("search", "costly"))
        .await
        .problem(429, "rate_limited");
    admin.post(CALLS, &call("other", "knowledge")).await.expect(200);
    admin
        .post(CALLS, &call("other", "*"))
        .await
        .problem(429, "rate_limited");
}

#[tokio::test]
async fn only_so_many_calls_run_at_the_same_time() {
    let (started, release) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (seen, gate) = (Arc::clone(&started), Arc::clone(&release));
    let hold = move || {
        let (seen, gate) = (Arc::clone(&seen), Arc::clone(&gate));
        async move {
            seen.add_permits(1);
            gate.acquire().await.expect("open").forget();
            "done"
        }
    };
    let base = serve(Router::new().fallback(hold)).await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let limits = json!([{"name": "all", "subject": {"kind": "project"}, "concurrency": 1}]);
    let admin = limited(&app, &base, "", &limits).await;
    let body = json!({"tool": "search"});

    let first = admin.post(CALLS, &body);
    let second = async {
        started.acquire().await.expect("open").forget();
        let refused = admin.post(CALLS, &body).await;
        assert_eq!(
            refused.header("ratelimit-policy"),
            "\"all:concurrency\";q=1;qu=\"concurrent-requests\""
        );
        assert_eq!(refused.header("ratelimit"), "\"all:concurrency\";r=0");
        assert_eq!(refused.header("retry-after"), "1");
        refused.problem(429, "concurrency_limited");
        let usage = admin.get("/projects/demo/limits/usage").await.json();
        assert_eq!(usage["items"], json!([{"limit": "all", "running": 1}]));
        release.add_permits(1);
    };
    let (first, ()) = tokio::join!(first, second);
    first.expect(200);
    release.add_permits(1);
    admin.post(CALLS, &body).await.expect(200);
    let usage = admin.get("/projects/demo/limits/usage").await.json();
    assert_eq!(usage["items"], json!([]), "what has ended takes no place");
}

#[tokio::test]
async fn agent_requests_count_and_are_recorded() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let limits = json!([
        {"name": "mine", "subject": {"kind": "each_principal"}, "requests": {"count": 1, "per_s": 3600}, "concurrency": 5},
        {"name": "tool", "subject": {"kind": "tool", "tool": "x"}, "requests": {"count": 1, "per_s": 3600}},
    ]);
    put(&admin, "*", &limits).await.expect(200);
    let path = "/projects/demo/agent-requests";
    admin.post(path, &json!({"question": "who?"})).await.expect(200);
    let problem = admin
        .post(path, &json!({"question": "who?"}))
        .await
        .problem(429, "rate_limited");
    let record = format!(
        "/projects/demo/audit?id={}",
        problem["call_id"].as_str().expect("an id")
    );
    let record = admin.get(&record).await.expect(200).json();
    assert_eq!(record["items"][0]["code"], "rate_limited");
    let usage = admin.get("/projects/demo/limits/usage").await.json();
    assert_eq!(usage["items"][0]["running"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_share_a_limit_in_equal_parts() {
    let base = echo().await;
    let url = new_database().await;
    let settings = [
        ("TOOLGATE_EGRESS_ALLOW", base.as_str()),
        ("TOOLGATE_DATABASE_URL", &url),
    ];
    let first = TestApp::with(&settings).await;
    let admin = limited(
        &first,
        &base,
        "",
        &json!([
            {"name": "all", "subject": {"kind": "project"}, "requests": {"count": 4, "per_s": 3600}},
        ]),
    )
    .await;
    let second = TestApp::with(&settings).await;
    assert_eq!(
        second.gateway.servers.load(Ordering::Relaxed),
        2,
        "known from its start"
    );
    // The first one learns it with its next heartbeat.
    first.gateway.servers.store(2, Ordering::Relaxed);
    let there = second.client(admin.token.clone().expect("a token"));
    for client in [&admin, &there] {
        for _ in 0..2 {
            client.post(CALLS, &json!({"tool": "search"})).await.expect(200);
        }
        client
            .post(CALLS, &json!({"tool": "search"}))
            .await
            .problem(429, "rate_limited");
    }
}

#[tokio::test]
async fn guessing_a_password_is_stopped_for_a_while() {
    let app = TestApp::new().await;
    let wrong = json!({"username": "admin", "password": "wrong"});
    for _ in 0..10 {
        app.anonymous()
            .post("/auth/login", &wrong)
            .await
            .problem(401, "unauthenticated");
    }
    let refused = app.anonymous().post("/auth/login", &wrong).await;
    // The attempts themselves take some of the half minute.
    let wait: u32 = refused.header("retry-after").parse().unwrap();
    assert!((1..=30).contains(&wait), "{wait}");
    refused.problem(429, "rate_limited");
    let other = json!({"username": "somebody", "password": "wrong"});
    app.anonymous()
        .post("/auth/login", &other)
        .await
        .problem(401, "unauthenticated");
}
