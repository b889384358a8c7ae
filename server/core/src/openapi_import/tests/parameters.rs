//! Parameters become arguments with a place.

use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn sent(parameter: &Value) -> Value {
    let description = described("3.1.0", "get", &json!({"parameters": [parameter]}));
    http(&description)["request"]["parameters"][0].clone()
}

/// What is the default of the specification is not written down.
#[rstest]
#[case(json!({"in": "query"}), json!({}))]
#[case(json!({"in": "query", "style": "form", "explode": true}), json!({}))]
#[case(json!({"in": "query", "explode": false}), json!({"explode": false}))]
#[case(json!({"in": "query", "style": "pipeDelimited"}), json!({"style": "pipeDelimited"}))]
#[case(json!({"in": "query", "style": "spaceDelimited", "explode": true}), json!({}))]
#[case(json!({"in": "query", "style": "deepObject", "explode": true}), json!({"style": "deepObject"}))]
#[case(json!({"in": "query", "allowReserved": true}), json!({"allow_reserved": true}))]
#[case(json!({"in": "query", "style": "matrix"}), json!({}))]
#[case(json!({"in": "header", "style": "simple", "explode": true}), json!({"explode": true}))]
#[case(json!({"in": "header", "allowReserved": true}), json!({}))]
#[case(json!({"in": "cookie"}), json!({}))]
#[case(json!({"in": "cookie", "style": "cookie"}), json!({"style": "cookie"}))]
#[case(json!({"in": "query", "content": {"application/json": {"schema": {"type": "object"}}}}), json!({"content_type": "application/json"}))]
#[case(
    json!({"in": "querystring", "content": {"application/x-www-form-urlencoded": {}}}),
    json!({"content_type": "application/x-www-form-urlencoded"})
)]
fn styles(#[case] mut parameter: Value, #[case] mut expected: Value) {
    parameter["name"] = json!("p");
    expected["name"] = json!("p");
    expected["in"] = parameter["in"].clone();
    assert_eq!(sent(&parameter), expected);
}

/// The table of "collectionFormat" in Swagger 2.0.
#[rstest]
#[case("query", None, Ok(json!({"explode": false})))]
#[case("query", Some("csv"), Ok(json!({"explode": false})))]
#[case("query", Some("multi"), Ok(json!({})))]
#[case("query", Some("ssv"), Ok(json!({"style": "spaceDelimited"})))]
#[case("query", Some("pipes"), Ok(json!({"style": "pipeDelimited"})))]
#[case("query", Some("tsv"), Err("collectionFormat \"tsv\" in a query"))]
#[case("header", Some("csv"), Ok(json!({})))]
#[case("header", Some("pipes"), Err("collectionFormat \"pipes\" in a header"))]
fn collection_formats(
    #[case] location: &str,
    #[case] format: Option<&str>,
    #[case] expected: Result<Value, &str>,
) {
    let mut parameter = json!({
        "name": "p", "in": location, "required": true, "type": "array", "items": {"type": "string"},
    });
    if let Some(format) = format {
        parameter["collectionFormat"] = json!(format);
    }
    let description =
        json!({"swagger": "2.0", "host": "a.example", "paths": {"/x": {"get": {"parameters": [parameter]}}}});
    let operation = only(&description);
    match expected {
        Ok(mut expected) => {
            expected["name"] = json!("p");
            expected["in"] = json!(location);
            assert_eq!(http(&description)["request"]["parameters"][0], expected);
        }
        Err(why) => assert!(operation.tool.expect_err("refused").contains(why)),
    }
}

