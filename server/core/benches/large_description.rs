//! How long the largest usual description takes to preview, and how much memory.
//!
//! `cargo bench -p toolgate-core --bench large_description`

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_core::definition::UploadContext;
use toolgate_core::ids::ProjectId;
use toolgate_core::openapi_import::{ImportOptions, preview};

/// Operations of the description.
const OPERATIONS: usize = 1_000;
/// Bytes of the description at least.
const BYTES: usize = 5_000_000;

/// A description with operations that have parameters, bodies and shared schemas, as large ones do.
fn description() -> Value {
    let words = |count: usize| {
        let mut text = String::new();
        for at in 0..count {
            let _infallible = write!(text, "word{} ", at * 7919 % 1000);
        }
        text
    };
    let property = |at: usize| json!({"type": if at.is_multiple_of(3) { "integer" } else { "string" }, "description": words(6), "nullable": at.is_multiple_of(5)});
    let mut schemas = serde_json::Map::new();
    for at in 0..OPERATIONS {
        let mut properties = serde_json::Map::new();
        for field in 0..12 {
            properties.insert(format!("field{field}"), property(field));
        }
        let next = json!({"$ref": format!("#/components/schemas/Thing{}", (at + 1) % OPERATIONS)});
        properties.insert("next".to_owned(), next);
        schemas.insert(
            format!("Thing{at}"),
            json!({"type": "object", "required": ["field1"], "properties": properties}),
        );
    }
    let mut paths = serde_json::Map::new();
    for at in 0..OPERATIONS {
        let parameters: Vec<Value> = (0..6)
            .map(|n| json!({"name": format!("p{n}"), "in": "query", "description": words(8), "schema": property(n)}))
            .chain([json!({"name": "id", "in": "path", "required": true, "schema": {"type": "string"}})])
            .collect();
        let body = json!({"content": {"application/json": {"schema": {"$ref": format!("#/components/schemas/Thing{at}")}}}});
        let operation = json!({"operationId": format!("change{at}"), "summary": words(6), "description": words(280), "parameters": parameters, "requestBody": body});
        paths.insert(format!("/things{at}/{{id}}"), json!({ "put": operation }));
    }
    json!({"openapi": "3.0.3", "info": {"title": "Large", "version": "1"}, "servers": [{"url": "https://a.example"}],
        "paths": paths, "components": {"schemas": schemas}})
}

/// The most memory this process ever had, in MB.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the process's status");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .expect("the peak");
    let kilobytes: u64 = line
        .split_whitespace()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .expect("a number");
    kilobytes / 1024
}

fn main() {
    let project = ProjectId::parse("demo").expect("a slug");
    let context = UploadContext {
        project: &project,
        env_allowed: &|_| true,
        existing_services: &|_| None,
        executes: toolgate_core::definition::ExecutorSet::BUILT_IN,
        subjects: None,
    };
    let description = description();
    let json = serde_json::to_string(&description).expect("JSON");
    let yaml = serde_saphyr::to_string(&description).expect("YAML");
    drop(description);
    assert!(json.len() >= BYTES, "{} bytes", json.len());
    let before = peak_mb();
    for (format, text) in [("JSON", &json), ("YAML", &yaml)] {
        let start = Instant::now();
        let found = preview(text.as_bytes(), &ImportOptions::default(), &context).expect("a preview");
        let took = start.elapsed();
        let tools = found
            .operations
            .iter()
            .filter(|operation| operation.tool.is_ok())
            .count();
        println!(
            "{format}: {} bytes, {tools} tools, {} ms, peak {} MB ({before} MB before)",
            text.len(),
            took.as_millis(),
            peak_mb()
        );
        assert_eq!(tools, OPERATIONS);
        assert!(took < Duration::from_secs(2), "{took:?}");
        assert!(peak_mb() < 200, "{} MB", peak_mb());
    }
}
