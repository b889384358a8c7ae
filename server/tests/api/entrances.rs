//! One tool through every entrance: decided, recorded and answered alike.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate::gateway::call::{KeyText, NEED, call_once};
use toolgate::gateway::entry::{Entry, Origin};
use toolgate::gateway::idempotency::Answer;
use toolgate_api::audit::Entrance;
use toolgate_api::calls::CallRequest;

use crate::support::{Client, TestApp, echo, tool};

/// A call as one entrance came to know it: the answer or the problem, and its record.
struct Seen {
    entrance: Entrance,
    answer: Value,
    record: Value,
}

/// What differs from call to call.
const OWN: [&str; 7] = [
    "id",
    "at",
    "entrance",
    "request_id",
    "duration_ms",
    "call_id",
    "address",
];

fn without_own(mut value: Value) -> Value {
    if let Value::Object(members) = &mut value {
        members.retain(|name, _| !OWN.contains(&name.as_str()));
    }
    value
}

async fn by_rest(agent: &Client<'_>, request: &Value) -> Value {
    agent.post("/projects/demo/calls", request).await.json()
}

/// As an entrance calls that is not HTTP.
async fn by_entry(app: &TestApp, agent: &Client<'_>, entrance: Entrance, request: &Value) -> Value {
    let origin = Origin {
        entrance,
        ..Origin::internal("a-request")
    };
    let credential = agent.token.as_deref().expect("a key");
    let entry = Entry::open(&app.gateway, credential, "demo", NEED, origin)
        .await
        .expect("a member");
    let request: CallRequest = serde_json::from_value(request.clone()).expect("a request");
    match call_once(&app.gateway, &Arc::new(entry), Arc::new(request), None)
        .await
        .answer
    {
        Ok(Answer::Fresh(response)) => serde_json::to_value(response).expect("JSON"),
        Ok(Answer::Replayed(..)) => panic!("there is no key"),
        Err(problem) => {
            let mut body = serde_json::to_value(problem.into_body("")).expect("JSON");
            body["request_id"] = Value::Null;
            body
        }
    }
}

async fn seen(app: &TestApp, agent: &Client<'_>, auditor: &Client<'_>, request: &Value) -> Vec<Seen> {
    let mut all = Vec::new();
    for entrance in Entrance::ALL {
        let answer = match entrance {
            Entrance::Rest => by_rest(agent, request).await,
            _ => by_entry(app, agent, entrance, request).await,
        };
        let id = answer["call_id"].as_str().expect("a call").to_owned();
        let page = auditor
            .get(&format!("/projects/demo/audit?id={id}"))
            .await
            .expect(200);
        let record = page.json()["items"][0].clone();
        assert_eq!(record["entrance"], entrance.as_str());
        all.push(Seen {
            entrance,
            answer: without_own(answer),
            record: without_own(record),
        });
    }
    all
}

#[tokio::test]
async fn a_call_is_the_same_by_every_entrance() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let yaml = tool("search", &base, "/search", "group: [knowledge]\nstate: found\n");
    admin.upload("/projects/demo/tools", &yaml).await.expect(201);
    let agent = app.key(&admin, "demo", "agent", &["knowledge"]).await;
    let auditor = app.auditor(&admin).await;

    for (request, code) in [
        (
            json!({"tool": "search", "arguments": {"q": "rust"}, "group": ["knowledge"]}),
            None,
        ),
        (
            json!({"tool": "search", "arguments": {"q": 5}, "group": ["knowledge"]}),
            Some("invalid_arguments"),
        ),
        (
            json!({"tool": "search", "group": ["secret"]}),
            Some("insufficient_tool_groups"),
        ),
        (
            json!({"tool": "absent", "group": ["knowledge"]}),
            Some("tool_not_found"),
        ),
    ] {
        let seen = seen(&app, &agent, &auditor, &request).await;
        let (first, others) = seen.split_first().expect("REST");
        assert_eq!(first.record["code"], json!(code), "{request}");
        for other in others {
            assert_eq!(other.answer, first.answer, "{:?}: {request}", other.entrance);
            assert_eq!(other.record, first.record, "{:?}: {request}", other.entrance);
        }
    }

    let listed = auditor
        .get("/projects/demo/audit?entrance=mcp")
        .await
        .expect(200)
        .json();
    let listed = listed["items"].as_array().expect("a list").clone();
    assert_eq!(listed.len(), 4, "one for each request");
    assert!(listed.iter().all(|record| record["entrance"] == "mcp"));
    let metrics = app.gateway.metrics.render();
    assert!(
        metrics.contains("kind=\"http\",entrance=\"bus\"} 1"),
        "calls are counted by entrance: {metrics}"
    );
}

#[tokio::test]
async fn a_request_repeated_by_another_entrance_is_answered_again() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let yaml = tool("search", &base, "/search", "");
    admin.upload("/projects/demo/tools", &yaml).await.expect(201);

    let open = async |entrance| {
        let origin = Origin {
            entrance,
            ..Origin::internal("a-request")
        };
        let credential = admin.token.as_deref().expect("a token");
        let entry = Entry::open(&app.gateway, credential, "demo", NEED, origin).await;
        Arc::new(entry.expect("a member"))
    };
    let request =
        || serde_json::from_value(json!({"tool": "search", "arguments": {"q": "rust"}})).expect("a request");
    let key = KeyText::parse("the-same");
    let bus = open(Entrance::Bus).await;
    let first = call_once(&app.gateway, &bus, Arc::new(request()), key.clone())
        .await
        .answer;
    let Ok(Answer::Fresh(first)) = first else {
        panic!("it ran")
    };
    let mcp = open(Entrance::Mcp).await;
    match call_once(&app.gateway, &mcp, Arc::new(request()), key)
        .await
        .answer
    {
        Ok(Answer::Replayed(earlier, _)) => assert_eq!(earlier.0, first.call_id),
        _ => panic!("it ran twice"),
    }
}

#[tokio::test]
async fn a_key_is_visible_ascii() {
    assert!(KeyText::parse("a").is_some());
    for bad in ["", "two words", "ä", "\u{7f}", &"x".repeat(256)] {
        assert_eq!(KeyText::parse(bad), None, "{bad:?}");
    }
}
