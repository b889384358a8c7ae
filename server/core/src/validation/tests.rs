//! Checks cost what they may, and decide what the library decides.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

/// What a check came to, with the number of faults.
fn check(schema: &Schema, value: &Value, effort: Effort) -> Result<usize, TooCostly> {
    let mut faults = 0;
    let verdict = schema.check(value, effort, 100, |_| faults += 1)?;
    Ok(match verdict {
        Verdict::Fits => 0,
        Verdict::Unfit => faults.max(1),
    })
}

/// `bottom` within so many members of this name.
fn nested(name: &str, depth: usize, bottom: Value) -> Value {
    (0..depth).fold(bottom, |value, _| json!({ name: value }))
}

/// Refers to itself from two branches for the same member.
fn doubling() -> Value {
    let branch = |required: &str| json!({"properties": {"c": {"$ref": "#/$defs/n"}}, "required": [required]});
    json!({"$defs": {"n": {"anyOf": [branch("z"), branch("y")]}}, "$ref": "#/$defs/n"})
}

#[test]
fn a_schema_that_doubles_its_work_at_each_level_is_checked_within_bounds() {
    let schema = Schema::new(&doubling()).expect("a schema");
    let warning = schema.warning().expect("a warning");
    assert!(warning.contains("#/$defs/n"), "{warning}");
    for depth in [1, 18, 40, 120] {
        let faults = check(&schema, &nested("c", depth, json!({})), Effort::Quick);
        assert!(faults.is_ok_and(|faults| faults > 0), "{depth}: {faults:?}");
    }
    assert_eq!(
        check(&schema, &json!({"c": {"z": 1}, "y": 1}), Effort::Quick),
        Ok(0)
    );
}

/// A row of definitions, each of which refers to the next one twice.
fn twice(length: usize, link: impl Fn(String) -> Value) -> Value {
    let mut definitions = serde_json::Map::new();
    for at in 0..length {
        definitions.insert(format!("d{at}"), link(format!("#/$defs/d{}", at + 1)));
    }
    definitions.insert(format!("d{length}"), json!({"type": "string"}));
    json!({"$defs": definitions, "$ref": "#/$defs/d0"})
}

#[rstest]
#[case::references_shared_for_one_value(twice(40, |next| json!({"allOf": [{"$ref": next}, {"$ref": next}]})))]
#[case::without_looking(twice(40, |next| json!({"anyOf": [{"not": {"$ref": next}}, {"$ref": next}]})))]
#[case::a_long_row(twice(400, |next| json!({"$ref": next})))]
#[case::itself(json!({"$ref": "#"}))]
#[case::each_other(json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}))]
#[case::under_not(json!({"type": "object", "not": {"$ref": "#"}}))]
#[case::under_if(json!({"type": "object", "if": {"$ref": "#"}, "then": false}))]
#[case::dependent(json!({"type": "object", "dependentSchemas": {"a": {"$ref": "#"}}}))]
#[case::by_an_anchor(json!({"$anchor": "top", "anyOf": [{"$ref": "#top"}]}))]
#[case::dynamic(json!({"$dynamicAnchor": "top", "oneOf": [{"$dynamicRef": "#top"}]}))]
#[case::dynamic_elsewhere(json!({"$defs": {"a": {"$dynamicAnchor": "a", "$dynamicRef": "#a"}}, "properties": {"x": {"$ref": "#/$defs/a"}}}))]
#[case::leaving(json!({"$ref": "https://example.com/schema.json"}))]
#[case::leaving_to_the_meta_schema(json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}))]
fn what_no_value_can_be_checked_against_is_refused(#[case] schema: Value) {
    let error = Schema::new(&schema).expect_err("refused");
    assert!(error.len() < 300, "{error}");
}

#[rstest]
#[case::same_member(doubling(), true)]
#[case::same_item(json!({"anyOf": [{"items": {"$ref": "#"}}, {"prefixItems": [{"$ref": "#"}]}]}), true)]
#[case::pattern_over_name(json!({"properties": {"c": {"$ref": "#"}}, "patternProperties": {"^c": {"$ref": "#"}}}), true)]
#[case::contains_over_items(json!({"items": {"$ref": "#"}, "contains": {"$ref": "#"}}), true)]
#[case::through_definitions(json!({"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}], "$defs": {
    "a": {"properties": {"x": {"$ref": "#"}}}, "b": {"additionalProperties": {"$ref": "#"}}}}), true)]
#[case::dynamic(json!({"$dynamicAnchor": "n", "anyOf": [
    {"properties": {"c": {"$dynamicRef": "#n"}}}, {"properties": {"c": {"$dynamicRef": "#n"}}}]}), true)]
