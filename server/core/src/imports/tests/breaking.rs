//! Changes of schemas, by the places that changed, and which of them refuse what was accepted.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use crate::definition::schema::compile;
use crate::imports::{changes, local_changes};

fn with_schema(schema: &Value) -> Value {
    json!({"name": "a", "parameters": schema})
}

/// The places that changed, those that break marked with `!`.
fn breaks(before: &Value, after: &Value) -> Vec<String> {
    let found = changes(&with_schema(before), &with_schema(after));
    let mark = |breaking: bool| if breaking { "!" } else { "" };
    found
        .iter()
        .map(|change| {
            format!(
                "{}{}",
                mark(change.breaking),
                &change.pointer["/parameters".len()..]
            )
        })
        .collect()
}

#[test]
fn a_change_within_a_definition_is_that_change() {
    let pet = |size: Value, tag: Value| {
        json!({"type": "object", "properties": {"pet": {"$ref": "#/$defs/Pet"}}, "$defs": {
            "Pet": {"allOf": [{"type": "object", "properties": {"size": size}}, {"properties": {"tag": tag}}]},
            "Other": {"type": "string"},
        }})
    };
    let before = pet(
        json!({"type": "integer", "maximum": 9}),
        json!({"enum": ["a", "b"]}),
    );
    let after = pet(
        json!({"type": "integer", "maximum": 5, "description": "In cm"}),
        json!({"enum": ["a", "b", "c"]}),
    );
    assert_eq!(
        breaks(&before, &after),
        [
            "!/$defs/Pet/allOf/0/properties/size/maximum",
            "/$defs/Pet/allOf/0/properties/size/description",
            "/$defs/Pet/allOf/1/properties/tag/enum",
        ]
    );
    let ours = local_changes(&with_schema(&before), &with_schema(&after));
    assert!(
        ours.iter().all(|change| !change.breaking),
        "an edit here is nobody's surprise"
    );
}

#[rstest]
#[case::argument_gone(json!({"properties": {"a": {}}}), json!({"properties": {}}), &["!/properties/a"])]
#[case::argument_new(json!({"properties": {}}), json!({"properties": {"a": {}}}), &["/properties/a"])]
#[case::now_required(json!({"required": ["a"]}), json!({"required": ["b", "a"]}), &["!/required"])]
#[case::no_longer_required(json!({"required": ["a", "b"]}), json!({"required": ["b"]}), &["/required"])]
#[case::words(json!({"title": "a", "default": 1}), json!({"title": "b", "default": 2}), &["/title", "/default"])]
#[case::wider_type(json!({"type": "integer"}), json!({"type": ["number", "null"]}), &["/type"])]
#[case::other_type(json!({"type": ["string", "null"]}), json!({"type": "string"}), &["!/type"])]
#[case::fewer_values(json!({"enum": [1, 2]}), json!({"enum": [1]}), &["!/enum"])]
#[case::values_at_last(json!({}), json!({"enum": [1]}), &["!/enum"])]
#[case::any_value(json!({"enum": [1]}), json!({}), &["/enum"])]
#[case::bounds(json!({"minimum": 1, "maxLength": 5}), json!({"minimum": 0, "maxLength": 4}), &["/minimum", "!/maxLength"])]
#[case::multiple(json!({"multipleOf": 4}), json!({"multipleOf": 2}), &["/multipleOf"])]
#[case::no_multiple(json!({"multipleOf": 4}), json!({"multipleOf": 3}), &["!/multipleOf"])]
#[case::beyond_64_bits(digits("maximum", "18446744073709551617"), digits("maximum", "18446744073709551616"), &["!/maximum"])]
#[case::raised_beyond_64_bits(digits("maximum", "18446744073709551616"), digits("maximum", "18446744073709551617"), &["/maximum"])]
#[case::multiple_beyond_64_bits(digits("multipleOf", "36893488147419103232"), digits("multipleOf", "18446744073709551616"), &["/multipleOf"])]
#[case::no_multiple_beyond_64_bits(digits("multipleOf", "36893488147419103233"), digits("multipleOf", "18446744073709551616"), &["!/multipleOf"])]
#[case::pattern(json!({"pattern": "a"}), json!({"pattern": "b"}), &["!/pattern"])]
#[case::format(json!({"format": "int32"}), json!({"format": "int64"}), &["/format"])]
#[case::closed(json!({"additionalProperties": {"type": "string"}}), json!({"additionalProperties": false}), &["!/additionalProperties"])]
#[case::opened(json!({"additionalProperties": false}), json!({"additionalProperties": true}), &["/additionalProperties"])]
#[case::branch_more(json!({"anyOf": [{"const": 1}]}), json!({"anyOf": [{"const": 1}, {"const": 2}]}), &["/anyOf"])]
#[case::branch_less(json!({"anyOf": [{"const": 1}, {"const": 2}]}), json!({"anyOf": [{"const": 1}]}), &["!/anyOf"])]
#[case::condition_more(json!({"allOf": [{"const": 1}]}), json!({"allOf": [{"const": 1}, {"const": 2}]}), &["!/allOf"])]
#[case::inverted(json!({"not": {"maximum": 5}}), json!({"not": {"maximum": 9}}), &["!/not/maximum"])]
#[case::named_like_keywords(json!({"properties": {"title": {"type": "string"}}}), json!({"properties": {"title": {"type": "integer"}}}),
    &["!/properties/title/type"])]
