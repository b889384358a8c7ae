//! `cargo xtask test`: every check of the project, counted.
//!
//! A stage that fails does not stop the next one. The last line is `N passed, N failed`, summed over the tests that
//! the test programs report and one for every tool that reports no number; the exit code is 1 when anything failed.

mod api;
mod browser;
mod code;
mod count;
mod dashboard;
mod dependencies;
mod failures;
mod licences;
mod mcp;
mod requests;
mod shapes;
mod times;

use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;

use count::Tally;

use crate::bus;

/// A group of checks.
struct Stage {
    name: &'static str,
    what: &'static str,
    /// Seconds that it should take on two cores in a fresh clone with warm package caches: who adds a check sees what it
    /// costs.
    seconds: u64,
    lane: Lane,
    /// Installs what it needs and the machine lacks.
    fetch: Option<fn() -> Result<()>>,
    run: fn() -> Result<Tally>,
}

/// Beside what a stage runs. Most of those in the two lanes keep one core busy and the other idle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lane {
    Alone,
    /// The lint, which only compiles, and what follows it.
    Compiled,
    /// What runs the server beside them: the longest stage, and short ones.
    Running,
}

/// Every stage, in an order that shares what was compiled: the dashboard is packaged before the server that embeds
/// it is compiled once, with its tests, and the later stages run that binary.
const STAGES: &[Stage] = &[
    Stage {
        name: "format",
        what: "every source file is formatted",
        seconds: 10,
        lane: Lane::Alone,
        fetch: None,
        run: code::format,
    },
    Stage {
        name: "dependencies",
        what: "unwanted crates and licences stay out",
        seconds: 10,
        lane: Lane::Alone,
        fetch: None,
        run: dependencies::run,
    },
    Stage {
        name: "ui",
        what: "the dashboard passes its tests and compiles for the browser within its size budgets",
        seconds: 270,
        lane: Lane::Alone,
        fetch: None,
        run: dashboard::run,
    },
    Stage {
        name: "unit",
        what: "unit, contract and API tests, on SQLite and PostgreSQL",
        seconds: 600,
        lane: Lane::Alone,
        fetch: Some(code::fetch),
        run: code::unit,
    },
    Stage {
        name: "lint",
        what: "no compiler or clippy warning anywhere",
        seconds: 40,
        lane: Lane::Compiled,
        fetch: None,
        run: code::lint,
    },
    Stage {
        name: "up",
        what: "`cargo xtask up` makes its first call",
        seconds: 20,
        lane: Lane::Running,
        fetch: None,
        run: api::up,
    },
    Stage {
        name: "document",
        what: "the API document is current and passes a strict lint",
        seconds: 10,
        lane: Lane::Running,
        fetch: Some(api::fetch),
        run: api::document,
    },
    Stage {
        name: "clients",
        what: "generated TypeScript and Python clients do the main job",
        seconds: 80,
        lane: Lane::Compiled,
        fetch: Some(shapes::fetch),
        run: api::clients,
    },
    Stage {
        name: "schemathesis",
        what: "the server keeps what its document promises",
        seconds: 240,
        lane: Lane::Running,
        fetch: None,
        run: api::schemathesis,
    },
    Stage {
        name: "requests",
        what: "no request of an imported tool violates its description",
        seconds: 90,
        lane: Lane::Compiled,
        fetch: None,
        run: requests::run,
    },
    Stage {
        name: "mcp",
        what: "the official MCP client and conformance suite accept a project as a server",
        seconds: 120,
        lane: Lane::Compiled,
        fetch: Some(mcp::fetch),
        run: mcp::run,
    },
    Stage {
        name: "browser",
        what: "people can use the dashboard in a real browser",
        seconds: 580,
        lane: Lane::Alone,
        fetch: Some(browser::fetch),
        run: browser::run,
    },
];

/// What can be chosen.
#[derive(Args)]
pub(crate) struct Options {
    /// Run only these stages, in the usual order.
    #[arg(long, value_delimiter = ',', value_parser = stage_names())]
    only: Vec<String>,
    /// List the stages and run nothing.
    #[arg(long)]
    list: bool,
}

/// What is listed as slowest.
const SLOWEST: usize = 10;

fn stage_names() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(STAGES.iter().map(|stage| stage.name))
}

