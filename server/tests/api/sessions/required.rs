//! Projects that require sessions: no request names the state it is made in.

use std::collections::BTreeSet;

use axum::http::Method;
use rstest::rstest;
use serde_json::{Value, json};

use super::{SESSIONS, create, path, with_steps};
use crate::support::{ANY, Answer, Client, TestApp};

/// Every operation that decides about tools, and that a request may name a state to.
const ENTRANCES: [(&str, &str); 6] = [
    ("post", "/projects/{project_id}/calls"),
    ("post", "/projects/{project_id}/tools/{tool_name}/invoke"),
    ("post", "/projects/{project_id}/resolve"),
    ("get", "/projects/{project_id}/openapi.json"),
    ("post", "/projects/{project_id}/agent-requests"),
    ("post", "/projects/{project_id}/recommendations"),
];
/// What else takes a state: questions about decisions, what a session begins in, expectations, and filters of lists.
const OTHERS: [(&str, &str); 10] = [
    ("post", "/auth/accounts"),
    ("post", "/projects/{project_id}/definitions/test"),
    ("post", "/projects/{project_id}/explain"),
    ("post", "/projects/{project_id}/sessions"),
    ("get", "/projects/{project_id}/sessions"),
    ("put", "/projects/{project_id}/policy-tests/{test_name}"),
    ("get", "/projects/{project_id}/tools"),
    ("get", "/projects/{project_id}/tools/export"),
    ("get", "/projects/{project_id}/states/{state_name}"),
    ("post", "/projects/{project_id}/tool-changes"),
];

async fn require(admin: &Client<'_>, settings: &Value) -> Value {
    admin
        .send_json(Method::PUT, "/projects/demo/settings", &ANY, settings)
        .await
        .expect(200)
        .json()
}

/// Asks at an entrance for `group`, at a place: `{}`, `{"state": ...}` or `{"session_id": ...}`.
async fn ask(client: &Client<'_>, (_, path): (&str, &str), group: &str, place: &Value) -> Answer {
    let path = path
        .replace("{project_id}", "demo")
        .replace("{tool_name}", "start");
    let members = place.as_object().expect("an object");
    let query: String = members
        .iter()
        .map(|(name, value)| format!("&{name}={}", value.as_str().expect("a text")))
        .collect();
    if path.ends_with("/openapi.json") {
        return client.get(&format!("{path}?group={group}{query}")).await;
    }
    if path.ends_with("/invoke") {
        return client
            .post(&format!("{path}?group={group}{query}"), &json!({}))
            .await;
    }
    let mut body = match path.rsplit('/').next() {
        Some("calls") => json!({"tool": "start"}),
        Some("resolve") => json!({}),
        _ => json!({"question": "how to start?"}),
    };
    body["group"] = json!([group]);
    for (name, value) in members {
        body[name] = value.clone();
    }
    client.post(&path, &body).await
}

async fn newest_record(admin: &Client<'_>) -> Value {
    admin.get("/projects/demo/audit?limit=1").await.expect(200).json()["items"][0].clone()
}

/// The parameters and members of a body that an operation takes, by the API document.
fn takes(document: &Value, operation: &Value) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = operation["parameters"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|parameter| parameter["in"] == "query")
        .filter_map(|parameter| parameter["name"].as_str().map(str::to_owned))
        .collect();
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    let schema = match schema["$ref"].as_str() {
        Some(reference) => {
            &document["components"]["schemas"][reference.rsplit('/').next().unwrap_or_default()]
        }
        None => schema,
    };
    names.extend(
        schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone()),
    );
    names
}

#[tokio::test]
async fn the_table_has_every_operation_that_takes_a_state() {
    let app = TestApp::new().await;
    let document = app.anonymous().get("/openapi.json").await.expect(200).json();
    let mut found = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("operations") {
            let names = takes(&document, operation);
            if names.contains("state") {
                found.insert((method.clone(), path.clone(), names.contains("session_id")));
            }
        }
    }
    let is_listed = |all: &[(&str, &str)], method: &str, path: &str| all.contains(&(method, path));
    for (method, path, in_session) in &found {
        let (decides, other) = (
            is_listed(&ENTRANCES, method, path),
            is_listed(&OTHERS, method, path),
        );
        assert!(
            decides || other,
            "{method} {path} takes a state: put it into a table"
        );
        assert!(!decides || *in_session, "{method} {path} takes no session");
    }
    for (method, path) in ENTRANCES {
        let row = (method.to_owned(), path.to_owned(), true);
        assert!(found.contains(&row), "{method} {path} takes no state any more");
    }
}

