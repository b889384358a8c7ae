//! The Jina preset against the stand-in of both hosts.

use rstest::rstest;
use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_executors::{Execution, Failure};

use crate::jina::{BROKE_KEY, JinaStandIn, VALID_KEY};
use crate::support::{call, executors, tool};

async fn run(
    jina: &JinaStandIn,
    key: Option<&str>,
    options: Value,
    arguments: Value,
) -> Result<Execution, Failure> {
    let envs: Vec<_> = key
        .map(|key| ("JINA_API_KEY", key))
        .into_iter()
        .chain([("EXTRA", "env-secret-1")])
        .collect();
    let executors = executors(&[&jina.search, &jina.reader], &envs);
    executors.execute(&mut call(&tool(options), arguments)).await
}

fn search(jina: &JinaStandIn, more: Value) -> Value {
    merged(json!({"mode": "search", "base_url": jina.search}), more)
}

fn reader(jina: &JinaStandIn, more: Value) -> Value {
    merged(json!({"mode": "reader", "base_url": jina.reader}), more)
}

fn merged(mut base: Value, more: Value) -> Value {
    let (Value::Object(base_fields), Value::Object(more)) = (&mut base, more) else {
        panic!("objects")
    };
    base_fields.extend(more);
    base
}

#[rstest]
#[case::get("GET")]
#[case::post("POST")]
#[tokio::test]
async fn search_returns_the_hits_and_what_they_cost(#[case] method: &str) {
    let jina = JinaStandIn::start().await;
    let options = json!({"jina": search(&jina, json!({"method": method})), "envs": {"api_key": "EXTRA"}});
    let execution = run(
        &jina,
        Some(VALID_KEY),
        options,
        json!({"query": "rust & co", "num": 2}),
    )
    .await
    .expect("hits");
    assert_eq!(execution.result.to_value()[1]["title"], "Result 2 for rust & co");
    assert_eq!(execution.result.to_value().as_array().map(Vec::len), Some(2));
    assert_eq!(execution.usage, Some(json!({"tokens": 2000})));
    let received = jina.received();
    assert_eq!((received.len(), received[0].method.as_str()), (1, method));
    assert!(!received[0].target.contains("secret"), "{}", received[0].target);
    match method {
        "GET" => assert_eq!(received[0].headers["x-api-key"], "env-secret-1"),
        _ => assert_eq!(received[0].body["api_key"], "env-secret-1"),
    }
}

#[tokio::test]
async fn the_reader_gets_the_target_and_nothing_else_in_it() {
    let jina = JinaStandIn::start().await;
    let target = "https://x.example/p?a=1&b=2";
    for (options, arguments) in [
        (
            json!({}),
            json!({"url": target, "session_id": "s", "respondWith": "text"}),
        ),
        (
            json!({"method": "GET"}),
            json!({"url": target, "respondWith": "text", "no_cache": true}),
        ),
    ] {
        let options = json!({"jina": reader(&jina, options), "envs": {"proxy_url": "EXTRA"}});
        let execution = run(&jina, None, options, arguments).await.expect("a page");
        assert_eq!(
            execution.result.to_value()["url"],
            target,
            "the page's address arrives unchanged"
        );
        assert_eq!(execution.usage, Some(json!({"tokens": 42})));
    }
    let [post, get] = &jina.received()[..] else {
        panic!("two requests")
    };
    assert_eq!((post.method.as_str(), post.target.as_str()), ("POST", "/"));
    assert_eq!(post.body["session_id"], "s");
    assert_eq!(get.headers["x-respond-with"], "text");
    assert_eq!(get.headers["x-proxy-url"], "env-secret-1");
    assert!(get.headers.get("authorization").is_none());
}

#[tokio::test]
async fn text_answers_are_understood() {
    let jina = JinaStandIn::start().await;
    let options = json!({"jina": reader(&jina, json!({"accept": "text/plain"}))});
    let execution = run(
        &jina,
        Some(VALID_KEY),
        options,
        json!({"url": "https://x.example/"}),
    )
    .await
    .expect("a page");
    assert_eq!(execution.result.to_value()["title"], "A page");
    assert!(
        execution.result.to_value()["text"]
            .as_str()
            .is_some_and(|text| text.ends_with("Hello\n"))
    );
    assert_eq!(execution.usage, Some(json!({"tokens": 42})));
}

#[rstest]
#[case::bad_key(Some("jina_wrong_key_1"), "x", ErrorCode::UpstreamAuth, 401, None)]
#[case::no_credit(Some(BROKE_KEY), "x", ErrorCode::UpstreamQuota, 402, None)]
#[case::limited(
    Some(VALID_KEY),
    "rate limited",
    ErrorCode::UpstreamRateLimited,
    429,
    Some(17)
)]
#[case::empty(Some(VALID_KEY), "no results", ErrorCode::UpstreamRejected, 422, None)]
#[tokio::test]
async fn errors_are_distinguished_in_json_and_text(
    #[case] key: Option<&str>,
    #[case] q: &str,
    #[case] code: ErrorCode,
    #[case] status: u16,
    #[case] retry_after_s: Option<u32>,
) {
    let jina = JinaStandIn::start().await;
    for accept in ["application/json", "text/plain"] {
        let options = json!({"jina": search(&jina, json!({"accept": accept}))});
        let failure = run(&jina, key, options, json!({"q": q}))
            .await
            .expect_err("an error");
        assert_eq!(
            (failure.code, failure.upstream_status),
            (code, Some(status)),
            "{accept}"
        );
        assert_eq!(failure.retry_after_s, retry_after_s, "{accept}");
        assert!(
            !format!("{failure:?}").contains(key.expect("a key")),
            "{failure:?}"
        );
    }
    assert_eq!(jina.received().len(), 2, "none of them is tried again");
}

#[tokio::test]
async fn a_search_without_a_key_never_leaves() {
    let jina = JinaStandIn::start().await;
    let options = json!({"jina": search(&jina, json!({}))});
    let failure = run(&jina, None, options, json!({"q": "x"}))
        .await
        .expect_err("no key");
    assert_eq!(
        (failure.code, failure.retryable),
        (ErrorCode::ToolUnavailable, false)
    );
    assert!(failure.message.contains("JINA_API_KEY"), "{}", failure.message);
    assert!(jina.received().is_empty());
}

#[tokio::test]
async fn a_target_that_jina_refuses_is_a_rejection() {
    let jina = JinaStandIn::start().await;
    let options = json!({"jina": reader(&jina, json!({}))});
    let failure = run(&jina, None, options, json!({"url": "http://10.0.0.1/"}))
        .await
        .expect_err("refused");
    assert_eq!(
        (failure.code, failure.retryable),
        (ErrorCode::UpstreamRejected, false)
    );
    assert!(
        failure
            .upstream_message
            .is_some_and(|text| text.contains("Private addresses"))
    );
}
