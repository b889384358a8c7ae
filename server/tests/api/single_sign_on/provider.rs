//! An OpenID Connect provider on loopback.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::oauth::{challenge, parameter};
use crate::support::{TestApp, serve};

/// What the provider of the test does.
#[derive(Default)]
pub(super) struct Known {
    pub(super) base: String,
    pub(super) now: i64,
    /// Claims of the next ID token, over the ordinary ones; null takes one away.
    pub(super) claims: Value,
    /// What UserInfo says.
    pub(super) info: Value,
    /// Codes with their nonces and challenges.
    codes: BTreeMap<String, (String, String)>,
    issued: usize,
}

#[derive(Clone)]
pub(super) struct Provider {
    known: Arc<Mutex<Known>>,
    pair: Arc<Ed25519KeyPair>,
}

impl Provider {
    pub(super) async fn start() -> Self {
        let pair = Arc::new(Ed25519KeyPair::generate().expect("a key pair"));
        let provider = Self {
            known: Arc::default(),
            pair,
        };
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(metadata))
            .route("/keys", get(keys))
            .route("/token", post(token))
            .route("/userinfo", get(info))
            .with_state(provider.clone());
        let base = serve(router).await;
        provider.know(|known| {
            known.base = base;
            known.info = json!({"sub": "s-1"});
        });
        provider.says(json!({}));
        provider
    }

    pub(super) fn know<T>(&self, look: impl FnOnce(&mut Known) -> T) -> T {
        look(&mut self.known.lock().expect("a lock"))
    }

    /// Claims of the next ID token.
    pub(super) fn says(&self, claims: Value) {
        self.know(|known| known.claims = claims);
    }

    /// A server that lets persons sign in here.
    pub(super) async fn app(&self, more: &str) -> TestApp {
        let base = self.know(|known| known.base.clone());
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("toolgate.yaml");
        let text = format!(
            "auth:\n  single_sign_on:\n    - id: corp\n      title: Example Corp\n      issuer: {base}\n      client_id: gate\n      \
             client_secret: s3cret\n      allow_http: true\n      projects:\n        \
             - {{project: demo, role: viewer, groups: [default]}}\n        \
             - {{project: demo, when: [writers], role: agent, groups: [writing]}}\n        \
             - {{project: other, when: [team b, team-b], role: editor, groups: ['*']}}\n{more}"
        );
        std::fs::write(&file, text).expect("a configuration file");
        let app = TestApp::with(&[("TOOLGATE_CONFIG", &file.display().to_string())]).await;
        self.know(|known| known.now = app.gateway.clock.now().timestamp());
        app
    }

    /// Signs the person in whose browser was sent to `url`: the code.
    pub(super) fn code(&self, url: &str) -> String {
        let part = |name: &str| parameter(url, name).unwrap_or_else(|| panic!("no {name} in {url}"));
        assert_eq!(
            (
                part("response_type"),
                part("client_id"),
                part("code_challenge_method")
            ),
            ("code".to_owned(), "gate".to_owned(), "S256".to_owned())
        );
        assert_eq!(part("scope"), "openid profile email");
        assert!(part("redirect_uri").ends_with("/auth/sign-in/corp/callback"));
        self.know(|known| {
            known.issued += 1;
            let code = format!("code-{}", known.issued);
            known
                .codes
                .insert(code.clone(), (part("nonce"), part("code_challenge")));
            code
        })
    }
}

async fn metadata(State(provider): State<Provider>) -> axum::Json<Value> {
    let base = provider.know(|known| known.base.clone());
    axum::Json(json!({
        "issuer": base, "authorization_endpoint": format!("{base}/authorize"), "token_endpoint": format!("{base}/token"),
        "jwks_uri": format!("{base}/keys"), "userinfo_endpoint": format!("{base}/userinfo"),
        "end_session_endpoint": format!("{base}/end"), "authorization_response_iss_parameter_supported": true,
    }))
}

async fn keys(State(provider): State<Provider>) -> axum::Json<Value> {
    let x = URL_SAFE_NO_PAD.encode(provider.pair.public_key());
    axum::Json(json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": x, "kid": "k1", "use": "sig"}]}))
}

async fn token(State(provider): State<Provider>, headers: HeaderMap, body: String) -> Response {
    let form: BTreeMap<String, String> = form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    let refused = (
        StatusCode::BAD_REQUEST,
        axum::Json(json!({"error": "invalid_grant"})),
    );
    let code = provider.know(|known| known.codes.remove(&form["code"]));
    let Some((nonce, expected)) = code else {
        return refused.into_response();
    };
    let client = format!("Basic {}", STANDARD.encode("gate:s3cret"));
    if headers[header::AUTHORIZATION] != client || challenge(&form["code_verifier"]) != expected {
        return refused.into_response();
    }
    let (base, now, more) = provider.know(|known| (known.base.clone(), known.now, known.claims.clone()));
    let mut claims = json!({"iss": base, "aud": "gate", "sub": "s-1", "nonce": nonce, "iat": now, "exp": now + 300,
        "preferred_username": "ada", "name": "Ada Lovelace", "groups": ["writers"]});
    for (name, value) in more.as_object().expect("claims") {
        match value {
            Value::Null => drop(claims.as_object_mut().expect("claims").remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let header = json!({"alg": "EdDSA", "typ": "JWT", "kid": "k1"});
    let signed = format!("{}.{}", part(&header), part(&claims));
    let signature = URL_SAFE_NO_PAD.encode(provider.pair.sign(signed.as_bytes()));
    let answer =
        json!({"access_token": "at", "token_type": "Bearer", "id_token": format!("{signed}.{signature}")});
    axum::Json(answer).into_response()
}

async fn info(State(provider): State<Provider>, headers: HeaderMap) -> Response {
    if headers[header::AUTHORIZATION] != "Bearer at" {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    axum::Json(provider.know(|known| known.info.clone())).into_response()
}
