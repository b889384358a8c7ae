//! Programs in Python that are killed in the middle of a call.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, push};
use async_nats::jetstream::{self, stream};
use serde_json::{Value, json};

use super::Open;
use crate::kits::Program;

/// A program that says that it has begun, and then hangs the first time.
const HANG_ONCE: &str = "
import asyncio, os, pathlib

mark = pathlib.Path(os.environ['MARK'])


async def hang_once():
    if not mark.exists():
        mark.write_text('begun')
        await asyncio.sleep(3600)
";
const WORKER: &str = "
from toolgate_worker import worker


@worker('search')
async def search(call):
    await hang_once()
    return {'found': [call.arguments['q']]}


search.run()
";
const SERVICE: &str = "
from toolgate_worker import tool_service


@tool_service('any', request_queue='tg.demo.jokes', response_queue='tg.demo.answers')
async def tell(user, config, arguments):
    await hang_once()
    return f'Hey {user}!'


tell.run()
";
const TOOLS: &str = "
tool-service:
  jokes: {request-queue: tg.demo.jokes, response-queue: tg.demo.answers}
tool:
  look-up:
    type: worker
    description: Looks up.
    target_subject: cmd.tool.search
    arguments: [{name: q, type: string, description: What to look for.}]
    options: {timeout_ms: 60000}
  tell-joke: {type: tool-service, description: Tells a joke., service: jokes, arguments: [], options: {timeout_ms: 2000}}
";

/// The project with the tools, a script, and the file by which it says that it has begun.
async fn with(script: &str) -> (Open, tempfile::TempDir) {
    let open = Open::new().await;
    open.admin()
        .upload("/projects/demo/tools", TOOLS)
        .await
        .expect(201);
    let folder = tempfile::tempdir().expect("a folder");
    let program = format!("{HANG_ONCE}\n{script}");
    std::fs::write(folder.path().join("program.py"), program).expect("written");
    (open, folder)
}

fn start(open: &Open, folder: &tempfile::TempDir) -> Program {
    let mark = folder.path().join("mark").display().to_string();
    let url = open.nats.url();
    Program::python(
        &folder.path().join("program.py"),
        &[("NATS_URL", &url), ("MARK", &mark)],
    )
}

async fn call(open: &Open, tool: &str, arguments: &Value) -> Value {
    let request = json!({"tool": tool, "arguments": arguments});
    open.agent()
        .post("/projects/demo/calls", &request)
        .await
        .expect(200)
        .json()
}

/// Calls while a program runs that is killed as soon as it has begun; `again` is done then.
async fn killed_in_the_middle(
    open: &Open,
    folder: &tempfile::TempDir,
    (tool, arguments): (&str, &Value),
    again: impl FnOnce() -> Option<Program>,
) -> (Value, Option<Program>) {
    let first = start(open, folder);
    let killing = async {
        while !folder.path().join("mark").exists() {
            tokio::task::yield_now().await;
        }
        first.kill();
        again()
    };
    tokio::join!(call(open, tool, arguments), killing)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_of_a_worker_that_is_killed_is_executed_by_the_next_one_and_the_call_ends_once() {
    let (open, folder) = with(WORKER).await;
    redelivered_soon(&open).await;
    let arguments = json!({"q": "cats"});
    let again = || Some(start(&open, &folder));
    let (answer, _second) = killed_in_the_middle(&open, &folder, ("look-up", &arguments), again).await;
    assert_eq!(
        (&answer["status"], &answer["result"]),
        (&json!("succeeded"), &json!({"found": ["cats"]})),
        "{answer}"
    );
    let record = open.last_record().await;
    assert_eq!(
        (&record["tool"], &record["outcome"], &record["id"]),
        (&json!("look-up"), &json!("succeeded"), &answer["call_id"])
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_call_of_a_service_that_is_killed_times_out_and_the_next_one_is_answered() {
    let (open, folder) = with(SERVICE).await;
    let (answer, _) = killed_in_the_middle(&open, &folder, ("tell-joke", &json!({})), || None).await;
    assert_eq!(answer["error"]["code"], "timeout", "{answer}");
    let answer = call(&open, "tell-joke", &json!({})).await;
    assert_eq!(
        answer["error"]["code"], "upstream_unavailable",
        "no instance: {answer}"
    );
    let _second = start(&open, &folder);
    let answer = call(&open, "tell-joke", &json!({})).await;
    assert_eq!(answer["result"], "Hey agent key!", "{answer}");
}

/// The worker's consumer as the kit makes it, but what is not acknowledged is delivered again after a second.
async fn redelivered_soon(open: &Open) {
    let client = open.client().await;
    let context = jetstream::new(client.clone());
    let kept = stream::Config {
        name: "cg_cmd_v1r4".to_owned(),
        subjects: vec!["cg.v1r4.*.*.cmd.>".to_owned()],
        ..stream::Config::default()
    };
    let kept = context.get_or_create_stream(kept).await.expect("a stream");
    let name = "tool_demo_search_cmd_v1r4";
    let config = push::Config {
        durable_name: Some(name.to_owned()),
        deliver_group: Some(name.to_owned()),
        deliver_subject: client.new_inbox(),
        filter_subject: "cg.v1r4.demo.*.cmd.tool.search.>".to_owned(),
        ack_policy: AckPolicy::Explicit,
        ack_wait: Duration::from_secs(1),
        ..push::Config::default()
    };
    kept.create_consumer(config).await.expect("a consumer");
}
