//! What changed within the schema of the arguments, and whether the change can refuse calls that were accepted before.
//!
//! A place in a schema is a keyword, a schema, or a map or list of schemas. Only what holds schemas is divided; what
//! a keyword says is reported whole.

use serde_json::Value;

use crate::decimal::Decimal;
use crate::definition::schema::{LISTS, MAPS, SINGLE};

/// Keywords that say nothing about which values fit.
pub(super) const ANNOTATIONS: [&str; 12] = [
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$schema",
    "$id",
    "$anchor",
];
/// Keywords under which fewer fitting values mean more: every change counts.
const INVERTED: [&str; 2] = ["not", "if"];

/// What a path within a schema leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place<'p> {
    /// A schema, and the keyword that holds it; empty for the whole.
    Schema(&'p str),
    /// What a keyword holds: a map or list of schemas.
    Several(&'p str),
    /// What any other keyword says.
    Keyword(&'p str),
}

/// What a path leads to, and whether it leads through an inverted keyword. `None` within what a keyword says.
pub(super) fn place<'p>(path: &[&'p str]) -> Option<(Place<'p>, bool)> {
    let mut steps = path.iter().copied();
    let mut holder = "";
    let mut inverted = false;
    loop {
        let Some(keyword) = steps.next() else {
            return Some((Place::Schema(holder), inverted));
        };
        inverted |= INVERTED.contains(&keyword);
        if MAPS.contains(&keyword) || LISTS.contains(&keyword) {
            if steps.next().is_none() {
                return Some((Place::Several(keyword), inverted));
            }
        } else if !SINGLE.contains(&keyword) {
            let is_whole = steps.next().is_none();
            return is_whole.then_some((Place::Keyword(keyword), inverted));
        }
        holder = keyword;
    }
}

/// Whether the members of what a path within a schema leads to are looked at one by one.
pub(super) fn is_divided(path: &[&str]) -> bool {
    matches!(place(path), Some((Place::Schema(_) | Place::Several(_), _)))
}

/// Whether a change at a path within a schema can refuse what fitted before. When this is not known, it is assumed.
pub(super) fn is_breaking(path: &[&str], before: Option<&Value>, after: Option<&Value>) -> bool {
    let Some((place, inverted)) = place(path) else {
        return true;
    };
    match place {
        Place::Keyword(keyword) if ANNOTATIONS.contains(&keyword) => false,
        _ if inverted => true,
        Place::Schema(holder) => schema(holder, before, after),
        Place::Several(keyword) => several(keyword, before, after),
        Place::Keyword(keyword) => narrows(keyword, before, after),
    }
}

/// A schema that came, went, or became another kind of value.
fn schema(holder: &str, before: Option<&Value>, after: Option<&Value>) -> bool {
    let takes_all = |schema: &Value| match schema {
        Value::Bool(flag) => *flag,
        schema => schema.as_object().is_some_and(serde_json::Map::is_empty),
    };
    match (before, after) {
        // A definition counts where it is referred to.
        (None, _) | (_, None) if matches!(holder, "$defs" | "definitions") => false,
        // A new argument may be given; that it must be, `required` says.
        (None, Some(_)) if holder == "properties" => false,
        // Arguments that are not described are refused.
        (_, None) => matches!(holder, "" | "properties" | "patternProperties"),
        (_, Some(after)) => !takes_all(after),
    }
}

/// A map or list of schemas that came or went, or a list with more or fewer of them.
fn several(keyword: &str, before: Option<&Value>, after: Option<&Value>) -> bool {
    let all_in = |some: &Value, of: &Value| {
        let all = of.as_array().map(Vec::as_slice).unwrap_or_default();
        some.as_array()
            .is_some_and(|some| some.iter().all(|one| all.contains(one)))
    };
    match (keyword, before, after) {
        ("$defs" | "definitions", ..) => false,
        ("properties" | "patternProperties", Some(_), None) => true,
        ("properties", None, Some(_)) | (_, Some(_), None) => false,
        ("anyOf" | "oneOf", Some(before), Some(after)) => !all_in(before, after),
        ("allOf", Some(before), Some(after)) => !all_in(after, before),
        _ => true,
    }
}

/// Whether a keyword lets fewer values through than before.
fn narrows(keyword: &str, before: Option<&Value>, after: Option<&Value>) -> bool {
    let Some(after) = after else { return false };
    let Some(before) = before else {
        return *after != Value::Bool(false);
    };
    let numbers = || Some((decimal(before)?, decimal(after)?));
    let list = |value: &Value| value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
    match keyword {
        "type" => {
            let after = list(after);
            let takes = |kind: &Value| {
                after.contains(kind) || kind == "integer" && after.iter().any(|kind| kind == "number")
            };
            !list(before).iter().all(takes)
        }
        "enum" => !list(before).iter().all(|value| list(after).contains(value)),
        "required" => !list(after).iter().all(|name| list(before).contains(name)),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" | "minContains" => {
            numbers().is_none_or(|(before, after)| after > before)
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" | "maxContains" => {
            numbers().is_none_or(|(before, after)| after < before)
        }
        "multipleOf" => !is_multiple(before, after),
        "uniqueItems" => *after == Value::Bool(true),
        "format" => !matches!(
            (before.as_str(), after.as_str()),
            (Some("int32"), Some("int64")) | (Some("float"), Some("double"))
        ),
        _ => true,
    }
}

fn decimal(value: &Value) -> Option<Decimal> {
    match value {
        Value::Number(number) => Some(Decimal::parse(number.as_str())),
        _ => None,
    }
}

/// Whether one number is known to be a multiple of another one.
fn is_multiple(number: &Value, of: &Value) -> bool {
    // A number is a multiple of this one exactly if it fits the schema.
    crate::validation::Schema::new(&serde_json::json!({ "multipleOf": of }))
        .is_ok_and(|schema| schema.is_valid(number))
}
