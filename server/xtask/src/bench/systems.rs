//! What is measured: nginx as upstream and as a proxy, the reference server, and Toolgate.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::wrk::Target;
use crate::client::{Body, Client, text};
use crate::paths;
use crate::server::{Server, Start, free_port};
use crate::sh::{self, Sh};

/// The reference's secret; its token below is signed with it.
const SECRET: &str = "a secret of the benchmark, 32 bytes";
const USERNAME: &str = "admin";
const PASSWORD: &str = "a password for the benchmark";
const CALL: &str = r#"{"tool":"search","arguments":{"q":"rust gateway"},"group":["knowledge"]}"#;
/// Where Toolgate takes calls.
const CALLS: &str = "/projects/bench/calls";

/// A helper process that is stopped when it is dropped.
pub(super) struct Process {
    child: Child,
    /// `http://host:port`
    pub(super) address: String,
}

impl Process {
    /// Starts a program and waits until its port answers.
    pub(super) fn start(command: &Sh, address: &str) -> Result<Self> {
        let mut child = command.spawn()?;
        let lines = sh::lines_of(&mut child);
        std::thread::spawn(move || lines.for_each(drop));
        let mut process = Self {
            child,
            address: address.to_owned(),
        };
        let authority = address.trim_start_matches("http://");
        let started = Instant::now();
        while std::net::TcpStream::connect(authority).is_err() {
            if let Some(status) = process.child.try_wait()? {
                bail!("`{command}` ended with {status}");
            }
            if started.elapsed() > Duration::from_secs(20) {
                bail!("`{command}` does not listen on {authority}");
            }
            std::thread::yield_now();
        }
        Ok(process)
    }

