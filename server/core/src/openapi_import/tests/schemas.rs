//! Schemas of descriptions as JSON Schema 2020-12.

use std::collections::HashSet;
use std::sync::Arc;

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::openapi_import::model::size;
use crate::openapi_import::schemas::MAX_REFERRED;

fn converted(version: &str, schema: &Value) -> Value {
    let content = json!({"application/json": {"schema": schema}});
    arguments(&described(
        version,
        "post",
        &json!({"requestBody": {"content": content}}),
    ))["properties"]["body"]
        .clone()
}

#[rstest]
#[case::nullable(json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]}))]
#[case::nullable_enum(json!({"type": "string", "nullable": true, "enum": ["a"]}), json!({"type": ["string", "null"], "enum": ["a", null]}))]
#[case::nullable_all_of(json!({"nullable": true, "description": "d", "allOf": [{"type": "string"}]}),
    json!({"description": "d", "anyOf": [{"allOf": [{"type": "string"}]}, {"type": "null"}]}))]
#[case::nullable_any(json!({"nullable": true}), json!({}))]
#[case::exclusive(json!({"type": "number", "minimum": 1, "exclusiveMinimum": true, "maximum": 5, "exclusiveMaximum": false}),
    json!({"type": "number", "maximum": 5, "exclusiveMinimum": 1}))]
#[case::exclusive_numbers(json!({"exclusiveMinimum": 1}), json!({"exclusiveMinimum": 1}))]
#[case::example(json!({"type": "string", "example": "x"}), json!({"type": "string", "examples": ["x"]}))]
#[case::array(json!({"type": "array"}), json!({"type": "array", "items": {"description": "Any value"}}))]
#[case::array_of_any(json!({"type": "array", "items": {}}), json!({"type": "array", "items": {"description": "Any value"}}))]
#[case::tuple(json!({"type": "array", "items": [{"type": "string"}]}), json!({"type": "array", "items": {"description": "Any value"}}))]
#[case::unknown_type(json!({"type": "any"}), json!({}))]
#[case::nickname(json!({"type": "Integer"}), json!({"type": "integer"}))]
#[case::words_only_descriptions_know(json!({"type": "object", "xml": {}, "externalDocs": {}, "x-y": 1, "$id": "z"}), json!({"type": "object"}))]
#[case::required_of_a_property(json!({"type": "string", "required": true}), json!({"type": "string"}))]
#[case::counts(json!({"maxLength": 3.0, "minLength": -1, "minItems": "2"}), json!({"maxLength": 3}))]
#[case::pattern(json!({"pattern": "^[a-z]+$"}), json!({"pattern": "^[a-z]+$"}))]
#[case::counted_pattern(json!({"pattern": r"^\S{1,100}@\S{1,100}$"}), json!({"pattern": r"^\S{1,100}@\S{1,100}$"}))]
#[case::long_pattern(json!({"pattern": r"^.{1,1000}$"}), json!({"pattern": r"^.{1,1000}$"}))]
#[case::pattern_that_costs_too_much(json!({"pattern": r"^(\S{1,1000}){1,1000}$"}), json!({}))]
#[case::look_ahead(json!({"type": "string", "pattern": "^(?=a).*$"}), json!({"type": "string"}))]
#[case::read_only(
    json!({"type": "object", "required": ["id", "name"], "properties": {
        "id": {"type": "integer", "readOnly": true}, "name": {"type": "string"}, "password": {"type": "string", "writeOnly": true}}}),
    json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "password": {"type": "string"}}}))]
#[case::boolean(json!(true), json!({}))]
#[case::default(json!({"type": "integer", "default": 3}), json!({"type": "integer", "default": 3}))]
fn of_openapi_30(#[case] schema: Value, #[case] expected: Value) {
    assert_eq!(converted("3.0.3", &schema), expected);
}

#[rstest]
#[case::types(json!({"type": ["string", "null"]}), json!({"type": ["string", "null"]}))]
#[case::nullable_is_no_word(json!({"type": "string", "nullable": true}), json!({"type": "string"}))]
#[case::keywords(
    json!({"if": {"minimum": 1}, "then": {"const": 2}, "else": false, "dependentSchemas": {"a": {"maxLength": 1}}}),
    json!({"if": {"minimum": 1}, "then": {"const": 2}, "else": false, "dependentSchemas": {"a": {"maxLength": 1}}}))]
