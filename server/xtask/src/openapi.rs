//! `cargo xtask openapi`: the API document, written by the server from its own routes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::paths;
use crate::sh::Sh;

/// Where the document is kept.
pub(crate) fn file() -> PathBuf {
    paths::root().join("openapi/openapi.json")
}

/// Builds the server and writes the document.
pub(crate) fn write() -> Result<()> {
    Sh::cargo("build --package toolgate").run()?;
    let document = print(&paths::server_binary("debug"))?;
    let file = file();
    if fs::read_to_string(&file).is_ok_and(|old| old == document) {
        println!("  {} is up to date", file.display());
        return Ok(());
    }
    fs::write(&file, document).with_context(|| format!("cannot write {}", file.display()))?;
    println!("  wrote {}", file.display());
    Ok(())
}

/// The document as a server's binary prints it.
pub(crate) fn print(binary: &Path) -> Result<String> {
    Sh::new(binary).arg("openapi").read()
}
