//! What a definition says about tries, breakers, calls at a time and answers that serve again.

use std::sync::Arc;

use rstest::rstest;
use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_core::definition::model::ToolDefinition;
use toolgate_core::ids::CallId;
use toolgate_executors::{AnswerUses, Execution, Executors, Failure, PlaceUses};

use crate::support::{Server, Step, answer, call, executors, ok, tool};

fn http(server: &Server, more: Value) -> Arc<ToolDefinition> {
    let mut http = json!({"base_url": server.url});
    if let (Value::Object(http), Value::Object(more)) = (&mut http, more) {
        http.extend(more);
    }
    tool(json!({"timeout_ms": 20_000, "http": http}))
}

async fn run(executors: &Executors, tool: &Arc<ToolDefinition>) -> Result<Execution, Failure> {
    executors.execute(&mut call(tool, json!({}))).await
}

#[rstest]
#[case::the_standard(json!({}), 503, 3)]
#[case::a_single_try(json!({"retry": {"attempts": 1}}), 503, 1)]
#[case::more(json!({"retry": {"attempts": 5, "backoff_ms": 1}}), 503, 5)]
#[case::another_status(json!({"retry": {"attempts": 2, "on": [500], "backoff_ms": 1}}), 500, 2)]
#[case::not_this_status(json!({"retry": {"attempts": 2, "on": [500], "backoff_ms": 1}}), 503, 1)]
#[case::a_method_that_may(json!({"method": "PUT", "retry": {"attempts": 2, "backoff_ms": 1}}), 503, 2)]
#[case::a_method_that_may_not(json!({"method": "POST"}), 503, 1)]
#[tokio::test]
async fn tries(#[case] more: Value, #[case] status: u16, #[case] expected: usize) {
    let server = Server::start([Step::Send(answer(status, &[], ""))]).await;
    let executors = executors(&[&server.url], &[]);
    run(&executors, &http(&server, more))
        .await
        .expect_err("a failure");
    assert_eq!(server.requests().len(), expected);
}

#[tokio::test]
async fn a_repetition_is_known_by_its_header() {
    let busy = Step::Send(answer(503, &[], ""));
    let server = Server::start([busy, Step::Send(ok("{}"))]).await;
    let executors = executors(&[&server.url], &[]);
    let retry = json!({"attempts": 2, "backoff_ms": 1, "idempotency_header": "Idempotency-Key"});
    let tool = http(&server, json!({"method": "POST", "retry": retry}));
    for id in [1, 2] {
        let mut invocation = call(&tool, json!({}));
        invocation.call_id = CallId(uuid::Uuid::from_u128(id));
        executors.execute(&mut invocation).await.expect("a result");
    }
    let keys: Vec<String> = server
        .requests()
        .iter()
        .map(|request| {
            let key = request
                .lines()
                .find_map(|line| line.strip_prefix("idempotency-key: "));
            key.expect("a key").to_owned()
        })
        .collect();
    assert_eq!(keys.len(), 3);
    assert_eq!(keys[0], keys[1], "the same call has the same key");
    assert_ne!(keys[1], keys[2], "another call has another");
}

#[tokio::test]
async fn a_breaker_opens_when_its_definition_says() {
    let server = Server::start([Step::Send(answer(503, &[], ""))]).await;
    let executors = executors(&[&server.url], &[]);
    let tool = http(
        &server,
        json!({"retry": {"attempts": 1}, "breaker": {"failures": 2, "open_s": 600}}),
    );
    let project = call(&tool, json!({})).project;
    for failures in 1..=2 {
        let failure = run(&executors, &tool).await.expect_err("a failure");
        assert_eq!(failure.code, ErrorCode::UpstreamUnavailable);
        assert_eq!(executors.tool_upstreams(&project)[0].failures, failures);
    }
    let failure = run(&executors, &tool).await.expect_err("left alone");
    assert_eq!(failure.code, ErrorCode::ToolUnavailable);
    assert!(failure.retry_after_s.is_some_and(|seconds| seconds > 500));
    assert_eq!(server.requests().len(), 2);

    let [upstream] = &executors.tool_upstreams(&project)[..] else {
        panic!("one tool was called")
    };
    assert_eq!(
        (upstream.tool.as_str(), upstream.host.as_str()),
        ("demo", "127.0.0.1")
    );
    assert_eq!(upstream.in_flight, 0);
    let open = upstream.open.expect("open");
    assert!(!open.probing && open.probe_in.as_secs() > 500 && open.ago.as_secs() < 100);
    let other = toolgate_core::ids::ProjectId::parse("other").expect("an id");
    assert_eq!(executors.tool_upstreams(&other), []);
}

