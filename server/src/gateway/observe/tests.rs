use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::usage::UsageCounts;
use toolgate_core::durations::bucket;
use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::{Took, UsageDelta, UsageKind};
use uuid::Uuid;

use super::counts::{Counts, Outcome};
use super::flush::merge;

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_760_000_400 + seconds, 0).unwrap()
}

fn counts(calls: i64, denials: i64, failures: i64) -> UsageCounts {
    UsageCounts {
        calls,
        denials,
        failures,
    }
}

fn taken(entry: &Counts) -> Option<(UsageCounts, DateTime<Utc>)> {
    entry.take().map(|taken| (taken.counts, taken.last_at))
}

#[test]
fn how_long_calls_took_is_taken_once() {
    let entry = Counts::default();
    entry.took(30);
    entry.took(10);
    let took = |ended, total_ms, slowest_ms, spread: &[(usize, i64)]| Took {
        ended,
        total_ms,
        slowest_ms,
        spread: spread.to_vec(),
    };
    let spread = [(bucket(10), 1), (bucket(30), 1)];
    assert_eq!(
        entry.take().map(|taken| taken.took),
        Some(took(2, 40, 30, &spread))
    );
    entry.took(-5);
    assert_eq!(
        entry.take().map(|taken| taken.took),
        Some(took(1, 0, 0, &[(bucket(0), 1)])),
        "a clock that was set back takes nothing away"
    );
    assert_eq!(entry.take(), None);
}

#[test]
fn what_was_taken_is_still_known_and_not_taken_again() {
    let entry = Counts::default();
    assert_eq!(entry.take(), None);
    entry.know(counts(10, 5, 1), at(0));
    assert_eq!(entry.take(), None, "what the database knows is not stored again");
    entry.count(Outcome::Admitted, at(1));
    entry.count(Outcome::Refused, at(3));
    entry.count(Outcome::Answered, at(2));
    entry.failed();
    assert_eq!(entry.used().counts, counts(11, 6, 2));
    assert_eq!(taken(&entry), Some((counts(1, 1, 1), at(3))));
    assert_eq!(entry.used().counts, counts(11, 6, 2));
    assert_eq!(entry.used().last_at, at(3));
    assert_eq!(entry.take(), None);
    entry.count(Outcome::Answered, at(9));
    assert_eq!(
        taken(&entry),
        Some((counts(0, 0, 0), at(9))),
        "when it was last asked for is stored too"
    );
}

#[test]
fn rows_that_wait_for_the_database_become_one_per_name_and_hour() {
    let delta = |name: &str, hours, counts, last| UsageDelta {
        project: ProjectUid(Uuid::nil()),
        kind: UsageKind::Tool,
        name: name.to_owned(),
        minute: at(0) + TimeDelta::hours(hours),
        counts,
        took: Took {
            ended: counts.calls,
            total_ms: counts.calls * 10,
            slowest_ms: last,
            spread: vec![(bucket(10), counts.calls)],
        },
        last_at: at(last),
    };
    let mut deltas = vec![
        delta("b", 0, counts(1, 0, 0), 5),
        delta("a", 1, counts(2, 0, 0), 3),
        delta("b", 0, counts(1, 2, 3), 4),
        delta("a", 0, counts(7, 0, 0), 1),
        delta("b", 0, counts(0, 0, 1), 6),
    ];
    merge(&mut deltas);
    assert_eq!(
        deltas,
        [
            delta("a", 0, counts(7, 0, 0), 1),
            delta("a", 1, counts(2, 0, 0), 3),
            delta("b", 0, counts(2, 2, 4), 6),
        ]
    );
}