    /// The process id.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

/// nginx answering about one kilobyte of JSON, on the load's own core.
pub(super) fn upstream(nginx: &Path, folder: &Path) -> Result<Process> {
    let items: Vec<_> = (0..10)
        .map(|n| json!({ "title": format!("Result {n}"), "url": format!("https://example.com/{n}"), "text": "x".repeat(40) }))
        .collect();
    let body = json!({ "items": items, "total": 10 }).to_string();
    let server = format!("location / {{ default_type application/json; return 200 '{body}'; }}");
    nginx_process(nginx, folder, "upstream", 0, "", &server)
}

/// nginx as a proxy before the upstream.
pub(super) fn proxy(nginx: &Path, folder: &Path, upstream: &str) -> Result<Process> {
    let authority = upstream.trim_start_matches("http://");
    let pool =
        format!("upstream backend {{ server {authority}; keepalive 256; keepalive_requests 1000000; }}");
    let server =
        "location / { proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection ''; }";
    nginx_process(nginx, folder, "proxy", 1, &pool, server)
}

fn nginx_process(
    nginx: &Path,
    folder: &Path,
    name: &str,
    cpu: u32,
    http: &str,
    server: &str,
) -> Result<Process> {
    let folder = folder.join(name);
    fs::create_dir_all(&folder)?;
    let port = free_port()?;
    let path = folder.display();
    let config = format!(
        "daemon off; master_process off; worker_processes 1; pid {path}/pid; error_log stderr error;\n\
         events {{ worker_connections 2048; }}\n\
         http {{ access_log off; keepalive_requests 1000000; keepalive_timeout 300s;\n\
         client_body_temp_path {path}/body; proxy_temp_path {path}/proxy; fastcgi_temp_path {path}/fastcgi;\n\
         uwsgi_temp_path {path}/uwsgi; scgi_temp_path {path}/scgi;\n\
         {http}\nserver {{ listen 127.0.0.1:{port}; {server} }} }}\n"
    );
    let file = folder.join("nginx.conf");
    fs::write(&file, config)?;
    let command = Sh::words(&format!("taskset -c {cpu}"))
        .arg(nginx)
        .arg("-p")
        .arg(&folder)
        .arg("-c")
        .arg(file);
    Process::start(&command, &format!("http://127.0.0.1:{port}"))
}

/// The reference server, on the measured core; with a record if there is a file for it.
pub(super) fn reference(
    binary: &Path,
    upstream: &str,
    listing: &Path,
    record: Option<&Path>,
) -> Result<Process> {
    let listen = format!("127.0.0.1:{}", free_port()?);
    let mut command = Sh::words("taskset -c 1")
        .arg(binary)
        .env("REFERENCE_LISTEN", &listen)
        .env("REFERENCE_UPSTREAM", upstream)
        .env("REFERENCE_SECRET", SECRET)
        .env("REFERENCE_LISTING", listing);
    if let Some(record) = record {
        command = command.env("REFERENCE_RECORD", record);
    }
    Process::start(&command, &format!("http://{listen}"))
}

/// The token that the reference checks.
pub(super) fn reference_token() -> String {
    let expires = 4_102_444_800_u64; // the year 2100
    let claims = json!({ "aud": "reference", "exp": expires, "groups": ["default", "knowledge"] });
    super::hs256::sign(&claims.to_string(), SECRET.as_bytes())
}

/// The call as each system takes it.
pub(super) fn call(process: u32, address: &str, path: &str, token: String) -> Target {
    Target {
        url: format!("{address}{path}"),
        token: Some(token),
        body: Some(CALL.to_owned()),
        accept: None,
        process: Some(process),
    }
}

/// The call of another tool of Toolgate's, in the group `default`.
pub(super) fn call_of(server: &Server, key: &str, tool: &str) -> Target {
    let body = json!({ "tool": tool, "arguments": { "q": "rust gateway" } }).to_string();
    Target {
        body: Some(body),
        ..call(server.id(), server.address(), CALLS, key.to_owned())
    }
}

/// Calls a tool once, and wants it to succeed.
pub(super) fn succeeds(server: &Server, key: &str, tool: &str) -> Result<()> {
    let agent = Client::new(server.address()).with_token(key);
    let answer = agent.post(
        CALLS,
        &json!({ "tool": tool, "arguments": { "q": "rust gateway" } }),
    )?;
    if answer["status"] != "succeeded" {
        bail!("the call to measure does not succeed: {answer}");
    }
    Ok(())
}

/// The program of the peers, on the load's core.
pub(super) fn peers(arguments: &[&str]) -> Sh {
    peers_on(0, arguments)
}

/// The program of the peers on a core.
pub(super) fn peers_on(cpu: u32, arguments: &[&str]) -> Sh {
    Sh::words(&format!("taskset -c {cpu}"))
        .arg(paths::target().join("release/examples/peers"))
        .args(arguments)
}

/// The same tool over MCP: the call, and the list.
pub(super) fn mcp(process: u32, url: &str, token: &str) -> [Target; 2] {
    let call = json!({ "name": "search", "arguments": { "q": "rust gateway" } });
    [("tools/call", call), ("tools/list", json!({}))].map(|(method, params)| {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        Target {
            url: url.to_owned(),
            token: Some(token.to_owned()),
            body: Some(message.to_string()),
            accept: Some("application/json, text/event-stream"),
            process: Some(process),
        }
    })
}

/// Toolgate on the measured core, with its database in a folder on disk.
pub(super) struct Toolgate {
    pinned: PathBuf,
    folder: PathBuf,
    upstream: String,
    envs: Vec<(&'static str, String)>,
}

impl Toolgate {
    /// Prepares a folder; nothing runs yet.
    pub(super) fn new(binary: &Path, folder: &Path, upstream: &str) -> Result<Self> {
        // A script starts it, so that the process is on its core from its first instruction.
        let pinned = folder.join("toolgate-on-core-1");
        fs::write(
            &pinned,
            format!("#!/bin/sh\nexec taskset -c 1 '{}' \"$@\"\n", binary.display()),
        )?;
        Sh::words("chmod +x").arg(&pinned).read()?;
        Ok(Self {
            pinned,
            folder: folder.to_owned(),
            upstream: upstream.to_owned(),
            envs: Vec::new(),
        })
    }

    /// With another setting.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.envs.push((name, value.into()));
        self
    }

