//! A bridge for clients that only start processes: what comes by standard input goes to a server by HTTP, and back.
//!
//! The client knows no HTTP, so the bridge keeps its session: one that the server no longer knows is begun again, and a stream of
//! notifications that ends is opened again.

mod bridge;
mod events;
mod headers;

use std::io::{BufRead, Write};

use anyhow::Context;
use clap::Args;
use reqwest::Client;
use tokio::sync::mpsc;
use url::Url;

use self::bridge::Bridge;

/// Bytes of one line or event.
const LONGEST: usize = 64 << 20;

/// Where the bridge leads.
#[derive(Debug, Args)]
pub struct StdioArgs {
    /// The address of the endpoint, for example `https://tools.example.com/projects/demo/mcp?group=search`.
    #[arg(long)]
    url: Url,
    /// The environment variable that holds the key or token.
    #[arg(long, default_value = "TOOLGATE_KEY")]
    key_env: String,
}

/// Copies messages until standard input ends.
///
/// # Errors
/// When the key is not set, or standard input cannot be read.
pub async fn run(args: StdioArgs) -> anyhow::Result<()> {
    let key = std::env::var(&args.key_env)
        .ok()
        .filter(|key| !key.is_empty())
        .with_context(|| format!("the environment variable {} holds no key", args.key_env))?;
    let (lines, input) = mpsc::channel(16);
    // A thread of its own: nothing interrupts a read of standard input.
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if lines.blocking_send(line).is_err() {
                return;
            }
        }
    });
    let (output, mut messages) = mpsc::channel::<String>(16);
    let writer = tokio::task::spawn_blocking(move || {
        let mut out = std::io::stdout().lock();
        while let Some(message) = messages.blocking_recv() {
            writeln!(out, "{message}")?;
            out.flush()?;
        }
        std::io::Result::Ok(())
    });
    let client = Client::builder().build().context("the HTTP client")?;
    Bridge::new(client, args.url, key, output).copy(input).await?;
    writer
        .await
        .context("writing")?
        .context("writing to standard output")
}
