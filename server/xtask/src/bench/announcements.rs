//! 500 services announce 10 000 tools; then one of the tools changes while another one is called, and a server starts with all of
//! them.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::bus::Nats;
use super::systems::{self, Toolgate};
use super::{Options, median, prepare, wrk};
use crate::client::{Body, Client};
use crate::paths;

const SERVICES: usize = 500;
const TOOLS: usize = 20;
const CHANGES: usize = 10;
/// Services whose tools are enabled by one change.
const AT_ONCE: usize = 50;
/// How long the announcements may take.
const PATIENCE: Duration = Duration::from_mins(3);

/// Measures and prints.
pub(super) fn run(options: &Options) -> Result<()> {
    let (folder, nginx) = prepare()?;
    let nats = Nats::start(&folder)?;
    let upstream = systems::upstream(&nginx, &folder)?;
    let toolgate = Toolgate::new(&paths::server_binary("release"), &folder, &upstream.address)?
        .with("TOOLGATE_NATS_URL", &nats.url);
    let (server, _) = toolgate.start()?;
    let (admin, key, _) = toolgate.set_up(&server)?;

    println!("\n{SERVICES} services announce {TOOLS} tools each");
    let since = Instant::now();
    let arguments = ["announce", &SERVICES.to_string(), &TOOLS.to_string()];
    systems::peers(&arguments).env("NATS_URL", &nats.url).read()?;
    let all = SERVICES * TOOLS + 1;
    until(&admin, "/projects/bench/tools?limit=1", |page| {
        page["total"] == all
    })?;
    println!(
        "  all tools are there after {:.1} s",
        since.elapsed().as_secs_f64()
    );
    let mut enabled = Vec::new();
    for first in (0..SERVICES).step_by(AT_ONCE) {
        let services = first..first + AT_ONCE;
        let names: Vec<String> = services
            .flat_map(|service| (0..TOOLS).map(move |tool| format!("look-up-{service}-{tool}")))
            .collect();
        let since = Instant::now();
        let enable = json!({"select": {"names": names}, "change": {"enabled": true}});
        admin.post("/projects/bench/tool-changes", &enable)?;
        enabled.push(since.elapsed().as_secs_f64() * 1000.0);
    }
    println!(
        "  {} tools are enabled by one change within {:.0} ms (median of {})",
        AT_ONCE * TOOLS,
        median(&enabled),
        enabled.len()
    );
    let http = systems::call(server.id(), server.address(), "/projects/bench/calls", key);
    let script = http.script(&folder, "beside")?;
    let mut effective = Vec::new();
    let seconds = options.seconds.max(20);
    // The load fails if a call is refused.
    let figures = std::thread::scope(|scope| {
        let load = scope.spawn(|| wrk::load(&http, &script, 8, seconds));
        for number in 0..CHANGES {
            let tool = "look-up-7-3";
            let yaml = format!(
                "name: {tool}\ntype: tool-service\nservice: library-7\ndescription: Looks up, as changed {number}.\n\
                 arguments: [{{name: q, type: string, description: What to look for.}}]\n"
            );
            let since = Instant::now();
            admin.send("POST", "/projects/bench/tools", &Body::Yaml(&yaml))?;
            let is_there = format!("as changed {number}.");
            until(&admin, &format!("/projects/bench/tools/{tool}"), |found| {
                found.to_string().contains(&is_there)
            })?;
            effective.push(since.elapsed().as_secs_f64() * 1000.0);
        }
        load.join().map_err(|_| anyhow::anyhow!("the load panicked"))?
    })?;
    println!(
        "  a changed tool is effective after {:.0} ms (median of {CHANGES})",
        median(&effective)
    );
    println!(
        "  meanwhile {:.0} calls per second, p50 {:.2} ms, p99 {:.2} ms, none refused",
        figures.per_second, figures.p50_ms, figures.p99_ms
    );
    server.stop()?;
    let (server, ready) = toolgate.start()?;
    println!(
        "  a server with all of them is ready after {:.0} ms",
        ready.as_secs_f64() * 1000.0
    );
    server.stop()
}

fn until(client: &Client, path: &str, is_so: impl Fn(&Value) -> bool) -> Result<()> {
    let since = Instant::now();
    loop {
        let found = client.get(path).context("while it is waited for")?;
        if is_so(&found) {
            return Ok(());
        }
        ensure!(
            since.elapsed() < PATIENCE,
            "{path} does not come to what it should be: {found}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}
