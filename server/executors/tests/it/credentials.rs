//! Credentials in every place, and access tokens of OAuth 2 clients.

use std::io::Write;
use std::sync::{Arc, Mutex};

use rstest::rstest;
use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_core::definition::model::ToolDefinition;
use tracing_subscriber::fmt::MakeWriter;

use crate::support::{Server, Step, answer, call, executors, ok, tool};

const CANARY: &str = "canary-7f3a9c/+=&";
const ENVS: [(&str, &str); 3] = [
    ("KEY", CANARY),
    ("ID", "client-1"),
    ("SECRET", "canary-client-secret"),
];

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

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

/// Whether a text holds one of the secrets in any form.
fn leaks(text: &str) -> bool {
    text.contains("canary") || text.contains("Y2FuYXJ5")
}

#[rstest]
#[case::query(json!({"scheme": "query", "env": "KEY", "name": "api_key"}), json!({}),
    "GET /p?api_key=canary-7f3a9c%2F%2B%3D%26 HTTP/1.1")]
#[case::query_beside_others(json!({"scheme": "query", "env": "KEY", "name": "k"}), json!({"a": 1}),
    "GET /p?a=1&k=canary-7f3a9c%2F%2B%3D%26 HTTP/1.1")]
#[case::cookie(json!({"scheme": "cookie", "env": "KEY", "name": "sid"}), json!({}), "cookie: sid=canary-7f3a9c/+=&")]
#[tokio::test]
async fn a_credential_is_where_it_should_be_and_nowhere_else(
    #[case] auth: Value,
    #[case] arguments: Value,
    #[case] expected: &str,
    #[values(200, 404)] status: u16,
) {
    let captured = Captured::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(captured.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let echo = format!(r#"{{"message":"you sent {CANARY} and canary-7f3a9c%2F%2B%3D%26"}}"#);
    let bytes = answer(status, &[("content-type", "application/json")], echo);
    let server = Server::start([Step::Send(bytes)]).await;
    let executors = executors(&[&server.url], &ENVS);
    let tool = tool(json!({"http": {"base_url": server.url, "path": "/p", "auth": auth}}));
    let outcome = executors.execute(&mut call(&tool, arguments)).await;
    assert_eq!(outcome.is_ok(), status == 200);
    let shown = format!("{outcome:?}");
    assert!(!leaks(&shown), "{shown}");
    let request = &server.requests()[0];
    assert!(request.contains(expected), "{request}");
    drop(guard);
    let log = String::from_utf8(captured.0.lock().expect("no panic").clone()).expect("text");
    assert!(!leaks(&log), "{log}");
}

#[tokio::test]
async fn a_redirect_takes_no_credential_to_another_origin() {
    let other = Server::start([Step::Send(ok("{}"))]).await;
    let to = format!("{}/elsewhere", other.url);
    let server = Server::start([Step::Send(answer(302, &[("location", &to)], ""))]).await;
    let executors = executors(&[&server.url, &other.url], &ENVS);
    for auth in [
        json!({"scheme": "query", "env": "KEY", "name": "api_key"}),
        json!({"scheme": "cookie", "env": "KEY", "name": "sid"}),
    ] {
        let tool = tool(json!({"http": {"base_url": server.url, "auth": auth}}));
        executors
            .execute(&mut call(&tool, json!({})))
            .await
            .expect("a result");
    }
    let requests = other.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests.iter().all(|request| !leaks(request)), "{requests:?}");

    // An upstream that copies the query into the location must not make us carry it there.
    let to = format!("{}/?api_key=canary-7f3a9c%2F%2B%3D%26", other.url);
    let copying = Server::start([Step::Send(answer(302, &[("location", &to)], ""))]).await;
    let executors = crate::support::executors(&[&copying.url, &other.url], &ENVS);
    let auth = json!({"scheme": "query", "env": "KEY", "name": "api_key"});
    let tool = tool(json!({"http": {"base_url": copying.url, "auth": auth}}));
    let failure = executors
        .execute(&mut call(&tool, json!({})))
        .await
        .expect_err("refused");
    assert_eq!(failure.code, ErrorCode::EgressDenied);
    assert!(!leaks(&format!("{failure:?}")));
    assert_eq!(other.requests().len(), 2, "nothing was sent there");
}

fn oauth(upstream: &Server, tokens: &Server, more: Value, method: &str) -> Arc<ToolDefinition> {
    let mut client =
        json!({"token_url": format!("{}/token", tokens.url), "client_id": "ID", "client_secret": "SECRET"});
    if let (Value::Object(client), Value::Object(more)) = (&mut client, more) {
        client.extend(more);
    }
    tool(json!({"http": {"base_url": upstream.url, "method": method,
        "auth": {"scheme": "oauth2", "client": client}}}))
}

fn token(value: &str, expires_in: u32) -> Step {
    let body = json!({"access_token": value, "token_type": "bearer", "expires_in": expires_in});
    Step::Send(ok(&body.to_string()))
}

#[rstest]
#[case::basic(json!({}), "authorization: Basic Y2xpZW50LTE6Y2FuYXJ5LWNsaWVudC1zZWNyZXQ=",
    "grant_type=client_credentials")]
