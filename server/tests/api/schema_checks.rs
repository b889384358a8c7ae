//! Checks against schemas are bounded, whatever the source of the schema and the value: an editor, a description, an
//! upstream.

use axum::Router;
use axum::routing::get;
use serde_json::{Value, json};

use crate::support::{TestApp, echo, serve};

const CALLS: &str = "/projects/demo/calls";
const TOOLS: &str = "/projects/demo/tools";

/// Refers to itself from two branches for the same member, so that each level of a value doubles the ways to check it.
fn doubling(reference: &str) -> Value {
    let branch = |required: &str| json!({"type": "object", "properties": {"c": {"$ref": reference}}, "required": [required]});
    json!({ "anyOf": [branch("z"), branch("y")] })
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!({}), |value, _| json!({ "c": value }))
}

fn definition(name: &str, base: &str, parameters: &Value) -> Value {
    json!({"name": name, "type": "openapi", "description": "Takes a tree.", "parameters": parameters,
        "options": {"http": {"base_url": base, "path": "/echo", "method": "POST"}}})
}

#[tokio::test]
async fn a_check_that_doubles_at_each_level_ends_soon_and_is_warned_of_at_upload() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let parameters = json!({"type": "object", "properties": {"tree": {"$ref": "#/$defs/n"}}, "$defs": {"n": doubling("#/$defs/n")}});
    let tool = definition("tree", &base, &parameters);
    let stored = admin.post(TOOLS, &tool).await.expect(201).text();
    assert!(
        stored.contains("a call whose arguments take too long is refused"),
        "{stored}"
    );

    for depth in [18, 60, 120] {
        let call = json!({"tool": "tree", "arguments": {"tree": nested(depth)}});
        let problem = admin.post(CALLS, &call).await.problem(422, "invalid_arguments");
        assert!(problem["errors"][0]["message"].is_string(), "{problem}");
    }
    let call = json!({"tool": "tree", "arguments": {"tree": {"z": 1, "c": {"y": {}}}}});
    let answer = admin.post(CALLS, &call).await.expect(200).json();
    assert_eq!(answer["status"], "succeeded", "{answer}");
}

#[tokio::test]
async fn what_a_description_or_an_upstream_makes_expensive_is_bounded_too() {
    let deep = get(|| async { axum::Json(nested(100)) });
    let base = serve(Router::new().route("/deep", deep)).await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let description = json!({
        "openapi": "3.1.0", "info": {"title": "Trees", "version": "1"}, "servers": [{"url": base}],
        "paths": {"/deep": {"get": {"operationId": "deep", "responses": {"200": {"description": "A tree.", "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/n"}}}}}},
            "put": {"operationId": "put", "requestBody": {"required": true, "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/n"}}}}, "responses": {"200": {"description": "ok"}}}}},
        "components": {"schemas": {"n": doubling("#/components/schemas/n")}},
    });
    let preview = admin
        .post("/projects/demo/imports?definitions=true", &description)
        .await
        .expect(200)
        .json();
    for operation in preview["operations"].as_array().expect("operations") {
        let mut tool = operation["definition"].clone();
        if tool.is_null() {
            continue;
        }
        tool["enabled"] = json!(true);
        admin.post(TOOLS, &tool).await.expect(201);
    }
    let call = json!({"tool": "put", "arguments": {"body": nested(60)}});
    admin.post(CALLS, &call).await.problem(422, "invalid_arguments");

    let mut tool = json!({"name": "reads", "type": "openapi", "description": "Reads a tree.", "parameters": {"type": "object"},
        "options": {"http": {"base_url": base, "path": "/deep"}}});
    tool["output_schema"] = json!({"$ref": "#/$defs/n", "$defs": {"n": doubling("#/$defs/n")}});
    admin.post(TOOLS, &tool).await.expect(201);
    let answer = admin
        .post(CALLS, &json!({"tool": "reads"}))
        .await
        .expect(200)
        .json();
    assert_eq!(answer["status"], "succeeded");
    assert_eq!(
        answer["notes"]["warnings"].as_array().map(Vec::len),
        Some(1),
        "{answer}"
    );
}

#[tokio::test]
async fn a_schema_that_says_nothing_about_a_value_without_an_end_is_refused() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    for endless in [
        json!({"$ref": "#/properties/a"}),
        json!({"$dynamicAnchor": "a", "anyOf": [{"$dynamicRef": "#a"}]}),
    ] {
        let parameters = json!({"type": "object", "properties": {"a": endless}});
        let tool = definition("endless", "https://api.example", &parameters);
        let problem = admin.post(TOOLS, &tool).await.problem(422, "invalid_definition");
        assert!(problem.to_string().contains("leads back to itself"), "{problem}");
    }
}

#[tokio::test]
async fn arguments_that_take_long_to_check_are_checked_whole() {
    let base = echo().await;
    let app = TestApp::with(&[("TOOLGATE_EGRESS_ALLOW", &base)]).await;
    let admin = app.demo().await;
    let parameters = json!({"type": "object", "properties": {
        "numbers": {"type": "array", "items": {"type": "integer", "minimum": 0}, "uniqueItems": true}}});
    admin
        .post(TOOLS, &definition("sum", &base, &parameters))
        .await
        .expect(201);
    let call = |last: i64| {
        let numbers: Vec<i64> = (0..50_000).chain([last]).collect();
        json!({"tool": "sum", "arguments": {"numbers": numbers}})
    };
    let answer = admin.post(CALLS, &call(50_000)).await.expect(200).json();
    assert_eq!(answer["status"], "succeeded", "{answer}");
    let problem = admin
        .post(CALLS, &call(-1))
        .await
        .problem(422, "invalid_arguments");
    assert_eq!(problem["errors"][0]["pointer"], "/numbers/50000", "{problem}");
    admin
        .post(CALLS, &call(7))
        .await
        .problem(422, "invalid_arguments");
}
