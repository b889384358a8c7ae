//! A secret goes to its upstream and nowhere else: every output that there is, searched for it in every form.

mod forms;
mod outputs;

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use futures_util::StreamExt;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use toolgate::gateway::observe;
use toolgate::gateway::webhook;
use tracing_subscriber::fmt::MakeWriter;

use self::forms::{CANARY, KEY, assert_clean, hex};
use self::outputs::{check, check_everything_readable, check_files, check_tables};
use crate::postgres::new_database;
use crate::support::{TestApp, serve};

/// Answers with everything it was sent, in every form that an upstream may think of.
async fn repeat(uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let body = String::from_utf8_lossy(&body).into_owned();
    let sent: Vec<String> = headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    assert!(
        uri.path() == "/plain"
            || sent.iter().any(|line| line.contains(CANARY))
            || body.contains(&json!(CANARY).to_string()[1..8]),
        "the upstream gets the secret: {sent:?} {body}"
    );
    let encoded = utf8_percent_encode(CANARY, NON_ALPHANUMERIC).to_string();
    let all = json!({
        "message": format!("you sent {CANARY}, {encoded}, {}, {}", hex(CANARY), STANDARD.encode(CANARY)),
        "headers": sent,
        "body": body,
        CANARY: [STANDARD.encode(format!("user:{CANARY}")), URL_SAFE.encode(format!("{CANARY}!"))],
        "nested": json!({"text": CANARY}).to_string(),
        "upper": hex(CANARY).to_uppercase(),
    });
    let status = match uri.path() {
        "/400" => StatusCode::BAD_REQUEST,
        "/401" => StatusCode::UNAUTHORIZED,
        "/429" => StatusCode::TOO_MANY_REQUESTS,
        "/500" => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::OK,
    };
    let echo = [("x-echo", encoded.clone())];
    match uri.path() {
        "/text" => (echo, all.to_string()).into_response(),
        "/bytes" => (
            [(header::CONTENT_TYPE, "application/octet-stream")],
            format!("\u{1}\u{2}{CANARY}\u{3}"),
        )
            .into_response(),
        "/broken" => (
            [(header::CONTENT_TYPE, "application/json")],
            format!("{{{CANARY}"),
        )
            .into_response(),
        "/away" => (
            StatusCode::FOUND,
            [(
                header::LOCATION,
                format!("https://elsewhere.example/{encoded}?k={encoded}"),
            )],
        )
            .into_response(),
        _ => (status, echo, axum::Json(all)).into_response(),
    }
}

const PATHS: [&str; 10] = [
    "200", "400", "401", "429", "500", "text", "bytes", "broken", "away", "kept",
];

fn tools(base: &str) -> String {
    let mut tools = String::new();
    for path in PATHS {
        for (kind, how) in [
            ("header", "header: {X-Token: token}"),
            ("body", "method: POST, body: {inner: token}"),
            (
                "bearer",
                "header: {X-Token: token}, auth: {env: \"secret:CANARY\"}",
            ),
            (
                "basic",
                "header: {X-Token: token}, auth: {env: \"secret:BASIC\", scheme: basic}",
            ),
            (
                "keyed",
                "header: {X-Token: token}, auth: {env: \"secret:CANARY\", scheme: query, name: key}",
            ),
        ] {
            let result = match path {
                "kept" => ", result: {max_bytes: 100, beyond: keep}",
                _ => "",
            };
            tools.push_str(&format!(
                "---\nname: {kind}-{path}\ntype: openapi\ndescription: Sends a secret.\nparameters:\n  type: object\n  \
                 properties: {{token: {{type: string}}}}\noptions:\n  timeout_ms: 5000\n  envs: {{token: \"secret:CANARY\"}}\n  \
                 http: {{base_url: \"{base}\", path: /{path}, {how}{result}}}\n"
            ));
        }
    }
    // One that uses no secret: a caller sends it one.
    tools.push_str(&format!(
        "---\nname: plain\ntype: openapi\ndescription: Sends what it is given.\nparameters:\n  type: object\n  properties: {{q: {{}}}}\n  \
         additionalProperties: false\noptions:\n  http: {{base_url: \"{base}\", path: /plain, method: POST, body: {{q: q}}}}\n"
    ));
    tools
}

