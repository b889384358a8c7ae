//! Joining two changes of one definition.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};
use toolgate_api::quarantine::MergeSide;

use crate::imports::{changes, local_changes, merge};

fn base() -> Value {
    json!({
        "name": "getPet",
        "description": "Get a pet",
        "enabled": false,
        "parameters": {
            "type": "object",
            "properties": {"id": {"type": "string"}, "limit": {"type": "integer", "maximum": 50}},
            "required": ["id"],
        },
        "options": {"http": {"base_url": "https://a.example", "path": "/pets/{id}", "headers": {"Accept": "text/plain"}}},
    })
}

/// `base` with other values at JSON pointers; null removes.
fn with(edits: &[(&str, Value)]) -> Value {
    let mut value = base();
    for (pointer, edit) in edits {
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        let parent = value
            .pointer_mut(parent)
            .expect("a place")
            .as_object_mut()
            .expect("an object");
        if edit.is_null() {
            parent.remove(key);
        } else {
            parent.insert(key.to_owned(), edit.clone());
        }
    }
    value
}

#[test]
fn changes_are_reported_by_their_place() {
    let after = with(&[
        ("/description", json!("Get one pet")),
        (
            "/parameters/properties/limit",
            json!({"type": "integer", "maximum": 100}),
        ),
        ("/parameters/properties/a~b", json!({})),
        ("/options/http/headers", Value::Null),
        ("/enabled", json!(true)),
    ]);
    let found = changes(&base(), &after);
    let places: BTreeSet<&str> = found.iter().map(|change| change.pointer.as_str()).collect();
    assert_eq!(
        places,
        BTreeSet::from([
            "/description",
            "/enabled",
            "/options/http/headers",
            "/parameters/properties/a~0b",
            "/parameters/properties/limit/maximum",
        ])
    );
    let limit = found
        .iter()
        .find(|change| change.pointer.ends_with("maximum"))
        .expect("it");
    assert_eq!(
        (&limit.before, &limit.after),
        (&Some(json!(50)), &Some(json!(100)))
    );
    assert!(
        local_changes(&base(), &after)
            .iter()
            .all(|change| change.pointer != "/enabled")
    );
    assert_eq!(changes(&base(), &base()), []);
}

#[rstest]
#[case::other_keys(
    &[("/description", json!("mine"))], &[("/options/http/path", json!("/v2/pets/{id}"))],
    &[("/description", json!("mine")), ("/options/http/path", json!("/v2/pets/{id}"))])]
#[case::other_parameters(
    &[("/parameters/properties/id", json!({"type": "string", "maxLength": 9}))], &[("/parameters/properties/limit", Value::Null)],
    &[("/parameters/properties/id", json!({"type": "string", "maxLength": 9})), ("/parameters/properties/limit", Value::Null)])]
#[case::both_required(
    &[("/parameters/required", json!(["id", "limit"]))], &[("/parameters/required", json!(["new"]))],
    &[("/parameters/required", json!(["limit", "new"]))])]
#[case::nothing_required(
    &[("/parameters/required", Value::Null)], &[("/parameters/required", json!([]))],
    &[("/parameters/required", Value::Null)])]
#[case::the_same(
    &[("/description", json!("same"))], &[("/description", json!("same"))], &[("/description", json!("same"))])]
#[case::both_new(
    &[("/options/envs", json!({"a": "A"}))], &[("/options/envs", json!({"b": "B"}))],
    &[("/options/envs", json!({"a": "A", "b": "B"}))])]
#[case::enabled_here(&[("/enabled", Value::Null)], &[("/description", json!("new"))],
    &[("/enabled", Value::Null), ("/description", json!("new"))])]
fn changes_of_different_places_are_joined(
    #[case] ours: &[(&str, Value)],
    #[case] theirs: &[(&str, Value)],
    #[case] joined: &[(&str, Value)],
) {
    let found = merge(&base(), &with(ours), &with(theirs), |_| None);
    assert_eq!(found.conflicts, []);
    assert_eq!(found.merged, with(joined));
}

#[rstest]
#[case::text("/description", json!("mine"), json!("theirs"))]
#[case::inside_one_parameter("/parameters/properties/limit",
    json!({"type": "integer", "maximum": 50, "minimum": 1}), json!({"type": "integer", "maximum": 99}))]
#[case::removed_and_changed("/parameters/properties/limit", Value::Null, json!({"type": "integer"}))]
#[case::object_and_text("/options/http", json!({"base_url": "https://b.example"}), json!("none"))]
#[case::added_by_both("/parameters/properties/new", json!({"type": "string"}), json!({"type": "integer"}))]
fn changes_of_the_same_place_need_a_decision(#[case] place: &str, #[case] mine: Value, #[case] yours: Value) {
    let (ours, theirs) = (with(&[(place, mine.clone())]), with(&[(place, yours.clone())]));
    let found = merge(&base(), &ours, &theirs, |_| None);
    let [conflict] = found.conflicts.as_slice() else {
        panic!("{:?}", found.conflicts)
    };
    assert_eq!(conflict.pointer, place);
    assert_eq!(conflict.base.as_ref(), base().pointer(place));
    assert_eq!(conflict.ours, Some(mine).filter(|value| !value.is_null()));
    assert_eq!(conflict.theirs, Some(yours));
    assert_eq!(found.merged, ours, "until then the tool is what it is");
    for (side, expected) in [(MergeSide::Ours, &ours), (MergeSide::Theirs, &theirs)] {
        let decided = merge(&base(), &ours, &theirs, |at| (at == place).then_some(side));
        assert_eq!(
            (&decided.merged, decided.conflicts.as_slice()),
            (expected, &[][..])
        );
    }
}

/// A definition of which single places are known to vary; 0 is absence.
fn sample(cells: &[u8]) -> Value {
    let mut properties = BTreeMap::new();
    for (name, cell) in ["a", "b", "c"].iter().zip(cells) {
        if *cell > 0 {
            properties.insert(*name, json!({"maximum": cell, "type": "integer"}));
        }
    }
    json!({"description": cells[3], "parameters": {"properties": properties}, "options": {"http": {"path": cells[4], "method": cells[5]}}})
}

/// The rule for one place, said plainly.
fn oracle(base: u8, ours: u8, theirs: u8) -> Option<u8> {
    if ours == base {
        Some(theirs)
    } else if theirs == base || theirs == ours {
        Some(ours)
    } else {
        None
    }
}

proptest! {
    #[test]
    fn every_place_is_joined_by_itself(
        base in prop::collection::vec(0_u8..3, 6),
        ours in prop::collection::vec(0_u8..3, 6),
        theirs in prop::collection::vec(0_u8..3, 6),
    ) {
        let found = merge(&sample(&base), &sample(&ours), &sample(&theirs), |_| None);
        let cells: Vec<Option<u8>> = (0..6).map(|at| oracle(base[at], ours[at], theirs[at])).collect();
        let conflicts = cells.iter().filter(|cell| cell.is_none()).count();
        prop_assert_eq!(found.conflicts.len(), conflicts);
        let expected: Vec<u8> = cells.iter().zip(&ours).map(|(cell, ours)| cell.unwrap_or(*ours)).collect();
        prop_assert_eq!(found.merged, sample(&expected));
        let for_them = merge(&sample(&base), &sample(&ours), &sample(&theirs), |_| Some(MergeSide::Theirs));
        let expected: Vec<u8> = cells.iter().zip(&theirs).map(|(cell, theirs)| cell.unwrap_or(*theirs)).collect();
        prop_assert_eq!((for_them.merged, for_them.conflicts.len()), (sample(&expected), 0));
    }
}
