//! Changes of access that expectations about principals are in the way of.

use axum::http::Method;
use serde_json::{Value, json};

use super::{TESTS, TOOLS, definition, demo, with_principals};
use crate::postgres::new_database;
use crate::support::{ANY, Client, NEW, TestApp};

/// The arguments of the last change of access that is on a record.
async fn last_change(reader: &Client<'_>, path: &str) -> Value {
    let page = reader
        .get(&format!("{path}?action=access&limit=1"))
        .await
        .expect(200)
        .json();
    page["items"][0]["arguments"].clone()
}

#[tokio::test]
async fn a_revocation_is_never_held_up_and_says_what_it_breaks() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    let (key, ada) = with_principals(&admin).await;
    let auditor = app.auditor(&admin).await;
    let (key_id, ada_id) = (&key["service_key:".len()..], &ada["user:".len()..]);
    let audit = "/projects/demo/audit";

    // A key that is made has a new name, which no expectation can have: nothing to hold up.
    assert_eq!(last_change(&auditor, audit).await.get("note"), None);
    admin
        .delete(&format!("/projects/demo/keys/{key_id}"), Some("*"))
        .await
        .expect(204);
    let change = last_change(&auditor, audit).await;
    assert_eq!(change["change"], "key_revoked");
    assert_eq!(change["note"], "breaks policy tests: key-reads");

    let user = format!("/users/{ada_id}");
    admin
        .send_json(Method::PATCH, &user, &ANY, &json!({"disabled": true}))
        .await
        .expect(200);
    let change = last_change(&auditor, audit).await;
    assert_eq!(change["note"], "breaks policy tests: ada-reads");
    // Letting her in again corrects it, so nothing is said.
    admin
        .send_json(Method::PATCH, &user, &ANY, &json!({"disabled": false}))
        .await
        .expect(200);
    assert_eq!(last_change(&auditor, audit).await.get("note"), None);
    admin.delete(&user, Some("*")).await.expect(204);
    let change = last_change(&auditor, audit).await;
    assert_eq!(change["deleted"], true);
    assert_eq!(change["note"], "breaks policy tests: ada-reads");
}

#[tokio::test]
async fn a_user_is_let_in_again_only_if_that_breaks_nothing() {
    let app = TestApp::new().await;
    let admin = demo(&app).await;
    let (_, ada) = with_principals(&admin).await;
    let user = format!("/users/{}", &ada["user:".len()..]);
    admin
        .send_json(Method::PATCH, &user, &ANY, &json!({"disabled": true}))
        .await
        .expect(200);
    let test = json!([{"name": "ada-is-gone", "principal": ada, "group": ["knowledge"], "tool": "read",
        "expect": {"effect": "deny", "code": "insufficient_tool_groups"}}]);
    admin.post(TESTS, &test).await.expect(201);

    let enable = json!({"disabled": false});
    let problem = admin
        .send_json(Method::PATCH, &user, &ANY, &enable)
        .await
        .problem(409, "policy_test_failed");
    assert_eq!(problem["broken_policy_tests"][0]["name"], "ada-is-gone");
    let read = admin.get(&user).await.expect(200).json();
    assert!(read["disabled_at"].is_string(), "{read}");
    let refused = admin.get("/audit?limit=1").await.expect(200).json();
    assert_eq!(refused["items"][0]["code"], "policy_test_failed");

    let anyway = format!("{user}?ignore_policy_tests=true");
    admin
        .send_json(Method::PATCH, &anyway, &ANY, &enable)
        .await
        .expect(200);
    let auditor = app.auditor(&admin).await;
    let page = auditor
        .get("/projects/demo/audit?action=access&limit=5")
        .await
        .expect(200)
        .json();
    let noted = page["items"].as_array().expect("records").iter();
    let notes: Vec<_> = noted
        .filter_map(|record| record["arguments"]["note"].as_str())
        .collect();
    assert!(notes.contains(&"breaks policy tests: ada-is-gone"), "{page}");
}

/// `write` moves into `knowledge` while `ada` is granted `knowledge`: each alone keeps "ada does not write", both break it.
async fn race(settings: &[(&str, &str)]) {
    let app = TestApp::with(settings).await;
    let admin = demo(&app).await;
    let ada = json!({"username": "ada", "password": "a long enough password"});
    let ada = admin.post("/users", &ada).await.expect(201).json();
    let ada = ada["principal"].as_str().expect("a principal").to_owned();
    let place = format!("/projects/demo/permissions/{ada}");
    let tests = json!([{"name": "ada-does-not-write", "principal": ada, "group": ["knowledge"], "tool": "write",
        "expect": {"effect": "deny"}}]);
    admin.post(TESTS, &tests).await.expect(201);
    let terms = json!({"role": "viewer", "groups": [{"group": "knowledge"}]});
    for _ in 0..12 {
        let moved = definition("write", "knowledge");
        let (definitions, permissions) = tokio::join!(
            admin.upload(TOOLS, &moved),
            admin.send_json(Method::PUT, &place, &NEW, &terms)
        );
        let outcome = (definitions.status.as_u16(), permissions.status.as_u16());
        assert!(
            matches!(outcome, (200, 409) | (409, 201)),
            "exactly one of the two changes is made, and the other is refused: {outcome:?}"
        );
        let (refusal, granted) = match outcome.0 {
            409 => (definitions, true),
            _ => (permissions, false),
        };
        refusal.problem(409, "policy_test_failed");
        let run = admin
            .post(&format!("{TESTS}/run"), &json!({}))
            .await
            .expect(200)
            .json();
        assert_eq!(run["failed"], 0, "{run}");
        if granted {
            admin.delete(&place, Some("*")).await.expect(204);
        } else {
            admin
                .upload(TOOLS, &definition("write", "admin"))
                .await
                .expect(200);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_at_the_same_time_cannot_break_together_what_each_keeps() {
    race(&[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_at_the_same_time_cannot_break_together_what_each_keeps_on_postgresql() {
    let url = new_database().await;
    race(&[("TOOLGATE_DATABASE_URL", &url)]).await;
}
