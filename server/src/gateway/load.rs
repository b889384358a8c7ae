//! How busy each project is on this server: what conditions on groups may ask about.
//!
//! Counting is a few atomic operations per call and is always on, so that a condition which asks about the load is right
//! from its first evaluation on. Each server counts what it runs itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use chrono::{DateTime, Utc};
use toolgate_api::calls::CallContext;
use toolgate_core::policy::{EvaluationContext, Load};
use toolgate_core::principal::Principal;

use super::server_snapshot::ProjectState;

/// Seconds that "within the last minute" looks back on.
const WINDOW: u64 = 60;

/// The circumstances of a request in a project. The load is read only where a condition may ask for it.
#[must_use]
pub fn evaluation<'a>(
    project: &ProjectState,
    at: DateTime<Utc>,
    principal: &'a Principal,
    context: Option<&'a CallContext>,
) -> EvaluationContext<'a> {
    let evaluation = EvaluationContext::at(at).by(principal).context(context);
    if project.snapshot.has_conditions() {
        evaluation.load(project.load.now(at))
    } else {
        evaluation
    }
}

/// The counters of one project. They outlive its definitions: a new snapshot takes them over.
#[derive(Debug)]
pub struct ProjectLoad {
    in_flight: AtomicU32,
    /// Calls per second, by the second modulo [`WINDOW`]: the second in the upper half, the number in the lower.
    seconds: [AtomicU64; WINDOW as usize],
}

impl Default for ProjectLoad {
    fn default() -> Self {
        Self {
            in_flight: AtomicU32::new(0),
            seconds: [const { AtomicU64::new(0) }; WINDOW as usize],
        }
    }
}

/// Counts one call as in flight until it is dropped.
#[derive(Debug)]
pub struct InFlight(Arc<ProjectLoad>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ProjectLoad {
    /// Counts an admitted call.
    #[must_use]
    pub fn enter(self: &Arc<Self>, at: DateTime<Utc>) -> InFlight {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        let second = second(at);
        let cell = &self.seconds[(second % WINDOW) as usize];
        let counted = |held: u64| {
            if held >> 32 == second {
                // The number cannot reach the upper half: that would take 2^32 calls in one second.
                held + 1
            } else {
                second << 32 | 1
            }
        };
        // Never refused, so the result says nothing.
        let _previous = cell.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| Some(counted(held)));
        InFlight(Arc::clone(self))
    }

    /// The load at a time.
    #[must_use]
    pub fn now(&self, at: DateTime<Utc>) -> Load {
        let now = second(at);
        let recent = self
            .seconds
            .iter()
            .map(|cell| cell.load(Ordering::Relaxed))
            .filter(|held| {
                let then = held >> 32;
                then <= now && now - then < WINDOW
            })
            .map(|held| held & u64::from(u32::MAX))
            .sum::<u64>();
        Load {
            calls_in_flight: self.in_flight.load(Ordering::Relaxed),
            calls_per_minute: u32::try_from(recent).unwrap_or(u32::MAX),
        }
    }
}

/// The second of a time; it fits into 32 bits until the year 2106.
fn second(at: DateTime<Utc>) -> u64 {
    u64::try_from(at.timestamp()).unwrap_or(0) & u64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_760_000_000, 0).expect("a time") + TimeDelta::seconds(seconds)
    }

    #[test]
    fn a_call_counts_as_in_flight_until_it_ends_and_for_a_minute_as_recent() {
        let load = Arc::new(ProjectLoad::default());
        let numbers = |seconds| {
            let Load {
                calls_in_flight,
                calls_per_minute,
            } = load.now(at(seconds));
            (calls_in_flight, calls_per_minute)
        };
        assert_eq!(numbers(0), (0, 0));
        let first = load.enter(at(0));
        let second = load.enter(at(0));
        let third = load.enter(at(30));
        assert_eq!(numbers(30), (3, 3));
        drop(first);
        assert_eq!(numbers(59), (2, 3));
        assert_eq!(
            numbers(60),
            (2, 1),
            "the second of the first two is out of the window"
        );
        drop((second, third));
        assert_eq!(numbers(90), (0, 0));
    }

    #[test]
    fn a_second_that_comes_round_again_starts_from_nothing() {
        let load = Arc::new(ProjectLoad::default());
        for _ in 0..5 {
            drop(load.enter(at(0)));
        }
        drop(load.enter(at(60)));
        assert_eq!(load.now(at(60)).calls_per_minute, 1);
    }

    #[test]
    fn no_call_is_lost_between_threads() {
        let load = Arc::new(ProjectLoad::default());
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| (0..1_000).for_each(|_| drop(load.enter(at(0)))));
            }
        });
        assert_eq!(
            load.now(at(0)),
            Load {
                calls_in_flight: 0,
                calls_per_minute: 4_000
            }
        );
    }
}
