//! Recommendations: what fits, of what the caller holds.

use serde_json::{Value, json};

use crate::support::{Client, TestApp};

const PATH: &str = "/projects/demo/recommendations";
const WORKFLOW: &str = include_str!("../../../openapi/examples/knowledge-workflow.yaml");

async fn ask(client: &Client<'_>, request: Value) -> Value {
    client.post(PATH, &request).await.expect(200).json()
}

fn tools(list: &Value) -> Vec<&str> {
    let items = list.as_array().unwrap().iter();
    items.map(|item| item["tool"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_best_tools_and_groups_come_first() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin.upload("/projects/demo/tools", WORKFLOW).await.expect(201);
    let agent = app.key(&admin, "demo", "agent", &["knowledge", "text"]).await;

    let answer = ask(
        &agent,
        json!({"question": "query the knowledge graph for entities"}),
    )
    .await;
    assert_eq!(answer["preferred_groups"], json!(["knowledge", "text"]));
    assert_eq!(answer["state"], "undefined");
    assert_eq!(tools(&answer["tools"]), ["knowledge-query"]);
    let best = &answer["tools"][0];
    let score = best["score"].as_f64().unwrap();
    assert!(score > 0.4 && score < 1.0, "{score}");
    assert_eq!(best["groups"], json!(["knowledge"]));
    assert!(
        best["matched"].as_array().unwrap().contains(&json!("graph")),
        "{best}"
    );
    assert_eq!(
        tools(&answer["elsewhere"]),
        ["graph-update"],
        "open in another state"
    );
    assert_eq!(answer["groups"][0]["group"], "knowledge");
    assert_eq!(answer["groups"][0]["fallback"], false);

    // In that state it is the other way round.
    let answer = ask(
        &agent,
        json!({"question": "add entities to the knowledge graph", "state": "analysis"}),
    )
    .await;
    assert_eq!(tools(&answer["tools"]), ["graph-update"]);
    assert_eq!(tools(&answer["elsewhere"]), ["knowledge-query"]);

    // The preferred group has nothing that fits: the next best one is named, and why.
    let request = json!({"question": "query the knowledge graph", "group": ["text"]});
    let answer = ask(&agent, request).await;
    assert_eq!(answer["tools"], json!([]));
    assert_eq!(answer["groups"][0]["group"], "knowledge");
    assert_eq!(answer["groups"][0]["fallback"], true);
    assert!(
        answer["groups"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("preferred groups have none")
    );
}

#[tokio::test]
async fn nothing_outside_the_grant_is_shown_and_asking_for_it_is_refused_and_recorded() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin.upload("/projects/demo/tools", WORKFLOW).await.expect(201);
    let agent = app.key(&admin, "demo", "agent", &["text"]).await;
    let answer = ask(
        &agent,
        json!({"question": "query the knowledge graph and reset the workflow"}),
    )
    .await;
    assert_eq!((&answer["tools"], &answer["elsewhere"]), (&json!([]), &json!([])));
    assert!(!answer.to_string().contains("knowledge-query"));

    let request = json!({"question": "query", "group": ["text", "knowledge"]});
    let problem = agent
        .post(PATH, &request)
        .await
        .problem(403, "insufficient_tool_groups");
    assert_eq!(problem["missing_groups"], json!(["knowledge"]));
    let path = format!("/projects/demo/audit?id={}", problem["call_id"].as_str().unwrap());
    let record = admin.get(&path).await.expect(200).json()["items"][0].clone();
    assert_eq!(
        (&record["action"], &record["outcome"]),
        (&json!("resolve"), &json!("denied"))
    );
}

#[tokio::test]
async fn a_new_definition_is_found_at_once_in_any_script() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let request = json!({"question": "прогноз погоды"});
    assert_eq!(ask(&admin, request.clone()).await["tools"], json!([]));
    let definition = "name: forecast\noptions: {http: {base_url: \"https://s.jina.ai\"}}\ndescription: Показывает прогноз погоды.\n";
    admin.upload("/projects/demo/tools", definition).await.expect(201);
    assert_eq!(tools(&ask(&admin, request).await["tools"]), ["forecast"]);
}

#[tokio::test]
async fn a_question_has_its_bounds() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    for (request, pointer) in [
        (json!({"question": " "}), "/question"),
        (json!({"question": "x".repeat(4_001)}), "/question"),
        (json!({"question": "x", "limit": 0}), "/limit"),
        (json!({"question": "x", "limit": 51}), "/limit"),
        (json!({"question": "x", "group": ["x".repeat(129)]}), "/group/0"),
    ] {
        let problem = admin.post(PATH, &request).await.problem(422, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{request}");
    }
    ask(&admin, json!({"question": "x".repeat(4_000), "limit": 50})).await;
}
