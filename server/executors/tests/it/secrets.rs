//! A secret stays where it belongs.

use std::io::Write;
use std::sync::{Arc, Mutex};

use rstest::rstest;
use serde_json::{Value, json};
use tracing_subscriber::fmt::MakeWriter;

use crate::support::{Server, Step, answer, call, executors, tool};

const CANARY: &str = "canary-7f3a9c";
const BASIC: &str = "user:canary-7f3a9c";

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

/// The upstream quotes everything it received, in a success or an error.
#[rstest]
#[case::success(200)]
#[case::error(400)]
#[case::server_error(500)]
#[tokio::test]
async fn no_text_that_comes_back_holds_a_secret(#[case] status: u16) {
    let captured = Captured::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(captured.clone())
        .with_ansi(false)
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);

    for (auth, options) in [
        (json!({"env": "KEY"}), json!({"method": "POST"})),
        (
            json!({"env": "BASIC", "scheme": "basic"}),
            json!({"header": {"X-Token": "token"}}),
        ),
        (
            json!({"env": "KEY", "scheme": "header", "name": "X-Key"}),
            json!({"header": {"X-Token": "token"}}),
        ),
    ] {
        let encoded = if auth["scheme"] == "basic" {
            "dXNlcjpjYW5hcnktN2YzYTlj"
        } else {
            ""
        };
        let echo = format!(r#"{{"message":"you sent {CANARY} and {encoded}","{CANARY}":["x{CANARY}x"]}}"#);
        let bytes = answer(status, &[("content-type", "application/json")], echo);
        let server = Server::start([Step::Send(bytes)]).await;
        let executors = executors(
            &[&server.url],
            &[("KEY", CANARY), ("BASIC", BASIC), ("PARAM", CANARY)],
        );
        let mut http = json!({"base_url": server.url, "path": "/p/{id}", "query": {"argument": "argument"}, "auth": auth});
        let (Value::Object(fields), Value::Object(more)) = (&mut http, options) else {
            panic!("objects")
        };
        fields.extend(more);
        let tool = tool(json!({"envs": {"token": "PARAM"}, "http": http}));
        let arguments = json!({"id": "path-argument", "argument": "query-argument"});
        let outcome = executors.execute(&mut call(&tool, arguments)).await;
        assert_eq!(outcome.is_ok(), status == 200);
        let shown = format!("{outcome:?}");
        assert!(
            !shown.contains("canary") && !shown.contains("dXNlcjpjYW5hcnkt"),
            "{shown}"
        );

        let request = &server.requests()[0];
        let (target, rest) = request.split_once("\r\n").expect("a request line");
        assert!(!target.contains("canary"), "{target}");
        assert!(rest.contains("canary"), "the upstream did get it: {rest}");
    }

    drop(guard);
    let log = String::from_utf8(captured.0.lock().expect("no panic").clone()).expect("text");
    for forbidden in ["canary", "dXNlcjpjYW5hcnkt", "query-argument", "path-argument"] {
        assert!(!log.contains(forbidden), "{forbidden} in {log}");
    }
    if status != 200 {
        assert!(
            log.contains("127.0.0.1/p/{id}"),
            "the log names host and path template: {log}"
        );
    }
}

#[tokio::test]
async fn a_caller_cannot_overwrite_an_environment_parameter() {
    let server = Server::start([Step::Send(answer(204, &[], ""))]).await;
    let executors = executors(&[&server.url], &[("PARAM", CANARY)]);
    let tool = tool(json!({"envs": {"token": "PARAM"}, "http": {"base_url": server.url, "method": "POST"}}));
    executors
        .execute(&mut call(&tool, json!({"token": "mine"})))
        .await
        .expect("a result");
    assert!(server.requests()[0].ends_with(&format!(r#"{{"token":"{CANARY}"}}"#)));
}

#[tokio::test]
async fn the_services_mapping_wins() {
    let server = Server::start([Step::Send(answer(204, &[], ""))]).await;
    let executors = executors(
        &[&server.url],
        &[("PARAM", "from-the-tool"), ("OTHER", "from-the-service")],
    );
    let tool = tool(json!({"envs": {"token": "PARAM"}, "http": {"base_url": server.url, "method": "POST"}}));
    let mut invocation = call(&tool, json!({}));
    invocation.envs = Arc::new([("token".to_owned(), "OTHER".to_owned())].into());
    executors.execute(&mut invocation).await.expect("a result");
    assert!(server.requests()[0].ends_with(r#"{"token":"from-the-service"}"#));
}

/// The secrets of one project.
struct Named(&'static str, &'static str);

impl toolgate_executors::SecretSource for Named {
    fn get(&self, name: &str) -> Option<secrecy::SecretString> {
        (name == self.0).then(|| self.1.into())
    }
}

#[tokio::test]
async fn a_definition_may_name_secrets_of_its_project_beside_variables() {
    let echo = format!(r#"{{"you sent": "{CANARY}"}}"#);
    let bytes = answer(200, &[("content-type", "application/json")], echo);
    let server = Server::start([Step::Send(bytes)]).await;
    let executors = executors(&[&server.url], &[("PARAM", "from-the-environment")]);
    let tool = tool(json!({
        "envs": {"one": "secret:KEY", "two": "PARAM"},
        "http": {"base_url": server.url, "method": "POST", "auth": {"env": "secret:KEY"}},
    }));
    let mut invocation = call(&tool, json!({}));
    invocation.secrets = Some(Arc::new(Named("KEY", CANARY)));
    let execution = executors.execute(&mut invocation).await.expect("a result");
    assert_eq!(execution.result, json!({"you sent": "[redacted]"}));
    let request = &server.requests()[0];
    assert!(
        request.contains(&format!("authorization: Bearer {CANARY}")),
        "{request}"
    );
    let body = format!(r#"{{"one":"{CANARY}","two":"from-the-environment"}}"#);
    assert!(request.ends_with(&body), "{request}");
}

#[rstest]
#[case::no_such_secret(Some(Named("OTHER", CANARY)))]
#[case::no_secrets(None)]
#[case::empty(Some(Named("KEY", "")))]
#[tokio::test]
async fn a_secret_that_is_not_there_is_named(#[case] secrets: Option<Named>) {
    // A variable of the same name is no substitute.
    let executors = executors(&["http://127.0.0.1:9"], &[("KEY", "x"), ("secret:KEY", "x")]);
    let tool = tool(
        json!({"envs": {"token": "secret:KEY"}, "http": {"base_url": "http://127.0.0.1:9", "method": "POST"}}),
    );
    let mut invocation = call(&tool, json!({}));
    invocation.secrets =
        secrets.map(|secrets| Arc::new(secrets) as Arc<dyn toolgate_executors::SecretSource>);
    let failure = executors.execute(&mut invocation).await.expect_err("no request");
    assert_eq!(failure.code, toolgate_api::ErrorCode::ToolUnavailable);
    assert!(failure.message.contains("no secret KEY"), "{}", failure.message);
}
