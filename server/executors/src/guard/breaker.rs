//! A circuit breaker: after several failures in a row a tool's upstream is not called for a while, then tried by one
//! call.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use toolgate_core::definition::model::HttpBreaker;

/// When the circuit breaker opens, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BreakerPolicy {
    /// Failures in a row that open the breaker.
    pub(crate) failures: u32,
    /// How long it stays open before one call may probe the upstream.
    pub(crate) open_for: Duration,
}

impl Default for BreakerPolicy {
    fn default() -> Self {
        Self {
            failures: 5,
            open_for: Duration::from_secs(10),
        }
    }
}

impl BreakerPolicy {
    /// What a definition says.
    pub(crate) fn new(declared: Option<HttpBreaker>) -> Self {
        let standard = Self::default();
        let declared = declared.unwrap_or(HttpBreaker {
            failures: None,
            open_s: None,
        });
        Self {
            failures: declared.failures.unwrap_or(standard.failures),
            open_for: declared
                .open_s
                .map_or(standard.open_for, |seconds| Duration::from_secs(seconds.into())),
        }
    }
}

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

/// The state of a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BreakerStatus {
    /// Failures in a row.
    pub(crate) failures: u32,
    /// `None` while it is closed.
    pub(crate) open: Option<Open>,
}

/// A breaker that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Open {
    /// Whether a call is trying the upstream now.
    pub(crate) probing: bool,
    /// How long ago it opened.
    pub(crate) ago: Duration,
    /// How long until one may; zero: now.
    pub(crate) probe_in: Duration,
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
    /// Milliseconds for which it stays open, from then on.
    open_ms: AtomicU64,
    /// Whether a probe is on its way.
    probing: AtomicBool,
}

