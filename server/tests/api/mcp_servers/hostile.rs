//! Upstreams that break the protocol, on purpose or not: each costs its own call only.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::stdio::until;
use super::{Reply, SERVERS, Upstream, call, put, with_tools};
use crate::support::TestApp;

/// What a call of a tool comes to when its server answers like this.
async fn called(reply: impl Fn() -> Reply + Send + Sync + 'static) -> Value {
    let upstream = Upstream::new(move |message| (message["method"] == "tools/call").then(&reply)).await;
    let app = with_tools(&upstream, json!({"url": upstream.url})).await;
    let admin = app.admin().await;
    call(&admin, "forecast", json!({"city": "Oslo"})).await
}

fn events(events: &[&str]) -> Reply {
    Reply::Events(events.iter().map(|&event| event.to_owned()).collect())
}

const ANSWER: &str = r#"{"jsonrpc":"2.0","id":"$ID","result":{"content":[{"type":"text","text":"sunny"}]}}"#;

#[tokio::test]
async fn notices_and_requests_before_the_answer_do_no_harm() {
    let answer = called(|| {
        events(&[
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"none","progress":1}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
            r#"{"jsonrpc":"2.0","id":"e1","method":"elicitation/create","params":{"message":"Your password?","requestedSchema":{"type":"object","properties":{}}}}"#,
            r#"{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{"messages":[],"maxTokens":10}}"#,
            ANSWER,
        ])
    })
    .await;
    assert_eq!(answer["result"]["content"][0]["text"], "sunny", "{answer}");
}

#[tokio::test]
async fn an_answer_under_another_id_is_never_taken_for_the_answer() {
    let answer = called(|| {
        let other = r#"{"jsonrpc":"2.0","id":98765,"result":{"content":[{"type":"text","text":"for another request"}]}}"#;
        events(&[other])
    })
    .await;
    assert_eq!(answer["error"]["code"], "upstream_unavailable", "{answer}");
    assert_eq!(answer["error"]["retryable"], false, "it may have run: {answer}");
}

#[tokio::test]
async fn a_server_that_asks_for_its_users_input_gets_none() {
    let upstream = Upstream::new(|message| {
        (message["method"] == "tools/call").then(|| {
            events(&[
                r#"{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{"messages":[],"maxTokens":10}}"#,
                r#"{"jsonrpc":"2.0","id":"s2","method":"roots/list"}"#,
                r#"{"jsonrpc":"2.0","id":"s3","method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}"#,
                ANSWER,
            ])
        })
    })
    .await;
    let app = with_tools(&upstream, json!({"url": upstream.url})).await;
    let admin = app.admin().await;
    call(&admin, "forecast", json!({"city": "Oslo"})).await;
    let capabilities = &upstream.seen("initialize")[0].0["params"]["capabilities"];
    for offered in ["sampling", "roots"] {
        assert_eq!(capabilities.get(offered), None, "{capabilities}");
    }
    // Nothing is answered in a person's name.
    until("an answer to each request", || upstream.answers().len() == 3).await;
    for (id, answer) in upstream.answers() {
        assert_eq!(answer["error"]["code"], -32601, "{id}: {answer}");
    }
}