#[tokio::test]
async fn a_definition_bounds_its_calls_at_a_time() {
    let server = Server::start([Step::Nothing]).await;
    let executors = Arc::new(executors(&[&server.url], &[]));
    let tool = http(&server, json!({"concurrency": 1}));
    let first = tokio::spawn({
        let (executors, tool) = (executors.clone(), tool.clone());
        async move { run(&executors, &tool).await }
    });
    while server.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    let project = call(&tool, json!({})).project;
    assert_eq!(executors.tool_upstreams(&project)[0].in_flight, 1);
    let places = |in_use, waiting, refused| {
        Some(PlaceUses {
            in_use,
            waiting,
            refused,
        })
    };
    let used = || executors.tool_uses(&project).remove(0);
    assert_eq!((used().places, used().answers), (places(1, 0, 0), None));
    let second = tokio::spawn({
        let (executors, tool) = (executors.clone(), tool.clone());
        async move { run(&executors, &tool).await }
    });
    while used().places == places(1, 0, 0) {
        tokio::task::yield_now().await;
    }
    assert_eq!(used().places, places(1, 1, 0));
    second.await.expect("it ends").expect_err("no place");
    assert_eq!(used().places, places(1, 0, 1));
    let failure = run(&executors, &tool).await.expect_err("no place");
    assert_eq!(failure.code, ErrorCode::ToolUnavailable);
    assert!(
        failure.message.contains("at the same time"),
        "{}",
        failure.message
    );
    assert_eq!(server.requests().len(), 1);
    first.abort();
}

/// A cached tool whose answers are numbered.
async fn numbered(headers: &[(&str, &str)]) -> Server {
    let mut all = vec![("content-type", "application/json")];
    all.extend(headers);
    let steps: Vec<Step> = (1..=9)
        .map(|n| Step::Send(answer(200, &all, n.to_string())))
        .collect();
    Server::start(steps).await
}

#[tokio::test]
async fn an_answer_serves_the_same_request_again() {
    let server = numbered(&[]).await;
    let executors = executors(&[&server.url], &[]);
    let tool = http(&server, json!({"cache": {"ttl_s": 3600}}));
    let ask = async |arguments: Value| {
        executors
            .execute(&mut call(&tool, arguments))
            .await
            .expect("a result")
            .result
    };
    assert_eq!(ask(json!({"q": "a"})).await, json!(1));
    assert_eq!(ask(json!({"q": "b"})).await, json!(2), "another request");
    assert_eq!(ask(json!({"q": "a"})).await, json!(1));
    // What belongs to the call alone makes no other request.
    let mut invocation = call(&tool, json!({"q": "b"}));
    invocation.call_id = CallId(uuid::Uuid::from_u128(7));
    let traced = http::HeaderValue::from_static("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    invocation.trace.insert("traceparent", traced);
    let again = executors.execute(&mut invocation).await.expect("a result");
    assert_eq!(again.result, json!(2));
    assert_eq!(server.requests().len(), 2);
    let used = executors.tool_uses(&call(&tool, json!({})).project).remove(0);
    assert_eq!(
        (used.places, used.answers),
        (None, Some(AnswerUses { hits: 2, misses: 2 }))
    );
}

#[tokio::test]
async fn another_definition_another_project_and_another_credential_share_nothing() {
    let server = numbered(&[]).await;
    let first = executors(&[&server.url], &[("A", "credential-a"), ("B", "credential-b")]);
    let tool_of = |env: &str| http(&server, json!({"cache": {"ttl_s": 3600}, "auth": {"env": env}}));
    let tool = tool_of("A");
    run(&first, &tool).await.expect("a result");
    run(&first, &tool).await.expect("a result");
    assert_eq!(server.requests().len(), 1);
    let mut elsewhere = call(&tool, json!({}));
    elsewhere.project = toolgate_core::ids::ProjectId::parse("other").expect("an id");
    first.execute(&mut elsewhere).await.expect("a result");
    assert_eq!(server.requests().len(), 2);
    run(&first, &tool_of("A")).await.expect("a result");
    assert_eq!(server.requests().len(), 3, "a new definition");
    run(&first, &tool_of("B")).await.expect("a result");
    assert_eq!(server.requests().len(), 4);
}

#[rstest]
#[case::no_store("no-store")]
#[case::among_others("private, No-Store")]
#[tokio::test]
async fn an_upstream_may_forbid_it(#[case] said: &str) {
    let server = numbered(&[("cache-control", said)]).await;
    let executors = executors(&[&server.url], &[]);
    let tool = http(&server, json!({"cache": {"ttl_s": 3600}}));
    for n in 1..=2 {
        assert_eq!(run(&executors, &tool).await.expect("a result").result, json!(n));
    }
}

#[tokio::test]
async fn failures_are_not_kept_and_what_is_kept_needs_no_upstream() {
    let refused = Step::Send(answer(404, &[], ""));
    let gone = Step::Send(answer(500, &[], ""));
    let server = Server::start([refused, Step::Send(ok("1")), gone]).await;
    let executors = executors(&[&server.url], &[]);
    let tool = http(&server, json!({"cache": {"ttl_s": 3600}}));
    run(&executors, &tool).await.expect_err("a failure");
    for _ in 0..3 {
        assert_eq!(run(&executors, &tool).await.expect("a result").result, json!(1));
    }
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn an_answer_ends() {
    let server = numbered(&[]).await;
    let executors = executors(&[&server.url], &[]);
    let tool = http(&server, json!({"cache": {"ttl_s": 1}}));
    let first = run(&executors, &tool).await.expect("a result").result;
    assert_eq!(first, json!(1));
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while run(&executors, &tool).await.expect("a result").result == first {
        assert!(std::time::Instant::now() < until, "it never ends");
        tokio::task::yield_now().await;
    }
}
