//! What is available: the rule of groups and states, through the API.

use serde_json::{Value, json};

use crate::support::{Client, TestApp};

const WORKFLOW: &str = include_str!("../../../openapi/examples/knowledge-workflow.yaml");

async fn ask(client: &Client<'_>, group: Value, state: &str) -> Value {
    client
        .post("/projects/demo/resolve", &json!({"group": group, "state": state}))
        .await
        .expect(200)
        .json()
}

#[tokio::test]
async fn the_specifications_requests_by_the_rule() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin.upload("/projects/demo/tools", WORKFLOW).await.expect(201);

    let research = ask(&admin, json!(["read-only", "knowledge"]), "undefined").await;
    assert_eq!(
        research["available"],
        json!(["knowledge-query", "text-completion"])
    );
    assert_eq!(
        research["filtered_by_group"],
        json!(["complex-analysis", "reset-workflow"])
    );
    assert_eq!(research["filtered_by_state"], json!(["graph-update"]));

    let analysis = ask(&admin, json!(["advanced", "compute", "write"]), "analysis").await;
    assert_eq!(analysis["available"], json!(["complex-analysis", "graph-update"]));

    let results = ask(&admin, json!(["admin"]), "results").await;
    assert_eq!(results["available"], json!(["reset-workflow"]));

    let everything = ask(&admin, json!(["*"]), "undefined").await;
    assert_eq!(
        everything["available"],
        json!(["knowledge-query", "text-completion"])
    );
    assert_eq!(everything["filtered_by_group"], json!([]));
}

/// The lists of what is hidden are as long as the project; who does not need them leaves them out.
#[tokio::test]
async fn what_is_hidden_can_be_left_out() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin.upload("/projects/demo/tools", WORKFLOW).await.expect(201);
    let asked = json!({"group": ["read-only", "knowledge"]});
    let mut whole = admin
        .post("/projects/demo/resolve", &asked)
        .await
        .expect(200)
        .json();
    assert_ne!(whole["filtered_by_group"], json!([]));
    assert_ne!(whole["filtered_by_state"], json!([]));
    let short = json!({"group": ["read-only", "knowledge"], "filtered": false});
    let short = admin
        .post("/projects/demo/resolve", &short)
        .await
        .expect(200)
        .json();
    for list in ["filtered_by_group", "filtered_by_state", "filtered_by_condition"] {
        whole[list] = json!([]);
    }
    assert_eq!(short, whole);
}

#[tokio::test]
async fn absent_null_and_empty_stay_different() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin
        .upload(
            "/projects/demo/tools",
            "name: plain\noptions: {http: {base_url: \"https://s.jina.ai\"}}\ndescription: No group.\n",
        )
        .await
        .expect(201);
    for (body, requested, available) in [
        (json!({}), json!(["default"]), json!(["plain"])),
        (json!({"group": null}), json!(["default"]), json!(["plain"])),
        (json!({"group": []}), json!([]), json!([])),
        (json!({"group": ["nope"]}), json!(["nope"]), json!([])),
    ] {
        let answer = admin
            .post("/projects/demo/resolve", &body)
            .await
            .expect(200)
            .json();
        assert_eq!(answer["requested_groups"], requested, "{body}");
        assert_eq!(answer["available"], available, "{body}");
        assert_eq!(answer["state"], "undefined");
    }
    let unknown = admin
        .post("/projects/demo/resolve", &json!({"group": ["nope", "default"]}))
        .await
        .expect(200)
        .json();
    assert_eq!(unknown["unknown_groups"], json!(["nope"]));
}

#[tokio::test]
async fn asking_for_more_than_was_granted_is_refused_whole_and_recorded() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let agent = app.key(&admin, "demo", "agent", &["knowledge"]).await;
    for (group, missing) in [
        (json!(["knowledge", "admin"]), json!(["admin"])),
        (json!(["*"]), json!(["*"])),
        (json!(null), json!(["default"])),
        (json!(["Knowledge"]), json!(["Knowledge"])),
    ] {
        let problem = agent
            .post("/projects/demo/resolve", &json!({"group": group}))
            .await
            .problem(403, "insufficient_tool_groups");
        assert_eq!(problem["missing_groups"], missing);
        assert!(
            problem["detail"]
                .as_str()
                .unwrap()
                .starts_with("Insufficient permissions for requested tool groups")
        );
        let path = format!("/projects/demo/audit?id={}", problem["call_id"].as_str().unwrap());
        let record = admin.get(&path).await.expect(200).json()["items"][0].clone();
        assert_eq!(record["outcome"], "denied");
        assert_eq!(record["missing_groups"], missing);
        assert_eq!(record["granted_groups"], json!(["knowledge"]));
    }
    agent
        .post("/projects/demo/resolve", &json!({"group": ["knowledge/read"]}))
        .await
        .expect(200);
    agent
        .post("/projects/demo/resolve", &json!({"group": []}))
        .await
        .expect(200);
}
