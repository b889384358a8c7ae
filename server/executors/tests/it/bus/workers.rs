//! Workers of the UTP tool protocol behind a real message bus.

use std::sync::Arc;

use async_nats::jetstream::{self, kv};
use async_nats::{Client, HeaderMap};
use futures_util::StreamExt;
use rstest::rstest;
use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_api::audit::ArgumentLayer;
use toolgate_api::calls::CallContext;
use toolgate_api::tools::AfterExecution;
use toolgate_core::arguments::TemplateContext;
use toolgate_core::definition::ToolDefinition;
use toolgate_core::ids::{CallId, ProjectId};
use toolgate_executors::{Bus, Execution, Executors, Failure, Invocation, WorkerExecutor};
use uuid::Uuid;

use super::soon;
use super::support::plain;
use crate::nats::Nats;
use crate::support::{call, config};

const REPORTS: &str = "cg.v1r4.demo.toolgate.evt.tool.search.report";

/// A gateway's executors with one worker tool, and a worker's client.
struct Harness {
    executors: Arc<Executors>,
    client: Client,
}

impl Harness {
    async fn new(nats: &Nats) -> Self {
        let bus = Bus::connect(plain(nats)).await.expect("valid settings");
        soon(async {
            while !bus.is_connected() {
                tokio::task::yield_now().await;
            }
        })
        .await;
        let executors = Executors::new(config(&[], &[])).with(Arc::new(WorkerExecutor(bus)));
        Self {
            executors: Arc::new(executors),
            client: async_nats::connect(nats.url()).await.expect("connected"),
        }
    }

    fn call(&self, options: &Value) -> impl Future<Output = Result<Execution, Failure>> + Send + use<> {
        self.run(&tool(options))
    }

    fn run(
        &self,
        tool: &Arc<ToolDefinition>,
    ) -> impl Future<Output = Result<Execution, Failure>> + Send + use<> {
        self.run_in(tool, None)
    }

    fn run_in(
        &self,
        tool: &Arc<ToolDefinition>,
        context: Option<&CallContext>,
    ) -> impl Future<Output = Result<Execution, Failure>> + Send + use<> {
        let context = TemplateContext::new(&ProjectId::parse("demo").expect("a slug"), context);
        let mut invocation = Invocation {
            call_id: CallId(Uuid::from_u128(fastrand::u128(..))),
            provenance: [
                ("q", ArgumentLayer::Caller),
                ("num", ArgumentLayer::Default),
                ("lang", ArgumentLayer::Fixed),
                ("key", ArgumentLayer::Env),
            ]
            .map(|(name, layer)| (name.to_owned(), layer))
            .into(),
            context,
            ..call(tool, json!({"q": "cats"}))
        };
        let executors = Arc::clone(&self.executors);
        async move { soon(executors.execute(&mut invocation)).await }
    }

    /// The next command, as a worker pulls it from its stream, with the card that it points at.
    async fn command(&self) -> Command {
        let context = jetstream::new(self.client.clone());
        let message = soon(async {
            loop {
                let Ok(stream) = context.get_stream("cg_cmd_v1r4").await else {
                    tokio::task::yield_now().await;
                    continue;
                };
                let settings = jetstream::consumer::pull::Config {
                    durable_name: Some("tool_search".to_owned()),
                    filter_subject: "cg.v1r4.demo.*.cmd.tool.search.>".to_owned(),
                    ..Default::default()
                };
                let consumer = stream.get_or_create_consumer("tool_search", settings).await;
                let mut messages = consumer.expect("a consumer").messages().await.expect("messages");
                return messages.next().await.expect("one").expect("a message");
            }
        })
        .await;
        message.ack().await.expect("acknowledged");
        let cards = context.get_key_value("cards_demo").await.expect("the cards");
        let payload: Value = serde_json::from_slice(&message.payload).expect("JSON");
        let card = cards
            .get(payload["tool_call_card_id"].as_str().expect("an id"))
            .await;
        let card = card.expect("the bucket").expect("the card");
        Command {
            headers: message.headers.clone().expect("headers"),
            subject: message.subject.to_string(),
            payload,
            card: serde_json::from_slice(&card).expect("JSON"),
            cards,
        }
    }

    async fn report(&self, headers: HeaderMap, payload: &Value) {
        self.client
            .publish_with_headers(REPORTS, headers, payload.to_string().into())
            .await
            .expect("published");
        self.client.flush().await.expect("sent");
    }
}

