use std::collections::HashSet;

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Map, Value, json};
use toolgate_api::audit::{ArgumentCoercion, CoercionKind};

use super::*;

fn listed(schema: &Value) -> Value {
    Value::Object(InputSchema::new(schema).unwrap().schema().as_ref().clone())
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

#[test]
fn names_that_clients_accept_stay() {
    let long = format!("{}.{}", "list-issues".repeat(5), "v1");
    let table = NameTable::new(["web-search", "get_page", "v1.read", &long].into_iter());
    assert_eq!(table.listed("web-search"), "web-search");
    assert_eq!(table.listed("get_page"), "get_page");
    assert_eq!(table.listed("v1.read"), "v1_read_9224b418");
    assert_eq!(table.name("v1_read_9224b418"), "v1.read");
    assert_eq!(table.name("v1.read"), "v1.read");
    assert_eq!(table.listed(&long).len(), MAX_NAME);
    assert_eq!(table.name(table.listed(&long)), long);
    assert_eq!(table.name("nothing"), "nothing");
}

#[test]
fn a_name_that_is_taken_is_not_given_to_another_tool() {
    let first = NameTable::new(["v1.read"].into_iter());
    let taken = first.listed("v1.read").to_owned();
    let table = NameTable::new(["v1.read", &taken].into_iter());
    assert_eq!(table.name(&taken), taken);
    assert_ne!(table.listed("v1.read"), taken);
    assert_eq!(table.name(table.listed("v1.read")), "v1.read");
}

proptest! {
    #[test]
    fn every_tool_is_found_by_its_listed_name(names in prop::collection::hash_set("[a-c._-]{0,3}[a-z.]{1,60}", 1..40)) {
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort();
        let table = NameTable::new(names.iter().map(String::as_str));
        let mut seen = HashSet::new();
        for name in &names {
            let listed = table.listed(name);
            prop_assert!((1..=MAX_NAME).contains(&listed.len()));
            prop_assert!(listed.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')));
            prop_assert!(seen.insert(listed.to_owned()));
            prop_assert_eq!(table.name(listed), name);
        }
    }

    #[test]
    fn arguments_come_back_under_the_tools_own_names(names in prop::collection::hash_set("[a-z$\\[\\] é.]{1,80}", 0..12)) {
        let properties: Map<String, Value> = names.iter().map(|name| (name.clone(), json!({"type": "string"}))).collect();
        let input = InputSchema::new(&json!({"type": "object", "properties": properties})).unwrap();
        let Value::Object(shown) = &input.schema()["properties"] else { panic!("no properties") };
        prop_assert_eq!(shown.len(), names.len());
        for key in shown.keys() {
            prop_assert!((1..=64).contains(&key.len()));
            prop_assert!(key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')));
        }
        let mut arguments: Map<String, Value> = shown.keys().map(|key| (key.clone(), json!("x"))).collect();
        prop_assert_eq!(input.read(&mut arguments), []);
        let back: HashSet<String> = arguments.keys().cloned().collect();
        prop_assert_eq!(back, names);
    }
}

#[rstest]
#[case::properties_are_always_there(json!({"type": "object"}), json!({"type": "object", "properties": {}}))]
#[case::the_type_is_always_there(json!({"properties": {"a": true}}), json!({"type": "object", "properties": {"a": {}}}))]
#[case::nullable_root(json!({"type": ["object", "null"]}), json!({"type": "object", "properties": {}}))]
#[case::empty_required(json!({"type": "object", "required": []}), json!({"type": "object", "properties": {}}))]
#[case::all_of(
    json!({"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}]}),
    json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a", "b"]})
)]
#[case::one_of(
    json!({"type": "object", "properties": {"kind": {}}, "oneOf": [
        {"properties": {"a": {}}, "required": ["kind", "a"]}, {"properties": {"b": {}}, "required": ["kind", "b"]}]}),
    json!({"type": "object", "properties": {"kind": {}, "a": {}, "b": {}}, "required": ["kind"]})
)]
#[case::alternatives_that_differ(
    json!({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [
        {"properties": {"a": {"minLength": 1}, "b": {"type": "string"}}}, {"properties": {"b": {"type": "integer"}}},
        {"properties": {"b": {"type": "string"}}}]}),
    json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}})
)]
#[case::conditions(
    json!({"type": "object", "if": {"required": ["a"]}, "then": {"properties": {"b": {}}, "required": ["b"]}, "not": {}}),
    json!({"type": "object", "properties": {"b": {}}})
)]
#[case::a_required_name_without_a_schema(
    json!({"type": "object", "required": ["a"]}),
    json!({"type": "object", "properties": {"a": {}}, "required": ["a"]})
)]
#[case::references(
    json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A", "description": "here"}}, "$defs": {"A": {"type": "string", "description": "there"}}}),
    json!({"type": "object", "properties": {"a": {"type": "string", "description": "here"}}})
)]
#[case::reference_at_the_root(
    json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"a": {"const": 1}}}}}),
    json!({"type": "object", "properties": {"a": {"enum": [1]}}})
)]
#[case::references_elsewhere(
    json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/a"}, "b": {"$ref": "#/nothing"}}}),
    json!({"type": "object", "properties": {"a": {}, "b": {}}})
)]
#[case::a_property_called_like_a_keyword(
    json!({"type": "object", "properties": {"$defs": {"type": "string"}, "id": {"const": "x"}}}),
    json!({"type": "object", "properties": {"id": {"enum": ["x"]}, "_defs": {"type": "string"}}})
)]
fn the_profile_of_the_providers(#[case] schema: Value, #[case] expected: Value) {
    assert_eq!(listed(&schema), expected);
}

