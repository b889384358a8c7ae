//! A service as its author tests it: by the messages that would travel, without a bus.

use serde_json::{Value, json};
use toolgate_worker::{Failure, ToolService};

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
