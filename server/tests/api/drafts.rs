//! Beginning a tool: what is pasted becomes a definition, which is tested before it is stored.

use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::support::{ANY, Client, TestApp, echo};

const DRAFT: &str = "/projects/demo/definitions/draft";
const TEST: &str = "/projects/demo/definitions/test";
const KEY: &str = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=";
const VALUE: &str = "s3cr3t-t0k3n-value";

/// A server that keeps secrets and may reach the upstream once its name is on the list of a project.
async fn app() -> (TestApp, String) {
    let upstream = echo().await.replace("127.0.0.1", "localhost");
    let settings = [
        ("TOOLGATE_EGRESS_ALLOW", "cidr:127.0.0.0/8"),
        ("TOOLGATE_SECRETS_KEY", KEY),
    ];
    (TestApp::with(&settings).await, upstream)
}

async fn allow(admin: &Client<'_>, upstream: &str) {
    let conditions = [(header::IF_MATCH, "*")];
    let list = json!({"hosts": [upstream]});
    admin
        .send_json(Method::PUT, "/projects/demo/egress", &conditions, &list)
        .await
        .expect(200);
}

async fn records(client: &Client<'_>, action: &str) -> Vec<Value> {
    let path = format!("/projects/demo/audit?action={action}&limit=50");
    client.get(&path).await.expect(200).json()["items"]
        .as_array()
        .expect("records")
        .clone()
}

#[tokio::test]
async fn a_pasted_command_is_tested_saved_and_called_as_a_key() {
    let (app, upstream) = app().await;
    let admin = app.demo().await;
    let text = format!(
        "curl '{upstream}/v1/users/42?verbose=true' -H 'Authorization: Bearer {VALUE}' --json '{{\"name\": \"Ann\"}}'"
    );
    let draft = admin.post(DRAFT, &json!({"text": text})).await.expect(200);
    assert!(!draft.text().contains(VALUE), "{}", draft.text());
    let draft = draft.json();
    assert_eq!(draft["kind"], "tool");
    assert_eq!(
        draft["arguments"],
        json!({"user_id": 42, "verbose": true, "name": "Ann"})
    );
    let credential = &draft["credentials"][0];
    assert_eq!(
        (credential["secret"].as_str(), credential["stored"].as_bool()),
        (Some("LOCALHOST_TOKEN"), Some(true))
    );
    assert!(draft["diagnostics"].to_string().contains("egress"), "{draft}");

    // The host is not allowed yet: the answer says what lifts that.
    let test = json!({"yaml": draft["yaml"], "arguments": draft["arguments"]});
    let refused = admin.post(TEST, &test).await.expect(200).json();
    assert_eq!(refused["call"]["error"]["code"], "egress_denied");
    assert_eq!(
        refused["call"]["error"]["remedy"],
        json!({"kind": "allow_host", "origin": upstream})
    );
    assert_eq!(refused.get("answer"), None);

    allow(&admin, &upstream).await;
    let tested = admin.post(TEST, &test).await.expect(200);
    assert!(!tested.text().contains(VALUE), "{}", tested.text());
    let tested = tested.json();
    assert_eq!(tested["call"]["status"], "succeeded", "{tested}");
    assert_eq!(tested["request"]["method"], "POST");
    assert_eq!(
        tested["request"]["url"],
        format!("{upstream}/v1/users/42?verbose=true")
    );
    assert_eq!(tested["request"]["body"], "{\"name\":\"Ann\"}");
    let sent = tested["request"]["headers"].as_array().expect("headers");
    assert!(
        sent.contains(&json!({"name": "authorization", "value": "[redacted]"})),
        "{sent:?}"
    );
    assert_eq!(tested["answer"]["status"], 200);
    let received = tested["answer"]["body"].as_str().expect("a body");
    assert!(received.contains("/v1/users/42"), "{received}");

    // Both tests are on the record, and nothing was stored.
    let auditor = app.auditor(&admin).await;
    let tests = records(&auditor, "test").await;
    let outcomes: Vec<_> = tests.iter().map(|record| record["outcome"].as_str()).collect();
    assert_eq!(outcomes, [Some("succeeded"), Some("failed")]);
    assert_eq!(tests[0]["arguments"]["name"], "Ann");
    assert!(tests[0]["revision"].is_null(), "{}", tests[0]);
    let tools = admin.get("/projects/demo/tools").await.expect(200).json();
    assert_eq!(tools["items"], json!([]));

    // Saved, it is called by an agent.
    let yaml = draft["yaml"].as_str().expect("YAML");
    admin.upload("/projects/demo/tools", yaml).await.expect(201);
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    let call = json!({"tool": "post_v1_users_by_user_id", "arguments": draft["arguments"]});
    let called = agent.post("/projects/demo/calls", &call).await.expect(200).json();
    assert_eq!(called["status"], "succeeded", "{called}");
    assert_eq!(records(&admin, "call").await.len(), 1);
}