#[test]
fn a_reference_to_itself_ends() {
    let schema = json!({"type": "object", "properties": {"tree": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}}});
    assert_eq!(
        listed(&schema)["properties"]["tree"],
        json!({"type": "object", "properties": {"children": {"type": "array", "items": {}}}})
    );
}

#[test]
fn references_that_double_at_each_level_stay_small() {
    let mut defs = Map::new();
    for level in 0..30 {
        let next = format!("#/$defs/L{}", level + 1);
        let schema = json!({"type": "object", "properties": {"a": {"$ref": next}, "b": {"$ref": next}}});
        defs.insert(format!("L{level}"), schema);
    }
    defs.insert("L30".to_owned(), json!({"type": "string"}));
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/L0"}}, "$defs": defs});
    assert!(listed(&schema).to_string().len() < 200_000);
}

#[test]
fn what_is_no_object_is_not_listed() {
    assert_eq!(
        InputSchema::new(&json!({"type": "array"})).unwrap_err(),
        NotListable
    );
    assert_eq!(InputSchema::new(&json!("text")).unwrap_err(), NotListable);
}

#[rstest]
#[case(json!({"type": "object"}), Some(json!({"type": "object", "properties": {}})))]
#[case(json!({"type": "array", "items": {}}), None)]
#[case(json!({"oneOf": [{"type": "object"}]}), None)]
#[case(json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"n": {"type": "integer"}}}}}),
    Some(json!({"type": "object", "properties": {"n": {"type": "integer"}}})))]
fn results_are_described_when_they_are_objects(#[case] schema: Value, #[case] expected: Option<Value>) {
    assert_eq!(output_schema(&schema).map(Value::Object), expected);
}

#[rstest]
#[case::object(json!({"type": "object"}), json!("{\"a\": 1}"), json!({"a": 1}))]
#[case::array(json!({"type": "array"}), json!("[1, 2]"), json!([1, 2]))]
#[case::number(json!({"type": "number"}), json!("1.50"), serde_json::from_str("1.50").unwrap())]
#[case::integer(json!({"type": "integer"}), json!("7"), json!(7))]
#[case::boolean(json!({"type": "boolean"}), json!("true"), json!(true))]
#[case::one_of_several(json!({"anyOf": [{"type": "array"}, {"type": "null"}]}), json!("[]"), json!([]))]
#[case::a_text_stays(json!({"type": ["string", "object"]}), json!("{}"), json!("{}"))]
#[case::without_a_type(json!({}), json!("{}"), json!("{}"))]
#[case::no_json(json!({"type": "object"}), json!("{"), json!("{"))]
#[case::another_type(json!({"type": "object"}), json!("[1]"), json!("[1]"))]
#[case::no_whole_number(json!({"type": "integer"}), json!("1.5"), json!("1.5"))]
fn texts_are_read_as_the_schema_says(#[case] schema: Value, #[case] given: Value, #[case] expected: Value) {
    let input = InputSchema::new(&json!({"type": "object", "properties": {"a": schema}})).unwrap();
    let mut arguments = object(json!({ "a": given }));
    let changed = input.read(&mut arguments);
    assert_eq!(arguments["a"], expected);
    assert_eq!(changed.is_empty(), given == expected);
}

