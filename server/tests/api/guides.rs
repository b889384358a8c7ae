//! Guides by REST: written, replaced, removed, and shown to those who may use what they are about.

use axum::http::Method;
use serde_json::{Value, json};

use crate::imports_kept::{description, pet};
use crate::support::{ANY, Client, NEW, TestApp};

const GUIDES: &str = "/projects/demo/guides";

fn guide(group: Option<&str>, text: &str) -> Value {
    let mut guide = json!({"summary": "How to search", "text": text});
    if let Some(group) = group {
        guide["group"] = json!(group);
    }
    guide
}

async fn ids(client: &Client<'_>) -> Vec<String> {
    listed(client, "").await
}

async fn about(client: &Client<'_>, tool: &str) -> Vec<String> {
    listed(client, &format!("?tool={tool}")).await
}

async fn listed(client: &Client<'_>, query: &str) -> Vec<String> {
    let path = format!("{GUIDES}{query}");
    let listed = client.get(&path).await.expect(200).json();
    let items = listed["items"].as_array().expect("a list");
    assert!(items.iter().all(|guide| guide["text"].is_null()), "{items:?}");
    items
        .iter()
        .map(|guide| guide["id"].as_str().expect("an id").to_owned())
        .collect()
}

#[tokio::test]
async fn a_guide_is_made_replaced_and_removed() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let path = format!("{GUIDES}/searching");
    let made = admin
        .send_json(Method::PUT, &path, &NEW, &guide(None, "# One"))
        .await
        .expect(201);
    let tag = made.header("etag").to_owned();
    admin
        .send_json(Method::PUT, &path, &NEW, &guide(None, "# Two"))
        .await
        .problem(412, "precondition_failed");
    admin
        .send_json(Method::PUT, &path, &[], &guide(None, "# Two"))
        .await
        .problem(428, "precondition_required");
    let condition = [(axum::http::header::IF_MATCH, tag.as_str())];
    let replaced = admin
        .send_json(Method::PUT, &path, &condition, &guide(Some("a"), "# Two"))
        .await;
    assert_eq!(replaced.expect(200).json()["group"], "a");
    admin
        .send_json(Method::PUT, &path, &condition, &guide(None, "# Three"))
        .await
        .problem(412, "precondition_failed");
    let read = admin.get(&path).await.expect(200);
    assert_eq!(read.json()["text"], "# Two");
    assert_ne!(read.header("etag"), tag);
    admin
        .send_json(Method::DELETE, &path, &ANY, &json!({}))
        .await
        .expect(204);
    admin.get(&path).await.problem(404, "not_found");
}

#[tokio::test]
async fn what_is_no_guide_is_refused_with_every_fault() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let both = json!({"summary": " ", "text": "", "group": "a", "source": "b"});
    let refused = admin
        .send_json(Method::PUT, &format!("{GUIDES}/x"), &NEW, &both)
        .await;
    let refused = refused.problem(422, "invalid_request");
    let pointers: Vec<&Value> = refused["errors"]
        .as_array()
        .expect("faults")
        .iter()
        .map(|fault| &fault["pointer"])
        .collect();
    assert_eq!(pointers, ["/summary", "/text", "/source"]);
    let yaml = "guide:\n  a:\n    summary: One\n    text: x\n  b:\n    summary: Two\n";
    let refused = admin.upload(GUIDES, yaml).await.problem(422, "invalid_request");
    let fault = &refused["errors"][0];
    assert!(fault["line"].as_u64().is_some_and(|line| line >= 5), "{refused}");
    assert_eq!(fault["message"], "\"text\" is missing", "{refused}");
    assert_eq!(ids(&admin).await, [""; 0], "nothing was stored");
}

#[tokio::test]
async fn an_upload_creates_and_replaces() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let yaml =
        |text: &str| format!("guide:\n  a: {{summary: One, text: {text}}}\n  b: {{summary: Two, text: y}}\n");
    let outcomes = |answer: Value| -> Vec<Value> {
        answer["items"]
            .as_array()
            .expect("items")
            .iter()
            .map(|item| item["outcome"].clone())
            .collect()
    };
    let first = admin.upload(GUIDES, &yaml("x")).await.expect(201).json();
    assert_eq!(outcomes(first), ["created", "created"]);
    let again = admin.upload(GUIDES, &yaml("z")).await.expect(200).json();
    assert_eq!(outcomes(again), ["replaced", "unchanged"]);
}

#[tokio::test]
async fn callers_see_the_guides_of_what_they_may_use() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let api = description("1", json!({"/pets/{id}": {"get": pet("Get", &[])}}));
    let imported = admin
        .send_json(Method::PUT, "/projects/demo/imports/pets", &NEW, &api)
        .await;
    assert!(imported.status.is_success(), "{}", imported.text());
    let yaml = "guide:\n  all: {summary: One, text: x}\n  of-a: {summary: Two, text: y, group: a}\n  of-pets: {summary: Three, text: z, source: pets}\n";
    admin.upload(GUIDES, yaml).await.expect(201);
    let agent = app.key(&admin, "demo", "agent", &["a/x"]).await;
    assert_eq!(ids(&agent).await, ["all"]);
    agent
        .get(&format!("{GUIDES}/of-a"))
        .await
        .problem(404, "not_found");
    let agent = app.key(&admin, "demo", "agent", &["a"]).await;
    assert_eq!(ids(&agent).await, ["all", "of-a"]);
    assert!(agent.get(&format!("{GUIDES}/of-a")).await.expect(200).json()["updated_by"].is_null());
    // Imported tools are disabled until they are enabled: nothing of the import can be used yet.
    let agent = app.key(&admin, "demo", "agent", &["animals"]).await;
    assert_eq!(ids(&agent).await, ["all"]);
    let change =
        json!({"select": {"names": ["getPet"]}, "change": {"enabled": true, "add_groups": ["animals"]}});
    let enabled = admin.post("/projects/demo/tool-changes", &change).await;
    assert!(enabled.status.is_success(), "{}", enabled.text());
    assert_eq!(ids(&agent).await, ["all", "of-pets"]);
    // Those who read definitions see all.
    let viewer = app.key(&admin, "demo", "viewer", &[]).await;
    assert_eq!(ids(&viewer).await, ["all", "of-a", "of-pets"]);
    // About a tool: of the project, of its groups, and of its import.
    let tool = "name: own\ntype: static\ngroup: [a/x]\noptions: {static: {result: 1}}\n";
    admin.upload("/projects/demo/tools", tool).await.expect(201);
    assert_eq!(about(&viewer, "own").await, ["all", "of-a"]);
    assert_eq!(about(&viewer, "getPet").await, ["all", "of-pets"]);
    assert_eq!(about(&agent, "getPet").await, ["all", "of-pets"]);
    for (client, unknown) in [(&viewer, "nothing"), (&agent, "own"), (&agent, "nothing")] {
        assert_eq!(about(client, unknown).await, [""; 0], "{unknown}");
    }
}
