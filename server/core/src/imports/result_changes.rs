//! Whether a change within the schema of a result can break who reads it: what was declared is not there any more, or is of
//! another type.
//!
//! Reading is the other way round than calling: a schema that lets less through breaks nothing. Bounds, patterns and formats
//! of results are not judged.

use std::mem::discriminant;

use serde_json::Value;

use super::schema_changes::{ANNOTATIONS, Place, place};

/// Whether the change at a path within the schema can break readers. Under `not` and `if`, where this is not known,
/// it is assumed.
pub(super) fn is_breaking(path: &[&str], before: Option<&Value>, after: Option<&Value>) -> bool {
    // What was declared about nothing cannot break.
    let Some(before) = before else {
        return matches!(place(path), Some((Place::Keyword(keyword), true)) if !ANNOTATIONS.contains(&keyword));
    };
    match place(path) {
        None => true,
        Some((Place::Keyword(keyword), _)) if ANNOTATIONS.contains(&keyword) => false,
        Some((_, true)) => true,
        Some((Place::Schema(holder), false)) => schema(holder, before, after),
        Some((Place::Several(keyword), false)) => several(keyword, before, after),
        Some((Place::Keyword(keyword), false)) => widens(keyword, before, after),
    }
}

/// A schema that went, or became another kind of value.
fn schema(holder: &str, before: &Value, after: Option<&Value>) -> bool {
    let declares = before.as_object().is_some_and(|schema| !schema.is_empty());
    match (holder, after) {
        // A definition counts where it is referred to.
        ("$defs" | "definitions", _) => false,
        // What is not described any more may be gone.
        ("properties" | "patternProperties", None) => true,
        _ => declares,
    }
}

/// A map or list of schemas that went, or a list with more or fewer of them.
fn several(keyword: &str, before: &Value, after: Option<&Value>) -> bool {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let (old, new) = (list(Some(before)), list(after));
    match keyword {
        "properties" | "patternProperties" => true,
        // Another alternative is another result; a condition less is one that need not hold.
        "anyOf" | "oneOf" => after.is_none() || !new.iter().all(|one| old.contains(one)),
        "allOf" => !old.iter().all(|one| new.contains(one)),
        "prefixItems" => new.len() < old.len(),
        _ => false,
    }
}

/// Whether a keyword lets types or absences through that it did not let through before.
fn widens(keyword: &str, before: &Value, after: Option<&Value>) -> bool {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
    let before_all = list(before);
    match (keyword, after) {
        ("$ref" | "$dynamicRef", _) | ("type", None) => true,
        ("type", Some(after)) => {
            let knew = |kind: &Value| {
                before_all.contains(kind)
                    || kind == "integer" && before_all.iter().any(|kind| kind == "number")
            };
            !list(after).iter().all(knew)
        }
        ("required", after) => {
            let after = after.map(list).unwrap_or_default();
            !before_all.iter().all(|name| after.contains(name))
        }
        ("const", Some(after)) => discriminant(before) != discriminant(after),
        ("enum", Some(after)) => {
            let kinds: Vec<_> = before_all.iter().map(discriminant).collect();
            !list(after)
                .iter()
                .all(|value| kinds.contains(&discriminant(value)))
        }
        _ => false,
    }
}
