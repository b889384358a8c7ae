//! Definitions as people read them: canonical YAML, and differences of it.

use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;

use super::model::{ServiceDefinition, ToolDefinition};
use crate::text::yaml::writer::yaml_of;

/// A tool as canonical YAML, keys in the order of the model. Uploading it gives the same definition.
#[must_use]
pub fn to_yaml(definition: &ToolDefinition) -> String {
    yaml(definition)
}

/// A tool service as canonical YAML. Uploading it gives the same definition.
#[must_use]
pub fn service_to_yaml(definition: &ServiceDefinition) -> String {
    yaml(definition)
}

/// The unified difference of two revisions of a tool; `None` is a tool that does not exist. Empty when they are
/// equal.
#[must_use]
pub fn diff(before: Option<&ToolDefinition>, after: Option<&ToolDefinition>) -> String {
    unified(
        &before.map(to_yaml).unwrap_or_default(),
        &after.map(to_yaml).unwrap_or_default(),
    )
}

/// The unified difference of two revisions of a tool service, like [`diff`].
#[must_use]
pub fn service_diff(before: Option<&ServiceDefinition>, after: Option<&ServiceDefinition>) -> String {
    unified(
        &before.map(service_to_yaml).unwrap_or_default(),
        &after.map(service_to_yaml).unwrap_or_default(),
    )
}

fn yaml(definition: &impl Serialize) -> String {
    // A definition is always JSON.
    let value = serde_json::to_value(definition).unwrap_or_default();
    yaml_of(&value)
}

/// The unified difference of two values as YAML; `None` is one that does not exist. Empty when they are equal.
#[must_use]
pub(crate) fn value_diff(before: Option<&Value>, after: Option<&Value>) -> String {
    unified(
        &before.map(yaml_of).unwrap_or_default(),
        &after.map(yaml_of).unwrap_or_default(),
    )
}

fn unified(before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .header("before", "after")
        .to_string()
}