#[case::many_without_a_circle(twice(20, |next| json!({"anyOf": [{"properties": {"c": {"$ref": next}}}, {"properties": {"c": {"$ref": next}}}]})), true)]
#[case::a_tree(json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}), false)]
#[case::a_tree_of_everything(json!({"properties": {"children": {"items": {"$ref": "#"}}}, "additionalProperties": {"$ref": "#"}}), false)]
#[case::an_expression(json!({"anyOf": [{"properties": {"and": {"items": {"$ref": "#"}}}}, {"properties": {"not": {"$ref": "#"}}}]}), false)]
#[case::no_circle(json!({"properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}), false)]
fn a_schema_whose_work_can_grow_is_known(#[case] schema: Value, #[case] warns: bool) {
    let schema = Schema::new(&schema).expect("a schema");
    assert_eq!(schema.warning().is_some(), warns, "{:?}", schema.warning());
}

#[test]
fn long_texts_and_many_values_end_a_quick_check_and_fit_a_thorough_one() {
    let schema = json!({"properties": {
        "text": {"type": "string", "pattern": "^[a-z ]*$"},
        "list": {"type": "array", "items": {"type": "integer", "minimum": 0}, "uniqueItems": true},
    }});
    let schema = Schema::new(&schema).expect("a schema");
    for value in [
        json!({"text": "a b".repeat(300_000)}),
        json!({"list": (0..100_000).collect::<Vec<_>>()}),
    ] {
        assert_eq!(check(&schema, &value, Effort::Quick), Err(TooCostly));
        assert_eq!(check(&schema, &value, Effort::Thorough), Ok(0));
    }
}

#[test]
fn faults_with_long_pointers_take_bounded_memory() {
    let schema =
        Schema::new(&json!({"additionalProperties": {"items": {"type": "string"}}})).expect("a schema");
    let value = json!({ "k".repeat(500_000): vec![0; 100_000] });
    let faults = check(&schema, &value, Effort::Thorough).expect("an answer");
    assert!((1..100).contains(&faults), "{faults} faults of one megabyte each");
}

#[rstest]
#[case(r#"{"minimum": 18446744073709551616}"#, "18446744073709551616", true)]
#[case(r#"{"minimum": 18446744073709551616}"#, "18446744073709551615", false)]
#[case(r#"{"exclusiveMinimum": 18446744073709551616}"#, "18446744073709551617", true)]
#[case(
    r#"{"exclusiveMinimum": 18446744073709551616}"#,
    "18446744073709551616",
    false
)]
#[case(r#"{"maximum": 9007199254740993}"#, "9007199254740994", false)]
#[case(r#"{"maximum": 9007199254740993}"#, "9007199254740993", true)]
#[case(
    r#"{"exclusiveMaximum": -18446744073709551616}"#,
    "-18446744073709551617",
    true
)]
#[case(
    r#"{"exclusiveMaximum": -18446744073709551616}"#,
    "-18446744073709551616",
    false
)]
#[case(r#"{"multipleOf": 3}"#, "55340232221128654848", true)]
#[case(r#"{"multipleOf": 3}"#, "55340232221128654849", false)]
#[case(r#"{"multipleOf": 18446744073709551616}"#, "36893488147419103232", true)]
#[case(r#"{"multipleOf": 18446744073709551616}"#, "36893488147419103233", false)]
#[case(r#"{"const": 18446744073709551616}"#, "18446744073709551616", true)]
#[case(r#"{"const": 18446744073709551616}"#, "18446744073709551616.0", true)]
#[case(r#"{"const": 18446744073709551616}"#, "18446744073709551617", false)]
#[case(r#"{"enum": [1, 18446744073709551616]}"#, "18446744073709551616", true)]
#[case(r#"{"enum": [1, 18446744073709551616]}"#, "18446744073709551617", false)]
#[case(r#"{"type": "integer"}"#, "18446744073709551616", true)]
#[case(r#"{"type": "integer"}"#, "18446744073709551616.5", false)]
#[case(r#"{"type": ["integer", "null"]}"#, "-123456789012345678901234567890", true)]
#[case(
    r#"{"uniqueItems": true}"#,
    "[18446744073709551616, 18446744073709551617]",
    true
)]
#[case(
    r#"{"uniqueItems": true}"#,
    "[18446744073709551616, 1.8446744073709551616e19]",
    false
)]
fn integers_beyond_64_bits_are_checked_exactly(
    #[case] schema: &str,
    #[case] value: &str,
    #[case] fits: bool,
) {
    let schema = Schema::new(&serde_json::from_str(schema).expect("JSON")).expect("a schema");
    let value = serde_json::from_str(value).expect("JSON");
    assert_eq!(schema.is_valid(&value), fits, "{value}");
}

