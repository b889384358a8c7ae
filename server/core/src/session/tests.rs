use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;
use toolgate_api::calls::CallContext;

use super::*;

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_760_000_000 + seconds, 0).expect("a moment")
}

#[rstest]
#[case::new(None, 0, SessionLife::Living)]
#[case::just_before(None, 99, SessionLife::Living)]
#[case::expired(None, 100, SessionLife::Expired)]
#[case::ended(Some(5), 6, SessionLife::Ended)]
#[case::ended_then_expired(Some(5), 200, SessionLife::Ended)]
fn a_session_is_active_until_it_ends_or_expires(
    #[case] ended: Option<i64>,
    #[case] now: i64,
    #[case] expected: SessionLife,
) {
    assert_eq!(life(at(100), ended.map(at), at(now)), expected);
}

#[rstest]
#[case(None, Some(86_400))]
#[case(Some(1), Some(1))]
#[case(Some(2_592_000), Some(2_592_000))]
#[case(Some(0), None)]
#[case(Some(2_592_001), None)]
fn lifetimes(#[case] asked: Option<u32>, #[case] seconds: Option<i64>) {
    assert_eq!(expiry(at(0), asked), seconds.map(at));
}

#[rstest]
#[case("research", true)]
#[case(" ", false)]
#[case("", false)]
#[case("a\nb", false)]
fn labels(#[case] text: &str, #[case] good: bool) {
    assert_eq!(label_fault(text).is_none(), good);
    assert_eq!(label_fault(&"ä".repeat(200)), None);
    assert!(label_fault(&"ä".repeat(201)).is_some());
}

fn names(text: Option<&str>) -> Option<Vec<String>> {
    text.map(|text| text.split_whitespace().map(str::to_owned).collect())
}

#[rstest]
#[case::its_own("a b", Some("a b"), None, Ok(Some("a b")))]
#[case::absent_stays_absent("default", None, None, Ok(None))]
#[case::absent_needs_default("a", None, None, Err(("default", "")))]
#[case::nothing_stays_nothing("", Some(""), None, Ok(Some("")))]
#[case::narrower("a b", Some("a b"), Some("b"), Ok(Some("b")))]
#[case::narrower_to_nothing("a b", Some("a b"), Some(""), Ok(Some("")))]
#[case::a_child_is_narrower("a", Some("a"), Some("a/x"), Ok(Some("a/x")))]
#[case::a_parent_is_wider("a", Some("a/x"), Some("a"), Err(("", "a")))]
#[case::wider_though_granted("*", Some("a"), Some("a b"), Err(("", "b")))]
#[case::any_is_wider("*", Some("a"), Some("*"), Err(("", "*")))]
#[case::within_any("*", Some("*"), Some("a"), Ok(Some("a")))]
#[case::default_may_be_named("default", None, Some("default"), Ok(Some("default")))]
#[case::nothing_cannot_be_widened("*", Some(""), Some("default"), Err(("", "default")))]
#[case::taken_away("a", Some("a b"), None, Err(("b", "")))]
#[case::taken_away_counts_though_not_asked_for("a", Some("a b"), Some("a"), Err(("b", "")))]
fn groups_of_a_request(
    #[case] granted: &str,
    #[case] session: Option<&str>,
    #[case] request: Option<&str>,
    #[case] expected: Result<Option<&str>, (&str, &str)>,
) {
    let granted: GroupSet = granted.split_whitespace().collect();
    let found = effective_groups(&granted, names(session).as_deref(), names(request));
    let expected = expected.map(names).map_err(|(missing, outside)| GroupsRefused {
        missing: names(Some(missing)).unwrap_or_default(),
        outside: names(Some(outside)).unwrap_or_default(),
    });
    assert_eq!(found, expected);
}

fn some_groups() -> impl Strategy<Value = Option<Vec<String>>> {
    let name = prop::sample::select(vec!["*", "default", "a", "a/x", "a/x/y", "b", "b/x"]);
    prop::option::of(prop::collection::vec(name.prop_map(str::to_owned), 0..4))
}

proptest! {
    /// Whatever is asked: what comes out is covered by the session's groups and by the grant.
    #[test]
    fn no_request_reaches_beyond_its_session_or_the_grant(
        granted in some_groups(), session in some_groups(), request in some_groups(),
    ) {
        let granted: GroupSet = granted.unwrap_or_default().into_iter().collect();
        match effective_groups(&granted, session.as_deref(), request.clone()) {
            Ok(effective) => {
                let effective = groups::requested(effective.as_deref());
                prop_assert!(granted.missing(&effective).is_empty());
                prop_assert!(groups::requested(session.as_deref()).missing(&effective).is_empty());
            }
            Err(refused) => prop_assert!(!(refused.missing.is_empty() && refused.outside.is_empty())),
        }
    }
}

#[test]
fn what_a_call_says_goes_over_what_its_session_says() {
    let context = |value: serde_json::Value| serde_json::from_value::<CallContext>(value).expect("a context");
    let session = context(json!({"agent_id": "a", "trace_id": "t", "turn_epoch": 1}));
    let call = context(json!({"trace_id": "u", "step_id": "s"}));
    assert_eq!(
        overlay(Some(&session), Some(&call)),
        Some(context(
            json!({"agent_id": "a", "trace_id": "u", "turn_epoch": 1, "step_id": "s"})
        ))
    );
    assert_eq!(overlay(Some(&session), None), Some(session.clone()));
    assert_eq!(overlay(None, Some(&call)), Some(call));
    assert_eq!(overlay(None, None), None);
}
