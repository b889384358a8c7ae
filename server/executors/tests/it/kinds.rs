//! A further kind of executor plugs in, and has the guards around it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::time::Instant;
use toolgate_api::{ErrorCode, JsonText};
use toolgate_core::definition::{ExecutorKind, ServiceDefinition, ToolDefinition};
use toolgate_executors::{
    Circumstances, Execution, Executor, Executors, Failure, Invocation, Key, Planned, Prepared, Reach, Reply,
    Scope, Secrets,
};

use crate::support::{call, config};

/// Answers what it was asked, after a while. The argument `fail` makes it fail.
#[derive(Default)]
struct Echo {
    prepared: Arc<AtomicUsize>,
    runs: Arc<AtomicUsize>,
}

impl Executor for Echo {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Bus
    }

    fn prepare(
        &self,
        definition: &Arc<ToolDefinition>,
        service: Option<&Arc<ServiceDefinition>>,
    ) -> Result<Box<dyn Prepared>, Failure> {
        self.prepared.fetch_add(1, Ordering::Relaxed);
        let subject = definition.target_subject.clone();
        Ok(Box::new(EchoTool {
            label: subject.ok_or_else(|| Failure::misconfigured("no subject"))?,
            service: service.map(|service| service.id.to_string()),
            runs: Arc::clone(&self.runs),
        }))
    }
}

struct EchoTool {
    label: String,
    service: Option<String>,
    runs: Arc<AtomicUsize>,
}

#[async_trait]
impl Prepared for EchoTool {
    fn label(&self) -> &str {
        &self.label
    }

    fn host(&self) -> Option<&str> {
        Some("bus.example")
    }

    fn foresee(&self, circumstances: Circumstances<'_>) -> Result<(), Failure> {
        circumstances.values.all(circumstances.envs).map(drop)
    }

    async fn plan<'a>(
        &'a self,
        call: &mut Invocation,
        scope: Scope<'_>,
    ) -> Result<Box<dyn Planned + 'a>, Failure> {
        let mut secrets = Secrets::default();
        for value in scope.values.all(&call.envs)?.values() {
            secrets.add(value);
        }
        let mut sent = Value::Object(std::mem::take(&mut call.arguments));
        sent["service"] = json!(self.service);
        let mut key = Key::default();
        key[0] = sent["n"].as_u64().and_then(|n| u8::try_from(n).ok()).unwrap_or(0);
        Ok(Box::new(EchoCall {
            sent,
            secrets,
            key: scope.wants_key.then_some(key),
            runs: Arc::clone(&self.runs),
        }))
    }
}

struct EchoCall {
    sent: Value,
    secrets: Secrets,
    key: Option<Key>,
    runs: Arc<AtomicUsize>,
}

#[async_trait]
impl Planned for EchoCall {
    fn secrets(&mut self) -> &mut Secrets {
        &mut self.secrets
    }

    fn key(&self) -> Option<Key> {
        self.key
    }

    async fn run(&mut self, _deadline: Instant) -> Result<Reply, Failure> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(self.sent["ms"].as_u64().unwrap_or(0))).await;
        if let Some(code) = self.sent["fail"].as_str() {
            return Err(Failure::new(ErrorCode::UpstreamUnavailable, code));
        }
        Ok(Reply::from(Execution {
            result: JsonText::from(&self.sent),
            usage: None,
            notes: None,
            artifact: None,
        }))
    }
}

struct Setup {
    executors: Executors,
    prepared: Arc<AtomicUsize>,
    runs: Arc<AtomicUsize>,
}

fn setup() -> Setup {
    let echo = Echo::default();
    let (prepared, runs) = (Arc::clone(&echo.prepared), Arc::clone(&echo.runs));
    let executors = Executors::new(config(&[], &[("KEY", "correct-horse-battery")])).with(Arc::new(echo));
    Setup {
        executors,
        prepared,
        runs,
    }
}

fn worker(options: &Value) -> Arc<ToolDefinition> {
    let definition = json!({
        "name": "demo", "type": "worker", "target_subject": "cmd.tool.demo", "parameters": {"type": "object"}, "options": options,
    });
    Arc::new(serde_json::from_value(definition).expect("a valid definition"))
}

