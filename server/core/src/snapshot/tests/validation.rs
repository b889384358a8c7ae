//! Arguments against the shown schema.

use rstest::rstest;
use serde_json::{Value, json};

use crate::snapshot::CompiledTool;
use crate::snapshot::testing::{object, tool};

fn search() -> std::sync::Arc<CompiledTool> {
    tool("search")
        .parameters(&json!({
            "type": "object",
            "properties": {
                "q": {"type": "string", "minLength": 1, "maxLength": 20},
                "num": {"type": "integer", "minimum": 1, "maximum": 50},
                "kind": {"enum": ["web", "news"]},
                "code": {"type": "string", "pattern": "^[a-w]+$"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "a/b~c": {"type": "object", "required": ["d"]},
            },
            "required": ["q"],
            "additionalProperties": false,
        }))
        .compiled()
}

#[rstest]
#[case::valid(json!({"q": "rust", "num": 3, "kind": "web", "code": "abc", "tags": ["a"], "a/b~c": {"d": 1}}), &[])]
#[case::missing(json!({}), &["/q"])]
#[case::wrong_type(json!({"q": 1}), &["/q"])]
#[case::an_explicit_null_is_a_value(json!({"q": null}), &["/q"])]
#[case::out_of_range(json!({"q": "rust", "num": 51}), &["/num"])]
#[case::not_in_the_list(json!({"q": "rust", "kind": "maps"}), &["/kind"])]
#[case::pattern(json!({"q": "rust", "code": "xyz"}), &["/code"])]
#[case::inside_an_array(json!({"q": "rust", "tags": ["a", 1, "b", 2]}), &["/tags/1", "/tags/3"])]
#[case::names_are_escaped(json!({"q": "rust", "a/b~c": {}}), &["/a~1b~0c/d"])]
#[case::unknown_names_each(json!({"q": "rust", "x": 1, "y": 2}), &["/x", "/y"])]
#[case::all_at_once(json!({"num": 0, "kind": 1}), &["/kind", "/num", "/q"])]
fn faults_have_pointers(#[case] arguments: Value, #[case] pointers: &[&str]) {
    let faults = search().validate(&object(arguments));
    let mut found: Vec<_> = faults
        .iter()
        .map(|fault| fault.pointer.clone().unwrap_or_default())
        .collect();
    found.sort();
    assert_eq!(found, pointers, "{faults:?}");
    assert!(faults.iter().all(toolgate_api::Diagnostic::is_error));
}

#[test]
fn messages_do_not_repeat_the_arguments() {
    let secret = format!("do-not-repeat-{}", "x".repeat(100_000));
    let faults = search().validate(&object(
        json!({"q": secret, "num": secret, "kind": secret, "code": secret, "tags": secret}),
    ));
    assert_eq!(faults.len(), 5);
    for fault in &faults {
        assert!(
            !fault.message.contains("do-not-repeat") && fault.message.len() < 400,
            "{}",
            fault.message
        );
    }
    let long_name = "n".repeat(100_000);
    let faults = search().validate(&object(json!({"q": "rust", long_name: 1})));
    assert_eq!(faults.len(), 1);
    assert!(format!("{faults:?}").len() < 1_000);
}

#[test]
fn at_most_a_hundred_faults_are_reported() {
    let numbers = |count: u32| object(json!({"q": "rust", "tags": (0..count).collect::<Vec<_>>()}));
    assert_eq!(search().validate(&numbers(99)).len(), 99);
    assert_eq!(search().validate(&numbers(5_000)).len(), 100);
    assert_eq!(search().validate(&numbers(50_000)).len(), 100);
    let names: serde_json::Map<_, _> = (0..500).map(|n| (format!("n{n}"), json!(1))).collect();
    assert_eq!(search().validate(&names).len(), 100);
}

#[rstest]
#[case::remote_reference(json!({"type": "object", "properties": {"q": {"$ref": "https://example.com/schema.json"}}}))]
#[case::file_reference(json!({"type": "object", "properties": {"q": {"$ref": "file:///etc/hostname"}}}))]
#[case::broken(json!({"type": "no-such-type"}))]
#[case::broken_pattern(json!({"type": "object", "properties": {"q": {"pattern": "("}}}))]
#[case::pattern_that_could_backtrack_without_end(json!({"type": "object", "properties": {"q": {"pattern": "^(a|a)*(?=b)c$"}}}))]
#[case::pattern_that_is_too_large(json!({"type": "object", "properties": {"q": {"pattern": "(a{1000}){1000}"}}}))]
fn a_schema_that_cannot_be_evaluated_admits_nothing(#[case] schema: Value) {
    let compiled = tool("t").parameters(&schema).compiled();
    for arguments in [json!({}), json!({"q": "a"})] {
        let faults = compiled.validate(&object(arguments));
        assert_eq!(faults.len(), 1);
        assert!(
            faults[0].message.contains("not a usable JSON Schema"),
            "{}",
            faults[0].message
        );
    }
}

#[test]
fn local_references_work() {
    let compiled = tool("t")
        .parameters(&json!({
            "type": "object",
            "properties": {"q": {"$ref": "#/$defs/text"}},
            "$defs": {"text": {"type": "string"}},
        }))
        .compiled();
    assert!(compiled.validate(&object(json!({"q": "a"}))).is_empty());
    assert_eq!(compiled.validate(&object(json!({"q": 1}))).len(), 1);
}
