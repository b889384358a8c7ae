//! Every shape and name that a schema of a tool can have, in the part of JSON Schema that generators read.
//!
//! `cargo xtask test --only clients` gives the same tools to the generators themselves; these tests say by which rules
//! they read them.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::standing_alone;
use crate::definition::schema::compile;
use crate::tool_api::names::{Names, folded};
use crate::tool_api::schemas::Schemas;
use crate::tool_api::values::has_type;

/// The keywords of a component.
const KEYWORDS: [&str; 32] = [
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contentEncoding",
    "contentMediaType",
    "default",
    "deprecated",
    "description",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "pattern",
    "prefixItems",
    "properties",
    "required",
    "type",
    "uniqueItems",
];

/// The schemas by tool and part.
fn shapes() -> Vec<(String, &'static str, Value)> {
    let file = include_str!("../../../../../openapi/tests/shapes.json");
    let tools: Map<String, Value> = serde_json::from_str(file).expect("JSON");
    let mut shapes = Vec::new();
    for (name, mut tool) in tools {
        for (key, part) in [("parameters", "arguments"), ("output_schema", "result")] {
            if let Some(schema) = tool.get_mut(key) {
                shapes.push((name.clone(), part, schema.take()));
            }
        }
    }
    assert!(shapes.len() > 200, "{} shapes", shapes.len());
    shapes
}

fn components() -> Map<String, Value> {
    let mut schemas = Schemas::new(Map::new());
    for (tool, part, schema) in shapes() {
        schemas.add(&tool, part, &schema);
    }
    schemas.finish()
}

#[test]
fn a_component_accepts_whatever_its_tool_accepts() {
    let mut accepted = 0;
    for (tool, part, schema) in shapes() {
        let mut schemas = Schemas::new(Map::new());
        let reference = schemas.add(&tool, part, &schema);
        let after = compile(&standing_alone(&schemas.finish(), &reference)).expect("it compiles");
        let before = compile(&schema).expect("it compiles");
        for value in samples(&schema, &schema, 3)
            .iter()
            .filter(|value| before.is_valid(value))
        {
            accepted += 1;
            assert!(
                after.is_valid(value),
                "{tool}: {value} is refused by the document"
            );
        }
    }
    assert!(accepted > 4_000, "only {accepted} values were compared");
}

#[test]
fn components_keep_to_what_generators_read() {
    let components = components();
    for (name, schema) in &components {
        assert!(schema.get("$ref").is_none(), "{name} is nothing but a reference");
        check(name, schema, &components);
    }
}

