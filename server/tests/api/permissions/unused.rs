//! Grants that are not used: listed after so many days without a request for their groups.

use serde_json::{Value, json};

use crate::support::{TestApp, tool};

const DAY: i64 = 86_400;

/// `name: group group` of each grant.
fn listed(answer: &Value) -> Vec<String> {
    let items = answer["items"].as_array().expect("a list").iter();
    items
        .map(|item| {
            let groups = item["unused"].as_array().expect("groups").iter();
            let groups: Vec<&str> = groups.filter_map(|group| group["group"].as_str()).collect();
            format!("{}: {}", item["name"].as_str().expect("a name"), groups.join(" "))
        })
        .collect()
}

#[tokio::test]
async fn what_was_not_asked_for_in_ninety_days_is_listed() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let yaml = tool(
        "find",
        "https://api.example.com",
        "/find",
        "group: [knowledge/read]\n",
    );
    admin.upload("/projects/demo/tools", &yaml).await.expect(201);
    let agent = app.key(&admin, "demo", "agent", &["knowledge", "write"]).await;
    let path = "/projects/demo/permissions/unused";
    assert_eq!(listed(&admin.get(path).await.expect(200).json()), [""; 0]);

    app.later(60 * DAY);
    let asked = json!({"group": ["knowledge/read"]});
    agent.post("/projects/demo/resolve", &asked).await.expect(200);
    app.later(40 * DAY);
    let admin = app.admin().await;
    let found = admin.get(path).await.expect(200).json();
    assert_eq!(listed(&found), ["admin: *", "agent key: write"], "{found}");
    assert_eq!(
        found["items"][1]["grant"]["groups"].as_array().map(Vec::len),
        Some(2)
    );
    let recent = admin.get(&format!("{path}?days=30")).await.expect(200).json();
    assert_eq!(
        listed(&recent),
        ["admin: *", "agent key: knowledge write"],
        "{recent}"
    );
    let used = &recent["items"][1]["unused"][0];
    assert!(used["last_used_at"].is_string(), "{used}");
    admin
        .get(&format!("{path}?days=0"))
        .await
        .problem(400, "malformed_request");

    // Without the groups it is used as a whole.
    let item = &found["items"][1];
    let path = format!(
        "/projects/demo/permissions/{}",
        item["principal"].as_str().expect("one")
    );
    let terms = json!({"role": item["grant"]["role"], "groups": [{"group": "knowledge"}]});
    let etag = item["etag"].as_str().expect("a tag");
    let condition = [(axum::http::header::IF_MATCH, etag)];
    admin
        .send_json(axum::http::Method::PUT, &path, &condition, &terms)
        .await
        .expect(200);
    let left = admin.get("/projects/demo/permissions/unused").await.json();
    assert_eq!(listed(&left), ["admin: *"]);
}
