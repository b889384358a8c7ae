//! The counters behind one name.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

use chrono::{DateTime, Utc};
use toolgate_api::usage::UsageCounts;
use toolgate_core::durations::{self, BUCKETS};
use toolgate_store::rows::Took;

/// What was counted of something, and when it was last asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// Over all time.
    pub counts: UsageCounts,
    /// The last request.
    pub last_at: DateTime<Utc>,
}

/// Counters of one name: what the database knows, and what is to be added to it. They are independent, so relaxed
/// ordering is enough.
#[derive(Debug, Default)]
pub(super) struct Counts {
    stored: Three,
    pending: Three,
    took: Durations,
    /// Microseconds since 1970; 0 when never.
    last_at: AtomicI64,
    touched: AtomicBool,
}

#[derive(Debug, Default)]
struct Three {
    calls: AtomicI64,
    denials: AtomicI64,
    failures: AtomicI64,
}

/// How long calls took that ended since the last time.
#[derive(Debug, Default)]
struct Durations {
    ended: AtomicI64,
    total_ms: AtomicI64,
    slowest_ms: AtomicI64,
    /// Calls by range of their duration; most names never have any.
    spread: OnceLock<Box<[AtomicI64; BUCKETS]>>,
}

impl Durations {
    fn take_spread(&self) -> Vec<(usize, i64)> {
        let Some(spread) = self.spread.get() else {
            return Vec::new();
        };
        let taken = spread.iter().map(|calls| calls.swap(0, Relaxed)).enumerate();
        taken.filter(|(_, calls)| *calls > 0).collect()
    }
}

/// What is to be stored of one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) counts: UsageCounts,
    pub(super) took: Took,
    pub(super) last_at: DateTime<Utc>,
}

/// What became of a request, as far as it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A call was admitted.
    Admitted,
    /// Something was refused.
    Refused,
    /// Something that is no call was answered.
    Answered,
}

impl Counts {
    pub(super) fn count(&self, outcome: Outcome, at: DateTime<Utc>) {
        match outcome {
            Outcome::Admitted => self.pending.calls.fetch_add(1, Relaxed),
            Outcome::Refused => self.pending.denials.fetch_add(1, Relaxed),
            Outcome::Answered => 0,
        };
        self.last_at.fetch_max(at.timestamp_micros(), Relaxed);
        self.touched.store(true, Relaxed);
    }

    pub(super) fn failed(&self) {
        self.pending.failures.fetch_add(1, Relaxed);
        self.touched.store(true, Relaxed);
    }

    /// A call ended.
    pub(super) fn took(&self, milliseconds: i64) {
        let milliseconds = milliseconds.max(0);
        self.took.ended.fetch_add(1, Relaxed);
        self.took.total_ms.fetch_add(milliseconds, Relaxed);
        self.took.slowest_ms.fetch_max(milliseconds, Relaxed);
        let spread = self
            .took
            .spread
            .get_or_init(|| Box::new([const { AtomicI64::new(0) }; BUCKETS]));
        if let Some(calls) = spread.get(durations::bucket(milliseconds)) {
            calls.fetch_add(1, Relaxed);
        }
        self.touched.store(true, Relaxed);
    }

    /// What is to be stored; `None` when nothing was asked for since the last time.
    pub(super) fn take(&self) -> Option<Taken> {
        if !self.touched.swap(false, Relaxed) {
            return None;
        }
        let take = |pending: &AtomicI64, stored: &AtomicI64| {
            let taken = pending.swap(0, Relaxed);
            stored.fetch_add(taken, Relaxed);
            taken
        };
        let counts = UsageCounts {
            calls: take(&self.pending.calls, &self.stored.calls),
            denials: take(&self.pending.denials, &self.stored.denials),
            failures: take(&self.pending.failures, &self.stored.failures),
        };
        let took = Took {
            ended: self.took.ended.swap(0, Relaxed),
            total_ms: self.took.total_ms.swap(0, Relaxed),
            slowest_ms: self.took.slowest_ms.swap(0, Relaxed),
            spread: self.took.take_spread(),
        };
        Some(Taken {
            counts,
            took,
            last_at: self.last_at(),
        })
    }

    /// Takes over what the database knows. Nothing that was taken to be stored may be on its way then.
    pub(super) fn know(&self, counts: UsageCounts, last_at: DateTime<Utc>) {
        self.stored.calls.store(counts.calls, Relaxed);
        self.stored.denials.store(counts.denials, Relaxed);
        self.stored.failures.store(counts.failures, Relaxed);
        self.last_at.fetch_max(last_at.timestamp_micros(), Relaxed);
    }

    pub(super) fn is_touched(&self) -> bool {
        self.touched.load(Relaxed)
    }

    pub(super) fn used(&self) -> Used {
        let sum = |stored: &AtomicI64, pending: &AtomicI64| stored.load(Relaxed) + pending.load(Relaxed);
        Used {
            counts: UsageCounts {
                calls: sum(&self.stored.calls, &self.pending.calls),
                denials: sum(&self.stored.denials, &self.pending.denials),
                failures: sum(&self.stored.failures, &self.pending.failures),
            },
            last_at: self.last_at(),
        }
    }

    pub(super) fn last_at(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_micros(self.last_at.load(Relaxed)).unwrap_or(DateTime::UNIX_EPOCH)
    }
}
