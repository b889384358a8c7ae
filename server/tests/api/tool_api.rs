//! A project's tools as an API of their own: its description, and calling by it.

use axum::body::Body;
use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::support::{Answer, Client, TestApp, echo, tool};

const DOCUMENT: &str = "/projects/demo/openapi.json";

fn invoke(tool: &str, query: &str) -> String {
    format!("/projects/demo/tools/{tool}/invoke{query}")
}

/// An application that may reach `base`, with these tools in `demo`, and its administrator.
async fn with_tools<'a>(app: &'a TestApp, tools: &[String]) -> Client<'a> {
    let admin = app.demo().await;
    for tool in tools {
        admin.upload("/projects/demo/tools", tool).await.expect(201);
    }
    admin
}

async fn app_for(base: &str) -> TestApp {
    TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", base)]).await
}

/// Paths of a document without what is around the tool's name.
fn tools_of(answer: &Answer) -> Vec<String> {
    let document = answer.json();
    let paths = document["paths"].as_object().expect("paths");
    paths
        .keys()
        .map(|path| {
            let name = path.strip_prefix("/projects/demo/tools/").expect("the start");
            name.strip_suffix("/invoke").expect("the end").to_owned()
        })
        .collect()
}

#[tokio::test]
async fn the_document_has_what_this_caller_may_call_now() {
    let app = TestApp::new().await;
    let tools = [
        tool("free", "https://api.example.com", "/a", ""),
        tool("read", "https://api.example.com", "/b", "group: [knowledge]\n"),
        tool(
            "late",
            "https://api.example.com",
            "/c",
            "group: [knowledge]\navailable_in_states: [analysis]\n",
        ),
        tool(
            "off",
            "https://api.example.com",
            "/d",
            "group: [knowledge]\nenabled: false\n",
        ),
    ];
    let admin = with_tools(&app, &tools).await;
    let agent = app.key(&admin, "demo", "agent", &["knowledge"]).await;
    for (who, query, expected) in [
        (&admin, "", vec!["free"]),
        (&admin, "?group=*", vec!["free", "read"]),
        (&admin, "?group=", vec![]),
        (&agent, "?group=knowledge", vec!["read"]),
        (&agent, "?group=knowledge&state=analysis", vec!["late", "read"]),
    ] {
        let answer = who.get(&format!("{DOCUMENT}{query}")).await.expect(200);
        assert_eq!(tools_of(&answer), expected, "{query}");
    }
    let problem = agent.get(DOCUMENT).await.problem(403, "insufficient_tool_groups");
    assert_eq!(problem["missing_groups"], json!(["default"]));
    let auditor = app.auditor(&admin).await;
    let path = format!("/projects/demo/audit?id={}", problem["call_id"].as_str().unwrap());
    let record = auditor.get(&path).await.expect(200).json()["items"][0].clone();
    assert_eq!(
        (&record["action"], &record["outcome"]),
        (&json!("resolve"), &json!("denied"))
    );
}

#[tokio::test]
async fn the_document_is_unchanged_until_it_changes() {
    let app = TestApp::new().await;
    let admin = with_tools(&app, &[tool("free", "https://api.example.com", "/a", "")]).await;
    let first = admin.get(DOCUMENT).await.expect(200);
    let tag = first.header("etag").to_owned();
    let again = async |tag: &str| {
        let request = admin
            .request(Method::GET, DOCUMENT)
            .header(header::IF_NONE_MATCH, tag)
            .body(Body::empty());
        admin.send(request.expect("a request")).await
    };
    assert!(again(&tag).await.expect(304).body.is_empty());
    let more = tool("more", "https://api.example.com", "/b", "");
    admin.upload("/projects/demo/tools", &more).await.expect(201);
    assert_ne!(again(&tag).await.expect(200).header("etag"), tag);
}

#[tokio::test]
async fn an_operation_says_what_it_takes() {
    let app = TestApp::new().await;
    let admin = with_tools(
        &app,
        &[tool("free", "https://api.example.com", "/a", "group: [g]\n")],
    )
    .await;
    let document = admin.get(&format!("{DOCUMENT}?group=g")).await.expect(200).json();
    assert_eq!(document["openapi"], "3.1.0");
    let operation = &document["paths"][&invoke("free", "")]["post"];
    assert_eq!(operation["operationId"], "free");
    let schema = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        .as_str()
        .expect("a reference");
    let schema = document.pointer(&schema[1..]).expect("a component");
    assert_eq!(schema["properties"]["q"]["type"], "string");
    let group = &document["components"]["parameters"]["Group"];
    assert_eq!(group["required"], true);
    assert_eq!(
        group["schema"]["items"]["$ref"],
        "#/components/schemas/RequestedGroup"
    );
    assert_eq!(
        document["components"]["schemas"]["RequestedGroup"]["enum"],
        json!(["g"])
    );
    // Every reference leads somewhere.
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().expect("an end");
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
}

