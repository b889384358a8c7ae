//! Fetching what a task needs and the machine lacks.
//!
//! System packages come from the distribution, and only when we may install them; otherwise the error says exactly
//! what to type. Everything else (Python and Node packages, pinned to the version) goes into `target/tools`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use anyhow::{Context, Result, bail, ensure};

use crate::paths;
use crate::sh::Sh;

/// The oldest Node that every tool of ours runs on.
const NODE: (u32, u32) = (20, 19);

/// Installs distribution packages, because `why` needs them.
pub(crate) fn packages(names: &[&str], why: &str) -> Result<()> {
    let list = names.join(" ");
    let command = format!("apt-get install --yes --no-install-recommends {list}");
    let can_install = rustix::process::getuid().is_root() && Sh::words("apt-get --version").succeeds();
    if !can_install {
        bail!("{why} needs the packages {list}; install them with: sudo {command}");
    }
    println!("  {why} needs {list}: installing from the distribution's packages");
    // One at a time: the package manager has a lock.
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _installing = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    static UPDATE: Once = Once::new();
    UPDATE.call_once(|| {
        if let Err(error) = Sh::words("apt-get update --quiet").run() {
            println!("  {error:#}; going on with the package lists that are there");
        }
    });
    Sh::words(&command).env("DEBIAN_FRONTEND", "noninteractive").run()
}

/// Finds a program on `PATH` and in the places where distributions hide servers.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain([PathBuf::from("/usr/sbin"), PathBuf::from("/usr/local/sbin")])
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
}

/// Finds a program, installing its packages when it is missing.
pub(crate) fn program(name: &str, names: &[&str], why: &str) -> Result<PathBuf> {
    if let Some(path) = find(name) {
        return Ok(path);
    }
    packages(names, why)?;
    find(name).with_context(|| format!("{name} is still missing after installing {}", names.join(" ")))
}

/// Makes sure that there is bubblewrap, in which the server starts MCP servers that are commands.
pub(crate) fn bubblewrap() -> Result<()> {
    program("bwrap", &["bubblewrap"], "running MCP servers in a sandbox").map(drop)
}

/// Makes sure that there are PostgreSQL's server programs, which tests start for themselves; distributions keep them
/// off `PATH`.
pub(crate) fn postgres() -> Result<()> {
    let installed = || {
        let versions = fs::read_dir("/usr/lib/postgresql")
            .into_iter()
            .flatten()
            .flatten();
        versions
            .map(|version| version.path().join("bin/initdb"))
            .chain(find("initdb"))
            .any(|path| path.is_file())
    };
    if !installed() {
        packages(&["postgresql"], "testing on PostgreSQL")?;
    }
    ensure!(
        installed(),
        "PostgreSQL's initdb is still missing after installing postgresql"
    );
    Ok(())
}

/// A folder with `nats-server` and a Python that has its client, for the message bus of the tests.
pub(crate) fn nats() -> Result<PathBuf> {
    python("nats", &paths::root().join("openapi/tests/nats.txt"))
}

/// A Python environment of our own with the packages of a requirements file; returns its `bin` folder.
pub(crate) fn python(name: &str, requirements: &Path) -> Result<PathBuf> {
    let folder = paths::tools().join(name);
    let bin = folder.join("bin");
    let wanted = fs::read_to_string(requirements)
        .with_context(|| format!("cannot read {}", requirements.display()))?;
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|text| text == wanted) && runs(&bin.join("python")) {
        return Ok(bin);
    }
    println!("  installing Python packages into {}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(paths::tools())?;
    make_environment(&folder)?;
    Sh::new(bin.join("python"))
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
        ])
        .arg(requirements)
        .run()?;
    fs::write(installed, wanted)?;
    Ok(bin)
}

fn make_environment(folder: &Path) -> Result<()> {
    let create = || Sh::words("python3 -m venv").arg(folder);
    if !Sh::words("python3 -c").arg("import ensurepip, venv").succeeds() {
        packages(&["python3", "python3-venv"], "the Python tools")?;
    }
    create().run()
}

fn runs(program: &Path) -> bool {
    Sh::new(program).arg("--version").succeeds()
}

/// A folder with `node` and `npm` in it that are new enough for everything but single tools.
pub(crate) fn node() -> Result<PathBuf> {
    node_since(NODE)
}

/// A folder with `node` and `npm` in it, of at least a version.
pub(crate) fn node_since(least: (u32, u32)) -> Result<PathBuf> {
    if let (Some(node), Some(_)) = (find("node"), find("npm"))
        && new_enough(&Sh::new(&node).arg("--version").read().unwrap_or_default(), least)
        && let Some(folder) = node.parent()
    {
        return Ok(folder.to_owned());
    }
    println!(
        "  there is no Node {}.{} or newer: taking the one that comes as a Python package",
        least.0, least.1
    );
    python(
        "node-runtime",
        &paths::root().join("openapi/tests/node-runtime.txt"),
    )
}

fn new_enough(version: &str, least: (u32, u32)) -> bool {
    let mut numbers = version
        .trim()
        .trim_start_matches('v')
        .split('.')
        .map_while(|part| part.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) => (major, minor) >= least,
        _ => false,
    }
}

/// The packages of a `package.json` and its lock file, installed under `target/tools/<name>`; returns that folder.
pub(crate) fn node_packages(name: &str, source: &Path) -> Result<PathBuf> {
    let folder = paths::tools().join(name);
    let manifest = fs::read_to_string(source.join("package.json"))
        .with_context(|| format!("cannot read {}/package.json", source.display()))?;
    let lock = fs::read_to_string(source.join("package-lock.json"))
        .with_context(|| format!("cannot read {}/package-lock.json", source.display()))?;
    let wanted = format!("{manifest}{lock}");
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|text| text == wanted) {
        return Ok(folder);
    }
    println!("  installing Node packages into {}", folder.display());
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("package.json"), manifest)?;
    fs::write(folder.join("package-lock.json"), lock)?;
    npm_ci(&folder)?;
    fs::write(installed, wanted)?;
    Ok(folder)
}

/// Installs exactly what a folder's lock file says. Browsers are not downloaded: the machine's own is used.
pub(crate) fn npm_ci(folder: &Path) -> Result<()> {
    let bin = node()?;
    Sh::new(bin.join("npm"))
        .args(["ci", "--no-audit", "--no-fund", "--loglevel=error"])
        .env("PATH", path_with(&bin))
        .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
        .folder(folder)
        .run()
}

/// `PATH` with a folder in front.
pub(crate) fn path_with(bin: &Path) -> std::ffi::OsString {
    let mut path = bin.as_os_str().to_owned();
    if let Some(rest) = std::env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_versions_compare_as_numbers() {
        for (version, enough) in [
            ("v20.19.0\n", true),
            ("v20.20.2", true),
            ("v24.1.0", true),
            ("v20.9.0", false),
            ("v18.19.0", false),
            ("", false),
        ] {
            assert_eq!(new_enough(version, NODE), enough, "{version:?}");
        }
    }

    #[test]
    fn a_missing_program_is_not_found() {
        assert!(find("sh").is_some());
        assert_eq!(find("there-is-no-such-program"), None);
    }
}
