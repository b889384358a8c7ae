//! Writes the table of embedded browser files, `$OUT_DIR/assets.rs`.
//!
//! With the feature `embed-ui` the files come from the folder that `cargo xtask ui` fills: `target/ui` of the
//! workspace, or the one that `TOOLGATE_UI_DIR` names. Without the feature the table is empty.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=TOOLGATE_UI_DIR");
    let code = if env::var_os("CARGO_FEATURE_EMBED_UI").is_some() {
        let folder = ui_folder();
        // The folder's own time is not enough: rewriting a file in place leaves it as it is.
        println!(
            "cargo::rerun-if-changed={}",
            folder.join("manifest.json").display()
        );
        table(&folder).unwrap_or_else(|reason| format!("compile_error!({reason:?})\n"))
    } else {
        "&[]\n".to_owned()
    };
    let target = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("assets.rs");
    fs::write(&target, code).expect("OUT_DIR can be written");
}

fn ui_folder() -> PathBuf {
    match env::var_os("TOOLGATE_UI_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => {
            let crate_folder = env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
            PathBuf::from(crate_folder).join("../target/ui")
        }
    }
}

/// A Rust expression, the slice of all files; or what is wrong with the folder.
fn table(folder: &Path) -> Result<String, String> {
    let missing = |what: &Path, error: &dyn std::fmt::Display| {
        format!(
            "the feature `embed-ui` embeds the packaged dashboard, but {} cannot be read ({error}); \
             run `cargo xtask ui` first, or set TOOLGATE_UI_DIR to a packaged folder",
            what.display()
        )
    };
    let manifest_file = folder.join("manifest.json");
    let manifest = fs::read(&manifest_file).map_err(|error| missing(&manifest_file, &error))?;
    let manifest: BTreeMap<String, String> =
        serde_json::from_slice(&manifest).map_err(|error| missing(&manifest_file, &error))?;
    for name in [
        "app.js",
        "app_bg.wasm",
        "boot.js",
        "main.css",
        "theme.js",
        "favicon.svg",
    ] {
        if !manifest.contains_key(name) {
            return Err(missing(&manifest_file, &format!("it does not name {name}")));
        }
    }

    let mut code = String::from("&[\n");
    for (name, file) in &manifest {
        let path = folder
            .join(file)
            .canonicalize()
            .map_err(|error| missing(&folder.join(file), &error))?;
        let beside = |suffix: &str| {
            let beside = PathBuf::from(format!("{}.{suffix}", path.display()));
            if beside.is_file() {
                format!("Some(include_bytes!({beside:?}))")
            } else {
                "None".to_owned()
            }
        };
        writeln!(
            code,
            "    Asset {{ name: {name:?}, file: {file:?}, raw: include_bytes!({path:?}), brotli: {}, gzip: {} }},",
            beside("br"),
            beside("gz"),
        )
        .expect("writing to a string does not fail");
    }
    code.push_str("]\n");
    Ok(code)
}
