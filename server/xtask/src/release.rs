//! `cargo xtask release`: the server with its dashboard, laid out by the compiler for what it does most.
//!
//! The build is profile-guided ("Profile-guided Optimization" in The rustc book): a server that counts how often each
//! branch is taken answers calls and listings for some seconds, and the build that follows reads the counts. What the
//! hot path needs is then close together, which matters most where the processor waits for instructions.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::sh::Sh;
use crate::{bench, install, paths, ui};

/// Seconds of each kind of load.
const SECONDS: u32 = 5;

/// Builds the server twice; the second one replaces `target/release/toolgate`.
pub(crate) fn run() -> Result<()> {
    let rustc = Sh::words("rustc -vV").read()?;
    let word = |what: &str| {
        rustc
            .lines()
            .find_map(|line| line.strip_prefix(what))
            .with_context(|| format!("rustc does not tell its {what:?}"))
    };
    let host = word("host: ")?;
    let merger = merger(host, word("LLVM version: ")?)?;
    ui::run()?;

    let folder = paths::target().join("guided");
    let counts = folder.join("counts");
    if counts.exists() {
        fs::remove_dir_all(&counts).with_context(|| format!("cannot remove {}", counts.display()))?;
    }
    // A name for the host keeps the flags from what runs while building. Counts are kept by the names of functions, which
    // depend on the profile: both builds have the same.
    let build = |flag: String| {
        Sh::cargo(&format!(
            "build --release --package toolgate --features embed-ui --target {host}"
        ))
        .env("CARGO_TARGET_DIR", &folder)
        .env("RUSTFLAGS", flag)
        .run()
    };
    let binary = folder.join(host).join("release/toolgate");

    println!("Building a server that counts");
    build(format!("-Cprofile-generate={}", counts.display()))?;
    println!("Letting it work");
    bench::exercise(&binary, SECONDS)?;
    let profile = folder.join("toolgate.profdata");
    Sh::new(&merger)
        .args(["merge", "--output"])
        .arg(&profile)
        .arg(&counts)
        .run()?;

    println!("Building the server by what was counted");
    build(format!("-Cprofile-use={}", profile.display()))?;
    let release = paths::server_binary("release");
    if let Some(parent) = release.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    }
    fs::copy(&binary, &release).with_context(|| format!("cannot write {}", release.display()))?;
    println!("\n{}", release.display());
    Ok(())
}

/// The program that adds counts up. It has to be of the compiler's own LLVM, because their format changes.
fn merger(host: &str, version: &str) -> Result<PathBuf> {
    const NAME: &str = "llvm-profdata";
    let sysroot = Sh::words("rustc --print sysroot").read()?;
    let own = Path::new(sysroot.trim())
        .join("lib/rustlib")
        .join(host)
        .join("bin")
        .join(NAME);
    let major = version.split('.').next().unwrap_or_default();
    let found = || {
        [own.clone()]
            .into_iter()
            .filter(|path| path.is_file())
            .chain(install::find(&format!("{NAME}-{major}")))
            .next()
    };
    if let Some(found) = found() {
        return Ok(found);
    }
    // A machine without the way to rustup's server answers late or never, so the attempt is bounded.
    if let Err(error) = Sh::words("timeout 120 rustup component add llvm-tools").run() {
        println!("  {error:#}");
        install::packages(&[&format!("llvm-{major}")], "adding up what was counted")?;
    }
    let found = found();
    ensure!(
        found.is_some(),
        "there is no {NAME} for LLVM {major}; add it with `rustup component add llvm-tools`"
    );
    found.context(NAME)
}
