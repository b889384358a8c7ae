//! Answers that are in the definition.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use toolgate_api::ErrorCode;
use toolgate_api::calls::CallContext;
use toolgate_core::arguments::TemplateContext;
use toolgate_core::definition::model::ToolDefinition;
use toolgate_executors::SecretSource;

use crate::support::{call, config, executors};

fn fixed(answer: &Value, more: Value) -> Arc<ToolDefinition> {
    let mut options = json!({"static": answer});
    if let (Value::Object(options), Value::Object(more)) = (&mut options, more) {
        options.extend(more);
    }
    let definition =
        json!({"name": "demo", "type": "static", "parameters": {"type": "object"}, "options": options});
    Arc::new(serde_json::from_value(definition).expect("a valid definition"))
}

#[tokio::test]
async fn the_result_has_the_values_of_the_call() {
    let executors = executors(&[], &[]);
    let tool = fixed(
        &json!({"result": {"text": "{arguments.city} is open for {agent_id}", "days": "{arguments.days}"}}),
        json!({}),
    );
    let mut invocation = call(&tool, json!({"city": "Ulm", "days": [1, 2]}));
    let context = CallContext {
        agent_id: Some("ada".to_owned()),
        ..CallContext::default()
    };
    invocation.context = TemplateContext::new(&invocation.project, Some(&context));
    let execution = executors.execute(&mut invocation).await.expect("a result");
    assert_eq!(
        execution.result,
        json!({"text": "Ulm is open for ada", "days": [1, 2]})
    );
    let failure = executors
        .execute(&mut call(&tool, json!({"city": "Ulm"})))
        .await
        .expect_err("there is no agent");
    assert_eq!(failure.code, ErrorCode::InvalidArguments);
    assert!(
        failure.message.contains("send agent_id in the call's context"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn a_failure_is_what_the_definition_says_and_opens_the_breaker_like_any_other() {
    let executors = executors(&[], &[]);
    let tool = fixed(
        &json!({"error": {"message": "no {arguments.what} today", "code": "upstream_unavailable", "retry_after_s": 7}}),
        json!({"breaker": {"failures": 2, "open_s": 600}}),
    );
    for _ in 0..2 {
        let failure = executors
            .execute(&mut call(&tool, json!({"what": "fish"})))
            .await
            .expect_err("a failure");
        assert_eq!(failure.code, ErrorCode::UpstreamUnavailable);
        assert_eq!(failure.message, "no fish today");
        assert_eq!((failure.retryable, failure.retry_after_s), (true, Some(7)));
    }
    let refused = executors
        .execute(&mut call(&tool, json!({"what": "fish"})))
        .await
        .expect_err("the breaker is open");
    assert_eq!(refused.code, ErrorCode::ToolUnavailable);
    let project = call(&tool, json!({})).project;
    assert_eq!(executors.open_breakers().len(), 1);
    assert_eq!(
        executors.tool_upstreams(&project),
        [],
        "there is no upstream to report"
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_takes_as_long_as_it_says_or_times_out() {
    let executors = executors(&[], &[]);
    let start = Instant::now();
    let slow = fixed(
        &json!({"result": 1, "delay_ms": 1500}),
        json!({"timeout_ms": 2000}),
    );
    executors
        .execute(&mut call(&slow, json!({})))
        .await
        .expect("a result");
    assert_eq!(start.elapsed().as_millis(), 1500);
    let slower = fixed(
        &json!({"result": 1, "delay_ms": 3000}),
        json!({"timeout_ms": 2000}),
    );
    let failure = executors
        .execute(&mut call(&slower, json!({})))
        .await
        .expect_err("too slow");
    assert_eq!(failure.code, ErrorCode::Timeout);
    assert_eq!(start.elapsed(), Duration::from_millis(3500));
}

#[tokio::test]
async fn the_answer_is_shaped_and_bounded_like_any_other() {
    let mut config = config(&[], &[]);
    config.max_response_bytes = 100;
    let executors = toolgate_executors::Executors::new(config);
    let selected = fixed(
        &json!({"result": {"items": [{"n": 1}, {"n": 2}], "next": "p2"}}),
        json!({"result": {"select": "$.items[*].n", "next": "$.next"}}),
    );
    let execution = executors
        .execute(&mut call(&selected, json!({})))
        .await
        .expect("a result");
    assert_eq!(execution.result, json!([1, 2]));
    assert_eq!(
        execution.notes.and_then(|notes| notes.next).as_deref(),
        Some("p2")
    );

    let repeated = fixed(&json!({"result": "{arguments.a}-".repeat(50)}), json!({}));
    let failure = executors
        .execute(&mut call(&repeated, json!({"a": "xxxxxxxxxx"})))
        .await
        .expect_err("too large");
    assert_eq!(failure.code, ErrorCode::InvalidArguments);
}

/// A project with one secret, which a caller sends as an argument.
struct Known;

impl SecretSource for Known {
    fn get(&self, _name: &str) -> Option<secrecy::SecretString> {
        None
    }

    fn known(&self) -> Option<Arc<toolgate_executors::Secrets>> {
        let mut secrets = toolgate_executors::Secrets::default();
        secrets.add(&"correct-horse-battery".into());
        Some(Arc::new(secrets))
    }
}

#[tokio::test]
async fn secrets_of_the_project_are_masked_by_the_guards() {
    let executors = executors(&[], &[]);
    let arguments = json!({"a": "correct-horse-battery"});
    let tool = fixed(&json!({"result": ["got {arguments.a}"]}), json!({}));
    let mut invocation = call(&tool, arguments.clone());
    invocation.secrets = Some(Arc::new(Known));
    let execution = executors.execute(&mut invocation).await.expect("a result");
    assert_eq!(execution.result, json!(["got [redacted]"]));
    let tool = fixed(&json!({"error": {"message": "not {arguments.a}"}}), json!({}));
    let mut invocation = call(&tool, arguments);
    invocation.secrets = Some(Arc::new(Known));
    let failure = executors.execute(&mut invocation).await.expect_err("a failure");
    assert_eq!(failure.code, ErrorCode::ExecutionFailed);
    assert_eq!(failure.message, "not [redacted]");
}