#[tokio::test]
async fn a_test_needs_the_groups_of_the_draft_and_the_right_to_edit() {
    let (app, upstream) = app().await;
    let admin = app.demo().await;
    allow(&admin, &upstream).await;
    let yaml = format!(
        "name: ping\ntype: openapi\ndescription: Pings.\ngroup: [writing, reading]\navailable_in_states: [open]\n\
         parameters: {{type: object, properties: {{}}}}\noptions: {{http: {{base_url: '{upstream}', path: /ping}}}}\n"
    );
    let test = json!({"yaml": yaml, "arguments": {}});
    let editor = app.key(&admin, "demo", "editor", &["reading"]).await;
    let problem = editor
        .post(TEST, &test)
        .await
        .problem(403, "insufficient_tool_groups");
    assert_eq!(problem["missing_groups"], json!(["writing"]));
    let refused = records(&admin, "test").await;
    assert_eq!(refused[0]["outcome"], "denied");
    assert_eq!(refused[0]["missing_groups"], json!(["writing"]));

    let editor = app.key(&admin, "demo", "editor", &["reading", "writing"]).await;
    let tested = editor.post(TEST, &test).await.expect(200).json();
    assert_eq!(tested["call"]["status"], "succeeded", "{tested}");
    assert_eq!(tested["call"]["state"]["before"], "open");

    let agent = app.key(&admin, "demo", "agent", &["*"]).await;
    agent.post(TEST, &test).await.problem(403, "forbidden");
    agent
        .post(DRAFT, &json!({"text": "https://example.com"}))
        .await
        .problem(403, "forbidden");
}

#[tokio::test]
async fn failing_tests_open_no_breaker_of_the_stored_tool() {
    let (app, upstream) = app().await;
    let admin = app.demo().await;
    allow(&admin, &upstream).await;
    let yaml = |base: &str| {
        format!(
            "name: ping\ntype: openapi\ndescription: Pings.\nparameters: {{type: object, properties: {{}}}}\n\
             options: {{breaker: {{failures: 1}}, http: {{base_url: '{base}', path: /ping}}}}\n"
        )
    };
    admin
        .upload("/projects/demo/tools", &yaml(&upstream))
        .await
        .expect(201);
    let closed = "http://localhost:1";
    let list = json!({"hosts": [upstream, closed]});
    admin
        .send_json(Method::PUT, "/projects/demo/egress", &ANY, &list)
        .await
        .expect(200);
    for _ in 0..3 {
        let test = json!({"yaml": yaml(closed), "arguments": {}});
        let tested = admin.post(TEST, &test).await.expect(200).json();
        assert_eq!(
            tested["call"]["error"]["code"], "upstream_unavailable",
            "{tested}"
        );
        assert_eq!(tested["request"]["method"], "GET");
    }
    let call = json!({"tool": "ping", "arguments": {}});
    let called = admin.post("/projects/demo/calls", &call).await.expect(200).json();
    assert_eq!(called["status"], "succeeded", "{called}");
}

#[tokio::test]
async fn credentials_are_stored_only_where_that_is_possible() {
    let (app, _) = app().await;
    let admin = app.demo().await;
    let editor = app.key(&admin, "demo", "editor", &["*"]).await;
    let command =
        |value: &str| json!({"text": format!("curl https://api.example.com/a -H 'X-Api-Key: {value}'")});
    let credential = |draft: Value| draft["credentials"][0].clone();
    let by_editor = editor.post(DRAFT, &command(VALUE)).await.expect(200);
    assert!(!by_editor.text().contains(VALUE));
    let by_editor = credential(by_editor.json());
    assert_eq!(by_editor["stored"], false);
    assert!(by_editor["reason"].as_str().expect("a reason").contains("owner"));
    let short = credential(admin.post(DRAFT, &command("abc")).await.expect(200).json());
    assert_eq!(
        short["reason"],
        "Its value must have 8 characters to 65536 bytes."
    );
    let placeholder = credential(admin.post(DRAFT, &command("$API_KEY")).await.expect(200).json());
    assert_eq!(placeholder["stored"], false);
    let first = credential(admin.post(DRAFT, &command(VALUE)).await.expect(200).json());
    assert_eq!(first["secret"], "EXAMPLE_KEY");
    // A secret that is there is never replaced.
    let second = credential(admin.post(DRAFT, &command(VALUE)).await.expect(200).json());
    assert_eq!(second["secret"], "EXAMPLE_KEY_2");
    let secrets = records(&admin, "secret").await;
    assert_eq!(secrets.len(), 2);
    assert!(!json!(secrets).to_string().contains(VALUE));
}

#[tokio::test]
async fn what_is_no_request_is_refused_and_descriptions_are_named() {
    let (app, _) = app().await;
    let admin = app.demo().await;
    for text in ["", "curl", "curl 'https://a", "ftp://a.example", "a b c"] {
        let problem = admin.post(DRAFT, &json!({"text": text})).await;
        let problem = problem.problem(422, "invalid_request");
        assert!(problem["errors"][0]["message"].is_string(), "{problem}");
    }
    let draft = admin
        .post(DRAFT, &json!({"text": "https://api.example.com/openapi.json"}))
        .await
        .expect(200)
        .json();
    assert_eq!(
        (draft["kind"].as_str(), draft["url"].as_str()),
        (
            Some("api_description"),
            Some("https://api.example.com/openapi.json")
        )
    );
    admin
        .post(TEST, &json!({"yaml": "name: x\ntype: static\nfoo: 1\n"}))
        .await
        .problem(422, "invalid_definition");
    let two = "name: a\ntype: static\noptions: {static: {result: 1}}\n---\nname: b\ntype: static\noptions: {static: {result: 1}}\n";
    admin
        .post(TEST, &json!({"yaml": two}))
        .await
        .problem(422, "invalid_request");
}

#[tokio::test]
async fn tests_of_other_kinds_show_their_result() {
    let (app, _) = app().await;
    let admin = app.demo().await;
    let yaml =
        "name: greet\ntype: static\ndescription: Greets.\noptions: {static: {result: {text: hello}}}\n";
    let tested = admin.post(TEST, &json!({"yaml": yaml})).await.expect(200).json();
    assert_eq!(tested["call"]["result"], json!({"text": "hello"}), "{tested}");
    assert_eq!(tested.get("request"), None);
}
