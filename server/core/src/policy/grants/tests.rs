//! Grants with expiry and hierarchy, against a rule that is written as the specification says it.

use chrono::TimeDelta;
use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn t(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a moment") + TimeDelta::seconds(seconds)
}

fn terms(role: Role, groups: &[(&str, Option<i64>)], expires: Option<i64>) -> GrantTerms {
    GrantTerms {
        role,
        groups: groups
            .iter()
            .map(|&(group, end)| GrantedGroup {
                group: group.to_owned(),
                expires_at: end.map(t),
            })
            .collect(),
        expires_at: expires.map(t),
    }
}

#[rstest]
#[case::by_itself(&[("a", None)], None, "a", Some((HowGranted::Direct, "a", None)))]
#[case::until(&[("a", Some(9))], None, "a", Some((HowGranted::Direct, "a", Some(9))))]
#[case::by_its_parent(&[("a", None)], None, "a/b/c", Some((HowGranted::Parent, "a", None)))]
#[case::by_the_nearest_parent(&[("a", None), ("a/b", None)], None, "a/b/c", Some((HowGranted::Parent, "a/b", None)))]
#[case::by_any(&[("*", None)], None, "a/b", Some((HowGranted::Any, "*", None)))]
#[case::itself_before_its_parent(&[("*", None), ("a", None), ("a/b", None)], None, "a/b", Some((HowGranted::Direct, "a/b", None)))]
#[case::what_stands_before_what_has_expired(&[("a/b", Some(0)), ("*", None)], None, "a/b", Some((HowGranted::Any, "*", None)))]
#[case::expired(&[("a", Some(0))], None, "a", Some((HowGranted::Expired, "a", Some(0))))]
#[case::expired_with_its_parent(&[("a", Some(-5))], None, "a/b", Some((HowGranted::Expired, "a", Some(-5))))]
#[case::expired_with_the_grant(&[("a", Some(9))], Some(-1), "a", Some((HowGranted::Expired, "a", Some(-1))))]
#[case::no_longer_than_the_grant(&[("a", Some(9))], Some(5), "a", Some((HowGranted::Direct, "a", Some(5))))]
#[case::any_by_any(&[("*", None)], None, "*", Some((HowGranted::Direct, "*", None)))]
#[case::any_by_nothing_else(&[("a", None)], None, "*", None)]
#[case::a_child_does_not_cover_its_parent(&[("a/b", None)], None, "a", None)]
#[case::nothing(&[], None, "a", None)]
fn how_a_group_is_covered(
    #[case] groups: &[(&str, Option<i64>)],
    #[case] expires: Option<i64>,
    #[case] group: &str,
    #[case] expected: Option<(HowGranted, &str, Option<i64>)>,
) {
    let terms = terms(Role::Agent, groups, expires);
    let expected = expected.map(|(how, via, end)| Coverage {
        how,
        via,
        end: end.map(t),
    });
    assert_eq!(Ends::of(&terms).coverage(group, t(0)), expected);
}

#[test]
fn a_grant_ends_at_its_moment_and_not_before() {
    let prepared = PreparedGrant::new(terms(
        Role::Editor,
        &[("a", Some(10)), ("b", Some(20)), ("c", None)],
        Some(30),
    ));
    let held = |seconds| {
        prepared
            .at(t(seconds))
            .map(|grant| (grant.role, grant.groups.to_vec().join(" ")))
    };
    let some = |groups: &str| Some((Role::Editor, groups.to_owned()));
    assert_eq!(held(9), some("a b c"));
    assert_eq!(held(10), some("b c"));
    assert_eq!(held(20), some("c"));
    assert_eq!(held(29), some("c"));
    assert_eq!(held(30), None);
    let next = |seconds| next_end(prepared.terms(), t(seconds));
    assert_eq!(
        [next(0), next(10), next(29), next(30)],
        [Some(t(10)), Some(t(20)), Some(t(30)), None]
    );
}

