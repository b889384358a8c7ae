//! The dashboard: its tests pass, and as the browser gets it, it compiles and stays small.

use std::panic::resume_unwind;
use std::thread;

use anyhow::Result;

use super::code;
use super::count::Tally;
use crate::{package, ui, wasm};

/// Bytes on the wire (brotli) by the ending of the plain name: what people wait for on a slow line, with the first page.
/// What each page needs beside that, and that the heaviest stays below 450 kB of WebAssembly in all, is asked of the
/// running server by the browser stage (`playwright/tests/delivery.test.mjs`).
const BUDGETS: &[(&str, u64)] = &[(".wasm", 250_000), (".js", 25_000), (".css", 20_000)];
/// The same of what is loaded where it is used: the editor and the charts.
const APART: &[(&str, u64)] = &[("vendor/editor.js", 145_000), ("vendor/charts.js", 25_000)];
/// How the names of parts begin that come with later pages.
const LATER: [&str; 3] = ["split_", "chunk_", "vendor/"];

/// Tests the dashboard's code beside compiling it for the browser, whose last crate leaves one core idle for two minutes.
pub(super) fn run() -> Result<Tally> {
    // Before anything else adds to the toolchain: rustup does one thing at a time.
    code::component("clippy")?;
    thread::scope(|scope| {
        let tested = scope.spawn(|| super::all(&[("dashboard", &code::dashboard)]));
        let packaged = packaged();
        let tested = tested.join().unwrap_or_else(|panic| resume_unwind(panic));
        Ok(packaged? + tested)
    })
}

/// Compiles without a warning, packages, and weighs.
fn packaged() -> Result<Tally> {
    let folder = ui::run()?;
    let sizes: Vec<_> = package::sizes(&folder)?
        .into_iter()
        .map(|(name, size)| (name, size.brotli))
        .collect();
    let warnings = wasm::warnings()?;
    print!("{warnings}");
    let mut tally = if warnings.is_empty() {
        Tally::PASSED
    } else {
        Tally::FAILED
    };
    for (ending, limit, total) in weigh(&sizes) {
        let verdict = if total <= limit { "ok" } else { "TOO LARGE" };
        println!("  {ending:<6} {total:>8} of {limit} bytes  {verdict}");
        tally = tally
            + if total <= limit {
                Tally::PASSED
            } else {
                Tally::FAILED
            };
    }
    Ok(tally)
}

/// What comes with the first page of each kind of file, and what is loaded apart.
fn weigh(sizes: &[(String, u64)]) -> impl Iterator<Item = (&'static str, u64, u64)> {
    BUDGETS.iter().chain(APART).map(|&(ending, limit)| {
        let counts = |name: &str| {
            name == ending || (name.ends_with(ending) && !LATER.iter().any(|part| name.starts_with(part)))
        };
        let counted = sizes.iter().filter(|(name, _)| counts(name));
        (ending, limit, counted.map(|(_, size)| size).sum())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_kind_are_weighed_together_without_the_parts_of_later_pages() {
        let sizes = [
            ("app_bg.wasm".to_owned(), 180_000),
            ("chunk_3.wasm".to_owned(), 20_000),
            ("split_rules.wasm".to_owned(), 70_000),
            ("split_tools.wasm".to_owned(), 90_000),
            ("app.js".to_owned(), 20_000),
            ("boot.js".to_owned(), 6_000),
            ("main.css".to_owned(), 1),
            ("vendor/charts.js".to_owned(), 7),
            ("vendor/editor.js".to_owned(), 9),
        ];
        let weighed: Vec<_> = weigh(&sizes).collect();
        assert_eq!(
            weighed,
            [
                (".wasm", 250_000, 180_000),
                (".js", 25_000, 26_000),
                (".css", 20_000, 1),
                ("vendor/editor.js", 145_000, 9),
                ("vendor/charts.js", 25_000, 7)
            ]
        );
    }
}
