mod shapes;

use rstest::rstest;
use serde_json::{Map, Value, json};

use super::schemas::Schemas;
use super::*;
use crate::definition::model::SchemaText;
use crate::definition::schema::compile;
use crate::snapshot::testing;

fn about<'a>(problems: &'a Map<String, Value>, asked: DocumentRequest<'a>) -> About<'a> {
    About {
        project: "demo",
        title: "Demonstration",
        version: 7,
        server: "/",
        asked,
        problems,
    }
}

/// The schema of a component as a self-contained schema.
fn standing_alone(components: &Map<String, Value>, reference: &str) -> Value {
    json!({ "$ref": reference, "components": { "schemas": components } })
}

#[rstest]
#[case::definitions(
    json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "integer"}}}),
    json!({"a": 1}), json!({"a": "x"}))]
#[case::a_cycle(
    json!({"type": "object", "properties": {"t": {"$ref": "#/$defs/Tree"}},
        "$defs": {"Tree": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}}),
    json!({"t": [[], [[]]]}), json!({"t": 1}))]
#[case::a_cycle_through_objects(
    json!({"type": "object", "properties": {"t": {"$ref": "#/$defs/Tree"}},
        "$defs": {"Tree": {"type": "object", "properties": {"inner": {"$ref": "#/$defs/Tree"}}}}}),
    json!({"t": {"inner": {"inner": {}}}}), json!({"t": {"inner": {"inner": 1}}}))]
#[case::an_anchor(
    json!({"type": "object", "properties": {"a": {"$ref": "#here"}}, "$defs": {"A": {"$anchor": "here", "type": "string"}}}),
    json!({"a": "x"}), json!({"a": 1}))]
#[case::beside_other_keywords(
    json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A", "minLength": 2}}, "$defs": {"A": {"type": "string"}}}),
    json!({"a": "xy"}), json!({"a": "x"}))]
#[case::the_root(
    json!({"type": "object", "properties": {"n": {"$ref": "#"}}, "additionalProperties": false}),
    json!({"n": {"n": {}}}), json!({"n": {"m": 1}}))]
#[case::into_a_property(
    json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}}}),
    json!({"b": "x"}), json!({"b": 1}))]
#[case::into_a_definition(
    json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A/properties/x"}},
        "$defs": {"A": {"properties": {"x": {"type": "boolean"}}}}}),
    json!({"a": true}), json!({"a": 1}))]
#[case::the_old_keyword(
    json!({"type": "object", "properties": {"a": {"$ref": "#/definitions/A"}}, "definitions": {"A": {"enum": [1]}}}),
    json!({"a": 1}), json!({"a": 2}))]
#[case::awkward_names(
    json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a~1b%20c"}}, "$defs": {"a/b c": {"enum": [1]}}}),
    json!({"a": 1}), json!({"a": 2}))]
#[case::a_prefix_is_another_name(
    json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/AB"}},
        "$defs": {"A": {"enum": [1]}, "AB": {"enum": [2]}}}),
    json!({"a": 2}), json!({"a": 1}))]
#[case::in_lists(
    json!({"type": "object", "anyOf": [{"properties": {"a": {}}, "required": ["a"]}, {"$ref": "#/$defs/B"}],
        "$defs": {"B": {"properties": {"b": {"type": "integer"}}, "required": ["b"]}}}),
    json!({"b": 1}), json!({"c": 1}))]
#[case::data_that_looks_like_a_reference(
    json!({"type": "object", "properties": {"a": {"const": {"$ref": "#/x"}}}}),
    json!({"a": {"$ref": "#/x"}}), json!({"a": "#/x"}))]
fn references_lead_where_they_led(#[case] schema: Value, #[case] good: Value, #[case] bad: Value) {
    let mut schemas = Schemas::new(Map::new());
    let reference = schemas.add("t", "arguments", &schema);
    let moved = compile(&standing_alone(&schemas.finish(), &reference)).expect("it compiles");
    let before = compile(&schema).expect("it compiles");
    for (value, valid) in [(&good, true), (&bad, false)] {
        assert_eq!(before.is_valid(value), valid, "{value} before");
        assert_eq!(moved.is_valid(value), valid, "{value} after");
    }
}

