//! A worker of the UTP tool protocol that reports at once.

use anyhow::{Context as _, Result};
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::{self, Context, Message, kv, stream};
use async_nats::{Client, HeaderMap};
use futures_util::StreamExt;
use serde_json::{Value, json};

const COMMANDS: &str = "cg.v1r4.bench.*.cmd.tool.search.>";
/// Headers of the command that the report has too.
const COPIED: [&str; 5] = [
    "CG-Tool-Call-Id",
    "CG-Project-Id",
    "CG-Channel-Id",
    "CG-Turn-Epoch",
    "CG-Recursion-Depth",
];

/// Reads the card of each command, writes that of its result, and reports.
pub(crate) async fn serve(client: &Client) -> Result<()> {
    let context = jetstream::new(client.clone());
    let stream = context
        .get_or_create_stream(stream::Config {
            name: "cg_cmd_v1r4".to_owned(),
            subjects: vec!["cg.v1r4.*.*.cmd.>".to_owned()],
            max_age: crate::KEPT,
            ..stream::Config::default()
        })
        .await?;
    let cards = context
        .create_key_value(kv::Config {
            bucket: "cards_bench".to_owned(),
            history: 1,
            max_age: crate::KEPT,
            ..kv::Config::default()
        })
        .await?;
    let config = pull::Config {
        durable_name: Some("peers".to_owned()),
        filter_subject: COMMANDS.to_owned(),
        ack_policy: AckPolicy::Explicit,
        ..pull::Config::default()
    };
    let mut commands = stream.create_consumer(config).await?.messages().await?;
    println!("serving {COMMANDS}");
    while let Some(command) = commands.next().await {
        let (context, cards, command) = (context.clone(), cards.clone(), command?);
        tokio::spawn(async move {
            if let Err(error) = work(&context, &cards, &command).await {
                eprintln!("a command was not reported: {error:#}");
            }
        });
    }
    Ok(())
}

async fn work(context: &Context, cards: &kv::Store, command: &Message) -> Result<()> {
    let headers = command.headers.as_ref().context("no headers")?;
    let call = headers.get("CG-Tool-Call-Id").context("no id")?.as_str();
    let payload: Value = serde_json::from_slice(&command.payload)?;
    let card_id = payload["tool_call_card_id"].as_str().context("no card")?;
    let card = cards.get(card_id).await?.context("the card is not there")?;
    let card: Value = serde_json::from_slice(&card)?;
    let id = format!("{call}.result");
    let after_execution = &payload["after_execution"];
    let content = json!({
        "status": "success", "result": crate::result(), "error": null, "after_execution": after_execution,
    });
    let result = json!({
        "card_id": id, "project_id": "bench", "type": "tool.result", "author_id": "tool.search", "tool_call_id": call,
        "created_at": card["created_at"], "content": content,
        "metadata": {"tool_call_id": call, "role": "tool", "function_name": payload["tool_name"],
            "step_id": card["metadata"]["step_id"]},
    });
    cards.put(&id, result.to_string().into()).await?;
    let mut own = HeaderMap::new();
    for name in COPIED {
        if let Some(value) = headers.get(name) {
            own.insert(name, value.clone());
        }
    }
    own.insert("CG-Sender", "tool.search");
    let channel = command.subject.split('.').nth(3).unwrap_or_default();
    let report = json!({"tool_result_card_id": id, "status": "success", "after_execution": after_execution});
    context
        .publish_with_headers(
            format!("cg.v1r4.bench.{channel}.evt.tool.search.report"),
            own,
            report.to_string().into(),
        )
        .await?
        .await?;
    command.ack().await.map_err(|error| anyhow::anyhow!("{error}"))
}
