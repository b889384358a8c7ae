//! What is on the other side of Toolgate in `cargo xtask bench --of bus | announcements | mcp`, and the least that a program
//! does to get the same answers from it: the yardsticks of these measurements.
//!
//! `peers service | worker | responder` answer on the bus at `NATS_URL`. `peers request | command CONNECTIONS SECONDS` measure a
//! bare program and print its figures. `peers announce SERVICES TOOLS` announces services. `peers mcp ADDRESS` is MCP servers.

mod bare;
mod mcp;
mod service;
mod worker;

use anyhow::{Context, Result, bail};
use async_nats::Client;
use serde_json::json;

/// The same allocator as the server's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How long streams keep messages, as Toolgate has it.
const KEPT: std::time::Duration = std::time::Duration::from_hours(24);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["mcp", address] => mcp::serve(address).await,
        ["service"] => service::serve(&connect().await?).await,
        ["worker"] => worker::serve(&connect().await?).await,
        ["responder"] => bare::respond(&connect().await?).await,
        ["request", connections, seconds] => {
            bare::requests(&connect().await?, connections.parse()?, seconds.parse()?).await
        }
        ["command", connections, seconds] => {
            bare::commands(&connect().await?, connections.parse()?, seconds.parse()?).await
        }
        ["announce", services, tools] => {
            service::announce(&connect().await?, services.parse()?, tools.parse()?).await
        }
        _ => bail!("the arguments are those of main.rs"),
    }
}

async fn connect() -> Result<Client> {
    let url = std::env::var("NATS_URL").context("NATS_URL must be set")?;
    Ok(async_nats::connect(url).await?)
}

/// What every peer answers: as much as nginx does in the other measurements.
fn result() -> serde_json::Value {
    let items: Vec<_> = (0..10)
        .map(|n| {
            json!({"title": format!("Result {n}"), "url": format!("https://example.com/{n}"), "text": "x".repeat(40)})
        })
        .collect();
    json!({"items": items, "total": 10})
}
