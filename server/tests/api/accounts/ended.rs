//! Accounts that end with the membership or the user.

use axum::http::{Method, header};
use serde_json::json;

use super::{Service, app_with, connect, provide, whoami};
use crate::oauth::member;
use crate::support::{Client, TestApp};

/// The persons whose accounts are connected in the project.
async fn connected(admin: &Client<'_>) -> Vec<String> {
    let page = admin
        .get("/projects/demo/connected-accounts")
        .await
        .expect(200)
        .json();
    let mut names: Vec<String> = page["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|account| account["username"].as_str().map(str::to_owned))
        .collect();
    names.sort();
    names
}

async fn user(admin: &Client<'_>, name: &str) -> (String, String) {
    let users = admin.get("/users").await.expect(200).json();
    let users = users["items"].as_array().expect("users");
    let user = users
        .iter()
        .find(|user| user["username"] == name)
        .expect("the user");
    let text = |member: &str| user[member].as_str().expect("a text").to_owned();
    (text("id"), text("principal"))
}

async fn with_accounts(app: &TestApp, service: &Service) {
    provide(app, &service.provider()).await;
    for name in ["ada", "bo", "cy"] {
        let client = member(app, name, "agent", &["*"]).await;
        connect(&client, service, name).await;
        assert_eq!(whoami(&client).await["status"], "succeeded");
    }
}

#[tokio::test]
async fn an_account_ends_with_the_membership_and_with_the_user() {
    let service = Service::start().await;
    let app = app_with(&service, "", &[]).await;
    with_accounts(&app, &service).await;
    let admin = app.admin().await;
    assert_eq!(connected(&admin).await, ["ada", "bo", "cy"]);

    let (_, principal) = user(&admin, "ada").await;
    let membership = format!("/projects/demo/permissions/{principal}");
    admin.delete(&membership, Some("*")).await.expect(204);
    assert_eq!(connected(&admin).await, ["bo", "cy"]);

    let (id, _) = user(&admin, "bo").await;
    let disabled = json!({"disabled": true});
    let any = [(header::IF_MATCH, "*")];
    admin
        .send_json(Method::PATCH, &format!("/users/{id}"), &any, &disabled)
        .await
        .expect(200);
    assert_eq!(connected(&admin).await, ["cy"]);
}
