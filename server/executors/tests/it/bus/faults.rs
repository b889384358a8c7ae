//! What goes wrong on the way of a call that has begun.

use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolgate_api::ErrorCode;
use toolgate_executors::{BusConfig, Invocation};

use super::support::{ANSWERS, Harness, JOKES, headers, listening, plain, tool};
use crate::nats::Nats;

#[tokio::test]
async fn a_call_survives_a_restart_of_the_bus_in_the_middle() {
    let mut nats = Nats::start();
    let bus = Harness::new(&nats).await;
    let mut jokes = bus.service(JOKES).await;
    let tool = tool(&json!({}), &json!({}));
    let mut call = std::pin::pin!(bus.call(&tool, json!({})));
    let request = tokio::select! {
        ended = &mut call => panic!("{ended:?}"),
        request = jokes.next() => request,
    };
    nats.stop();
    bus.until_connected(false).await;
    nats.run();
    bus.until_connected(true).await;
    // The service does not know when the gateway listens again, so it answers more than once; one answer counts.
    let answering = async {
        loop {
            bus.publish(ANSWERS, headers(request.id()), r#"{"response": "after all"}"#)
                .await;
            tokio::task::yield_now().await;
        }
    };
    let never: Result<Value, _> = tokio::select! {
        result = &mut call => result,
        never = answering => never,
    };
    assert_eq!(never, Ok(json!("after all")));
}

#[tokio::test]
async fn a_message_that_cannot_be_read_ends_its_own_call_only() {
    let (_nats, bus, mut jokes, tool) = listening(&json!({}), &json!({})).await;
    let answering = async {
        let (first, second) = (jokes.next().await, jokes.next().await);
        bus.publish(ANSWERS, headers(first.id()), "{\"response\": \u{0}")
            .await;
        bus.answer(ANSWERS, &second, r#"{"response": "fine"}"#).await;
    };
    let (poisoned, other, ()) =
        tokio::join!(bus.call(&tool, json!({})), bus.call(&tool, json!({})), answering);
    assert_eq!(poisoned.expect_err("poison").code, ErrorCode::UpstreamInvalid);
    assert_eq!(other, Ok(json!("fine")));
}

#[tokio::test]
async fn an_instance_that_is_killed_in_the_middle_ends_its_own_call_and_the_next_one_reaches_another() {
    let (_nats, bus, mut first, tool) = listening(&json!({}), &json!({"timeout_ms": 500})).await;
    let killed = async {
        let request = first.next().await;
        bus.answer(
            ANSWERS,
            &request,
            r#"{"response": "Knock ", "end_of_stream": false}"#,
        )
        .await;
        drop(first);
    };
    let (cut, ()) = tokio::join!(bus.call(&tool, json!({})), killed);
    let failure = cut.expect_err("the rest of the answer never comes");
    assert_eq!(
        (failure.code, failure.retryable),
        (ErrorCode::Timeout, true),
        "{failure:?}"
    );
    let mut second = bus.service(JOKES).await;
    let next = bus
        .answered(&mut second, &tool, r#"{"response": "Who is there?"}"#)
        .await;
    assert_eq!(next, Ok(json!("Who is there?")));
}

#[tokio::test]
async fn a_flood_on_a_response_queue_costs_no_call_its_answer() {
    const FLOOD: u64 = 20_000;
    let (_nats, bus, mut jokes, tool) = listening(&json!({}), &json!({})).await;
    let answering = async {
        let request = jokes.next().await;
        bus.flood(ANSWERS, &headers("0"), r#"{"response": "not yours"}"#, FLOOD)
            .await;
        bus.answer(ANSWERS, &request, r#"{"response": "yours"}"#).await;
    };
    let (result, ()) = tokio::join!(bus.call(&tool, json!({})), answering);
    assert_eq!(result, Ok(json!("yours")));
    assert_eq!(bus.report().messages.foreign, FLOOD);
}

#[tokio::test]
async fn what_comes_faster_than_the_client_can_hold_is_lost_and_counted_and_the_connection_goes_on() {
    const FLOOD: u64 = 20_000;
    let nats = Nats::start();
    let client = async_nats::connect(nats.url()).await.expect("connected");
    let little = BusConfig {
        capacity: 64,
        ..plain(&nats)
    };
    let bus = Harness::with(little, client).await;
    let mut jokes = bus.service(JOKES).await;
    let tool = tool(&json!({}), &json!({}));
    // As long as a call waits the gateway listens to the queue.
    let mut call = std::pin::pin!(bus.call(&tool, json!({})));
    let request = tokio::select! {
        ended = &mut call => panic!("{ended:?}"),
        request = jokes.next() => request,
    };
    // The gateway reads nothing meanwhile: its runtime has one thread, which waits for the flood to be sent.
    let url = nats.url();
    let flood = std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let client = async_nats::connect(url).await.expect("connected");
            for _ in 0..FLOOD {
                client.publish(ANSWERS, "".into()).await.expect("published");
            }
            client.flush().await.expect("sent");
        });
    });
    flood.join().expect("sent");
    // An answer may be among what is lost, so it is sent until one arrives.
    let answering = async {
        loop {
            bus.answer(ANSWERS, &request, r#"{"response": "after"}"#).await;
            tokio::task::yield_now().await;
        }
    };
    let never: Result<Value, _> = tokio::select! {
        result = &mut call => result,
        never = answering => never,
    };
    assert_eq!(never, Ok(json!("after")));
    let report = bus.report();
    assert!(report.slow > 0, "{report:?}");
    assert!(report.messages.foreign < FLOOD, "{report:?}");
}

#[tokio::test]
async fn a_service_that_sends_without_end_ends_its_own_call_only() {
    let (_nats, bus, mut jokes, tool) = listening(&json!({}), &json!({})).await;
    let mut endless = Box::pin(bus.call(&tool, json!({})));
    let request = tokio::select! {
        ended = &mut endless => panic!("{ended:?}"),
        request = jokes.next() => request,
    };
    let flooding = async {
        loop {
            let part = r#"{"response": "and ", "end_of_stream": false}"#;
            bus.flood(ANSWERS, &headers(request.id()), part, 500).await;
        }
    };
    let never: Result<Value, _> = tokio::select! {
        ended = &mut endless => ended,
        never = flooding => never,
    };
    assert_eq!(never.expect_err("no end").code, ErrorCode::UpstreamInvalid);
    let other = bus.answered(&mut jokes, &tool, r#"{"response": "fine"}"#).await;
    assert_eq!(other, Ok(json!("fine")));
}

#[tokio::test]
async fn a_caller_that_reads_no_parts_gets_the_whole_answer() {
    let (_nats, bus, mut jokes, tool) = listening(&json!({}), &json!({})).await;
    let (to, mut parts) = mpsc::channel(1);
    let call = bus.run(Invocation {
        parts: Some(to),
        ..bus.invocation(&tool, json!({}))
    });
    let answering = async {
        let request = jokes.next().await;
        for (word, is_last) in [("one ", false), ("two ", false), ("three", true)] {
            let part = json!({"response": word, "end_of_stream": is_last}).to_string();
            bus.answer(ANSWERS, &request, &part).await;
        }
    };
    let (result, ()) = tokio::join!(call, answering);
    assert_eq!(result, Ok(json!("one two three")));
    assert_eq!(
        parts.try_recv().ok(),
        Some(json!("one ")),
        "what there was room for"
    );
    assert!(parts.try_recv().is_err());
}
