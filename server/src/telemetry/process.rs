//! What the operating system says of this process.

use std::fs;

/// Memory and descriptors in use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Usage {
    pub(super) resident_bytes: f64,
    pub(super) open_files: f64,
}

/// Reads `/proc/self`; `None` where there is none.
pub(super) fn usage() -> Option<Usage> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let open_files = fs::read_dir("/proc/self/fd").ok()?.count();
    Some(Usage {
        resident_bytes: resident_bytes(&status)?,
        open_files: f64::from(u32::try_from(open_files).ok()?),
    })
}

fn resident_bytes(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u32 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(f64::from(kilobytes) * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_is_read_from_the_status_text() {
        assert_eq!(
            resident_bytes("Name:\tx\nVmRSS:\t   2048 kB\nThreads:\t1\n"),
            Some(2_097_152.0)
        );
        assert_eq!(resident_bytes("Name:\tx\n"), None);
    }
}
