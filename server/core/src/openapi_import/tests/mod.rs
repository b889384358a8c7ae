//! Small descriptions and what becomes of them.
//!
//! The petstores are extracts of the examples that the OpenAPI Initiative publishes with the specification; the forms of
//! Stripe, the search of GitHub and the upload of Slack are single operations written down from their public
//! documentation. Those in `extracts` say where they are from.

mod bodies;
mod documents;
mod extracts;
mod oracle;
mod parameters;
mod robust;
mod schemas;
mod security;
mod servers;
mod yaml;

use serde_json::{Value, json};

use super::{ImportOptions, preview};
use crate::definition::{ToolDefinition, UploadContext, check_tool};
use crate::ids::ProjectId;
use crate::imports::{Operation, Preview};

fn with_context<T>(work: impl FnOnce(&UploadContext<'_>) -> T) -> T {
    let project = ProjectId::parse("demo").expect("a slug");
    work(&UploadContext {
        project: &project,
        env_allowed: &|name| name == "API_KEY",
        existing_services: &|_| None,
        executes: crate::definition::ExecutorSet::BUILT_IN,
        subjects: None,
    })
}

fn read(text: &[u8], options: &ImportOptions) -> Preview {
    let preview = with_context(|context| preview(text, options, context));
    preview.unwrap_or_else(|fault| panic!("{}", fault.message))
}

fn import(description: &Value) -> Preview {
    read(description.to_string().as_bytes(), &ImportOptions::default())
}

/// A description with one operation, `POST /things/{id}` unless it says otherwise.
fn described(openapi: &str, method: &str, operation: &Value) -> Value {
    json!({
        "openapi": openapi,
        "info": {"title": "Things", "version": "1"},
        "servers": [{"url": "https://api.example.com/v1/"}],
        "paths": {"/things": {method: operation}},
    })
}

fn only(description: &Value) -> Operation {
    let mut operations = import(description).operations;
    assert_eq!(operations.len(), 1);
    operations.remove(0)
}

/// The tool of an operation. Its parts were checked one by one; put together they have to pass the rules as well.
fn tool(operation: &Operation) -> ToolDefinition {
    let tool = match &operation.tool {
        Ok(tool) => *tool.definition(),
        Err(why) => panic!("{} {}: {why}", operation.method, operation.path),
    };
    let checked = with_context(|context| check_tool(&serde_json::to_value(&tool).expect("JSON"), context));
    assert_eq!(checked.expect("a tool by the rules").0, tool);
    tool
}

/// `options.http` of the only operation, as a definition writes it.
fn http(description: &Value) -> Value {
    let operation = only(description);
    serde_json::to_value(tool(&operation).options.http.as_ref().expect("a request")).expect("JSON")
}

/// The schema of the arguments of the only operation.
fn arguments(description: &Value) -> Value {
    tool(&only(description)).parameters.value()
}
