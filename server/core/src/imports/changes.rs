//! What changed in a definition: every place by itself, down to the keywords of its schemas.

use std::borrow::Cow;

use serde_json::Value;
use toolgate_api::quarantine::{OperationChange, PropertyChange};

use super::merge::keys;
use super::{MAX_PLACES, breaking, schema_changes};
use crate::pointer;

/// Every place in which a definition differs from an earlier one, at most 1000 of them. Those after which calls that worked
/// before can fail, or answer less, are marked.
#[must_use]
pub fn changes(before: &Value, after: &Value) -> Vec<PropertyChange> {
    let mut found = Vec::new();
    collect(&mut Vec::new(), Some(before), Some(after), &mut found);
    found
}

/// The change of an operation that its source has no more: all of it, which breaks its calls.
#[must_use]
pub fn removal(base: &Value) -> OperationChange {
    OperationChange {
        upstream: vec![PropertyChange {
            pointer: String::new(),
            before: Some(base.clone()),
            after: None,
            breaking: true,
        }],
        local: Vec::new(),
        conflicts: Vec::new(),
        diff: None,
    }
}

/// What was edited here, as far as it is content: whether the tool may be called is decided here in any case.
#[must_use]
pub fn local_changes(base: &Value, ours: &Value) -> Vec<PropertyChange> {
    let mut found = changes(base, ours);
    found.retain(|change| change.pointer != "/enabled");
    for change in &mut found {
        change.breaking = false;
    }
    found
}

fn collect<'v>(
    path: &mut Vec<Cow<'v, str>>,
    before: Option<&'v Value>,
    after: Option<&'v Value>,
    found: &mut Vec<PropertyChange>,
) {
    if before == after || found.len() >= MAX_PLACES {
        return;
    }
    match (before, after) {
        (Some(Value::Object(old)), Some(Value::Object(new))) if is_divided(path) => {
            for key in keys([old, new]) {
                path.push(Cow::Borrowed(key));
                collect(path, old.get(key), new.get(key), found);
                path.pop();
            }
        }
        // Schemas in a list are the same ones as long as there are as many.
        (Some(Value::Array(old)), Some(Value::Array(new)))
            if old.len() == new.len() && is_in_schema(path) && is_divided(path) =>
        {
            for (at, (old, new)) in old.iter().zip(new).enumerate() {
                path.push(Cow::Owned(at.to_string()));
                collect(path, Some(old), Some(new), found);
                path.pop();
            }
        }
        _ => {
            let steps: Vec<&str> = path.iter().map(AsRef::as_ref).collect();
            found.push(PropertyChange {
                pointer: pointer::of(steps.iter().copied()),
                before: before.cloned(),
                after: after.cloned(),
                breaking: breaking::is_breaking(&steps, before, after),
            });
        }
    }
}

fn is_in_schema(path: &[Cow<'_, str>]) -> bool {
    matches!(
        path.first().map(AsRef::as_ref),
        Some("parameters" | "output_schema")
    )
}

/// Whether the members of the value at a place are compared one by one.
fn is_divided(path: &[Cow<'_, str>]) -> bool {
    let steps: Vec<&str> = path.iter().map(AsRef::as_ref).collect();
    !is_in_schema(path) || schema_changes::is_divided(&steps[1..])
}
