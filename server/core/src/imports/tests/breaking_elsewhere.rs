//! Changes of results, addresses and authentication, and which of them break what worked before.

use rstest::rstest;
use serde_json::{Value, json};

use crate::imports::{changes, local_changes, removal};

/// The places that changed, those that break marked with `!`.
fn breaks(before: &Value, after: &Value) -> Vec<String> {
    changes(before, after)
        .iter()
        .map(|change| {
            let mark = if change.breaking { "!" } else { "" };
            format!("{mark}{}", change.pointer)
        })
        .collect()
}

fn of_result(before: &Value, after: &Value) -> Vec<String> {
    let with = |schema: &Value| {
        let mut tool = json!({"name": "a", "parameters": {"type": "object"}});
        if !schema.is_null() {
            tool["output_schema"] = schema.clone();
        }
        tool
    };
    let found = breaks(&with(before), &with(after));
    found
        .into_iter()
        .map(|place| place.replace("/output_schema", ""))
        .collect()
}

#[rstest]
#[case::property_gone(json!({"properties": {"a": {}, "b": {}}}), json!({"properties": {"b": {}}}), &["!/properties/a"])]
#[case::all_gone(json!({"type": "object", "properties": {"a": {}}}), json!({"type": "object"}), &["!/properties"])]
#[case::property_new(json!({"properties": {}}), json!({"properties": {"a": {"type": "string"}}}), &["/properties/a"])]
#[case::other_type(json!({"properties": {"a": {"type": "string"}}}), json!({"properties": {"a": {"type": "integer"}}}),
    &["!/properties/a/type"])]
#[case::may_be_null(json!({"type": "string"}), json!({"type": ["string", "null"]}), &["!/type"])]
#[case::never_null(json!({"type": ["string", "null"]}), json!({"type": "string"}), &["/type"])]
#[case::whole_numbers(json!({"type": "number"}), json!({"type": "integer"}), &["/type"])]
#[case::fractions(json!({"type": "integer"}), json!({"type": "number"}), &["!/type"])]
#[case::any_type(json!({"type": "integer"}), json!({}), &["!/type"])]
#[case::a_type_at_last(json!({}), json!({"type": "integer"}), &["/type"])]
#[case::may_be_absent(json!({"required": ["a", "b"]}), json!({"required": ["b"]}), &["!/required"])]
#[case::always_there(json!({"required": ["b"]}), json!({"required": ["a", "b"]}), &["/required"])]
#[case::nothing_required(json!({"required": ["b"]}), json!({}), &["!/required"])]
#[case::in_a_list(json!({"items": {"properties": {"a": {}}}}), json!({"items": {"properties": {}}}), &["!/items/properties/a"])]
#[case::any_item(json!({"items": {"type": "string"}}), json!({}), &["!/items"])]
#[case::in_a_definition(json!({"$defs": {"P": {"properties": {"a": {"type": "string"}}}}}), json!({"$defs": {"P": {"properties": {"a": {"type": "null"}}}}}),
    &["!/$defs/P/properties/a/type"])]
#[case::definition_unused(json!({"$defs": {"P": {}, "Q": {"type": "null"}}}), json!({"$defs": {"P": {}}}), &["/$defs/Q"])]
#[case::other_reference(json!({"$ref": "#/$defs/P"}), json!({"$ref": "#/$defs/Q"}), &["!/$ref"])]
#[case::another_alternative(json!({"anyOf": [{"type": "null"}]}), json!({"anyOf": [{"type": "null"}, {"type": "string"}]}), &["!/anyOf"])]
#[case::an_alternative_less(json!({"oneOf": [{"type": "null"}, {"type": "string"}]}), json!({"oneOf": [{"type": "null"}]}), &["/oneOf"])]
#[case::a_part_less(json!({"allOf": [{"type": "object"}, {"required": ["a"]}]}), json!({"allOf": [{"type": "object"}]}), &["!/allOf"])]
#[case::value_of_another_type(json!({"enum": ["a"]}), json!({"enum": ["a", 1]}), &["!/enum"])]
#[case::value_more(json!({"enum": ["a"]}), json!({"enum": ["a", "b"]}), &["/enum"])]
#[case::constant(json!({"const": [1]}), json!({"const": 1}), &["!/const"])]
#[case::bounds(json!({"maximum": 5, "format": "date"}), json!({"maximum": 9}), &["/maximum", "/format"])]
#[case::words(json!({"title": "a"}), json!({"title": "b", "description": "c"}), &["/title", "/description"])]
#[case::closed(json!({"additionalProperties": false}), json!({}), &["/additionalProperties"])]
#[case::inverted(json!({"not": {"type": "null"}}), json!({"not": {"type": "string"}}), &["!/not/type"])]
#[case::schema_gone(json!({"type": "object"}), Value::Null, &["!"])]
#[case::no_schema(json!(true), json!({"type": "string"}), &[""])]
fn results(#[case] before: Value, #[case] after: Value, #[case] expected: &[&str]) {
    assert_eq!(of_result(&before, &after), expected);
}

