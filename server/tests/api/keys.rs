//! Service keys.

use axum::http::Method;
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
        json!([{"project_id": "demo", "role": "agent", "groups": ["default", "knowledge"], "permissions": ["use"]}])
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
async fn what_a_key_may_do_on_the_bus_is_kept_and_shown() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let bus = json!({"calls": true, "services": false, "workers": ["search"]});
    let body = json!({"name": "worker", "role": "agent", "groups": [], "bus": bus});
    let created = admin.post("/projects/demo/keys", &body).await.expect(201).json();
    assert_eq!(created["bus"], bus);
    let path = format!("/projects/demo/keys/{}", created["id"].as_str().expect("an id"));
    assert_eq!(admin.get(&path).await.expect(200).json()["bus"], bus);
    let plain = json!({"name": "agent", "role": "agent", "groups": []});
    let plain = admin.post("/projects/demo/keys", &plain).await.expect(201).json();
    assert!(plain.get("bus").is_none(), "{plain}");
}

#[tokio::test]
async fn a_caller_cannot_give_more_than_it_holds() {
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
        (
            json!({"name": "k", "role": "agent", "groups": [], "bus": {"workers": ["search", "a.b"]}}),
            "/bus/workers/1",
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

#[tokio::test]
async fn a_secret_is_replaced_with_an_overlap_or_at_once() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let body = json!({"name": "k", "role": "agent", "groups": ["knowledge"], "expires_in_s": 3600});
    let created = admin.post("/projects/demo/keys", &body).await.expect(201);
    let key = created.json();
    let path = format!("/projects/demo/keys/{}", key["id"].as_str().unwrap());
    let rotate = format!("{path}/rotate");
    let first = app.client(key["secret"].as_str().unwrap());

    let rotated = admin.post(&rotate, &json!({"overlap_s": 600})).await.expect(200);
    assert_ne!(rotated.header("etag"), created.header("etag"));
    let rotated = rotated.json();
    assert_eq!(
        (&rotated["id"], &rotated["groups"]),
        (&key["id"], &json!(["knowledge"]))
    );
    assert!(rotated["rotated_at"].is_string() && rotated["previous_secret_until"].is_string());
    assert_eq!(rotated["expires_at"], key["expires_at"]);
    let second = app.client(rotated["secret"].as_str().unwrap());
    for client in [&first, &second] {
        client.get("/auth/me").await.expect(200);
    }
    assert!(
        !admin
            .get("/projects/demo/keys")
            .await
            .text()
            .contains(rotated["secret"].as_str().unwrap())
    );

    // Without an overlap the old one ends at once, and the one before it with it.
    let again = admin.post(&rotate, &json!({})).await.expect(200).json();
    assert_eq!(again["previous_secret_until"], json!(null));
    for client in [&first, &second] {
        client.get("/auth/me").await.problem(401, "unauthenticated");
    }
    app.client(again["secret"].as_str().unwrap())
        .get("/auth/me")
        .await
        .expect(200);

    let stale = [(axum::http::header::IF_MATCH, created.header("etag"))];
    admin
        .send_json(Method::POST, &rotate, &stale, &json!({}))
        .await
        .problem(412, "precondition_failed");
    let too_long = json!({"overlap_s": 2_592_001});
    admin
        .post(&rotate, &too_long)
        .await
        .problem(422, "invalid_request");
    admin.delete(&path, Some("*")).await.expect(204);
    admin.post(&rotate, &json!({})).await.problem(409, "conflict");

    let page = admin
        .get("/projects/demo/audit?action=access")
        .await
        .expect(200)
        .json();
    let changes: Vec<_> = page["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["arguments"]["change"].clone())
        .collect();
    assert_eq!(
        changes,
        ["key_revoked", "key_rotated", "key_rotated", "key_created"]
    );
}

#[tokio::test]
async fn a_caller_that_rotates_a_key_holds_what_it_holds() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let owner = app.key(&admin, "demo", "owner", &["knowledge"]).await;
    let create = async |groups: &[&str]| {
        let body = json!({"name": "k", "role": "agent", "groups": groups});
        let key = admin.post("/projects/demo/keys", &body).await.expect(201).json();
        format!("/projects/demo/keys/{}/rotate", key["id"].as_str().unwrap())
    };
    let (narrow, wide) = (create(&["knowledge/read"]).await, create(&["*"]).await);
    owner.post(&narrow, &json!({})).await.expect(200);
    let problem = owner.post(&wide, &json!({})).await.problem(403, "forbidden");
    assert_eq!(problem["missing_groups"], json!(["*"]));
    admin.post(&wide, &json!({})).await.expect(200);
}

#[tokio::test]
async fn a_key_tells_when_it_was_last_used() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let body = json!({"name": "k", "role": "agent", "groups": ["default"]});
    let created = admin.post("/projects/demo/keys", &body).await.expect(201).json();
    assert_eq!(created.get("last_used_at"), None);
    let path = format!("/projects/demo/keys/{}", created["id"].as_str().unwrap());
    assert_eq!(
        admin.get(&path).await.expect(200).json().get("last_used_at"),
        None
    );
    let key = app.client(created["secret"].as_str().unwrap());
    key.post("/projects/demo/resolve", &json!({})).await.expect(200);
    let used = admin.get(&path).await.expect(200).json();
    let first = used["last_used_at"].as_str().expect("a time").to_owned();
    assert!(first.as_str() > used["created_at"].as_str().unwrap());
    // A refused request is a use too, and the list says the same.
    key.post("/projects/demo/calls", &json!({"tool": "none"}))
        .await
        .problem(404, "tool_not_found");
    let list = admin.get("/projects/demo/keys").await.expect(200).json();
    assert!(list["items"][0]["last_used_at"].as_str().unwrap() > first.as_str());
    // It outlives the server.
    toolgate::gateway::observe::flush(&app.gateway)
        .await
        .expect("stored");
    let app = app.restart(&[]).await;
    let admin = app.admin().await;
    let kept = admin.get(&path).await.expect(200).json();
    assert_eq!(kept["last_used_at"], list["items"][0]["last_used_at"]);
}
