//! Projects, and the walls between them.

use serde_json::{Value, json};

use crate::support::TestApp;

#[tokio::test]
async fn a_project_is_created_listed_and_deleted() {
    let app = TestApp::new().await;
    let admin = app.admin().await;
    let answer = admin.post("/projects", &json!({"id": "demo"})).await.expect(201);
    assert_eq!(answer.header("location"), "/projects/demo");
    let tag = answer.header("etag").to_owned();
    assert_eq!(answer.json()["name"], "demo");
    admin
        .post("/projects", &json!({"id": "demo", "name": "Again"}))
        .await
        .problem(409, "conflict");

    let list = admin.get("/projects").await.expect(200).json();
    assert_eq!(list["items"][0]["id"], "demo");
    assert_eq!(admin.get("/projects/demo").await.expect(200).header("etag"), tag);

    admin
        .delete("/projects/demo", None)
        .await
        .problem(428, "precondition_required");
    admin
        .delete("/projects/demo", Some("\"other\""))
        .await
        .problem(412, "precondition_failed");
    admin.delete("/projects/demo", Some(&tag)).await.expect(204);
    admin.get("/projects/demo").await.problem(404, "not_found");
    let list = admin.get("/projects").await.expect(200).json();
    assert_eq!(list["items"], json!([]));
}

fn ids(page: &Value) -> Vec<&str> {
    let items = page["items"].as_array().into_iter().flatten();
    items.filter_map(|item| item["id"].as_str()).collect()
}

#[tokio::test]
async fn projects_are_found_by_id_and_name() {
    let app = TestApp::new().await;
    let admin = app.admin().await;
    for (id, name) in [
        ("billing", "Invoices"),
        ("support", "Help desk"),
        ("support-eu", "Help desk, Europe"),
    ] {
        let body = json!({"id": id, "name": name});
        admin.post("/projects", &body).await.expect(201);
    }
    for (wanted, expected) in [
        ("BILL", vec!["billing"]),
        ("help%20desk", vec!["support", "support-eu"]),
        ("europe", vec!["support-eu"]),
        ("desks", vec![]),
    ] {
        let page = admin
            .get(&format!("/projects?q={wanted}"))
            .await
            .expect(200)
            .json();
        assert_eq!(ids(&page), expected, "{wanted}");
    }
    let page = admin.get("/projects?q=desk&limit=1").await.expect(200).json();
    let cursor = page["next_cursor"].as_str().expect("a second page");
    let page = admin
        .get(&format!("/projects?q=desk&limit=1&cursor={cursor}"))
        .await
        .expect(200)
        .json();
    assert_eq!(ids(&page), ["support-eu"]);
    assert_eq!(page["next_cursor"], json!(null));
}

#[tokio::test]
async fn the_creator_holds_everything_explicitly() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let me = admin.get("/auth/me").await.expect(200).json();
    let place = &me["projects"][0];
    assert_eq!(
        (&place["project_id"], &place["role"], &place["groups"]),
        (&json!("demo"), &json!("owner"), &json!(["*"])),
        "{me}"
    );
}

#[tokio::test]
async fn ids_and_names_are_checked() {
    let app = TestApp::new().await;
    let admin = app.admin().await;
    for (body, pointer) in [
        (json!({"id": "Demo"}), "/id"),
        (json!({"id": ""}), "/id"),
        (json!({"id": "a".repeat(64)}), "/id"),
        (json!({"id": "ok", "name": " "}), "/name"),
        (json!({"id": "ok", "name": "a\u{0}b"}), "/name"),
    ] {
        let problem = admin
            .post("/projects", &body)
            .await
            .problem(422, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}");
    }
    let problem = admin
        .post("/projects", &json!({"id": "ok", "nme": "x"}))
        .await
        .problem(422, "invalid_request");
    assert!(
        problem["errors"][0]["message"].as_str().unwrap().contains("nme"),
        "{problem}"
    );
}

#[tokio::test]
async fn a_foreign_project_looks_like_no_project() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    let owner = app.key(&admin, "demo", "owner", &["*"]).await;

    let listed = owner.get("/projects").await.expect(200).json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    for path in ["", "/tools", "/tools/x", "/tools/x/revisions", "/keys", "/audit"] {
        let foreign = owner
            .get(&format!("/projects/other{path}"))
            .await
            .problem(404, "not_found");
        let absent = owner
            .get(&format!("/projects/absent{path}"))
            .await
            .problem(404, "not_found");
        let alike =
            |problem: &serde_json::Value| problem["detail"].as_str().unwrap().replace("absent", "other");
        assert_eq!(alike(&foreign), alike(&absent), "{path}");
    }
    owner
        .post("/projects", &json!({"id": "mine"}))
        .await
        .problem(403, "forbidden");
}

#[tokio::test]
async fn a_deleted_project_leaves_nothing_to_its_successor() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let key = app.key(&admin, "demo", "agent", &["*"]).await;
    key.post("/projects/demo/resolve", &json!({"group": ["*"]}))
        .await
        .expect(200);
    admin.delete("/projects/demo", Some("*")).await.expect(204);
    key.get("/projects/demo").await.problem(401, "unauthenticated");
    admin.post("/projects", &json!({"id": "demo"})).await.expect(201);
    key.get("/projects/demo").await.problem(401, "unauthenticated");
    assert_eq!(
        admin.get("/projects/demo/audit").await.expect(200).json()["items"],
        json!([])
    );
    assert_eq!(
        admin.get("/projects/demo/keys").await.expect(200).json()["items"],
        json!([])
    );
}

#[tokio::test]
async fn pages_follow_each_other() {
    let app = TestApp::new().await;
    let admin = app.admin().await;
    for id in ["a", "b", "c"] {
        admin.post("/projects", &json!({"id": id})).await.expect(201);
    }
    let first = admin.get("/projects?limit=2").await.expect(200).json();
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = admin
        .get(&format!("/projects?limit=2&cursor={cursor}"))
        .await
        .expect(200)
        .json();
    let ids: Vec<&str> = [&first, &second]
        .into_iter()
        .flat_map(|page| page["items"].as_array().unwrap())
        .map(|item| item["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert!(second.get("next_cursor").is_none());
    for query in ["cursor=x", "limit=0", "limit=201", "limit=x", "nope=1"] {
        admin
            .get(&format!("/projects?{query}"))
            .await
            .problem(400, "malformed_request");
    }
}
