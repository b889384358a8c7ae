//! Calling tools: decision, execution, state.

mod repeated;

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::support::{TestApp, dropped_after, echo, tool};

const CALLS: &str = "/projects/demo/calls";

/// An application with a project `demo`, whose tool `search` has an upstream that answers.
async fn with_search(more: &str) -> TestApp {
    let base = echo().await;
    let app = with_upstream(&base).await;
    app.demo()
        .await
        .upload("/projects/demo/tools", &tool("search", &base, "/search", more))
        .await
        .expect(201);
    app
}

/// An application that may reach `base`.
async fn with_upstream(base: &str) -> TestApp {
    TestApp::with(&[
        ("TOOLGATE_EGRESS_ALLOW", base),
        ("TOOLGATE_TOOL_ENV_SEARCH_KEY", "canary-7f3a"),
        ("TOOLGATE_TOOL_ENV", ""),
    ])
    .await
}

#[tokio::test]
async fn a_call_is_decided_executed_recorded_and_answered() {
    let app = with_search("group: [knowledge]\nstate: analysis\navailable_in_states: [undefined]\n").await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["knowledge"]).await;

    let request = json!({"tool": "search", "arguments": {"q": "rust"}, "group": ["knowledge"], "context": {"agent_id": "a1"}});
    let answer = agent.post(CALLS, &request).await.expect(200).json();
    assert_eq!(answer["status"], "succeeded");
    assert_eq!(answer["result"]["path"], "/search");
    assert_eq!(answer["result"]["query"], json!({"q": "rust"}));
    assert_eq!(
        answer["state"],
        json!({"before": "undefined", "after": "analysis"})
    );
    assert!(answer["duration_ms"].is_i64());

    let path = format!("/projects/demo/audit?id={}", answer["call_id"].as_str().unwrap());
    let auditor = app.auditor(&admin).await;
    let record = auditor.get(&path).await.expect(200).json()["items"][0].clone();
    assert_eq!(record["outcome"], "succeeded");
    assert_eq!(record["tool"], "search");
    assert_eq!(record["revision"], 1);
    assert_eq!(record["requested_groups"], json!(["knowledge"]));
    assert_eq!(record["state_before"], "undefined");
    assert_eq!(record["state_after"], "analysis");
    assert_eq!(record["arguments"], json!({"q": "rust"}));
    assert_eq!(record["provenance"], json!({"q": "caller"}));
    assert_eq!(record["context"], json!({"agent_id": "a1"}));
}

/// Wherever the caller disconnects: before its record is durable, while the tool runs, and before the end is
/// recorded.
#[tokio::test]
async fn a_caller_that_goes_away_leaves_no_open_record() {
    let app = with_search("").await;
    let admin = app.admin().await;
    let request = json!({"tool": "search", "arguments": {"q": "rust"}});
    let mut polls = 1;
    while !dropped_after(polls, admin.post(CALLS, &request)).await {
        polls += 1;
    }
    // Records are opened one after the other, so those of all calls are there when the last one was answered.
    let settled = async {
        loop {
            let page = admin
                .get("/projects/demo/audit?action=call")
                .await
                .expect(200)
                .json();
            let records = page["items"].as_array().expect("a list").clone();
            if records.iter().all(|record| record["outcome"] != "open") {
                return records;
            }
            tokio::task::yield_now().await;
        }
    };
    let records = tokio::time::timeout(Duration::from_secs(20), settled)
        .await
        .expect("no record stays open");
    assert!(
        records.iter().all(|record| record["outcome"] == "succeeded"),
        "{records:?}"
    );
    assert!(records.len() > 2, "{} of {polls}", records.len());
}

#[tokio::test]
async fn a_refusal_names_only_groups_that_the_caller_may_see() {
    let base = echo().await;
    let app = with_upstream(&base).await;
    let admin = app.demo().await;
    for (name, groups) in [("secret", "[vault]"), ("mixed", "[vault, basic/read]")] {
        let more = format!("group: {groups}\n");
        admin
            .upload("/projects/demo/tools", &tool(name, &base, "/x", &more))
            .await
            .expect(201);
    }
    let agent = app.key(&admin, "demo", "agent", &["basic", "default"]).await;
    let editor = app.key(&admin, "demo", "editor", &["basic", "default"]).await;
    for (name, seen) in [("secret", None), ("mixed", Some("basic/read"))] {
        let ask = json!({"tool": name});
        let refused = agent.post(CALLS, &ask).await.problem(403, "tool_not_in_groups");
        let explained = agent
            .post("/projects/demo/explain", &ask)
            .await
            .expect(200)
            .json();
        let invoke = format!("/projects/demo/tools/{name}/invoke");
        let invoked = agent
            .post(&invoke, &json!({}))
            .await
            .problem(403, "tool_not_in_groups");
        for answer in [refused, explained, invoked] {
            let text = answer.to_string();
            assert!(!text.contains("vault"), "{text}");
            assert!(seen.is_none_or(|group| text.contains(group)), "{text}");
        }
        let refused = editor.post(CALLS, &ask).await.problem(403, "tool_not_in_groups");
        assert!(
            refused.to_string().contains("vault"),
            "editors read definitions: {refused}"
        );
    }
}