#[test]
fn names_that_clash_are_distinguished_by_their_place() {
    let description = json!({
        "openapi": "3.0.0", "servers": [{"url": "https://a.example"}],
        "paths": {"/{id}": {"put": {
            "parameters": [
                {"name": "id", "in": "cookie", "schema": {"type": "string"}},
                {"name": "id", "in": "query", "schema": {"type": "integer"}},
                {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
                {"name": "body", "in": "query", "schema": {"type": "string"}},
                {"name": "filter[a.b]", "in": "query", "schema": {"type": "string"}},
                {"name": "$", "in": "query", "schema": {"type": "string"}},
            ],
            "requestBody": {"content": {"text/plain": {}}},
        }}},
    });
    let names: Vec<String> = arguments(&description)["properties"]
        .as_object()
        .expect("properties")
        .keys()
        .cloned()
        .collect();
    assert_eq!(
        names,
        [
            "id",
            "id_query",
            "body",
            "filter_a.b",
            "value",
            "id_cookie",
            "body_content"
        ]
    );
    let request = http(&description)["request"].clone();
    assert_eq!(
        request["parameters"][1],
        json!({"name": "id", "in": "query", "argument": "id_query"})
    );
    assert_eq!(
        request["parameters"][3],
        json!({"name": "filter[a.b]", "in": "query", "argument": "filter_a.b"})
    );
    assert_eq!(request["body"]["argument"], "body_content");
}

#[test]
fn parameters_of_a_path_are_those_of_its_operations_unless_replaced() {
    let description = json!({
        "openapi": "3.0.0", "servers": [{"url": "https://a.example"}],
        "paths": {"/{id}": {
            "parameters": [
                {"$ref": "#/components/parameters/Id"},
                {"name": "page", "in": "query", "schema": {"type": "string"}},
            ],
            "get": {"parameters": [{"name": "page", "in": "query", "required": true, "schema": {"type": "integer"}}]},
        }},
        "components": {"parameters": {
            "Id": {"name": "id", "in": "path", "required": true, "description": "Which one", "example": 7, "schema": {"type": "integer"}},
        }},
    });
    assert_eq!(
        arguments(&description),
        json!({
            "type": "object",
            "properties": {
                "id": {"type": "integer", "examples": [7], "description": "Which one"},
                "page": {"type": "integer"},
            },
            "required": ["id", "page"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn slips_of_a_description_are_corrected_and_noted() {
    let description = json!({
        "openapi": "3.0.0", "servers": [{"url": "https://a.example"}],
        "paths": {"/{org}/{repo}": {"get": {"parameters": [
            {"name": "org", "in": "path", "schema": {"type": "string"}},
            {"name": "gone", "in": "path", "required": true, "schema": {"type": "string"}},
            {"name": "Authorization", "in": "header", "schema": {"type": "string"}},
            {"name": "Host", "in": "header", "schema": {"type": "string"}},
            {"name": "raw", "in": "query", "content": {"image/png": {}}},
        ]}}},
    });
    let operation = only(&description);
    assert_eq!(
        tool(&operation).parameters.value()["required"],
        json!(["org", "repo"])
    );
    assert_eq!(
        operation.notes,
        [
            "the path has no {gone}: the parameter is left out",
            "the parameter \"raw\" of the query is left out: nothing here writes a parameter as image/png",
            "no parameter describes {repo} of the path: it was read as a text",
        ]
    );
}

/// From the public documentation of GitHub's REST API: "Search code".
#[test]
fn an_operation_as_github_describes_it() {
    let description = json!({
        "openapi": "3.0.3", "servers": [{"url": "https://api.github.com"}],
        "paths": {"/search/code": {"get": {
            "operationId": "search/code", "summary": "Search code", "description": "Searches for query terms.",
            "parameters": [
                {"name": "q", "in": "query", "required": true, "schema": {"type": "string"}},
                {"name": "order", "in": "query", "schema": {"type": "string", "enum": ["desc", "asc"], "default": "desc"}},
                {"$ref": "#/components/parameters/per-page"},
            ],
        }}},
        "components": {"parameters": {"per-page": {
            "name": "per_page", "in": "query", "schema": {"type": "integer", "default": 30},
            "description": "The number of results per page (max 100).",
        }}},
    });
    let operation = only(&description);
    let definition = tool(&operation);
    assert_eq!(definition.name.as_str(), "search_code");
    assert_eq!(definition.description, "Search code\n\nSearches for query terms.");
    assert_eq!(
        definition.parameters.value()["properties"]["per_page"],
        json!({"type": "integer", "default": 30, "description": "The number of results per page (max 100)."})
    );
}

#[test]
fn what_follows_the_path_is_sent_or_is_a_mere_mark() {
    let description = json!({
        "openapi": "3.0.0", "servers": [{"url": "https://a.example"}],
        "paths": {"/{id}?op=LIST&v=2&q={q}#overload=stream": {"get": {"parameters": [
            {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
            {"name": "op", "in": "query", "required": true, "schema": {"type": "string", "enum": ["LIST"]}},
        ]}}},
    });
    let operation = only(&description);
    let options = serde_json::to_value(&tool(&operation).options).expect("JSON");
    assert_eq!(options["http"]["path"], "/{id}");
    assert_eq!(options["args"]["fixed"], json!({"op": "LIST", "v": "2"}));
    let names: Vec<_> = options["http"]["request"]["parameters"]
        .as_array()
        .expect("parameters")
        .iter()
        .map(|parameter| (parameter["name"].as_str(), parameter["in"].as_str()))
        .collect();
    assert_eq!(
        names,
        [
            (Some("id"), Some("path")),
            (Some("op"), Some("query")),
            (Some("v"), Some("query")),
            (Some("q"), Some("query"))
        ]
    );
}

/// What is empty has no form, so what is required is not empty.
#[rstest]
#[case("query", json!({"type": "array", "items": {"type": "string"}}), json!({"type": "array", "items": {"type": "string"}, "minItems": 1}))]
#[case("query", json!({"type": "array", "items": {"type": "string"}, "minItems": 3}), json!({"type": "array", "items": {"type": "string"}, "minItems": 3}))]
#[case("header", json!({"type": "object"}), json!({"type": "object", "minProperties": 1}))]
#[case("query", json!({"type": ["string", "null"]}), json!({"type": "string"}))]
#[case("path", json!({"type": ["array", "null"], "items": {"type": "string"}}), json!({"type": "array", "items": {"type": "string"}, "minItems": 1}))]
#[case("query", json!({"$ref": "#/components/schemas/List"}), json!({"$ref": "#/$defs/List", "minItems": 1}))]
#[case("query", json!({"type": "string"}), json!({"type": "string"}))]
fn what_is_required_is_not_empty(#[case] location: &str, #[case] schema: Value, #[case] expected: Value) {
    for required in [true, false] {
        let mut parameter = json!({"name": "p", "in": location, "required": required, "schema": schema});
        if location == "path" {
            parameter["required"] = json!(true);
        }
        let mut description = described("3.1.0", "get", &json!({"parameters": [parameter]}));
        description["components"]["schemas"]["List"] = json!({"type": "array", "items": {"type": "string"}});
        if location == "path" {
            description["paths"] = json!({"/things/{p}": description["paths"]["/things"]});
        }
        let found = arguments(&description)["properties"]["p"].clone();
        if required || location == "path" {
            assert_eq!(found, expected, "{schema}");
        } else {
            assert_eq!(
                (found.get("minItems"), found.get("minProperties")),
                (schema.get("minItems"), None)
            );
        }
    }
}
