//! Imports that are kept: what a newer description means for the tools that an older one became.
//!
//! `merge` joins definitions three ways: what the last import brought (base), what the tool is (ours), what the
//! description says now (theirs). `changes` says what differs, and `schema_changes` which of it can refuse calls. `plan` finds each operation again and says what becomes of it. Nothing here changes a
//! tool that is there: a change waits until somebody approves it.

mod changes;
mod merge;
mod plan;
mod schema_changes;
#[cfg(test)]
mod tests;

pub use self::changes::{changes, local_changes};
pub use self::merge::{Merge, merge};
pub use self::plan::{Kept, Place, Planned, Verdict, plan};

use serde_json::Value;
use toolgate_api::quarantine::{MergeSide, OperationChange};

use crate::definition::{self, ToolDefinition, UploadContext, check_tool};

/// Places that are told at most, as the document says.
const MAX_PLACES: usize = 1000;

/// A definition as JSON.
#[must_use]
pub fn value(definition: &ToolDefinition) -> Value {
    // A definition is always JSON.
    serde_json::to_value(definition).unwrap_or_default()
}

/// What a description changed, what was edited here, and where the two do not agree.
///
/// The difference is told when there is no conflict and what comes out is a definition.
#[must_use]
pub fn compare(
    base: &ToolDefinition,
    ours: &ToolDefinition,
    theirs: &ToolDefinition,
    context: &UploadContext<'_>,
) -> OperationChange {
    let [b, o, t] = [base, ours, theirs].map(value);
    let merged = merge(&b, &o, &t, |_| None);
    let diff = merged
        .conflicts
        .is_empty()
        .then(|| check_tool(&merged.merged, context).ok())
        .flatten()
        .map(|(merged, _)| definition::diff(Some(ours), Some(&merged)));
    OperationChange {
        upstream: changes(&b, &t),
        local: local_changes(&b, &o),
        conflicts: merged.conflicts,
        diff,
    }
}

/// The definition that approving a change leaves.
///
/// # Errors
/// The conflicts that nobody has decided.
pub fn approved(
    base: &ToolDefinition,
    ours: &ToolDefinition,
    theirs: &ToolDefinition,
    decide: impl Fn(&str) -> Option<MergeSide>,
) -> Result<Value, Vec<String>> {
    let [b, o, t] = [base, ours, theirs].map(value);
    let merged = merge(&b, &o, &t, decide);
    if merged.conflicts.is_empty() {
        return Ok(merged.merged);
    }
    Err(merged
        .conflicts
        .into_iter()
        .map(|conflict| conflict.pointer)
        .collect())
}
