//! Calls of tools of MCP servers, over REST and over our own MCP entrance.

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::{StatusCode, header};
use serde_json::{Value, json};

use super::{Reply, Upstream, call, with_tools};
use crate::mcp::McpClient;

fn everything() -> Value {
    json!({
        "content": [
            {"type": "text", "text": "sunny", "annotations": {"audience": ["user"]}},
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "hi"}},
            {"type": "resource_link", "uri": "https://a.example/b", "name": "b"},
        ],
        "structuredContent": {"celsius": 21, "exact": 12345678901234567890_u64},
        "_meta": {"example.com/trace": "t1"},
    })
}

#[tokio::test]
async fn everything_that_an_answer_has_survives_by_rest_and_by_mcp() {
    let upstream =
        Upstream::new(|message| (message["method"] == "tools/call").then(|| Reply::Result(everything())))
            .await;
    let app = with_tools(&upstream, json!({"url": upstream.url})).await;
    let admin = app.admin().await;
    let answer = call(&admin, "forecast", json!({"city": "Oslo"})).await;
    assert_eq!(answer["status"], "succeeded", "{answer}");
    for member in ["content", "structuredContent", "_meta"] {
        assert_eq!(
            answer["result"][member],
            everything()[member],
            "{member}: {answer}"
        );
    }
    let sent = &upstream.seen("tools/call")[0].0;
    assert_eq!(
        (&sent["params"]["name"], &sent["params"]["arguments"]),
        (&json!("forecast"), &json!({"city": "Oslo"}))
    );

    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    let client = McpClient::begun(agent, "").await;
    let result = client.call("forecast", json!({"city": "Oslo"})).await;
    assert_eq!(result["content"], everything()["content"], "{result}");
    assert_eq!(result["structuredContent"], everything()["structuredContent"]);
    assert_eq!(result["_meta"]["example.com/trace"], "t1");
}

#[tokio::test]
async fn an_error_of_a_tool_is_a_failed_call_with_all_that_it_says() {
    let upstream = Upstream::new(|message| {
        (message["method"] == "tools/call").then(|| {
            let mut answer = everything();
            answer["isError"] = json!(true);
            answer["content"][0]["text"] = json!("no such city");
            if message["params"]["arguments"]["city"] == "Large" {
                answer["structuredContent"] = json!("x".repeat(300_000));
            }
            Reply::Result(answer)
        })
    })
    .await;
    let app = with_tools(&upstream, json!({"url": upstream.url})).await;
    let admin = app.admin().await;
    let answer = call(&admin, "forecast", json!({"city": "Oslo"})).await;
    let error = &answer["error"];
    assert_eq!(error["code"], "execution_failed", "{answer}");
    assert_eq!(error["upstream_message"], "no such city");
    assert_eq!(
        error["upstream_answer"]["content"][1],
        everything()["content"][1],
        "{answer}"
    );
    for member in ["structuredContent", "_meta"] {
        assert_eq!(error["upstream_answer"][member], everything()[member], "{answer}");
    }
    let large = call(&admin, "forecast", json!({"city": "Large"})).await;
    assert_eq!(large["error"]["upstream_message"], "no such city");
    assert_eq!(large["error"].get("upstream_answer"), None);

    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    let client = McpClient::begun(agent, "").await;
    let result = client.call("forecast", json!({"city": "Oslo"})).await;
    assert_eq!(result["isError"], true, "{result}");
    let blocks = result["content"].as_array().expect("blocks");
    let said = blocks[0]["text"].as_str().expect("a text");
    assert!(
        said.starts_with("execution_failed: ") && !said.contains("no such city"),
        "{said}"
    );
    assert_eq!(blocks[1]["text"], "no such city");
    let all = everything();
    let others = &all["content"].as_array().expect("blocks")[1..];
    assert_eq!(&blocks[2..=others.len() + 1], others);
    let structured = blocks
        .last()
        .and_then(|block| block["text"].as_str())
        .expect("a text");
    assert_eq!(structured, everything()["structuredContent"].to_string());
    assert_eq!(result.get("structuredContent"), None);
    assert_eq!(result["_meta"]["example.com/trace"], "t1");
    assert_eq!(result["_meta"]["toolgate/code"], "execution_failed");
}

#[tokio::test]
async fn headers_take_secrets_and_no_answer_shows_them() {
    let upstream = Upstream::new(|message| {
        (message["method"] == "tools/call").then(|| {
            Reply::Result(json!({"content": [{"type": "text", "text": "you sent hunter22hunter22"}]}))
        })
    })
    .await;
    let app = crate::support::TestApp::with(&[
        ("TOOLGATE_EGRESS_ALLOW", &upstream.url),
        ("TOOLGATE_SECRETS_KEY", &crate::secrets::key(1)),
    ])
    .await;
    let admin = app.demo().await;
    let secret = json!({"value": "hunter22hunter22"});
    admin
        .send_json(
            axum::http::Method::PUT,
            "/projects/demo/secrets/TOKEN",
            &[],
            &secret,
        )
        .await
        .expect(201);
    let server = json!({"url": upstream.url, "headers": {"Authorization": "Bearer ${secret:TOKEN}"}});
    super::put(&admin, "weather", server).await;
    super::import(&admin, "weather").await;
    super::enable(&admin).await;
    let answer = call(&admin, "forecast", json!({"city": "Oslo"})).await;
    assert_eq!(
        answer["result"]["content"][0]["text"], "you sent [redacted]",
        "{answer}"
    );
    let (_, headers) = &upstream.seen("tools/call")[0];
    assert_eq!(headers["authorization"], "Bearer hunter22hunter22");
    let used = admin.get("/projects/demo/mcp-servers/weather").await.text();
    assert!(!used.contains("hunter22"), "{used}");
    let refused = admin
        .delete("/projects/demo/secrets/TOKEN", Some("*"))
        .await
        .expect(409);
    let faults = refused.json()["errors"].clone();
    assert_eq!(
        faults[0]["message"], "the MCP server \"weather\" uses it",
        "{faults}"
    );
}