#[rstest]
#[case::the_same(&[("a", None)], None, &[("a", None)], None, "")]
#[case::a_child(&[("a", None)], None, &[("a/b", None)], None, "")]
#[case::shorter(&[("a", Some(9))], None, &[("a", Some(9))], None, "")]
#[case::longer(&[("a", Some(9))], None, &[("a", Some(10))], None, "longer: a")]
#[case::for_good(&[("a", Some(9))], None, &[("a", None)], None, "longer: a")]
#[case::shorter_as_a_whole(&[("a", Some(9))], None, &[("a", None)], Some(9), "")]
#[case::what_is_not_held(&[("a", None)], None, &[("b", None), ("a", None), ("c", None)], None, "more: b c")]
#[case::a_parent(&[("a/b", None)], None, &[("a", None)], None, "more: a")]
#[case::any(&[("a", None)], None, &[("*", None)], None, "more: *")]
#[case::any_by_any(&[("*", None)], None, &[("*", None), ("x", None)], None, "")]
#[case::what_has_expired(&[("a", Some(0))], None, &[("a", None)], None, "more: a")]
#[case::nothing_that_has_expired(&[], None, &[("a", Some(0))], None, "")]
#[case::a_role_beyond_its_own_end(&[], Some(9), &[], None, "role longer")]
#[case::a_role_until_its_own_end(&[], Some(9), &[], Some(9), "")]
fn a_principal_cannot_grant_more_than_it_holds(
    #[case] held: &[(&str, Option<i64>)],
    #[case] held_until: Option<i64>,
    #[case] asked: &[(&str, Option<i64>)],
    #[case] asked_until: Option<i64>,
    #[case] expected: &str,
) {
    let held = terms(Role::Owner, held, held_until);
    let granter = Granter::Holder {
        role: Role::Owner,
        role_end: held.expires_at,
        groups: Ends::of(&held),
    };
    let asked = terms(Role::Viewer, asked, asked_until);
    let found = excess(&granter, None, &asked, t(0));
    let mut said = Vec::new();
    if found.role_end {
        said.push("role longer".to_owned());
    }
    for (word, groups) in [("more", &found.groups), ("longer", &found.group_ends)] {
        if !groups.is_empty() {
            said.push(format!("{word}: {}", groups.join(" ")));
        }
    }
    assert_eq!(said.join("; "), expected);
    assert!(excess(&Granter::SystemAdmin, None, &asked, t(0)).is_none());
}

#[test]
fn what_is_there_may_stay_but_not_grow() {
    let none = GrantTerms {
        role: Role::Editor,
        groups: Vec::new(),
        expires_at: None,
    };
    let granter = Granter::Holder {
        role: Role::Editor,
        role_end: None,
        groups: Ends::of(&none),
    };
    let current = terms(Role::Owner, &[("a", None), ("b", Some(9))], None);
    let fits = |role, groups: &[_], until| {
        excess(&granter, Some(&current), &terms(role, groups, until), t(0)).is_none()
    };
    assert!(fits(Role::Owner, &[("a", None), ("b", Some(9))], None));
    assert!(fits(Role::Owner, &[("b", Some(5))], Some(7)));
    assert!(fits(Role::Viewer, &[("a/x", None)], None));
    assert!(!fits(Role::Owner, &[("b", None)], None));
    assert!(!fits(Role::Auditor, &[], None), "another role is a new one");
    let over = terms(Role::Owner, &[("a", None)], Some(0));
    assert!(
        !excess(
            &granter,
            Some(&over),
            &terms(Role::Owner, &[("a", None)], None),
            t(0)
        )
        .is_none(),
        "what has expired is not there"
    );
}

/// The rule of the specification, word by word: `*` covers all, a name covers itself and what begins with it and a slash.
fn oracle_covers(terms: &GrantTerms, group: &str, now: DateTime<Utc>) -> bool {
    let over = |end: Option<DateTime<Utc>>| end.is_some_and(|end| end <= now);
    !over(terms.expires_at)
        && terms.groups.iter().any(|granted| {
            let name = granted.group.as_str();
            let covers = name == "*" || name == group || group.starts_with(&format!("{name}/"));
            !over(granted.expires_at) && covers
        })
}

