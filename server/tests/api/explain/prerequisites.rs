//! What a call needs beside the decision, as it is explained: room in the limits, and something that executes its tool.

use axum::http::Method;
use serde_json::{Value, json};

use super::{CALLS, EXPLAIN, demo, with_upstream};
use crate::support::{ANY, Client, echo, tool};

async fn limit(admin: &Client<'_>, limit: Value) {
    let limits = json!({"limits": [limit]});
    admin
        .send_json(Method::PUT, "/projects/demo/limits", &ANY, &limits)
        .await
        .expect(200);
}

/// One test of the first tool that was explained.
fn report<'a>(explained: &'a Value, test: &str) -> &'a Value {
    let tests = explained["items"][0]["tests"].as_array().expect("tests");
    let found = tests.iter().find(|report| report["test"] == test);
    found.unwrap_or_else(|| panic!("{test} in {explained}"))
}

#[tokio::test]
async fn a_limit_that_is_used_up_is_explained_as_a_call_is_answered() {
    let base = echo().await;
    let app = with_upstream(&base).await;
    let admin = demo(&app, &base).await;
    let agent = app.key(&admin, "demo", "agent", &["default"]).await;
    limit(
        &admin,
        json!({"name": "hourly", "subject": {"kind": "each_key"}, "requests": {"count": 2, "per_s": 3600}}),
    )
    .await;
    let ask = json!({"tool": "plain"});
    for _ in 0..5 {
        let explained = agent.post(EXPLAIN, &ask).await.expect(200).json();
        assert_eq!(
            report(&explained, "limits")["outcome"],
            "passed",
            "asking uses nothing up"
        );
    }
    for _ in 0..2 {
        agent.post(CALLS, &ask).await.expect(200);
    }
    let explained = agent.post(EXPLAIN, &ask).await.expect(200).json();
    let refused = agent.post(CALLS, &ask).await.problem(429, "rate_limited");
    let item = &explained["items"][0];
    assert_eq!(
        (&item["effect"], &item["code"]),
        (&json!("deny"), &refused["code"])
    );
    assert_eq!(report(&explained, "limits")["outcome"], "failed");
    assert_eq!(report(&explained, "execution")["outcome"], "not_reached");
    assert_eq!(report(&explained, "execution")["would_pass"], true);
    for text in [&item["summary"], &report(&explained, "limits")["hint"]] {
        assert!(text.as_str().expect("a text").contains("\"hourly\""), "{item}");
    }
    assert_eq!(item["state"]["after"], item["state"]["before"]);

    // An owner sees it of the key, but has used nothing of the limit for keys.
    let me = agent.get("/auth/me").await.expect(200).json();
    let of_key =
        json!({"tool": "plain", "principal": format!("service_key:{}", me["id"].as_str().expect("an id"))});
    let explained = admin.post(EXPLAIN, &of_key).await.expect(200).json();
    assert_eq!(explained["items"][0]["code"], "rate_limited");
    let explained = admin.post(EXPLAIN, &ask).await.expect(200).json();
    assert_eq!(explained["items"][0]["effect"], "allow");
    // What is refused before does not get that far.
    let other = json!({"tool": "plain", "group": ["basic"]});
    let explained = agent.post(EXPLAIN, &other).await.expect(200).json();
    assert_eq!(explained["items"][0]["code"], "insufficient_tool_groups");
    assert_eq!(report(&explained, "limits")["outcome"], "not_reached");

    // The use of a later time is not known.
    let later = json!({"tool": "plain", "at": "2099-01-01T00:00:00Z"});
    let explained = agent.post(EXPLAIN, &later).await.expect(200).json();
    assert_eq!(explained["items"][0]["effect"], "allow");
    assert_eq!(report(&explained, "limits")["outcome"], "unknown");
    assert!(
        report(&explained, "limits")["hint"]
            .as_str()
            .expect("why")
            .contains("`at`")
    );
}

#[tokio::test]
async fn a_tool_that_cannot_be_executed_is_admitted_and_would_fail() {
    let base = echo().await;
    let app = with_upstream(&base).await;
    let admin = demo(&app, &base).await;
    let secretive = format!(
        "name: secretive\ntype: openapi\ndescription: d\nparameters: {{type: object, properties: {{}}}}\noptions:\n  \
         http: {{base_url: \"{base}\", path: /x, method: POST, body: {{q: q}}}}\n  envs: {{q: \"secret:NOT_SET\"}}\n"
    );
    let tools = [
        tool("elsewhere", "https://elsewhere.example", "/x", ""),
        secretive,
    ];
    admin
        .upload("/projects/demo/tools", &tools.join("---\n"))
        .await
        .expect(201);
    for (name, arguments, code) in [
        ("plain", json!({}), None),
        ("elsewhere", json!({}), Some("egress_denied")),
        ("secretive", json!({}), Some("tool_unavailable")),
    ] {
        let ask = json!({"tool": name, "arguments": arguments});
        let explained = admin.post(EXPLAIN, &ask).await.expect(200).json();
        let called = admin.post(CALLS, &ask).await.expect(200).json();
        let item = &explained["items"][0];
        assert_eq!(
            (&item["effect"], &item["code"]),
            (&json!("allow"), &Value::Null),
            "{name}"
        );
        let execution = report(&explained, "execution");
        assert_eq!(called["error"]["code"].as_str(), code, "{called}");
        assert_eq!(execution["code"].as_str(), code, "{execution}");
        if code.is_some() {
            assert_eq!(execution["outcome"], "failed");
            assert_eq!(execution["hint"], called["error"]["message"]);
            let remedy = match name {
                "elsewhere" => json!({"kind": "allow_host", "origin": "https://elsewhere.example"}),
                _ => json!({"kind": "set_secret", "name": "NOT_SET"}),
            };
            assert_eq!(execution["remedy"], remedy);
            assert_eq!(called["error"]["remedy"], remedy);
            let why = execution["hint"].as_str().expect("why");
            assert!(item["summary"].as_str().expect("a text").contains(why), "{item}");
        } else {
            assert_eq!(execution["outcome"], "passed");
        }
    }
}
