//! Calls of MCP servers: of one that answers at once beside an HTTP tool, the same while calls of another one hang, and as many servers
//! as a project may have, with 4 952 tools.

use std::time::Instant;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::systems::{self, Process, Toolgate};
use super::wrk::Beside;
use super::{Options, Subject, measure, median, prepare, report};
use crate::client::{Body, Client};
use crate::{paths, server};

/// Beside the two others: a project has at most 200.
const MANY: usize = 198;
const TOOLS: usize = 25;
/// Calls that hang: as many as a server has at the same time.
const HANGING: u32 = 16;

/// Measures and prints.
pub(super) fn run(options: &Options) -> Result<()> {
    let (folder, nginx) = prepare()?;
    let upstream = systems::upstream(&nginx, &folder)?;
    let listen = format!("127.0.0.1:{}", server::free_port()?);
    let address = format!("http://{listen}");
    let _servers = Process::start(&systems::peers(&["mcp", &listen]), &address)?;
    let toolgate = Toolgate::new(&paths::server_binary("release"), &folder, &upstream.address)?
        .with("TOOLGATE_EGRESS_ALLOW", format!("{},{address}", upstream.address));
    let (server, _) = toolgate.start()?;
    let (admin, key, _) = toolgate.set_up(&server)?;
    let token = admin.token().unwrap_or_default().to_owned();
    let enabled = json!({"select": {"filter": {"enabled": false}}, "change": {"enabled": true}});
    add(
        &admin,
        ["fast", "hanging"].map(|name| (name.to_owned(), format!("{address}/{name}"))),
    )?;
    admin.post("/projects/bench/tool-changes", &enabled)?;
    systems::succeeds(&server, &key, "ask-fast")?;

    let http = systems::call(
        server.id(),
        server.address(),
        "/projects/bench/calls",
        key.clone(),
    );
    let mut calls = vec![
        Subject::new("HTTP tool", http),
        Subject::new("MCP server", systems::call_of(&server, &key, "ask-fast")),
    ];
    println!("\nCalls over REST: check, decide, record twice, execute, answer");
    measure(&mut calls, options, &folder, true)?;
    report(&calls);

    println!("\nThe same while {HANGING} calls of another MCP server hang");
    let hanging = systems::call_of(&server, &key, "ask-hanging");
    let script = hanging.script(&folder, "hanging")?;
    let beside = Beside::start(&hanging, &script, HANGING)?;
    for call in &mut calls {
        call.busy.clear();
        call.alone.clear();
    }
    measure(&mut calls, options, &folder, false)?;
    report(&calls);
    drop(beside);

    println!("\n{MANY} MCP servers with {TOOLS} tools each");
    let since = Instant::now();
    add(
        &admin,
        (0..MANY).map(|n| (format!("many-{n}"), format!("{address}/many/{n}"))),
    )?;
    admin.post("/projects/bench/tool-changes", &enabled)?;
    println!(
        "  imported and enabled after {:.1} s",
        since.elapsed().as_secs_f64()
    );
    server.stop()?;
    let (server, ready) = toolgate.start()?;
    println!("  ready after {:.0} ms", ready.as_secs_f64() * 1000.0);
    systems::succeeds(&server, &key, "ask-7-3")?;
    let admin = Client::new(server.address()).with_token(&token);
    let (mut refreshed, mut changed) = (Vec::new(), Vec::new());
    for round in 0..10 {
        let since = Instant::now();
        admin.send("POST", "/projects/bench/mcp-servers/many-7/refresh", &Body::None)?;
        refreshed.push(since.elapsed().as_secs_f64() * 1000.0);
        let since = Instant::now();
        let definition = json!({"url": format!("{address}/many/7"), "timeout_ms": 20_000 + round});
        admin.send(
            "PUT",
            "/projects/bench/mcp-servers/many-7",
            &Body::Json(&definition),
        )?;
        changed.push(since.elapsed().as_secs_f64() * 1000.0);
    }
    println!(
        "  one server: tools listed and compared again in {:.0} ms, a changed definition effective after {:.0} ms (medians of 10)",
        median(&refreshed),
        median(&changed)
    );
    server.stop()
}

/// Stores servers, and imports their tools.
fn add(admin: &Client, servers: impl IntoIterator<Item = (String, String)>) -> Result<()> {
    let servers: Map<String, Value> = servers
        .into_iter()
        .map(|(name, url)| (name, json!({"url": url, "max_concurrent": 64})))
        .collect();
    let names: Vec<String> = servers.keys().cloned().collect();
    admin.post("/projects/bench/mcp-servers", &json!({"mcpServers": servers}))?;
    for name in names {
        let path = format!("/projects/bench/mcp-servers/{name}/refresh");
        admin.send("POST", &path, &Body::None)?;
    }
    Ok(())
}
