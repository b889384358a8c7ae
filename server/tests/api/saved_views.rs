//! Views of the record: whose they are, who sees them, and who removes them.

use serde_json::{Value, json};

use crate::support::{Client, TestApp};

const PATH: &str = "/projects/demo/saved-views";

async fn save(client: &Client<'_>, name: &str, shared: bool) -> Value {
    let view = json!({"name": name, "query": "outcome=failed", "shared": shared});
    client.post(PATH, &view).await.expect(201).json()
}

async fn names(client: &Client<'_>) -> Vec<String> {
    let views = client.get(PATH).await.expect(200).json();
    let items = views["items"].as_array().expect("items").iter();
    items
        .map(|item| item["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[tokio::test]
async fn own_views_stay_private_and_shared_ones_are_seen_by_all() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let auditor = app.auditor(&admin).await;
    save(&admin, "mine", false).await;
    let shared = save(&admin, "ours", true).await;
    let theirs = save(&auditor, "theirs", true).await;
    assert_eq!(names(&admin).await, ["mine", "ours", "theirs"]);
    assert_eq!(names(&auditor).await, ["ours", "theirs"]);

    let path = |view: &Value| format!("{PATH}/{}", view["id"].as_str().expect("an id"));
    let refused = auditor.delete(&path(&shared), None).await;
    refused.problem(403, "forbidden");
    admin.delete(&path(&theirs), None).await.expect(204);
    admin.delete(&path(&theirs), None).await.problem(404, "not_found");
    assert_eq!(names(&auditor).await, ["ours"]);
}

#[tokio::test]
async fn a_view_has_a_name_and_a_query() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    for (name, query) in [("  ", "q=x"), ("a", ""), ("a\u{7}", "q=x")] {
        let answer = admin.post(PATH, &json!({"name": name, "query": query})).await;
        answer.problem(422, "invalid_request");
    }
    assert_eq!(names(&admin).await, Vec::<String>::new());
}
