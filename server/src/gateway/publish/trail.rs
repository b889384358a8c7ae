//! What the record says of changes of definitions: the definitions themselves are in their revisions.

use serde_json::{Value, json};
use toolgate_api::tools::DefinitionKind;

use super::Author;

/// Definitions that a record names; the others have the same author and time in their revisions.
const NAMED: usize = 100;

/// A change of definitions, each as [`revised`] says.
pub(in crate::gateway) fn changed(change: &str, author: &Author<'_>, mut revised: Vec<Value>) -> Value {
    let count = revised.len();
    revised.truncate(NAMED);
    json!({"change": change, "count": count, "definitions": revised, "note": author.note})
}

/// One definition, with its revisions before and after; `None` where it is not there.
pub(in crate::gateway) fn revised(
    kind: DefinitionKind,
    name: &str,
    before: Option<i64>,
    after: Option<i64>,
) -> Value {
    json!({"kind": kind, "name": name, "before": before, "after": after})
}
