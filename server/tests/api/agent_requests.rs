//! Questions to an agent: the tools in three formats, and the way to an agent and back.

mod answers;

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::stream;
use serde_json::{Value, json};

use crate::support::{ANY, Client, TestApp, serve};

const PATH: &str = "/projects/demo/agent-requests";
const WORKFLOW: &str = include_str!("../../../openapi/examples/session-workflow.yaml");

/// The example tools in `demo`; questions go to `endpoint`, if there is one.
async fn with_agent(endpoint: Option<&str>) -> TestApp {
    let origin = endpoint.map(|url| url[..url.rfind('/').expect("a path")].to_owned());
    let mut allowed = "https://tools.example.com".to_owned();
    if let Some(origin) = origin {
        allowed.push(',');
        allowed.push_str(&origin);
    }
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &allowed)]).await;
    let admin = app.demo().await;
    admin.upload("/projects/demo/tools", WORKFLOW).await.expect(201);
    if let Some(url) = endpoint {
        let settings = json!({"agent_endpoint": url});
        admin
            .send_json(Method::PUT, "/projects/demo/settings", &ANY, &settings)
            .await
            .expect(200);
    }
    app
}

/// An agent that answers as `answer` says; what it was sent is kept.
async fn agent<F, R>(answer: F) -> (String, Arc<Mutex<Vec<(HeaderMap, Value)>>>)
where
    F: Fn() -> R + Clone + Send + Sync + 'static,
    R: IntoResponse,
{
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let handler = move |headers: HeaderMap, axum::Json(body): axum::Json<Value>| {
        kept.lock().expect("no panic").push((headers, body));
        let answer = answer().into_response();
        async move { answer }
    };
    let base = serve(Router::new().route("/run", post(handler))).await;
    (format!("{base}/run"), seen)
}

fn events(parts: &'static [&'static str]) -> Response {
    let parts = stream::iter(
        parts
            .iter()
            .map(|part| Ok::<_, Infallible>(Bytes::from_static(part.as_bytes()))),
    );
    (
        [(header::CONTENT_TYPE, "text/event-stream")],
        Body::from_stream(parts),
    )
        .into_response()
}