    /// Starts it; the time is from the start of the process until `/readyz` says yes.
    pub(super) fn start(&self) -> Result<(Server, Duration)> {
        let database_url = format!("sqlite:{}", self.folder.join("toolgate.db").display());
        let mut envs = vec![
            ("TOOLGATE_ADMIN_USERNAME", USERNAME),
            ("TOOLGATE_ADMIN_PASSWORD", PASSWORD),
            ("TOOLGATE_EGRESS_ALLOW", self.upstream.as_str()),
            ("TOOLGATE_LOG", "warn"),
        ];
        envs.extend(self.envs.iter().map(|(name, value)| (*name, value.as_str())));
        let started = Instant::now();
        let server = Server::start(&Start {
            binary: &self.pinned,
            listen: "127.0.0.1:0",
            database_url: &database_url,
            envs: &envs,
            watched: false,
        })?;
        Client::new(server.address())
            .get("/readyz")
            .context("the server is not ready")?;
        Ok((server, started.elapsed()))
    }

    /// Creates the project, the tool and an agent's key; returns the administrator, the key, and a listing.
    pub(super) fn set_up(&self, server: &Server) -> Result<(Client, String, String)> {
        let admin = Client::new(server.address()).sign_in(USERNAME, PASSWORD)?;
        admin.post("/projects", &json!({ "id": "bench" }))?;
        let tool = format!(
            "name: search\ntype: openapi\ndescription: Search.\ngroup: [knowledge]\n\
             parameters:\n  type: object\n  properties:\n    q: {{type: string}}\n    limit: {{type: integer}}\n    \
             source: {{type: string}}\n  required: [q]\n\
             options:\n  args: {{defaults: {{limit: 10}}, fixed: {{source: bench}}}}\n  \
             http: {{base_url: \"{}\", path: /search}}\n",
            self.upstream
        );
        admin.send("POST", "/projects/bench/tools", &Body::Yaml(&tool))?;
        let key = json!({ "name": "bench", "role": "agent", "groups": ["default", "knowledge"] });
        let key = admin.post("/projects/bench/keys", &key)?;
        let secret = text(&key, "secret")?.to_owned();
        let agent = Client::new(server.address()).with_token(&secret);
        let call: serde_json::Value = serde_json::from_str(CALL)?;
        let answer = agent.post(CALLS, &call)?;
        if answer["status"] != "succeeded" {
            bail!("the call to measure does not succeed: {answer}");
        }
        let listing = agent.get("/projects/bench/tools")?.to_string();
        Ok((admin, secret, listing))
    }

    /// Adds tools until there are so many.
    pub(super) fn fill(&self, admin: &Client, count: usize) -> Result<()> {
        let mut tools = String::new();
        for number in 1..count {
            write!(
                tools,
                "---\nname: tool_{number:04}\ntype: openapi\ndescription: Searches the catalogue number {number} for documents.\n\
                 group: [knowledge]\nparameters:\n  type: object\n  properties:\n    \
                 q: {{type: string, description: What to search for.}}\n    limit: {{type: integer, minimum: 1}}\n  required: [q]\n\
                 options: {{http: {{base_url: \"{}\", path: /search}}}}\n",
                self.upstream
            )?;
        }
        admin.send("POST", "/projects/bench/tools", &Body::Yaml(&tools))?;
        Ok(())
    }
}

/// A process's resident memory in megabytes.
pub(super) fn resident_mb(id: u32) -> Result<f64> {
    let status =
        fs::read_to_string(format!("/proc/{id}/status")).context("cannot read the process's status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .context("there is no VmRSS")?;
    let kilobytes: f64 = line
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .parse()
        .context("VmRSS is not a number")?;
    Ok(kilobytes / 1024.0)
}

/// The processor time that a process has used, in seconds (`/proc/<id>/stat`, utime and stime).
pub(super) fn processor_seconds(id: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).context("cannot read the process's times")?;
    // The name of the program is in parentheses and may hold anything.
    let (_, fields) = stat.rsplit_once(')').context("there is no name")?;
    let ticks = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(str::parse::<f64>)
        .sum::<Result<f64, _>>()
        .context("a time is not a number")?;
    #[expect(clippy::cast_precision_loss, reason = "it is 100 or 1000")]
    Ok(ticks / rustix::param::clock_ticks_per_second() as f64)
}
