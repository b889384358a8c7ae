//! MCP servers that want an access token of an OAuth client.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::{Method, StatusCode};
use axum::routing::post;
use serde_json::{Value, json};

use super::{Reply, Upstream, call, enable, import, put};
use crate::support::{TestApp, serve};

/// A token endpoint: each token is another one. It keeps what it was sent.
async fn token_endpoint(forms: Arc<Mutex<Vec<String>>>) -> String {
    let answer = async move |form: String| {
        let mut forms = forms.lock().expect("a lock");
        forms.push(form);
        let token = format!("token-number-{}", forms.len());
        axum::Json(json!({"access_token": token, "token_type": "Bearer", "expires_in": 3600}))
    };
    serve(Router::new().route("/token", post(answer))).await
}

fn bearer(seen: &(Value, axum::http::HeaderMap)) -> String {
    seen.1["authorization"].to_str().expect("a text").to_owned()
}

#[tokio::test]
async fn a_token_is_fetched_renewed_when_it_is_refused_and_never_shown() {
    let forms: Arc<Mutex<Vec<String>>> = Arc::default();
    let issuer = token_endpoint(Arc::clone(&forms)).await;
    // The second token is the first that calls are answered for.
    let upstream = Upstream::with_headers(|message, headers| {
        let sent = headers["authorization"].to_str().expect("a text").to_owned();
        let is_call = message["method"] == "tools/call";
        if is_call && sent == "Bearer token-number-1" {
            return Some(Reply::Body(
                StatusCode::UNAUTHORIZED,
                "text/plain",
                b"expired".to_vec(),
            ));
        }
        let text = format!("you sent {sent}");
        is_call.then(|| Reply::Result(json!({"content": [{"type": "text", "text": text}]})))
    })
    .await;
    let app = TestApp::with(&[
        ("TOOLGATE_EGRESS_ALLOW", &format!("{},{issuer}", upstream.url)),
        ("TOOLGATE_SECRETS_KEY", &crate::secrets::key(1)),
    ])
    .await;
    let admin = app.demo().await;
    let secret = json!({"value": "correct horse battery"});
    admin
        .send_json(Method::PUT, "/projects/demo/secrets/CLIENT", &[], &secret)
        .await
        .expect(201);
    let oauth = json!({"token_url": format!("{issuer}/token"), "client_id": "toolgate",
        "client_secret": "${secret:CLIENT}", "scopes": ["weather"], "auth_style": "body"});
    put(&admin, "weather", json!({"url": upstream.url, "oauth": oauth})).await;
    import(&admin, "weather").await;
    enable(&admin).await;
    let answer = call(&admin, "forecast", json!({"city": "Oslo"})).await;
    assert_eq!(
        answer["result"]["content"][0]["text"], "you sent Bearer [redacted]",
        "{answer}"
    );
    let calls = upstream.seen("tools/call");
    let sent: Vec<String> = calls.iter().map(bearer).collect();
    assert_eq!(sent, ["Bearer token-number-1", "Bearer token-number-2"]);
    let forms = forms.lock().expect("a lock").clone();
    assert_eq!(forms.len(), 2, "one token for everything before");
    for part in [
        "grant_type=client_credentials",
        "scope=weather",
        "client_id=toolgate",
        "client_secret=correct+horse+battery",
        "resource=http%3A%2F%2F127.0.0.1",
    ] {
        assert!(forms[0].contains(part), "{part} in {}", forms[0]);
    }
}

#[tokio::test]
async fn a_client_that_is_refused_is_the_error_of_its_connection() {
    let upstream = Upstream::new(|_| None).await;
    let refuses = Router::new().fallback(async || (StatusCode::UNAUTHORIZED, "no"));
    let issuer = serve(refuses).await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &format!("{},{issuer}", upstream.url))]).await;
    let admin = app.demo().await;
    let oauth = json!({"token_url": issuer, "client_id": "a", "client_secret": "${MCP_CLIENT_SECRET}"});
    let server = json!({"url": upstream.url, "oauth": oauth});
    let stored = put(&admin, "weather", server).await;
    let tested = admin
        .post("/projects/demo/mcp-servers/weather/test", &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!(tested["ok"], false, "{tested}; {stored}");
    assert_eq!(
        upstream.seen("initialize").len(),
        0,
        "nothing is sent without a token"
    );
}

#[tokio::test]
async fn faults_of_a_client_are_named_with_their_places() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    for (server, at) in [
        (
            json!({"url": "https://a.example", "oauth": {"token_url": "ftp://a", "client_id": "a", "client_secret": "${S}"}}),
            "/oauth/token_url",
        ),
        (
            json!({"url": "https://a.example", "oauth": {"token_url": "https://a", "client_id": "a", "client_secret": "plain"}}),
            "/oauth/client_secret",
        ),
        (
            json!({"url": "https://a.example", "headers": {"authorization": "${S}"},
                "oauth": {"token_url": "https://a", "client_id": "a", "client_secret": "${S}"}}),
            "/oauth",
        ),
        (
            json!({"command": "x", "oauth": {"token_url": "https://a", "client_id": "a", "client_secret": "${S}"}}),
            "/oauth",
        ),
    ] {
        let answer = admin
            .send_json(Method::PUT, "/projects/demo/mcp-servers/weather", &[], &server)
            .await
            .expect(422)
            .json();
        assert_eq!(answer["errors"][0]["pointer"], at, "{answer}");
    }
}
