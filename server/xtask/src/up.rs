//! `cargo xtask up`: from sources to a running Toolgate with an example project and a first call.
//!
//! The example's tools call Toolgate's own REST API, so nothing outside this machine is needed and nothing is
//! imitated. They need a key of the server they run on; so the server is started, asked for that key, and started
//! again with the key in its environment, the way an operator would add an upstream's credential.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::bus::{self, Bus};
use crate::client::{Body, Client, text};
use crate::server::{Server, Start};
use crate::sh::Sh;
use crate::{paths, ui};

/// The address written in the example file; replaced by the running server's.
const PLACEHOLDER: &str = "http://127.0.0.1:8080";
/// The environment variable that the example's definitions name.
const KEY_VARIABLE: &str = "EXAMPLE_API_KEY";
const PROJECT: &str = "demo";
const ADMIN: &str = "admin";

/// What can be chosen.
#[derive(Args)]
pub(crate) struct Options {
    /// Stop after the first call instead of waiting for Ctrl-C.
    #[arg(long)]
    pub(crate) once: bool,
    /// With a message bus (NATS), and a tool service and a worker in Python behind it.
    #[arg(long)]
    pub(crate) bus: bool,
    /// Build with optimisation: slower to build, faster to run.
    #[arg(long)]
    pub(crate) release: bool,
    /// The port on 127.0.0.1; a free one is taken when it is busy.
    #[arg(long, default_value_t = 8080)]
    pub(crate) port: u16,
    /// Use this binary instead of building one.
    #[arg(long, hide = true)]
    pub(crate) binary: Option<PathBuf>,
}

/// Builds, starts, sets up, makes the first call, and waits.
pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => build(options.release)?,
    };
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("cannot listen for Ctrl-C")?;
    }
    let folder = paths::target().join("up");
    let (server, password, _bus) = set_up(&binary, &folder, options.port, (true, options.bus))?;
    println!();
    println!("Toolgate is ready");
    println!("  dashboard     {}/ui/", server.address());
    println!("  API document  {}/docs", server.address());
    println!("  sign in as    {ADMIN}");
    println!("  password      {password}    (made up for this start and shown only here)");
    if options.once {
        println!("Stopping, as --once says.");
        return server.stop();
    }
    println!("Ctrl-C stops it.");
    server.wait(|| stop.load(Ordering::SeqCst))?;
    println!("Stopped.");
    Ok(())
}

fn build(release: bool) -> Result<PathBuf> {
    println!("Packaging the dashboard");
    ui::run()?;
    println!("Building the server");
    let profile = if release { "release" } else { "debug" };
    let flag = if release { "--release" } else { "" };
    Sh::cargo(&format!("build --package toolgate --features embed-ui {flag}")).run()?;
    Ok(paths::server_binary(profile))
}

