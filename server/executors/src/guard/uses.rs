//! What is counted of a tool's own places and of the answers that served again.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The counters of one tool, since it was first called.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    waiting: AtomicU32,
    refused: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// A call that waits for a place, until this is dropped.
pub(crate) struct Waiting<'u>(&'u AtomicU32);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Uses {
    /// A call waits for a place.
    pub(crate) fn wait(&self) -> Waiting<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Waiting(&self.waiting)
    }

    /// A call was refused, because no place became free.
    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// A kept answer served a call, or one that another call was waiting for.
    pub(crate) fn hit(&self) {
        self.hits.fetch_add(1, Ordering::Relaxed);
    }

    /// An answer that could have been kept had to be fetched.
    pub(crate) fn missed(&self) {
        self.misses.fetch_add(1, Ordering::Relaxed);
    }

    /// Calls that wait, and calls that were refused.
    pub(crate) fn of_places(&self) -> (u32, u64) {
        (
            self.waiting.load(Ordering::Relaxed),
            self.refused.load(Ordering::Relaxed),
        )
    }

    /// Calls that were served by a kept answer, and calls that were not.
    pub(crate) fn of_answers(&self) -> (u64, u64) {
        (
            self.hits.load(Ordering::Relaxed),
            self.misses.load(Ordering::Relaxed),
        )
    }
}