/// A schema and those within it.
fn check(place: &str, schema: &Value, components: &Map<String, Value>) {
    let schema = schema
        .as_object()
        .unwrap_or_else(|| panic!("{place} is no object: {schema}"));
    for keyword in schema.keys() {
        assert!(KEYWORDS.contains(&keyword.as_str()), "{place}: {keyword}");
    }
    if let Some(reference) = schema.get("$ref") {
        let target = reference
            .as_str()
            .and_then(|text| text.strip_prefix("#/components/schemas/"));
        assert!(
            target.is_some_and(|target| components.contains_key(target)),
            "{place}: {reference}"
        );
        assert_eq!(schema.len(), 1, "{place}: a reference stands alone");
    }
    let kind = schema.get("type").map(|kind| {
        kind.as_str()
            .unwrap_or_else(|| panic!("{place}: a list of types"))
    });
    for keyword in ["enum", "const", "default"] {
        let Some(value) = schema.get(keyword) else {
            continue;
        };
        let values = if keyword == "enum" {
            value.as_array().expect("a list")
        } else {
            &vec![value.clone()]
        };
        for value in values.iter().filter(|_| kind.is_some()) {
            assert!(
                has_type(value, kind.unwrap_or_default()),
                "{place}: {keyword} {value} is no {kind:?}"
            );
            assert!(!value.is_object(), "{place}: {keyword} {value}");
        }
    }
    if kind == Some("array") {
        assert!(
            schema.contains_key("items") || schema.contains_key("prefixItems"),
            "{place}: an array of what"
        );
    }
    assert!(
        schema.get("not").is_none_or(|not| *not == json!({})),
        "{place}: not"
    );
    let list = |keyword: &str| {
        schema
            .get(keyword)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    assert!(
        list("allOf").all(|part| part.get("$ref").is_some()) && list("allOf").count() <= 1,
        "{place}: allOf"
    );
    for (index, inner) in list("allOf")
        .chain(list("anyOf"))
        .chain(list("prefixItems"))
        .enumerate()
    {
        check(&format!("{place}/{index}"), inner, components);
    }
    if let Some(items) = schema.get("items") {
        check(&format!("{place}/items"), items, components);
    }
    if let Some(values) = schema
        .get("additionalProperties")
        .filter(|values| !values.is_boolean())
    {
        check(&format!("{place}/additionalProperties"), values, components);
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        // What generators would invent a name for is a component.
        let named =
            property.get("enum").is_some() || property.get("type").is_some_and(|kind| kind == "object");
        assert!(!named, "{place}/{name} has no name");
        check(&format!("{place}/{name}"), property, components);
    }
    let required = list("required").filter_map(Value::as_str);
    for name in required {
        assert!(
            properties.is_some_and(|all| all.contains_key(name)),
            "{place}: {name} is required and not declared"
        );
    }
}

#[test]
fn no_two_names_are_one_to_a_generator() {
    let components = components();
    let mut seen = HashSet::new();
    for name in components.keys() {
        assert!(seen.insert(folded(name)), "{name}");
        assert!(
            name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.len() <= 110,
            "{name}"
        );
    }
    let mut ids = Names::default();
    let made: Vec<String> = ["get-user", "get_user", "GetUser", "1password", "null", "class"]
        .iter()
        .map(|name| ids.reserve(name))
        .collect();
    assert_eq!(
        made,
        [
            "get-user",
            "get_user_2",
            "GetUser_3",
            "tool_1password",
            "null_tool",
            "class"
        ]
    );
}

#[test]
fn properties_that_are_one_to_a_generator_are_left_open() {
    let mut schemas = Schemas::new(Map::new());
    let schema = json!({"type": "object", "properties": {"type": {"type": "string"}, "@type": {"type": "string"}},
        "required": ["type", "@type"], "additionalProperties": false});
    schemas.add("t", "arguments", &schema);
    let schema = json!({"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]});
    assert_eq!(schemas.finish()["t.arguments"], schema);
}

#[test]
fn a_default_that_no_client_could_carry_is_said_instead() {
    let mut schemas = Schemas::new(Map::new());
    let schema = json!({"type": "object", "properties": {
        "good": {"type": "integer", "default": 5},
        "bad": {"type": "integer", "default": "5", "description": "How many."}}});
    schemas.add("t", "arguments", &schema);
    let properties = &schemas.finish()["t.arguments"]["properties"];
    assert_eq!(properties["good"], json!({"type": "integer", "default": 5}));
    assert_eq!(
        properties["bad"],
        json!({"type": "integer", "description": "How many.\n\nDefault: `\"5\"`."})
    );
}

#[test]
fn schemas_that_multiply_when_they_are_joined_are_bounded() {
    let properties = |n: usize| json!({"properties": {"next": {"$ref": format!("#/$defs/{n}")}}});
    let schema = json!({"type": "object", "allOf": [{"$ref": "#/$defs/0"}, {"$ref": "#/$defs/1"}],
        "$defs": {"0": properties(0), "1": properties(1)}});
    let mut schemas = Schemas::new(Map::new());
    schemas.add("t", "arguments", &schema);
    assert!(schemas.finish().len() < 100);

    let mut definitions = Map::new();
    for n in 0..40 {
        let next = json!({"$ref": format!("#/$defs/{}", n + 1)});
        definitions.insert(
            n.to_string(),
            json!({"allOf": [next, next, {"required": [n.to_string()]}]}),
        );
    }
    definitions.insert("40".to_owned(), json!({"properties": {"a": {"type": "string"}}}));
    let schema = json!({"type": "object", "allOf": [{"$ref": "#/$defs/0"}], "$defs": definitions});
    let mut schemas = Schemas::new(Map::new());
    schemas.add("t", "arguments", &schema);
    let text = Value::Object(schemas.finish()).to_string();
    assert!(text.len() < 100_000, "{} bytes", text.len());
}

/// Values that a schema may accept, and some that it does not.
fn samples(root: &Value, schema: &Value, depth: usize) -> Vec<Value> {
    let mut all = vec![
        json!(null),
        json!(true),
        json!(1),
        json!(1.5),
        json!(""),
        json!("a"),
        json!("x"),
        json!("2024-01-01"),
        json!([]),
        json!({}),
    ];
    let Value::Object(object) = schema else { return all };
    all.extend(object.get("const").cloned());
    all.extend(object.get("default").cloned());
    all.extend(
        object
            .get("enum")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .cloned(),
    );
    if depth == 0 {
        return all;
    }
    if let Some(pointer) = object
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|text| text.strip_prefix('#'))
    {
        let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
        let target = root.pointer(&pointer).into_iter();
        all.extend(target.flat_map(|target| samples(root, target, depth - 1)));
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let parts = object
            .get(keyword)
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        all.extend(parts.flat_map(|part| samples(root, part, depth - 1)));
    }
    if let Some(items) = object.get("items") {
        let items = samples(root, items, depth - 1);
        all.push(Value::Array(items.iter().take(2).cloned().collect()));
        all.extend(items.into_iter().map(|item| json!([item])));
    }
    let properties = object
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let required = object
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let required: Map<String, Value> = required
        .map(|name| {
            let schema = &schema["properties"][name];
            let fits = |value: &&Value| match schema.get("type").and_then(Value::as_str) {
                Some(kind) => has_type(value, kind),
                None => true,
            };
            let samples = samples(root, schema, depth - 1);
            let value = samples.iter().rev().find(fits).cloned().unwrap_or_default();
            (name.to_owned(), schema.get("const").cloned().unwrap_or(value))
        })
        .collect();
    all.push(Value::Object(required.clone()));
    let more = json!({"x-more": "x", "more": 1});
    all.push(more);
    for (name, property) in properties {
        for value in samples(root, property, depth - 1) {
            let mut object = required.clone();
            object.insert(name.clone(), value);
            all.push(Value::Object(object));
        }
    }
    all
}