/// Runs the chosen stages.
pub(crate) fn run(options: &Options) -> ExitCode {
    if options.list {
        STAGES
            .iter()
            .for_each(|stage| println!("{:<14} {}", stage.name, stage.what));
        return ExitCode::SUCCESS;
    }
    let chosen: Vec<_> = STAGES
        .iter()
        .filter(|stage| options.only.is_empty() || options.only.iter().any(|name| name == stage.name))
        .collect();
    crate::disk_space::announce();
    let started = Instant::now();
    let results = run_stages(&chosen);

    let failures = failures::all();
    if !failures.is_empty() {
        println!("\n== failed");
        failures.iter().for_each(|failure| println!("{failure}\n"));
    }
    println!("\n== slowest");
    for (took, what) in times::slowest(SLOWEST) {
        println!("{:>13}  {what}", minutes(took));
    }
    println!("\n== summary, {}", minutes(started.elapsed()));
    for (stage, (tally, took)) in &results {
        let verdict = if tally.failed == 0 { "ok    " } else { "FAILED" };
        let over = if took.as_secs() > stage.seconds {
            ", over it"
        } else {
            ""
        };
        println!(
            "{verdict} {:<14} {:>5} passed {:>4} failed  {:>12}, budget {}{over}",
            stage.name,
            tally.passed,
            tally.failed,
            minutes(*took),
            minutes(Duration::from_secs(stage.seconds)),
        );
    }
    let total = results
        .iter()
        .fold(Tally::default(), |sum, (_, (tally, _))| sum + *tally);
    if total.failed > 0 {
        crate::disk_space::explain_failure();
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    if total.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn run_stages<'s>(stages: &[&'s Stage]) -> Vec<(&'s Stage, (Tally, Duration))> {
    thread::scope(|scope| {
        // Beside the stages that only compile for the browser.
        let mut fetching = Some(scope.spawn(move || fetch(stages)));
        let mut results = Vec::new();
        for beside in stages.chunk_by(|one, next| (one.lane == Lane::Alone) == (next.lane == Lane::Alone)) {
            if beside[0].lane == Lane::Alone {
                for &stage in beside {
                    if stage.fetch.is_some() {
                        wait(&mut fetching);
                    }
                    results.push((stage, run_stage(stage)));
                }
                continue;
            }
            wait(&mut fetching);
            if beside.len() > 1 {
                build_for_lanes();
            }
            let lane = |lane| {
                let stages = beside.iter().filter(move |stage| stage.lane == lane);
                move || stages.map(|&stage| (stage, run_stage(stage))).collect::<Vec<_>>()
            };
            let compiled = scope.spawn(lane(Lane::Compiled));
            results.extend(lane(Lane::Running)());
            results.extend(compiled.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results.sort_by_key(|(stage, _)| STAGES.iter().position(|known| known.name == stage.name));
        results
    })
}

/// Installs what the stages need. What fails is reported by the stage that needs it.
fn fetch(stages: &[&Stage]) {
    for stage in stages {
        if let Some(Err(error)) = stage.fetch.map(|fetch| fetch()) {
            println!(
                "  not everything for {} could be installed yet: {error:#}",
                stage.name
            );
        }
    }
}

fn wait(fetching: &mut Option<ScopedJoinHandle<'_, ()>>) {
    if let Some(Err(panic)) = fetching.take().map(ScopedJoinHandle::join) {
        resume_unwind(panic);
    }
}

/// What the stages in the lanes run; compiling it later would wait for the lint's lock on the build folder.
fn build_for_lanes() {
    for (what, built) in [
        ("the server", code::build_server().map(|_| ())),
        ("the examples", bus::build_examples()),
    ] {
        if let Err(error) = built {
            println!("FAILED to build {what}: {error:#}");
        }
    }
}

fn run_stage(stage: &Stage) -> (Tally, Duration) {
    println!("\n== {}: {}", stage.name, stage.what);
    let started = Instant::now();
    let tally = (stage.run)().unwrap_or_else(|error| {
        println!("FAILED {}: {error:#}", stage.name);
        Tally::FAILED
    });
    (tally, started.elapsed())
}

fn minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{} min {:02} s", seconds / 60, seconds % 60)
}

/// Runs several checks of one stage; each that reports an error counts as one failure, and the others still run.
fn all(checks: &[(&str, &dyn Fn() -> Result<Tally>)]) -> Tally {
    let mut total = Tally::default();
    for (what, check) in checks {
        println!("- {what}");
        total = total
            + times::timed(what, check).unwrap_or_else(|error| {
                println!("FAILED {what}: {error:#}");
                Tally::FAILED
            });
    }
    total
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn a_failing_check_counts_once_and_stops_nothing() {
        let tally = all(&[
            ("one", &|| Ok(Tally::PASSED)),
            ("two", &|| bail!("broken")),
            ("three", &|| Ok(Tally { passed: 5, failed: 2 })),
        ]);
        assert_eq!(tally, Tally { passed: 6, failed: 3 });
    }

    #[test]
    fn the_budget_of_all_stages_is_what_is_promised() {
        let of = |lane| -> u64 {
            let stages = STAGES.iter().filter(|stage| stage.lane == lane);
            stages.map(|stage| stage.seconds).sum()
        };
        let total = of(Lane::Alone) + of(Lane::Compiled).max(of(Lane::Running));
        assert!(total <= 30 * 60, "{total} s");
    }

    #[test]
    fn stage_names_are_unique() {
        let mut names: Vec<_> = STAGES.iter().map(|stage| stage.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STAGES.len());
    }
}
