//! A tool service that answers at once, and services that announce themselves.

use anyhow::{Context, Result};
use async_nats::{Client, HeaderMap};
use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::{Value, json};

/// Where requests come.
pub(crate) const REQUESTS: &str = "tg.bench.search";

/// Answers every request to its inbox.
pub(crate) async fn serve(client: &Client) -> Result<()> {
    let response = crate::result().to_string();
    let answer = json!({"error": null, "response": response, "end_of_stream": true}).to_string();
    let answer = Bytes::from(answer);
    let mut requests = client
        .queue_subscribe(REQUESTS, "peers".to_owned())
        .await
        .context("no subscription")?;
    client.flush().await?;
    println!("serving {REQUESTS}");
    while let Some(request) = requests.next().await {
        let Some(inbox) = request.reply else { continue };
        let mut headers = HeaderMap::new();
        headers.insert("content-type", "application/json");
        if let Some(id) = request.headers.as_ref().and_then(|headers| headers.get("id")) {
            headers.insert("id", id.clone());
        }
        client
            .publish_with_headers(inbox, headers, answer.clone())
            .await?;
    }
    Ok(())
}

/// Announces services of some tools each.
pub(crate) async fn announce(client: &Client, services: usize, tools: usize) -> Result<()> {
    for service in 0..services {
        let tools: Vec<Value> = (0..tools)
            .map(|tool| {
                json!({
                    "name": format!("look-up-{service}-{tool}"),
                    "description": format!("Looks something up in the collection {tool} of the library {service}."),
                    "arguments": [
                        {"name": "q", "type": "string", "description": "What to look for."},
                        {"name": "limit", "type": "integer", "description": "The most results."},
                    ],
                })
            })
            .collect();
        let announcement = json!({
            "tool-service": {
                "id": format!("library-{service}"),
                "request-queue": format!("tg.bench.libraries.{service}"),
                "response-queue": format!("tg.bench.answers.{service}"),
            },
            "instance": format!("library-{service}-a"),
            "version": "1.0.0",
            "started": "2026-01-01T00:00:00Z",
            "tools": tools,
        });
        client
            .publish("tg.bench.tool-descriptors", announcement.to_string().into())
            .await?;
    }
    client.flush().await?;
    Ok(())
}
