//! Registration, and clients whose id is the address of their metadata.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use serde_json::{Value, json};

use super::{BASE, REDIRECT, app, app_reaching, changed, fault, parameter, parameters, register};
use crate::support::{Client, TestApp, serve};

#[tokio::test]
async fn a_client_registers_and_gets_no_secret() {
    let app = app().await;
    let metadata = json!({
        "client_name": "Claude Code", "redirect_uris": [REDIRECT, "cursor://anysphere.cursor-retrieval/oauth/callback"],
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_post", "application_type": "native", "unknown": {"x": 1},
    });
    let client = app
        .anonymous()
        .post("/oauth/register", &metadata)
        .await
        .expect(201)
        .json();
    assert!(client["client_id"].as_str().expect("an id").starts_with("tgc_"));
    assert_eq!(client["token_endpoint_auth_method"], "none");
    assert_eq!(client["redirect_uris"], metadata["redirect_uris"]);
    assert_eq!(client.get("client_secret"), None);
}

#[tokio::test]
async fn what_a_client_says_about_itself_is_checked() {
    let app = app().await;
    let many: Vec<String> = (0..21).map(|at| format!("https://a.example/{at}")).collect();
    for (metadata, error) in [
        (json!({}), "invalid_redirect_uri"),
        (json!({"redirect_uris": []}), "invalid_redirect_uri"),
        (json!({"redirect_uris": many}), "invalid_redirect_uri"),
        (
            json!({"redirect_uris": ["http://client.example/cb"]}),
            "invalid_redirect_uri",
        ),
        (
            json!({"redirect_uris": ["javascript:alert(1)"]}),
            "invalid_redirect_uri",
        ),
        (
            json!({"redirect_uris": [REDIRECT, "/cb"]}),
            "invalid_redirect_uri",
        ),
        (json!({"redirect_uris": REDIRECT}), "invalid_client_metadata"),
        (json!([]), "invalid_client_metadata"),
        (
            json!({"redirect_uris": [REDIRECT], "client_name": "a\u{202e}b"}),
            "invalid_client_metadata",
        ),
        (
            json!({"redirect_uris": [REDIRECT], "client_name": "x".repeat(101)}),
            "invalid_client_metadata",
        ),
        (
            json!({"redirect_uris": [REDIRECT], "grant_types": ["client_credentials"]}),
            "invalid_client_metadata",
        ),
        (
            json!({"redirect_uris": [REDIRECT], "response_types": ["token"]}),
            "invalid_client_metadata",
        ),
        (
            json!({"redirect_uris": [REDIRECT], "more": "x".repeat(17_000)}),
            "invalid_client_metadata",
        ),
    ] {
        let answer = app.anonymous().post("/oauth/register", &metadata).await;
        fault(answer, 400, error);
    }
}

#[tokio::test]
async fn registrations_of_one_address_are_bounded_and_unused_ones_end() {
    let app = app().await;
    let first = register(&app).await;
    for _ in 1..30 {
        register(&app).await;
    }
    let metadata = json!({"redirect_uris": [REDIRECT]});
    let answer = app.anonymous().post("/oauth/register", &metadata).await;
    assert_ne!(answer.header("retry-after"), "");
    fault(answer, 429, "slow_down");

    let used = register_later(&app, 3600).await;
    let admin = app.admin().await;
    super::code(&admin, &used, json!({})).await;
    app.later(25 * 3600);
    let now = app.gateway.clock.now();
    toolgate::gateway::connections::prune(&app.gateway, now)
        .await
        .expect("pruned");
    for (client, known) in [(first, false), (used, true)] {
        let found = app.gateway.store.oauth_client(&client).await.expect("read");
        assert_eq!(found.is_some(), known);
    }
}

async fn register_later(app: &TestApp, seconds: i64) -> String {
    app.later(seconds);
    register(app).await
}

/// Serves client metadata, and counts how often it is read.
async fn documents() -> (String, Arc<AtomicUsize>) {
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    let answer = move |headers: axum::http::HeaderMap, uri: axum::http::Uri| {
        counted.fetch_add(1, Ordering::Relaxed);
        async move {
            let host = headers[header::HOST].to_str().expect("a host");
            let id = format!("http://{host}{}", uri.path());
            let document = |value: Value| axum::Json(value).into_response();
            let good = json!({"client_id": id, "client_name": "Document client", "redirect_uris": ["http://127.0.0.1/callback"]});
            match uri.path() {
                "/good" => document(good),
                "/of-another" => {
                    document(json!({"client_id": "https://a.example/x", "redirect_uris": [REDIRECT]}))
                }
                "/with-secret" => document(json!({
                    "client_id": id, "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "private_key_jwt",
                })),
                "/large" => document(
                    json!({"client_id": id, "redirect_uris": [REDIRECT], "more": "x".repeat(40_000)}),
                ),
                "/page" => ([(header::CONTENT_TYPE, "text/html")], "<p>").into_response(),
                "/text" => ([(header::CONTENT_TYPE, "application/json")], "no JSON").into_response(),
                "/elsewhere" => (
                    StatusCode::FOUND,
                    [(header::LOCATION, "http://169.254.169.254/latest")],
                )
                    .into_response(),
                _ => StatusCode::NOT_FOUND.into_response(),
            }
        }
    };
    (serve(Router::new().fallback(get(answer))).await, reads)
}

