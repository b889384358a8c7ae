//! What waits for a user: each kind for those who may act on it, and what was read.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::{ANY, Client, NEW, TestApp};

const LONG: &str = "a long enough password";

/// A user with a role in the project, and a client of theirs.
async fn member<'a>(app: &'a TestApp, name: &str, role: &str, groups: &Value) -> Client<'a> {
    let admin = app.admin().await;
    let user = json!({"username": name, "password": LONG});
    let created = admin.post("/users", &user).await.expect(201).json();
    let principal = created["principal"].as_str().expect("a principal");
    let path = format!("/projects/demo/permissions/{principal}");
    let terms = json!({"role": role, "groups": groups});
    admin
        .send_json(Method::PUT, &path, &NEW, &terms)
        .await
        .expect(201);
    app.sign_in(&user).await
}

async fn notifications(client: &Client<'_>) -> Value {
    client
        .get("/projects/demo/notifications")
        .await
        .expect(200)
        .json()
}

fn texts(found: &Value) -> Vec<String> {
    let items = found["items"].as_array().expect("items").iter();
    items
        .map(|item| item["text"].as_str().expect("a text").to_owned())
        .collect()
}

#[tokio::test]
async fn a_request_waits_for_those_who_decide_and_its_decision_for_who_asked() {
    let app = TestApp::new().await;
    let admin = app.admin().await;
    admin.post("/projects", &json!({"id": "demo"})).await.expect(201);
    let viewer = member(&app, "vera", "viewer", &json!([])).await;
    assert_eq!(notifications(&viewer).await, json!({"items": [], "unread": 0}));

    let asked = json!({"asked": {"kind": "groups", "groups": ["knowledge"]}, "reason": "For the report."});
    let path = "/projects/demo/access-requests";
    let request = viewer.post(path, &asked).await.expect(201).json();
    let found = notifications(&admin).await;
    assert_eq!(texts(&found), ["vera asks for the group knowledge."]);
    assert_eq!(
        (&found["unread"], &found["items"][0]["subject"]),
        (&json!(1), &request["id"])
    );
    assert_eq!(texts(&notifications(&viewer).await), [""; 0], "it is hers");

    let id = request["id"].as_str().expect("an id");
    let decide = format!("{path}/{id}/decision");
    admin
        .post(&decide, &json!({"verdict": "decline"}))
        .await
        .expect(200);
    assert_eq!(texts(&notifications(&admin).await), [""; 0]);
    let found = notifications(&viewer).await;
    assert_eq!(
        texts(&found),
        ["Your request for the group knowledge was declined by admin."]
    );
    assert_eq!(found["items"][0]["kind"], "access_decision");
}

#[tokio::test]
async fn keys_that_expire_soon_wait_for_those_who_manage_keys() {
    let app = TestApp::new().await;
    let admin = app.admin().await;
    admin.post("/projects", &json!({"id": "demo"})).await.expect(201);
    for (name, days) in [("soon", 3), ("later", 30)] {
        let key = json!({"name": name, "role": "agent", "groups": [], "expires_in_s": days * 86_400 - 60});
        admin.post("/projects/demo/keys", &key).await.expect(201);
    }
    let auditor = member(&app, "otto", "auditor", &json!([])).await;
    assert_eq!(
        texts(&notifications(&admin).await),
        ["The key soon expires within 3 days."]
    );
    assert_eq!(texts(&notifications(&auditor).await), [""; 0]);
}

#[tokio::test]
async fn what_was_read_is_read_for_this_user_only() {
    let app = TestApp::new().await;
    let admin = app.admin().await;
    admin.post("/projects", &json!({"id": "demo"})).await.expect(201);
    let key = json!({"name": "soon", "role": "agent", "groups": [], "expires_in_s": 86_400});
    let key = admin.post("/projects/demo/keys", &key).await.expect(201).json();
    let owner = member(&app, "olga", "owner", &json!([])).await;
    let found = notifications(&owner).await;
    let id = found["items"][0]["id"].clone();
    let read = async |body: Value| owner.post("/projects/demo/notifications/read", &body).await;
    read(json!({"ids": [id]})).await.expect(204);
    let after = notifications(&owner).await;
    assert_eq!(
        (&after["unread"], &after["items"][0]["read"]),
        (&json!(0), &json!(true))
    );
    assert_eq!(notifications(&admin).await["unread"], 1);
    read(json!({"ids": []})).await.problem(422, "invalid_request");
    read(json!({"ids": ["x".repeat(301)]}))
        .await
        .problem(422, "invalid_request");

    let path = format!("/projects/demo/keys/{}", key["id"].as_str().expect("an id"));
    owner
        .send_json(Method::DELETE, &path, &ANY, &json!({}))
        .await
        .expect(204);
    assert_eq!(texts(&notifications(&owner).await), [""; 0]);
}

#[tokio::test]
async fn outside_of_projects_what_is_unread_in_all_of_them_is_listed() {
    let app = TestApp::new().await;
    let admin = app.admin().await;
    for project in ["demo", "other", "foreign"] {
        admin
            .post("/projects", &json!({ "id": project }))
            .await
            .expect(201);
        let key = json!({"name": project, "role": "agent", "groups": [], "expires_in_s": 86_400});
        let path = format!("/projects/{project}/keys");
        admin.post(&path, &key).await.expect(201);
    }
    let owner = member(&app, "olga", "owner", &json!([])).await;
    let me = owner.get("/auth/me").await.expect(200).json();
    let path = format!(
        "/projects/other/permissions/user:{}",
        me["id"].as_str().expect("an id")
    );
    admin
        .send_json(Method::PUT, &path, &NEW, &json!({"role": "owner", "groups": []}))
        .await
        .expect(201);
    let projects = async |client: &Client<'_>| {
        let found = client.get("/notifications").await.expect(200).json();
        let items = found["items"].as_array().expect("items").clone();
        assert_eq!(found["unread"], items.len());
        let mut projects: Vec<_> = items
            .iter()
            .map(|item| item["project_id"].as_str().expect("a project").to_owned())
            .collect();
        projects.sort();
        projects
    };
    assert_eq!(projects(&owner).await, ["demo", "other"]);
    assert_eq!(projects(&admin).await, ["demo", "foreign", "other"]);

    let id = notifications(&owner).await["items"][0]["id"].clone();
    let read = json!({ "ids": [id] });
    owner
        .post("/projects/demo/notifications/read", &read)
        .await
        .expect(204);
    assert_eq!(projects(&owner).await, ["other"]);
    let key = app.key(&admin, "demo", "owner", &["*"]).await;
    key.get("/notifications").await.problem(403, "forbidden");
}