#[tokio::test]
async fn a_kind_without_an_executor_is_refused_and_one_with_it_is_prepared_once() {
    let tool = worker(&json!({}));
    let without = Executors::new(config(&[], &[]));
    assert!(!without.executes().contains(ExecutorKind::Bus));
    let failure = without
        .execute(&mut call(&tool, json!({})))
        .await
        .expect_err("no bus");
    assert_eq!(failure.code, ErrorCode::ToolUnavailable);
    assert!(failure.message.contains("no message bus"), "{}", failure.message);

    let Setup {
        executors, prepared, ..
    } = setup();
    assert!(executors.executes().contains(ExecutorKind::Bus));
    for n in 0..3 {
        let execution = executors
            .execute(&mut call(&tool, json!({"n": n})))
            .await
            .expect("a result");
        assert_eq!(execution.result, json!({"n": n, "service": null}));
    }
    assert_eq!(prepared.load(Ordering::Relaxed), 1);

    let service: Arc<ServiceDefinition> =
        Arc::new(serde_json::from_value(json!({"id": "s"})).expect("a service"));
    let mut invocation = call(&tool, json!({}));
    invocation.service = Some(Arc::clone(&service));
    let execution = executors.execute(&mut invocation).await.expect("a result");
    assert_eq!(execution.result, json!({"service": "s"}));
    assert_eq!(
        prepared.load(Ordering::Relaxed),
        2,
        "another service is another revision"
    );
}

#[tokio::test(start_paused = true)]
async fn time_out_breaker_and_reports_are_around_it() {
    let Setup { executors, runs, .. } = setup();
    let tool = worker(&json!({"timeout_ms": 100, "breaker": {"failures": 2, "open_s": 60}}));
    let project = call(&tool, json!({})).project;
    let failure = executors
        .execute(&mut call(&tool, json!({"ms": 500})))
        .await
        .expect_err("too slow");
    assert_eq!(failure.code, ErrorCode::Timeout);
    let failure = executors
        .execute(&mut call(&tool, json!({"fail": "gone"})))
        .await
        .expect_err("it fails");
    assert_eq!(failure.code, ErrorCode::UpstreamUnavailable);
    let failure = executors
        .execute(&mut call(&tool, json!({})))
        .await
        .expect_err("the breaker is open");
    assert_eq!(
        (failure.code, failure.retryable),
        (ErrorCode::ToolUnavailable, true)
    );
    assert_eq!(runs.load(Ordering::Relaxed), 2);
    let upstreams = executors.tool_upstreams(&project);
    assert_eq!(upstreams.len(), 1);
    assert_eq!(
        (upstreams[0].host.as_str(), upstreams[0].failures),
        ("bus.example", 2)
    );
    let foreseen = executors.foresee(&project, (&tool, None), &BTreeMap::new(), None, Reach::default());
    assert_eq!(
        foreseen.expect_err("the breaker is open").code,
        ErrorCode::ToolUnavailable
    );
}

#[tokio::test(start_paused = true)]
async fn concurrency_and_the_answer_cache_are_around_it() {
    let Setup { executors, runs, .. } = setup();
    let narrow = worker(&json!({"concurrency": 1}));
    let mut calls = [(); 2].map(|()| call(&narrow, json!({"ms": 5000})));
    let [first, second] = &mut calls;
    let (first, second) = tokio::join!(executors.execute(first), executors.execute(second));
    first.expect("the only place");
    assert_eq!(second.expect_err("no place").code, ErrorCode::ToolUnavailable);
    assert_eq!(runs.load(Ordering::Relaxed), 1);

    let cached = worker(&json!({"cache": {"ttl_s": 60}}));
    for n in [1, 1, 2, 1] {
        let execution = executors
            .execute(&mut call(&cached, json!({"n": n})))
            .await
            .expect("a result");
        assert_eq!(execution.result, json!({"n": n, "service": null}));
    }
    assert_eq!(runs.load(Ordering::Relaxed), 3, "two further calls ran");
}

#[tokio::test]
async fn redaction_and_the_shape_of_results_are_around_it() {
    let Setup { executors, .. } = setup();
    let tool = worker(&json!({"envs": {"key": "KEY"}, "result": {"select": "$.said"}}));
    let execution = executors
        .execute(&mut call(&tool, json!({"said": "correct-horse-battery"})))
        .await
        .expect("a result");
    assert_eq!(execution.result, json!("[redacted]"));
    let failure = executors
        .execute(&mut call(&tool, json!({"fail": "bad correct-horse-battery"})))
        .await
        .expect_err("it fails");
    assert_eq!(failure.message, "bad [redacted]");
    let unset = worker(&json!({"envs": {"key": "OTHER"}}));
    let failure = executors
        .execute(&mut call(&unset, json!({})))
        .await
        .expect_err("no value");
    assert_eq!(failure.code, ErrorCode::ToolUnavailable);
}
