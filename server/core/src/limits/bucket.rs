//! A rate, and how much of it is used: the token bucket, counted in whole numbers so that nothing is lost by rounding.

/// Microseconds of a second.
const SECOND: u64 = 1_000_000;

/// A number of requests in a time, as one of several servers enforces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// What drains off in one microsecond.
    drain: u64,
    /// What one request adds.
    cost: u64,
    /// How many requests fit at once.
    burst: u32,
}

impl Rate {
    /// `count` requests in `per_s` seconds, shared by `servers` servers. Each allows its part of the rate, and its part of
    /// the requests that may come at once, but at least one. Zeros count as one.
    #[must_use]
    pub fn new(count: u32, per_s: u32, servers: u32) -> Self {
        let (count, per_s, servers) = (count.max(1), per_s.max(1), servers.max(1));
        Self {
            drain: u64::from(count),
            cost: u64::from(per_s) * SECOND * u64::from(servers),
            burst: (count / servers).max(1),
        }
    }

    /// How many requests fit at once.
    #[must_use]
    pub const fn burst(&self) -> u32 {
        self.burst
    }

    fn capacity(&self) -> u128 {
        u128::from(self.cost) * u128::from(self.burst)
    }

    /// Microseconds until so much has drained off.
    fn time(&self, level: u128) -> u64 {
        u64::try_from(level.div_ceil(u128::from(self.drain))).unwrap_or(u64::MAX)
    }
}

/// A time this much before the last one is a clock that was set back, in microseconds. Less is the order in which requests
/// came to be counted.
const SET_BACK: i64 = 1_000_000;

/// How much of a rate is used. Times are microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    level: u128,
    /// The cost that `level` was counted with: when the rate changes, what is used stays the same number of requests.
    cost: u64,
    at: i64,
}

impl Bucket {
    /// Nothing used.
    #[must_use]
    pub const fn empty(at: i64) -> Self {
        Self {
            level: 0,
            cost: 1,
            at,
        }
    }

    /// When it was last changed.
    #[must_use]
    pub const fn at(&self) -> i64 {
        self.at
    }

    /// Microseconds until one more request fits; 0: it fits now.
    #[must_use]
    pub fn wait(&self, rate: &Rate, now: i64) -> u64 {
        let wanted = self.level(rate, now) + u128::from(rate.cost);
        rate.time(wanted.saturating_sub(rate.capacity()))
    }

    /// Adds one request.
    pub fn take(&mut self, rate: &Rate, now: i64) {
        *self = Self {
            level: self.level(rate, now) + u128::from(rate.cost),
            cost: rate.cost,
            at: self.moved(now),
        };
    }

    /// Takes one request back.
    pub fn give_back(&mut self, rate: &Rate, now: i64) {
        *self = Self {
            level: self.level(rate, now).saturating_sub(u128::from(rate.cost)),
            cost: rate.cost,
            at: self.moved(now),
        };
    }

    /// How many requests fit now.
    #[must_use]
    pub fn remaining(&self, rate: &Rate, now: i64) -> u32 {
        let free = rate.capacity().saturating_sub(self.level(rate, now));
        u32::try_from(free / u128::from(rate.cost)).unwrap_or(u32::MAX)
    }

    /// Microseconds until nothing is used any more.
    #[must_use]
    pub fn resets_in(&self, rate: &Rate, now: i64) -> u64 {
        rate.time(self.level(rate, now))
    }

    /// The time of a change: never before the last one, or what has drained off would drain off again; but a clock that
    /// was set back must not stop the draining either.
    fn moved(&self, now: i64) -> i64 {
        if self.at.saturating_sub(now) > SET_BACK {
            now
        } else {
            now.max(self.at)
        }
    }

