//! Whole descriptions of every version.

use serde_json::{Value, json};
use toolgate_api::imports::DescriptionFormat;

use super::*;

const PETSTORE_2: &str = r#"
swagger: 2.0
info: {title: Petstore, version: 1.0.0}
host: petstore.example.com
basePath: /v1
schemes: [http, https]
consumes: [application/json]
paths:
  /pets:
    get:
      summary: List all pets
      operationId: listPets
      tags: [pets]
      parameters:
        - {name: limit, in: query, type: integer, format: int32, maximum: 100}
        - {name: tags, in: query, type: array, items: {type: string}}
      responses:
        200: {description: ok}
    post:
      summary: Create a pet
      operationId: createPets
      parameters:
        - {name: pet, in: body, required: true, schema: {$ref: '#/definitions/Pet'}}
      responses:
        201: {description: created}
definitions:
  Pet:
    required: [id, name]
    properties:
      id: {type: integer, format: int64}
      name: {type: string}
      tag: {type: string, x-nullable: true}
"#;

const PETSTORE_30: &str = r#"
openapi: 3.0.3
info: {title: Petstore, version: 1.0.0}
servers: [{url: 'https://petstore.example.com/v1'}]
paths:
  /pets:
    get:
      summary: List all pets
      operationId: listPets
      tags: [pets]
      parameters:
        - {name: limit, in: query, schema: {type: integer, format: int32, maximum: 100}}
        - {name: tags, in: query, explode: false, schema: {type: array, items: {type: string}}}
      responses:
        '200': {description: ok}
    post:
      summary: Create a pet
      operationId: createPets
      requestBody:
        required: true
        content:
          application/json: {schema: {$ref: '#/components/schemas/Pet'}}
      responses:
        '201': {description: created}
components:
  schemas:
    Pet:
      required: [id, name]
      properties:
        id: {type: integer, format: int64}
        name: {type: string}
        tag: {type: string, nullable: true}
"#;

/// What both are, whatever they are written in.
fn petstore_31() -> Value {
    json!({
        "openapi": "3.1.1",
        "info": {"title": "Petstore", "version": "1.0.0"},
        "servers": [{"url": "https://petstore.example.com/v1"}],
        "paths": {"/pets": {
            "get": {
                "summary": "List all pets", "operationId": "listPets", "tags": ["pets"],
                "parameters": [
                    {"name": "limit", "in": "query", "schema": {"type": "integer", "format": "int32", "maximum": 100}},
                    {"name": "tags", "in": "query", "explode": false, "schema": {"type": "array", "items": {"type": "string"}}},
                ],
            },
            "post": {
                "summary": "Create a pet", "operationId": "createPets",
                "requestBody": {"required": true, "content": {
                    "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}},
                }},
            },
        }},
        "components": {"schemas": {"Pet": {
            "required": ["id", "name"],
            "properties": {
                "id": {"type": "integer", "format": "int64"}, "name": {"type": "string"},
                "tag": {"type": ["string", "null"]},
            },
        }}},
    })
}