#[rstest]
#[case::calls(ENTRANCES[0])]
#[case::invoke(ENTRANCES[1])]
#[case::resolve(ENTRANCES[2])]
#[case::document(ENTRANCES[3])]
#[case::agent(ENTRANCES[4])]
#[case::recommendations(ENTRANCES[5])]
#[tokio::test]
async fn no_request_says_where_it_is_made(#[case] entrance: (&str, &str)) {
    let app = with_steps(&[]).await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["work"]).await;
    let named = json!({"state": "undefined"});
    ask(&agent, entrance, "work", &named).await.expect(200);
    assert_eq!(newest_record(&admin).await["state_from"], "request");
    let before = create(&agent, json!({"group": ["work"]})).await;

    require(&admin, &json!({"sessions": "required"})).await;
    for (place, state, from) in [
        (json!({}), "undefined", "default"),
        (json!({"state": ""}), "undefined", "default"),
        (named, "undefined", "request"),
        (json!({"state": "started"}), "started", "request"),
    ] {
        let problem = ask(&agent, entrance, "work", &place)
            .await
            .problem(403, "session_required");
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(
            detail.contains("POST /projects/demo/sessions") && detail.contains("`session_id`"),
            "{detail}"
        );
        let record = newest_record(&admin).await;
        assert_eq!(record["outcome"], "denied", "{place}");
        assert_eq!(record["code"], "session_required");
        assert_eq!(
            (&record["state_before"], &record["state_from"]),
            (&json!(state), &json!(from))
        );
        assert_eq!(record["requested_groups"], json!(["work"]));
        assert_eq!(record.get("session_id"), None);
    }

    // What was not granted is refused as that, and is on the record as that.
    ask(&agent, entrance, "other", &json!({"state": "started"}))
        .await
        .problem(403, "insufficient_tool_groups");
    assert_eq!(newest_record(&admin).await["missing_groups"], json!(["other"]));

    // A session that lived before goes on, and so does a new one.
    for session in [before, create(&agent, json!({"group": ["work"]})).await] {
        ask(&agent, entrance, "work", &json!({"session_id": session["id"]}))
            .await
            .expect(200);
        let record = newest_record(&admin).await;
        assert_eq!(
            (&record["state_before"], &record["state_from"]),
            (&json!("undefined"), &json!("session"))
        );
        assert_eq!(record["session_id"], session["id"]);
    }

    require(&admin, &json!({})).await;
    ask(&agent, entrance, "work", &json!({})).await.expect(200);
    assert_eq!(newest_record(&admin).await["state_from"], "default");
}

#[tokio::test]
async fn recommendations_in_a_session_are_about_its_groups_and_state() {
    let app = with_steps(&[]).await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["work"]).await;
    let session = create(&agent, json!({"group": ["work/end"]})).await;
    let recommend = async |more: Value| {
        let mut body = json!({"question": "start or finish", "session_id": session["id"]});
        for (name, value) in more.as_object().expect("an object") {
            body[name] = value.clone();
        }
        agent.post("/projects/demo/recommendations", &body).await
    };
    let answer = recommend(json!({})).await.expect(200).json();
    assert_eq!(answer["preferred_groups"], json!(["work/end"]));
    assert_eq!(
        answer["tools"],
        json!([]),
        "finish is closed in the session's state"
    );
    assert_eq!(answer["elsewhere"][0]["tool"], "finish");
    assert_eq!(
        answer["elsewhere"].as_array().map(Vec::len),
        Some(1),
        "start is in none of its groups"
    );
    recommend(json!({"group": ["work"]}))
        .await
        .problem(403, "insufficient_tool_groups");
    let problem = recommend(json!({"state": "started"}))
        .await
        .problem(422, "invalid_request");
    assert_eq!(problem["errors"][0]["pointer"], "/state");
}

