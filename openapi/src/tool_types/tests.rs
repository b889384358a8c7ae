//! The tables say what they can say, and forms have what the tables say.

use std::collections::BTreeSet;

use serde_json::json;

use super::{ALL, COMMON, Field, FieldValue, Need, SHARED_OPTIONS, STATIC_ANSWER, find};

/// Calls `visit` with every field of every table, nested ones too.
fn every_field(visit: &mut dyn FnMut(&Field)) {
    fn walk(fields: &[Field], visit: &mut dyn FnMut(&Field)) {
        for field in fields {
            visit(field);
            if let FieldValue::Object(inner) = field.value {
                walk(inner, visit);
            }
        }
    }
    walk(COMMON, visit);
    walk(SHARED_OPTIONS, visit);
    for kind in ALL {
        walk(kind.keys, visit);
        walk(kind.options, visit);
    }
}

#[test]
fn names_are_unique_and_found() {
    let names: BTreeSet<&str> = ALL.iter().map(|kind| kind.name).collect();
    assert_eq!(names.len(), ALL.len());
    for kind in ALL {
        assert!(find(kind.name).is_some_and(|found| found.title == kind.title));
        assert!(
            !kind.title.is_empty() && kind.description.ends_with('.'),
            "{}",
            kind.name
        );
        for shared in kind.shared {
            assert!(SHARED_OPTIONS.iter().any(|field| field.is(shared)), "{shared}");
        }
    }
    assert!(find("nope").is_none());
}

#[test]
fn every_field_is_described_and_its_standard_is_json() {
    every_field(&mut |field| {
        assert!(
            field.description.ends_with('.'),
            "{}: {}",
            field.name,
            field.description
        );
        if let Some(standard) = field.standard {
            let value: serde_json::Value = serde_json::from_str(standard).expect("JSON");
            if let FieldValue::Choice(choices) = field.value {
                assert!(choices.iter().any(|choice| value == *choice), "{}", field.name);
            }
        }
    });
}

#[test]
fn the_form_of_a_type_has_its_keys_and_the_options_it_takes() {
    let form = STATIC_ANSWER.form();
    let options = &form["properties"]["options"];
    let names: Vec<&String> = options["properties"]
        .as_object()
        .expect("an object")
        .keys()
        .collect();
    assert_eq!(names, ["static", "concurrency", "breaker", "result"]);
    assert_eq!(options["required"], json!(["static"]));
    let error = &options["properties"]["static"]["properties"]["error"];
    assert_eq!(error["required"], json!(["message"]));
    assert_eq!(error["properties"]["code"]["default"], json!("execution_failed"));

    let worker = find("worker").expect("a type").form();
    assert_eq!(worker["required"], json!(["target_subject"]));
    assert_eq!(worker["properties"]["target_subject"]["type"], json!("string"));
}

#[test]
fn a_key_is_known_by_every_spelling() {
    let keys = find("mcp").expect("a type").keys;
    let id = keys.iter().find(|key| key.is("mcp_tool_id")).expect("a key");
    assert!(id.is("mcp-tool") && !id.is("mcp"));
    assert!(matches!(id.need, Need::Advised(_)));
}

#[test]
fn the_schema_of_a_definition_has_every_type_and_common_key() {
    let schema = super::definition_schema();
    let tool = &schema["$defs"]["tool"];
    for field in COMMON {
        assert!(tool["properties"][field.name].is_object(), "{}", field.name);
    }
    let names: Vec<_> = ALL.iter().map(|kind| json!(kind.name)).collect();
    assert_eq!(tool["properties"]["type"]["enum"], json!(names));
    assert_eq!(tool["allOf"].as_array().map(Vec::len), Some(ALL.len()));
}