#[tokio::test]
async fn refused_calls_run_nothing_and_are_explained_and_recorded() {
    let base = echo().await;
    let app = with_upstream(&base).await;
    let admin = app.demo().await;
    let more = "group: [knowledge]\navailable_in_states: [analysis]\n";
    admin
        .upload("/projects/demo/tools", &tool("update", &base, "/update", more))
        .await
        .expect(201);
    let agent = app.key(&admin, "demo", "agent", &["knowledge", "default"]).await;

    let rows: [(Value, u16, &str); 6] = [
        (
            json!({"tool": "update", "group": ["admin"]}),
            403,
            "insufficient_tool_groups",
        ),
        (
            json!({"tool": "nope", "group": ["admin"]}),
            403,
            "insufficient_tool_groups",
        ),
        (json!({"tool": "nope"}), 404, "tool_not_found"),
        (json!({"tool": "update"}), 403, "tool_not_in_groups"),
        (
            json!({"tool": "update", "group": ["knowledge"]}),
            403,
            "tool_not_in_state",
        ),
        (
            json!({"tool": "update", "group": ["knowledge"], "state": "analysis", "arguments": {"q": 1}}),
            422,
            "invalid_arguments",
        ),
    ];
    for (request, status, code) in rows {
        let problem = agent.post(CALLS, &request).await.problem(status, code);
        let path = format!("/projects/demo/audit?id={}", problem["call_id"].as_str().unwrap());
        let record = admin.get(&path).await.expect(200).json()["items"][0].clone();
        assert_eq!(record["outcome"], "denied", "{request}");
        assert_eq!(record["code"], code);
        assert_eq!(record["state_after"], record["state_before"]);
    }
    let faulty =
        json!({"tool": "update", "group": ["knowledge"], "state": "analysis", "arguments": {"q": 1, "x": 2}});
    let problem = agent.post(CALLS, &faulty).await.problem(422, "invalid_arguments");
    assert_eq!(problem["errors"].as_array().unwrap().len(), 2, "{problem}");
}

#[tokio::test]
async fn a_failed_call_does_not_move_the_state() {
    let base = echo().await;
    let app = with_upstream(&base).await;
    let admin = app.demo().await;
    admin
        .upload(
            "/projects/demo/tools",
            &tool("fails", &base, "/fails", "state: analysis\n"),
        )
        .await
        .expect(201);
    let answer = admin
        .post(CALLS, &json!({"tool": "fails"}))
        .await
        .expect(200)
        .json();
    assert_eq!(answer["status"], "failed");
    assert_eq!(answer["error"]["code"], "upstream_rejected");
    assert_eq!(answer["error"]["upstream_status"], 404);
    assert_eq!(
        answer["state"],
        json!({"before": "undefined", "after": "undefined"})
    );
    assert!(answer.get("result").is_none());
}

