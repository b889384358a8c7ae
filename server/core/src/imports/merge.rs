//! Joining two changes of one definition, key by key.
//!
//! What is joined is what means something by itself: a key of the definition and of its options, a parameter, a
//! shared schema. Two changes inside one parameter are not joined, because a type from here and a format from there
//! would make a schema that neither side wrote.

use serde_json::{Map, Value};
use toolgate_api::quarantine::{MergeConflict, MergeSide};

use super::MAX_PLACES;
use crate::pointer;

/// Two changes of one definition, joined.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    /// Both changes. Where they conflict without a decision, ours.
    pub merged: Value,
    /// The places without a decision.
    pub conflicts: Vec<MergeConflict>,
}

/// Joins two changes of `base`. `decide` says whose change counts where both changed the same place, by its JSON pointer.
#[must_use]
pub fn merge(
    base: &Value,
    ours: &Value,
    theirs: &Value,
    decide: impl Fn(&str) -> Option<MergeSide>,
) -> Merge {
    let mut joining = Joining {
        decide: &decide,
        conflicts: Vec::new(),
    };
    let merged = joining.join(&mut Vec::new(), Some(base), Some(ours), Some(theirs));
    Merge {
        merged: merged.unwrap_or_default(),
        conflicts: joining.conflicts,
    }
}

struct Joining<'d> {
    decide: &'d dyn Fn(&str) -> Option<MergeSide>,
    conflicts: Vec<MergeConflict>,
}

impl Joining<'_> {
    fn join<'v>(
        &mut self,
        path: &mut Vec<&'v str>,
        base: Option<&'v Value>,
        ours: Option<&'v Value>,
        theirs: Option<&'v Value>,
    ) -> Option<Value> {
        if theirs == base || theirs == ours {
            return ours.cloned();
        }
        if ours == base {
            return theirs.cloned();
        }
        if path.as_slice() == ["parameters", "required"]
            && let (Some(base), Some(ours), Some(theirs)) = (names(base), names(ours), names(theirs))
        {
            return required(&base, &ours, &theirs);
        }
        if is_divisible(path)
            && let (Some(Value::Object(ours)), Some(Value::Object(theirs))) = (ours, theirs)
            && let Some(base) = object(base)
        {
            let mut joined = Map::new();
            for key in keys([ours, theirs]) {
                path.push(key);
                let value = self.join(
                    path,
                    base.and_then(|base| base.get(key)),
                    ours.get(key),
                    theirs.get(key),
                );
                path.pop();
                if let Some(value) = value {
                    joined.insert(key.to_owned(), value);
                }
            }
            return Some(Value::Object(joined));
        }
        let pointer = pointer::of(path.iter().copied());
        match (self.decide)(&pointer) {
            Some(MergeSide::Theirs) => theirs.cloned(),
            Some(MergeSide::Ours) => ours.cloned(),
            None => {
                if self.conflicts.len() < MAX_PLACES {
                    self.conflicts.push(MergeConflict {
                        pointer,
                        base: base.cloned(),
                        ours: ours.cloned(),
                        theirs: theirs.cloned(),
                    });
                }
                ours.cloned()
            }
        }
    }
}

/// Whether the members of the object at a place mean something by themselves.
fn is_divisible(path: &[&str]) -> bool {
    match path {
        ["parameters", "properties" | "$defs"] => true,
        ["parameters", _, ..] => false,
        _ => true,
    }
}

/// An object, or `Some(None)` where there was no value; `None` for a value of another type.
fn object(value: Option<&Value>) -> Option<Option<&Map<String, Value>>> {
    match value {
        None => Some(None),
        Some(Value::Object(map)) => Some(Some(map)),
        Some(_) => None,
    }
}

/// The keys of two objects, those of the first one first.
pub(super) fn keys([first, second]: [&Map<String, Value>; 2]) -> impl Iterator<Item = &str> {
    let more = second.keys().filter(|key| !first.contains_key(*key));
    first.keys().chain(more).map(String::as_str)
}

/// A list of names; nothing is none of them.
fn names(value: Option<&Value>) -> Option<Vec<&str>> {
    match value {
        None => Some(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(Value::as_str).collect(),
        Some(_) => None,
    }
}

/// The order of required names means nothing, so both changes fit together always.
fn required(base: &[&str], ours: &[&str], theirs: &[&str]) -> Option<Value> {
    let kept = ours
        .iter()
        .filter(|name| theirs.contains(name) || !base.contains(name));
    let added = theirs
        .iter()
        .filter(|name| !base.contains(name) && !ours.contains(name));
    let joined: Vec<Value> = kept.chain(added).map(|name| Value::from(*name)).collect();
    (!joined.is_empty()).then_some(Value::Array(joined))
}
