//! Signing in and out.

use axum::body::Body;
use axum::http::{Method, Request, header};
use serde_json::json;

use crate::support::{ADMIN, PASSWORD, TestApp};

#[tokio::test]
async fn a_person_signs_in_and_out() {
    let app = TestApp::new().await;
    let body = json!({"username": ADMIN, "password": PASSWORD});
    let answer = app.anonymous().post("/auth/login", &body).await.expect(200);
    let cookie = answer.header("set-cookie").to_owned();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"),
        "{cookie}"
    );
    let login = answer.json();
    assert_eq!(login["token_type"], "Bearer");
    assert_eq!(login["expires_in"], 3600);

    let client = app.client(login["access_token"].as_str().unwrap());
    let me = client.get("/auth/me").await.expect(200).json();
    assert_eq!(me["name"], ADMIN);
    assert_eq!(me["kind"], "user");
    assert_eq!(me["system_admin"], true);

    client.post("/auth/logout", &json!({})).await.expect(204);
    client.get("/auth/me").await.problem(401, "unauthenticated");
}

#[tokio::test]
async fn the_cookie_is_a_credential_for_the_same_origin_only() {
    let app = TestApp::new().await;
    let body = json!({"username": ADMIN, "password": PASSWORD});
    let answer = app.anonymous().post("/auth/login", &body).await.expect(200);
    let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
    let request = |method: Method, path: &str, site: &str| {
        Request::builder()
            .method(method)
            .uri(path)
            .header(header::COOKIE, &cookie)
            .header("sec-fetch-site", site)
            .body(Body::empty())
            .unwrap()
    };
    app.send(request(Method::GET, "/auth/me", "same-origin"))
        .await
        .expect(200);
    app.send(request(Method::POST, "/auth/logout", "cross-site"))
        .await
        .problem(403, "cross_site");
    app.send(request(Method::GET, "/auth/me", "same-origin"))
        .await
        .expect(200);
    app.send(request(Method::POST, "/auth/logout", "same-origin"))
        .await
        .expect(204);
    app.send(request(Method::GET, "/auth/me", "same-origin"))
        .await
        .problem(401, "unauthenticated");
}

#[tokio::test]
async fn wrong_user_and_wrong_password_look_alike() {
    let app = TestApp::new().await;
    let mut details = Vec::new();
    for body in [
        json!({"username": ADMIN, "password": "wrong"}),
        json!({"username": "nobody", "password": PASSWORD}),
        json!({"username": "ADMIN", "password": PASSWORD}),
    ] {
        let problem = app
            .anonymous()
            .post("/auth/login", &body)
            .await
            .problem(401, "unauthenticated");
        details.push(problem["detail"].clone());
    }
    assert!(details.windows(2).all(|pair| pair[0] == pair[1]));
}

#[tokio::test]
async fn a_bad_credential_is_refused_whatever_else_is_sent() {
    let app = TestApp::new().await;
    let admin = app.admin().await;
    let good = admin.token.clone().unwrap();
    let cookie = format!("toolgate={good}");
    for value in [
        "",
        "Bearer",
        "Bearer ",
        "Basic YWRtaW46eA==",
        "Bearer nonsense",
        "Bearer tgk_aaaaaaaa_bbbb",
        "bearer  x",
    ] {
        let request = Request::builder()
            .uri("/auth/me")
            .header(header::AUTHORIZATION, value)
            .header(header::COOKIE, &cookie)
            .body(Body::empty())
            .unwrap();
        app.send(request).await.problem(401, "unauthenticated");
    }
    let twice = Request::builder()
        .uri("/auth/me")
        .header(header::AUTHORIZATION, format!("Bearer {good}"))
        .header(header::AUTHORIZATION, format!("Bearer {good}"))
        .body(Body::empty())
        .unwrap();
    app.send(twice).await.problem(401, "unauthenticated");
    let answer = app.anonymous().get("/auth/me").await;
    assert!(answer.header("www-authenticate").starts_with("Bearer"));
    answer.problem(401, "unauthenticated");
}

#[tokio::test]
async fn tokens_can_be_verified_with_the_published_keys_and_survive_rotation() {
    let app = TestApp::new().await;
    let before = app.admin().await;
    let kid = |set: &serde_json::Value| set["keys"][0]["kid"].clone();
    let old = app
        .anonymous()
        .get("/.well-known/jwks.json")
        .await
        .expect(200)
        .json();
    assert_eq!(old["keys"].as_array().unwrap().len(), 1);
    assert_eq!(old["keys"][0]["crv"], "Ed25519");
    assert!(
        old["keys"][0].get("d").is_none(),
        "the private part is never published"
    );

    toolgate::start::rotate_signing_key(
        &app.gateway.store,
        &app.gateway.keyring,
        app.gateway.clock.as_ref(),
    )
    .await
    .unwrap();
    app.gateway.snapshots.refresh().await.unwrap();
    let new = app
        .anonymous()
        .get("/.well-known/jwks.json")
        .await
        .expect(200)
        .json();
    assert_eq!(new["keys"].as_array().unwrap().len(), 2);
    assert_ne!(kid(&old), json!(null));
    before.get("/auth/me").await.expect(200);
    let after = app.admin().await;
    assert_ne!(
        header_of(before.token.as_ref().unwrap()),
        header_of(after.token.as_ref().unwrap())
    );
    after.get("/auth/me").await.expect(200);
}

fn header_of(token: &str) -> &str {
    token.split('.').next().unwrap()
}
