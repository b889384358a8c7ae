//! From a description of an API (OpenAPI 3.0, 3.1, 3.2 or Swagger 2.0) to the tools that send its requests.
//!
//! The way of a description: `document` reads it and follows its references; `operations` finds the operations and puts
//! each tool together in a `draft`, with `parameters`, `bodies` and `forms`, `servers` and `security`; `schemas` converts
//! every schema once, by `convert`. `model` has what they share. A fault costs the operation it is in, never the whole: each operation
//! becomes a tool that passes the rules of definitions, or says why it cannot. What comes out is the `Preview` of `imports`, and goes
//! the way of every source from there on.

mod bodies;
mod convert;
mod discriminator;
mod document;
mod draft;
mod forms;
mod model;
mod operations;
mod parameters;
mod schemas;
mod security;
mod servers;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde_json::Value;
use toolgate_api::Diagnostic;

pub use self::document::MAX_BYTES;
pub use self::model::ImportOptions;

use self::document::Document;
use self::model::Found;
use self::operations::Outcome;
use self::schemas::Schemas;
use crate::definition::UploadContext;
use crate::imports::{ImportedTool, Named, Operation, Preview, assign};

/// Reads a description and makes a tool of each of its operations. Nothing is stored.
///
/// # Errors
/// When it cannot be read at all, or is no description.
pub fn preview(
    description: &[u8],
    options: &ImportOptions,
    context: &UploadContext<'_>,
) -> Result<Preview, Diagnostic> {
    let (root, warnings) = document::read(description)?;
    let document = Document::new(&root)?;
    let (found, problems) = operations::find(document);
    let named: Vec<Named<'_>> = found
        .iter()
        .map(|found| Named {
            id: found.text("operationId"),
            method: &found.method,
            path: found.path,
        })
        .collect();
    let plain_names = assign(&named, "");
    let names = match options.prefix.as_str() {
        "" => plain_names.clone(),
        prefix => assign(&named, prefix),
    };
    let mut schemas = Schemas::new(document);
    let mut hosts = BTreeSet::new();
    let operations = found
        .iter()
        .zip(names.into_iter().zip(plain_names))
        .map(|(found, names)| {
            let outcome = operations::build(&mut schemas, found, &names.0, options);
            if let Ok(built) = &outcome.built {
                hosts.extend(servers::origin(&built.base_url));
            }
            operation(found, names, outcome, context)
        })
        .collect();
    let info = |key: &str| {
        let text = root
            .get("info")
            .and_then(|info| info.get(key))
            .and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    Ok(Preview {
        title: info("title"),
        version: info("version"),
        format: document.dialect.format(),
        operations,
        hosts,
        problems,
        warnings,
        service: None,
    })
}

/// The operation with the tool that passes the rules of definitions, or with the rule that it breaks.
fn operation(
    found: &Found<'_>,
    (name, plain_name): (String, String),
    outcome: Outcome,
    context: &UploadContext<'_>,
) -> Operation {
    let mut notes = outcome.notes;
    let tool = outcome
        .built
        .and_then(|built| ImportedTool::with_parts(&built.definition, &built.parts, context, &mut notes));
    let tags = found.operation.get("tags").and_then(Value::as_array);
    Operation {
        method: found.method.clone(),
        path: found.path.to_owned(),
        pointer: found.pointer.clone(),
        operation_id: found.text("operationId").map(str::to_owned),
        tags: tags
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        summary: found.text("summary").map(str::to_owned),
        deprecated: found.operation.get("deprecated") == Some(&Value::Bool(true)),
        name,
        plain_name,
        tool,
        notes,
        security: outcome.security,
    }
}
