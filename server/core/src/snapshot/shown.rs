//! The schema of a tool's arguments as callers see it.

use serde_json::{Map, Value};

use super::CompiledTool;

/// Removes what callers must not set and adds the defaults (tool development guide, section 4).
pub(super) fn shown_parameters(tool: &CompiledTool) -> Value {
    let mut schema = tool.definition.parameters.clone();
    let Some(object) = schema.as_object_mut() else {
        return schema;
    };
    let defaults = &tool.definition.options.args.defaults;
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !tool.hides(name));
        for (name, value) in defaults {
            if let Some(property) = properties.get_mut(name).and_then(Value::as_object_mut) {
                property.entry("default").or_insert_with(|| value.clone());
            }
        }
    }
    retain_required(object, |name| !tool.hides(name) && !defaults.contains_key(name));
    schema
}

/// An empty `required` says nothing (and old drafts forbid it), so it goes as a whole.
fn retain_required(object: &mut Map<String, Value>, keep: impl Fn(&str) -> bool) {
    let Some(required) = object.get_mut("required").and_then(Value::as_array_mut) else {
        return;
    };
    required.retain(|name| name.as_str().is_none_or(&keep));
    if required.is_empty() {
        object.shift_remove("required");
    }
}