#[tokio::test]
async fn broken_answers_are_failures_with_a_reason() {
    type Case = (&'static str, fn() -> Reply, &'static str);
    let cases: [Case; 8] = [
        (
            "no JSON",
            || Reply::Body(StatusCode::OK, "application/json", b"{".to_vec()),
            "upstream_invalid",
        ),
        (
            "a page",
            || Reply::Body(StatusCode::OK, "text/html", b"<html>".to_vec()),
            "upstream_invalid",
        ),
        (
            "no result",
            || Reply::Result(json!({"weather": "sunny"})),
            "upstream_invalid",
        ),
        (
            "an error",
            || Reply::Error(-32602, "no such tool"),
            "upstream_rejected",
        ),
        (
            "an inner error",
            || Reply::Error(-32603, "oops"),
            "execution_failed",
        ),
        (
            "401",
            || Reply::Body(StatusCode::UNAUTHORIZED, "text/plain", b"who?".to_vec()),
            "upstream_auth",
        ),
        (
            "429",
            || Reply::Body(StatusCode::TOO_MANY_REQUESTS, "text/plain", b"slow".to_vec()),
            "upstream_rate_limited",
        ),
        (
            "503",
            || Reply::Body(StatusCode::SERVICE_UNAVAILABLE, "text/plain", b"down".to_vec()),
            "upstream_unavailable",
        ),
    ];
    for (what, reply, code) in cases {
        let answer = called(reply).await;
        assert_eq!(answer["error"]["code"], code, "{what}: {answer}");
    }
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_refused_in_whichever_way_it_comes() {
    let large = || "x".repeat(12 << 20);
    let answer = called(move || Reply::Result(json!({"content": [{"type": "text", "text": large()}]}))).await;
    assert_eq!(answer["error"]["code"], "upstream_invalid", "{answer}");
    let answer = called(move || {
        Reply::Events(vec![format!(
            r#"{{"jsonrpc":"2.0","id":"$ID","result":{{"content":[{{"type":"text","text":"{}"}}]}}}}"#,
            large()
        )])
    })
    .await;
    assert_ne!(answer["status"], "succeeded");
}

#[tokio::test]
async fn a_redirect_to_a_private_address_is_not_followed() {
    let answer = called(|| Reply::To("http://169.254.169.254/latest/meta-data".to_owned())).await;
    assert_eq!(answer["error"]["code"], "egress_denied", "{answer}");
}

#[tokio::test]
async fn a_call_that_is_never_answered_ends_in_time_and_is_cancelled_upstream() {
    let upstream = Upstream::new(|message| (message["method"] == "tools/call").then_some(Reply::Never)).await;
    let app = with_tools(&upstream, json!({"url": upstream.url})).await;
    let admin = app.admin().await;
    let tool = admin.get("/projects/demo/tools/forecast").await.expect(200);
    let mut definition = tool.json()["definition"].clone();
    definition["options"] = json!({"timeout_ms": 300});
    admin.post("/projects/demo/tools", &definition).await.expect(200);
    let answer = call(&admin, "forecast", json!({"city": "Oslo"})).await;
    assert_eq!(answer["error"]["code"], "timeout", "{answer}");
    assert_eq!(upstream.seen("tools/call").len(), 1, "it is sent once");
    let cancelled = || upstream.seen("notifications/cancelled");
    tokio::time::timeout(std::time::Duration::from_secs(20), async {
        while cancelled().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("the server is informed");
}

#[tokio::test]
async fn a_list_without_an_end_is_given_up() {
    let upstream = Upstream::new(|message| {
        let page = || Reply::Result(json!({"tools": [super::forecast("d")], "nextCursor": "again"}));
        (message["method"] == "tools/list").then(page)
    })
    .await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &upstream.url)]).await;
    let admin = app.demo().await;
    put(&admin, "weather", json!({"url": upstream.url})).await;
    let tested = admin
        .post(&format!("{SERVERS}/weather/test"), &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!(tested["ok"], false);
    assert_eq!(
        tested["connection"]["last_error"]["code"], "upstream_invalid",
        "{tested}"
    );
    assert_eq!(upstream.seen("tools/list").len(), 2);
    let refused = admin
        .post(&format!("{SERVERS}/weather/refresh"), &json!({}))
        .await;
    refused.problem(502, "upstream_invalid");
}

#[tokio::test]
async fn a_server_that_never_answers_costs_no_other_server_anything() {
    let silent = Upstream::new(|_| Some(Reply::Never)).await;
    let upstream = Upstream::new(|_| None).await;
    let allowed = format!("{},{}", silent.url, upstream.url);
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &allowed)]).await;
    let admin = app.demo().await;
    put(
        &admin,
        "silent",
        json!({"url": silent.url, "timeout_ms": 300_000}),
    )
    .await;
    put(&admin, "weather", json!({"url": upstream.url})).await;
    app.run_background();
    tokio::time::timeout(std::time::Duration::from_secs(60), async {
        while silent.seen("server/discover").is_empty() && silent.seen("initialize").is_empty() {
            tokio::task::yield_now().await;
        }
        super::import(&admin, "weather").await;
        super::enable(&admin).await;
        assert_eq!(
            call(&admin, "forecast", json!({"city": "Oslo"})).await["status"],
            "succeeded"
        );
        let listed = admin.get(SERVERS).await.expect(200).json();
        assert_eq!(
            listed["items"][0]["connection"]["state"], "connecting",
            "{listed}"
        );
    })
    .await
    .expect("the other server is not waited for");
}
