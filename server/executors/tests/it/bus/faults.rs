//! What goes wrong on the way of a call that has begun.

use serde_json::{Value, json};
use toolgate_api::ErrorCode;

use super::support::{ANSWERS, Harness, JOKES, headers, tool};
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
    let nats = Nats::start();
    let bus = Harness::new(&nats).await;
    let mut jokes = bus.service(JOKES).await;
    let tool = tool(&json!({}), &json!({}));
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