fn tool(options: &Value) -> Arc<ToolDefinition> {
    let definition = json!({
        "name": "search", "type": "worker", "target_subject": "cmd.tool.search", "after_execution": "suspend",
        "parameters": {"type": "object"}, "options": options,
    });
    Arc::new(serde_json::from_value(definition).expect("valid"))
}

struct Command {
    headers: HeaderMap,
    subject: String,
    payload: Value,
    card: Value,
    cards: kv::Store,
}

impl Command {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.as_str())
    }

    /// The result card of a worker, which is stored under `r1`.
    fn result(&self, content: &Value) -> Value {
        json!({
            "card_id": "r1", "project_id": "demo", "type": "tool.result", "content": content,
            "author_id": "tool.search", "tool_call_id": self.header("CG-Tool-Call-Id"),
            "metadata": {
                "tool_call_id": self.header("CG-Tool-Call-Id"), "function_name": "search", "role": "tool",
                "step_id": self.card["metadata"]["step_id"],
            },
        })
    }

    fn report_headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for name in [
            "CG-Tool-Call-Id",
            "CG-Turn-Epoch",
            "CG-Project-Id",
            "CG-Recursion-Depth",
        ] {
            headers.insert(name, self.header(name));
        }
        headers.insert("CG-Sender", "tool.search");
        headers
    }

    async fn store(&self, card: &Value) {
        self.cards
            .put("r1", card.to_string().into())
            .await
            .expect("stored");
    }
}

fn success(result: &Value) -> Value {
    json!({"status": "success", "after_execution": "suspend", "result": result, "error": null})
}

fn payload(status: &str) -> Value {
    json!({"status": status, "after_execution": "suspend", "tool_result_card_id": "r1"})
}

#[tokio::test]
async fn a_worker_gets_a_card_and_a_command_and_its_card_is_the_result() {
    let nats = Nats::start();
    let harness = Harness::new(&nats).await;
    let running = tokio::spawn(harness.call(&json!({"envs": {"key": "KEY"}})));
    let command = harness.command().await;
    assert_eq!(command.subject, "cg.v1r4.demo.toolgate.cmd.tool.search.run");
    assert_eq!(
        command.payload,
        json!({"tool_call_card_id": command.card["card_id"], "tool_name": "search", "after_execution": "suspend"})
    );
    let id = command.header("CG-Tool-Call-Id").to_owned();
    for (name, value) in [
        ("CG-Project-Id", "demo"),
        ("CG-Channel-Id", "toolgate"),
        ("CG-Agent-Id", "toolgate"),
        ("CG-Turn-Id", &id),
        ("CG-Turn-Epoch", "0"),
        ("CG-Recursion-Depth", "0"),
    ] {
        assert_eq!(command.header(name), value, "{name}");
    }
    let content = json!({
        "tool_name": "search", "arguments": {"q": "cats"}, "status": "called", "target_subject": command.subject,
    });
    assert_eq!(command.card["content"], content);
    let metadata = &command.card["metadata"];
    assert_eq!(metadata["tool_args_envs"], json!({"key": "KEY"}));
    assert_eq!(metadata["tool_args_defaults_applied"], json!(["num"]));
    assert_eq!(metadata["tool_args_fixed_applied"], json!(["lang"]));
    assert_eq!(command.card["tool_call_id"], json!(id));

    let result = json!({"found": 3, "__cg_control": {"after_execution": "terminate"}});
    command.store(&command.result(&success(&result))).await;
    harness
        .report(command.report_headers(), &payload("success"))
        .await;
    let execution = running.await.expect("runs").expect("a result");
    assert_eq!(execution.result.to_value(), result);
    let notes = execution.notes.expect("notes");
    assert_eq!(notes.after_execution, Some(AfterExecution::Terminate));
}

#[rstest]
#[case::failed("failed", "auth_failed", ErrorCode::UpstreamAuth)]
#[case::rejected("failed", "bad_request", ErrorCode::UpstreamRejected)]
#[case::unknown("failed", "whatever", ErrorCode::ExecutionFailed)]
#[case::timeout("timeout", "internal_error", ErrorCode::Timeout)]
#[case::canceled("canceled", "internal_error", ErrorCode::Cancelled)]
#[tokio::test]
async fn a_failed_result_has_its_code(#[case] status: &str, #[case] error: &str, #[case] code: ErrorCode) {
    let nats = Nats::start();
    let harness = Harness::new(&nats).await;
    let running = tokio::spawn(harness.call(&json!({})));
    let command = harness.command().await;
    let content = json!({
        "status": status, "after_execution": "suspend", "result": null,
        "error": {"code": error, "message": "as it is", "detail": {"a": 1}},
    });
    command.store(&command.result(&content)).await;
    harness.report(command.report_headers(), &payload(status)).await;
    let failure = running.await.expect("runs").expect_err("failed");
    assert_eq!(failure.code, code, "{failure:?}");
    assert!(failure.message.contains("as it is"), "{failure:?}");
    let whole = failure.upstream_answer.expect("the error").to_value();
    assert_eq!(
        whole,
        json!({"code": error, "message": "as it is", "detail": {"a": 1}})
    );
}

