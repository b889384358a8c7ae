//! File descriptors: every connection needs one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::Limits;

/// Descriptors for everything else: the database, connections to upstreams, the log.
const OTHERS: u64 = 512;

/// Lets the process open as many files as it may, because many systems begin with 1024; the log says when that is too few.
pub fn allow_files(limits: &Limits) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    if current != maximum
        && let Err(error) = setrlimit(Resource::Nofile, raised)
    {
        tracing::warn!(%error, "the number of files that may be open could not be raised");
    }
    let (wanted, possible) = (limits.max_connections, connections(limits.max_connections));
    if possible < wanted {
        tracing::warn!(
            possible,
            wanted,
            "the operating system allows fewer connections than limits.max_connections: raise the number of files that this \
             process may open"
        );
    }
}

/// Connections that are accepted at a time: as many as are wanted, but never more than there are descriptors for.
#[must_use]
pub fn connections(wanted: u32) -> u32 {
    let possible = getrlimit(Resource::Nofile).current.map_or(u32::MAX, fitting);
    wanted.min(possible)
}

/// Half of the descriptors when there are few.
fn fitting(files: u64) -> u32 {
    u32::try_from(files.saturating_sub(OTHERS).max(files / 2)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_the_rest() {
        assert_eq!(fitting(20_000), 19_488);
        assert_eq!(fitting(1024), 512);
        assert_eq!(fitting(256), 128);
        assert_eq!(connections(1), 1);
    }
}
