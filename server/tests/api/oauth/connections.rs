//! Listing, limiting and revoking.

use axum::http::{Method, header};
use serde_json::{Value, json};

use super::{app, connect, fault, list, member, refresh, refused, tools};
use crate::support::Client;

const PATH: &str = "/projects/demo/connections";
const ANY: [(header::HeaderName, &str); 1] = [(header::IF_MATCH, "*")];

async fn items(client: &Client<'_>) -> Vec<Value> {
    let page = client.get(PATH).await.expect(200).json();
    page["items"].as_array().expect("items").clone()
}

fn path(item: &Value) -> String {
    format!("{PATH}/{}", item["id"].as_str().expect("an id"))
}

#[tokio::test]
async fn users_see_their_own_and_administrators_all() {
    let app = app().await;
    let admin = app.admin().await;
    let ada = member(&app, "ada", "viewer", &["default"]).await;
    let bob = member(&app, "bob", "agent", &["default"]).await;
    let of_ada = connect(&app, &ada, json!({"groups": ["default"]})).await;
    connect(&app, &bob, json!({})).await;
    let names = |items: Vec<Value>| {
        items
            .iter()
            .map(|item| item["username"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(items(&admin).await), ["bob", "ada"]);
    assert_eq!(names(items(&ada).await), ["ada"]);
    assert_eq!(names(items(&bob).await), ["bob"]);
    assert!(items(&of_ada.client).await.is_empty(), "a client sees none");
    let key = app.key(&admin, "demo", "agent", &["*"]).await;
    assert!(items(&key).await.is_empty());
    let owner = app.key(&admin, "demo", "owner", &[]).await;
    assert_eq!(items(&owner).await.len(), 2);

    let own = items(&ada).await.remove(0);
    assert_eq!(own["client_name"], "Test client");
    assert_eq!(own["redirect_host"], "127.0.0.1");
    assert_eq!(own["groups"], json!(["default"]));
    assert_eq!(own["granted_groups"], json!(["default"]));
    bob.get(&path(&own)).await.problem(404, "not_found");
    bob.delete(&path(&own), Some("*")).await.problem(404, "not_found");
    bob.send_json(Method::PUT, &path(&own), &ANY, &json!({}))
        .await
        .problem(404, "not_found");
    // Pages.
    let page = admin.get(&format!("{PATH}?limit=1")).await.expect(200).json();
    let cursor = page["next_cursor"].as_str().expect("a further page").to_owned();
    let rest = admin
        .get(&format!("{PATH}?limit=1&cursor={cursor}"))
        .await
        .expect(200)
        .json();
    assert_eq!(rest["items"][0]["username"], "ada");
    assert_eq!(rest.get("next_cursor"), None);
}

#[tokio::test]
async fn revoking_is_effective_at_once() {
    let app = app().await;
    let admin = app.admin().await;
    let ada = member(&app, "ada", "agent", &["default"]).await;
    for by in [&ada, &admin] {
        let connected = connect(&app, &ada, json!({})).await;
        list(&connected.client, "").await.expect(200);
        let item = items(by).await.remove(0);
        by.delete(&path(&item), None)
            .await
            .problem(428, "precondition_required");
        by.delete(&path(&item), Some("\"stale\""))
            .await
            .problem(412, "precondition_failed");
        by.delete(&path(&item), Some("*")).await.expect(204);
        list(&connected.client, "").await.expect(401);
        fault(
            refresh(&app, &connected.client_id, &connected.refresh).await,
            400,
            "invalid_grant",
        );
        assert!(items(by).await.is_empty());
        by.delete(&path(&item), Some("*")).await.problem(404, "not_found");
    }
}

#[tokio::test]
async fn a_connection_is_limited_to_groups() {
    let app = app().await;
    let admin = app.admin().await;
    let ada = member(&app, "ada", "agent", &["default", "knowledge"]).await;
    let connected = connect(&app, &ada, json!({})).await;
    let every = "?group=default&group=knowledge";
    assert_eq!(tools(&connected.client, every).await, ["read", "search"]);
    let item = items(&ada).await.remove(0);
    let got = ada.get(&path(&item)).await.expect(200);
    let tag = [(header::IF_MATCH, got.header("etag"))];
    let put = async |by: &Client<'_>, body: Value| by.send_json(Method::PUT, &path(&item), &ANY, &body).await;

    let limited = ada
        .send_json(Method::PUT, &path(&item), &tag, &json!({"groups": ["default"]}))
        .await
        .expect(200);
    assert_eq!(limited.json()["granted_groups"], json!(["default"]));
    assert_ne!(limited.header("etag"), got.header("etag"));
    assert_eq!(tools(&connected.client, "").await, ["search"]);
    refused(&connected.client, every).await;
    ada.send_json(Method::PUT, &path(&item), &tag, &json!({}))
        .await
        .problem(412, "precondition_failed");

    // An administrator narrows and never widens what a user has given.
    for body in [json!({"groups": ["default", "knowledge"]}), json!({})] {
        put(&admin, body).await.problem(403, "forbidden");
    }
    put(&admin, json!({"groups": []})).await.expect(200);
    refused(&connected.client, "").await;
    // The user gives no more than it holds.
    put(&ada, json!({"groups": ["work"]}))
        .await
        .problem(403, "forbidden");
    put(&ada, json!({"groups": ["knowledge", "default"]}))
        .await
        .expect(200);
    assert_eq!(tools(&connected.client, every).await, ["read", "search"]);
    // Left out is not the same as none.
    let whole = put(&ada, json!({})).await.expect(200).json();
    assert_eq!(whole.get("groups"), None);
    assert_eq!(whole["granted_groups"], json!(["default", "knowledge"]));
    // The client itself changes nothing.
    put(&connected.client, json!({})).await.problem(404, "not_found");

    let page = admin
        .get("/projects/demo/audit?action=access&limit=3")
        .await
        .expect(200)
        .json();
    let changes = page["items"].as_array().expect("items");
    assert!(
        changes
            .iter()
            .all(|record| record["arguments"]["change"] == "connection_limited"),
        "{page}"
    );
}

#[tokio::test]
async fn a_deleted_project_or_user_takes_its_connections_along() {
    let app = app().await;
    let admin = app.admin().await;
    let ada = member(&app, "ada", "agent", &["default"]).await;
    let connected = connect(&app, &ada, json!({})).await;
    let me = ada.get("/auth/me").await.expect(200).json();
    admin
        .delete(
            &format!("/users/{}", me["id"].as_str().expect("an id")),
            Some("*"),
        )
        .await
        .expect(204);
    list(&connected.client, "").await.expect(401);
    let own = connect(&app, &admin, json!({})).await;
    admin.delete("/projects/demo", Some("*")).await.expect(204);
    list(&own.client, "").await.expect(401);
    fault(
        refresh(&app, &own.client_id, &own.refresh).await,
        400,
        "invalid_grant",
    );
}
