//! Argument layers (tool development guide, section 4), weakest first: the definition's defaults, the caller, the
//! definition's fixed values, environment variables. What is fixed or from the environment is not the caller's to set.

mod context;

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toolgate_api::Diagnostic;
use toolgate_api::audit::ArgumentLayer;

pub use context::TemplateContext;

use crate::definition::template::{self, TemplateError};
use crate::snapshot::CompiledTool;

/// The arguments a tool is executed with, but for those from the environment: the executor injects them, so that no
/// value of theirs can end up in a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// Name to value.
    pub arguments: Map<String, Value>,
    /// Which layer each argument came from, those from the environment included.
    pub provenance: BTreeMap<String, ArgumentLayer>,
}

/// Merges the layers of one call and checks the caller's part, with the defaults, against the schema shown to callers.
/// An explicit null counts as given. Templates are rendered in used defaults and in fixed values only.
///
/// # Errors
/// Every fault with its JSON pointer: arguments that break the schema, and template variables this call has no value
/// for.
pub fn merge(
    tool: &CompiledTool,
    caller: &Map<String, Value>,
    context: &TemplateContext,
) -> Result<Merged, Vec<Diagnostic>> {
    let layers = &tool.definition.options.args;
    let mut faults = Vec::new();
    let mut provenance = BTreeMap::new();

    let mut checked = Map::with_capacity(caller.len() + layers.defaults.len() + layers.fixed.len());
    for (name, value) in caller.iter().filter(|(name, _)| !tool.hides(name)) {
        checked.insert(name.clone(), value.clone());
        provenance.insert(name.clone(), ArgumentLayer::Caller);
    }
    let mut unchecked = Map::new();
    for (name, value) in &layers.defaults {
        if tool.hides(name) || checked.contains_key(name) {
            continue;
        }
        // A default that the schema does not know is no business of the caller, who could not mend it.
        let target = if is_declared(tool, name) {
            &mut checked
        } else {
            &mut unchecked
        };
        target.insert(
            name.clone(),
            render(value, &|| pointer("", name), context, &mut faults),
        );
        provenance.insert(name.clone(), ArgumentLayer::Default);
    }
    for (name, value) in layers
        .fixed
        .iter()
        .filter(|(name, _)| !tool.envs.contains_key(*name))
    {
        unchecked.insert(
            name.clone(),
            render(value, &|| pointer("", name), context, &mut faults),
        );
        provenance.insert(name.clone(), ArgumentLayer::Fixed);
    }
    provenance.extend(tool.envs.keys().map(|name| (name.clone(), ArgumentLayer::Env)));

    let checked = Value::Object(checked);
    faults.extend(tool.validate_value(&checked));
    match checked {
        Value::Object(mut arguments) if faults.is_empty() => {
            arguments.extend(unchecked);
            Ok(Merged {
                arguments,
                provenance,
            })
        }
        _ => Err(faults),
    }
}

fn is_declared(tool: &CompiledTool, name: &str) -> bool {
    tool.shown_parameters()
        .get("properties")
        .is_some_and(|properties| properties.get(name).is_some())
}

/// Renders every string in a value, in one pass; a fault leaves the text as it is and is noted with its place, `at`.
fn render(
    value: &Value,
    at: &dyn Fn() -> String,
    context: &TemplateContext,
    faults: &mut Vec<Diagnostic>,
) -> Value {
    match value {
        Value::String(text) => match template::render(text, &|name| context.get(name)) {
            Ok(text) => Value::String(text),
            Err(error) => {
                let hint = match &error {
                    TemplateError::Missing(name) => format!("send {name} in the call's context"),
                    TemplateError::Unknown(_) => format!(
                        "ask an editor of the project to mend the definition; it may use {}",
                        template::VARIABLES.join(", ")
                    ),
                };
                faults.push(Diagnostic::error(error.to_string()).hint(hint).at_pointer(at()));
                Value::String(text.clone())
            }
        },
        Value::Array(items) => (0..)
            .zip(items)
            .map(|(index, item): (usize, _)| render(item, &|| format!("{}/{index}", at()), context, faults))
            .collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| {
                (
                    name.clone(),
                    render(member, &|| pointer(&at(), name), context, faults),
                )
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// One step down in a JSON pointer (RFC 6901, section 3).
fn pointer(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests;
