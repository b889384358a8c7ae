//! Service keys.

use serde_json::json;

use crate::support::TestApp;

#[tokio::test]
async fn a_key_is_shown_once_and_works_until_it_is_revoked() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let body = json!({"name": "research agent", "role": "agent", "groups": ["knowledge", "default"]});
    let answer = admin.post("/projects/demo/keys", &body).await.expect(201);
    let created = answer.json();
    let secret = created["secret"].as_str().unwrap().to_owned();
    assert!(secret.starts_with("tgk_"));
    assert_eq!(created["groups"], json!(["default", "knowledge"]));

    let listed = admin.get("/projects/demo/keys").await.expect(200);
    assert!(!listed.text().contains(&secret));
    assert_eq!(listed.json()["items"][0]["id"], created["id"]);

    let agent = app.client(secret);
    let me = agent.get("/auth/me").await.expect(200).json();
    assert_eq!(me["kind"], "service_key");
    assert_eq!(
        me["projects"],
        json!([{"project_id": "demo", "role": "agent", "groups": ["default", "knowledge"]}])
    );

    let path = format!("/projects/demo/keys/{}", created["id"].as_str().unwrap());
    let tag = admin.get(&path).await.expect(200).header("etag").to_owned();
    admin.delete(&path, Some(&tag)).await.expect(204);
    agent.get("/auth/me").await.problem(401, "unauthenticated");
    let revoked = admin.get(&path).await.expect(200);
    assert_ne!(revoked.header("etag"), tag);
    assert!(revoked.json()["revoked_at"].is_string());
    assert_eq!(revoked.json()["expires_at"], json!(null));
}

#[tokio::test]
async fn nobody_gives_more_than_they_hold() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let owner = app.key(&admin, "demo", "owner", &["knowledge"]).await;
    let ask = |role: &str, groups: &[&str]| json!({"name": "k", "role": role, "groups": groups});
    let keys = "/projects/demo/keys";
    owner.post(keys, &ask("agent", &["knowledge"])).await.expect(201);
    owner
        .post(keys, &ask("agent", &["knowledge/read"]))
        .await
        .expect(201);
    owner.post(keys, &ask("agent", &[])).await.expect(201);
    let problem = owner
        .post(keys, &ask("agent", &["knowledge", "admin"]))
        .await
        .problem(403, "forbidden");
    assert_eq!(problem["missing_groups"], json!(["admin"]));
    owner
        .post(keys, &ask("agent", &["*"]))
        .await
        .problem(403, "forbidden");
}

#[tokio::test]
async fn what_a_key_needs_is_checked() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    for (body, pointer) in [
        (json!({"name": "", "role": "agent", "groups": []}), "/name"),
        (json!({"name": "k", "role": "agent", "groups": [""]}), "/groups/0"),
        (
            json!({"name": "k", "role": "agent", "groups": ["a", " b"]}),
            "/groups/1",
        ),
        (
            json!({"name": "k", "role": "agent", "groups": [], "expires_in_s": 0}),
            "/expires_in_s",
        ),
    ] {
        let problem = admin
            .post("/projects/demo/keys", &body)
            .await
            .problem(422, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}");
    }
    for body in [
        json!({"name": "k", "role": "boss", "groups": []}),
        json!({"name": "k", "role": "agent"}),
    ] {
        admin
            .post("/projects/demo/keys", &body)
            .await
            .problem(422, "invalid_request");
    }
}
