use std::net::{IpAddr, Ipv4Addr};

use chrono::{DateTime, TimeDelta, Utc};
use proptest::prelude::*;
use toolgate_api::ErrorCode;
use toolgate_api::settings::AlertThresholds;

use super::window::{STEPS, SlidingCount};
use super::*;

fn at(milliseconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_760_000_000, 0).unwrap() + TimeDelta::milliseconds(milliseconds)
}

fn address(n: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + n))
}

fn event(milliseconds: i64) -> Event<'static> {
    Event {
        at: at(milliseconds),
        is_key: true,
        admitted: true,
        code: None,
        missing: &[],
        holds_any: false,
        address: None,
    }
}

fn rules() -> AlertThresholds {
    AlertThresholds {
        window_s: 80,
        escalation_attempts: 3,
        invalid_transitions: 4,
        key_addresses: 3,
        first_group_use: 1,
        calls_after_wide_grant: 3,
        refused_credentials: 5,
        upstream_failures: 3,
    }
}

fn observe(watch: &mut PrincipalWatch, event: &Event<'_>, since: Option<DateTime<Utc>>) -> Vec<Finding> {
    let mut found = Vec::new();
    watch.observe(&rules(), event, || since, &mut found);
    found
}

proptest! {
    /// The plain oracle: all events are kept, and those of the present eighth and the seven before are counted.
    #[test]
    fn a_sliding_count_is_what_counting_all_events_gives(
        gaps in proptest::collection::vec(0_i64..200_000, 1..100),
        window_s in 10_u32..200,
    ) {
        let width = i64::from(window_s) * 1000 / STEPS;
        let step = |milliseconds: i64| at(milliseconds).timestamp_millis().div_euclid(width);
        let mut counter = SlidingCount::default();
        let (mut now, mut seen) = (0, Vec::new());
        for gap in gaps {
            now += gap;
            seen.push(now);
            let expected = seen.iter().filter(|&&then| step(now) - step(then) < STEPS).count();
            prop_assert_eq!(counter.add(at(now), window_s) as usize, expected);
        }
    }

    /// However events come, no address is counted twice in one report and none that was last seen before the window.
    #[test]
    fn addresses_are_counted_separately(events in proptest::collection::vec((0_i64..60_000, 0_u32..5), 1..200)) {
        let mut watch = PrincipalWatch::default();
        let (mut now, mut last_seen) = (0, std::collections::HashMap::new());
        for (gap, n) in events {
            now += gap;
            last_seen.insert(address(n), now);
            let found = observe(&mut watch, &Event { address: Some(address(n)), ..event(now) }, None);
            for finding in &found {
                prop_assert_eq!(finding.rule, AlertRule::KeyAddresses);
                prop_assert_eq!(finding.addresses.len(), 3);
                let distinct: std::collections::HashSet<_> = finding.addresses.iter().collect();
                prop_assert_eq!(distinct.len(), 3);
                for address in &finding.addresses {
                    prop_assert!(now - last_seen[address] <= 80_000);
                }
            }
        }
    }
}

#[test]
fn repeated_escalation_attempts_are_reported_once_per_threshold() {
    let mut watch = PrincipalWatch::default();
    let missing = ["admin".to_owned()];
    let attempt = |milliseconds| Event {
        code: Some(ErrorCode::InsufficientToolGroups),
        admitted: false,
        missing: &missing,
        ..event(milliseconds)
    };
    assert!(observe(&mut watch, &attempt(0), None).is_empty());
    assert!(observe(&mut watch, &attempt(1_000), None).is_empty());
    let found = observe(&mut watch, &attempt(2_000), None);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].rule, AlertRule::EscalationAttempts);
    assert_eq!((found[0].count, &found[0].groups[..]), (3, &missing[..]));
    assert!(
        observe(&mut watch, &attempt(3_000), None).is_empty(),
        "counted anew"
    );
    // Two more would make three, but the window has passed over the first.
    assert!(observe(&mut watch, &attempt(84_000), None).is_empty());
    assert!(observe(&mut watch, &attempt(85_000), None).is_empty());
}

#[test]
fn calls_that_the_state_does_not_allow_are_counted_and_others_are_not() {
    let mut watch = PrincipalWatch::default();
    let codes = [
        Some(ErrorCode::ToolNotInState),
        Some(ErrorCode::ToolNotInGroups),
        Some(ErrorCode::ToolNotInState),
        None,
        Some(ErrorCode::ToolNotInState),
    ];
    for (n, code) in (0..).zip(codes) {
        let seen = Event { code, ..event(n) };
        assert!(observe(&mut watch, &seen, None).is_empty(), "{code:?}");
    }
    let last = Event {
        code: Some(ErrorCode::ToolNotInState),
        ..event(6)
    };
    assert_eq!(
        observe(&mut watch, &last, None)[0].rule,
        AlertRule::InvalidTransitions
    );
}

