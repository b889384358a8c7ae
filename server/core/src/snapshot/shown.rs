//! The schemas of a tool's arguments: as callers see it, and as a call is checked.

use serde_json::{Map, Value};

use super::CompiledTool;

/// Keywords with lists of schemas for the same value.
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords with a schema for the same value. Under `not` a requirement means its opposite.
const SINGLE: [&str; 3] = ["if", "then", "else"];

/// Removes what callers must not set and adds the defaults (tool development guide, section 4). `None`: callers see the
/// parameters as they are defined, which holds for most tools, so that no second copy is kept.
pub(super) fn shown_parameters(tool: &CompiledTool) -> Option<Value> {
    let mut schema = tool.definition.parameters.clone();
    let object = schema.as_object_mut()?;
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
    (schema != tool.definition.parameters).then_some(schema)
}

/// What the arguments of a call are checked against, together with the fixed values of [`is_checked`]: they may decide
/// which alternative holds, but are not the caller's to answer for.
pub(super) fn checked_parameters(tool: &CompiledTool) -> Value {
    let mut schema = tool.definition.parameters.clone();
    let Some(object) = schema.as_object_mut() else {
        return schema;
    };
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !tool.hides(name) || is_checked(tool, name));
        for (name, property) in properties.iter_mut().filter(|(name, _)| tool.hides(name)) {
            debug_assert!(is_checked(tool, name));
            *property = Value::Bool(true);
        }
    }
    let defaults = &tool.definition.options.args.defaults;
    retain_required(object, &|name| !tool.hides(name) && !defaults.contains_key(name));
    within(object, &|name| !tool.hides(name) || is_checked(tool, name));
    schema
}

/// Whether a fixed value takes part in the check of a call. One that the parameters have no place for does not.
pub(super) fn is_checked(tool: &CompiledTool, name: &str) -> bool {
    let parameters = &tool.definition.parameters;
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
    tool.definition.options.args.fixed.contains_key(name)
        && !tool.envs.contains_key(name)
        && (declared() || open())
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