#[tokio::test]
async fn a_session_that_the_server_forgot_is_opened_again_and_only_safe_calls_are_repeated() {
    for (read_only, expected) in [(true, "succeeded"), (false, "failed")] {
        let calls = AtomicUsize::new(0);
        let upstream = Upstream::new(move |message| match message["method"].as_str() {
            Some("initialize") => None,
            Some("tools/list") => {
                let mut tool = super::forecast("d");
                tool["annotations"]["readOnlyHint"] = json!(read_only);
                Some(Reply::Result(json!({"tools": [tool]})))
            }
            Some("tools/call") if calls.fetch_add(1, Ordering::Relaxed) == 0 => Some(Reply::Body(
                StatusCode::NOT_FOUND,
                "text/plain",
                b"unknown session".to_vec(),
            )),
            _ => None,
        })
        .await;
        let app = with_tools(&upstream, json!({"url": upstream.url})).await;
        let admin = app.admin().await;
        let first = call(&admin, "forecast", json!({"city": "Oslo"})).await;
        assert_eq!(first["status"], expected, "{first}");
        let second = call(&admin, "forecast", json!({"city": "Oslo"})).await;
        assert_eq!(second["status"], "succeeded", "{second}");
        assert_eq!(upstream.seen("tools/call").len(), if read_only { 3 } else { 2 });
    }
}

#[tokio::test]
async fn a_tool_of_a_server_that_is_gone_or_disabled_is_refused_with_the_way_on() {
    let upstream = Upstream::new(|_| None).await;
    let app = with_tools(&upstream, json!({"url": upstream.url})).await;
    let admin = app.admin().await;
    let path = "/projects/demo/mcp-servers/weather";
    let disabled = json!({"url": upstream.url, "enabled": false});
    admin
        .send_json(
            axum::http::Method::PUT,
            path,
            &[(header::IF_MATCH, "*")],
            &disabled,
        )
        .await
        .expect(200);
    let refused = call(&admin, "forecast", json!({"city": "Oslo"})).await;
    assert_eq!(refused["error"]["code"], "tool_unavailable");
    assert!(
        refused["error"]["message"]
            .as_str()
            .expect("words")
            .contains("disabled"),
        "{refused}"
    );
    admin.delete(path, Some("*")).await.expect(204);
    let refused = call(&admin, "forecast", json!({"city": "Oslo"})).await;
    assert!(
        refused["error"]["message"]
            .as_str()
            .expect("words")
            .contains("no MCP server"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_server_that_answers_whatever_it_is_asked_is_begun_with_by_initialize() {
    let upstream =
        Upstream::new(|message| (message["method"] == "server/discover").then(|| Reply::Result(json!({}))))
            .await;
    let app = with_tools(&upstream, json!({"url": upstream.url})).await;
    let admin = app.admin().await;
    let answer = call(&admin, "forecast", json!({"city": "Oslo"})).await;
    assert_eq!(answer["status"], "succeeded", "{answer}");
    let asked = |method: &str| upstream.seen(method).len();
    assert_eq!((asked("server/discover"), asked("initialize")), (1, 1));
}

#[tokio::test]
async fn arguments_of_the_definition_are_sent_with_those_of_the_caller() {
    let upstream = Upstream::new(|message| {
        (message["method"] == "tools/list").then(|| {
            let text = json!({"type": "string"});
            let mut tool = super::forecast("Says the weather.");
            for (name, schema) in [
                ("units", &text),
                ("key", &text),
                ("days", &json!({"type": "integer"})),
            ] {
                tool["inputSchema"]["properties"][name] = schema.clone();
            }
            Reply::Result(json!({"tools": [tool]}))
        })
    })
    .await;
    let app = crate::support::TestApp::with(&[
        ("TOOLGATE_EGRESS_ALLOW", &upstream.url),
        ("TOOLGATE_TOOL_ENV", "WEATHER_KEY"),
        ("WEATHER_KEY", "hunter22hunter22"),
    ])
    .await;
    let admin = app.demo().await;
    super::put(&admin, "weather", json!({"url": upstream.url})).await;
    super::import(&admin, "weather").await;
    super::enable(&admin).await;
    let tool = admin
        .get("/projects/demo/tools/forecast")
        .await
        .expect(200)
        .json();
    let mut definition = tool["definition"].clone();
    definition["options"]["args"] = json!({"defaults": {"days": 3}, "fixed": {"units": "metric"}});
    definition["options"]["envs"] = json!({"key": "WEATHER_KEY"});
    admin.post("/projects/demo/tools", &definition).await.expect(200);

    for (asked, days) in [
        (json!({"city": "Oslo"}), 3),
        (json!({"city": "Oslo", "days": 5}), 5),
    ] {
        let answer = call(&admin, "forecast", asked).await;
        assert_eq!(answer["status"], "succeeded", "{answer}");
        let calls = upstream.seen("tools/call");
        let sent = &calls.last().expect("a call").0["params"]["arguments"];
        let expected = json!({"city": "Oslo", "days": days, "units": "metric", "key": "hunter22hunter22"});
        assert_eq!(*sent, expected);
    }
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    let listed = McpClient::begun(agent, "")
        .await
        .ask("tools/list", json!({}))
        .await;
    let shown: Vec<&String> = listed["tools"][0]["inputSchema"]["properties"]
        .as_object()
        .expect("properties")
        .keys()
        .collect();
    assert_eq!(shown, ["city", "days"], "{listed}");
}
