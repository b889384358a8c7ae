//! Calls over the message bus: of a tool service beside an HTTP tool and beside a bare request on the same bus, and of a worker
//! beside a bare program whose commands and reports are kept by streams with the same settings.
//!
//! `nats-server`, the service and the worker share core 0 with the load; the measured program has core 1.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::systems::{self, Toolgate};
use super::wrk::Figures;
use super::{Options, Subject, measure, median, prepare, report};
use crate::bus::{Running, ready};
use crate::client::Body;
use crate::sh::Sh;
use crate::{install, paths, server};

const TOOLS: &str = "
tool-service:
  searches:
    request-queue: tg.bench.search
    response-queue: tg.bench.answers
tool:
  search-service:
    type: tool-service
    description: Search.
    service: searches
    arguments:
    - {name: q, type: string, description: What to look for.}
  search-worker:
    type: worker
    description: Search.
    target_subject: cmd.tool.search
    arguments:
    - {name: q, type: string, description: What to look for.}
";

/// A NATS server on the load's core, with its streams in a folder.
pub(super) struct Nats {
    pub(super) url: String,
    _running: Running,
}

impl Nats {
    pub(super) fn start(folder: &Path) -> Result<Self> {
        let port = server::free_port()?;
        let program = Sh::words("taskset -c 0")
            .arg(install::nats()?.join("nats-server"))
            .args([
                "--addr",
                "127.0.0.1",
                "--port",
                &port.to_string(),
                "--jetstream",
                "--store_dir",
            ])
            .arg(folder.join("nats"));
        Ok(Self {
            url: format!("nats://127.0.0.1:{port}"),
            _running: ready(&program, "Server is ready")?,
        })
    }
}

/// Measures and prints.
pub(super) fn run(options: &Options) -> Result<()> {
    let (folder, nginx) = prepare()?;
    let nats = Nats::start(&folder)?;
    let upstream = systems::upstream(&nginx, &folder)?;
    let started = |what: &str| ready(&systems::peers(&[what]).env("NATS_URL", &nats.url), "serving ");
    let (_service, _worker, _responder) = (started("service")?, started("worker")?, started("responder")?);
    let toolgate = Toolgate::new(&paths::server_binary("release"), &folder, &upstream.address)?
        .with("TOOLGATE_NATS_URL", &nats.url);
    let (server, _) = toolgate.start()?;
    let (admin, key, _) = toolgate.set_up(&server)?;
    admin.send("POST", "/projects/bench/tools", &Body::Yaml(TOOLS))?;
    for tool in ["search-service", "search-worker"] {
        systems::succeeds(&server, &key, tool)?;
    }

    let http = systems::call(
        server.id(),
        server.address(),
        "/projects/bench/calls",
        key.clone(),
    );
    let mut calls = vec![
        Subject::new("HTTP tool", http),
        Subject::new("tool service", systems::call_of(&server, &key, "search-service")),
        Subject::new("worker", systems::call_of(&server, &key, "search-worker")),
    ];
    println!("\nCalls over REST: check, decide, record twice, execute, answer");
    measure(&mut calls, options, &folder, true)?;
    report(&calls);

    println!("\nBare programs on the same bus");
    let mut bare = Vec::new();
    for (what, connections) in [("request", 1), ("request", 32), ("command", 1), ("command", 32)] {
        let mut figures = Vec::new();
        for _ in 0..options.rounds {
            figures.push(bare_program(&nats.url, what, connections, options.seconds)?);
        }
        let pick = |of: fn(&Figures) -> f64| median(&figures.iter().map(of).collect::<Vec<_>>());
        let (per_second, p50) = (pick(|f| f.per_second), pick(|f| f.p50_ms));
        println!(
            "  {what:<10} {connections:>3} at once {per_second:>9.0} per second, p50 {p50:.3} ms, p99 {:.3} ms",
            pick(|f| f.p99_ms)
        );
        bare.push((per_second, p50));
    }
    let of = |at: usize, alone: bool, what: fn(&Figures) -> f64| {
        let figures = if alone { &calls[at].alone } else { &calls[at].busy };
        median(&figures.iter().map(what).collect::<Vec<_>>())
    };
    println!(
        "\n  tool service / HTTP tool: {:.2}; added p50 at one connection over a bare request: {:.2} ms",
        of(1, false, |f| f.per_second) / of(0, false, |f| f.per_second),
        of(1, true, |f| f.p50_ms) - bare[0].1,
    );
    println!(
        "  worker: {:.0} calls per second; worker / bare command and report: {:.2}",
        of(2, false, |f| f.per_second),
        of(2, false, |f| f.per_second) / bare[3].0,
    );
    server.stop()
}

/// One run of a bare program on the measured core.
fn bare_program(url: &str, what: &str, connections: u32, seconds: u32) -> Result<Figures> {
    let arguments = [what, &connections.to_string(), &seconds.to_string()];
    let printed = systems::peers_on(1, &arguments).env("NATS_URL", url).read()?;
    let figures: Value = serde_json::from_str(printed.trim()).context("the program printed no figures")?;
    let of = |name: &str| {
        figures[name]
            .as_f64()
            .with_context(|| format!("there is no {name}: {figures}"))
    };
    Ok(Figures {
        per_second: of("per_second")?,
        p50_ms: of("p50_ms")?,
        p99_ms: of("p99_ms")?,
        cpu_us: f64::NAN,
    })
}