fn names(answer: &Value, pointer: &str) -> Vec<String> {
    answer["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool.pointer(pointer).unwrap().as_str().unwrap().to_owned())
        .collect()
}

async fn last_record(client: &Client<'_>) -> Value {
    client
        .get("/projects/demo/audit?action=agent_request&limit=1")
        .await
        .expect(200)
        .json()["items"][0]
        .clone()
}

#[tokio::test]
async fn without_an_agent_the_answer_is_the_tools_in_the_asked_format() {
    let app = with_agent(None).await;
    let admin = app.admin().await;
    let body = json!({"question": "What entities are connected to Company X?", "group": ["read-only", "knowledge"], "state": "undefined"});
    let plain = admin.post(PATH, &body).await.expect(200).json();
    let rows = [
        ("mcp", "/name", "/inputSchema/type"),
        ("anthropic", "/name", "/input_schema/type"),
        ("openai", "/function/name", "/function/parameters/type"),
    ];
    for (format, name, schema) in rows {
        let answer = admin
            .post(&format!("{PATH}?format={format}"), &body)
            .await
            .expect(200)
            .json();
        assert_eq!(answer["format"], format);
        assert_eq!(names(&answer, name), ["knowledge-query", "text-completion"]);
        assert_eq!(names(&answer, schema), ["object", "object"]);
        assert_eq!(answer["requested_groups"], json!(["knowledge", "read-only"]));
        assert_eq!(answer["group"], body["group"]);
        assert_eq!(
            (
                &answer["available"],
                &answer["filtered_by_group"],
                &answer["filtered_by_state"]
            ),
            (&json!(2), &json!(2), &json!(1))
        );
        assert_eq!(answer["question"], body["question"]);
        assert_eq!(answer["state"], "undefined");
        if format == "mcp" {
            assert_eq!(answer["tools"], plain["tools"], "mcp is the default");
        }
    }
    admin
        .post(&format!("{PATH}?format=xml"), &body)
        .await
        .problem(400, "malformed_request");
    let record = last_record(&admin).await;
    assert_eq!(record["outcome"], "succeeded");
    assert_eq!(record["requested_groups"], json!(["knowledge", "read-only"]));
}

#[tokio::test]
async fn history_comes_back_as_it_came() {
    let app = with_agent(None).await;
    let admin = app.admin().await;
    // Members in their own order, unknown ones, null, nesting: all of it is the agent's business.
    let history = r#"[{"zeta":1,"thought":"t","action":"knowledge-query","arguments":{"b":"10","a":null},"observation":"o \"q\" é"},{},{"step_type":"plan","plan":[{"goal":"g","n":1.5}],"thought":null}]"#;
    let body = format!(r#"{{"question":"?","history":{history}}}"#);
    let answer = admin
        .body(Method::POST, PATH, "application/json", body)
        .await
        .expect(200);
    assert!(
        answer.text().contains(&format!("\"history\":{history}")),
        "{}",
        answer.text()
    );
    for (given, there) in [
        (json!({"question": "?"}), None),
        (json!({"question": "?", "history": []}), Some(json!([]))),
    ] {
        let answer = admin.post(PATH, &given).await.expect(200).json();
        assert_eq!(answer.get("history").cloned(), there);
        assert_eq!(answer.get("group"), None, "absent stays absent");
    }
    let answer = admin
        .post(PATH, &json!({"question": "?", "group": []}))
        .await
        .expect(200)
        .json();
    assert_eq!((&answer["group"], &answer["tools"]), (&json!([]), &json!([])));
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused() {
    let app = with_agent(None).await;
    let admin = app.admin().await;
    let agent = app.key(&admin, "demo", "agent", &["read-only"]).await;
    let problem = agent
        .post(PATH, &json!({"question": "?", "plan": "first this"}))
        .await
        .problem(422, "invalid_request");
    assert_eq!(problem["errors"][0]["pointer"], "/plan", "{problem}");
    assert!(problem["errors"][0]["hint"].as_str().unwrap().contains("group"));
    for (body, status, code) in [
        (json!({}), 422, "invalid_request"),
        (json!({"question": ""}), 422, "invalid_request"),
        (json!({"question": "q".repeat(32_769)}), 422, "invalid_request"),
        (
            json!({"question": "?", "history": vec![json!({}); 1001]}),
            422,
            "invalid_request",
        ),
        (json!({"question": "?", "history": [1]}), 422, "invalid_request"),
        (json!({"question": "?", "nonsense": 1}), 422, "invalid_request"),
        (
            json!({"question": "?", "group": ["write"]}),
            403,
            "insufficient_tool_groups",
        ),
        (json!({"question": "?"}), 403, "insufficient_tool_groups"),
    ] {
        agent.post(PATH, &body).await.problem(status, code);
    }
    let record = last_record(&admin).await;
    assert_eq!(
        (&record["outcome"], &record["missing_groups"]),
        (&json!("denied"), &json!(["default"]))
    );
    agent
        .body(Method::POST, PATH, "text/plain", "{}".to_owned())
        .await
        .problem(415, "unsupported_media_type");
}

#[tokio::test]
async fn in_a_session_its_state_and_groups_are_used_and_not_moved() {
    let app = with_agent(None).await;
    let admin = app.admin().await;
    let session = admin
        .post(
            "/projects/demo/sessions",
            &json!({"group": ["advanced", "write"], "state": "analysis"}),
        )
        .await
        .expect(201)
        .json();
    let answer = admin
        .post(PATH, &json!({"question": "?", "session_id": session["id"]}))
        .await
        .expect(200)
        .json();
    assert_eq!(names(&answer, "/name"), ["complex-analysis", "graph-update"]);
    assert_eq!(answer["session"], json!({"id": session["id"], "version": 1}));
    assert_eq!(answer["state"], "analysis");
    assert_eq!(last_record(&admin).await["session_id"], session["id"]);
    let both = json!({"question": "?", "session_id": session["id"], "state": "results"});
    let problem = admin.post(PATH, &both).await.problem(422, "invalid_request");
    assert_eq!(problem["errors"][0]["pointer"], "/state");
}

#[tokio::test]
async fn the_context_decides_conditions_and_is_passed_on() {
    let (url, seen) = agent(|| events(&["data: one\n\n"])).await;
    let app = with_agent(Some(&url)).await;
    let admin = app.admin().await;
    let condition = json!({"condition": "context.agent_id == 'ada'"});
    let declared = admin
        .send_json(Method::PUT, "/projects/demo/groups/knowledge", &ANY, &condition)
        .await;
    assert!(declared.status.is_success(), "{}", declared.text());
    let session = json!({"group": ["knowledge"], "context": {"agent_id": "ada"}});
    let session = admin
        .post("/projects/demo/sessions", &session)
        .await
        .expect(201)
        .json();

    let ada = json!({"agent_id": "ada", "turn_epoch": 3});
    for (body, names_expected, context) in [
        (json!({"group": ["knowledge"]}), &[][..], None),
        (
            json!({"group": ["knowledge"], "context": {"agent_id": "eve"}}),
            &[],
            Some(json!({"agent_id": "eve"})),
        ),
        (
            json!({"group": ["knowledge"], "context": ada}),
            &["knowledge-query"],
            Some(ada.clone()),
        ),
        (json!({"session_id": session["id"]}), &["knowledge-query"], None),
        // It is laid over that of the session.
        (
            json!({"session_id": session["id"], "context": {"agent_id": "eve"}}),
            &[],
            Some(json!({"agent_id": "eve"})),
        ),
    ] {
        let mut asked = json!({"question": "?"});
        asked
            .as_object_mut()
            .expect("an object")
            .extend(body.as_object().expect("an object").clone());
        admin.post(PATH, &asked).await.expect(200);
        let (_, sent) = seen.lock().expect("no panic").remove(0);
        assert_eq!(names(&sent, "/name"), names_expected, "{body}");
        assert_eq!(sent.get("context").cloned(), context, "{body}");
    }
    let auditor = app.auditor(&admin).await;
    assert_eq!(last_record(&auditor).await["context"], json!({"agent_id": "eve"}));
    admin
        .post(PATH, &json!({"question": "?", "context": []}))
        .await
        .problem(422, "invalid_request");
    let long = json!({"question": "?", "context": {"agent_id": "a".repeat(1000)}});
    let problem = admin.post(PATH, &long).await.problem(422, "invalid_request");
    assert_eq!(problem["errors"][0]["pointer"], "/context/agent_id");
}
