//! Compiling the browser's part to WebAssembly, with whichever toolchain the machine offers.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::sh::Sh;
use crate::{install, paths};

const TARGET: &str = "wasm32-unknown-unknown";
const PROFILE: &str = "wasm-release";

/// How this machine compiles for the browser.
enum Toolchain {
    /// The compiler in use has the target's standard library.
    Ready,
    /// The distribution's compiler builds the standard library from its source; that needs a folder of its own,
    /// because another compiler invalidates everything cargo keeps.
    FromSource { rustc: PathBuf, linker: PathBuf },
}

/// Compiles the dashboard; returns the WebAssembly file as cargo leaves it.
pub(crate) fn build() -> Result<PathBuf> {
    let folder = match toolchain()? {
        Toolchain::Ready => {
            cargo("").run()?;
            paths::target()
        }
        Toolchain::FromSource { rustc, linker } => {
            let folder = paths::target().join("wasm");
            cargo("-Zbuild-std=std,panic_abort")
                .env("RUSTC", rustc)
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker)
                .env("CARGO_TARGET_DIR", &folder)
                .run()?;
            folder
        }
    };
    Ok(folder.join(TARGET).join(PROFILE).join("toolgate-ui.wasm"))
}

/// What the compiler warns of, after it has compiled: cargo repeats it. Nothing with the distribution's compiler, which is of
/// another version than the one that the code is written for.
pub(crate) fn warnings() -> Result<String> {
    if !has_target(&sysroot()?) {
        return Ok(String::new());
    }
    let text = cargo("--quiet").read_all()?.text;
    Ok(if text.contains("warning: ") {
        text
    } else {
        String::new()
    })
}

fn cargo(extra: &str) -> Sh {
    Sh::cargo(&format!(
        "build --package toolgate-ui --profile {PROFILE} --target {TARGET} {extra}"
    ))
}

fn sysroot() -> Result<PathBuf> {
    Ok(PathBuf::from(Sh::words("rustc --print sysroot").read()?.trim()))
}

fn has_target(sysroot: &Path) -> bool {
    sysroot.join("lib/rustlib").join(TARGET).join("lib").is_dir()
}

fn toolchain() -> Result<Toolchain> {
    let sysroot = sysroot()?;
    if has_target(&sysroot) {
        return Ok(Toolchain::Ready);
    }
    println!("  the compiler cannot build for {TARGET} yet: trying to add the target");
    // A machine without the way to rustup's server answers late or never, so the attempt is bounded.
    let added = Sh::words("timeout 120 rustup target add").arg(TARGET).run();
    if added.is_ok() && has_target(&sysroot) {
        return Ok(Toolchain::Ready);
    }
    println!(
        "  rustup cannot add it: compiling with the distribution's rustc and the standard library's source"
    );
    from_source(&sysroot)
}

fn from_source(sysroot: &Path) -> Result<Toolchain> {
    let rustc = PathBuf::from("/usr/bin/rustc");
    if !rustc.is_file() || !has_library_source(&rustc) {
        install::packages(
            &["rustc-web", "rust-web-src"],
            "compiling for the browser without rustup's target",
        )?;
    }
    if !has_library_source(&rustc) {
        bail!(
            "there is no way to compile for {TARGET} here; add it with `rustup target add {TARGET}`, \
             or install the packages rustc-web and rust-web-src"
        );
    }
    Ok(Toolchain::FromSource {
        rustc,
        linker: rust_lld(sysroot)?,
    })
}

fn has_library_source(rustc: &Path) -> bool {
    Sh::new(rustc)
        .args(["--print", "sysroot"])
        .read()
        .is_ok_and(|sysroot| {
            PathBuf::from(sysroot.trim())
                .join("lib/rustlib/src/rust/library/std/Cargo.toml")
                .is_file()
        })
}

/// The linker that comes with rustup's toolchain: `lib/rustlib/<host>/bin/rust-lld`.
fn rust_lld(sysroot: &Path) -> Result<PathBuf> {
    let folder = sysroot.join("lib/rustlib");
    for host in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let linker = host?.path().join("bin/rust-lld");
        if linker.is_file() {
            return Ok(linker);
        }
    }
    if let Some(linker) = install::find("wasm-ld") {
        return Ok(linker);
    }
    install::program("lld", &["lld"], "linking for the browser")?;
    install::find("wasm-ld").context("the package lld brought no wasm-ld")
}

/// The glue that the browser runs is written by the library linked into this program; its format changes with every
/// version, so the dashboard must lock the same one. The lock file is read rather than trusted.
pub(crate) fn assert_one_bindgen_version() -> Result<()> {
    let lock = fs::read_to_string(paths::root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let app = locked_versions(&lock, "wasm-bindgen");
    let packager = locked_versions(&lock, "wasm-bindgen-cli-support");
    if app.len() != 1 || app != packager {
        bail!(
            "wasm-bindgen is locked at {app:?} and wasm-bindgen-cli-support at {packager:?}; \
             they must be one and the same version: pin both with `=` in frontend/Cargo.toml and server/xtask/Cargo.toml"
        );
    }
    Ok(())
}

fn locked_versions(lock: &str, package: &str) -> Vec<String> {
    let name = format!("name = \"{package}\"");
    lock.split("[[package]]")
        .filter(|entry| entry.lines().any(|line| line == name))
        .filter_map(|entry| entry.lines().find_map(|line| line.strip_prefix("version = ")))
        .map(|version| version.trim_matches('"').to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_lock_file() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"a-b\"\n\
                    version = \"2.0.0\"\n\n[[package]]\nname = \"a\"\nversion = \"0.9.0\"\n";
        assert_eq!(locked_versions(lock, "a"), ["1.0.0", "0.9.0"]);
        assert_eq!(locked_versions(lock, "a-b"), ["2.0.0"]);
        assert!(locked_versions(lock, "c").is_empty());
    }

    #[test]
    fn dashboard_and_packager_agree() {
        assert_one_bindgen_version().unwrap();
    }
}