#[derive(Clone, Default)]
pub(crate) struct Captured(pub(crate) Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Captured {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// An upstream on loopback that keeps what arrives: the receiver of alerts and the project's agent.
async fn listener() -> (String, Arc<Mutex<Vec<(String, Vec<u8>)>>>) {
    let arrived = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&arrived);
    let take = move |uri: Uri, headers: HeaderMap, body: Bytes| {
        let whole = [format!("{uri} {headers:?}").as_bytes(), &body].concat();
        kept.lock()
            .expect("no panic")
            .push((uri.path().to_owned(), whole));
        async { axum::Json(json!({"answer": "done"})) }
    };
    (serve(Router::new().fallback(take)).await, arrived)
}

#[tokio::test]
async fn a_secret_is_in_nothing_that_comes_out() {
    search(None).await;
}

#[tokio::test]
async fn a_secret_is_in_nothing_that_comes_out_on_postgresql() {
    search(Some(new_database().await)).await;
}

/// Uses a secret in every way there is, and searches every output for it. The only place that it must reach is the tool's
/// upstream, which [`repeat`] asserts; the receiver of alerts gets a signature that was made with it, and nothing else does.
async fn search(postgresql: Option<String>) {
    let captured = Captured::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(captured.clone())
        .with_ansi(false)
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    // While there is only one subscriber in the process, lines that another test's thread reaches first are taken to
    // interest no subscriber. With a second one every subscriber is asked.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());

    let base = serve(Router::new().fallback(repeat)).await;
    let (others, arrived) = listener().await;
    let allowed = format!("{base},{others}");
    let mut settings = vec![
        ("TOOLGATE_SECRETS_KEY", KEY),
        ("TOOLGATE_EGRESS_ALLOW", allowed.as_str()),
    ];
    settings.extend(postgresql.as_deref().map(|url| ("TOOLGATE_DATABASE_URL", url)));
    let app = TestApp::with(&settings).await;
    assert_clean(
        "the summary of the configuration",
        app.gateway.config.summary().as_bytes(),
    );
    assert_clean(
        "the configuration",
        format!("{:?}", app.gateway.config).as_bytes(),
    );
    let admin = app.demo().await;
    let auditor = app.key(&admin, "demo", "auditor", &["*"]).await;
    let stream = auditor.open("/projects/demo/audit/stream", &[]).await;
    let mut stream = stream.into_body().into_data_stream();

    for (name, value) in [("CANARY", CANARY.to_owned()), ("BASIC", format!("user:{CANARY}"))] {
        let path = format!("/projects/demo/secrets/{name}");
        let (status, _) = check(&admin, Method::PUT, &path, Some(&json!({ "value": value }))).await;
        assert_eq!(status, StatusCode::CREATED);
    }
    // Refused values are not repeated either.
    let bad = json!({"value": CANARY, "more": 1});
    check(&admin, Method::PUT, "/projects/demo/secrets/CANARY", Some(&bad)).await;
    let wrong = json!({ "value": [CANARY] });
    check(&admin, Method::PUT, "/projects/demo/secrets/CANARY", Some(&wrong)).await;
    check(
        &admin,
        Method::PUT,
        "/projects/demo/secrets/2BAD",
        Some(&json!({ "value": CANARY })),
    )
    .await;

    let uploaded = admin
        .upload("/projects/demo/tools", &tools(&base))
        .await
        .expect(201);
    assert_clean("the upload", &uploaded.body);

    let (mut succeeded, mut failed, mut kept, mut call_id) = (0, 0, 0, String::new());
    for path in PATHS {
        for kind in ["header", "body", "bearer", "basic", "keyed"] {
            // A caller cannot overwrite it, and cannot read it back.
            let body = json!({"tool": format!("{kind}-{path}"), "arguments": {"token": "mine"}});
            let (status, answer) = check(&admin, Method::POST, "/projects/demo/calls", Some(&body)).await;
            assert_eq!(status, StatusCode::OK, "{}", String::from_utf8_lossy(&answer));
            let answer: Value = serde_json::from_slice(&answer).expect("JSON");
            call_id = answer["call_id"].as_str().expect("an id").to_owned();
            let invoke = format!("/projects/demo/tools/{kind}-{path}/invoke");
            check(&admin, Method::POST, &invoke, Some(&body["arguments"])).await;
            if answer["status"] == "succeeded" {
                if let Some(href) = answer["notes"]["artifact"]["href"].as_str() {
                    let (_, whole) = check(&admin, Method::GET, href, None).await;
                    assert!(String::from_utf8_lossy(&whole).contains("[redacted]"));
                    kept += 1;
                } else {
                    assert!(
                        path == "bytes" || answer.to_string().contains("[redacted]"),
                        "{answer}"
                    );
                }
                succeeded += 1;
            } else {
                failed += 1;
            }
        }
    }
    assert_eq!(
        (succeeded, failed, kept),
        (20, 30, 5),
        "200, text, bytes and kept succeed in five ways each"
    );

    // A caller that knows the secret sends it along, in whatever form and place.
    let percent = utf8_percent_encode(CANARY, NON_ALPHANUMERIC).to_string();
    for arguments in [
        json!({ "q": CANARY }),
        json!({ "q": format!("{}{CANARY}", "x".repeat(990)) }),
        json!({ "q": [percent.clone(), percent.to_lowercase(), {CANARY: {"deep": STANDARD.encode(format!("u:{CANARY}"))}}] }),
        json!({ CANARY: 1 }),
    ] {
        let body = json!({"tool": "plain", "arguments": arguments});
        let (status, answer) = check(&admin, Method::POST, "/projects/demo/calls", Some(&body)).await;
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        if arguments["q"].is_null() {
            assert_eq!(
                (status, &answer["code"]),
                (StatusCode::UNPROCESSABLE_ENTITY, &json!("invalid_arguments"))
            );
        } else {
            assert_eq!(answer["status"], "succeeded", "{answer}");
            check(&admin, Method::POST, "/projects/demo/explain", Some(&body)).await;
        }
        let body = json!({"tool": "no-such-tool", "arguments": arguments, "state": CANARY});
        let request = admin
            .request(Method::POST, "/projects/demo/calls")
            .header(header::CONTENT_TYPE, "application/json");
        // The answer repeats the state to its caller; nothing else does.
        let refused = admin
            .send(request.body(body.to_string().into()).expect("a request"))
            .await;
        assert!(refused.status.is_client_error());
    }

    // The secret signs what is sent to the webhook; the webhook itself never sees it.
    let watched = json!({
        "agent_endpoint": format!("{others}/agent"),
        "webhook": {"url": format!("{others}/hook"), "secret": "CANARY"},
        "alerts": {"escalation_attempts": 1},
    });
    let (status, _) = check(&admin, Method::PUT, "/projects/demo/settings", Some(&watched)).await;
    assert_eq!(status, StatusCode::OK);
    let agent = app.key(&admin, "demo", "agent", &[]).await;
    let refused = json!({"tool": "header-200", "group": ["default"]});
    let (status, _) = check(&agent, Method::POST, "/projects/demo/calls", Some(&refused)).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    observe::flush(&app.gateway).await.expect("stored");
    webhook::deliver(&app.gateway).await.expect("sent");

    for (path, body) in [
        ("resolve", json!({"group": ["*"]})),
        ("explain", json!({"tool": "header-200"})),
        ("agent-requests", json!({"question": "what can you do?"})),
        ("recommendations", json!({"question": "sends a secret"})),
        ("sessions", json!({})),
        ("tools/header-200/restore", json!({})),
    ] {
        check(
            &admin,
            Method::POST,
            &format!("/projects/demo/{path}"),
            Some(&body),
        )
        .await;
    }
    let arrived = arrived.lock().expect("no panic").clone();
    for (path, whole) in &arrived {
        assert_clean(&format!("what {path} received"), whole);
    }
    let mut places: Vec<&str> = arrived.iter().map(|(path, _)| path.as_str()).collect();
    places.sort_unstable();
    assert_eq!(places, ["/agent", "/hook"]);
    let signed = arrived
        .iter()
        .any(|(path, whole)| path == "/hook" && String::from_utf8_lossy(whole).contains("webhook-signature"));
    assert!(signed, "the message is signed with the secret");
    for client in [&admin, &auditor] {
        let read = check_everything_readable(client, &call_id).await;
        assert!(read > 10, "{read} pages were read");
    }
    let (_, record) = check(
        &auditor,
        Method::GET,
        &format!("/projects/demo/audit?id={call_id}"),
        None,
    )
    .await;
    assert!(String::from_utf8_lossy(&record).contains(&call_id));
    let (status, metrics) = check(&admin, Method::GET, "/metrics", None).await;
    assert_eq!(status, StatusCode::OK);
    assert!(
        String::from_utf8_lossy(&metrics).contains("header-200"),
        "the metrics name the tools"
    );

    let mut streamed = Vec::new();
    while !String::from_utf8_lossy(&streamed).contains(&call_id) {
        let part = tokio::time::timeout(Duration::from_secs(20), stream.next()).await;
        let part = part.expect("the stream goes on").expect("it has not ended");
        streamed.extend_from_slice(&part.expect("it can be read"));
    }
    drop(stream);
    assert_clean("the stream of records", &streamed);

    toolgate::gateway::secrets::keep_uses(&app.gateway)
        .await
        .expect("kept");
    match &postgresql {
        Some(url) => check_tables(url).await,
        None => {
            let database = app.gateway.config.database_url.expose_secret();
            let file = Path::new(database.trim_start_matches("sqlite:"));
            check_files(file.parent().expect("a folder"));
        }
    }

    drop(guard);
    let log = captured.0.lock().expect("no panic").clone();
    assert!(log.len() > 10_000, "something was logged");
    assert_clean("the log", &log);
}