#[case::tuple(json!({"prefixItems": [{"type": "string"}], "items": false}), json!({"prefixItems": [{"type": "string"}], "items": false}))]
fn of_openapi_31(#[case] schema: Value, #[case] expected: Value) {
    assert_eq!(converted("3.1.0", &schema), expected);
}

fn with_schemas(version: &str, schema: &Value, schemas: &Value) -> Value {
    let content = json!({"application/json": {"schema": schema}});
    let mut description = described(version, "post", &json!({"requestBody": {"content": content}}));
    description["components"] = json!({ "schemas": schemas });
    description
}

#[test]
fn references_stay_references_and_cycles_stay_cycles() {
    let schemas = json!({
        "Tree": {"type": "object", "properties": {
            "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
            "owner": {"$ref": "#/components/schemas/Owner/properties/who"},
        }},
        "Owner": {"properties": {"who": {"$ref": "#/components/schemas/a~1b%20c"}}},
        "a/b c": {"type": "string"},
        "Unused": {"type": "string"},
    });
    let schema = arguments(&with_schemas(
        "3.0.0",
        &json!({"$ref": "#/components/schemas/Tree"}),
        &schemas,
    ));
    assert_eq!(schema["properties"]["body"], json!({"$ref": "#/$defs/Tree"}));
    assert_eq!(
        schema["$defs"],
        json!({
            "Tree": {"type": "object", "properties": {
                "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}, "owner": {"$ref": "#/$defs/who"},
            }},
            "who": {"$ref": "#/$defs/a_1b_c"},
            "a_1b_c": {"type": "string"},
        })
    );
    let schema = crate::definition::schema::compile(&schema).expect("a schema");
    assert!(schema.is_valid(&json!({"body": {"children": [{"children": [], "owner": "x"}]}})));
    assert!(!schema.is_valid(&json!({"body": {"children": [{"children": [7]}]}})));
}

