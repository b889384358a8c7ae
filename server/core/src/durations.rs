//! How long calls took, counted in ranges of milliseconds, and the percentiles that follow from such counts.
//!
//! A range is a fifth wider than the one before, so a percentile is off by a tenth at most. Counts of the same range add up,
//! over servers and over time.

/// How many ranges there are; the last one has no upper bound.
pub const BUCKETS: usize = 84;

/// The greatest number of milliseconds of every range but the last.
const BOUNDS: [i64; BUCKETS - 1] = bounds();

const fn bounds() -> [i64; BUCKETS - 1] {
    let mut all = [0; BUCKETS - 1];
    let mut at = 1;
    while at < all.len() {
        let before = all[at - 1];
        let wider = before * 6 / 5;
        all[at] = if wider > before { wider } else { before + 1 };
        at += 1;
    }
    all
}

/// The range that a number of milliseconds is in.
#[must_use]
pub fn bucket(milliseconds: i64) -> usize {
    BOUNDS.partition_point(|bound| *bound < milliseconds)
}

/// The number of milliseconds that `percent` of the calls took at most. `counts` are ranges in order with their numbers of
/// calls; nothing when there are no calls.
#[must_use]
pub fn percentile(counts: &[(usize, i64)], percent: i64) -> Option<i64> {
    let all: i64 = counts.iter().map(|(_, calls)| calls).sum();
    if all <= 0 {
        return None;
    }
    // The call that has so many others before it, itself included.
    let rank = ((all * percent + 99) / 100).clamp(1, all);
    let mut before = 0;
    for (bucket, calls) in counts {
        if before + calls >= rank {
            let high = BOUNDS.get(*bucket).or(BOUNDS.last()).copied().unwrap_or(0);
            let low = match bucket.checked_sub(1) {
                Some(below) => BOUNDS.get(below).copied().unwrap_or(high),
                None => 0,
            };
            return Some(low + (high - low) * (rank - before) / calls);
        }
        before += calls;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[test]
    fn ranges_follow_each_other_up_to_an_hour() {
        assert!(BOUNDS.is_sorted_by(|a, b| a < b));
        assert!(BOUNDS[BUCKETS - 2] > 3_600_000, "{}", BOUNDS[BUCKETS - 2]);
    }

    #[rstest]
    #[case::none(0, 0)]
    #[case::one(1, 1)]
    #[case::at_a_bound(12, 11)]
    #[case::beyond_it(13, 12)]
    #[case::longest(i64::MAX, BUCKETS - 1)]
    fn a_time_is_in_one_range(#[case] milliseconds: i64, #[case] expected: usize) {
        assert_eq!(bucket(milliseconds), expected);
    }

    #[test]
    fn without_calls_there_is_no_percentile() {
        assert_eq!(percentile(&[], 50), None);
        assert_eq!(percentile(&[(3, 0)], 50), None);
    }

    proptest! {
        #[test]
        fn percentiles_are_near_the_sorted_times(
            mut times in prop::collection::vec(0_i64..3_000_000, 1..200),
            percent in 1_i64..=100,
        ) {
            let mut counts = BTreeMap::new();
            for time in &times {
                *counts.entry(bucket(*time)).or_insert(0) += 1;
            }
            let counts: Vec<_> = counts.into_iter().collect();
            times.sort_unstable();
            let rank = (times.len() * usize::try_from(percent).unwrap()).div_ceil(100).max(1);
            let exact = times[rank - 1];
            let found = percentile(&counts, percent).unwrap();
            prop_assert!((found - exact).abs() <= exact / 5 + 1, "{found} of {exact}");
        }
    }
}