impl Breaker {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            base: now,
            failures: AtomicU32::new(0),
            opened_at: AtomicU64::new(CLOSED),
            open_ms: AtomicU64::new(0),
            probing: AtomicBool::new(false),
        }
    }

    /// Asks to send a call. Its outcome must be reported to the returned guard; a guard that is dropped without one
    /// (the caller disconnected) only releases the place of a trial call.
    pub(crate) fn admit(&self, policy: BreakerPolicy, now: Instant) -> Result<Pass<'_>, Refused> {
        let Some(left) = self.open_for(now) else {
            return Ok(Pass {
                breaker: self,
                policy,
                probe: false,
                has_outcome: false,
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
                policy,
                probe: true,
                has_outcome: false,
            }),
            Err(_) => Err(Refused { retry_after_s: 1 }),
        }
    }

    /// `None` while closed; otherwise how long until a probe may run (zero: now).
    pub(crate) fn open_for(&self, now: Instant) -> Option<Duration> {
        match self.opened_at.load(Ordering::Acquire) {
            CLOSED => None,
            at => {
                let open_for = Duration::from_millis(self.open_ms.load(Ordering::Acquire));
                let probe_at = self.base + Duration::from_millis(at - 1) + open_for;
                Some(probe_at.saturating_duration_since(now))
            }
        }
    }

    /// Lets one call try the upstream now, if the breaker is open.
    pub(crate) fn may_be_tried(&self) {
        if self.opened_at.load(Ordering::Acquire) != CLOSED {
            self.open_ms.store(0, Ordering::Release);
        }
    }

    fn stamp(&self, now: Instant) -> u64 {
        let elapsed = now.saturating_duration_since(self.base).as_millis();
        u64::try_from(elapsed).unwrap_or(u64::MAX - 1) + 1
    }

    /// The current state.
    pub(crate) fn status(&self, now: Instant) -> BreakerStatus {
        let opened = self.opened_at.load(Ordering::Acquire);
        BreakerStatus {
            failures: self.failures.load(Ordering::Relaxed),
            open: self.open_for(now).map(|probe_in| Open {
                probing: self.probing.load(Ordering::Acquire),
                ago: now.saturating_duration_since(self.base + Duration::from_millis(opened.max(1) - 1)),
                probe_in,
            }),
        }
    }

    fn record(&self, policy: BreakerPolicy, probe: bool, outcome: Outcome, now: Instant) {
        let open_ms = u64::try_from(policy.open_for.as_millis()).unwrap_or(u64::MAX);
        match (probe, outcome) {
            (true, Outcome::Answered) => {
                self.failures.store(0, Ordering::Relaxed);
                self.opened_at.store(CLOSED, Ordering::Release);
                self.probing.store(false, Ordering::Release);
            }
            (true, Outcome::Failed) => {
                self.open_ms.store(open_ms, Ordering::Release);
                self.failures.fetch_add(1, Ordering::Relaxed);
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
                if self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= policy.failures {
                    let stamp = self.stamp(now);
                    if self.opened_at.load(Ordering::Acquire) == CLOSED {
                        self.open_ms.store(open_ms, Ordering::Release);
                    }
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
    policy: BreakerPolicy,
    probe: bool,
    has_outcome: bool,
}

impl Pass<'_> {
    /// Reports how the call ended.
    pub(crate) fn end(mut self, outcome: Outcome, now: Instant) {
        self.has_outcome = true;
        self.breaker.record(self.policy, self.probe, outcome, now);
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.probe && !self.has_outcome {
            self.breaker.probing.store(false, Ordering::Release);
        }
    }
}

/// The `Retry-After` of a refused call: whole seconds, at least one.
pub(crate) fn retry_after_s(left: Duration) -> u32 {
    u32::try_from(left.as_millis().div_ceil(1000))
        .unwrap_or(u32::MAX)
        .max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: BreakerPolicy = BreakerPolicy {
        failures: 5,
        open_for: Duration::from_secs(10),
    };

    fn fail(breaker: &Breaker, now: Instant, times: u32) {
        for _ in 0..times {
            breaker
                .admit(POLICY, now)
                .expect("closed")
                .end(Outcome::Failed, now);
        }
    }

    #[test]
    fn opens_after_five_failures_in_a_row() {
        let now = Instant::now();
        let breaker = Breaker::new(now);
        fail(&breaker, now, 4);
        breaker
            .admit(POLICY, now)
            .expect("closed")
            .end(Outcome::Answered, now);
        fail(&breaker, now, 4);
        assert!(breaker.open_for(now).is_none(), "an answer starts the count anew");
        fail(&breaker, now, 1);
        let refused = breaker
            .admit(POLICY, now + Duration::from_millis(1))
            .expect_err("open");
        assert_eq!(refused.retry_after_s, 10);
        assert_eq!(
            breaker
                .admit(POLICY, now + Duration::from_millis(9500))
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
        let later = now + POLICY.open_for;
        let probe = breaker.admit(POLICY, later).expect("one probe");
        assert!(breaker.admit(POLICY, later).is_err(), "only one");
        probe.end(Outcome::Failed, later);
        assert!(breaker.admit(POLICY, later).is_err(), "open again");
        let probe = breaker
            .admit(POLICY, later + POLICY.open_for)
            .expect("the next probe");
        probe.end(Outcome::Answered, later + POLICY.open_for);
        assert!(breaker.open_for(later + POLICY.open_for).is_none(), "closed");
    }

    #[test]
    fn a_cancelled_probe_gives_its_place_back() {
        let now = Instant::now();
        let breaker = Breaker::new(now);
        fail(&breaker, now, 5);
        drop(breaker.admit(POLICY, now + POLICY.open_for).expect("one probe"));
        assert!(breaker.admit(POLICY, now + POLICY.open_for).is_ok());
    }

    #[test]
    fn what_says_that_the_upstream_is_well_lets_one_call_decide_at_once() {
        let now = Instant::now();
        let breaker = Breaker::new(now);
        breaker.may_be_tried();
        assert!(breaker.open_for(now).is_none(), "nothing to do while closed");
        fail(&breaker, now, 5);
        breaker.may_be_tried();
        let call = breaker.admit(POLICY, now).expect("one call");
        assert!(breaker.admit(POLICY, now).is_err(), "only one");
        call.end(Outcome::Failed, now);
        assert!(
            breaker.admit(POLICY, now).is_err(),
            "left alone again, for the whole time"
        );
        assert_eq!(breaker.open_for(now), Some(POLICY.open_for));
    }

    #[test]
    fn a_late_answer_does_not_close_it() {
        let now = Instant::now();
        let breaker = Breaker::new(now);
        let slow = breaker.admit(POLICY, now).expect("closed");
        fail(&breaker, now, 5);
        slow.end(Outcome::Answered, now);
        assert!(breaker.admit(POLICY, now).is_err());
    }

    #[test]
    fn a_definition_says_when_and_for_how_long() {
        let now = Instant::now();
        let policy = BreakerPolicy::new(Some(HttpBreaker {
            failures: Some(2),
            open_s: Some(60),
        }));
        let breaker = Breaker::new(now);
        for failures in 1..=2 {
            assert_eq!(breaker.status(now).open, None);
            breaker
                .admit(policy, now)
                .expect("closed")
                .end(Outcome::Failed, now);
            assert_eq!(breaker.status(now).failures, failures);
        }
        let later = now + Duration::from_secs(20);
        let open = breaker.status(later).open.expect("open");
        assert_eq!(
            (open.ago.as_secs(), open.probe_in.as_secs(), open.probing),
            (20, 40, false)
        );
        let due = now + Duration::from_secs(60);
        let probe = breaker.admit(policy, due).expect("a probe");
        assert!(breaker.status(due).open.expect("open").probing);
        probe.end(Outcome::Answered, due);
        assert_eq!(
            breaker.status(due),
            BreakerStatus {
                failures: 0,
                open: None
            }
        );
        assert_eq!(BreakerPolicy::new(None), BreakerPolicy::default());
    }
}
