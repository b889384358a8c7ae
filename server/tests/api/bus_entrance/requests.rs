//! `tool.invoke` and `tool.invoke.mcp`.

use futures_util::StreamExt;
use serde_json::{Value, json};

use super::{INVOKE, Open, headers, invoke, request, token};
use crate::bus::until_connected;
use crate::nats::{Nats, subscribe};
use crate::support::{TestApp, serve};

const GROUP: [(&str, &str); 1] = [("Toolgate-Group", "knowledge")];

fn search(id: &str) -> Value {
    json!({"tool_call_id": id, "tool_name": "search", "arguments": "{\"q\":\"rust\"}", "session_id": null})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_decided_recorded_and_answered_as_by_rest() {
    let open = Open::new().await;
    let client = open.client().await;
    let own = |mut record: Value| {
        for name in ["id", "at", "entrance", "request_id", "duration_ms", "address"] {
            record.as_object_mut().expect("a record").remove(name);
        }
        record
    };
    for (tool, arguments, group, code) in [
        ("search", json!({"q": "rust"}), "knowledge", None),
        (
            "search",
            json!({"q": 5}),
            "knowledge",
            Some(("invalid_arguments", "invalid_arguments")),
        ),
        (
            "search",
            json!({"q": "rust"}),
            "secret",
            Some(("execution_failed", "insufficient_tool_groups")),
        ),
        (
            "search",
            json!({"q": "rust"}),
            "",
            Some(("execution_failed", "tool_not_in_groups")),
        ),
        (
            "absent",
            json!({}),
            "knowledge",
            Some(("tool_not_found", "tool_not_found")),
        ),
    ] {
        let id = format!("call-{tool}-{group}-{}", arguments["q"].is_number());
        let payload = json!({"tool_call_id": id, "tool_name": tool, "arguments": arguments.to_string()});
        let said = [("Toolgate-Group", group), ("correlation-id", "c-1")];
        let (told, answer) = invoke(&client, &open.agent(), &said, &payload).await;
        assert_eq!(
            told.get("correlation-id").map(async_nats::HeaderValue::as_str),
            Some("c-1")
        );
        assert_eq!(answer["tool_call_id"], id);
        assert_eq!(answer["tool_name"], tool);
        let by_bus = open.last_record().await;
        assert_eq!(by_bus["entrance"], "bus");
        assert_eq!(
            told.get("Toolgate-Call-Id").map(|it| it.as_str().to_owned()),
            by_bus["id"].as_str().map(str::to_owned)
        );

        let groups: Vec<&str> = group.split(',').filter(|name| !name.is_empty()).collect();
        let request =
            json!({"tool": tool, "arguments": arguments, "group": groups, "context": {"tool_call_id": id}});
        let by_rest = open.agent().post("/projects/demo/calls", &request).await.json();
        match code {
            None => {
                assert_eq!(answer["is_error"], false, "{answer}");
                let content = answer["content"].as_str().expect("a text");
                let content: Value = serde_json::from_str(content).expect("JSON");
                assert_eq!(content["query"], by_rest["result"]["query"]);
            }
            Some((word, code)) => {
                assert_eq!(answer["code"], word, "{answer}");
                assert_eq!(answer["is_retryable"], false);
                assert!(
                    answer["message"]
                        .as_str()
                        .expect("a text")
                        .starts_with(by_rest["detail"].as_str().expect("a detail"))
                );
                assert_eq!(
                    told.get("Toolgate-Code").map(async_nats::HeaderValue::as_str),
                    Some(code)
                );
            }
        }
        assert_eq!(own(by_bus), own(open.last_record().await), "{tool} {group}");
    }
    let metrics = open.app.gateway.metrics.render();
    assert!(metrics.contains("kind=\"http\",entrance=\"bus\"} 1"), "{metrics}");
    for (tool, status, count) in [
        ("search", "success", 1),
        ("search", "invalid_arguments", 1),
        ("search", "execution_failed", 2),
        ("other", "tool_not_found", 1),
    ] {
        let labels = format!("{{project=\"demo\",tool=\"{tool}\",status=\"{status}\"}} {count}");
        for name in ["agent_bus_calls_total", "agent_bus_call_duration_seconds_count"] {
            assert!(
                metrics.contains(&format!("{name}{labels}")),
                "{name}{labels} in {metrics}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeated_request_is_answered_again_and_not_run_again() {
    let open = Open::new().await;
    let client = open.client().await;
    let (_, first) = invoke(&client, &open.agent(), &GROUP, &search("once")).await;
    let (_, again) = invoke(&client, &open.agent(), &GROUP, &search("once")).await;
    assert_eq!(first, again);
    assert_eq!(open.records(10).await.len(), 1, "one call");
    let other = json!({"tool_call_id": "once", "tool_name": "search", "arguments": {"q": "other"}});
    let (said, answer) = invoke(&client, &open.agent(), &GROUP, &other).await;
    assert_eq!(answer["code"], "execution_failed", "{answer}");
    assert_eq!(
        said.get("Toolgate-Code").map(async_nats::HeaderValue::as_str),
        Some("idempotency_mismatch")
    );
}

/// `ToolInvokeRequest` of the specification as serializers write it, each answered under its id and name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_spelling_of_a_request_is_answered() {
    let open = Open::new().await;
    let client = open.client().await;
    let text = "{\"q\": \"rust\"}";
    for (id, payload) in [
        (
            "snake",
            json!({"tool_call_id": "snake", "tool_name": "search", "arguments": text, "session_id": "s"}),
        ),
        (
            "camel",
            json!({"toolCallId": "camel", "toolName": "search", "arguments": text, "sessionId": "s"}),
        ),
        (
            "pascal",
            json!({"ToolCallId": "pascal", "ToolName": "search", "Arguments": text, "SessionId": "s"}),
        ),
        (
            "object",
            json!({"tool_call_id": "object", "tool_name": "search", "arguments": {"q": "rust"}}),
        ),
        (
            "null",
            json!({"ToolCallId": "null", "ToolName": "search", "Arguments": null, "SessionId": null}),
        ),
        (
            "empty",
            json!({"ToolCallId": "empty", "ToolName": "search", "Arguments": "", "SessionId": ""}),
        ),
        (
            "shortest",
            json!({"ToolCallId": "shortest", "ToolName": "search"}),
        ),
    ] {
        let (said, answer) = invoke(&client, &open.agent(), &GROUP, &payload).await;
        let members: Vec<&str> = answer
            .as_object()
            .expect("an object")
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(
            members,
            ["tool_call_id", "tool_name", "content", "is_error"],
            "{answer}"
        );
        assert_eq!(
            (&answer["tool_call_id"], &answer["tool_name"], &answer["is_error"]),
            (&json!(id), &json!("search"), &json!(false)),
            "{answer}"
        );
        assert!(said.get("Toolgate-Code").is_none(), "{id}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_requests_are_answered_with_what_is_wrong() {
    let open = Open::new().await;
    let client = open.client().await;
    let long = "x".repeat(256);
    for (payload, says) in [
        (json!(null), "no ToolInvokeRequest"),
        (json!("search"), "no ToolInvokeRequest"),
        (json!(["a", "search", {}, null, 1]), "no ToolInvokeRequest"),
        (json!({}), "tool_call_id"),
        (json!({"tool_name": "search"}), "tool_call_id"),
        (json!({"tool_call_id": "a"}), "tool_name"),
        (json!({"ToolCallId": "a"}), "tool_name"),
        (json!({"tool_call_id": "", "tool_name": "search"}), "1-255"),
        (json!({"tool_call_id": "a b", "tool_name": "search"}), "1-255"),
        (json!({"tool_call_id": long, "tool_name": "search"}), "1-255"),
        (
            json!({"tool_call_id": 1, "tool_name": "search"}),
            "no ToolInvokeRequest",
        ),
        (
            json!({"tool_call_id": "a", "tool_name": null}),
            "no ToolInvokeRequest",
        ),
        (
            json!({"tool_call_id": "a", "tool_name": "search", "session_id": 7}),
            "no ToolInvokeRequest",
        ),
        (
            json!({"tool_call_id": "a", "tool_name": "search", "arguments": 7}),
            "no ToolInvokeRequest",
        ),
        (
            json!({"tool_call_id": "a", "tool_name": "search", "arguments": ["q"]}),
            "no ToolInvokeRequest",
        ),
        (
            json!({"tool_call_id": "a", "tool_name": "search", "arguments": "{"}),
            "JSON text",
        ),
        (
            json!({"tool_call_id": "a", "tool_name": "search", "arguments": "[]"}),
            "JSON text",
        ),
        (
            json!({"tool_call_id": "a", "tool_name": "search", "arguments": "\"q\""}),
            "JSON text",
        ),
        (
            json!({"tool_call_id": "a", "tool_name": "search", "user": "root"}),
            "unknown field",
        ),
        (
            json!({"tool_call_id": "a", "ToolCallId": "b", "tool_name": "search"}),
            "duplicate field",
        ),
    ] {
        let (said, answer) = invoke(&client, &open.agent(), &GROUP, &payload).await;
        let members: Vec<&str> = answer
            .as_object()
            .expect("an object")
            .keys()
            .map(String::as_str)
            .collect();
        let error = ["tool_call_id", "tool_name", "code", "message", "is_retryable"];
        assert_eq!(members, error, "{answer}");
        assert_eq!(answer["code"], "invalid_arguments", "{payload}");
        assert_eq!(answer["is_retryable"], false, "{payload}");
        let message = answer["message"].as_str().expect("a text");
        assert!(message.contains(says), "{payload}: {message}");
        let record = open.last_record().await;
        assert_eq!(
            (&record["outcome"], &record["entrance"]),
            (&json!("denied"), &json!("bus"))
        );
        assert_eq!(record["principal_name"], "agent key");
        assert_eq!(
            said.get("Toolgate-Call-Id").map(|id| id.as_str().to_owned()),
            record["id"].as_str().map(str::to_owned)
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_an_inbox_an_answer_goes_to_the_results_of_the_project() {
    let open = Open::new().await;
    let client = open.client().await;
    // The entrance is open when a request was answered.
    invoke(&client, &open.agent(), &GROUP, &search("first")).await;
    let mut results = subscribe(&client, "tg.demo.tool.result").await;
    let mut elsewhere = subscribe(&client, "cg.v1r4.>").await;
    for reply in [None, Some("cg.v1r4.demo.main.cmd.tool.search.run")] {
        let payload = search(reply.unwrap_or("none")).to_string();
        let mut said = headers(&GROUP);
        said.insert(
            "Toolgate-Token",
            token(&open.agent(), INVOKE, payload.as_bytes(), None).await,
        );
        match reply {
            None => client
                .publish_with_headers(INVOKE, said, payload.into())
                .await
                .expect("sent"),
            Some(reply) => client
                .publish_with_reply_and_headers(INVOKE, reply, said, payload.into())
                .await
                .expect("sent"),
        }
        let answer = results.next().await.expect("an answer");
        let answer: Value = serde_json::from_slice(&answer.payload).expect("JSON");
        assert_eq!(answer["is_error"], false, "{answer}");
    }
    client.publish("cg.v1r4.end", "".into()).await.expect("sent");
    let next = elsewhere.next().await.expect("the end");
    assert_eq!(next.subject.as_str(), "cg.v1r4.end", "nothing was sent there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alias_is_one_session_of_one_principal_and_one_agent() {
    let open = Open::new().await;
    let client = open.client().await;
    let other = open.app.key(&open.admin(), "demo", "agent", &["knowledge"]).await;
    let agent = open.agent();
    let mut sessions = Vec::new();
    for (at, (principal, name, alias)) in [
        (&agent, "a_b", "c"),
        (&agent, "a", "b_c"),
        (&agent, "a_b", "c"),
        (&other, "a_b", "c"),
    ]
    .into_iter()
    .enumerate()
    {
        let payload = json!({"tool_call_id": format!("s{at}"), "tool_name": "search", "arguments": "{}", "session_id": alias});
        let said = [("Toolgate-Group", "knowledge"), ("CG-Agent-Id", name)];
        let (_, answer) = invoke(&client, principal, &said, &payload).await;
        assert_eq!(answer["is_error"], false, "{answer}");
        let record = open.last_record().await;
        assert_eq!(record["state_after"], "found");
        sessions.push(record["session_id"].clone());
    }
    assert!(sessions.iter().all(Value::is_string), "{sessions:?}");
    assert_eq!(sessions[0], sessions[2]);
    assert_ne!(sessions[0], sessions[1]);
    assert_ne!(sessions[0], sessions[3]);
    // A session that was ended gives way to a new one.
    let ended = format!("/projects/demo/sessions/{}", sessions[0].as_str().expect("an id"));
    agent.delete(&ended, Some("*")).await.expect(204);
    let payload = json!({"tool_call_id": "s9", "tool_name": "search", "arguments": "{}", "session_id": "c"});
    let said = [("Toolgate-Group", "knowledge"), ("CG-Agent-Id", "a_b")];
    invoke(&client, &agent, &said, &payload).await;
    let record = open.last_record().await;
    assert_eq!(record["state_before"], "undefined");
    assert_ne!(record["session_id"], sessions[0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_is_open_as_long_as_its_settings_say() {
    let open = Open::new().await;
    let client = open.client().await;
    invoke(&client, &open.agent(), &GROUP, &search("open")).await;
    open.set(Value::Null).await;
    let payload = search("closed").to_string();
    loop {
        let sent = client.request(INVOKE, payload.clone().into()).await;
        if sent.is_err() {
            break;
        }
    }
    open.set(json!({})).await;
    let (_, answer) = invoke(&client, &open.agent(), &GROUP, &search("again")).await;
    assert_eq!(answer["is_error"], false);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_mcp_server_is_named_by_a_header() {
    let open = Open::new().await;
    let client = open.client().await;
    let subject = "tg.demo.tool.invoke.mcp";
    for (server, says) in [(None, "rb-mcp-server"), (Some("weather"), "no tool")] {
        let payload = search("m").to_string();
        let mut said = headers(&GROUP);
        if let Some(server) = server {
            said.insert("rb-mcp-server", server);
        }
        said.insert(
            "Toolgate-Token",
            token(&open.agent(), subject, payload.as_bytes(), None).await,
        );
        let (_, answer) = request(&client, subject, said, &payload).await;
        assert!(
            answer["message"].as_str().expect("a text").contains(says),
            "{answer}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_is_too_deep_is_refused_and_another_is_one_deeper_for_a_worker() {
    let open = Open::new().await;
    let client = open.client().await;
    let worker = "{name: dig, type: worker, description: Digs., target_subject: cmd.tool.dig, group: [knowledge], parameters: {type: object}}";
    open.admin()
        .upload("/projects/demo/tools", worker)
        .await
        .expect(201);
    let asked = async |id: &str, tool: &str, depth: &str| {
        let payload = json!({"tool_call_id": id, "tool_name": tool, "arguments": {}});
        let said = [GROUP[0], ("CG-Recursion-Depth", depth)];
        invoke(&client, &open.agent(), &said, &payload).await.1
    };
    for (id, tool, depth, says) in [
        ("d1", "search", "20", "recursion_depth_exceeded"),
        ("d2", "search", "-1", "not a non-negative integer"),
        // It is one deeper than the caller.
        ("d3", "dig", "19", "recursion_depth_exceeded"),
    ] {
        let answer = asked(id, tool, depth).await;
        assert_eq!(answer["code"], "invalid_arguments", "{answer}");
        assert!(answer["message"].to_string().contains(says), "{answer}");
    }
    let answer = asked("d4", "search", "3").await;
    assert_eq!(answer["is_error"], false, "{answer}");
    assert_eq!(open.last_record().await["context"]["recursion_depth"], 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_no_message_carries_is_an_error_that_says_where_it_is() {
    // A message of the bus has at most 1 MiB.
    let book = "x".repeat(2 << 20);
    let base = serve(axum::Router::new().fallback(async move || book.clone())).await;
    let nats = Nats::start();
    let url = nats.url();
    let settings = [
        ("TOOLGATE_NATS_URL", url.as_str()),
        ("TOOLGATE_EGRESS_ALLOW", &base),
    ];
    let app = TestApp::with(&settings).await;
    until_connected(&app, true).await;
    let open = Open::with(nats, app, &base).await;
    let client = open.client().await;
    let (said, answer) = invoke(&client, &open.agent(), &GROUP, &search("large")).await;
    assert_eq!(
        (&answer["tool_call_id"], &answer["code"], &answer["is_retryable"]),
        (&json!("large"), &json!("execution_failed"), &json!(false)),
        "{answer}"
    );
    let header = |name: &str| said.get(name).map(|value| value.as_str().to_owned());
    assert_eq!(header("Toolgate-Code").as_deref(), Some("upstream_invalid"));
    let call = header("Toolgate-Call-Id").expect("the call");
    let message = answer["message"].as_str().expect("a text");
    assert!(
        message.contains(&format!("GET /projects/demo/calls/{call}")),
        "{message}"
    );
    let whole = open
        .agent()
        .get(&format!("/projects/demo/calls/{call}"))
        .await
        .expect(200)
        .json();
    assert_eq!(whole["answer"]["status"], "succeeded");
    assert!(whole["answer"]["result"].to_string().len() > 2 << 20, "whole");
    // The server speaks on.
    let (_, again) = invoke(&client, &open.agent(), &GROUP, &search("large")).await;
    assert_eq!(again, answer);
}
