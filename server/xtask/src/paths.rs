//! Where things are.

use std::env;
use std::path::PathBuf;

/// The workspace's root folder.
pub(crate) fn root() -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let root = manifest
        .ancestors()
        .nth(2)
        .map_or_else(|| manifest.clone(), PathBuf::from);
    root.canonicalize().unwrap_or(root)
}

/// Cargo's output folder.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// Tools that the checks need and that are not on the machine.
pub(crate) fn tools() -> PathBuf {
    target().join("tools")
}

/// The server's binary of a cargo profile's folder (`debug` or `release`).
pub(crate) fn server_binary(profile: &str) -> PathBuf {
    target().join(profile).join("toolgate")
}