#[tokio::test]
async fn a_partial_result_is_a_result_with_a_warning() {
    let nats = Nats::start();
    let harness = Harness::new(&nats).await;
    let running = tokio::spawn(harness.call(&json!({})));
    let command = harness.command().await;
    let content = json!({
        "status": "partial", "after_execution": "suspend", "result": [1],
        "error": {"code": "upstream_unavailable", "message": "one page is missing"},
    });
    command.store(&command.result(&content)).await;
    harness
        .report(command.report_headers(), &payload("partial"))
        .await;
    let execution = running.await.expect("runs").expect("a result");
    assert_eq!(execution.result.to_value(), json!([1]));
    let warnings = execution.notes.expect("notes").warnings;
    assert!(
        warnings[0].message.contains("one page is missing"),
        "{warnings:?}"
    );
}

/// What a report or its card breaks, and what is said of it.
#[rstest]
#[case::sender("header", "CG-Sender", json!("agent.search"), "invalid_source_actor")]
#[case::epoch("header", "CG-Turn-Epoch", json!("7"), "CG-Turn-Epoch")]
#[case::depth("header", "CG-Recursion-Depth", json!("1"), "CG-Recursion-Depth")]
#[case::other_project("header", "CG-Project-Id", json!("other"), "CG-Project-Id")]
#[case::control_field("payload", "/agent_id", json!("a"), "no report")]
#[case::unknown_status("payload", "/status", json!("done"), "no report")]
#[case::no_card("payload", "/tool_result_card_id", json!("r2"), "there is no card")]
#[case::status_differs("payload", "/status", json!("partial"), "differ")]
#[case::kind("card", "/type", json!("tool.call"), "type")]
#[case::author("card", "/author_id", json!("tool.other"), "author_id")]
#[case::function("card", "/metadata/function_name", json!("other"), "function_name")]
#[case::correlation("card", "/tool_call_id", json!("other"), "tool_call_id")]
#[case::lineage("card", "/metadata/step_id", json!("other"), "metadata.step_id")]
#[case::no_lineage("card", "/metadata/step_id", json!(null), "metadata.step_id")]
#[case::content("card", "/content", json!("found"), "no tool.result")]
#[case::error("card", "/content/error", json!({"code": "a", "message": "b"}), "a success has no error")]
#[tokio::test]
async fn a_report_that_breaks_a_rule_counts_for_nothing_and_the_next_one_does(
    #[case] place: &str,
    #[case] path: &str,
    #[case] value: Value,
    #[case] why: &str,
) {
    let nats = Nats::start();
    let harness = Harness::new(&nats).await;
    for is_corrected in [true, false] {
        let options = if is_corrected {
            json!({})
        } else {
            json!({"timeout_ms": 400})
        };
        let running = tokio::spawn(harness.call(&options));
        let command = harness.command().await;
        let (mut headers, mut sent) = (command.report_headers(), payload("success"));
        let mut card = command.result(&success(&json!("found")));
        match place {
            "header" => headers.insert(path, value.as_str().expect("a text")),
            "payload" => set(&mut sent, path, value.clone()),
            _ => set(&mut card, path, value.clone()),
        }
        command.store(&card).await;
        harness.report(headers, &sent).await;
        if is_corrected {
            let mut again = payload("success");
            let mut good = command.result(&success(&json!("found")));
            good["card_id"] = json!("r3");
            again["tool_result_card_id"] = json!("r3");
            command
                .cards
                .put("r3", good.to_string().into())
                .await
                .expect("stored");
            harness.report(command.report_headers(), &again).await;
            let execution = running.await.expect("runs").expect("a result");
            assert_eq!(execution.result.to_value(), json!("found"));
        } else {
            let failure = running.await.expect("runs").expect_err("nothing counted");
            assert_eq!(failure.code, ErrorCode::Timeout);
            assert!(failure.message.contains(why), "{failure:?}");
        }
    }
}

/// Sets a member by its pointer.
fn set(value: &mut Value, pointer: &str, to: Value) {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    value.pointer_mut(parent).expect("there")[name] = to;
}