const NAMES: [&str; 8] = ["*", "a", "a/b", "a/b/c", "a/d", "ab", "b", "b/a"];

fn any_end() -> impl Strategy<Value = Option<DateTime<Utc>>> {
    prop_oneof![2 => Just(None), 3 => (-3_i64..6).prop_map(|seconds| Some(t(seconds)))]
}

fn any_terms() -> impl Strategy<Value = GrantTerms> {
    let role = prop::sample::select(vec![
        Role::Owner,
        Role::Editor,
        Role::Auditor,
        Role::Viewer,
        Role::Agent,
    ]);
    let group = (prop::sample::select(&NAMES[..]), any_end()).prop_map(|(group, expires_at)| GrantedGroup {
        group: group.to_owned(),
        expires_at,
    });
    (role, prop::collection::vec(group, 0..5), any_end()).prop_map(|(role, groups, expires_at)| GrantTerms {
        role,
        groups,
        expires_at,
    })
}

/// Every moment at which something may change, and those between.
fn evaluations() -> impl Iterator<Item = DateTime<Utc>> {
    (-4..8).map(t)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn at_every_moment_a_grant_covers_what_the_rule_says(terms in any_terms()) {
        let prepared = PreparedGrant::new(terms.clone());
        let ends = Ends::of(&terms);
        for now in evaluations() {
            let grant = prepared.at(now);
            prop_assert_eq!(&grant, &at(&terms, now));
            prop_assert_eq!(grant.is_some(), terms.expires_at.is_none_or(|end| now < end));
            for group in NAMES {
                let expected = oracle_covers(&terms, group, now);
                let held = grant.as_ref().is_some_and(|grant| grant.groups.covers(group));
                prop_assert_eq!(held, expected, "{} at {}", group, now);
                let coverage = ends.coverage(group, now);
                let stands = coverage.is_some_and(|found| found.how != HowGranted::Expired);
                prop_assert_eq!(stands, expected, "{} at {}: {:?}", group, now, coverage);
                let ever = oracle_covers(&terms, group, t(-1000));
                prop_assert_eq!(coverage.is_some(), ever);
                prop_assert_eq!(ends.covered_until(group, now).is_some(), expected);
            }
        }
    }

    #[test]
    fn a_grant_only_shrinks_as_time_passes(terms in any_terms(), group in prop::sample::select(&NAMES[..])) {
        let held: Vec<bool> = evaluations().map(|now| oracle_covers(&terms, group, now)).collect();
        let covered: Vec<bool> = evaluations().map(|now| Ends::of(&terms).covered_until(group, now).is_some()).collect();
        prop_assert!(covered.is_sorted_by(|before, after| before >= after));
        prop_assert_eq!(covered, held);
    }

    #[test]
    fn what_may_be_granted_is_held_at_every_moment(
        held in any_terms(), current in prop::option::of(any_terms()), asked in any_terms(),
    ) {
        let granter = Granter::Holder { role: Role::Owner, role_end: None, groups: Ends::of(&held) };
        let found = excess(&granter, current.as_ref(), &asked, t(0));
        // Whatever is held later is held now, so that moments before now do not count.
        let beyond = |granted: &GrantedGroup| {
            let alone = GrantTerms { groups: vec![granted.clone()], ..asked.clone() };
            evaluations().filter(|&now| t(0) <= now).any(|now| {
                let by_somebody = oracle_covers(&held, &granted.group, now)
                    || current.as_ref().is_some_and(|terms| oracle_covers(terms, &granted.group, now));
                oracle_covers(&alone, &granted.group, now) && !by_somebody
            })
        };
        let expected: Vec<&str> =
            asked.groups.iter().filter(|granted| beyond(granted)).map(|granted| granted.group.as_str()).collect();
        let mut refused: Vec<&str> = found.groups.iter().chain(&found.group_ends).map(String::as_str).collect();
        let mut wanted = expected.clone();
        refused.sort_unstable();
        wanted.sort_unstable();
        prop_assert_eq!(refused, wanted);
        prop_assert!(!found.role && !found.role_end, "an owner gives every role for good");
    }
}