#[case::body(json!({"auth_style": "body", "scopes": ["a", "b:c"], "audience": "https://x"}), "",
    "grant_type=client_credentials&scope=a+b%3Ac&audience=https%3A%2F%2Fx&client_id=client-1&client_secret=canary-client-secret")]
#[tokio::test]
async fn a_token_is_fetched_once_and_presented(
    #[case] more: Value,
    #[case] header: &str,
    #[case] body: &str,
) {
    let tokens = Server::start([token("canary-token-1", 3600)]).await;
    let upstream = Server::start([Step::Send(ok(r#"{"you":"canary-token-1"}"#))]).await;
    let executors = executors(&[&upstream.url, &tokens.url], &ENVS);
    let tool = oauth(&upstream, &tokens, more, "GET");
    for _ in 0..3 {
        let execution = executors
            .execute(&mut call(&tool, json!({})))
            .await
            .expect("a result");
        assert_eq!(execution.result, json!({"you": "[redacted]"}));
    }
    let [request] = &tokens.requests()[..] else {
        panic!("one request for a token: {:?}", tokens.requests())
    };
    assert!(request.starts_with("POST /token "), "{request}");
    assert!(request.contains(header), "{request}");
    assert!(request.ends_with(&format!("\r\n\r\n{body}")), "{request}");
    let seen = upstream.requests();
    assert_eq!(seen.len(), 3);
    assert!(
        seen.iter()
            .all(|request| request.contains("authorization: Bearer canary-token-1"))
    );
}

#[tokio::test]
async fn calls_at_the_same_time_share_one_request_for_a_token() {
    let tokens = Server::start([token("t", 3600)]).await;
    let upstream = Server::start([Step::Send(ok("{}"))]).await;
    let executors = executors(&[&upstream.url, &tokens.url], &ENVS);
    let tool = oauth(&upstream, &tokens, json!({}), "GET");
    let calls = (0..20).map(async |_| executors.execute(&mut call(&tool, json!({}))).await);
    for outcome in futures(calls).await {
        outcome.expect("a result");
    }
    assert_eq!(tokens.requests().len(), 1);
    assert_eq!(upstream.requests().len(), 20);
}

/// All of them at the same time.
async fn futures<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut pending: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        let mut ready = true;
        for (future, output) in &mut pending {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(value) => *output = Some(value),
                    std::task::Poll::Pending => ready = false,
                }
            }
        }
        if ready {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    pending.into_iter().filter_map(|(_, output)| output).collect()
}

#[tokio::test]
async fn a_token_at_its_end_is_not_used_again() {
    let tokens = Server::start([token("first", 0), token("second", 3600)]).await;
    let upstream = Server::start([Step::Send(ok("{}"))]).await;
    let executors = executors(&[&upstream.url, &tokens.url], &ENVS);
    let tool = oauth(&upstream, &tokens, json!({}), "GET");
    for _ in 0..3 {
        executors
            .execute(&mut call(&tool, json!({})))
            .await
            .expect("a result");
    }
    let seen = upstream.requests();
    let used = |at: usize, token: &str| seen[at].contains(&format!("Bearer {token}"));
    assert!(
        used(0, "first") && used(1, "second") && used(2, "second"),
        "{seen:?}"
    );
}

#[rstest]
#[case::may_be_sent_twice("GET", &["old", "new"], true)]
#[case::may_not("POST", &["old"], false)]
#[tokio::test]
async fn a_refused_token_is_forgotten(
    #[case] method: &str,
    #[case] presented: &[&str],
    #[case] succeeds: bool,
) {
    let tokens = Server::start([token("old", 3600), token("new", 3600)]).await;
    let upstream = Server::start([Step::Send(answer(401, &[], "")), Step::Send(ok("{}"))]).await;
    let executors = executors(&[&upstream.url, &tokens.url], &ENVS);
    let tool = oauth(&upstream, &tokens, json!({}), method);
    let outcome = executors.execute(&mut call(&tool, json!({}))).await;
    assert_eq!(outcome.is_ok(), succeeds);
    if let Err(failure) = outcome {
        assert_eq!(failure.code, ErrorCode::UpstreamAuth);
    }
    assert_eq!(upstream.requests().len(), presented.len());
    // The next call uses the new one, whatever became of the first.
    executors
        .execute(&mut call(&tool, json!({})))
        .await
        .expect("a result");
    let seen = upstream.requests();
    for (request, token) in seen.iter().zip(presented) {
        assert!(request.contains(&format!("Bearer {token}")), "{request}");
    }
    assert!(seen.last().expect("a request").contains("Bearer new"));
    assert_eq!(tokens.requests().len(), 2);
}

#[tokio::test]
async fn a_refused_client_is_reported_without_its_secret() {
    let said = json!({"error": "invalid_client", "error_description": "no client with canary-client-secret"});
    let refusal = answer(400, &[("content-type", "application/json")], said.to_string());
    let tokens = Server::start([Step::Send(refusal)]).await;
    let upstream = Server::start([Step::Send(ok("{}"))]).await;
    let executors = executors(&[&upstream.url, &tokens.url], &ENVS);
    let tool = oauth(&upstream, &tokens, json!({}), "GET");
    let failure = executors
        .execute(&mut call(&tool, json!({})))
        .await
        .expect_err("refused");
    assert_eq!(failure.code, ErrorCode::UpstreamAuth);
    assert_eq!(
        failure.upstream_message.as_deref(),
        Some("no client with [redacted]")
    );
    assert!(upstream.requests().is_empty());
}

#[tokio::test]
async fn the_token_endpoint_passes_the_same_gates() {
    let tokens = Server::start([token("t", 3600)]).await;
    let upstream = Server::start([Step::Send(ok("{}"))]).await;
    let executors = executors(&[&upstream.url], &ENVS);
    let tool = oauth(&upstream, &tokens, json!({}), "GET");
    let failure = executors
        .execute(&mut call(&tool, json!({})))
        .await
        .expect_err("refused");
    assert_eq!(failure.code, ErrorCode::EgressDenied);
    assert!(tokens.requests().is_empty() && upstream.requests().is_empty());
    let invocation = call(&tool, json!({}));
    let foreseen = executors.foresee(
        &invocation.project,
        (&tool, None),
        &invocation.envs,
        None,
        toolgate_executors::Reach::default(),
    );
    assert_eq!(foreseen.expect_err("foreseen").code, ErrorCode::EgressDenied);
}

#[tokio::test]
async fn a_client_without_its_secret_is_a_fault_of_the_configuration() {
    let tokens = Server::start([token("t", 3600)]).await;
    let upstream = Server::start([Step::Send(ok("{}"))]).await;
    let executors = executors(&[&upstream.url, &tokens.url], &[("ID", "client-1")]);
    let tool = oauth(&upstream, &tokens, json!({}), "GET");
    let failure = executors
        .execute(&mut call(&tool, json!({})))
        .await
        .expect_err("refused");
    assert_eq!(failure.code, ErrorCode::ToolUnavailable);
    assert!(failure.message.contains("SECRET"), "{}", failure.message);
}
