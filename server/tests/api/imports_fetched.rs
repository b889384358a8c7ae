//! Descriptions that are fetched, through the same gates as the requests of tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::http::{Method, StatusCode, header};
use axum::response::Redirect;
use axum::routing::get;
use serde_json::{Value, json};

use crate::imports_kept::{PETS, description, outcomes, owned};
use crate::support::{ANY, Answer, Client, NEW, TestApp, serve};

/// Serves a description that is another one each time, and what is none.
async fn host(elsewhere: &str) -> (String, Arc<AtomicUsize>) {
    let times = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&times);
    let elsewhere = elsewhere.to_owned();
    let api = move || {
        let time = counted.fetch_add(1, Ordering::Relaxed);
        let api = description(
            &format!("{time}"),
            json!({"/pets": {"get": {"summary": format!("Pets {time}")}}}),
        );
        async move { axum::Json(api) }
    };
    let base = serve(
        Router::new()
            .route("/openapi.json", get(api))
            .route("/moved", get(|| async { Redirect::temporary("/openapi.json") }))
            .route(
                "/away",
                get(move || async move { Redirect::temporary(&elsewhere) }),
            )
            .route(
                "/page",
                get(|| async { ([(header::CONTENT_TYPE, "text/html")], "<html>") }),
            )
            .route("/large", get(|| async { "x".repeat(17 << 20) }))
            .route(
                "/none",
                get(|| async { (StatusCode::NOT_FOUND, "no such secret-looking thing") }),
            ),
    )
    .await;
    (base, times)
}

async fn put(client: &Client<'_>, query: &str, [(name, value)]: &[(header::HeaderName, &str); 1]) -> Answer {
    client
        .send(
            client
                .request(Method::PUT, &format!("{PETS}?{query}"))
                .header(name, *value)
                .body(axum::body::Body::empty())
                .expect("a request"),
        )
        .await
}

#[tokio::test]
async fn a_description_is_fetched_and_fetched_again() {
    let (base, _) = host("https://nowhere.example").await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let url = format!("url={base}/openapi.json");
    let preview = admin
        .send(
            admin
                .request(Method::POST, &format!("/projects/demo/imports?{url}"))
                .body(axum::body::Body::empty())
                .expect("a request"),
        )
        .await;
    assert_eq!(preview.expect(200).json()["version"], "0");
    let made = put(&admin, &url, &NEW).await.expect(201);
    let import = made.json()["import"].take();
    assert_eq!(
        (&import["version"], &import["source"]["url"]),
        (&json!("1"), &json!(format!("{base}/openapi.json")))
    );

    let refresh = format!("{PETS}/refresh");
    admin
        .send_json(Method::POST, &refresh, &[], &json!({}))
        .await
        .problem(428, "precondition_required");
    admin
        .send_json(
            Method::POST,
            &refresh,
            &[(header::IF_MATCH, "\"v1\"")],
            &json!({}),
        )
        .await
        .problem(412, "precondition_failed");
    let dry = format!("{refresh}?dry_run=true");
    let report = admin
        .send_json(Method::POST, &dry, &ANY, &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!(
        (&report["dry_run"], outcomes(&report)),
        (&json!(true), owned(&[("get_pets", "changed")]))
    );
    let report = admin
        .send_json(
            Method::POST,
            &refresh,
            &[(header::IF_MATCH, made.header("etag"))],
            &json!({}),
        )
        .await
        .expect(200)
        .json();
    assert_eq!(outcomes(&report), owned(&[("get_pets", "changed")]));
    assert_eq!(
        admin.get("/projects/demo/quarantine").await.expect(200).json()["total"],
        1
    );

    // A redirect within what is listed is followed; what is sent instead ends the fetching.
    put(&admin, &format!("url={base}/moved"), &ANY).await.expect(200);
    let sent = description("9", json!({"/pets": {"get": {}}}));
    admin.send_json(Method::PUT, PETS, &ANY, &sent).await.expect(200);
    admin
        .send_json(Method::POST, &refresh, &ANY, &json!({}))
        .await
        .problem(422, "invalid_request");
}

#[tokio::test]
async fn only_an_administrator_names_addresses_and_only_listed_ones_are_reached() {
    let (elsewhere, reached) = host("https://nowhere.example").await;
    let (base, times) = host(&format!("{elsewhere}/openapi.json")).await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    for role in ["editor", "owner"] {
        let member = app.key(&admin, "demo", role, &["*"]).await;
        put(&member, &format!("url={base}/openapi.json"), &NEW)
            .await
            .problem(403, "forbidden");
    }
    for (query, status, code) in [
        (format!("url={elsewhere}/openapi.json"), 502, "egress_denied"),
        (format!("url={base}/away"), 502, "egress_denied"),
        (format!("url={base}/page"), 502, "upstream_invalid"),
        (format!("url={base}/large"), 502, "upstream_invalid"),
        (format!("url={base}/none"), 502, "upstream_rejected"),
        (
            "url=http://169.254.169.254/openapi.json".to_owned(),
            502,
            "egress_denied",
        ),
        (
            format!("url={base}/openapi.json?api_key=1234567890"),
            400,
            "malformed_request",
        ),
        (
            "url=https://user:pass@pets.example/openapi.json".to_owned(),
            400,
            "malformed_request",
        ),
        ("url=file:///etc/passwd".to_owned(), 400, "malformed_request"),
        ("url=pets".to_owned(), 400, "malformed_request"),
    ] {
        let problem: Value = put(&admin, &query, &NEW).await.problem(status, code);
        assert!(!problem.to_string().contains("1234567890"), "{problem}");
    }
    let both = admin
        .send_json(
            Method::PUT,
            &format!("{PETS}?url={base}/openapi.json"),
            &NEW,
            &json!({"a": 1}),
        )
        .await;
    both.problem(400, "malformed_request");
    assert_eq!(
        (reached.load(Ordering::Relaxed), times.load(Ordering::Relaxed)),
        (0, 0)
    );
    admin.get(PETS).await.problem(404, "not_found");
}