#[test]
fn names_of_components_never_meet() {
    let mut schemas = Schemas::new(Map::from_iter([("Problem".to_owned(), json!({}))]));
    let properties = json!({"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#/$defs/x.arguments"}, "c": {"$ref": "#/$defs/arguments"}});
    let schema = json!({"type": "object", "properties": properties, "$defs": {"x": true, "x.arguments": true, "arguments": true}});
    for tool in ["a", "a.x", "Problem"] {
        schemas.add(tool, "arguments", &schema);
    }
    // One each and three definitions each, beside the one that was there.
    let all = schemas.finish();
    assert_eq!(all.len(), 13, "{:?}", all.keys().collect::<Vec<_>>());
}

#[test]
fn every_tool_is_an_operation() {
    let mut ask = testing::tool("ask")
        .moves_to("asked")
        .parameters(
            &json!({"type": "object", "properties": {"q": {"type": "string"}, "key": {"type": "string"}},
            "required": ["q", "key"]}),
        )
        .fixed(json!({"key": "x"}));
    ask.0.definition.description = "Asks.\nAnd waits.".to_owned();
    ask.0.definition.output_schema = Some(SchemaText::from(&json!({"type": "array"})));
    let snapshot = testing::project([ask]);
    let problems = Map::from_iter([("Problem".to_owned(), json!({"type": "object"}))]);
    let tools = snapshot.tools().iter().map(AsRef::as_ref);
    let document = document(&about(&problems, DocumentRequest::default()), tools);
    let operation = &document["paths"]["/projects/demo/tools/ask/invoke"]["post"];
    assert_eq!(operation["operationId"], "ask");
    assert_eq!(operation["summary"], "Asks.");
    assert_eq!(
        operation["description"],
        "Asks.\nAnd waits.\n\nCalls the tool `ask` of the project `demo`, and moves the workflow to the state `asked` when \
         it succeeds."
    );
    let schema = &document["components"]["schemas"]["ask.arguments"];
    assert_eq!(schema["required"], json!(["q"]), "what is fixed is not shown");
    assert!(schema["properties"].get("key").is_none());
    let answer = &operation["responses"]["200"]["content"]["application/json"]["schema"];
    assert_eq!(answer["$ref"], "#/components/schemas/ask.result");
    assert_eq!(
        document["components"]["schemas"]["ask.result"],
        json!({"type": "array", "items": {}})
    );
    assert_eq!(document["info"]["version"], "7");
}

#[test]
fn what_was_asked_for_is_demanded_again() {
    let group = ["a".to_owned(), "b".to_owned()];
    let asked = DocumentRequest {
        group: Some(&group),
        state: Some("open"),
        session: None,
    };
    let mut schemas = Schemas::new(Map::new());
    let all = parameters(&asked, &mut schemas);
    assert_eq!(all["Group"]["required"], true);
    let schema = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    assert_eq!(all["Group"]["schema"]["items"], schema("RequestedGroup"));
    assert_eq!(all["State"]["schema"], schema("RequestedState"));
    let components = schemas.finish();
    assert_eq!(components["RequestedGroup"]["enum"], json!(["a", "b"]));
    assert_eq!(components["RequestedState"]["enum"], json!(["open"]));
    assert!(!all.contains_key("Session"));

    let session = Uuid::from_u128(1);
    let asked = DocumentRequest {
        session: Some(session),
        ..DocumentRequest::default()
    };
    let mut schemas = Schemas::new(Map::new());
    let all = parameters(&asked, &mut schemas);
    assert_eq!(all["Group"]["required"], false);
    assert_eq!(schemas.finish()["RequestedSession"]["enum"], json!([session]));
    assert!(!all.contains_key("State"), "a session has its state");
}

#[test]
fn nothing_unused_is_in_a_document_without_tools() {
    let problems = Map::from_iter([("Problem".to_owned(), json!({}))]);
    let document = document(&about(&problems, DocumentRequest::default()), std::iter::empty());
    assert_eq!(document["paths"], json!({}));
    let components = document["components"].as_object().expect("components");
    assert_eq!(components.keys().collect::<Vec<_>>(), ["securitySchemes"]);
}
