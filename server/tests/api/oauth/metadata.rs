//! What clients find before they have a token.

use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::json;

use super::{BASE, RESOURCE, app, app_with, list};
use crate::support::TestApp;

const PLACES: [&str; 5] = [
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/projects/demo/mcp",
    "/.well-known/openid-configuration",
    "/.well-known/openid-configuration/projects/demo/mcp",
    "/projects/demo/mcp/.well-known/openid-configuration",
];

#[tokio::test]
async fn a_client_finds_the_server_from_a_refusal() {
    let app = app().await;
    let refused = list(&app.anonymous(), "").await.expect(401);
    let path = "/.well-known/oauth-protected-resource/projects/demo/mcp";
    assert_eq!(
        refused.header("www-authenticate"),
        format!("Bearer realm=\"toolgate\", resource_metadata=\"{BASE}{path}\"")
    );
    let resource = app.anonymous().get(path).await.expect(200).json();
    assert_eq!(resource["resource"], RESOURCE);
    assert_eq!(resource["authorization_servers"], json!([BASE]));
    for place in PLACES {
        let metadata = app.anonymous().get(place).await.expect(200).json();
        assert_eq!(metadata["issuer"], BASE, "{place}");
        for (name, path) in [
            ("authorization_endpoint", "/oauth/authorize"),
            ("token_endpoint", "/oauth/token"),
            ("registration_endpoint", "/oauth/register"),
            ("revocation_endpoint", "/oauth/revoke"),
            ("jwks_uri", "/.well-known/jwks.json"),
        ] {
            assert_eq!(metadata[name], format!("{BASE}{path}"), "{place}");
        }
        for (name, values) in [
            ("response_types_supported", json!(["code"])),
            (
                "grant_types_supported",
                json!(["authorization_code", "refresh_token"]),
            ),
            ("code_challenge_methods_supported", json!(["S256"])),
            ("token_endpoint_auth_methods_supported", json!(["none"])),
            ("client_id_metadata_document_supported", json!(true)),
            ("authorization_response_iss_parameter_supported", json!(true)),
        ] {
            assert_eq!(metadata[name], values, "{place}");
        }
    }
}

#[tokio::test]
async fn switched_off_it_is_nowhere() {
    let app = app_with(&[("TOOLGATE_AUTH_AUTHORIZATION_SERVER", "false")]).await;
    let refused = list(&app.anonymous(), "").await.expect(401);
    assert_eq!(refused.header("www-authenticate"), "Bearer realm=\"toolgate\"");
    for place in PLACES.into_iter().chain(["/oauth/authorize?client_id=x"]) {
        app.anonymous().get(place).await.problem(404, "not_found");
    }
    for place in ["/oauth/token", "/oauth/register", "/oauth/revoke"] {
        app.anonymous()
            .post(place, &json!({}))
            .await
            .problem(404, "not_found");
    }
    let admin = app.admin().await;
    admin
        .get("/auth/consent?request=x")
        .await
        .problem(422, "invalid_request");
}

/// As a browser asks for a page of another site, and sends then.
async fn from_page(app: &TestApp, method: Method, path: &str) -> (u16, String) {
    let origin = "https://inspector.example";
    let preflight = Request::builder()
        .method(Method::OPTIONS)
        .uri(path)
        .header("origin", origin)
        .header("access-control-request-method", method.as_str())
        .header(
            "access-control-request-headers",
            "content-type,mcp-protocol-version",
        )
        .body(Body::empty());
    let preflight = app.send(preflight.expect("a request")).await.expect(200);
    assert_ne!(preflight.header("access-control-allow-origin"), "", "{path}");
    assert_eq!(preflight.header("access-control-allow-credentials"), "", "{path}");
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("origin", origin)
        .header("sec-fetch-site", "cross-site")
        .header("content-type", "application/json")
        .body(Body::from("{}"));
    let answer = app.send(request.expect("a request")).await;
    let allowed = answer.header("access-control-allow-origin").to_owned();
    (answer.status.as_u16(), allowed)
}

#[tokio::test]
async fn pages_of_other_sites_may_find_register_and_exchange() {
    let configured = [("TOOLGATE_CORS_ORIGINS", "https://app.example.com")];
    for app in [app().await, app_with(&configured).await] {
        for (method, path, status) in [
            (Method::GET, PLACES[0], 200),
            (Method::GET, PLACES[1], 200),
            (
                Method::GET,
                "/.well-known/oauth-protected-resource/projects/demo/mcp",
                200,
            ),
            (Method::POST, "/oauth/register", 400),
            (Method::POST, "/oauth/token", 400),
            (Method::POST, "/oauth/revoke", 400),
        ] {
            let (found, allowed) = from_page(&app, method, path).await;
            assert_eq!(found, status, "{path}");
            assert!(!allowed.is_empty(), "{path}");
        }
        // Nothing else opens with them.
        let request = Request::builder()
            .method(Method::POST)
            .uri("/auth/consent")
            .header("origin", "https://inspector.example")
            .header("sec-fetch-site", "cross-site")
            .header("content-type", "application/json")
            .body(Body::from("{}"));
        let answer = app.send(request.expect("a request")).await;
        assert_eq!(answer.header("access-control-allow-origin"), "");
        answer.problem(403, "cross_site");
    }
}
