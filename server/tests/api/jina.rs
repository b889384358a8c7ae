//! Jina's search and reader through the whole gateway, with the example definitions.

use serde_json::{Value, json};

use crate::jina_hosts::{BROKE_KEY, JinaStandIn, VALID_KEY};
use crate::support::{Client, TestApp};

const EXAMPLE: &str = include_str!("../../../openapi/examples/jina.yaml");

/// The example's tools, pointed at the stand-in of the two hosts.
async fn with_hosts(hosts: &JinaStandIn, key: &str) -> TestApp {
    let allowed = format!("{},{}", hosts.search, hosts.reader);
    let settings = [
        ("TOOLGATE_EGRESS_ALLOW", allowed.as_str()),
        ("TOOLGATE_TOOL_ENV", "JINA_API_KEY"),
        ("JINA_API_KEY", key),
    ];
    let app = TestApp::with(&settings).await;
    let yaml = EXAMPLE
        .replace("https://s.jina.ai", &hosts.search)
        .replace("https://r.jina.ai", &hosts.reader);
    app.demo()
        .await
        .upload("/projects/demo/tools", &yaml)
        .await
        .expect(201);
    app
}

async fn call(client: &Client<'_>, tool: &str, arguments: Value) -> Value {
    let request = json!({"tool": tool, "group": ["web"], "arguments": arguments});
    client
        .post("/projects/demo/calls", &request)
        .await
        .expect(200)
        .json()
}

#[tokio::test]
async fn search_and_reader_answer_with_data_and_usage() {
    let hosts = JinaStandIn::start().await;
    let app = with_hosts(&hosts, VALID_KEY).await;
    let admin = app.admin().await;

    let found = call(&admin, "web-search", json!({"query": "rust"})).await;
    assert_eq!(found["status"], "succeeded", "{found}");
    assert_eq!(
        found["result"].as_array().map(Vec::len),
        Some(5),
        "the default of five results was used: {found}"
    );
    let page = call(&admin, "read-page", json!({"url": "https://example.com/a?b=c"})).await;
    assert_eq!(page["status"], "succeeded", "{page}");
    assert_eq!(
        page["result"]["url"], "https://example.com/a?b=c",
        "the target came through whole: {page}"
    );

    let records = admin.get("/projects/demo/audit?action=call").await.expect(200);
    assert!(!records.text().contains(VALID_KEY));
    assert_eq!(records.json()["items"][1]["usage"], json!({"tokens": 5000}));
    let received = hosts.received();
    let methods: Vec<&str> = received.iter().map(|request| request.method.as_str()).collect();
    assert_eq!(methods, ["GET", "POST"]);
    for received in received {
        assert!(
            !received.target.contains(VALID_KEY),
            "the key is never in a URL: {}",
            received.target
        );
        assert_eq!(
            received.headers["authorization"],
            format!("Bearer {VALID_KEY}").as_str()
        );
    }
}

#[tokio::test]
async fn the_hosts_errors_are_distinguished() {
    let hosts = JinaStandIn::start().await;
    let app = with_hosts(&hosts, VALID_KEY).await;
    let admin = app.admin().await;
    for (query, code, retryable) in [
        ("rate limited", "upstream_rate_limited", true),
        ("no results", "upstream_rejected", false),
    ] {
        let answer = call(&admin, "web-search", json!({"query": query})).await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer["error"]["retryable"], retryable, "{answer}");
    }
    for (key, code) in [(BROKE_KEY, "upstream_quota"), ("jina_wrong", "upstream_auth")] {
        let app = with_hosts(&hosts, key).await;
        let answer = call(&app.admin().await, "web-search", json!({"query": "rust"})).await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert!(!answer.to_string().contains(key), "{answer}");
    }
}

#[tokio::test]
async fn without_its_key_search_says_which_variable_is_missing() {
    let hosts = JinaStandIn::start().await;
    let app = with_hosts(&hosts, "").await;
    let answer = call(&app.admin().await, "web-search", json!({"query": "rust"})).await;
    assert_eq!(answer["error"]["code"], "tool_unavailable", "{answer}");
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap_or_default()
            .contains("JINA_API_KEY"),
        "{answer}"
    );
    assert!(hosts.received().is_empty());
}

/// What an administrator pins in a search, and calls that aim at it under its other names.
const PINNED: &str = "name: pinned-search\ndescription: Searches one site.\ngroup: [web]\n\
    parameters: {type: object, properties: {num: {type: integer}}}\n\
    options:\n  args: {fixed: {query: site rules}}\n  \
    jina: {mode: search, base_url: \"HOST\", headers: {X-Respond-With: no-content}}\n";

#[tokio::test]
async fn what_is_pinned_is_sent_and_recorded_under_every_name() {
    let hosts = JinaStandIn::start().await;
    let app = with_hosts(&hosts, VALID_KEY).await;
    let admin = app.admin().await;
    let yaml = PINNED.replace("HOST", &hosts.search);
    admin.upload("/projects/demo/tools", &yaml).await.expect(201);

    let answer = call(&admin, "pinned-search", json!({"q": "anything else", "count": 3})).await;
    assert_eq!(answer["status"], "succeeded", "{answer}");
    let received = hosts.received();
    assert!(
        received[0].target.contains("q=site+rules&num=3"),
        "{}",
        received[0].target
    );
    assert!(!received[0].target.contains("anything"), "{}", received[0].target);
    let auditor = app.auditor(&admin).await;
    let record = auditor
        .get("/projects/demo/audit?action=call")
        .await
        .expect(200)
        .json()["items"][0]
        .clone();
    assert_eq!(
        record["arguments"],
        json!({"query": "site rules", "num": 3}),
        "{record}"
    );
    assert_eq!(
        record["provenance"],
        json!({"query": "fixed", "num": "caller"}),
        "{record}"
    );

    let request = json!({"tool": "pinned-search", "group": ["web"], "arguments": {"respondWith": "html"}});
    let refused = admin.post("/projects/demo/calls", &request).await;
    let problem = refused.problem(422, "invalid_arguments");
    assert_eq!(problem["errors"][0]["pointer"], "/respondWith", "{problem}");
    assert_eq!(hosts.received().len(), 1, "nothing was sent");
}
