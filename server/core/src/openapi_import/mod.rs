//! From a description of an API (OpenAPI 3.0, 3.1, 3.2 or Swagger 2.0) to the tools that send its requests.
//!
//! The way of a description: `document` reads it (with `yaml`) and follows its references; `operations` finds the operations and puts
//! each tool together in a `draft`, with `parameters`, `bodies` and `forms`, `servers` and `security`; `schemas` converts
//! every schema once, by `convert`; `names` names the tools; `tool` puts one together with what it shares with others. A fault costs the operation it is in, never the whole: each
//! operation becomes a tool that passes the rules of definitions, or says why it cannot. `select` chooses among them.

mod bodies;
mod convert;
mod discriminator;
mod document;
mod draft;
mod forms;
mod names;
mod operations;
mod parameters;
mod schemas;
mod security;
mod select;
mod servers;
#[cfg(test)]
mod tests;
mod tool;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolgate_api::Diagnostic;
use url::Url;

pub use self::document::{Dialect, MAX_BYTES};
pub use self::names::{LONGEST_PREFIX, prefix_fault, suggested_prefix};
pub use self::security::SecurityNeed;
pub use self::select::Selection;
pub use self::tool::ImportedTool;

use self::document::Document;
use self::names::Named;
use self::operations::{Found, Outcome};
use self::schemas::Schemas;
use crate::definition::UploadContext;

/// What whoever imports says about the description.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Where the description came from; servers without a host are on that host.
    pub document_url: Option<Url>,
    /// The API's address, instead of all servers of the description.
    pub base_url: Option<String>,
    /// Values of variables in the addresses of servers; others have their default.
    pub variables: BTreeMap<String, String>,
    /// Security scheme to environment variable or `secret:NAME`.
    pub credentials: BTreeMap<String, String>,
    /// What the names of the tools begin with.
    pub prefix: String,
}

/// What would be imported.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// The API's name.
    pub title: String,
    /// The API's version.
    pub version: String,
    /// How the description is written.
    pub dialect: Dialect,
    /// Every operation, in the order of the description.
    pub operations: Vec<Operation>,
    /// The origins that its tools send to; each must be on the egress list.
    pub hosts: BTreeSet<String>,
    /// What of the description is no operation and cannot be read.
    pub problems: Vec<Diagnostic>,
    /// What of its text was read although it is against the rules.
    pub warnings: Vec<Diagnostic>,
}

/// One operation of a description.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// Its method, in capitals.
    pub method: String,
    /// Its path.
    pub path: String,
    /// Where it stands in the description: a JSON pointer.
    pub pointer: String,
    /// Its id, where it has one.
    pub operation_id: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its summary.
    pub summary: Option<String>,
    /// Whether it should no longer be used.
    pub deprecated: bool,
    /// The name of its tool.
    pub name: String,
    /// The same without a prefix.
    pub plain_name: String,
    /// The tool, or why there is none.
    pub tool: Result<ImportedTool, String>,
    /// What differs from the description, or is left to the reader.
    pub notes: Vec<String>,
    /// Ways to be let in: any of them, with everything in it. Empty: without credentials.
    pub security: Vec<Vec<SecurityNeed>>,
}

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
    let plain_names = names::assign(&named, "");
    let names = match options.prefix.as_str() {
        "" => plain_names.clone(),
        prefix => names::assign(&named, prefix),
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
        dialect: document.dialect,
        operations,
        hosts,
        problems,
        warnings,
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
        .and_then(|built| ImportedTool::checked(&built, context, &mut notes));
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
