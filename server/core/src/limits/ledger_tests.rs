use proptest::prelude::*;
use serde_json::json;
use toolgate_api::limits::ProjectLimits;

use super::super::rules::{Rules, Target};
use super::*;
use crate::principal::{Principal, PrincipalKind};

const SECOND: i64 = 1_000_000;

fn rules(limits: &serde_json::Value) -> Rules {
    let limits: ProjectLimits = serde_json::from_value(json!({ "limits": limits })).expect("limits");
    Rules::new(&limits)
}

fn requester(id: usize) -> Principal {
    Principal {
        kind: PrincipalKind::ServiceKey,
        id: id.to_string(),
        name: String::new(),
    }
}

fn places_of<'a>(seats: &'a [(&Rule, Seat)]) -> impl Iterator<Item = &'a Seat> {
    seats
        .iter()
        .filter(|(rule, _)| rule.concurrency.is_some())
        .map(|(_, seat)| seat)
}

/// What each limit has admitted, kept as plain lists and counted again for every question.
#[derive(Default)]
struct Oracle {
    admitted: Vec<(usize, usize, i64)>,
    running: Vec<(usize, usize)>,
}

const KEY_RATE: (i64, i64) = (3, 2 * SECOND);
const TOOL_RATE: (i64, i64) = (4, SECOND);
const KEY_PLACES: usize = 2;

impl Oracle {
    /// Whether `times` may have one more now: counted from each of them, never more than burst and rate give.
    fn fits(times: &[i64], now: i64, (count, per): (i64, i64)) -> bool {
        (0..=times.len()).all(|first| {
            let since = times.get(first).copied().unwrap_or(now);
            let number = i64::try_from(times.len() - first).expect("few") + 1;
            number * per <= count * per + (now - since) * count
        })
    }

    fn admits(&self, key: usize, tool: usize, now: i64) -> bool {
        let times = |of: &dyn Fn(&(usize, usize, i64)) -> bool| -> Vec<i64> {
            self.admitted
                .iter()
                .filter(|call| of(call))
                .map(|call| call.2)
                .collect()
        };
        let of_key = times(&|call| call.0 == key);
        let of_tool = times(&|call| call.1 == 0);
        Self::fits(&of_key, now, KEY_RATE)
            && (tool != 0 || Self::fits(&of_tool, now, TOOL_RATE))
            && self.running.iter().filter(|call| call.0 == key).count() < KEY_PLACES
    }
}

proptest! {
    #[test]
    fn several_limits_admit_all_or_nothing(
        steps in prop::collection::vec((0_usize..3, 0_usize..2, 0_i64..700_000, any::<bool>()), 1..120),
    ) {
        let rules = rules(&json!([
            {"name": "key", "subject": {"kind": "each_key"}, "requests": {"count": 3, "per_s": 2}, "concurrency": 2},
            {"name": "tool", "subject": {"kind": "tool", "tool": "tool-0"}, "requests": {"count": 4, "per_s": 1}},
        ]));
        let (mut ledger, mut oracle, mut now) = (Ledger::default(), Oracle::default(), 0);
        for (key, tool, pause, end_one) in steps {
            now += pause;
            if end_one && let Some((key, tool)) = oracle.running.pop() {
                let (who, name) = (requester(key), format!("tool-{tool}"));
                let seats = rules.applicable(&who, Some(Target { tool: &name, groups: &[] }));
                ledger.release(places_of(&seats));
            }
            let (who, name) = (requester(key), format!("tool-{tool}"));
            let seats = rules.applicable(&who, Some(Target { tool: &name, groups: &[] }));
            let expected = oracle.admits(key, tool, now);
            let admitted = ledger.admit(&seats, 1, now);
            prop_assert_eq!(admitted.is_ok(), expected, "{:?}", admitted);
            if expected {
                oracle.admitted.push((key, tool, now));
                oracle.running.push((key, tool));
            }
        }
    }
}

#[test]
fn the_limit_that_lasts_longest_is_named() {
    let rules = rules(&json!([
        {"name": "slow", "subject": {"kind": "project"}, "requests": {"count": 1, "per_s": 3600}},
        {"name": "fast", "subject": {"kind": "project"}, "requests": {"count": 1, "per_s": 1}},
        {"name": "places", "subject": {"kind": "project"}, "concurrency": 1},
    ]));
    let mut ledger = Ledger::default();
    let seats = rules.applicable(&requester(1), None);
    ledger.admit(&seats, 1, 0).expect("the first");
    let refused = ledger.admit(&seats, 1, 0).expect_err("the second");
    assert_eq!(
        (&*refused.limit, refused.what, refused.wait_us),
        ("slow", Exhausted::Requests, 3_600_000_000)
    );
    let refused = ledger.admit(&seats, 1, 3600 * SECOND).expect_err("it still runs");
    assert_eq!(
        (&*refused.limit, refused.what),
        ("places", Exhausted::Concurrency)
    );
    ledger.release(places_of(&seats));
    ledger.admit(&seats, 1, 3600 * SECOND).expect("it has ended");
}

#[test]
fn servers_share_a_limit() {
    let rules = rules(&json!([
        {"name": "x", "subject": {"kind": "project"}, "requests": {"count": 10, "per_s": 60}, "concurrency": 3},
    ]));
    let seats = rules.applicable(&requester(1), None);
    let mut ledger = Ledger::default();
    let (rule, seat) = &seats[0];
    let left = ledger.left(rule, seat, 2, 0);
    assert_eq!((left.requests, left.running), (Some((5, 0)), Some((0, 1))));
    ledger.admit(&seats, 2, 0).expect("one place");
    assert_eq!(
        ledger.admit(&seats, 2, 0).expect_err("no second place").what,
        Exhausted::Concurrency
    );
    ledger.admit(&seats, 1, 0).expect("alone there are three places");
}

#[test]
fn what_is_taken_back_was_never_used() {
    let rules = rules(&json!([
        {"name": "x", "subject": {"kind": "project"}, "requests": {"count": 1, "per_s": 60}},
    ]));
    let seats = rules.applicable(&requester(1), None);
    let mut ledger = Ledger::default();
    ledger.admit(&seats, 1, 0).expect("the first");
    ledger.give_back(seats[0].0, &seats[0].1, 0);
    ledger.admit(&seats, 1, 0).expect("the first again");
    ledger.admit(&seats, 1, 0).expect_err("the second");
}

#[test]
fn only_so_many_are_remembered_and_the_newest_stay() {
    let rules = rules(&json!([
        {"name": "x", "subject": {"kind": "each_key"}, "requests": {"count": 1, "per_s": 3600}, "concurrency": 2},
    ]));
    let mut ledger = Ledger::default();
    let mut admit = |id: usize, at: usize| {
        let who = requester(id);
        let seats = rules.applicable(&who, None);
        let outcome = ledger.admit(&seats, 1, i64::try_from(at).expect("small"));
        if id != 0 {
            ledger.release(places_of(&seats));
        }
        (outcome.is_ok(), ledger.seats.len())
    };
    // The first one's call does not end.
    let mut most = 0;
    for id in 0..=MOST_SEATS + 1 {
        most = most.max(admit(id, id).1);
    }
    assert!(most <= MOST_SEATS + 1, "{most}");
    let last = MOST_SEATS + 1;
    assert!(!admit(last, last).0, "the newest is remembered");
    assert!(!admit(0, last).0, "so is one whose call still runs");
    assert!(admit(1, last).0, "the oldest is forgotten");
}
