//! The YAML of descriptions, which are written by many hands.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use crate::openapi_import::document::from_yaml;
use crate::text::yaml::writer::yaml_of;

fn read(text: &str) -> Result<Value, toolgate_api::Diagnostic> {
    from_yaml(text).map(|(value, _)| value)
}

#[rstest]
#[case::nothing("", json!(null))]
#[case::keys_that_are_no_texts("200: a\ntrue: b\nnull: c\n1.5: d", json!({"200": "a", "true": "b", "null": "c", "1.5": "d"}))]
#[case::scalars("[1, -2.5, true, ~, no, 2024-01-01, 0x10, 1e400, .inf, '1', !x 2]",
    json!([1, -2.5, true, null, "no", "2024-01-01", 16, "1e400", ".inf", "1", "2"]))]
#[case::the_last_of_a_key_counts("a: 1\nb: 2\na: 3", json!({"a": 3, "b": 2}))]
#[case::aliases("a: &x {b: [1]}\nc: *x\nd: [*x, *x]", json!({"a": {"b": [1]}, "c": {"b": [1]}, "d": [{"b": [1]}, {"b": [1]}]}))]
#[case::merges("x: &x {a: 1, b: 2}\ny: &y {b: 3, c: 4}\nz: {<<: [*x, *y], a: 0}",
    json!({"x": {"a": 1, "b": 2}, "y": {"b": 3, "c": 4}, "z": {"a": 0, "b": 2, "c": 4}}))]
#[case::aliased_keys("a: &k name\n*k : 1", json!({"a": "name", "name": 1}))]
#[case::first_document_only("a: 1\n---\nb: 2", json!({"a": 1}))]
#[case::blocks("a: |\n  x\n  y\nb: >\n  x\n  y\n", json!({"a": "x\ny\n", "b": "x y\n"}))]
fn values(#[case] text: &str, #[case] expected: Value) {
    assert_eq!(read(text), Ok(expected));
}

#[rstest]
#[case("a: [1", 1, "cannot be read")]
#[case("a: 1\nb: *none", 2, "cannot be read")]
#[case("a: 1\n? [x]\n: 2", 2, "keys must be strings")]
#[case("a: &a [*a]", 1, "alias")]
#[case::a_tab_after_a_plain_text("a:\n  b: 1\n\tc: 2\n", 3, "tab")]
#[case::a_tab_after_blank_lines("a: 1\n\n\n\tb: 2\n", 4, "tab")]
#[case::a_tab_in_a_block("a:\n  b: |\n\t x\n", 3, "tab")]
#[case::after_indented_quotes("a: 'x\ny'\nb: [1", 3, "cannot be read")]
fn faults_have_their_place(#[case] text: &str, #[case] line: u32, #[case] message: &str) {
    let fault = read(text).expect_err("refused");
    assert!(fault.message.contains(message), "{}", fault.message);
    assert_eq!(fault.line, Some(line), "{}", fault.message);
}

/// As in the public description of Docker's Engine: most readers take it, so it is taken here.
#[test]
fn texts_in_quotes_may_go_on_at_the_indentation_of_their_key() {
    let text = "paths:\n  /a:\n    summary: \"One\n    and it's two.\n\n    \\\"Three\\\".\"\n    other: 'four\n    five'\n  /b: \"x\n\ty\"\n";
    let (value, warnings) = from_yaml(text).expect("read");
    assert_eq!(
        value,
        json!({"paths": {"/a": {"summary": "One and it's two.\n\"Three\".", "other": "four five"}, "/b": "x y"}})
    );
    let lines: Vec<_> = warnings
        .iter()
        .map(|warning| (warning.is_error(), warning.line))
        .collect();
    assert_eq!(
        lines,
        [
            (false, Some(4)),
            (false, Some(6)),
            (false, Some(8)),
            (false, Some(10))
        ]
    );
    assert_eq!(read("a: \"x\n  y\""), Ok(json!({"a": "x y"})));
    assert_eq!(from_yaml("a: \"x\n  y\"").expect("read").1, []);
}

#[test]
fn size_and_depth_are_bounded_with_aliases_followed() {
    let list = |item: &str| format!("[{}]", [item; 10].join(", "));
    let mut laughs = format!("l0: &l0 {}\n", list("x"));
    for level in 1..12 {
        laughs += &format!("l{level}: &l{level} {}\n", list(&format!("*l{}", level - 1)));
    }
    assert!(read(&laughs).expect_err("too many").message.contains("too large"));
    let mut deep = "d0: &d0 x\n".to_owned();
    for level in 1..200 {
        deep += &format!("d{level}: &d{level} [*d{}]\n", level - 1);
    }
    assert!(read(&deep).expect_err("too deep").message.contains("levels deep"));
    for nested in [
        format!("{}1{}", "[".repeat(1000), "]".repeat(1000)),
        "- ".repeat(1000),
    ] {
        assert!(read(&nested).is_err());
    }
}

fn json_values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<u128>().prop_map(|number| json!(number)),
        "(no|yes|~|null|1|1\\.0|0x1|1e3|<<|=|-|[ -~]{0,12}|[ \n\t:#é-]{0,8})".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("[a-z0-9 :#]{1,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    /// What another library writes is what is read, whatever the number of digits.
    #[test]
    fn written_values_are_read(value in json_values()) {
        let yaml = yaml_of(&value);
        prop_assert_eq!(read(&yaml), Ok(value), "{}", yaml);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
        let _ = read(&text);
    }
}
