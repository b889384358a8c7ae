//! Signing in with a second factor: setting it up, codes, recovery codes, and what administrators may ask.

use axum::http::Method;
use serde_json::{Value, json};
use totp_rs::{Builder, Secret};

use crate::support::{ANY, Answer, TestApp};

const LONG: &str = "a long enough password";
/// Seconds of a code.
const STEP: i64 = 30;

/// A user with an authenticator app.
struct Ada<'a> {
    app: &'a TestApp,
    secret: String,
}

impl<'a> Ada<'a> {
    async fn new(app: &'a TestApp) -> (Self, String) {
        let created = app
            .admin()
            .await
            .post("/users", &json!({"username": "ada", "password": LONG}))
            .await
            .expect(201)
            .json();
        let user = format!("/users/{}", created["id"].as_str().expect("an id"));
        (
            Self {
                app,
                secret: String::new(),
            },
            user,
        )
    }

    /// What the app shows now.
    fn code(&self) -> String {
        let secret = Secret::try_from_base32(&self.secret).expect("a secret");
        let totp = Builder::new()
            .with_secret(secret)
            .with_account_name("ada")
            .build();
        let now = self.app.gateway.clock.now().timestamp();
        totp.expect("a password maker")
            .generate(now.unsigned_abs())
            .to_string()
    }

    async fn post(&self, path: &str, code: Option<&str>) -> Answer {
        let mut body = json!({"username": "ada", "password": LONG});
        if let Some(code) = code {
            body["code"] = json!(code);
        }
        self.app.anonymous().post(path, &body).await
    }

    async fn signs_in(&self, code: Option<&str>) -> Answer {
        self.post("/auth/login", code).await
    }

    async fn begins(&mut self) -> Value {
        let setup = self.post("/auth/second-factor", None).await.expect(200).json();
        setup["secret"]
            .as_str()
            .expect("a secret")
            .clone_into(&mut self.secret);
        setup
    }

    async fn confirms(&self) -> Vec<String> {
        let confirmed = self.post("/auth/second-factor/confirm", Some(&self.code())).await;
        let confirmed = confirmed.expect(200);
        assert!(confirmed.header("set-cookie").contains("HttpOnly"));
        let body = confirmed.json();
        let token = body["sign_in"]["access_token"].as_str().expect("a token");
        let me = self.app.client(token).get("/auth/me").await.expect(200).json();
        assert_eq!(me["second_factor"], true);
        let codes = body["recovery_codes"].as_array().expect("codes");
        codes
            .iter()
            .map(|code| code.as_str().expect("a code").to_owned())
            .collect()
    }
}

async fn require(app: &TestApp, user: &str, required: bool) -> Value {
    let admin = app.admin().await;
    let body = json!({"second_factor_required": required});
    admin
        .send_json(Method::PATCH, user, &ANY, &body)
        .await
        .expect(200)
        .json()
}

#[tokio::test]
async fn a_second_factor_is_asked_for_once_it_is_confirmed() {
    let app = TestApp::new().await;
    let (mut ada, _) = Ada::new(&app).await;
    let setup = ada.begins().await;
    let uri = setup["uri"].as_str().expect("an address");
    assert!(uri.starts_with("otpauth://totp/Toolgate:ada?"), "{uri}");
    assert!(
        setup["qr_code"]
            .as_str()
            .expect("a picture")
            .starts_with("data:image/svg+xml;base64,")
    );
    ada.signs_in(None).await.expect(200);

    let wrong = ada.post("/auth/second-factor/confirm", Some("000000")).await;
    wrong.problem(401, "unauthenticated");
    let codes = ada.confirms().await;
    assert_eq!(codes.len(), 10);
    ada.post("/auth/second-factor", None)
        .await
        .problem(409, "conflict");

    ada.signs_in(None).await.problem(401, "second_factor_required");
    let used = ada.code();
    ada.signs_in(Some(&used)).await.problem(401, "unauthenticated");
    app.later(STEP);
    let fresh = ada.code();
    ada.signs_in(Some(&fresh)).await.expect(200);
    ada.signs_in(Some(&fresh)).await.problem(401, "unauthenticated");
    app.later(STEP);
    let spaced = ada.code();
    ada.signs_in(Some(&format!("{} {}", &spaced[..3], &spaced[3..])))
        .await
        .expect(200);
    app.later(10 * STEP);
    ada.signs_in(Some(&spaced)).await.problem(401, "unauthenticated");

    let body = json!({"username": "ada", "password": "wrong", "code": ada.code()});
    app.anonymous()
        .post("/auth/login", &body)
        .await
        .problem(401, "unauthenticated");
}

