//! The stages about our own Rust code.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;

use super::count::{self, Tally};
use crate::install;
use crate::sh::Sh;

/// How the server's side is tested: with the dashboard in it.
const SERVER_FEATURES: &str = "--features toolgate/embed-ui";

/// The tests of the dashboard, which are all beside its code: without its program, which compiles for a minute.
const DASHBOARD: &str = "--package toolgate-ui --bin toolgate-ui";

/// Every source file is formatted.
pub(super) fn format() -> Result<Tally> {
    component("rustfmt")?;
    Ok(count::tool(&Sh::cargo("fmt --all --check").tee()?))
}

/// Cargo with the linter as the compiler, so that the lint of what the tests compile costs no second pass.
fn linting(line: &str) -> Sh {
    Sh::cargo(line).env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
}

/// No warning in the whole workspace, the dashboard's own code on this machine's target, as its tests compile it: its program
/// has no use here, and the `ui` stage finds what only tests use. Cargo repeats what the linter said of what is compiled, and
/// compiles what no test needs. No code is there only without a feature.
pub(super) fn lint() -> Result<Tally> {
    component("clippy")?;
    let check = |line: &str| -> Result<Tally> {
        let build = linting(line);
        // Shown at its end, in one piece: other stages print meanwhile.
        let outcome = build.read_all()?;
        println!("  $ {build}\n{}", outcome.text);
        let has_warnings = outcome.text.lines().any(|line| line.starts_with("warning: "));
        Ok(if has_warnings {
            Tally::FAILED
        } else {
            count::tool(&outcome)
        })
    };
    Ok(super::all(&[
        ("server, store, executors, core and contract", &|| {
            check(&format!(
                "build --quiet --all-targets --keep-going {SERVER_FEATURES}"
            ))
        }),
        ("tasks", &|| {
            check("build --quiet --all-targets --keep-going --package xtask")
        }),
        ("dashboard", &|| {
            check(&format!("test --quiet --no-run {DASHBOARD}"))
        }),
    ]))
}

/// Installs what the tests start.
pub(super) fn fetch() -> Result<()> {
    install::postgres()?;
    install::nats()?;
    install::bubblewrap()
}

/// Cargo with the tests of something.
fn tests(what: &str) -> Sh {
    // Most of a test's time is waiting: for the disk, for the database, for an upstream.
    let at_once = 2 * std::thread::available_parallelism().map_or(1, NonZero::get);
    linting(&format!("test --no-fail-fast {what}")).env("RUST_TEST_THREADS", at_once.to_string())
}

/// The tests of the dashboard's code, with the processor time that nothing else wants. The linter must be there.
pub(super) fn dashboard() -> Result<Tally> {
    Ok(count::libtest(&tests(DASHBOARD).in_background().tee()?))
}

/// Unit, contract and API tests. The workspace's default members are everything that runs on the server's side;
/// the tasks and the dashboard are packages apart.
pub(super) fn unit() -> Result<Tally> {
    component("clippy")?;
    // `--tests` are the unit tests too, but no examples, which the lint compiles.
    let test = |what: &str| -> Result<Tally> { Ok(count::libtest(&tests(what).tee()?)) };
    Ok(super::all(&[
        ("PostgreSQL for the tests", &|| {
            install::postgres().map(|()| Tally::PASSED)
        }),
        ("NATS for the tests", &|| install::nats().map(|_| Tally::PASSED)),
        ("bubblewrap for the tests", &|| {
            install::bubblewrap().map(|()| Tally::PASSED)
        }),
        ("server, store, executors, core and contract", &|| {
            test(&format!("--tests {SERVER_FEATURES}"))
        }),
        ("tasks", &|| test("--tests --package xtask")),
    ]))
}

/// Builds the server with the embedded dashboard exactly as the unit stage does, so that nothing is compiled twice; once in a
/// run. When some test does not compile, which the unit stage reports, the server alone is built.
pub(super) fn build_server() -> Result<PathBuf> {
    static BUILT: Mutex<Option<PathBuf>> = Mutex::new(None);
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(binary) = &*built {
        return Ok(binary.clone());
    }
    if linting(&format!("build --quiet {SERVER_FEATURES} --bins --tests"))
        .run()
        .is_err()
    {
        Sh::cargo("build --package toolgate --features embed-ui").run()?;
    }
    Ok(built.insert(crate::paths::server_binary("debug")).clone())
}

/// Adds a component of the toolchain if it is missing.
pub(super) fn component(name: &str) -> Result<()> {
    let program = if name == "clippy" { "clippy" } else { "fmt" };
    if Sh::cargo(&format!("{program} --version")).succeeds() {
        return Ok(());
    }
    println!("  {name} is missing: adding it with rustup");
    Sh::words("rustup component add").arg(name).run()
}
