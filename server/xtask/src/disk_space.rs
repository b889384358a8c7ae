//! Room on the disk: what runs out of it fails in ways that name anything but the disk.

use std::path::Path;

use anyhow::{Context, Result};

use crate::paths;

const MIB: u64 = 1024 * 1024;

/// What a first run of every check writes below the output folder, as measured, with a reserve.
const FIRST_RUN: u64 = 14 * 1024 * MIB;

/// Less than this at the end, and what failed may have failed for want of it.
const SCARCE: u64 = 512 * MIB;

/// Says at the start how much room there is, if a first run may need more.
pub(crate) fn announce() {
    let target = paths::target();
    let first = !paths::server_binary("debug").exists();
    match free(&target) {
        Ok(free) if first && free < FIRST_RUN => println!(
            "warning: {} MiB are free for {}, and a first run needs about {} MiB; set CARGO_TARGET_DIR to a folder with more room",
            free / MIB,
            target.display(),
            FIRST_RUN / MIB
        ),
        Ok(_) => {}
        Err(error) => println!("warning: {error:#}"),
    }
}

/// Says after a failure if the disk is the likely cause.
pub(crate) fn explain_failure() {
    for folder in [paths::target(), std::env::temp_dir()] {
        if let Ok(free) = free(&folder)
            && free < SCARCE
        {
            println!(
                "note: only {} MiB are free in {}; what failed may have failed for want of room",
                free / MIB,
                folder.display()
            );
        }
    }
}

/// What may still be written to the file system of a folder, in bytes. The folder need not exist yet.
fn free(folder: &Path) -> Result<u64> {
    let existing = folder
        .ancestors()
        .find(|folder| folder.exists())
        .unwrap_or(Path::new("/"));
    let figures = rustix::fs::statvfs(existing)
        .with_context(|| format!("cannot tell how much room there is in {}", existing.display()))?;
    Ok(figures.f_bavail.saturating_mul(figures.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_yet_has_the_room_of_the_one_above() {
        let here = std::env::temp_dir();
        let above = free(&here).expect("the temporary folder has figures");
        assert!(above > 0);
        assert!(free(&here.join("not/there/yet")).is_ok());
    }
}
