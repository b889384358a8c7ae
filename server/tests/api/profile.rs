//! The profile of the user who is signed in: sign-ins, ending them, and preferences.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Method, Request, header};
use serde_json::{Value, json};

use crate::support::{ADMIN, PASSWORD, TestApp};

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// Signs in from an address with a browser; the token.
async fn sign_in(app: &TestApp, address: &str, browser: &str) -> String {
    let body = json!({"username": ADMIN, "password": PASSWORD});
    let mut request = Request::builder()
        .method(Method::POST)
        .uri("/auth/login")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::USER_AGENT, browser)
        .body(Body::from(body.to_string()))
        .expect("a request");
    let peer: SocketAddr = format!("{address}:4000").parse().expect("an address");
    request.extensions_mut().insert(ConnectInfo(peer));
    let answer = app.send(request).await.expect(200).json();
    answer["access_token"].as_str().expect("a token").to_owned()
}

async fn listed(app: &TestApp, token: &str) -> Vec<Value> {
    let page = app.client(token).get("/auth/sign-ins").await.expect(200).json();
    page["items"].as_array().expect("a list").clone()
}

#[tokio::test]
async fn sign_ins_are_listed_with_place_and_time() {
    let app = TestApp::new().await;
    let own = sign_in(&app, "192.0.2.1", FIREFOX).await;
    sign_in(&app, "198.51.100.7", "curl/8.9.1").await;
    let items = listed(&app, &own).await;
    let said: Vec<_> = items
        .iter()
        .map(|item| {
            (
                item["address"].as_str(),
                item["browser"].as_str(),
                item["current"].as_bool(),
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            (Some("198.51.100.7"), Some("curl/8.9.1"), Some(false)),
            (Some("192.0.2.1"), Some("Firefox on Linux"), Some(true)),
        ]
    );
    // An hour later their tokens have expired, and a new one is alone.
    app.later(3700);
    let later = sign_in(&app, "192.0.2.1", FIREFOX).await;
    assert_eq!(listed(&app, &later).await.len(), 1);
}

#[tokio::test]
async fn one_or_all_other_sign_ins_are_ended() {
    let app = TestApp::new().await;
    let own = sign_in(&app, "192.0.2.1", FIREFOX).await;
    let others = [
        sign_in(&app, "192.0.2.2", FIREFOX).await,
        sign_in(&app, "192.0.2.3", FIREFOX).await,
        sign_in(&app, "192.0.2.4", FIREFOX).await,
    ];
    let me = async |token: &str| app.client(token).get("/auth/me").await.status.as_u16();
    let client = app.client(&own);
    let third = listed(&app, &own).await[1]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let end = format!("/auth/sign-ins/{third}/end");
    client.post(&end, &json!({})).await.expect(204);
    assert_eq!((me(&others[1]).await, me(&others[0]).await), (401, 200));
    client.post(&end, &json!({})).await.problem(404, "not_found");

    let ended = client
        .post("/auth/sign-ins/end-others", &json!({}))
        .await
        .expect(200);
    assert_eq!(ended.json()["ended"], 2);
    assert_eq!(
        (me(&others[0]).await, me(&others[2]).await, me(&own).await),
        (401, 401, 200)
    );
    // Signing out takes it from the list.
    let again = sign_in(&app, "192.0.2.5", FIREFOX).await;
    client.post("/auth/logout", &json!({})).await.expect(204);
    assert_eq!(listed(&app, &again).await.len(), 1);
}

#[tokio::test]
async fn the_sign_ins_of_others_cannot_be_ended() {
    let app = TestApp::new().await;
    let admin = app.admin().await;
    let own = sign_in(&app, "192.0.2.1", FIREFOX).await;
    let password = "a long enough password";
    let user = json!({"username": "ada", "password": password});
    admin.post("/users", &user).await.expect(201);
    let ada = app.sign_in(&user).await;
    for item in listed(&app, &own).await {
        let path = format!("/auth/sign-ins/{}/end", item["id"].as_str().expect("an id"));
        ada.post(&path, &json!({})).await.problem(404, "not_found");
    }
    let ended = ada
        .post("/auth/sign-ins/end-others", &json!({}))
        .await
        .expect(200);
    assert_eq!(ended.json()["ended"], 0);
}

#[tokio::test]
async fn preferences_are_kept_for_the_user() {
    let app = TestApp::new().await;
    let admin = app.admin().await;
    let usual = json!({"theme": "system", "time_zone": "", "density": "comfortable", "language": "browser"});
    assert_eq!(admin.get("/auth/preferences").await.expect(200).json(), usual);
    let wanted = json!({"theme": "dark", "time_zone": "America/Argentina/Ushuaia", "density": "compact", "language": "de"});
    let put = async |body: &Value| admin.send_json(Method::PUT, "/auth/preferences", &[], body).await;
    put(&wanted).await.expect(200);
    let app_again = app.admin().await;
    assert_eq!(
        app_again.get("/auth/preferences").await.expect(200).json(),
        wanted
    );
    for zone in ["Europe Berlin", "/Berlin", "a/b/c/d", &"x".repeat(65)] {
        let problem = put(&json!({"time_zone": zone}))
            .await
            .problem(422, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], "/time_zone", "{zone}");
    }
    put(&json!({"theme": "pink"})).await.expect(422);
    put(&json!({"language": "tlh"})).await.expect(422);
}
