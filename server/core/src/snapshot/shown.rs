//! The schemas of a tool's arguments: as callers see it, and as a call is checked.

use serde_json::{Map, Value};

use super::CompiledTool;

/// Keywords with lists of schemas for the same value.
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords with a schema for the same value. Under `not` a requirement means its opposite.
const SINGLE: [&str; 3] = ["if", "then", "else"];

/// Removes what callers must not set and adds the defaults (tool development guide, section 4).
pub(super) fn shown_parameters(tool: &CompiledTool) -> Value {
    let mut schema = tool.definition.parameters.value();
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
    retain_required(object, &|name| !tool.hides(name) && !defaults.contains_key(name));
    within(object, &|name| !tool.hides(name));
    schema
}

/// What the arguments of a call are checked against.
pub(super) struct CheckedParameters {
    pub(super) schema: Value,
    /// The names of the fixed values that are checked together with the caller's arguments: they may decide which
    /// alternative holds, but are not the caller's to answer for.
    pub(super) fixed: Vec<String>,
}

pub(super) fn checked_parameters(tool: &CompiledTool) -> CheckedParameters {
    let mut schema = tool.definition.parameters.value();
    let fixed = tool.definition.options.args.fixed.keys();
    let fixed: Vec<String> = fixed
        .filter(|name| is_checked(tool, &schema, name))
        .cloned()
        .collect();
    let Some(object) = schema.as_object_mut() else {
        return CheckedParameters { schema, fixed };
    };
    let is_checked = |name: &str| fixed.iter().any(|checked| checked == name);
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !tool.hides(name) || is_checked(name));
        for (name, property) in properties.iter_mut().filter(|(name, _)| tool.hides(name)) {
            debug_assert!(is_checked(name));
            *property = Value::Bool(true);
        }
    }
    let defaults = &tool.definition.options.args.defaults;
    retain_required(object, &|name| !tool.hides(name) && !defaults.contains_key(name));
    within(object, &|name| !tool.hides(name) || is_checked(name));
    CheckedParameters { schema, fixed }
}

/// Whether a fixed value is checked in a call. One that the parameters have no place for is not.
fn is_checked(tool: &CompiledTool, parameters: &Value, name: &str) -> bool {
    let declared = || {
        parameters
            .get("properties")
            .is_some_and(|all| all.get(name).is_some())
    };
    let open = || {
        ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .all(|keyword| {
                parameters
                    .get(keyword)
                    .is_none_or(|rest| *rest == Value::Bool(true))
            })
    };
    !tool.envs.contains_key(name) && (declared() || open())
}

/// Applies to the alternatives and conditions within a schema what holds for its own `required`.
fn within(object: &mut Map<String, Value>, keep: &dyn Fn(&str) -> bool) {
    let mut of = |schema: &mut Value| {
        if let Value::Object(schema) = schema {
            retain_required(schema, keep);
            within(schema, keep);
        }
    };
    for (keyword, value) in object {
        match value {
            Value::Array(schemas) if LISTS.contains(&keyword.as_str()) => {
                schemas.iter_mut().for_each(&mut of);
            }
            Value::Object(_) if SINGLE.contains(&keyword.as_str()) => of(value),
            Value::Object(schemas) if keyword == "dependentSchemas" => schemas.values_mut().for_each(&mut of),
            Value::Object(lists) if keyword == "dependentRequired" => {
                for list in lists.values_mut().filter_map(Value::as_array_mut) {
                    list.retain(|name| name.as_str().is_none_or(keep));
                }
            }
            _ => {}
        }
    }
}

/// An empty `required` says nothing (and old drafts forbid it), so it goes as a whole.
fn retain_required(object: &mut Map<String, Value>, keep: &dyn Fn(&str) -> bool) {
    let Some(required) = object.get_mut("required").and_then(Value::as_array_mut) else {
        return;
    };
    required.retain(|name| name.as_str().is_none_or(keep));
    if required.is_empty() {
        object.shift_remove("required");
    }
}