#[test]
fn the_same_api_is_the_same_tools_in_every_version() {
    let options = ImportOptions::default();
    let newest = import(&petstore_31());
    let definitions = |preview: &Preview| preview.operations.iter().map(tool).collect::<Vec<_>>();
    for (text, dialect) in [
        (PETSTORE_2, DescriptionFormat::Swagger2),
        (PETSTORE_30, DescriptionFormat::Openapi30),
    ] {
        let older = read(text.as_bytes(), &options);
        assert_eq!(older.format, dialect);
        assert_eq!(
            (older.title.as_str(), older.version.as_str()),
            ("Petstore", "1.0.0")
        );
        // `body` is called by its one name whatever Swagger 2.0 called it.
        assert_eq!(definitions(&older), definitions(&newest));
        assert_eq!(
            older.hosts.iter().collect::<Vec<_>>(),
            ["https://petstore.example.com"]
        );
    }
    let get = tool(&newest.operations[0]);
    assert_eq!(get.description, "List all pets");
    assert_eq!(
        get.parameters.value(),
        json!({
            "type": "object",
            "properties": {
                "limit": {"type": "integer", "format": "int32", "maximum": 100},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "additionalProperties": false,
        })
    );
    assert_eq!(
        serde_json::to_value(&get.options).expect("JSON"),
        json!({"http": {
            "base_url": "https://petstore.example.com/v1", "path": "/pets", "method": "GET",
            "request": {"parameters": [
                {"name": "limit", "in": "query"}, {"name": "tags", "in": "query", "explode": false},
            ]},
        }})
    );
    let post = tool(&newest.operations[1]);
    assert_eq!(
        post.parameters.value()["properties"]["body"],
        json!({"$ref": "#/$defs/Pet"})
    );
    assert_eq!(
        post.parameters.value()["$defs"]["Pet"]["properties"]["tag"]["type"],
        json!(["string", "null"])
    );
    assert_eq!(post.parameters.value()["required"], json!(["body"]));
}

#[test]
fn newer_versions_have_more_operations() {
    let operation = |name: &str| json!({"operationId": name});
    let description = json!({
        "openapi": "3.2.0",
        "servers": [{"url": "https://a.example"}],
        "paths": {"/things": {
            "query": {"operationId": "query", "requestBody": {"content": {"application/json": {}}}},
            "trace": operation("trace"),
            "additionalOperations": {"COPY": operation("copy")},
            "parameters": [{"name": "id", "in": "query"}],
        }},
    });
    let preview = import(&description);
    let found: Vec<_> = preview
        .operations
        .iter()
        .map(|operation| {
            (
                operation.method.as_str(),
                operation.pointer.as_str(),
                operation.tool.is_ok(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("TRACE", "/paths/~1things/trace", false),
            ("QUERY", "/paths/~1things/query", true),
            ("COPY", "/paths/~1things/additionalOperations/COPY", false),
        ]
    );
    assert_eq!(
        preview.operations[0].tool,
        Err("nothing here sends TRACE requests".to_owned())
    );
}

#[test]
fn the_version_is_reported() {
    for (version, expected) in [
        ("3.0.4", DescriptionFormat::Openapi30),
        ("3.1.1", DescriptionFormat::Openapi31),
        ("3.2.0", DescriptionFormat::Openapi32),
    ] {
        let preview = import(&described(version, "get", &json!({})));
        assert_eq!(preview.format, expected, "{version}");
    }
}

#[test]
fn one_bad_operation_costs_no_other() {
    let mut description = petstore_31();
    description["paths"]["/pets"]["post"]["requestBody"] = json!({"$ref": "#/components/requestBodies/None"});
    description["paths"]["/broken"] = json!({"$ref": "other.yaml#/paths/x"});
    description["paths"]["no-slash"] = json!({"get": {}});
    description["paths"]["/odd"] =
        json!({"get": 7, "put": {"parameters": [{"in": "query", "required": true}]}});
    let preview = import(&description);
    let outcomes: Vec<_> = preview
        .operations
        .iter()
        .map(|operation| {
            (
                operation.name.as_str(),
                operation.tool.as_ref().err().map(String::as_str),
            )
        })
        .collect();
    assert_eq!(
        outcomes,
        [
            ("listPets", None),
            (
                "createPets",
                Some("\"#/components/requestBodies/None\" refers to nothing")
            ),
            ("get_odd", Some("it is no object")),
            ("put_odd", Some("a parameter of the query has no name")),
        ]
    );
    let problems: Vec<_> = preview
        .problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("refers to another document"), "{problems:?}");
    assert!(problems[1].contains("does not begin with /"), "{problems:?}");
}

#[test]
fn what_is_no_description_is_refused() {
    let project = crate::ids::ProjectId::parse("demo").expect("a slug");
    let context = UploadContext {
        project: &project,
        env_allowed: &|_| false,
        existing_services: &|_| None,
        executes: crate::definition::ExecutorSet::BUILT_IN,
        subjects: None,
    };
    let long = " ".repeat((16 << 20) + 1);
    let bomb = format!(
        "a: &a [x]\nopenapi: 3.1.0\n{}",
        (0..40)
            .map(|n| format!("k{n}: &k{n} [*a, *a, *a, *a, *a, *a, *a, *a]\n"))
            .collect::<String>()
    );
    let bomb = bomb.replace("&a [x]", "&a [x, x, x, x, x, x, x, x, x, x]");
    for (text, message) in [
        ("", "this is no OpenAPI description"),
        ("just text", "this is no OpenAPI description"),
        ("{\"openapi\": \"4.0.0\"}", "version is \"4.0.0\""),
        ("{\"openapi\": [}", "cannot be read"),
        ("openapi: 3.0.0\n\tpaths: {}", "cannot be read"),
        ("<html>", "this is no OpenAPI description"),
        (long.as_str(), "larger than 16 MiB"),
    ] {
        let fault = preview(text.as_bytes(), &ImportOptions::default(), &context).expect_err("refused");
        assert!(fault.message.contains(message), "{}", fault.message);
    }
    // Aliases are bounded by what they amount to.
    assert!(preview(bomb.as_bytes(), &ImportOptions::default(), &context).is_ok());
    let deep = format!("openapi: 3.1.0\nx: {}1{}", "[".repeat(200), "]".repeat(200));
    assert!(preview(deep.as_bytes(), &ImportOptions::default(), &context).is_err());
    let other = "openapi: 3.1.0\npaths: {}\ninfo: {title: 1e400, version: !x 2.0, <<: {title: a, version: b}}\nx: *a\n";
    assert!(
        preview(other.as_bytes(), &ImportOptions::default(), &context).is_err(),
        "an unknown alias"
    );
    let laughs: String = (0..12)
        .map(|n| {
            format!(
                "l{n}: &l{n} [{}]\n",
                vec![
                    if n == 0 {
                        "x".to_owned()
                    } else {
                        format!("*l{}", n - 1)
                    };
                    10
                ]
                .join(", ")
            )
        })
        .collect();
    assert!(
        preview(
            format!("openapi: 3.1.0\n{laughs}").as_bytes(),
            &ImportOptions::default(),
            &context
        )
        .is_err()
    );
}
