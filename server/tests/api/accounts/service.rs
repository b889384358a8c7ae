//! A service at which persons have accounts: an authorization server of OAuth 2.1 with an API.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::oauth::{challenge, parameter};

/// What the service of the test knows.
#[derive(Default)]
pub(super) struct Known {
    base: String,
    /// Codes with their persons and challenges.
    codes: BTreeMap<String, (String, String)>,
    pub(super) refresh_tokens: BTreeMap<String, String>,
    pub(super) access_tokens: BTreeSet<String>,
    issued: usize,
    pub(super) refreshes: usize,
    pub(super) registrations: usize,
    pub(super) forms: Vec<BTreeMap<String, String>>,
    /// Seconds that tokens are good for.
    pub(super) life: i64,
    /// Whether clients may be addresses of their metadata.
    pub(super) takes_documents: bool,
}

/// An OAuth 2.1 authorization server with an API that answers whose token it was sent.
pub(crate) struct Service {
    pub(crate) base: String,
    known: Arc<Mutex<Known>>,
}

impl Service {
    pub(crate) async fn start() -> Self {
        let known: Arc<Mutex<Known>> = Arc::default();
        let router = Router::new()
            .route("/.well-known/oauth-protected-resource/api", get(of_resource))
            .route("/.well-known/oauth-authorization-server", get(metadata))
            .route("/register", post(register))
            .route("/token", post(token))
            .route("/api", any(api))
            .with_state(Arc::clone(&known));
        let base = crate::support::serve(router).await;
        {
            let mut known = known.lock().expect("a lock");
            known.base.clone_from(&base);
            known.life = 3600;
        }
        Self { base, known }
    }

    pub(super) fn know<T>(&self, look: impl FnOnce(&mut Known) -> T) -> T {
        look(&mut self.known.lock().expect("a lock"))
    }

    pub(super) fn host(&self) -> String {
        self.base.trim_start_matches("http://").to_owned()
    }

    /// A provider whose service tells everything about itself.
    pub(super) fn provider(&self) -> Value {
        json!({"method": "oauth", "title": "Issues", "hosts": [self.host()], "resource": format!("{}/api", self.base),
            "scopes": ["read"]})
    }

    /// What a person does in the browser: signs in and lets the client in. The code that the browser is sent back with.
    pub(super) fn sign_in(&self, url: &str, who: &str) -> String {
        let part = |name: &str| parameter(url, name).unwrap_or_else(|| panic!("no {name} in {url}"));
        assert_eq!(part("response_type"), "code");
        assert_eq!(part("code_challenge_method"), "S256");
        assert!(part("redirect_uri").ends_with("/ui/accounts/callback"));
        let challenge = part("code_challenge");
        self.know(|known| {
            known.issued += 1;
            let code = format!("code-{}", known.issued);
            known.codes.insert(code.clone(), (who.to_owned(), challenge));
            code
        })
    }
}

async fn of_resource(State(known): State<Arc<Mutex<Known>>>) -> axum::Json<Value> {
    let base = known.lock().expect("a lock").base.clone();
    axum::Json(json!({"resource": format!("{base}/api"), "authorization_servers": [base]}))
}

async fn metadata(State(known): State<Arc<Mutex<Known>>>) -> axum::Json<Value> {
    let known = known.lock().expect("a lock");
    let base = &known.base;
    let mut metadata = json!({
        "issuer": base, "authorization_endpoint": format!("{base}/authorize"), "token_endpoint": format!("{base}/token"),
        "registration_endpoint": format!("{base}/register"), "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    });
    if known.takes_documents {
        metadata["client_id_metadata_document_supported"] = json!(true);
        metadata["token_endpoint_auth_methods_supported"] = json!(["none"]);
    }
    axum::Json(metadata)
}

async fn register(State(known): State<Arc<Mutex<Known>>>, body: String) -> Response {
    let asked: Value = serde_json::from_str(&body).expect("JSON");
    let mut known = known.lock().expect("a lock");
    known.registrations += 1;
    let id = format!("client-{}", known.registrations);
    let answer = json!({"client_id": id, "redirect_uris": asked["redirect_uris"]});
    (StatusCode::CREATED, axum::Json(answer)).into_response()
}

async fn token(State(known): State<Arc<Mutex<Known>>>, body: String) -> Response {
    let form: BTreeMap<String, String> = form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    let mut known = known.lock().expect("a lock");
    known.forms.push(form.clone());
    let refused = || {
        (
            StatusCode::BAD_REQUEST,
            axum::Json(json!({"error": "invalid_grant"})),
        )
            .into_response()
    };
    let part = |name: &str| form.get(name).cloned().unwrap_or_default();
    let who = match part("grant_type").as_str() {
        "authorization_code" => match known.codes.remove(&part("code")) {
            Some((who, expected)) if challenge(&part("code_verifier")) == expected => who,
            _ => return refused(),
        },
        "refresh_token" => match known.refresh_tokens.remove(&part("refresh_token")) {
            Some(who) => {
                known.refreshes += 1;
                who
            }
            None => return refused(),
        },
        _ => "exchanged".to_owned(),
    };
    known.issued += 1;
    let access = format!("access-token-of-{who}-{}", known.issued);
    let refresh = format!("refresh-token-of-{who}-{}", known.issued);
    known.access_tokens.insert(access.clone());
    known.refresh_tokens.insert(refresh.clone(), who);
    let life = known.life;
    axum::Json(
        json!({"access_token": access, "token_type": "Bearer", "expires_in": life, "refresh_token": refresh}),
    )
    .into_response()
}

/// Whose token or key a request has; nothing of it is answered that could be taken for a mask.
async fn api(State(known): State<Arc<Mutex<Known>>>, headers: HeaderMap) -> Response {
    let text = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned()
    };
    let sent = text("authorization");
    let key = text("x-api-key");
    let known = known.lock().expect("a lock");
    let token = sent.strip_prefix("Bearer ").unwrap_or_default();
    if !known.access_tokens.contains(token) && key != "personal-key-of-ada" {
        return (StatusCode::UNAUTHORIZED, axum::Json(json!({"message": "no"}))).into_response();
    }
    let who = token.split('-').nth(3).unwrap_or("key").to_owned();
    axum::Json(json!({"who": who, "sent": sent, "key": key})).into_response()
}
