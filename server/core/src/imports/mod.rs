//! Imports: what a source of tools would become, and what a newer version of it means for the tools that an older one became.
//!
//! A source is an API's description (`openapi_import`) or whatever else has tools. It yields a `Preview` of
//! `Operation`s, each with its `ImportedTool` (`operation`, `tool`), named by `names`; `select` chooses among them.
//! From there on all sources go the same way: `merge` joins definitions three ways: what the last import brought
//! (base), what the tool is (ours), what the source says now (theirs). `changes` says what differs, and `breaking`
//! which of it can break calls: of arguments by `schema_changes`, of results by `result_changes`. `plan` finds each
//! operation again and says what becomes of it. Nothing here changes a tool that is there: a change waits until it is
//! approved.

mod breaking;
mod changes;
mod merge;
mod names;
mod operation;
mod plan;
mod result_changes;
mod schema_changes;
mod select;
#[cfg(test)]
mod tests;
mod tool;

pub use self::changes::{changes, local_changes, removal};
pub use self::merge::{Merge, merge};
pub use self::names::{LONGEST_PREFIX, Named, assign, prefix_fault, suggested_prefix};
pub use self::operation::{Operation, Preview, SecurityNeed};
pub use self::plan::{Kept, Place, Planned, Verdict, plan};
pub use self::select::Selection;
pub use self::tool::ImportedTool;
pub(crate) use self::tool::{DEFINITIONS, Definition, Parts, reasons};

use serde_json::Value;
use toolgate_api::quarantine::{MergeSide, OperationChange};

use crate::definition::{self, ToolDefinition, UploadContext, check_tool};

/// The most places that are reported, as the API document says.
const MAX_PLACES: usize = 1000;

/// A definition as JSON.
#[must_use]
pub fn value(definition: &ToolDefinition) -> Value {
    // A definition is always JSON.
    serde_json::to_value(definition).unwrap_or_default()
}

/// What a description changed, what was edited here, and where the two do not agree.
///
/// The difference is reported when there is no conflict and the result is a definition.
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
/// The conflicts without a decision.
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
