//! Development tasks of the workspace: `cargo xtask up | test | ui | openapi | bench | release`.
//!
//! One file per task, and a few helpers under them: `sh` runs commands and says so, `install` fetches what a task
//! lacks, `server` starts and stops a Toolgate process, `client` talks to it, `room` looks at the disk. To add a task,
//! add a file with a `run` function and a variant here; to add a check, add a row to `test::STAGES`.

mod bench;
mod bus;
mod client;
mod disk_space;
mod install;
mod openapi;
mod pack;
mod package;
mod pages;
mod paths;
mod release;
mod server;
mod sh;
mod split;
mod style;
mod test;
mod ui;
mod up;
mod wasm;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "Development tasks of Toolgate",
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build everything, start it with the example project and make a first call through it.
    Up(up::Options),
    /// Run every check; the last line is `N passed, N failed`.
    Test(test::Options),
    /// Compile and package the browser's files into `target/ui`.
    Ui,
    /// Write `openapi/openapi.json` from the server's routes.
    Openapi,
    /// Measure calls per second beside a minimal server and nginx.
    Bench(bench::Options),
    /// Build the server as it is meant to be run: optimised by what a server under load does most.
    Release,
}

fn main() -> ExitCode {
    let result = match Cli::parse().task {
        Task::Up(options) => up::run(&options),
        Task::Test(options) => return test::run(&options),
        Task::Ui => ui::run().map(|_| ()),
        Task::Openapi => openapi::write(),
        Task::Bench(options) => bench::run(&options),
        Task::Release => release::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