#[test]
fn references_to_themselves_are_any_value() {
    let schemas = json!({"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}});
    let schema = arguments(&with_schemas(
        "3.1.0",
        &json!({"$ref": "#/components/schemas/A"}),
        &schemas,
    ));
    assert_eq!(schema["$defs"]["A"], json!({}));
}

#[rstest]
#[case("other.yaml#/X", "refers to another document")]
#[case("#/components/schemas/None", "refers to nothing")]
#[case("#Anchor", "is no reference by a JSON pointer")]
fn references_that_lead_nowhere(#[case] reference: &str, #[case] why: &str) {
    let inner = json!({"A": {"type": "object", "properties": {"x": {"$ref": reference}}}});
    for schema in [
        json!({"$ref": reference}),
        json!({"$ref": "#/components/schemas/A"}),
    ] {
        let refused = only(&with_schemas("3.0.0", &schema, &inner))
            .tool
            .expect_err("refused");
        assert!(refused.contains(why), "{refused}");
    }
}

#[test]
fn siblings_of_a_reference_count_since_31() {
    let schemas = json!({"A": {"type": "string"}});
    let beside = json!({"$ref": "#/components/schemas/A", "maxLength": 3, "description": "d"});
    let body = |version| arguments(&with_schemas(version, &beside, &schemas))["properties"]["body"].clone();
    assert_eq!(body("3.0.0"), json!({"$ref": "#/$defs/A", "description": "d"}));
    assert_eq!(
        body("3.1.0"),
        json!({"$ref": "#/$defs/A", "maxLength": 3, "description": "d"})
    );
}

#[test]
fn a_discriminator_says_by_which_value_a_branch_is_chosen() {
    let kind = |more: Value| json!({"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}, "x": more}});
    let schemas = json!({"Cat": kind(json!({"type": "string"})), "Dog": kind(json!({"type": "string"})), "Eel": kind(json!({}))});
    let pet = json!({
        "oneOf": [
            {"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}, {"$ref": "#/components/schemas/Eel"},
        ],
        "discriminator": {"propertyName": "kind", "mapping": {
            "cat": "#/components/schemas/Cat", "kitten": "#/components/schemas/Cat", "dog": "Dog",
        }},
    });
    let schema = arguments(&with_schemas("3.0.0", &pet, &schemas));
    let branch = |at: usize| schema["properties"]["body"]["oneOf"][at]["properties"]["kind"].clone();
    assert_eq!(
        [branch(0), branch(1), branch(2)],
        [
            json!({"enum": ["cat", "kitten"]}),
            json!({"const": "dog"}),
            json!({"const": "Eel"}),
        ]
    );
    // Without the values, a dog would be a cat as well, and `oneOf` refuse it.
    let schema = crate::definition::schema::compile(&schema).expect("a schema");
    for (value, valid) in [
        (json!({"kind": "dog", "x": "y"}), true),
        (json!({"kind": "kitten"}), true),
        (json!({"kind": "Eel", "x": 7}), true),
        (json!({"kind": "Cat"}), false),
        (json!({"x": "y"}), false),
    ] {
        assert_eq!(schema.is_valid(&json!({ "body": value })), valid, "{value}");
    }
}

#[test]
fn deep_schemas_keep_their_meaning() {
    let valid = |levels: usize, innermost: Value| {
        let deep = (0..levels).fold(
            json!({"type": "integer"}),
            |deep, _| json!({"type": "object", "required": ["a"], "properties": {"a": deep}}),
        );
        let schema = arguments(&with_schemas("3.0.0", &deep, &json!({})));
        let value = (0..levels).fold(innermost, |inner, _| json!({"a": inner}));
        crate::definition::schema::compile(&schema)
            .expect("a schema")
            .is_valid(&json!({ "body": value }))
    };
    for levels in [1, 7, 8, 27] {
        assert!(valid(levels, json!(1)), "{levels}");
        assert!(!valid(levels, json!("1")), "{levels}");
    }
    // Below that, every request is let through that the API takes.
    assert!(valid(45, json!(1)) && valid(45, json!("1")));
}

/// `S0` with 20 fields and `next`, which is `S1`, and so on.
fn chain(length: usize) -> Value {
    let mut schemas = serde_json::Map::new();
    for n in 0..length {
        let mut properties: serde_json::Map<String, Value> = (0..20)
            .map(|p| (format!("p{p}"), json!({"type": "string"})))
            .collect();
        let next = json!({"$ref": format!("#/components/schemas/S{}", n + 1)});
        properties.insert("next".to_owned(), next);
        schemas.insert(
            format!("S{n}"),
            json!({"type": "object", "properties": properties}),
        );
    }
    schemas.insert(format!("S{length}"), json!({"type": "string"}));
    Value::Object(schemas)
}

#[test]
fn large_schemas_lose_their_farthest_parts() {
    let body = json!({"$ref": "#/components/schemas/S0"});
    let operation = only(&with_schemas("3.0.0", &body, &chain(300)));
    let tool = tool(&operation);
    let definitions = &tool.parameters.value()["$defs"];
    assert_eq!(
        definitions["S0"]["properties"]["next"],
        json!({"$ref": "#/$defs/S1"})
    );
    assert!(definitions.get("S299").is_none());
    assert!(
        operation
            .notes
            .iter()
            .any(|note| note.contains("the schema is large: 1 of its parts take any value here")),
        "{:?}",
        operation.notes
    );
    // What is sent stays right: everything is let through that the API takes.
    let schema = crate::definition::schema::compile(&tool.parameters.value()).expect("a schema");
    let last = definitions.as_object().expect("definitions").len() - 1;
    let deep = (0..last).fold(json!({"p0": 7, "next": 7}), |inner, _| json!({ "next": inner }));
    assert!(schema.is_valid(&json!({ "body": deep })));
    assert!(!schema.is_valid(&json!({"body": {"p0": 7}})));
}

#[test]
fn what_many_tools_refer_to_is_held_once() {
    let mut description = with_schemas("3.0.0", &json!({}), &chain(300));
    for n in 0..100 {
        let schema = json!({"$ref": format!("#/components/schemas/S{n}")});
        let body = json!({"content": {"application/json": {"schema": schema}}});
        description["paths"][format!("/s{n}")] = json!({"put": {"requestBody": body}});
    }
    let preview = import(&description);
    let mut held = HashSet::new();
    let mut used = 0;
    for operation in &preview.operations {
        let tool = operation.tool.as_ref().expect("a tool");
        used += tool.definitions.len();
        held.extend(tool.definitions.iter().map(Arc::as_ptr));
        let values = size(&tool.definition().parameters.value());
        assert!(values <= MAX_REFERRED + MAX_REFERRED / 10, "{values}");
    }
    // Each schema once, and once as the substitute where a tool has no room.
    assert!(used > 2_000 && held.len() <= 2 * 301, "{used} {}", held.len());
}
