//! The dashboard in a real browser, against the real server.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::code::build_server;
use super::count::{self, Tally};
use crate::sh::Sh;
use crate::{install, paths};

/// Names under which distributions ship a browser that the tests can drive. The one without windows takes a quarter less processor
/// time.
const BROWSERS: &[&str] = &[
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// How long one file may take, in milliseconds: none may hang.
const LIMIT: &str = "--test-timeout=1200000";

/// Installs the browser, and what drives it.
pub(super) fn fetch() -> Result<()> {
    install_packages(&paths::root().join("playwright"))?;
    install_packages(&paths::root().join("frontend/vendor"))?;
    browser()?;
    Ok(())
}

/// Runs every `*.test.mjs` below `playwright/`.
pub(super) fn run() -> Result<Tally> {
    let folder = paths::root().join("playwright");
    let binary = build_server()?;
    install_packages(&folder)?;
    check_bundles(&paths::root().join("frontend/vendor"))?;
    let browser = browser()?;
    let bus = install::nats()?.join("nats-server");
    let tests = tests_below(&folder)?;
    // Most of a file's time is waiting: for the page, for the server, for one another.
    let at_once = 2 * std::thread::available_parallelism().map_or(1, NonZero::get);
    let run = Sh::new(install::node()?.join("node"))
        .args(["--test", "--test-reporter=tap", LIMIT])
        .arg(format!("--test-concurrency={at_once}"))
        .args(tests)
        .env("TOOLGATE_BINARY", binary)
        .env("CHROMIUM", browser)
        .env("TOOLGATE_NATS_SERVER", bus)
        .folder(&folder);
    Ok(count::node(&run.tee()?))
}

/// Node looks for packages beside the scripts that use them, so they are installed there.
fn install_packages(folder: &Path) -> Result<()> {
    let lock = fs::read_to_string(folder.join("package-lock.json"))
        .with_context(|| format!("cannot read {}/package-lock.json", folder.display()))?;
    let installed = folder.join("node_modules/.installed");
    if fs::read_to_string(&installed).is_ok_and(|text| text == lock) {
        return Ok(());
    }
    install::npm_ci(folder)?;
    fs::write(installed, lock).context("cannot note what is installed")
}

/// The bundles of the editor and the charts are what the packages of their lock file give, byte for byte, and what we add to
/// the packages does what it should.
fn check_bundles(folder: &Path) -> Result<()> {
    install_packages(folder)?;
    let node = install::node()?.join("node");
    for line in [&["build.mjs", "--check"][..], &["--test", "tests/"]] {
        Sh::new(&node).args(line).folder(folder).run()?;
    }
    Ok(())
}

fn browser() -> Result<PathBuf> {
    let found = || {
        BROWSERS
            .iter()
            .filter_map(|name| install::find(name))
            // A placeholder for another package system is found as well, but does not run.
            .find(|path| Sh::new(path).arg("--version").succeeds())
    };
    if let Some(path) = found() {
        return Ok(path);
    }
    let install = |name| install::packages(&[name], "testing in a browser");
    install(BROWSERS[0]).or_else(|_| install("chromium"))?;
    found().with_context(|| format!("there is no browser; install one of {}", BROWSERS.join(", ")))
}

fn tests_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut tests = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() && !path.ends_with("node_modules") {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(".test.mjs") {
                tests.push(path);
            }
        }
    }
    if tests.is_empty() {
        bail!("there is no *.test.mjs below {}", folder.display());
    }
    tests.sort();
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_found_at_every_depth_but_not_in_packages() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert!(tests_below(root).is_err());
        for (name, _) in [
            ("a.test.mjs", ()),
            ("deep/b.test.mjs", ()),
            ("deep/helper.mjs", ()),
            ("node_modules/x/c.test.mjs", ()),
        ] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), "").unwrap();
        }
        assert_eq!(
            tests_below(root).unwrap(),
            [root.join("a.test.mjs"), root.join("deep/b.test.mjs")]
        );
    }
}