/// Names of properties that no provider takes, deep inside, and texts in place of what they hold.
#[test]
fn names_and_texts_are_read_at_every_level() {
    let schema = json!({"type": "object", "properties": {
        "filter[x]": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Filter"}]},
        "rows": {"type": "array", "items": {"$ref": "#/$defs/Filter"}},
        "by name": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Filter"}},
    }, "$defs": {"Filter": {"type": "object", "required": ["$top"], "properties": {
        "$top": {"type": "integer"}, "_top": {"type": "string"}, "a/b": {"type": "array", "items": {"type": "number"}},
        "note": {"type": "string"}}}}});
    let input = InputSchema::new(&schema).unwrap();
    let shown = &input.schema()["properties"];
    let filter = &shown["rows"]["items"];
    let keys: Vec<&String> = filter["properties"].as_object().unwrap().keys().collect();
    assert_eq!(keys.len(), 4);
    for key in &keys {
        assert!(
            key.bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')),
            "{key}"
        );
    }
    let top = filter["required"][0].as_str().unwrap();
    assert_ne!(top, "_top", "the tool has a property of this name");
    let value = json!({top: "7", "_top": "t", "a_b": "[1, 2]", "note": null});
    let mut arguments = object(json!({
        "filter_x_": value.to_string(), "rows": [value.clone()], "by_name": {"k": value},
    }));
    let changed = input.read(&mut arguments);
    let own = json!({"_top": "t", "$top": 7, "a/b": [1, 2]});
    let expected = json!({"filter[x]": own, "rows": [own], "by name": {"k": own}});
    assert_eq!(Value::Object(arguments), expected);
    let pointers: Vec<&str> = changed.iter().map(|coercion| coercion.pointer.as_str()).collect();
    for pointer in [
        "/filter[x]",
        "/filter[x]/$top",
        "/rows/0/a~1b",
        "/rows/0/note",
        "/by name/k/$top",
    ] {
        assert!(pointers.contains(&pointer), "{pointer}: {pointers:?}");
    }
}

#[test]
fn null_means_an_absent_argument_only_where_it_cannot_mean_itself() {
    let schema = json!({"type": "object", "required": ["needed"], "properties": {
        "needed": {"type": "string"}, "optional": {"type": "string"}, "nullable": {"type": ["string", "null"]}}});
    let input = InputSchema::new(&schema).unwrap();
    let mut arguments = object(json!({"needed": null, "optional": null, "nullable": null, "other": null}));
    let left_out = ArgumentCoercion {
        pointer: "/optional".to_owned(),
        kind: CoercionKind::NullLeftOut,
    };
    assert_eq!(input.read(&mut arguments), [left_out]);
    assert_eq!(
        Value::Object(arguments),
        json!({"needed": null, "nullable": null, "other": null})
    );
}

#[rstest]
#[case("GET", true, false, true)]
#[case("PUT", false, true, true)]
#[case("DELETE", false, true, true)]
#[case("POST", false, true, false)]
#[case("PATCH", false, true, false)]
fn hints_follow_the_method(
    #[case] method: &str,
    #[case] read_only: bool,
    #[case] destructive: bool,
    #[case] idempotent: bool,
) {
    let definition: ToolDefinition = serde_json::from_value(json!({
        "name": "a", "type": "openapi", "parameters": {"type": "object"},
        "options": {"http": {"method": method, "base_url": "https://api.example.com"}}}))
    .unwrap();
    let expected = Hints {
        read_only,
        destructive,
        idempotent,
        open_world: true,
    };
    assert_eq!(Hints::of(&definition), expected);
}

#[rstest]
#[case("get-open_issues", "Get open issues")]
#[case("v1.read", "V1 read")]
#[case("a", "A")]
fn titles_are_made_from_names(#[case] name: &str, #[case] expected: &str) {
    assert_eq!(title(name), expected);
}