/// Starts on a new database, creates the example project, and makes the first call. Returns the running server and
/// the administrator's password, and the message bus if there is to be one. `watched` is as in [`Start`].
pub(crate) fn set_up(
    binary: &Path,
    folder: &Path,
    port: u16,
    (watched, with_bus): (bool, bool),
) -> Result<(Server, String, Option<Bus>)> {
    println!("Starting on a new SQLite database in {}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let database_url = format!("sqlite:{}", folder.join("toolgate.db").display());
    let listen = free_address(port)?;
    let secrets_key = new_secrets_key(binary, folder)?;
    let log = std::env::var("TOOLGATE_LOG").unwrap_or_else(|_| "warn".to_owned());
    let start = |listen: &str, envs: &[(&str, &str)], watched| {
        let mut envs = envs.to_vec();
        envs.push(("TOOLGATE_LOG", &log));
        envs.push(("TOOLGATE_SECRETS_KEY", &secrets_key));
        Server::start(&Start {
            binary,
            listen,
            database_url: &database_url,
            envs: &envs,
            watched,
        })
    };

    let first = start(&listen, &[], false)?;
    let password = first
        .printed_password()
        .with_context(|| format!("the server printed no password; it said:\n{}", first.log()))?;
    let address = first.address().to_owned();
    let authority = first.authority().to_owned();
    let key = create_project(&Client::new(&address), &password)?;
    println!("Starting again with that key in {KEY_VARIABLE}, and calls to {address} allowed");
    first.stop()?;

    let mut bus = with_bus.then(|| Bus::start(folder)).transpose()?;
    let mut envs = vec![
        ("TOOLGATE_EGRESS_ALLOW", address.as_str()),
        ("TOOLGATE_TOOL_ENV", KEY_VARIABLE),
        (KEY_VARIABLE, key.as_str()),
    ];
    let url = bus.as_ref().map(|bus| bus.url().to_owned());
    if let Some(url) = &url {
        println!("With the message bus at {url}");
        envs.extend([
            ("TOOLGATE_NATS_URL", url.as_str()),
            ("TOOLGATE_NATS_SUBJECTS", bus::SUBJECTS),
        ]);
    }
    let server = start(&authority, &envs, watched)?;
    let anyone = Client::new(server.address());
    first_call(&anyone, &password)?;
    if let Some(bus) = &mut bus {
        bus.start_examples()?;
        bus.first_call(&anyone, &anyone.sign_in(ADMIN, &password)?, PROJECT)?;
    }
    Ok((server, password, bus))
}

/// A key to encrypt the example's secrets with, kept beside its database in a file that only its owner can read.
fn new_secrets_key(binary: &Path, folder: &Path) -> Result<String> {
    let made = Command::new(binary)
        .args(["secrets", "new-key"])
        .output()
        .with_context(|| format!("cannot run {}", binary.display()))?;
    ensure!(made.status.success(), "the server made no key for secrets");
    let key = String::from_utf8(made.stdout).context("the key is no text")?;
    let path = folder.join("secrets.key");
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(&path)
        .and_then(|mut file| file.write_all(key.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(key.trim().to_owned())
}

/// `127.0.0.1:port` if it is free, else with port 0.
fn free_address(port: u16) -> Result<String> {
    let wanted = format!("127.0.0.1:{port}");
    match TcpListener::bind(&wanted) {
        Ok(_) => Ok(wanted),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            println!("  port {port} is busy: taking a free one");
            Ok("127.0.0.1:0".to_owned())
        }
        Err(error) => Err(error).with_context(|| format!("cannot listen on {wanted}")),
    }
}

/// The administrator's first steps; returns the key that the example's tools present.
fn create_project(anyone: &Client, password: &str) -> Result<String> {
    let admin = anyone.sign_in(ADMIN, password)?;
    println!("\n1. The administrator signs in and creates the project {PROJECT}");
    show_post(
        &admin,
        "/projects",
        &json!({ "id": PROJECT, "name": "Toolgate calls itself" }),
    )?;
    println!("2. The administrator creates the key that the example's tools will present");
    let body = json!({ "name": "example upstream", "role": "auditor", "groups": ["catalog", "record"] });
    let answer = admin.post(&format!("/projects/{PROJECT}/keys"), &body)?;
    let secret = text(&answer, "secret")?;
    println!("   POST /projects/{PROJECT}/keys {body}");
    println!("   -> {}...", text(&answer, "prefix")?);
    Ok(secret.to_owned())
}

/// Uploads the tools, makes an agent's key, and lets the agent work.
fn first_call(anyone: &Client, password: &str) -> Result<()> {
    let admin = anyone.sign_in(ADMIN, password)?;
    let file = paths::root().join("openapi/examples/toolgate-api.yaml");
    let tools = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    ensure!(
        tools.contains(PLACEHOLDER),
        "{} does not name {PLACEHOLDER}",
        file.display()
    );
    let tools = tools.replace(PLACEHOLDER, anyone.address());

    println!("\n3. The administrator uploads openapi/examples/toolgate-api.yaml");
    let path = format!("/projects/{PROJECT}/tools");
    let answer = admin.send("POST", &path, &Body::Yaml(&tools))?;
    println!("   POST {path}");
    for item in members(&answer, "items") {
        println!(
            "   -> {} {} (revision {})",
            plain(&item["name"]),
            plain(&item["outcome"]),
            item["revision"]
        );
    }

    println!("4. The administrator creates an agent's key for the groups catalog and record");
    let body = json!({ "name": "first agent", "role": "agent", "groups": ["catalog", "record"] });
    let path = format!("/projects/{PROJECT}/keys");
    let answer = admin.post(&path, &body)?;
    println!("   POST {path} {body}");
    let secret = text(&answer, "secret")?;
    println!("   -> {secret}");
    let agent = anyone.with_token(secret);

    println!("5. The agent asks what it may call");
    show_post(
        &agent,
        &format!("/projects/{PROJECT}/resolve"),
        &json!({ "group": ["catalog", "record"] }),
    )?;

    println!("6. The agent calls list-tools; Toolgate decides, records, asks its own API, and answers");
    let body = json!({ "tool": "list-tools", "arguments": { "limit": 1 }, "group": ["catalog"] });
    let answer = show_post(&agent, &format!("/projects/{PROJECT}/calls"), &body)?;
    ensure!(
        answer["status"] == "succeeded",
        "the first call did not succeed: {answer}"
    );

    println!("7. The record shows who did what, and what came of it");
    let path = format!("/projects/{PROJECT}/audit?id={}", text(&answer, "call_id")?);
    let record = admin.get(&path)?;
    println!("   GET {path}");
    let entry = members(&record, "items")
        .next()
        .context("the record does not have the call")?;
    ensure!(
        entry["outcome"] == "succeeded",
        "the record says otherwise: {entry}"
    );
    println!("{}", indented(entry));
    Ok(())
}

fn show_post(client: &Client, path: &str, body: &Value) -> Result<Value> {
    let answer = client.post(path, body)?;
    println!("   POST {path} {body}");
    println!("{}", indented(&answer));
    Ok(answer)
}

fn members<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

fn plain(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// An answer for people: laid out, moved in, and cut where it would fill the screen.
fn indented(value: &Value) -> String {
    const LINES: usize = 40;
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let mut lines: Vec<_> = text
        .lines()
        .take(LINES)
        .map(|line| format!("   {line}"))
        .collect();
    let more = text.lines().count().saturating_sub(LINES);
    if more > 0 {
        lines.push(format!("   ... {more} more lines"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_port_is_passed_over() {
        let busy = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = busy.local_addr().unwrap().port();
        assert_eq!(free_address(port).unwrap(), "127.0.0.1:0");
        drop(busy);
    }

    #[test]
    fn long_answers_are_cut() {
        let long = Value::from((0..100).collect::<Vec<_>>());
        let text = indented(&long);
        assert_eq!(text.lines().count(), 41);
        assert!(text.ends_with("... 62 more lines"));
        assert_eq!(indented(&json!(1)), "   1");
    }
}
