//! A service as its author tests it: by the messages that would travel, without a bus.

use serde_json::{Value, json};
use toolgate_worker::{Failure, ToolService, Worker};

fn service() -> ToolService {
    ToolService::new("test", async |request| {
        match request.arguments.get("do").and_then(Value::as_str) {
            Some("text") => Ok(format!("{} {}", request.user, request.config["style"]).into()),
            Some("parts") => {
                for part in ["one ", "two "] {
                    request.send(part).await;
                }
                Ok("three".into())
            }
            Some("values") => {
                for number in 0..100 {
                    request.send(number).await;
                }
                Ok(Value::Null)
            }
            Some("refuse") => Err(Failure::new("rate-limit", "try later")),
            Some("panic") => Ok(request.arguments["absent"].clone()),
            Some("break") => Ok("no number".parse::<u32>()?.into()),
            _ => Ok(request.arguments.into()),
        }
    })
}

#[tokio::test]
async fn results_are_texts_values_parts_and_failures() {
    let service = service();
    let call = async |arguments: Value| service.call("alice", &json!({ "style": 1 }), &arguments).await;
    let numbers: Vec<u32> = (0..100).collect();
    for (arguments, expected) in [
        (json!({ "do": "text" }), Ok(json!("alice 1"))),
        (json!({ "do": "parts" }), Ok(json!("one two three"))),
        (json!({ "do": "values" }), Ok(json!(numbers))),
        (json!({ "other": [1] }), Ok(json!({ "other": [1] }))),
        (
            json!({ "do": "refuse" }),
            Err(Failure::new("rate-limit", "try later")),
        ),
        (
            json!({ "do": "panic" }),
            Err(Failure::new("tool-service-error", "the tool panicked")),
        ),
        (
            json!({ "do": "break" }),
            Err(Failure::new(
                "tool-service-error",
                "invalid digit found in string",
            )),
        ),
    ] {
        assert_eq!(call(arguments.clone()).await, expected, "{arguments}");
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "q": { "type": "string", "maxLength": 5 } },
        "required": ["q"],
        "additionalProperties": false,
    })
}

fn search() -> Worker {
    let worker = Worker::new("search", async |call| match call.arguments["q"].as_str() {
        Some("none") => Err(Failure {
            detail: Some(Box::new(json!({ "searched": 2 }))),
            ..Failure::new("not_found", "nothing")
        }),
        Some("panic") => panic!("it breaks"),
        _ => Ok(json!({ "tool": call.tool, "found": call.arguments, "then": call.after_execution })),
    });
    worker.project("demo").parameters(&schema()).expect("a schema")
}

#[tokio::test]
async fn a_worker_is_called_by_the_cards_that_would_travel() {
    let worker = search();
    let found = worker.call(&json!({ "q": "cats" })).await;
    let expected = json!({ "tool": "search", "found": { "q": "cats" }, "then": "suspend" });
    assert_eq!(found, Ok(expected));
    let failure = worker.call(&json!({ "q": "none" })).await.expect_err("a failure");
    assert_eq!(
        (failure.code.as_deref(), failure.message.as_str()),
        (Some("not_found"), "nothing")
    );
    assert_eq!(failure.detail, Some(Box::new(json!({ "searched": 2 }))));
    let failure = worker
        .call(&json!({ "q": "panic" }))
        .await
        .expect_err("a failure");
    assert_eq!(failure.code.as_deref(), Some("internal_error"));
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_without_their_values() {
    let service = ToolService::new("search", async |request| Ok(request.arguments.into()));
    let service = service.parameters(&schema()).expect("a schema");
    let worker = search();
    for (arguments, pointer) in [
        (json!({}), ""),
        (json!({ "q": 1 }), "/q"),
        (json!({ "q": "secrets" }), "/q"),
        (json!({ "q": "a", "x": 1 }), ""),
    ] {
        let failure = worker.call(&arguments).await.expect_err("refused");
        assert_eq!(
            (failure.code.as_deref(), failure.retryable),
            (Some("bad_request"), Some(false))
        );
        let detail = failure.detail.expect("a detail");
        assert_eq!(detail["errors"][0]["pointer"], pointer, "{arguments}");
        let failure = service
            .call("alice", &json!({}), &arguments)
            .await
            .expect_err("refused");
        assert_eq!(failure.code.as_deref(), Some("invalid-arguments"));
        assert!(!format!("{detail}{failure}").contains("secrets"), "{failure}");
    }
    for arguments in [json!(null), json!([]), json!("q"), json!([["q", "cats"]])] {
        let failure = worker.call(&arguments).await.expect_err("refused");
        assert_eq!(failure.code.as_deref(), Some("bad_request"), "{arguments}");
        assert!(failure.message.contains("no object"), "{failure}");
    }
}