#[tokio::test]
async fn fixed_and_environment_arguments_are_hidden_and_win() {
    let base = echo().await;
    let app = with_upstream(&base).await;
    let admin = app.demo().await;
    let yaml = format!(
        "name: search\ntype: openapi\ndescription: Search.\nparameters:\n  type: object\n  properties:\n    q: {{type: string}}\n    num: {{type: integer}}\n    tenant: {{type: string}}\n    api_key: {{type: string}}\n  required: [q, api_key]\noptions:\n  args:\n    defaults: {{num: 5}}\n    fixed: {{tenant: \"{{project_id}}\"}}\n  envs: {{api_key: TOOLGATE_TOOL_ENV_SEARCH_KEY}}\n  http: {{base_url: \"{base}\", path: /search, header: {{x-api-key: api_key}}}}\n"
    );
    admin.upload("/projects/demo/tools", &yaml).await.expect(201);
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;

    let shown = agent.get("/projects/demo/tools/search").await.expect(200).json();
    let names: Vec<&String> = shown["parameters"]["properties"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(names, ["q", "num"]);
    assert_eq!(shown["parameters"]["properties"]["num"]["default"], 5);
    assert_eq!(shown["parameters"]["required"], json!(["q"]));
    assert!(shown.get("definition").is_none());

    let request = json!({"tool": "search", "arguments": {"q": "rust", "tenant": "evil", "api_key": "mine"}});
    let answer = agent.post(CALLS, &request).await.expect(200);
    let result = answer.json()["result"].clone();
    assert_eq!(
        result["query"],
        json!({"q": "rust", "num": "5", "tenant": "demo"})
    );
    assert_eq!(
        result["key_bytes"],
        "canary-7f3a".len(),
        "the upstream got the value"
    );
    assert_eq!(
        result["headers"]["x-api-key"], "[redacted]",
        "and it does not come back"
    );

    let auditor = app.auditor(&admin).await;
    let audit = auditor.get("/projects/demo/audit?action=call").await.expect(200);
    assert!(!audit.text().contains("canary-7f3a"));
    let record = audit.json()["items"][0].clone();
    assert_eq!(
        record["provenance"],
        json!({"q": "caller", "num": "default", "tenant": "fixed", "api_key": "env"})
    );
    assert_eq!(
        record["arguments"],
        json!({"q": "rust", "num": 5, "tenant": "demo"})
    );
}

#[tokio::test]
async fn nothing_is_sent_beside_what_the_definition_sets() {
    let base = echo().await;
    let app = with_upstream(&base).await;
    let admin = app.demo().await;
    let yaml = format!(
        "name: search\ndescription: Search.\noptions:\n  args: {{fixed: {{tenant: ours}}}}\n  http: {{base_url: \"{base}\", query: {{t: tenant}}, \
         auth: {{scheme: query, name: key, env: TOOLGATE_TOOL_ENV_SEARCH_KEY}}}}\n"
    );
    admin.upload("/projects/demo/tools", &yaml).await.expect(201);
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    for name in ["key", "t", "T", "key[]"] {
        let request = json!({"tool": "search", "arguments": {name: "mine", "q": "rust"}});
        let refused = agent
            .post(CALLS, &request)
            .await
            .problem(422, "invalid_arguments");
        assert_eq!(refused["errors"][0]["pointer"], format!("/{name}"), "{refused}");
    }
    let request = json!({"tool": "search", "arguments": {"q": "rust"}});
    let answer = agent.post(CALLS, &request).await.expect(200).json();
    assert_eq!(answer["result"]["query"]["t"], "ours", "{answer}");
    assert_eq!(answer["result"]["query"]["q"], "rust", "{answer}");
}

#[tokio::test]
async fn what_is_listed_can_be_called_and_what_is_hidden_cannot() {
    let base = echo().await;
    let app = with_upstream(&base).await;
    let admin = app.demo().await;
    let groups = ["a", "b", "a/x"];
    let states = ["undefined", "busy"];
    let mut yaml = String::new();
    for group in groups {
        for state in states {
            let name = format!("{}-{state}", group.replace('/', "."));
            yaml += &tool(
                &name,
                &base,
                "/x",
                &format!("group: [\"{group}\"]\navailable_in_states: [{state}]\n---\n"),
            );
        }
    }
    admin.upload("/projects/demo/tools", &yaml).await.expect(201);
    for requested in [
        json!(["a"]),
        json!(["b"]),
        json!(["a/x"]),
        json!(["a", "b"]),
        json!(["*"]),
        json!([]),
    ] {
        for state in states {
            let answer = admin
                .post(
                    "/projects/demo/resolve",
                    &json!({"group": requested, "state": state}),
                )
                .await
                .expect(200)
                .json();
            let available: Vec<&str> = answer["available"]
                .as_array()
                .unwrap()
                .iter()
                .map(|name| name.as_str().unwrap())
                .collect();
            for group in groups {
                for open in states {
                    let name = format!("{}-{open}", group.replace('/', "."));
                    let request = json!({"tool": name, "group": requested, "state": state});
                    let called = admin.post(CALLS, &request).await.status.is_success();
                    assert_eq!(called, available.contains(&name.as_str()), "{request}");
                }
            }
        }
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_answered_alike_wherever_that_is_noticed() {
    let base = echo().await;
    let app = with_upstream(&base).await;
    let admin = app.demo().await;
    let yaml = format!(
        "name: item\ntype: openapi\ndescription: Reads one.\nparameters: {{type: object, properties: {{id: {{type: string}}}}}}\n\
         options: {{http: {{base_url: \"{base}\", path: \"/items/{{id}}\"}}}}\n"
    );
    admin.upload("/projects/demo/tools", &yaml).await.expect(201);
    // The schema refuses the first, the place in the request the others.
    for arguments in [json!({"id": 7}), json!({"id": ".."}), json!({})] {
        let call = json!({"tool": "item", "arguments": arguments});
        let keyed = |call: &Value| {
            let request = admin
                .request(Method::POST, CALLS)
                .header("idempotency-key", "again");
            let request = request.header(header::CONTENT_TYPE, "application/json");
            request.body(Body::from(call.to_string())).expect("a request")
        };
        let problem = admin.send(keyed(&call)).await.problem(422, "invalid_arguments");
        let record = admin
            .get(&format!(
                "/projects/demo/audit?id={}",
                problem["call_id"].as_str().unwrap()
            ))
            .await
            .expect(200)
            .json()["items"][0]
            .clone();
        assert_eq!(
            (&record["outcome"], &record["code"]),
            (&json!("denied"), &json!("invalid_arguments")),
            "{arguments}: {record}"
        );
        admin
            .post("/projects/demo/tools/item/invoke", &arguments)
            .await
            .problem(422, "invalid_arguments");
        // Nothing ran, so the key is free.
        let again = admin.send(keyed(&call)).await.problem(422, "invalid_arguments");
        assert_ne!(again["call_id"], problem["call_id"]);
    }
}
