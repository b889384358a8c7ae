//! Clients that are connected over MCP and wait: what each costs in memory, and how soon a change reaches all of them.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::systems::resident_mb;
use crate::client::{Body, Client};
use crate::server::Server;

/// Clients of one key.
const CLIENTS: usize = 1_000;
/// How long a change may take before the run fails.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of the stack of a thread that only reads.
const STACK: usize = 128 * 1024;

/// Connects the clients, changes a tool, and prints both figures.
pub(super) fn measure(server: &Server, admin: &Client, key: &str, upstream: &str) -> Result<()> {
    let endpoint = Endpoint {
        authority: server.address().trim_start_matches("http://").to_owned(),
        key: key.to_owned(),
    };
    // What the first clients make the server allocate is no cost of each.
    let warm = endpoint.connect()?;
    let before = resident_mb(server.id())?;
    let (sender, changed) = mpsc::channel();
    for _ in 0..CLIENTS {
        let mut stream = endpoint.connect()?;
        let sender = sender.clone();
        let read = move || {
            let heard = wait_for(&mut stream, "list_changed").map(|()| Instant::now());
            let _gone = sender.send(heard);
            // It stays connected until the run has ended.
            let _end = wait_for(&mut stream, "never");
        };
        thread::Builder::new().stack_size(STACK).spawn(read)?;
    }
    let each = (resident_mb(server.id())? - before) * 1024.0 / to_f64(CLIENTS);
    let tool = format!(
        "name: listeners\ntype: openapi\ndescription: Changes a list.\ngroup: [knowledge]\n\
         options: {{http: {{base_url: \"{upstream}\", path: /search}}}}\n"
    );
    let change = Instant::now();
    admin.send("POST", "/projects/bench/tools", &Body::Yaml(&tool))?;
    let mut last = Duration::ZERO;
    for _ in 0..CLIENTS {
        let left = PATIENCE.saturating_sub(change.elapsed());
        let heard = changed
            .recv_timeout(left)
            .context("a client did not hear of the change")??;
        last = last.max(heard.saturating_duration_since(change));
    }
    drop(warm);
    println!("\n{CLIENTS} clients that are connected over MCP and wait");
    println!(
        "  memory {each:.1} kB each; a change reaches the last one after {:.0} ms",
        last.as_secs_f64() * 1000.0
    );
    Ok(())
}

/// The MCP endpoint of the project, as one caller sees it.
struct Endpoint {
    authority: String,
    key: String,
}

impl Endpoint {
    /// Begins a session and opens its stream of notifications.
    fn connect(&self) -> Result<BufReader<TcpStream>> {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}});
        let mut stream = self.send("POST", "", &body.to_string())?;
        let session = head(&mut stream)?
            .into_iter()
            .find_map(|line| line.strip_prefix("mcp-session-id: ").map(str::to_owned))
            .context("`initialize` was answered without a session")?;
        let mut stream = self.send("GET", &format!("mcp-session-id: {session}\r\n"), "")?;
        let status = head(&mut stream)?.swap_remove(0);
        ensure!(status.contains(" 200 "), "the stream was answered with {status}");
        Ok(stream)
    }

    fn send(&self, method: &str, header: &str, body: &str) -> Result<BufReader<TcpStream>> {
        let Self { authority, key } = self;
        let mut stream = TcpStream::connect(authority)?;
        let length = body.len();
        write!(
            stream,
            "{method} /projects/bench/mcp?group=knowledge HTTP/1.1\r\nhost: {authority}\r\nauthorization: Bearer {key}\r\n\
             accept: application/json, text/event-stream\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
             {header}\r\n{body}"
        )?;
        Ok(BufReader::with_capacity(1024, stream))
    }
}

/// The lines of an answer's head, the status first.
fn head(stream: &mut impl BufRead) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        ensure!(stream.read_line(&mut line)? > 0, "the connection was closed");
        match line.trim_end() {
            "" => return Ok(lines),
            line => lines.push(line.to_owned()),
        }
    }
}

/// Reads until a line has a text.
fn wait_for(stream: &mut impl BufRead, text: &str) -> Result<()> {
    loop {
        let mut line = String::new();
        ensure!(stream.read_line(&mut line)? > 0, "the stream has ended");
        if line.contains(text) {
            return Ok(());
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is a small number")]
fn to_f64(number: usize) -> f64 {
    number as f64
}
