//! The examples of the tool services specification: descriptors, tools, the request, and the forms of a response.

use async_nats::HeaderMap;
use axum::http::Method;
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::bus::until_connected;
use crate::nats::{Nats, subscribe};
use crate::oauth::member;
use crate::support::TestApp;

const ANSWERS: &str = "tg.response.custom-rag";

/// As the specification has them.
const DESCRIPTORS: [&str; 2] = [
    r#"{"id": "custom-rag", "request-queue": "non-persistent://tg/request/custom-rag",
        "response-queue": "non-persistent://tg/response/custom-rag",
        "config-params": [{"name": "collection", "required": true}]}"#,
    r#"{"id": "calculator", "request-queue": "non-persistent://tg/request/calc",
        "response-queue": "non-persistent://tg/response/calc", "config-params": []}"#,
];
const TOOLS: [&str; 2] = [
    r#"{"type": "tool-service", "name": "query-customers", "description": "Query the customer knowledge base",
        "service": "custom-rag", "collection": "customers",
        "arguments": [{"name": "question", "type": "string", "description": "The question to ask about customers"}]}"#,
    r#"{"type": "tool-service", "name": "query-products", "description": "Query the product knowledge base",
        "service": "custom-rag", "collection": "products",
        "arguments": [{"name": "question", "type": "string", "description": "The question to ask about products"}]}"#,
];

#[tokio::test]
async fn every_message_of_the_specification_is_accepted_and_each_malformed_one_answered_with_its_error() {
    let nats = Nats::start();
    let url = nats.url();
    let subjects = "tg.request.custom-rag,tg.response.custom-rag,tg.request.calc,tg.response.calc";
    let settings = [
        ("TOOLGATE_NATS_URL", url.as_str()),
        ("TOOLGATE_NATS_SUBJECTS", subjects),
    ];
    let app = TestApp::with(&settings).await;
    until_connected(&app, true).await;
    let admin = app.demo().await;
    let upload = async |text: &str| {
        admin
            .body(
                Method::POST,
                "/projects/demo/tools",
                "application/json",
                text.to_owned(),
            )
            .await
    };
    for text in DESCRIPTORS.iter().chain(&TOOLS) {
        let answer = upload(text).await.expect(201).json();
        assert_eq!(answer["warnings"], json!([]), "{text}");
    }

    // What a descriptor or a tool lacks or has too much is named.
    let mut wrong = Vec::new();
    for (text, change, says) in [
        (DESCRIPTORS[0], json!({"id": null}), "id"),
        (DESCRIPTORS[0], json!({"request-queue": null}), "request-queue"),
        (DESCRIPTORS[0], json!({"response-queue": null}), "response-queue"),
        (
            DESCRIPTORS[0],
            json!({"request-queue": "non-persistent://tg"}),
            "request-queue",
        ),
        (
            DESCRIPTORS[0],
            json!({"request-queue": "kafka://tg/request/custom-rag"}),
            "request-queue",
        ),
        (
            DESCRIPTORS[0],
            json!({"config-params": {"name": "collection"}}),
            "config-params",
        ),
        (
            DESCRIPTORS[0],
            json!({"config-params": [{"required": true}]}),
            "name",
        ),
        (DESCRIPTORS[0], json!({"config-param": []}), "config-params"),
        (TOOLS[0], json!({"name": null}), "name"),
        (TOOLS[0], json!({"service": "custom-rug"}), "no tool service"),
        (TOOLS[0], json!({"collection": null}), "collection"),
        (TOOLS[0], json!({"colection": "customers"}), "collection"),
        (TOOLS[0], json!({"arguments": {"name": "question"}}), "arguments"),
        (TOOLS[0], json!({"arguments": [{"type": "string"}]}), "name"),
        (
            TOOLS[0],
            json!({"arguments": [{"name": "question", "type": "strin"}]}),
            "string",
        ),
    ] {
        let mut message: Value = serde_json::from_str(text).expect("JSON");
        for (name, value) in change.as_object().expect("members") {
            let members = message.as_object_mut().expect("an object");
            match value {
                Value::Null => drop(members.remove(name)),
                _ => drop(members.insert(name.clone(), value.clone())),
            }
        }
        let answer = upload(&message.to_string()).await;
        let text = answer.text();
        if answer.status != 422 || !text.contains(says) {
            wrong.push(format!("{message}: {says:?} is not in {text}"));
        }
    }

    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    let alice = member(&app, "alice", "agent", &["default"]).await;
    let client = async_nats::connect(nats.url()).await.expect("connected");
    let mut requests = subscribe(&client, "tg.request.custom-rag").await;
    let call = json!({"tool": "query-customers", "arguments": {"question": "What are the top customer complaints?"}});
    let text = "Customers complain about late deliveries.";
    let stream = |parts: &[(&str, bool)]| -> Vec<String> {
        let part =
            |(text, is_last): &(&str, bool)| json!({"response": text, "end_of_stream": is_last}).to_string();
        parts.iter().map(part).collect()
    };
    for (messages, expected) in [
        (vec![json!({"error": null, "response": text, "end_of_stream": true}).to_string()], Ok(json!(text))),
        // What the dataclass has by default may be left out.
        (vec![json!({"response": text}).to_string()], Ok(json!(text))),
        (stream(&[("Customers complain ", false), ("about late deliveries.", true)]), Ok(json!(text))),
        // A response that is no text is JSON.
        (vec![json!({"response": {"complaints": 3}, "end_of_stream": true}).to_string()], Ok(json!({"complaints": 3}))),
        (
            vec![json!({"error": {"type": "tool-service-error", "message": "no such collection"}, "response": "", "end_of_stream": true}).to_string()],
            Err(("execution_failed", "no such collection")),
        ),
        (vec!["not JSON".to_owned()], Err(("upstream_invalid", "cannot be used"))),
        (vec![json!(["an", "array"]).to_string()], Err(("upstream_invalid", "cannot be used"))),
        (vec![json!({"error": "text", "response": ""}).to_string()], Err(("upstream_invalid", "cannot be used"))),
        (vec![json!({"response": text, "end_of_stream": "yes"}).to_string()], Err(("upstream_invalid", "cannot be used"))),
    ] {
        let answering = async {
            let request = requests.next().await.expect("a request");
            let envelope: Value = serde_json::from_slice(&request.payload).expect("JSON");
            let parsed = |name: &str| -> Value {
                serde_json::from_str(envelope[name].as_str().expect("a JSON text")).expect("JSON")
            };
            assert_eq!(envelope.as_object().map(serde_json::Map::len), Some(3), "{envelope}");
            assert_eq!(envelope["user"], "alice");
            assert_eq!(parsed("config"), json!({"collection": "customers"}));
            assert_eq!(parsed("arguments"), call["arguments"]);
            let mut headers = HeaderMap::new();
            headers.insert("id", request.headers.expect("headers").get("id").expect("an id").clone());
            for message in &messages {
                client
                    .publish_with_headers(ANSWERS, headers.clone(), message.clone().into())
                    .await
                    .expect("published");
            }
            client.flush().await.expect("sent");
        };
        let (answer, ()) = tokio::join!(alice.post("/projects/demo/calls", &call), answering);
        let answer = answer.expect(200).json();
        match expected {
            Ok(result) => assert_eq!(answer["result"], result, "{answer}"),
            Err((code, says)) => {
                assert_eq!(answer["error"]["code"], code, "{messages:?}: {answer}");
                assert!(answer["error"].to_string().contains(says), "{messages:?}: {answer}");
            }
        }
    }
}
