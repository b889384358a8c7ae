//! `cargo xtask bench`: the whole path of a call beside the least a gateway could do.
//!
//! Each system has core 1 for itself; the load and the upstream share core 0. The systems take turns (A B C A B C ...),
//! and what counts is the ratio of their medians: absolute figures move with the machine, ratios hardly. Run it on an
//! otherwise idle machine.

mod announcements;
mod bus;
mod hs256;
mod listeners;
mod mcp;
mod systems;
mod wrk;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};

use crate::sh::Sh;
use crate::{install, paths};
use systems::{Toolgate, resident_mb};
use wrk::{Figures, Target};

/// Tools of a listing that is not small.
const TOOLS: usize = 1_000;
/// Tools of the largest page.
const PAGE: usize = 200;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Calls of an HTTP tool, listings, memory and the start.
    Calls,
    /// Calls of a tool service and of a worker behind NATS.
    Bus,
    /// 500 announced services with 10 000 tools.
    Announcements,
    /// Calls of MCP servers, one that hangs, and 200 of them.
    Mcp,
}

/// What can be chosen.
#[derive(Args)]
pub(crate) struct Options {
    /// What is measured, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "calls")]
    of: Vec<Part>,
    /// How often each system takes its turn.
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Seconds of one turn at 32 connections.
    #[arg(long, default_value_t = 10)]
    seconds: u32,
    /// Measure the programs that are in the target folder, whatever they were built from.
    #[arg(long)]
    built: bool,
    /// Measure the server that `cargo xtask release` has built.
    #[arg(long, conflicts_with = "built")]
    released: bool,
}

/// A system under load.
struct Subject {
    name: &'static str,
    target: Target,
    /// Medians are taken of these.
    busy: Vec<Figures>,
    alone: Vec<Figures>,
}

impl Subject {
    fn new(name: &'static str, target: Target) -> Self {
        Self {
            name,
            target,
            busy: Vec::new(),
            alone: Vec::new(),
        }
    }
}

/// Builds, measures, prints.
pub(crate) fn run(options: &Options) -> Result<()> {
    ensure!(
        std::thread::available_parallelism()?.get() >= 2,
        "the benchmark needs two cores"
    );
    if !options.built {
        println!("Building with optimisation");
        let server = if options.released { "" } else { "--bin toolgate" };
        Sh::cargo(&format!(
            "build --release --package toolgate --example reference --example peers {server}"
        ))
        .run()?;
    }
    let mut all = Ok(());
    for part in &options.of {
        let measured = match part {
            Part::Calls => calls(options),
            Part::Bus => bus::run(options),
            Part::Announcements => announcements::run(options),
            Part::Mcp => mcp::run(options),
        };
        if let Err(error) = measured {
            println!("\n{part:?} could not be measured: {error:#}");
            all = all.and(Err(error));
        }
    }
    all
}

/// Calls of an HTTP tool and listings.
fn calls(options: &Options) -> Result<()> {
    let (folder, nginx) = prepare()?;

    let upstream = systems::upstream(&nginx, &folder)?;
    let toolgate = Toolgate::new(&paths::server_binary("release"), &folder, &upstream.address)?;
    let (server, _) = toolgate.start()?;
    let (admin, key, listing) = toolgate.set_up(&server)?;
    let token = admin.token().unwrap_or_default().to_owned();
    let listing_file = folder.join("listing.json");
    fs::write(&listing_file, listing)?;
    let example = paths::target().join("release/examples/reference");
    let reference = systems::reference(&example, &upstream.address, &listing_file, None)?;
    let record = folder.join("reference.db");
    let recording = systems::reference(&example, &upstream.address, &listing_file, Some(&record))?;
    let proxy = systems::proxy(&nginx, &folder, &upstream.address)?;

    let search = "/search?q=rust+gateway&limit=10&source=bench";
    let get = |address: &str, path: &str, token: Option<String>| Target {
        url: format!("{address}{path}"),
        token,
        body: None,
        accept: None,
        process: None,
    };
    let calls = "/projects/bench/calls";
    let mcp = format!("{}/projects/bench/mcp?group=knowledge", server.address());
    let [mcp_call, mcp_list] = systems::mcp(server.id(), &mcp, &key);
    let mcp = format!("{}/mcp", reference.address);
    let [mcp_reference, _] = systems::mcp(reference.id(), &mcp, &systems::reference_token());
    let mut subjects = vec![
        Subject::new(
            "reference",
            systems::call(
                reference.id(),
                &reference.address,
                "/calls",
                systems::reference_token(),
            ),
        ),
        // What the protocol's implementation costs by itself.
        Subject::new("reference, MCP", mcp_reference),
        // What two durable rows a call cost whatever writes them, on this disk.
        Subject::new(
            "reference, recording",
            systems::call(
                recording.id(),
                &recording.address,
                "/calls",
                systems::reference_token(),
            ),
        ),
        Subject::new("nginx proxy", get(&proxy.address, search, None)),
        Subject::new(
            "toolgate, key",
            systems::call(server.id(), server.address(), calls, key.clone()),
        ),
        Subject::new(
            "toolgate, JWT",
            systems::call(server.id(), server.address(), calls, token),
        ),
        Subject::new("toolgate, MCP", mcp_call),
        Subject::new("upstream directly", get(&upstream.address, search, None)),
    ];
    println!("\nCalls: POST, check, decide, record twice, GET upstream, answer");
    measure(&mut subjects, options, &folder, true)?;
    report(&subjects);
    println!("\nMemory after the run (resident, MB)");
    println!(
        "  reference {:.1}, toolgate {:.1}",
        resident_mb(reference.id())?,
        resident_mb(server.id())?
    );

    let mut listings = vec![
        Subject::new(
            "prebuilt bytes",
            get(&reference.address, "/tools", Some(systems::reference_token())),
        ),
        Subject::new(
            "toolgate, key",
            get(server.address(), "/projects/bench/tools", Some(key.clone())),
        ),
        Subject::new("toolgate, MCP", mcp_list.clone()),
    ];
    println!("\nTool listing");
    measure(&mut listings, options, &folder, false)?;
    report(&listings);

    toolgate.fill(&admin, TOOLS)?;
    let page = format!("{}/projects/bench/tools?limit={PAGE}", server.address());
    let mut listings = vec![
        Subject::new("REST, 200 tools", get(&page, "", Some(key.clone()))),
        Subject::new("MCP, 1 000 tools", mcp_list),
    ];
    println!("\nListing of {TOOLS} tools: a fifth by REST, which has pages; all of them over MCP");
    measure(&mut listings, options, &folder, false)?;
    report(&listings);

    listeners::measure(&server, &admin, &key, &upstream.address)?;

    server.stop()?;
    let mut starts = Vec::new();
    for _ in 0..5 {
        let (server, took) = toolgate.start()?;
        starts.push(took.as_secs_f64() * 1000.0);
        server.stop()?;
    }
    println!(
        "\nReady after a start with this database: {:.0} ms (median of {})",
        median(&starts),
        starts.len()
    );
    Ok(())
}

