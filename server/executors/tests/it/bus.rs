//! Tool services behind a real message bus.

mod connecting;
mod faults;
mod support;
mod workers;

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolgate_api::ErrorCode;
use toolgate_executors::{Failure, Invocation};

use self::support::{ANSWERS, Harness, JOKES, headers, listening, tool};
use crate::nats::Nats;

#[tokio::test]
async fn a_service_gets_the_envelope_of_the_specification_and_its_text_is_the_result() {
    let (_nats, bus, mut jokes, tool) = listening(&json!({"style": "pun", "unlisted": 1}), &json!({})).await;
    let call = bus.call(&tool, json!({"topic": "Zürich"}));
    let asked = async {
        let request = jokes.next().await;
        let sent: Value = serde_json::from_slice(&request.message.payload).expect("JSON");
        assert_eq!(
            sent,
            json!({"user": "alice", "config": r#"{"style":"pun"}"#, "arguments": r#"{"topic":"Zürich"}"#})
        );
        let names: Vec<String> = request
            .headers()
            .iter()
            .map(|(name, _)| name.to_string())
            .collect();
        assert!(
            names.contains(&"id".to_owned()) && names.contains(&"timeout-ms".to_owned()),
            "{names:?}"
        );
        assert_eq!(request.id().len(), 32);
        bus.answer(
            ANSWERS,
            &request,
            r#"{"error": null, "response": "Knock {knock}", "end_of_stream": true}"#,
        )
        .await;
    };
    let (result, ()) = tokio::join!(call, asked);
    assert_eq!(result, Ok(json!("Knock {knock}")));
}

#[rstest]
#[case::text(r#"{"response": "{\"a\": 1}"}"#, None, json!("{\"a\": 1}"))]
#[case::value(r#"{"response": {"a": [1, 2.5]}}"#, None, json!({"a": [1, 2.5]}))]
#[case::json_text(r#"{"response": "{\"a\": 1}"}"#, Some("application/json"), json!({"a": 1}))]
#[case::nothing("{}", None, json!(""))]
#[tokio::test]
async fn texts_stay_texts_and_other_values_are_json(
    #[case] answer: &str,
    #[case] content_type: Option<&str>,
    #[case] expected: Value,
) {
    let (_nats, bus, mut jokes, tool) = listening(&json!({}), &json!({})).await;
    let answered = async {
        let request = jokes.next().await;
        let mut headers = headers(request.id());
        if let Some(kind) = content_type {
            headers.insert("content-type", kind);
        }
        bus.publish(&request.inbox(), headers, answer).await;
    };
    let (result, ()) = tokio::join!(bus.call(&tool, json!({})), answered);
    assert_eq!(result, Ok(expected));
}

#[rstest]
#[case::in_order(&[0, 1, 2])]
#[case::reordered(&[2, 0, 1])]
#[case::repeated(&[0, 0, 1, 1, 2])]
#[tokio::test]
async fn the_messages_of_an_answer_are_joined_in_order_and_passed_on_as_they_come(#[case] sent: &[usize]) {
    const WORDS: [&str; 3] = ["Why ", "so ", "serious?"];
    let (_nats, bus, mut jokes, tool) = listening(&json!({}), &json!({})).await;
    let (to, mut parts) = mpsc::channel(16);
    let call = bus.run(Invocation {
        parts: Some(to),
        ..bus.invocation(&tool, json!({}))
    });
    let answering = async {
        let request = jokes.next().await;
        for &number in sent {
            let mut headers = headers(request.id());
            headers.insert("seq", number.to_string().as_str());
            let text = json!({"response": WORDS[number], "end_of_stream": number == 2}).to_string();
            bus.publish(ANSWERS, headers, &text).await;
        }
    };
    let (result, ()) = tokio::join!(call, answering);
    assert_eq!(result, Ok(json!("Why so serious?")));
    for word in WORDS {
        assert_eq!(parts.try_recv().ok(), Some(json!(word)));
    }
    assert!(parts.try_recv().is_err());
}

#[tokio::test]
async fn only_the_answer_to_the_request_counts_wherever_else_it_comes_from() {
    let (_nats, bus, mut jokes, tool) = listening(&json!({}), &json!({})).await;
    let answering = async {
        let request = jokes.next().await;
        let forged = r#"{"response": "forged"}"#;
        // Another id, none, another queue, and another request's inbox.
        bus.publish(ANSWERS, headers("0"), forged).await;
        bus.publish(ANSWERS, async_nats::HeaderMap::new(), forged).await;
        bus.publish("tg.demo.elsewhere", headers(request.id()), forged)
            .await;
        let inbox = request.inbox();
        bus.publish(&inbox, headers("0"), forged).await;
        let others = inbox.rsplit_once('.').expect("tokens").0;
        bus.publish(&format!("{others}.0"), headers(request.id()), forged)
            .await;
        bus.answer(ANSWERS, &request, r#"{"response": "true"}"#).await;
    };
    let (result, ()) = tokio::join!(bus.call(&tool, json!({})), answering);
    assert_eq!(result, Ok(json!("true")));
    assert_eq!(bus.report().messages.foreign, 4);
}

#[rstest]
#[case::by_the_base_class(r#"{"error": {"type": "tool-service-error", "message": "no joke"}, "response": "", "end_of_stream": true}"#, ErrorCode::ExecutionFailed, "no joke")]
#[case::without_a_reason(
    r#"{"error": {"type": "", "message": ""}}"#,
    ErrorCode::ExecutionFailed,
    "no reason"
)]
#[case::rate_limit(
    r#"{"error": {"type": "rate_limit", "message": "slow down"}}"#,
    ErrorCode::UpstreamRateLimited,
    "slow down"
)]
#[case::unavailable(
    r#"{"error": {"type": "unavailable"}}"#,
    ErrorCode::UpstreamUnavailable,
    "unavailable"
)]
#[case::rejected(
    r#"{"error": {"type": "invalid-arguments", "message": "topic"}}"#,
    ErrorCode::UpstreamRejected,
    "topic"
)]
#[case::no_json("Knock knock", ErrorCode::UpstreamInvalid, "cannot be used")]
#[case::no_envelope(r#"["Knock"]"#, ErrorCode::UpstreamInvalid, "cannot be used")]
#[case::no_flag(r#"{"end_of_stream": "no"}"#, ErrorCode::UpstreamInvalid, "cannot be used")]
#[tokio::test]
async fn what_goes_wrong_in_a_service_has_its_code(
    #[case] answer: &str,
    #[case] code: ErrorCode,
    #[case] message: &str,
) {
    let (_nats, bus, mut jokes, tool) = listening(&json!({}), &json!({})).await;
    let result = bus.answered(&mut jokes, &tool, answer).await;
    let failure = result.expect_err("failed");
    assert_eq!(failure.code, code, "{failure:?}");
    assert!(failure.message.contains(message), "{failure:?}");
}

