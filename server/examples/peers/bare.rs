//! The least that a program does on the bus to get an answer: a request and its reply, or a command that a stream keeps and a
//! report that a stream keeps. No gate, no cards, no record.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::{self, Context, stream};
use async_nats::{Client, HeaderMap};
use futures_util::StreamExt;
use serde_json::json;
use tokio::sync::oneshot;

use crate::service::REQUESTS;

const COMMAND: &str =
    r#"{"tool_name":"search","arguments":{"q":"rust gateway","limit":10,"source":"bench"}}"#;

type Waiting = Arc<Mutex<HashMap<String, oneshot::Sender<()>>>>;

async fn streams(context: &Context) -> Result<stream::Stream> {
    for name in ["evt", "cmd"] {
        let config = stream::Config {
            name: format!("bare_{name}"),
            subjects: vec![format!("bare.{name}.>")],
            max_age: crate::KEPT,
            ..stream::Config::default()
        };
        context.get_or_create_stream(config).await?;
    }
    Ok(context.get_stream("bare_cmd").await?)
}

/// Reports every command.
pub(crate) async fn respond(client: &Client) -> Result<()> {
    let context = jetstream::new(client.clone());
    let config = pull::Config {
        durable_name: Some("responder".to_owned()),
        ack_policy: AckPolicy::Explicit,
        ..pull::Config::default()
    };
    let stream = streams(&context).await?;
    let mut commands = stream.create_consumer(config).await?.messages().await?;
    println!("serving bare.cmd.>");
    let report = bytes::Bytes::from(crate::result().to_string());
    while let Some(command) = commands.next().await {
        let (context, command, report) = (context.clone(), command?, report.clone());
        tokio::spawn(async move {
            let id = command.subject.rsplit('.').next().unwrap_or_default().to_owned();
            let kept = context.publish(format!("bare.evt.{id}"), report).await;
            let kept = match kept {
                Ok(kept) => kept.await.map(drop),
                Err(error) => Err(error),
            };
            if let Err(error) = kept {
                eprintln!("a command was not reported: {error}");
            }
            let _later = command.ack().await;
        });
    }
    Ok(())
}

/// Requests of the service by core NATS.
pub(crate) async fn requests(client: &Client, connections: usize, seconds: u64) -> Result<()> {
    let body = json!({"user": "bench", "config": "{}", "arguments": COMMAND}).to_string();
    let (client, body) = (client.clone(), bytes::Bytes::from(body));
    measured(connections, seconds, move |number| {
        let (client, body) = (client.clone(), body.clone());
        async move {
            let mut headers = HeaderMap::new();
            headers.insert("id", number.to_string());
            let answer = client
                .request_with_headers(REQUESTS.to_owned(), headers, body)
                .await?;
            ensure!(!answer.payload.is_empty(), "the answer is empty");
            Ok(())
        }
    })
    .await
}

/// Commands that a stream keeps, and their reports.
pub(crate) async fn commands(client: &Client, connections: usize, seconds: u64) -> Result<()> {
    let context = jetstream::new(client.clone());
    streams(&context).await?;
    let waiting = Waiting::default();
    let mut reports = client.subscribe("bare.evt.>").await?;
    client.flush().await?;
    let calls = Arc::clone(&waiting);
    tokio::spawn(async move {
        while let Some(report) = reports.next().await {
            let id = report.subject.rsplit('.').next().unwrap_or_default();
            let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(call) = calls.remove(id) {
                let _gone = call.send(());
            }
        }
    });
    let run = std::process::id();
    measured(connections, seconds, move |number| {
        let (context, waiting) = (context.clone(), Arc::clone(&waiting));
        async move {
            let id = format!("{run}-{number}");
            let (reported, report) = oneshot::channel();
            waiting
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(id.clone(), reported);
            let mut headers = HeaderMap::new();
            headers.insert(NATS_MESSAGE_ID, id.as_str());
            context
                .publish_with_headers(format!("bare.cmd.{id}"), headers, COMMAND.into())
                .await?
                .await?;
            report.await.context("there is no report")
        }
    })
    .await
}

/// Repeats an exchange on some connections at the same time, and prints the figures as JSON.
async fn measured<F, R>(connections: usize, seconds: u64, exchange: F) -> Result<()>
where
    F: Fn(u64) -> R + Clone + Send + 'static,
    R: Future<Output = Result<()>> + Send + 'static,
{
    let begun = Instant::now();
    let until = begun + Duration::from_secs(seconds);
    let tasks: Vec<_> = (0..connections as u64)
        .map(|connection| {
            let exchange = exchange.clone();
            let work = async move {
                let mut took = Vec::new();
                let mut number = connection << 32;
                while Instant::now() < until {
                    let since = Instant::now();
                    exchange(number).await?;
                    took.push(since.elapsed().as_secs_f64() * 1000.0);
                    number += 1;
                }
                anyhow::Ok(took)
            };
            tokio::spawn(work)
        })
        .collect();
    let mut all = Vec::new();
    for task in tasks {
        all.extend(task.await??);
    }
    let elapsed = begun.elapsed().as_secs_f64();
    all.sort_by(f64::total_cmp);
    ensure!(!all.is_empty(), "nothing was answered");
    let at = |percent: usize| all[(all.len() - 1) * percent / 100];
    #[expect(clippy::cast_precision_loss, reason = "there are not so many")]
    let per_second = all.len() as f64 / elapsed;
    let figures = json!({"per_second": per_second, "p50_ms": at(50), "p99_ms": at(99)});
    println!("{figures}");
    Ok(())
}