async fn consent(user: &Client<'_>, client_id: &str, changes: &[(&str, &str)]) -> crate::support::Answer {
    let query = changed(parameters(client_id), changes);
    let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
    user.get(&format!("/auth/consent?request={query}")).await
}

#[tokio::test]
async fn a_client_is_known_by_the_address_of_its_metadata() {
    let (base, reads) = documents().await;
    let app = app_reaching(&base, &[]).await;
    let admin = app.admin().await;
    let id = format!("{base}/good");
    // Nothing is fetched for a person who has not signed in.
    let query = changed(parameters(&id), &[]);
    let answer = app
        .anonymous()
        .get(&format!("/oauth/authorize?{query}"))
        .await
        .expect(303);
    assert!(answer.header("location").starts_with("/ui/authorize?"));
    assert_eq!(reads.load(Ordering::Relaxed), 0);

    let offer = consent(&admin, &id, &[]).await.expect(200).json()["offer"].clone();
    assert_eq!(offer["client_name"], "Document client");
    assert_eq!(offer["client_host"], "127.0.0.1");
    assert_eq!(offer["redirect_is_local"], true);
    // It is read once for a while.
    consent(&admin, &id, &[]).await.expect(200);
    assert_eq!(reads.load(Ordering::Relaxed), 1);
    app.later(601);
    let admin = app.admin().await;
    consent(&admin, &id, &[]).await.expect(200);
    assert_eq!(reads.load(Ordering::Relaxed), 2);
    // A redirection address that the document does not name is refused, and not answered.
    consent(&admin, &id, &[("redirect_uri", "https://evil.example/cb")])
        .await
        .problem(422, "invalid_request");
    // It can be connected like any other.
    let code = super::code(&admin, &id, json!({})).await;
    super::exchange(&app, &id, &code).await.expect(200);
}

#[tokio::test]
async fn metadata_that_cannot_be_trusted_is_refused() {
    let (base, reads) = documents().await;
    let app = app_reaching(&base, &[]).await;
    let admin = app.admin().await;
    for path in [
        "/of-another",
        "/with-secret",
        "/large",
        "/page",
        "/text",
        "/elsewhere",
        "/none",
    ] {
        let answer = consent(&admin, &format!("{base}{path}"), &[]).await;
        answer.problem(422, "invalid_request");
    }
    let before = reads.load(Ordering::Relaxed);
    for id in [
        // Not public, or not https.
        "https://127.0.0.1/client",
        "https://localhost/client",
        "https://169.254.169.254/latest",
        "https://10.0.0.1/x",
        "https://[::1]/client",
        "http://client.example.com/client",
        // Not an address of a document.
        "https://client.example.com/",
        "https://user@client.example.com/x",
        "https://client.example.com/x#y",
        "https://client.example.com/a/../x",
    ] {
        let problem = consent(&admin, id, &[]).await.problem(422, "invalid_request");
        let detail = problem["detail"].as_str().expect("a sentence").to_owned();
        assert!(detail.contains("client's"), "{id}: {detail}");
    }
    assert_eq!(reads.load(Ordering::Relaxed), before);
    // Fetching is bounded for each user.
    let mut last = 200;
    for at in 0..30 {
        last = consent(&admin, &format!("{base}/none{at}"), &[])
            .await
            .status
            .as_u16();
    }
    assert_eq!(last, 429);
}

#[tokio::test]
async fn the_port_of_a_program_on_the_own_machine_may_be_any() {
    let app = app().await;
    let client = register(&app).await;
    for (redirect, status) in [
        ("http://127.0.0.1:1/callback", 303),
        ("http://127.0.0.1/callback", 303),
        ("http://127.0.0.1:51763/other", 400),
        ("http://localhost:51763/callback", 400),
        ("https://127.0.0.1:51763/callback", 400),
    ] {
        let query = changed(parameters(&client), &[("redirect_uri", redirect)]);
        let answer = app.anonymous().get(&format!("/oauth/authorize?{query}")).await;
        assert_eq!(answer.status.as_u16(), status, "{redirect}");
    }
    let admin = app.admin().await;
    let request = changed(
        parameters(&client),
        &[("redirect_uri", "http://127.0.0.1:4000/callback")],
    );
    let body = json!({"request": request, "allow": true});
    let to = admin.post("/auth/consent", &body).await.expect(200).json()["redirect_to"].clone();
    let to = to.as_str().expect("an address");
    assert!(to.starts_with("http://127.0.0.1:4000/callback?code="), "{to}");
    assert_eq!(parameter(to, "iss").as_deref(), Some(BASE));
}
