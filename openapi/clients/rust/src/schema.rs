//! Arguments against the JSON Schema of a tool.

use std::sync::Arc;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::error::{Error, Failure};

/// Faults that a failure names.
const MOST_FAULTS: usize = 20;

/// A JSON Schema, compiled once.
#[derive(Clone)]
pub(crate) struct Schema(Arc<Validator>);

impl Schema {
    pub(crate) fn new(schema: &Value) -> Result<Self, Error> {
        let validator = jsonschema::validator_for(schema).map_err(|error| error.to_string());
        let validator = validator.map_err(Error::while_doing("the schema cannot be used"))?;
        Ok(Self(Arc::new(validator)))
    }

    /// Refuses arguments under a code of the protocol. The failure has no value: an argument may be a secret.
    pub(crate) fn check(&self, arguments: &Map<String, Value>, code: &str) -> Result<(), Failure> {
        let arguments = Value::Object(arguments.clone());
        let faults: Vec<(String, String)> = self
            .0
            .iter_errors(&arguments)
            .take(MOST_FAULTS)
            .map(|error| {
                let message = error.masked_with("the value").to_string();
                (error.instance_path().to_string(), message)
            })
            .collect();
        if faults.is_empty() {
            return Ok(());
        }
        let words: Vec<String> = faults
            .iter()
            .map(|(pointer, message)| {
                format!("{}: {message}", if pointer.is_empty() { "/" } else { pointer })
            })
            .collect();
        let named: Vec<Value> = faults
            .iter()
            .map(|(pointer, message)| json!({ "pointer": pointer, "message": message }))
            .collect();
        Err(Failure {
            retryable: Some(false),
            detail: Some(Box::new(json!({ "errors": named }))),
            ..Failure::new(code, format!("the arguments are invalid: {}", words.join("; ")))
        })
    }
}
