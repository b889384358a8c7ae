//! Guessing passwords: who is slowed by it and who is not, what is logged, and which passwords are refused.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Method, Request, header};
use serde_json::{Value, json};
use toolgate::clock::SystemClock;
use toolgate::config::{Config, ServeArgs};
use toolgate::shutdown::Shutdown;
use toolgate::start;
use toolgate::telemetry::Metrics;
use tracing_subscriber::fmt::MakeWriter;

use crate::support::{ADMIN, Answer, PASSWORD, TestApp};

const HOME: &str = "192.0.2.1";

/// Signs in from an address.
async fn sign_in(app: &TestApp, address: &str, username: &str, password: &str) -> Answer {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri("/auth/login")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(
            json!({"username": username, "password": password}).to_string(),
        ))
        .expect("a request");
    let peer: SocketAddr = format!("{address}:4000").parse().expect("an address");
    request.extensions_mut().insert(ConnectInfo(peer));
    app.send(request).await
}

#[tokio::test]
async fn guesses_from_elsewhere_do_not_keep_the_owner_out() {
    let app = TestApp::new().await;
    sign_in(&app, HOME, ADMIN, PASSWORD).await.expect(200);
    // It is kept in the database.
    let app = app.restart(&[]).await;
    // A slow machine gives back a place or two meanwhile.
    let mut guesses = 0;
    while sign_in(&app, &format!("198.51.100.{}", guesses / 10), ADMIN, "wrong")
        .await
        .status
        == 401
    {
        guesses += 1;
        assert!(guesses < 250, "guesses are not slowed");
    }
    assert!(guesses >= 100, "{guesses}");
    // Guessers wait, here and elsewhere; so does who comes from nowhere.
    for stranger in ["198.51.100.0", "203.0.113.9"] {
        let refused = sign_in(&app, stranger, ADMIN, PASSWORD).await;
        assert!(!refused.header("retry-after").is_empty());
        refused.problem(429, "rate_limited");
    }
    sign_in(&app, HOME, ADMIN, PASSWORD).await.expect(200);
    // Another account that never signed in from there gains nothing by it.
    sign_in(&app, HOME, "ghost", "wrong")
        .await
        .problem(401, "unauthenticated");
}

#[tokio::test]
async fn guessing_where_the_owner_has_been_is_slowed_too() {
    let app = TestApp::new().await;
    sign_in(&app, HOME, ADMIN, PASSWORD).await.expect(200);
    for _ in 0..10 {
        sign_in(&app, HOME, ADMIN, "wrong")
            .await
            .problem(401, "unauthenticated");
    }
    sign_in(&app, HOME, ADMIN, PASSWORD)
        .await
        .problem(429, "rate_limited");
    sign_in(&app, "192.0.2.2", ADMIN, PASSWORD).await.expect(200);
}

/// What is logged while a test runs.
#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Captured {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn what_was_typed_as_the_name_is_kept_nowhere() {
    let captured = Captured::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(captured.clone())
        .with_ansi(false)
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    // With a second subscriber in the process every subscriber is asked, whichever test reaches a line first.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());

    let app = TestApp::new().await;
    let admin = app.admin().await;
    let id = admin.get("/auth/me").await.expect(200).json()["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    // A password, typed into the wrong field; often enough to be refused without being looked at, and to raise an alert.
    let typed = "violet harbour teapot";
    for guess in 0..60 {
        let answer = sign_in(&app, HOME, typed, "x").await;
        assert_eq!(answer.status.as_u16(), if guess < 10 { 401 } else { 429 });
        assert!(!answer.text().contains(typed));
    }
    sign_in(&app, "192.0.2.2", ADMIN, typed)
        .await
        .problem(401, "unauthenticated");
    toolgate::gateway::observe::flush(&app.gateway)
        .await
        .expect("written");

    let log = String::from_utf8(captured.0.lock().expect("no panic").clone()).expect("UTF-8");
    assert!(log.contains("sign-in refused"), "{log}");
    assert!(log.contains(&format!("sign-in refused user={id}")), "{log}");
    let mut outputs = vec![("log", log), ("metrics", app.gateway.metrics.render())];
    for path in ["/audit", "/alerts", "/status"] {
        outputs.push((path, admin.get(path).await.text()));
    }
    for (what, text) in outputs {
        assert!(!text.contains(typed), "{what} has what was typed: {text}");
    }
}

#[tokio::test]
async fn passwords_that_are_easy_to_guess_are_refused_wherever_one_is_chosen() {
    let app = TestApp::new().await;
    let admin = app.admin().await;
    let ada = json!({"username": "ada.lovelace", "display_name": "Augusta King", "password": PASSWORD});
    let ada = admin.post("/users", &ada).await.expect(201).json();
    let reset = format!("/users/{}/password", ada["id"].as_str().expect("an id"));
    let signed_in = sign_in(&app, HOME, "ada.lovelace", PASSWORD)
        .await
        .expect(200)
        .json();
    let own = app.client(signed_in["access_token"].as_str().expect("a token"));
    for password in [
        "password1234",
        "aaaaaaaaaaaa",
        "abcabcabcabc",
        "toolgate2026",
        "ada.lovelace",
        "augustaking1",
    ] {
        let create =
            json!({"username": "ada.lovelace", "display_name": "Augusta King", "password": password});
        let change = json!({"current": PASSWORD, "new": password});
        let answers = [
            (admin.post("/users", &create).await, "/password"),
            (
                admin.post(&reset, &json!({"password": password})).await,
                "/password",
            ),
            (own.post("/auth/password", &change).await, "/new"),
        ];
        for (answer, pointer) in answers {
            let problem = answer.problem(422, "invalid_request");
            let fault = &problem["errors"][0];
            assert_eq!(fault["pointer"], pointer, "{password}");
            let message = fault["message"].as_str().expect("a message");
            assert!(message.contains("too easy to guess: "), "{message}");
            assert!(!problem.to_string().contains(password), "{problem}");
        }
    }
    let change = json!({"current": PASSWORD, "new": "violet harbour teapot"});
    own.post("/auth/password", &change).await.expect(200);
}

#[tokio::test]
async fn the_first_administrator_gets_no_password_that_is_easy_to_guess() {
    let begin = async |password: &str| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let database = format!("sqlite:{}", folder.path().join("toolgate.db").display());
        let env = [
            ("TOOLGATE_DATABASE_URL", database.as_str()),
            ("TOOLGATE_ADMIN_PASSWORD", password),
        ];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let config = Config::load(&ServeArgs::default(), env, |path| std::fs::read_to_string(path));
        let config = config.expect("a configuration");
        start::start(config, Arc::new(SystemClock), Shutdown::new(), Metrics::new())
            .await
            .map(|started| started.first_admin.is_some())
            .map_err(|error| Value::from(error.to_string()))
    };
    for weak in ["admin", "password1234"] {
        let refused = begin(weak).await.expect_err("it is refused").to_string();
        assert!(
            refused.contains("TOOLGATE_ADMIN_PASSWORD is too easy to guess"),
            "{refused}"
        );
        assert!(!refused.contains(weak), "{refused}");
    }
    assert_eq!(begin(PASSWORD).await, Ok(true));
}
