//! Argument layers (tool development guide, section 4), weakest first: the definition's defaults, the caller, the
//! definition's fixed values, environment variables. What is fixed or from the environment is not the caller's to set,
//! whatever name the caller gives it: names of one argument are folded before the layers are merged.

mod context;
pub(crate) mod names;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};
use toolgate_api::Diagnostic;
use toolgate_api::audit::ArgumentLayer;

pub use context::TemplateContext;
use names::Names;

use crate::definition::template::{self, TemplateError};
use crate::http_mapping::jina;
use crate::nul;
use crate::snapshot::CompiledTool;
use crate::validation::{Effort, TooCostly};

/// At most this many arguments are refused one by one.
const MAX_FAULTS: usize = 100;

/// The arguments a tool is executed with, but for those from the environment: the executor injects them, so that no
/// value of theirs can end up in a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// Name to value.
    pub arguments: Map<String, Value>,
    /// Which layer each argument came from, those from the environment included.
    pub provenance: BTreeMap<String, ArgumentLayer>,
}

/// Why arguments were not merged.
#[derive(Debug, Clone, PartialEq)]
pub enum Unmerged {
    /// Every fault with its JSON pointer: arguments that break the schema, and template variables this call has no value for.
    Faults(Vec<Diagnostic>),
    /// Checking them takes more than the effort allows. Never for a thorough check.
    TooCostly,
}

/// Merges the layers of one call and checks the caller's part, with the defaults, against the schema shown to callers.
/// An explicit null counts as given. Templates are rendered in used defaults and in fixed values only.
///
/// # Errors
/// See [`Unmerged`].
pub fn merge(
    tool: &CompiledTool,
    caller: &Map<String, Value>,
    context: &TemplateContext,
    effort: Effort,
) -> Result<Merged, Unmerged> {
    let layers = &tool.definition.options.args;
    let names = Names::of(&tool.definition.options);
    let mut faults = nul::faults_in(caller);
    let mut provenance = BTreeMap::new();

    let mut checked = Map::with_capacity(caller.len() + layers.defaults.len() + layers.fixed.len());
    let declared = tool
        .shown_parameters()
        .get("properties")
        .and_then(Value::as_object);
    let is_declared = |name: &str| declared.is_some_and(|declared| declared.contains_key(name));
    let aliases = names.aliases(declared.into_iter().flat_map(Map::keys));
    let hidden: HashSet<_> = layers
        .fixed
        .keys()
        .chain(tool.envs.keys())
        .map(|name| names.key(name))
        .collect();
    // Under which name each argument of the caller is kept, by its key.
    let mut known: HashMap<Cow<'_, str>, &String> = HashMap::with_capacity(caller.len());
    for (given, value) in caller {
        let key = names.key(given);
        if hidden.contains(&key) {
            continue;
        }
        let name = match aliases.get(&key) {
            Some(declared) if !is_declared(given) => declared,
            _ => given,
        };
        let fault = match known.get(&key) {
            Some(twin) => Some(twins(given, twin)),
            None if value.is_null() => None,
            None => refusal(tool, given, is_declared(given)),
        };
        if let Some(fault) = fault {
            if faults.len() < MAX_FAULTS {
                faults.push(fault.at_pointer(pointer("", given)));
            }
            continue;
        }
        checked.insert(name.clone(), value.clone());
        provenance.insert(name.clone(), ArgumentLayer::Caller);
        known.insert(key, name);
    }
    let mut unchecked = Map::new();
    for (name, value) in &layers.defaults {
        let key = names.key(name);
        if hidden.contains(&key) || known.contains_key(&key) {
            continue;
        }
        // The caller cannot correct a default that the schema does not know.
        let target = if is_declared(name) {
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
    let from_environment: HashSet<_> = tool.envs.keys().map(|name| names.key(name)).collect();
    for (name, value) in layers
        .fixed
        .iter()
        .filter(|(name, _)| !from_environment.contains(&names.key(name)))
    {
        let target = if tool.checks_fixed(name) {
            &mut checked
        } else {
            &mut unchecked
        };
        target.insert(
            name.clone(),
            render(value, &|| pointer("", name), context, &mut faults),
        );
        provenance.insert(name.clone(), ArgumentLayer::Fixed);
    }
    provenance.extend(tool.envs.keys().map(|name| (name.clone(), ArgumentLayer::Env)));

    let checked = Value::Object(checked);
    match tool.faults(&checked, effort) {
        Ok(found) => faults.extend(found),
        Err(TooCostly) => return Err(Unmerged::TooCostly),
    }
    match checked {
        Value::Object(mut arguments) if faults.is_empty() => {
            arguments.extend(unchecked);
            Ok(Merged {
                arguments,
                provenance,
            })
        }
        _ => Err(Unmerged::Faults(faults)),
    }
}

fn twins(given: &str, twin: &str) -> Diagnostic {
    let [given, twin] = [given, twin].map(shortened);
    Diagnostic::error(format!("{given:?} and {twin:?} are two names of one argument"))
        .hint(format!("send {twin:?} only"))
}

/// Why an argument of the caller's, which is no null, is not sent, whatever its schema says.
fn refusal(tool: &CompiledTool, given: &str, declared: bool) -> Option<Diagnostic> {
    let problem = match &tool.definition.options.jina {
        Some(jina) => {
            let header = jina::overwritten(jina.headers.keys().map(String::as_str), given)?;
            format!("would overwrite the header {header}, which the definition sets")
        }
        None => tool.unmapped()?.refusal(given, declared)?,
    };
    Some(Diagnostic::error(format!("{:?} {problem}", shortened(given))).hint("leave it out"))
}

/// The beginning of a name that a caller chose.
fn shortened(name: &str) -> String {
    name.chars().take(80).collect()
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
                        "ask an editor of the project to correct the definition; it may use {}",
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
