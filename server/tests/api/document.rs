//! The API document: complete, current, and in step with the router.

use std::collections::HashSet;

use serde_json::Value;

fn document() -> Value {
    serde_json::from_str(&rendered()).unwrap()
}

fn rendered() -> String {
    toolgate::openapi::render(toolgate::router::routes().into_openapi())
}

fn operations(document: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            found.push((format!("{method} {path}"), operation.clone()));
        }
    }
    found
}

#[test]
fn the_committed_document_is_current() {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../openapi/openapi.json");
    let committed = std::fs::read_to_string(committed).expect("openapi/openapi.json");
    assert!(
        committed == rendered(),
        "openapi/openapi.json is stale: run `cargo xtask openapi`"
    );
}

#[test]
fn every_operation_is_complete() {
    let document = document();
    let mut ids = HashSet::new();
    for (place, operation) in operations(&document) {
        let text = |key: &str| operation[key].as_str().unwrap_or_default().to_owned();
        assert!(
            ids.insert(text("operationId")),
            "{place}: the operation id is used twice"
        );
        assert!(
            text("operationId").contains('_') || ["login", "logout"].contains(&text("operationId").as_str()),
            "{place}"
        );
        assert!(
            !text("summary").is_empty() && text("summary").len() < 60,
            "{place}: summary"
        );
        assert!(!text("description").is_empty(), "{place}: description");
        assert_eq!(
            operation["tags"].as_array().map(Vec::len),
            Some(1),
            "{place}: one tag"
        );
        let responses = operation["responses"].as_object().unwrap();
        assert!(
            responses.keys().any(|status| status.starts_with('2')),
            "{place}: a success"
        );
        for (status, response) in responses {
            let response = resolve(&document, response);
            assert!(
                !response["description"].as_str().unwrap_or_default().is_empty(),
                "{place} {status}: description"
            );
            // A head that is too large is refused before there is a request that could have a problem.
            if (status.starts_with('4') || status.starts_with('5')) && status != "431" {
                assert!(
                    response["content"]["application/problem+json"]["example"].is_object(),
                    "{place} {status}: example"
                );
            }
        }
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            assert!(parameter["description"].is_string(), "{place}: {parameter}");
        }
    }
}

#[test]
fn every_schema_property_is_described() {
    let document = document();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let parts = schema["allOf"]
            .as_array()
            .cloned()
            .unwrap_or_else(|| vec![schema.clone()]);
        for (property, value) in parts
            .iter()
            .filter_map(|part| part["properties"].as_object())
            .flatten()
        {
            let described = value["description"].is_string()
                || value["oneOf"]
                    .as_array()
                    .is_some_and(|of| of.iter().any(|one| one["description"].is_string()))
                || value["$ref"].is_string();
            assert!(described, "{name}.{property} has no description");
        }
    }
}

fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => document
            .pointer(reference.trim_start_matches('#'))
            .expect("the reference leads somewhere"),
        None => value,
    }
}

#[test]
fn the_table_of_codes_is_current() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../openapi/README.md");
    let readme = std::fs::read_to_string(readme).expect("openapi/README.md");
    let rows: Vec<&str> = readme.lines().filter(|line| line.starts_with("| `")).collect();
    let expected: Vec<String> = toolgate_api::ErrorCode::ALL
        .iter()
        .map(|code| {
            format!(
                "| `{code}` | {} | {} |",
                code.status(),
                if code.retryable() { "yes" } else { "no" }
            )
        })
        .collect();
    assert_eq!(rows.len(), expected.len());
    for (row, start) in rows.iter().zip(&expected) {
        assert!(row.starts_with(start), "{row}\nshould start with\n{start}");
    }
}
