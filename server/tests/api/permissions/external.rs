//! Subjects of an external issuer: what its configuration gives, and what is granted beyond that.

use std::path::Path;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use axum::Router;
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::{PERMISSIONS, cells, grant, in_seconds, path_of, replace, row, terms};
use crate::support::{NEW, TestApp, serve};

const ISSUER: &str = "https://idp.test/realm";
const SUBJECT: &str = "external:https://idp.test/realm|agent/7";

/// An issuer with one key, published on loopback.
pub(crate) struct Idp {
    pair: Ed25519KeyPair,
    address: String,
}

impl Idp {
    pub(crate) async fn start() -> Self {
        let pair = Ed25519KeyPair::generate().expect("a key pair");
        let x = URL_SAFE_NO_PAD.encode(pair.public_key());
        let set = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": x, "kid": "k1", "use": "sig"}]});
        let keys = move || async move { axum::Json(set) };
        let address = serve(Router::new().route("/keys", get(keys))).await;
        Self { pair, address }
    }

    /// The configuration of a server that lets its subjects into `demo` as agents.
    pub(crate) fn configure(&self, file: &Path) {
        let text = format!(
            "auth:\n  issuers:\n    - issuer: {ISSUER}\n      audience: gate\n      jwks_url: {}/keys\n      allow_http: true\n      \
             projects: [demo]\n",
            self.address
        );
        std::fs::write(file, text).expect("a configuration file");
    }

    pub(crate) fn token(&self, groups: &[&str]) -> String {
        self.token_for("gate", groups)
    }

    pub(crate) fn token_for(&self, audience: &str, groups: &[&str]) -> String {
        let seconds = |text: String| {
            let time: chrono::DateTime<chrono::Utc> = text.parse().expect("a time");
            time.timestamp()
        };
        let (iat, exp) = (seconds(in_seconds(0)), seconds(in_seconds(3600)));
        let claims: Value = json!({"iss": ISSUER, "aud": audience, "sub": "agent/7", "iat": iat, "exp": exp, "groups": groups});
        let header = json!({"alg": "EdDSA", "typ": "at+jwt", "kid": "k1"});
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&header), part(&claims));
        let signature = self.pair.sign(signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

#[tokio::test]
async fn a_subject_holds_what_its_claims_bring_and_what_is_granted() {
    let idp = Idp::start().await;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("toolgate.yaml");
    idp.configure(&file);
    let app = TestApp::with(&[("TOOLGATE_CONFIG", &file.display().to_string())]).await;
    let admin = app.demo().await;
    admin.post("/projects", &json!({"id": "other"})).await.expect(201);
    let agent = app.client(idp.token(&["web"]));
    let places = async || agent.get("/auth/me").await.expect(200).json()["projects"].clone();
    let place = |project: &str, role: &str, groups: &[&str]| {
        let permissions: &[&str] = match role {
            "agent" => &["use"],
            _ => &["use", "read_definitions"],
        };
        json!({"project_id": project, "role": role, "groups": groups, "permissions": permissions})
    };
    assert_eq!(places().await, json!([place("demo", "agent", &["web"])]));

    // A grant adds groups, and its role counts.
    grant(&admin, SUBJECT, &terms("viewer", &["knowledge"]))
        .await
        .expect(201);
    assert_eq!(
        places().await,
        json!([place("demo", "viewer", &["knowledge", "web"])])
    );
    let matrix = admin.get(PERMISSIONS).await.expect(200).json();
    let granted = row(&matrix, SUBJECT);
    assert_eq!(
        (&granted["name"], &granted["source"]),
        (&json!("agent/7"), &json!("grant"))
    );
    assert_eq!(cells(granted), ["*: claim", "knowledge: direct"]);
    let issuer = row(&matrix, "external:https://idp.test/realm|*");
    assert_eq!(
        (&issuer["source"], &issuer["role"]),
        (&json!("issuer"), &json!("agent"))
    );
    assert_eq!(cells(issuer), ["*: claim", "knowledge: claim"]);

    // Where the configuration does not let it in, a grant does, without what the claims bring.
    let elsewhere = path_of(SUBJECT).replace("demo", "other");
    admin
        .send_json(axum::http::Method::PUT, &elsewhere, &NEW, &terms("agent", &["k"]))
        .await
        .expect(201);
    assert_eq!(
        places().await,
        json!([
            place("demo", "viewer", &["knowledge", "web"]),
            place("other", "agent", &["k"])
        ])
    );
    admin.delete(&elsewhere, Some("*")).await.expect(204);
    admin.delete(&path_of(SUBJECT), Some("*")).await.expect(204);
    assert_eq!(places().await, json!([place("demo", "agent", &["web"])]));

    // As an owner it gives what its claims bring no longer than its token is valid.
    grant(&admin, SUBJECT, &terms("owner", &["knowledge"]))
        .await
        .expect(201);
    let key = |seconds: Option<u32>, group: &str| json!({"name": "k", "role": "agent", "groups": [group], "expires_in_s": seconds});
    agent
        .post("/projects/demo/keys", &key(None, "knowledge"))
        .await
        .expect(201);
    agent
        .post("/projects/demo/keys", &key(None, "web"))
        .await
        .problem(403, "forbidden");
    agent
        .post("/projects/demo/keys", &key(Some(60), "web/fast"))
        .await
        .expect(201);
    replace(&agent, SUBJECT, &terms("owner", &["knowledge", "web"]))
        .await
        .problem(403, "forbidden");
}
