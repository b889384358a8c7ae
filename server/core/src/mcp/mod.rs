//! A project's tools as clients of the Model Context Protocol see them: names, schemas and hints that the model providers
//! accept, and the way back from what a client sends to what the tool takes.
//!
//! A name or schema is changed only where a provider would refuse it. What a call is checked against is always the tool's
//! own schema; the listed one may accept more.

mod coerce;
pub mod cost;
mod hints;
mod inline;
mod names;
mod rename;
mod schema;
#[cfg(test)]
mod tests;
pub mod upstream;

use std::sync::Arc;

use serde_json::{Map, Value};

pub use self::hints::{Hints, title};
pub use self::names::{MAX_NAME, NameTable};
pub use self::schema::{InputSchema, NotListable, output_schema};
use crate::definition::ToolDefinition;

/// A tool as it is listed.
#[derive(Debug)]
pub struct Listed {
    /// A title for people.
    pub title: String,
    /// What the tool does to its environment.
    pub hints: Hints,
    /// The schema of its arguments.
    pub input: InputSchema,
    /// The schema of its result, if the definition has one that clients accept.
    pub output: Option<Arc<Map<String, Value>>>,
}

impl Listed {
    /// Prepares a tool; `parameters` is the schema that callers see.
    ///
    /// # Errors
    /// When its arguments are no object.
    pub fn new(definition: &ToolDefinition, parameters: &Value) -> Result<Self, NotListable> {
        Ok(Self {
            title: definition
                .title
                .as_deref()
                .map_or_else(|| title(definition.name.as_str()), str::to_owned),
            hints: Hints::of(definition),
            input: InputSchema::new(parameters)?,
            output: definition
                .output_schema
                .as_ref()
                .and_then(|schema| output_schema(&schema.value()))
                .map(Arc::new),
        })
    }
}