#[tokio::test]
async fn a_command_has_the_depth_and_the_lineage_of_its_call_and_so_has_its_report() {
    let nats = Nats::start();
    let harness = Harness::new(&nats).await;
    let context = |recursion_depth| CallContext {
        recursion_depth: Some(recursion_depth),
        trace_id: Some("trace-1".to_owned()),
        parent_step_id: Some("step-0".to_owned()),
        ..CallContext::default()
    };
    let running = tokio::spawn(harness.run_in(&tool(&json!({})), Some(&context(3))));
    let command = harness.command().await;
    assert_eq!(command.header("CG-Recursion-Depth"), "3");
    let mut card = command.result(&success(&json!("found")));
    for name in ["trace_id", "parent_step_id"] {
        card["metadata"][name] = command.card["metadata"][name].clone();
    }
    command.store(&card).await;
    harness
        .report(command.report_headers(), &payload("success"))
        .await;
    assert!(running.await.expect("runs").is_ok());

    let deep = harness.run_in(&tool(&json!({})), Some(&context(20))).await;
    let failure = deep.expect_err("too deep");
    assert_eq!(failure.code, ErrorCode::InvalidArguments);
    assert!(
        failure.message.contains("recursion_depth_exceeded"),
        "{failure:?}"
    );
}

#[tokio::test]
async fn without_a_report_the_call_ends_in_time() {
    let nats = Nats::start();
    let harness = Harness::new(&nats).await;
    let failure = harness
        .call(&json!({"timeout_ms": 200}))
        .await
        .expect_err("no worker");
    assert_eq!(failure.code, ErrorCode::Timeout);
    assert!(failure.message.contains("no report came in time"), "{failure:?}");
    // The command waits for a worker all the same; its late report finds no call.
    let command = harness.command().await;
    command.store(&command.result(&success(&json!("late")))).await;
    harness
        .report(command.report_headers(), &payload("success"))
        .await;
}

#[tokio::test]
async fn an_answer_serves_again_where_the_definition_says_so() {
    let nats = Nats::start();
    let harness = Harness::new(&nats).await;
    let tool = tool(&json!({"cache": {"ttl_s": 60}}));
    let running = tokio::spawn(harness.run(&tool));
    let command = harness.command().await;
    command.store(&command.result(&success(&json!("found")))).await;
    harness
        .report(command.report_headers(), &payload("success"))
        .await;
    assert!(running.await.expect("runs").is_ok());
    let again = harness.run(&tool).await.expect("the answer that is kept");
    assert_eq!(again.result.to_value(), json!("found"));
}

#[tokio::test]
async fn a_command_whose_worker_is_killed_is_delivered_to_another_and_reports_count_once() {
    let nats = Nats::start();
    let harness = Harness::new(&nats).await;
    let running = tokio::spawn(harness.call(&json!({})));
    let killed = async_nats::connect(nats.url()).await.expect("connected");
    let context = jetstream::new(killed);
    let taken = soon(async {
        loop {
            let Ok(stream) = context.get_stream("cg_cmd_v1r4").await else {
                tokio::task::yield_now().await;
                continue;
            };
            let settings = jetstream::consumer::pull::Config {
                durable_name: Some("tool_search".to_owned()),
                filter_subject: "cg.v1r4.demo.*.cmd.tool.search.>".to_owned(),
                ack_wait: std::time::Duration::from_millis(200),
                ..Default::default()
            };
            let consumer = stream.create_consumer(settings).await.expect("a consumer");
            let mut messages = consumer.messages().await.expect("messages");
            return messages.next().await.expect("one").expect("a message");
        }
    })
    .await;
    assert_eq!(taken.info().expect("of a stream").delivered, 1);
    // Its connection ends, and it neither acknowledged nor reported.
    drop((taken, context));

    let command = harness.command().await;
    let result = json!({"found": 3});
    command.store(&command.result(&success(&result))).await;
    // The report comes twice, as when its sender did not hear that it was kept.
    for _ in 0..2 {
        harness
            .report(command.report_headers(), &payload("success"))
            .await;
    }
    let execution = running.await.expect("runs").expect("a result");
    assert_eq!(execution.result.to_value(), result);
    // The next call is answered by its own report.
    let running = tokio::spawn(harness.call(&json!({})));
    let command = harness.command().await;
    let result = json!({"found": 4});
    command.store(&command.result(&success(&result))).await;
    harness
        .report(command.report_headers(), &payload("success"))
        .await;
    let execution = running.await.expect("runs").expect("a result");
    assert_eq!(execution.result.to_value(), result);
}