#[tokio::test]
async fn sessions_begin_where_the_project_says() {
    let app = with_steps(&[]).await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["work"]).await;
    let begin = async |body: Value| {
        let mut body = body;
        body["group"] = json!(["work"]);
        agent.post(SESSIONS, &body).await
    };
    begin(json!({"state": "anywhere"})).await.expect(201);

    require(&admin, &json!({"sessions": "required"})).await;
    for state in [json!(null), json!(""), json!("undefined")] {
        let session = begin(json!({"state": state})).await.expect(201).json();
        assert_eq!(session["state"], "undefined", "{state}");
    }
    let problem = begin(json!({"state": "started"}))
        .await
        .problem(403, "start_state_not_allowed");
    assert_eq!(problem["errors"][0]["pointer"], "/state");
    assert!(
        problem["errors"][0]["hint"]
            .as_str()
            .is_some_and(|hint| hint.contains("undefined")),
        "{problem}"
    );
    let record = newest_record(&admin).await;
    assert_eq!(
        (&record["action"], &record["code"]),
        (&json!("session"), &json!("start_state_not_allowed"))
    );
    assert_eq!(
        (&record["state_before"], &record["state_from"]),
        (&json!("started"), &json!("request"))
    );
    agent
        .post(SESSIONS, &json!({"group": ["other"], "state": "started"}))
        .await
        .problem(403, "insufficient_tool_groups");

    // Start states count without required sessions too, and the first is where a session begins that names none.
    for sessions in ["required", "optional"] {
        let settings = json!({"sessions": sessions, "start_states": ["started", "review"]});
        let stored = require(&admin, &settings).await;
        assert_eq!(stored["settings"]["start_states"], json!(["started", "review"]));
        assert_eq!(stored["warnings"].as_array().map(Vec::len), Some(1), "{stored}");
        assert_eq!(
            stored["warnings"][0]["pointer"], "/start_states/1",
            "no tool names it"
        );
        assert_eq!(begin(json!({})).await.expect(201).json()["state"], "started");
        assert_eq!(
            begin(json!({"state": "review"})).await.expect(201).json()["state"],
            "review"
        );
        begin(json!({"state": "undefined"}))
            .await
            .problem(403, "start_state_not_allowed");
    }

    // A session that has ended can't be followed by one in its state.
    let session = begin(json!({})).await.expect(201).json();
    agent.delete(&path(&session, ""), Some("*")).await.expect(204);
    let problem = super::call(&agent, &session, "start")
        .await
        .problem(410, "session_ended");
    assert!(
        !problem["detail"]
            .as_str()
            .is_some_and(|detail| detail.contains("may be the one")),
        "{problem}"
    );
}

#[tokio::test]
async fn the_simulator_says_why_a_request_without_a_session_is_refused() {
    let app = with_steps(&[]).await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["work"]).await;
    require(&admin, &json!({"sessions": "required"})).await;
    let explain = async |client: &Client<'_>, more: Value| {
        let mut body = json!({"tool": "start"});
        for (name, value) in more.as_object().expect("an object") {
            body[name] = value.clone();
        }
        client.post("/projects/demo/explain", &body).await
    };
    let outside = explain(&agent, json!({"group": ["work"], "state": "undefined"}))
        .await
        .expect(200)
        .json();
    let item = &outside["items"][0];
    assert_eq!(
        (&item["effect"], &item["code"]),
        (&json!("deny"), &json!("session_required"))
    );
    assert!(
        item["summary"]
            .as_str()
            .is_some_and(|text| text.contains("POST /projects/demo/sessions")),
        "{item}"
    );
    assert_eq!(
        (&item["tests"][1]["test"], &item["tests"][1]["outcome"]),
        (&json!("session"), &json!("failed"))
    );
    assert_eq!(
        (&item["tests"][2]["outcome"], &item["tests"][2]["would_pass"]),
        (&json!("not_reached"), &json!(true))
    );

    let beyond = explain(&agent, json!({"group": ["other"]}))
        .await
        .expect(200)
        .json();
    assert_eq!(beyond["items"][0]["code"], "insufficient_tool_groups");

    let session = create(&agent, json!({"group": ["work"]})).await;
    let inside = explain(&agent, json!({"session_id": session["id"]}))
        .await
        .expect(200)
        .json();
    assert_eq!(inside["items"][0]["effect"], "allow", "{inside}");
    assert_eq!(inside["items"][0]["tests"][1]["outcome"], "passed");

    // Only who reads the definitions may suppose a session.
    let supposed = json!({"group": ["work"], "state": "started", "assume_session": true});
    explain(&agent, supposed.clone()).await.problem(403, "forbidden");
    let supposed = explain(&admin, supposed).await.expect(200).json();
    assert_eq!(supposed["items"][0]["code"], "tool_not_in_state", "{supposed}");
    let both = json!({"session_id": session["id"], "assume_session": true});
    explain(&agent, both).await.problem(422, "invalid_request");

    // A policy test is about the rules, not about an entrance.
    let test = json!([{"name": "t", "granted": ["work"], "group": ["work"], "tool": "start",
        "expect": {"effect": "allow"}}]);
    admin.post("/projects/demo/policy-tests", &test).await.expect(201);
    let run = admin
        .post("/projects/demo/policy-tests/run", &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!(run["results"][0]["passed"], true, "{run}");
}
