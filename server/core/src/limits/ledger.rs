//! What is used of every limit: who may go on, and who must wait.

use std::collections::HashMap;
use std::sync::Arc;

use super::bucket::{Bucket, Rate};
use super::rules::Rule;

/// The most subjects that are kept; beyond that the least recently seen are dropped.
const MOST_SEATS: usize = 50_000;
/// Seconds after which it is worth while to try again when all places are taken.
const PLACE_RETRY_US: u64 = 1_000_000;

/// A limit, and who is counted by it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seat {
    /// The limit's name.
    pub limit: Arc<str>,
    /// Who, where everyone is counted apart.
    pub who: Option<Arc<str>>,
}

/// Which part of a limit is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exhausted {
    /// The rate.
    Requests,
    /// The places for calls at the same time.
    Concurrency,
}

/// Why a request must wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The limit's name.
    pub limit: Arc<str>,
    /// Which part of it.
    pub what: Exhausted,
    /// Microseconds to wait before trying again; a guess when a call has to end first.
    pub wait_us: u64,
}

/// How much of a limit is left for a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Requests that fit now, and microseconds until all fit again.
    pub requests: Option<(u32, u64)>,
    /// Calls that run, and how many may.
    pub running: Option<(u32, u32)>,
}

#[derive(Debug)]
struct Used {
    bucket: Bucket,
    running: u32,
}

/// What is used of all limits of a project. Times are microseconds, given by the caller.
#[derive(Debug, Default)]
pub struct Ledger {
    seats: HashMap<Seat, Used>,
}

/// The rate of a rule on one of several servers.
fn rate(rule: &Rule, servers: u32) -> Option<Rate> {
    rule.requests
        .map(|requests| Rate::new(requests.count, requests.per_s, servers))
}

/// The places of a rule on one of several servers: its part, at least one.
fn places(rule: &Rule, servers: u32) -> Option<u32> {
    rule.concurrency.map(|places| (places / servers.max(1)).max(1))
}

impl Ledger {
    /// Counts a request in all of its seats, or in none.
    ///
    /// # Errors
    /// The limit that makes it wait longest.
    pub fn admit(&mut self, seats: &[(&Rule, Seat)], servers: u32, now: i64) -> Result<(), Refused> {
        self.has_room(seats, servers, now)?;
        for (rule, seat) in seats {
            let used = self.seats.entry(seat.clone()).or_insert_with(|| Used {
                bucket: Bucket::empty(now),
                running: 0,
            });
            if let Some(rate) = rate(rule, servers) {
                used.bucket.take(&rate, now);
            }
            if rule.concurrency.is_some() {
                used.running += 1;
            }
        }
        self.forget(now);
        Ok(())
    }

    /// Whether a request would be counted, without counting it.
    ///
    /// # Errors
    /// As [`Self::admit`].
    pub fn has_room(&self, seats: &[(&Rule, Seat)], servers: u32, now: i64) -> Result<(), Refused> {
        let refused = seats
            .iter()
            .filter_map(|(rule, seat)| self.refusal(rule, seat, servers, now))
            .max_by_key(|refused| refused.wait_us);
        refused.map_or(Ok(()), Err)
    }

    /// A call has ended that was counted in these seats of limits on calls at the same time.
    pub fn release<'a>(&mut self, seats: impl IntoIterator<Item = &'a Seat>) {
        for seat in seats {
            if let Some(used) = self.seats.get_mut(seat) {
                used.running = used.running.saturating_sub(1);
            }
        }
    }

    /// Takes back one request, as if it had not been made.
    pub fn give_back(&mut self, rule: &Rule, seat: &Seat, now: i64) {
        if let (Some(rate), Some(used)) = (rate(rule, 1), self.seats.get_mut(seat)) {
            used.bucket.give_back(&rate, now);
        }
    }

    /// What is left for a seat.
    #[must_use]
    pub fn left(&self, rule: &Rule, seat: &Seat, servers: u32, now: i64) -> Left {
        let empty = Used {
            bucket: Bucket::empty(now),
            running: 0,
        };
        let used = self.seats.get(seat).unwrap_or(&empty);
        Left {
            requests: rate(rule, servers).map(|rate| {
                (
                    used.bucket.remaining(&rate, now),
                    used.bucket.resets_in(&rate, now),
                )
            }),
            running: places(rule, servers).map(|places| (used.running, places)),
        }
    }

    /// Every seat that is remembered.
    pub fn seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.keys()
    }

    fn refusal(&self, rule: &Rule, seat: &Seat, servers: u32, now: i64) -> Option<Refused> {
        let used = self.seats.get(seat)?;
        let refused = |what, wait_us| {
            Some(Refused {
                limit: Arc::clone(&rule.name),
                what,
                wait_us,
            })
        };
        let wait = rate(rule, servers).map_or(0, |rate| used.bucket.wait(&rate, now));
        if wait > 0 {
            return refused(Exhausted::Requests, wait);
        }
        match places(rule, servers) {
            Some(places) if used.running >= places => refused(Exhausted::Concurrency, PLACE_RETRY_US),
            _ => None,
        }
    }

    /// Makes room when too many are remembered: the older half goes, but no principal with running calls.
    fn forget(&mut self, now: i64) {
        if self.seats.len() <= MOST_SEATS {
            return;
        }
        let mut ages: Vec<i64> = self.seats.values().map(|used| used.bucket.at()).collect();
        let middle = ages.len() / 2;
        let (_, &mut median, _) = ages.select_nth_unstable(middle);
        self.seats
            .retain(|_, used| used.running > 0 || used.bucket.at() > median || used.bucket.at() >= now);
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