#[tokio::test]
async fn invoking_answers_what_the_tool_answers_and_is_recorded_like_a_call() {
    let base = echo().await;
    let app = app_for(&base).await;
    let more = "group: [knowledge]\nstate: \"done, so far\"\n";
    let admin = with_tools(&app, &[tool("search", &base, "/search", more)]).await;
    let agent = app.key(&admin, "demo", "agent", &["knowledge"]).await;
    let path = invoke("search", "?group=knowledge&agent_id=a1");
    let answer = agent.post(&path, &json!({"q": "rust"})).await.expect(200);
    assert_eq!(answer.json()["query"], json!({"q": "rust"}));
    assert_eq!(answer.header("toolgate-state"), "done%2C%20so%20far");
    let auditor = app.auditor(&admin).await;
    let record = auditor
        .get(&format!(
            "/projects/demo/audit?id={}",
            answer.header("toolgate-call")
        ))
        .await
        .expect(200)
        .json()["items"][0]
        .clone();
    assert_eq!(record["action"], "call");
    assert_eq!(record["outcome"], "succeeded");
    assert_eq!(record["arguments"], json!({"q": "rust"}));
    assert_eq!(record["context"], json!({"agent_id": "a1"}));
    assert_eq!(record["state_after"], "done, so far");
}

#[tokio::test]
async fn a_session_is_moved_by_invoking() {
    let base = echo().await;
    let app = app_for(&base).await;
    let more = "state: analysis\navailable_in_states: [undefined]\n";
    let admin = with_tools(&app, &[tool("search", &base, "/search", more)]).await;
    let session = admin
        .post("/projects/demo/sessions", &json!({}))
        .await
        .expect(201)
        .json();
    let id = session["id"].as_str().expect("an id").to_owned();
    let query = format!("?session_id={id}");
    let shown = admin.get(&format!("{DOCUMENT}{query}")).await.expect(200);
    assert_eq!(tools_of(&shown), ["search"]);
    let answer = admin
        .post(&invoke("search", &query), &json!({}))
        .await
        .expect(200);
    assert_eq!(answer.header("toolgate-state"), "analysis");
    admin
        .post(&invoke("search", &query), &json!({}))
        .await
        .problem(403, "tool_not_in_state");
    let shown = admin.get(&format!("{DOCUMENT}{query}")).await.expect(200);
    assert!(tools_of(&shown).is_empty());
}

#[tokio::test]
async fn what_is_no_result_is_a_problem() {
    let base = echo().await;
    let app = app_for(&base).await;
    let tools = [
        tool("fails", &base, "/fails", ""),
        tool("denied", "https://elsewhere.example.com", "/", ""),
        tool("closed", &base, "/x", "group: [other]\n"),
    ];
    let admin = with_tools(&app, &tools).await;
    let rows: [(&str, Value, u16, &str); 5] = [
        ("fails", json!({}), 502, "upstream_rejected"),
        ("denied", json!({}), 502, "egress_denied"),
        ("closed", json!({}), 403, "tool_not_in_groups"),
        ("nope", json!({}), 404, "tool_not_found"),
        ("fails", json!({"q": 7}), 422, "invalid_arguments"),
    ];
    for (name, arguments, status, code) in rows {
        let problem = admin
            .post(&invoke(name, ""), &arguments)
            .await
            .problem(status, code);
        assert!(problem["call_id"].is_string(), "{name}: {problem}");
    }
    let problem = admin
        .post(&invoke("fails", ""), &json!({}))
        .await
        .problem(502, "upstream_rejected");
    assert_eq!(problem["upstream_status"], 404);
    assert_eq!(problem["upstream_message"], "no such thing");
    assert_eq!(problem["retryable"], false);
    admin
        .post(&invoke("fails", ""), &json!([]))
        .await
        .problem(422, "invalid_request");
    admin
        .post(&invoke("fails", "?groups=x"), &json!({}))
        .await
        .problem(400, "malformed_request");
}

#[tokio::test]
async fn a_repeated_request_is_answered_again() {
    let base = echo().await;
    let app = app_for(&base).await;
    let admin = with_tools(
        &app,
        &[
            tool("search", &base, "/search", ""),
            tool("fails", &base, "/fails", ""),
        ],
    )
    .await;
    let send = async |name: &str, q: &str| {
        let request = admin
            .request(Method::POST, &invoke(name, ""))
            .header(header::CONTENT_TYPE, "application/json")
            .header("idempotency-key", format!("key-{name}"))
            .body(Body::from(json!({"q": q}).to_string()));
        admin.send(request.expect("a request")).await
    };
    let first = send("search", "a").await.expect(200);
    let second = send("search", "a").await.expect(200);
    assert_eq!(first.header("toolgate-call"), second.header("toolgate-call"));
    assert_eq!(first.json(), second.json());
    assert_eq!(
        (
            first.header("idempotency-replayed"),
            second.header("idempotency-replayed")
        ),
        ("", "true")
    );
    send("search", "b").await.problem(422, "idempotency_mismatch");

    let first = send("fails", "a").await.problem(502, "upstream_rejected");
    let second = send("fails", "a").await.problem(502, "upstream_rejected");
    assert_eq!(first["call_id"], second["call_id"]);
}