#[tokio::test]
async fn without_an_instance_of_the_service_the_call_fails_at_once() {
    let nats = Nats::start();
    let bus = Harness::new(&nats).await;
    let failure = bus
        .call(&tool(&json!({}), &json!({})), json!({}))
        .await
        .expect_err("no subscriber");
    assert_eq!(failure.code, ErrorCode::UpstreamUnavailable);
    assert!(
        failure.message.contains("no instance of the tool service jokes"),
        "{failure:?}"
    );
}

#[tokio::test]
async fn a_call_that_is_given_up_is_cancelled_at_the_service() {
    let nats = Nats::start();
    let bus = Harness::new(&nats).await;
    let mut jokes = bus.service(JOKES).await;
    let mut cancelled = bus.service("tg.demo.jokes.cancel").await;
    let tool = tool(&json!({}), &json!({"timeout_ms": 300}));
    let gap = async {
        let request = jokes.next().await;
        let mut headers = headers(request.id());
        headers.insert("seq", "1");
        bus.publish(ANSWERS, headers, r#"{"response": "b", "end_of_stream": true}"#)
            .await;
        request
    };
    let (result, request) = tokio::join!(bus.call(&tool, json!({})), gap);
    let failure = result.expect_err("too late");
    assert_eq!(failure.code, ErrorCode::Timeout);
    assert_eq!(
        failure.message,
        "the tool service did not finish: message 0 of its answer is missing"
    );
    assert_eq!(cancelled.next().await.id(), request.id());

    // The caller goes away.
    let call = bus.call(&tool, json!({}));
    let request = tokio::select! {
        _ = call => panic!("nothing answered"),
        request = jokes.next() => request,
    };
    assert_eq!(cancelled.next().await.id(), request.id());
}

#[tokio::test]
async fn a_persistent_queue_keeps_the_request_until_an_instance_reads_it() {
    let nats = Nats::start();
    let bus = Harness::new(&nats).await;
    let mut tool = tool(&json!({}), &json!({}));
    tool.service.request_queue = Some("persistent://tg/demo/kept".to_owned());
    let call = tokio::spawn(bus.call(&tool, json!({"topic": "time"})));
    let request = bus.stored("tg.demo.kept").await;
    assert!(String::from_utf8_lossy(&request.message.payload).contains("time"));
    bus.answer(ANSWERS, &request, r#"{"response": "late, but here"}"#)
        .await;
    assert_eq!(call.await.expect("runs"), Ok(json!("late, but here")));
}

#[tokio::test]
async fn an_answer_on_a_persistent_queue_counts_though_the_connection_was_lost_when_it_came() {
    let mut nats = Nats::start();
    let bus = Harness::new(&nats).await;
    let mut tool = tool(&json!({}), &json!({"timeout_ms": 60_000}));
    tool.service.response_queue = Some("persistent://tg/demo/kept-answers".to_owned());
    let mut jokes = bus.service(JOKES).await;
    for restarted in [false, true] {
        let call = tokio::spawn(bus.call(&tool, json!({})));
        let request = jokes.next().await;
        if restarted {
            nats.stop();
            bus.until_connected(false).await;
            nats.run();
        }
        let client = async_nats::connect(nats.url()).await.expect("connected");
        let context = async_nats::jetstream::new(client);
        let answer = json!({"response": format!("kept: {restarted}")}).to_string();
        soon(async {
            loop {
                let (said, answer) = (headers(request.id()), answer.clone().into());
                let sent = context
                    .publish_with_headers("tg.demo.kept-answers", said, answer)
                    .await;
                // A server that has just started may have no streams yet.
                if sent.expect("sent").await.is_ok() {
                    break;
                }
            }
        })
        .await;
        assert_eq!(call.await.expect("runs"), Ok(json!(format!("kept: {restarted}"))));
    }
}

#[tokio::test]
async fn the_calls_of_a_service_at_the_same_time_are_limited_over_all_its_tools() {
    let nats = Nats::start();
    let bus = Harness::new(&nats).await;
    let mut jokes = bus.service(JOKES).await;
    let mut tools = ["a", "b"].map(|name| {
        let mut tool = tool(&json!({}), &json!({}));
        tool.rename(name);
        tool.service.max_concurrent = Some(1);
        tool
    });
    tools[1].service = tools[0].service.clone();
    let first = tokio::spawn(bus.call(&tools[0], json!({})));
    let request = jokes.next().await;
    let refused = bus.call(&tools[1], json!({})).await.expect_err("one at a time");
    assert_eq!(refused.code, ErrorCode::ToolUnavailable);
    assert!(refused.message.contains("this tool service"), "{refused:?}");
    bus.answer(ANSWERS, &request, "{}").await;
    assert_eq!(first.await.expect("runs"), Ok(json!("")));
}

#[rstest]
#[case::of_another_project("tg.other.jokes", ANSWERS, "may not use the subject \"tg.other.jokes\"")]
#[case::answers_elsewhere(JOKES, "tg.other.answers", "may not use the subject \"tg.other.answers\"")]
#[case::of_the_bus("$SYS.REQ.SERVER.PING", ANSWERS, "belong to the bus")]
#[tokio::test]
async fn a_stored_service_may_not_use_what_is_not_its_projects(
    #[case] requests: &str,
    #[case] responses: &str,
    #[case] why: &str,
) {
    let nats = Nats::start();
    let bus = Harness::new(&nats).await;
    let mut tool = tool(&json!({}), &json!({}));
    tool.service.request_queue = Some(requests.to_owned());
    tool.service.response_queue = Some(responses.to_owned());
    let failure: Failure = bus.call(&tool, json!({})).await.expect_err("refused");
    assert_eq!(
        (failure.code, failure.retryable),
        (ErrorCode::ToolUnavailable, false)
    );
    assert!(failure.message.contains(why), "{failure:?}");
    assert_eq!(
        bus.foresee(&tool).expect_err("refused before").message,
        failure.message
    );
}

#[tokio::test]
async fn secrets_reach_the_service_and_no_answer() {
    let (_nats, bus, mut jokes, tool) = listening(&json!({}), &json!({"envs": {"key": "KEY"}})).await;
    let answering = async {
        let request = jokes.next().await;
        let text = String::from_utf8_lossy(&request.message.payload).into_owned();
        assert!(text.contains(r#"{\"key\":\"correct-horse-battery\"}"#), "{text}");
        bus.answer(
            ANSWERS,
            &request,
            r#"{"response": "It is correct-horse-battery."}"#,
        )
        .await;
    };
    let (result, ()) = tokio::join!(bus.call(&tool, json!({})), answering);
    assert_eq!(result, Ok(json!("It is [redacted].")));
}

/// How long what must come may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for what must come.
async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what)
        .await
        .expect("it comes in time")
}

#[tokio::test]
async fn what_is_too_large_for_the_bus_is_refused_before_it_is_sent() {
    let nats = Nats::with("max_payload: 4096");
    let bus = Harness::new(&nats).await;
    let tool = tool(&json!({}), &json!({}));
    let failure = bus
        .call(&tool, json!({"topic": "x".repeat(3000)}))
        .await
        .expect_err("too large");
    assert_eq!(failure.code, ErrorCode::InvalidArguments);
    assert!(failure.message.contains("of at most 2048"), "{failure:?}");
}