#[tokio::test]
async fn a_recovery_code_signs_in_once() {
    let app = TestApp::new().await;
    let (mut ada, _) = Ada::new(&app).await;
    ada.begins().await;
    let codes = ada.confirms().await;
    ada.signs_in(Some(&codes[0].to_uppercase())).await.expect(200);
    ada.signs_in(Some(&codes[0]))
        .await
        .problem(401, "unauthenticated");
    app.later(STEP);
    let renewed = ada
        .post("/auth/second-factor/recovery-codes", Some(&ada.code()))
        .await;
    let renewed = renewed.expect(200).json();
    let new = renewed["recovery_codes"][0].as_str().expect("a code");
    ada.signs_in(Some(&codes[1]))
        .await
        .problem(401, "unauthenticated");
    ada.signs_in(Some(new)).await.expect(200);

    let other = renewed["recovery_codes"][1].as_str().expect("a code");
    ada.post("/auth/second-factor/remove", Some(other))
        .await
        .expect(204);
    ada.signs_in(None).await.expect(200);
    ada.post("/auth/second-factor/remove", Some(new))
        .await
        .problem(409, "conflict");
}

#[tokio::test]
async fn an_administrator_can_require_a_second_factor_and_remove_a_lost_one() {
    let app = TestApp::new().await;
    let (mut ada, user) = Ada::new(&app).await;
    assert_eq!(require(&app, &user, true).await["second_factor_required"], true);
    ada.signs_in(None)
        .await
        .problem(401, "second_factor_setup_required");
    ada.begins().await;
    let codes = ada.confirms().await;
    let listed = app.admin().await.get(&user).await.expect(200).json();
    assert!(listed["second_factor_at"].is_string(), "{listed}");
    let refused = ada.post("/auth/second-factor/remove", Some(&codes[0])).await;
    refused.problem(403, "forbidden");

    let admin = app.admin().await;
    let lost = format!("{user}/second-factor");
    admin.delete(&lost, None).await.expect(204);
    admin.delete(&lost, None).await.problem(404, "not_found");
    ada.signs_in(None)
        .await
        .problem(401, "second_factor_setup_required");
    require(&app, &user, false).await;
    ada.signs_in(None).await.expect(200);
}

#[tokio::test]
async fn wrong_codes_of_a_user_are_counted_wherever_they_come_from() {
    let app = TestApp::new().await;
    let (mut ada, _) = Ada::new(&app).await;
    ada.begins().await;
    ada.confirms().await;
    let mut answers = Vec::new();
    for _ in 0..11 {
        answers.push(ada.signs_in(Some("000000")).await.status.as_u16());
    }
    assert_eq!(answers[..10], [401; 10]);
    assert_eq!(answers[10], 429);
    // The right one is not tried either.
    ada.signs_in(Some(&ada.code())).await.problem(429, "rate_limited");
    app.later(10 * 60);
    ada.signs_in(Some(&ada.code())).await.expect(200);
}

#[tokio::test]
async fn neither_secret_nor_codes_are_on_the_record_or_plain_in_the_database() {
    let key = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=";
    let app = TestApp::with(&[("TOOLGATE_SECRETS_KEY", key)]).await;
    let (mut ada, _) = Ada::new(&app).await;
    ada.begins().await;
    let codes = ada.confirms().await;
    let id = app
        .gateway
        .snapshots
        .now()
        .directory
        .user_by_name("ada")
        .expect("ada")
        .id;
    let stored = app
        .gateway
        .store
        .second_factor(id)
        .await
        .expect("read")
        .expect("a factor");
    let secret = Secret::try_from_base32(&ada.secret).expect("a secret");
    assert!(stored.key_id.is_some());
    assert!(!stored.secret.windows(20).any(|bytes| bytes == secret.as_ref()));
    app.later(STEP);
    ada.signs_in(Some(&ada.code())).await.expect(200);
    let record = app
        .admin()
        .await
        .get("/audit?action=access&limit=50")
        .await
        .expect(200);
    let changes: Vec<Value> = record.json()["items"]
        .as_array()
        .expect("records")
        .iter()
        .map(|record| record["arguments"]["change"].clone())
        .collect();
    for change in ["second_factor_begun", "second_factor_confirmed"] {
        assert!(changes.contains(&json!(change)), "{changes:?}");
    }
    for secret in codes.iter().chain([&ada.secret]) {
        assert!(!record.text().contains(secret.as_str()));
    }
    let users = app.admin().await.get("/users").await.expect(200);
    assert!(!users.text().contains(&ada.secret));
}
