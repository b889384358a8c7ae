//! Pages of other sites: only those of configured origins, and never with cookies.

use axum::body::Body;
use axum::http::{Method, Request};

use crate::support::{Answer, TestApp};

const SITE: &str = "https://app.example.com";

fn ours() -> [(&'static str, &'static str); 1] {
    [("TOOLGATE_CORS_ORIGINS", SITE)]
}

/// What a browser asks before it sends a call for a page of `origin`.
async fn preflight(app: &TestApp, origin: &str) -> Answer {
    let request = Request::builder()
        .method(Method::OPTIONS)
        .uri("/projects/demo/calls")
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header(
            "access-control-request-headers",
            "authorization,content-type,idempotency-key",
        )
        .body(Body::empty());
    app.send(request.expect("a request")).await
}

#[tokio::test]
async fn a_configured_origin_may_send_calls_and_read_what_answers_say() {
    let app = TestApp::with(&ours()).await;
    let answer = preflight(&app, SITE).await.expect(200);
    assert_eq!(answer.header("access-control-allow-origin"), SITE);
    assert_eq!(
        answer.header("access-control-allow-headers"),
        "authorization,content-type,idempotency-key"
    );
    assert!(answer.header("access-control-allow-methods").contains("POST"));
    assert_eq!(answer.header("access-control-max-age"), "3600");
    // A page of another site never acts with the cookie of a user who is signed in.
    assert_eq!(answer.header("access-control-allow-credentials"), "");

    let admin = app.demo().await;
    let answer = admin.open("/projects/demo", &[("origin", SITE)]).await;
    let headers = answer.headers();
    assert_eq!(answer.status(), 200);
    assert_eq!(headers["access-control-allow-origin"], SITE);
    let exposed = headers["access-control-expose-headers"].to_str().expect("text");
    for name in ["etag", "location", "retry-after", "ratelimit", "x-request-id"] {
        assert!(
            exposed.split(',').any(|exposed| exposed == name),
            "{name} in {exposed}"
        );
    }
}

#[tokio::test]
async fn a_refusal_can_be_read_by_the_page_as_well() {
    let app = TestApp::with(&ours()).await;
    let request = Request::builder()
        .uri("/projects/demo")
        .header("origin", SITE)
        .body(Body::empty());
    let answer = app.send(request.expect("a request")).await.expect(401);
    assert_eq!(answer.header("access-control-allow-origin"), SITE);
}

#[tokio::test]
async fn other_origins_are_not_allowed() {
    for (app, origin) in [
        (TestApp::with(&ours()).await, "https://evil.example"),
        (
            TestApp::with(&ours()).await,
            "https://app.example.com.evil.example",
        ),
        (TestApp::with(&ours()).await, "null"),
        // Without the setting no origin is allowed.
        (TestApp::new().await, SITE),
    ] {
        let answer = preflight(&app, origin).await;
        assert_eq!(answer.header("access-control-allow-origin"), "", "{origin}");
    }
}
