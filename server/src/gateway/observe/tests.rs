use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::usage::UsageCounts;
use toolgate_core::ids::ProjectUid;
use toolgate_store::rows::{UsageDelta, UsageKind};
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
    assert_eq!(entry.take(), Some((counts(1, 1, 1), at(3))));
    assert_eq!(entry.used().counts, counts(11, 6, 2));
    assert_eq!(entry.used().last_at, at(3));
    assert_eq!(entry.take(), None);
    entry.count(Outcome::Answered, at(9));
    assert_eq!(
        entry.take(),
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
        hour: at(0) + TimeDelta::hours(hours),
        counts,
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