#[test]
fn calls_soon_after_a_wide_grant() {
    let wide = |milliseconds| Event {
        holds_any: true,
        ..event(milliseconds)
    };
    let reports = |watch: &mut PrincipalWatch, times: &[i64], since: Option<i64>| -> usize {
        times
            .iter()
            .map(|&time| observe(watch, &wide(time), since.map(at)).len())
            .sum()
    };
    // Given `*` when it was made, a moment ago.
    assert_eq!(
        reports(&mut PrincipalWatch::default(), &[1, 2, 3, 4, 5, 6], Some(0)),
        1
    );
    // Made long ago, or at an unknown time.
    assert_eq!(
        reports(&mut PrincipalWatch::default(), &[1, 2, 3, 4], Some(-80_001)),
        0
    );
    assert_eq!(reports(&mut PrincipalWatch::default(), &[1, 2, 3, 4], None), 0);
    // Seen without it first.
    let mut watch = PrincipalWatch::default();
    observe(&mut watch, &event(0), None);
    assert_eq!(reports(&mut watch, &[1, 2, 3], None), 1);
    // The third call comes after the window.
    let mut watch = PrincipalWatch::default();
    observe(&mut watch, &event(0), None);
    assert_eq!(reports(&mut watch, &[1, 2, 80_002, 80_003], None), 0);
    // Refused requests are no calls.
    let mut watch = PrincipalWatch::default();
    for n in 1..10 {
        let refused = Event {
            admitted: false,
            ..wide(n)
        };
        assert!(observe(&mut watch, &refused, Some(at(0))).is_empty());
    }
}

#[test]
fn only_keys_are_watched_for_their_addresses() {
    let mut watch = PrincipalWatch::default();
    for n in 0..10 {
        let seen = Event {
            is_key: false,
            address: Some(address(n)),
            ..event(0)
        };
        assert!(observe(&mut watch, &seen, None).is_empty());
    }
}

#[test]
fn an_upstream_is_reported_from_its_threshold_on() {
    let found = |threshold, in_a_row| {
        let rules = AlertThresholds {
            upstream_failures: threshold,
            ..rules()
        };
        upstream_failures(&rules, in_a_row).map(|finding| finding.count)
    };
    for (threshold, in_a_row, expected) in [
        (3, 2, None),
        (3, 3, Some(3)),
        (3, 7, Some(7)),
        (1, 0, None),
        (0, 0, None),
        (0, 9, None),
    ] {
        assert_eq!(found(threshold, in_a_row), expected, "{threshold}, {in_a_row}");
    }
}

#[test]
fn a_threshold_of_zero_switches_a_rule_off() {
    let off = AlertThresholds {
        escalation_attempts: 0,
        invalid_transitions: 0,
        key_addresses: 0,
        first_group_use: 0,
        calls_after_wide_grant: 0,
        refused_credentials: 0,
        ..rules()
    };
    let (mut watch, mut addresses, mut found) =
        (PrincipalWatch::default(), AddressWatch::default(), Vec::new());
    for n in 0..100 {
        for code in [ErrorCode::InsufficientToolGroups, ErrorCode::ToolNotInState] {
            let seen = Event {
                code: Some(code),
                holds_any: true,
                address: Some(address(n)),
                ..event(i64::from(n))
            };
            watch.observe(&off, &seen, || Some(at(0)), &mut found);
        }
        assert_eq!(addresses.observe(&off, at(0), address(1)), None);
    }
    assert_eq!(found, []);
    assert!(!first_use_counts(&off, at(1_000_000), Some(at(0))));
}

#[test]
fn the_first_use_of_a_group_counts_when_the_key_is_older_than_the_window() {
    assert!(first_use_counts(&rules(), at(80_001), Some(at(0))));
    assert!(!first_use_counts(&rules(), at(80_000), Some(at(0))));
    assert!(!first_use_counts(&rules(), at(80_001), None));
}

#[test]
fn refusals_are_counted_by_address_in_bounded_memory() {
    let mut watch = AddressWatch::default();
    let mut report = |n, milliseconds| watch.observe(&rules(), at(milliseconds), address(n));
    for _ in 0..4 {
        assert_eq!(report(1, 0), None);
        assert_eq!(report(2, 0), None);
    }
    let found = report(1, 0).unwrap();
    assert_eq!((found.count, found.addresses), (5, vec![address(1)]));
    assert_eq!(report(1, 0), None, "counted anew");
    // An attacker with very many addresses neither fills the memory nor hides who is refused most.
    for n in 0..20_000 {
        report(1000 + n, 1);
    }
    assert!(report(2, 2).is_some());
    assert!(watch.len() <= 4096);
}

#[test]
fn one_customer_has_one_network() {
    let rows = [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
    ];
    for (given, expected) in rows {
        assert_eq!(network(given.parse().unwrap()).to_string(), expected);
    }
}

#[test]
fn all_processes_cut_time_at_the_same_places() {
    assert_eq!(window_start(at(0), 300), window_start(at(1), 300));
    let start = window_start(at(0), 300);
    assert_eq!(start.timestamp() % 300, 0);
    assert_eq!(window_start(start, 300), start);
    assert_eq!(
        window_start(start - TimeDelta::milliseconds(1), 300),
        start - TimeDelta::seconds(300)
    );
}