fn tool() -> Value {
    json!({
        "name": "getPet", "type": "openapi", "description": "Get a pet", "parameters": {"type": "object"},
        "options": {
            "timeout_ms": 1000,
            "envs": {"second": "SECOND_KEY"},
            "http": {
                "base_url": "https://a.example/v1", "path": "/pets/{id}", "method": "GET", "headers": {"Accept": "text/plain"},
                "auth": {"scheme": "header", "name": "X-Key", "env": "API_KEY"},
            },
        },
    })
}

/// The tool with another value at a place; null: without it.
fn with(pointer: &str, value: &Value) -> Value {
    let mut tool = tool();
    let (above, key) = pointer.rsplit_once('/').expect("a pointer");
    let members = tool
        .pointer_mut(above)
        .and_then(Value::as_object_mut)
        .expect("an object");
    if value.is_null() {
        members.remove(key);
    } else {
        members.insert(key.to_owned(), value.clone());
    }
    tool
}

#[rstest]
#[case::host("/options/http/base_url", json!("https://b.example/v1"), true)]
#[case::scheme_of_the_address("/options/http/base_url", json!("http://a.example/v1"), true)]
#[case::path("/options/http/path", json!("/animals/{id}"), true)]
#[case::method("/options/http/method", json!("POST"), true)]
#[case::no_request("/options/http", Value::Null, true)]
#[case::no_options("/options", Value::Null, true)]
#[case::kind("/type", json!("worker"), true)]
#[case::subject("/target_subject", json!("cmd.tool.pets"), true)]
#[case::service("/service", json!("pets"), true)]
#[case::scheme("/options/http/auth/scheme", json!("bearer"), true)]
#[case::name_of_the_key("/options/http/auth/name", json!("X-Other"), true)]
#[case::no_authentication("/options/http/auth", Value::Null, true)]
#[case::a_client("/options/http/auth/client", json!({"token_url": "https://a.example/token"}), true)]
#[case::second_credential("/options/envs/second", Value::Null, true)]
#[case::third_credential("/options/envs/third", json!("THIRD_KEY"), true)]
#[case::source_of_a_credential("/options/http/auth/env", json!("secret:KEY"), false)]
#[case::source_of_the_second("/options/envs/second", json!("secret:KEY"), false)]
#[case::headers("/options/http/headers/Accept", json!("text/html"), false)]
#[case::timeout("/options/timeout_ms", json!(5), false)]
#[case::words("/description", json!("Get one pet"), false)]
fn addresses_and_authentication(#[case] pointer: &str, #[case] value: Value, #[case] breaking: bool) {
    let mark = if breaking { "!" } else { "" };
    assert_eq!(
        breaks(&tool(), &with(pointer, &value)),
        [format!("{mark}{pointer}")]
    );
    // What comes is as surprising as what goes.
    assert_eq!(
        breaks(&with(pointer, &value), &tool()),
        [format!("{mark}{pointer}")]
    );
    assert!(
        local_changes(&tool(), &with(pointer, &value))
            .iter()
            .all(|change| !change.breaking),
        "an edit here"
    );
}

#[test]
fn options_that_say_nothing_of_a_request_may_come() {
    let before = json!({"name": "a"});
    let after = json!({"name": "a", "options": {"timeout_ms": 5}});
    assert_eq!(breaks(&before, &after), ["/options"]);
}

#[test]
fn a_client_changes_where_it_gets_tokens() {
    let client = |token_url: &str, id: &str| {
        let client = json!({"token_url": token_url, "client_id": id, "client_secret": "secret:S"});
        with(
            "/options/http/auth",
            &json!({"scheme": "oauth2", "client": client}),
        )
    };
    let before = client("https://a.example/token", "ID");
    assert_eq!(
        breaks(&before, &client("https://b.example/token", "OTHER_ID")),
        [
            "!/options/http/auth/client/token_url",
            "/options/http/auth/client/client_id"
        ]
    );
}

#[test]
fn an_operation_that_is_gone_breaks_all_of_its_tool() {
    let change = removal(&tool());
    let [whole] = change.upstream.as_slice() else {
        panic!("{change:?}")
    };
    assert_eq!((whole.pointer.as_str(), whole.breaking), ("", true));
    assert_eq!(
        (whole.before.as_ref(), whole.after.as_ref()),
        (Some(&tool()), None)
    );
}