#[case::data(json!({"default": {"a": 1}}), json!({"default": {"a": 2}}), &["/default"])]
#[case::other_reference(json!({"$ref": "#/$defs/a"}), json!({"$ref": "#/$defs/b"}), &["!/$ref"])]
fn places(#[case] before: Value, #[case] after: Value, #[case] expected: &[&str]) {
    assert_eq!(breaks(&before, &after), expected);
}

/// A keyword with a number of so many digits.
fn digits(keyword: &str, number: &str) -> Value {
    serde_json::from_str(&format!("{{\"{keyword}\": {number}}}")).expect("JSON")
}

/// A schema and a later one, mostly of the same form, whose values are few enough to be tried.
fn pairs() -> impl Strategy<Value = (Value, Value)> {
    let number = |key: &'static str| {
        (1..4_i32, 1..4_i32).prop_map(move |(a, b)| (json!({ key: a }), json!({ key: b })))
    };
    let some = || prop::sample::subsequence(vec![json!(0), json!(1), json!("a"), json!(2.5)], 1..4);
    let kinds = || prop::sample::subsequence(vec!["integer", "number", "string", "null"], 1..4);
    let whole = || {
        prop_oneof![
            Just(json!({})),
            Just(json!(true)),
            Just(json!(false)),
            Just(json!({"type": "string"}))
        ]
    };
    let leaf = prop_oneof![
        number("minimum"),
        number("exclusiveMaximum"),
        number("multipleOf"),
        number("maxLength"),
        (some(), some()).prop_map(|(a, b)| (json!({ "enum": a }), json!({ "enum": b }))),
        (kinds(), kinds()).prop_map(|(a, b)| (json!({ "type": a }), json!({ "type": b }))),
        (whole(), whole()),
    ];
    let of = |(a, b): (Value, Value), make: fn(Value) -> Value| (make(a), make(b));
    leaf.prop_recursive(2, 8, 2, move |inner| {
        let one = inner.clone();
        let two = (inner.clone(), inner.clone(), any::<u8>());
        prop_oneof![
            one.clone().prop_map(move |pair| of(
                pair,
                |a| json!({"properties": {"a": a}, "additionalProperties": false})
            )),
            one.clone().prop_map(|(a, b)| (
                json!({"properties": {"a": a}, "required": ["a"]}),
                json!({"properties": {"a": b}})
            )),
            one.prop_map(move |pair| of(pair, |a| json!({ "not": a }))),
            two.prop_map(|((a, x), (b, y), form)| match form % 4 {
                0 => (json!({"anyOf": [a]}), json!({"anyOf": [x, y]})),
                1 => (json!({"anyOf": [a, b]}), json!({"anyOf": [x, y]})),
                2 => (json!({"allOf": [a, b]}), json!({"allOf": [x, y]})),
                _ => (json!({"allOf": [a, b]}), json!({"allOf": [y]})),
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::with_cases(500) })]

    /// Where nothing is marked, every value that fitted still fits.
    #[test]
    fn what_is_not_marked_breaks_nothing((before, after) in pairs()) {
        prop_assume!(!changes(&with_schema(&before), &with_schema(&after)).iter().any(|change| change.breaking));
        let (was, is) = (compile(&before).expect("a schema"), compile(&after).expect("a schema"));
        let scalars = [json!(0), json!(1), json!(2), json!(3), json!(2.5), json!("a"), json!("abc"), json!(null)];
        let objects = scalars.iter().map(|value| json!({ "a": value }));
        for value in scalars.iter().cloned().chain(objects).chain([json!({}), json!({"b": 1})]) {
            prop_assert!(!was.is_valid(&value) || is.is_valid(&value), "{} fits {} but not {}", value, before, after);
        }
    }
}