/// Lets a server answer calls and listings, by key and by token, on connections that work at the same time and on one.
pub(crate) fn exercise(binary: &Path, seconds: u32) -> Result<()> {
    let (folder, nginx) = prepare()?;
    let upstream = systems::upstream(&nginx, &folder)?;
    let toolgate = Toolgate::new(binary, &folder, &upstream.address)?;
    let (server, _) = toolgate.start()?;
    let (admin, key, _) = toolgate.set_up(&server)?;
    let token = admin.token().unwrap_or_default().to_owned();
    for credential in [key, token] {
        let call = systems::call(
            server.id(),
            server.address(),
            "/projects/bench/calls",
            credential.clone(),
        );
        let listing = Target {
            url: format!("{}/projects/bench/tools", server.address()),
            token: Some(credential),
            body: None,
            accept: None,
            process: None,
        };
        for (target, connections) in [(&call, 32), (&call, 1), (&listing, 32)] {
            let script = target.script(&folder, "load")?;
            wrk::load(target, &script, connections, seconds)?;
        }
    }
    server.stop()
}

/// An empty folder, and nginx.
fn prepare() -> Result<(PathBuf, PathBuf)> {
    install::program("wrk", &["wrk"], "the benchmark")?;
    let nginx = install::program("nginx", &["nginx-light"], "the benchmark")?;
    let folder = paths::target().join("bench");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(&folder)?;
    Ok((folder, nginx))
}

/// Lets the systems take turns.
fn measure(subjects: &mut [Subject], options: &Options, folder: &Path, alone: bool) -> Result<()> {
    for round in 0..options.rounds {
        for subject in &mut *subjects {
            let script = subject.target.script(folder, "load")?;
            let warm_up = if round == 0 { 3 } else { 1 };
            wrk::load(&subject.target, &script, 32, warm_up)?;
            let figures = wrk::load(&subject.target, &script, 32, options.seconds)?;
            println!(
                "  round {} {:<20} {:>9.0} per second, {:>5.1} us CPU each",
                round + 1,
                subject.name,
                figures.per_second,
                figures.cpu_us
            );
            subject.busy.push(figures);
            if alone {
                subject.alone.push(wrk::load(
                    &subject.target,
                    &script,
                    1,
                    options.seconds.div_ceil(3),
                )?);
            }
        }
    }
    Ok(())
}

/// Medians, and ratios to the first subject.
fn report(subjects: &[Subject]) {
    let pick = |figures: &[Figures], what: fn(&Figures) -> f64| {
        median(&figures.iter().map(what).collect::<Vec<_>>())
    };
    let first = subjects
        .first()
        .map_or(1.0, |subject| pick(&subject.busy, |f| f.per_second));
    println!(
        "  {:<20} {:>10} {:>7}  {:>8} {:>8} {:>8}   {:>8} {:>8}",
        "", "32 conn/s", "ratio", "p50 ms", "p99 ms", "CPU us", "1: p50", "p99 ms"
    );
    for subject in subjects {
        let per_second = pick(&subject.busy, |f| f.per_second);
        print!(
            "  {:<20} {per_second:>10.0} {:>7.2}  {:>8.2} {:>8.2} {:>8.1}",
            subject.name,
            per_second / first,
            pick(&subject.busy, |f| f.p50_ms),
            pick(&subject.busy, |f| f.p99_ms),
            pick(&subject.busy, |f| f.cpu_us),
        );
        if subject.alone.is_empty() {
            println!();
        } else {
            println!(
                "   {:>8.2} {:>8.2}",
                pick(&subject.alone, |f| f.p50_ms),
                pick(&subject.alone, |f| f.p99_ms)
            );
        }
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_does_not_care_for_order() {
        for (values, expected) in [
            (vec![3.0, 1.0, 2.0], 2.0),
            (vec![4.0, 1.0], 2.5),
            (vec![7.0], 7.0),
        ] {
            assert!((median(&values) - expected).abs() < 1e-9);
        }
        assert!(median(&[]).is_nan());
    }
}