    fn level(&self, rate: &Rate, now: i64) -> u128 {
        let level = if self.cost == rate.cost {
            self.level
        } else {
            self.level / u128::from(self.cost) * u128::from(rate.cost)
                + self.level % u128::from(self.cost) * u128::from(rate.cost) / u128::from(self.cost)
        };
        let elapsed = u128::from(now.saturating_sub(self.at).max(0).unsigned_abs());
        level.saturating_sub(elapsed * u128::from(rate.drain))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: a request is admitted if, counted from every admitted one before it, no more than `burst` requests
    /// and what the rate gives in the time between are admitted.
    fn oracle(admitted: &[i64], now: i64, count: u32, per_s: u32, servers: u32) -> bool {
        let burst = i128::from((count / servers).max(1));
        let cost = i128::from(per_s) * i128::from(SECOND) * i128::from(servers);
        (0..=admitted.len()).all(|first| {
            let since = admitted.get(first).copied().unwrap_or(now);
            let number = (admitted.len() - first) as i128 + 1;
            number * cost <= burst * cost + i128::from(now - since) * i128::from(count)
        })
    }

    proptest! {
        #[test]
        fn a_bucket_admits_what_the_definition_admits(
            count in 1_u32..20,
            per_s in 1_u32..5,
            servers in 1_u32..4,
            pauses in prop::collection::vec(prop_oneof![Just(0_i64), 0_i64..2_000_000, 0_i64..50], 1..80),
        ) {
            let rate = Rate::new(count, per_s, servers);
            let mut bucket = Bucket::empty(0);
            let (mut now, mut admitted) = (0, Vec::new());
            for pause in pauses {
                now += pause;
                let expected = oracle(&admitted, now, count, per_s, servers);
                let wait = bucket.wait(&rate, now);
                prop_assert_eq!(wait == 0, expected);
                prop_assert_eq!(bucket.remaining(&rate, now) > 0, expected);
                if expected {
                    bucket.take(&rate, now);
                    admitted.push(now);
                } else {
                    // The wait is exact to the microsecond.
                    let then = now + i64::try_from(wait).unwrap();
                    prop_assert!(oracle(&admitted, then, count, per_s, servers));
                    prop_assert!(!oracle(&admitted, then - 1, count, per_s, servers));
                }
            }
        }

        #[test]
        fn replicas_together_sustain_the_rate(count in 1_u32..1000, per_s in 1_u32..100, servers in 1_u32..10) {
            let (whole, part) = (Rate::new(count, per_s, 1), Rate::new(count, per_s, servers));
            // The time one request takes to drain off, once for all and `servers` times for each part.
            prop_assert_eq!(whole.cost * u64::from(servers), part.cost);
            prop_assert_eq!(whole.drain, part.drain);
            prop_assert!(part.burst() * servers <= count.max(servers));
        }
    }

    #[test]
    fn all_may_come_at_once_and_are_free_again_one_by_one() {
        let rate = Rate::new(3, 60, 1);
        let mut bucket = Bucket::empty(0);
        for left in [2, 1, 0] {
            assert_eq!(bucket.wait(&rate, 0), 0);
            bucket.take(&rate, 0);
            assert_eq!(bucket.remaining(&rate, 0), left);
        }
        assert_eq!(bucket.wait(&rate, 0), 20 * SECOND);
        assert_eq!(bucket.resets_in(&rate, 0), 60 * SECOND);
        assert_eq!(bucket.wait(&rate, 20_000_000), 0);
        bucket.give_back(&rate, 0);
        assert_eq!(bucket.remaining(&rate, 0), 1);
    }

    #[test]
    fn a_changed_rate_keeps_what_is_used() {
        let mut bucket = Bucket::empty(0);
        let before = Rate::new(10, 60, 1);
        (0..8).for_each(|_| bucket.take(&before, 0));
        assert_eq!(bucket.remaining(&Rate::new(20, 3600, 1), 0), 12);
        assert_eq!(bucket.remaining(&Rate::new(5, 1, 1), 0), 0);
        assert_eq!(
            bucket.remaining(&Rate::new(20, 3600, 2), 0),
            2,
            "half of the burst"
        );
    }

    #[test]
    fn a_clock_that_steps_back_neither_frees_nor_blocks() {
        let rate = Rate::new(1, 1, 1);
        let mut bucket = Bucket::empty(10_000_000);
        bucket.take(&rate, 10_000_000);
        assert_eq!(bucket.wait(&rate, 0), SECOND);
        bucket.take(&rate, 9_999_999);
        assert_eq!(
            bucket.wait(&rate, 10_000_000),
            2 * SECOND,
            "nothing drains off twice"
        );
        bucket.take(&rate, 0);
        assert_eq!(
            bucket.wait(&rate, 3_000_000),
            0,
            "it drains on from the time that was set"
        );
        let largest = Rate::new(1_000_000, 86_400, 1000);
        (0..1000).for_each(|_| bucket.take(&largest, 0));
        assert_eq!(bucket.remaining(&largest, 0), 0);
    }
}
