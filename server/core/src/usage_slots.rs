//! How a window of time is cut into slots of a series.

use chrono::{DateTime, TimeDelta, Utc};

/// Lengths of slots in seconds: whole minutes, then whole hours.
const LENGTHS: [i64; 9] = [
    60,
    300,
    900,
    1800,
    3600,
    4 * 3600,
    12 * 3600,
    24 * 3600,
    7 * 24 * 3600,
];
/// The most slots of a window, apart from those that begin or end outside of it.
const MOST: i64 = 180;
/// The longest window.
pub const LONGEST: TimeDelta = TimeDelta::days(366);

/// A window in whole slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slots {
    /// When the first slot begins.
    pub since: DateTime<Utc>,
    /// When the last slot ends.
    pub until: DateTime<Utc>,
    /// Seconds of a slot.
    pub slot_s: i64,
}

/// The slots that cover a window; slots of minutes only where `minutes_since` says that there are such counts. Nothing for a
/// window that is empty or longer than [`LONGEST`].
#[must_use]
pub fn slots(since: DateTime<Utc>, until: DateTime<Utc>, minutes_since: DateTime<Utc>) -> Option<Slots> {
    let length = until.signed_duration_since(since);
    if length <= TimeDelta::zero() || length > LONGEST {
        return None;
    }
    let least = if since < minutes_since { 3600 } else { 60 };
    let fits = |slot_s: &i64| *slot_s >= least && length.num_seconds() <= slot_s * MOST;
    let slot_s = LENGTHS.into_iter().find(fits)?;
    let first = since.timestamp().div_euclid(slot_s) * slot_s;
    let last = (until.timestamp() - 1).div_euclid(slot_s) * slot_s + slot_s;
    Some(Slots {
        since: DateTime::from_timestamp(first, 0)?,
        until: DateTime::from_timestamp(last, 0)?,
        slot_s,
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NOW: i64 = 1_760_000_430;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    #[rstest]
    #[case::minutes(3600, Some(60))]
    #[case::six_hours(6 * 3600, Some(300))]
    #[case::a_day(24 * 3600, Some(900))]
    #[case::two_days(48 * 3600, Some(1800))]
    #[case::older_than_the_minutes(49 * 3600, Some(3600))]
    #[case::a_week(7 * 24 * 3600, Some(3600))]
    #[case::a_month(30 * 24 * 3600, Some(4 * 3600))]
    #[case::a_year(366 * 24 * 3600, Some(7 * 24 * 3600))]
    #[case::too_long(367 * 24 * 3600, None)]
    #[case::nothing(0, None)]
    #[case::backwards(-60, None)]
    fn a_window_has_few_slots_that_cover_it(#[case] seconds: i64, #[case] expected: Option<i64>) {
        let found = slots(at(NOW - seconds), at(NOW), at(NOW - 48 * 3600));
        assert_eq!(found.map(|found| found.slot_s), expected);
        if let Some(Slots { since, until, slot_s }) = found {
            assert!(since <= at(NOW - seconds) && until >= at(NOW));
            assert_eq!((since.timestamp() % slot_s, until.timestamp() % slot_s), (0, 0));
            assert!((until - since).num_seconds() / slot_s <= MOST + 2);
        }
    }
}