#[rstest]
#[case::bound(json!({"items": {"minimum": 0.5}}))]
#[case::multiple(json!({"items": {"multipleOf": 0.01}}))]
#[case::value(json!({"items": {"enum": [1, 2.5]}}))]
#[case::one_value(json!({"items": {"const": 1.5}}))]
#[case::kind(json!({"items": {"type": "integer"}}))]
fn short_numbers_with_many_digits_cost_what_they_take(#[case] schema: Value) {
    let schema = Schema::new(&schema).expect("a schema");
    // One check of it takes a millisecond.
    let one = serde_json::from_str("[1e-9990]").expect("JSON");
    assert_eq!(check(&schema, &one, Effort::Quick), Err(TooCostly));
    assert!(check(&schema, &one, Effort::Thorough).is_ok());
    let many = serde_json::from_str(&format!("[{}1]", "1e-9990,".repeat(100_000))).expect("JSON");
    assert_ne!(
        check(&schema, &many, Effort::Thorough),
        Ok(100),
        "not all of them are looked at"
    );
    let usual = serde_json::from_str("[18446744073709551616, 0.30000000000000004, 1e-7]").expect("JSON");
    assert!(check(&schema, &usual, Effort::Quick).is_ok());
}

/// Schemas that refer to each other in every way, for members of few names.
fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!(false)),
        Just(json!({"type": "string"})),
        Just(json!({"type": ["object", "array"]})),
        Just(json!({"const": {"a": [1]}})),
        Just(json!({"enum": [1, "x", null, {}]})),
        Just(json!({"required": ["a"]})),
        Just(json!({"minProperties": 1, "maxItems": 2})),
        Just(json!({"uniqueItems": true})),
        Just(json!({"pattern": "^(a|b)+$", "minLength": 2})),
        (0..4_usize).prop_map(|to| json!({"$ref": format!("#/$defs/d{to}")})),
        Just(json!({"$dynamicRef": "#n"})),
    ];
    let schema = leaf.prop_recursive(4, 40, 4, |inner| {
        let list = || proptest::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            list().prop_map(|all| json!({ "allOf": all })),
            list().prop_map(|any| json!({ "anyOf": any })),
            list().prop_map(|one| json!({ "oneOf": one })),
            inner.clone().prop_map(|not| json!({ "not": not })),
            list().prop_map(|all| json!({"if": all[0], "then": all[all.len() / 2], "else": all[all.len() - 1]})),
            list().prop_map(|all| json!({"properties": {"a": all[0], "b": all[all.len() - 1]}, "required": ["a"]})),
            list().prop_map(|all| json!({"patternProperties": {"^[ab]": all[0]}, "additionalProperties": all[all.len() - 1]})),
            list().prop_map(|all| json!({"anyOf": all, "unevaluatedProperties": all[0]})),
            list().prop_map(|all| json!({"anyOf": all, "unevaluatedItems": all[0]})),
            list().prop_map(|all| json!({"prefixItems": all, "items": all[0], "contains": all[all.len() - 1]})),
            inner.clone().prop_map(|then| json!({"dependentSchemas": {"a": then}})),
            inner.clone().prop_map(|name| json!({"propertyNames": name})),
        ]
    });
    (proptest::collection::vec(schema, 4..6), 0..4_usize).prop_map(|(definitions, dynamic)| {
        let mut whole = json!({"$defs": {}});
        for (at, mut definition) in definitions.into_iter().enumerate() {
            if at == dynamic && definition.is_object() {
                definition["$dynamicAnchor"] = json!("n");
            }
            whole["$defs"][format!("d{at}")] = definition;
        }
        whole["$ref"] = json!("#/$defs/d0");
        whole
    })
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(1)),
        Just(json!(1.0)),
        Just(json!("x")),
        Just(json!("abab")),
        Just(json!({})),
        Just(json!([])),
    ];
    let small = leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec(("[abc]", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    });
    // Deep ones, whose every level has the same shape.
    (small, "[abci]{0,100}").prop_map(|(bottom, way)| {
        way.chars().fold(bottom, |value, step| match step {
            'i' => json!([value]),
            name => json!({ name.to_string(): value }),
        })
    })
}

/// What the library decides about a small value without counting.
fn decides(schema: &Value, value: &Value) -> bool {
    jsonschema::draft202012::new(schema)
        .expect("a schema")
        .is_valid(value)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The allowance of a check is counted, so this test needs no clock: it ends soon or it fails to end.
    #[test]
    fn whatever_the_schema_and_the_value_a_check_ends_within_its_allowance(schema in any_schema(), value in any_value()) {
        let Ok(compiled) = Schema::new(&schema) else { return Ok(()) };
        let quick = check(&compiled, &value, Effort::Quick);
        if let Ok(faults) = quick {
            prop_assert_eq!(faults == 0, decides(&schema, &value), "{} {}", schema, value);
            prop_assert_eq!(check(&compiled, &value, Effort::Thorough), Ok(faults));
        }
    }
}
