//! A circuit breaker: after several failures in a row a tool's upstream is left alone for a while, then tried by one
//! call.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Failures in a row that open the breaker.
const THRESHOLD: u32 = 5;
/// How long it stays open before one call may probe the upstream.
const OPEN_FOR: Duration = Duration::from_secs(10);
/// The value of `opened_at` while it is closed.
const CLOSED: u64 = 0;

/// How a call ended, as far as the breaker cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The upstream answered, whatever it said.
    Answered,
    /// The upstream was not reachable, failed or took too long.
    Failed,
}

/// The breaker is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused {
    /// When the next probe may run, in whole seconds, at least 1.
    pub(crate) retry_after_s: u32,
}

/// State of one tool's breaker. Lock-free: a healthy tool costs two relaxed reads a call.
#[derive(Debug)]
pub(crate) struct Breaker {
    /// What times are counted from.
    base: Instant,
    /// Failures in a row while closed.
    failures: AtomicU32,
    /// Milliseconds after `base`, plus one, at which it opened last.
    opened_at: AtomicU64,
    /// Whether a probe is on its way.
    probing: AtomicBool,
}

impl Breaker {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            base: now,
            failures: AtomicU32::new(0),
            opened_at: AtomicU64::new(CLOSED),
            probing: AtomicBool::new(false),
        }
    }

    /// Asks to go out. The answer's guard must be told how the call ended; dropped untold (the caller went away), it
    /// only gives the place of a probe back.
    pub(crate) fn admit(&self, now: Instant) -> Result<Pass<'_>, Refused> {
        let Some(left) = self.open_for(now) else {
            return Ok(Pass {
                breaker: self,
                probe: false,
                told: false,
            });
        };
        if !left.is_zero() {
            return Err(Refused {
                retry_after_s: retry_after_s(left),
            });
        }
        match self
            .probing
            .compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed)
        {
            Ok(_) => Ok(Pass {
                breaker: self,
                probe: true,
                told: false,
            }),
            Err(_) => Err(Refused { retry_after_s: 1 }),
        }
    }

    /// `None` while closed; otherwise how long until a probe may run (zero: now).
    pub(crate) fn open_for(&self, now: Instant) -> Option<Duration> {
        match self.opened_at.load(Ordering::Acquire) {
            CLOSED => None,
            at => {
                let probe_at = self.base + Duration::from_millis(at - 1) + OPEN_FOR;
                Some(probe_at.saturating_duration_since(now))
            }
        }
    }

    fn stamp(&self, now: Instant) -> u64 {
        let elapsed = now.saturating_duration_since(self.base).as_millis();
        u64::try_from(elapsed).unwrap_or(u64::MAX - 1) + 1
    }

    fn record(&self, probe: bool, outcome: Outcome, now: Instant) {
        match (probe, outcome) {
            (true, Outcome::Answered) => {
                self.failures.store(0, Ordering::Relaxed);
                self.opened_at.store(CLOSED, Ordering::Release);
                self.probing.store(false, Ordering::Release);
            }
            (true, Outcome::Failed) => {
                self.opened_at.store(self.stamp(now), Ordering::Release);
                self.probing.store(false, Ordering::Release);
            }
            // Calls that were admitted before it opened and end afterwards say nothing about the upstream of now.
            (false, Outcome::Answered) => {
                if self.failures.load(Ordering::Relaxed) != 0 {
                    self.failures.store(0, Ordering::Relaxed);
                }
            }
            (false, Outcome::Failed) => {
                if self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= THRESHOLD {
                    let stamp = self.stamp(now);
                    let _ =
                        self.opened_at
                            .compare_exchange(CLOSED, stamp, Ordering::AcqRel, Ordering::Relaxed);
                }
            }
        }
    }
}

/// Permission for one call.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    breaker: &'a Breaker,
    probe: bool,
    told: bool,
}

impl Pass<'_> {
    /// Tells how the call ended.
    pub(crate) fn end(mut self, outcome: Outcome, now: Instant) {
        self.told = true;
        self.breaker.record(self.probe, outcome, now);
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.probe && !self.told {
            self.breaker.probing.store(false, Ordering::Release);
        }
    }
}

/// What a caller is told to wait: whole seconds, at least one.
pub(crate) fn retry_after_s(left: Duration) -> u32 {
    u32::try_from(left.as_millis().div_ceil(1000))
        .unwrap_or(u32::MAX)
        .max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(breaker: &Breaker, now: Instant, times: u32) {
        for _ in 0..times {
            breaker.admit(now).expect("closed").end(Outcome::Failed, now);
        }
    }

    #[test]
    fn opens_after_five_failures_in_a_row() {
        let now = Instant::now();
        let breaker = Breaker::new(now);
        fail(&breaker, now, 4);
        breaker.admit(now).expect("closed").end(Outcome::Answered, now);
        fail(&breaker, now, 4);
        assert!(breaker.open_for(now).is_none(), "an answer starts the count anew");
        fail(&breaker, now, 1);
        let refused = breaker.admit(now + Duration::from_millis(1)).expect_err("open");
        assert_eq!(refused.retry_after_s, 10);
        assert_eq!(
            breaker
                .admit(now + Duration::from_millis(9500))
                .expect_err("open")
                .retry_after_s,
            1
        );
    }

    #[test]
    fn one_probe_decides() {
        let now = Instant::now();
        let breaker = Breaker::new(now);
        fail(&breaker, now, 5);
        let later = now + OPEN_FOR;
        let probe = breaker.admit(later).expect("one probe");
        assert!(breaker.admit(later).is_err(), "only one");
        probe.end(Outcome::Failed, later);
        assert!(breaker.admit(later).is_err(), "open again");
        let probe = breaker.admit(later + OPEN_FOR).expect("the next probe");
        probe.end(Outcome::Answered, later + OPEN_FOR);
        assert!(breaker.open_for(later + OPEN_FOR).is_none(), "closed");
    }

    #[test]
    fn a_cancelled_probe_gives_its_place_back() {
        let now = Instant::now();
        let breaker = Breaker::new(now);
        fail(&breaker, now, 5);
        drop(breaker.admit(now + OPEN_FOR).expect("one probe"));
        assert!(breaker.admit(now + OPEN_FOR).is_ok());
    }

    #[test]
    fn a_late_answer_does_not_close_it() {
        let now = Instant::now();
        let breaker = Breaker::new(now);
        let slow = breaker.admit(now).expect("closed");
        fail(&breaker, now, 5);
        slow.end(Outcome::Answered, now);
        assert!(breaker.admit(now).is_err());
    }
}
