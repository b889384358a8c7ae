//! Workflow states as resources, and the graph of the project's tools.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::{ANY, Client, NEW, TestApp};

const STATES: &str = "/projects/demo/states";
const TOOLS: &str = "/projects/demo/tools";
const WORKFLOW: &str = include_str!("../../../openapi/examples/knowledge-workflow.yaml");

async fn demo(app: &TestApp) -> Client<'_> {
    let admin = app.demo().await;
    admin.upload(TOOLS, WORKFLOW).await.expect(201);
    admin
}

fn names(page: &Value) -> Vec<&str> {
    page["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["name"].as_str().unwrap())
        .collect()
}

async fn post(client: &Client<'_>, path: &str, body: &Value) -> crate::support::Answer {
    client.send_json(Method::POST, path, &ANY, body).await
}

async fn declare(client: &Client<'_>, state: &str, description: &str) -> crate::support::Answer {
    let path = format!("{STATES}/{state}");
    client
        .send_json(Method::PUT, &path, &NEW, &json!({"description": description}))
        .await
}

#[tokio::test]
async fn states_are_listed_as_the_caller_may_see_them() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    declare(&admin, "%67raph", "An unlucky name.").await.expect(201);
    let all = admin.get(STATES).await.expect(200).json();
    assert_eq!(
        names(&all),
        [
            "analysis",
            "graph",
            "modification",
            "research",
            "results",
            "undefined"
        ]
    );
    let start = &all["items"][5];
    assert_eq!((&start["start"], &start["open_tools"]), (&json!(true), &json!(2)));
    let analysis = admin.get(&format!("{STATES}/analysis")).await.expect(200);
    assert_eq!(analysis.header("etag"), "\"v0\"");
    assert_eq!(analysis.json()["led_to_by"], json!(["knowledge-query"]));
    let unlucky = admin.get(&format!("{STATES}/%67raph")).await.expect(200).json();
    assert_eq!(unlucky["description"], "An unlucky name.");

    let agent = app.key(&admin, "demo", "agent", &["admin"]).await;
    let seen = agent.get(STATES).await.expect(200).json();
    assert_eq!(names(&seen), ["analysis", "modification", "results", "undefined"]);
    agent
        .get(&format!("{STATES}/research"))
        .await
        .problem(404, "not_found");
    agent
        .get(&format!("{STATES}/%67raph"))
        .await
        .problem(404, "not_found");
    let page = admin
        .get(&format!("{STATES}?limit=2&q=r"))
        .await
        .expect(200)
        .json();
    assert_eq!(names(&page), ["graph", "research"]);
    let cursor = page["next_cursor"].as_str().unwrap();
    let page = admin
        .get(&format!("{STATES}?limit=2&q=r&cursor={cursor}"))
        .await
        .expect(200)
        .json();
    assert_eq!(names(&page), ["results"]);
}

#[tokio::test]
async fn the_graph_is_data_and_pictures() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    declare(&admin, "planned", "").await.expect(201);
    let reset = "name: reset\noptions: {http: {base_url: \"https://s.jina.ai\"}}\ndescription: Begins anew.\ngroup: [text]\nstate: \"undefined\"\n";
    admin.upload(TOOLS, reset).await.expect(201);
    let path = format!("{STATES}/graph");
    let graph = admin.get(&path).await.expect(200).json();
    assert_eq!(graph["start"], "undefined");
    assert_eq!(
        graph["unreachable"],
        json!(["modification", "planned", "research"])
    );
    assert_eq!(graph["unused"], json!(["planned"]));
    assert_eq!(graph["cycles"], json!([["analysis", "results", "undefined"]]));
    assert_eq!(graph["truncated"], false);
    assert_eq!(graph["state_count"], 6);
    let ways = graph["transitions"].as_array().unwrap();
    assert!(ways.iter().any(|way| way["from"] == "undefined"
        && way["to"] == "analysis"
        && way["tools"] == json!(["knowledge-query"])));
    assert!(
        ways.iter()
            .any(|way| way.get("from").is_none() && way["tools"] == json!(["reset"]))
    );

    let mermaid = admin.get(&format!("{path}?format=mermaid")).await.expect(200);
    assert!(mermaid.header("content-type").starts_with("text/vnd.mermaid"));
    assert!(mermaid.text().starts_with("stateDiagram-v2\n"));
    let dot = admin.get(&format!("{path}?format=dot")).await.expect(200);
    assert!(dot.text().starts_with("digraph states {"), "{}", dot.text());
    admin
        .get(&format!("{path}?format=svg"))
        .await
        .problem(400, "malformed_request");

    // An agent sees the workflow of its own tools only.
    let agent = app.key(&admin, "demo", "agent", &["text"]).await;
    let own = agent.get(&path).await.expect(200).json();
    assert_eq!(own["state_count"], 1);
    assert_eq!(own["transitions"][0]["tools"], json!(["reset"]));
}

#[tokio::test]
async fn a_state_is_renamed_with_its_tools_and_sessions() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    let session = admin
        .post(
            "/projects/demo/sessions",
            &json!({"group": ["*"], "state": "analysis"}),
        )
        .await
        .expect(201)
        .json();
    let path = format!("{STATES}/analysis/rename");
    let dry = post(&admin, &format!("{path}?dry_run=true"), &json!({"to": "review"})).await;
    let dry = dry.expect(200).json();
    assert_eq!(
        (&dry["tool_count"], &dry["session_count"]),
        (&json!(4), &json!(1)),
        "{dry}"
    );
    post(&admin, &path, &json!({"to": "results"}))
        .await
        .problem(409, "conflict");
    post(
        &admin,
        &format!("{STATES}/undefined/rename"),
        &json!({"to": "start"}),
    )
    .await
    .problem(422, "invalid_request");
    post(&admin, &path, &json!({"to": "review"})).await.expect(200);

    let tool = admin
        .get(&format!("{TOOLS}/knowledge-query"))
        .await
        .expect(200)
        .json();
    assert_eq!(tool["state"], "review");
    let moved = admin
        .get(&format!(
            "/projects/demo/sessions/{}",
            session["id"].as_str().unwrap()
        ))
        .await
        .expect(200)
        .json();
    assert_eq!(moved["state"], "review", "{moved}");
    let tools: Vec<String> = admin
        .get(&format!(
            "/projects/demo/sessions/{}/tools",
            session["id"].as_str().unwrap()
        ))
        .await
        .expect(200)
        .json()["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(tools.contains(&"complex-analysis".to_owned()), "{tools:?}");
}

#[tokio::test]
async fn removing_a_state_never_opens_a_tool_everywhere() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    let path = format!("{STATES}/analysis");
    let preview = admin
        .delete(&format!("{path}?dry_run=true"), None)
        .await
        .expect(200)
        .json();
    assert_eq!(preview["unreachable_tools"], json!(["complex-analysis"]));
    admin.delete(&path, Some("\"v0\"")).await.expect(200);
    let tool = admin
        .get(&format!("{TOOLS}/complex-analysis"))
        .await
        .expect(200)
        .json();
    assert_eq!(tool["available_in_states"], json!([]));
    let query = admin
        .get(&format!("{TOOLS}/knowledge-query"))
        .await
        .expect(200)
        .json();
    assert!(query.get("state").is_none(), "it leads nowhere: {query}");
    let graph = admin.get(&format!("{STATES}/graph")).await.expect(200).json();
    assert_eq!(graph["never_callable"], json!(["complex-analysis"]));
    admin
        .delete(&format!("{STATES}/undefined"), Some("*"))
        .await
        .problem(422, "invalid_request");
}
