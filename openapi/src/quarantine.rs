//! The quarantine: changes of imported descriptions that wait for a decision. Until then the tools stay as they are.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::policy_tests::UploadPolicyTests;

/// What changed in a definition since the last import: upstream, and here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct OperationChange {
    /// What the description changed.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub upstream: Vec<PropertyChange>,
    /// What was edited here; it is kept.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub local: Vec<PropertyChange>,
    /// What both changed in different ways: each needs a decision.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub conflicts: Vec<MergeConflict>,
    /// Unified diff from the tool as it is to what approving makes of it, as YAML; absent while there are conflicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// One place in a definition, before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct PropertyChange {
    /// JSON pointer into the definition.
    #[cfg_attr(feature = "utoipa", schema(example = "/parameters/properties/limit"))]
    pub pointer: String,
    /// What was stored there; absent when nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>))]
    pub before: Option<Value>,
    /// What is stored there now; absent when nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>))]
    pub after: Option<Value>,
    /// Whether calls that worked before can fail after it, or answer less: by their arguments, their result, the address or the
    /// authentication. Only for changes of the description.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub breaking: bool,
}

/// A place that the description and an edit here changed in different ways.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct MergeConflict {
    /// JSON pointer into the definition.
    #[cfg_attr(feature = "utoipa", schema(example = "/description"))]
    pub pointer: String,
    /// What the last import brought; absent: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>))]
    pub base: Option<Value>,
    /// What the tool has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>))]
    pub ours: Option<Value>,
    /// What the description has now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>))]
    pub theirs: Option<Value>,
}

/// A change of an imported operation that waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct QuarantinedChange {
    /// The import.
    #[cfg_attr(feature = "utoipa", schema(example = "petstore", max_length = 63))]
    pub import: String,
    /// The tool that stays as it is meanwhile.
    #[cfg_attr(feature = "utoipa", schema(example = "getPet", max_length = 128))]
    pub tool: String,
    /// The operation's method.
    #[cfg_attr(feature = "utoipa", schema(example = "GET"))]
    pub method: String,
    /// The operation's path.
    #[cfg_attr(feature = "utoipa", schema(example = "/pets/{petId}"))]
    pub path: String,
    /// When the import brought it.
    pub since: DateTime<Utc>,
    /// Who imported.
    #[cfg_attr(feature = "utoipa", schema(example = "admin"))]
    pub by: String,
    /// What changed.
    pub change: OperationChange,
    /// What to look at before it is approved: instructions that the new definition hides from people, and the tool as it is does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 10))]
    pub notes: Vec<String>,
    /// The whole definitions; not in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definitions: Option<MergeSides>,
}

/// The definitions that a change is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct MergeSides {
    /// As the last import brought it.
    #[cfg_attr(feature = "utoipa", schema(value_type = Object))]
    pub base: Value,
    /// As the tool is.
    #[cfg_attr(feature = "utoipa", schema(value_type = Object))]
    pub ours: Value,
    /// As the description has it now.
    #[cfg_attr(feature = "utoipa", schema(value_type = Object))]
    pub theirs: Value,
    /// As approving leaves it; absent while there are conflicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>))]
    pub merged: Option<Value>,
}

/// A page of what waits, by the names of the tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct QuarantinePage {
    /// The changes.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<QuarantinedChange>,
    /// How many wait altogether, on all pages.
    #[cfg_attr(feature = "utoipa", schema(example = 3, minimum = 0))]
    pub total: usize,
    /// Send it as `cursor` for the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Whose change counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum MergeSide {
    /// What was edited here.
    Ours,
    /// What the description has now.
    Theirs,
}

/// How conflicts are decided. What only one side changed needs no decision.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ApproveChange {
    /// Decides every conflict that `choices` does not name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflicts: Option<MergeSide>,
    /// Decides single conflicts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub choices: Vec<MergeChoice>,
}

/// How one conflict is decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MergeChoice {
    /// The conflict's JSON pointer.
    #[cfg_attr(feature = "utoipa", schema(example = "/description", max_length = 2000))]
    pub pointer: String,
    /// Whose change counts.
    pub take: MergeSide,
}

/// What becomes of several changes, all together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DecideChanges {
    /// Which changes.
    pub select: QuarantineSelection,
    /// What becomes of them.
    pub decision: QuarantineDecision,
    /// Decides every conflict; without it, approving leaves changes with conflicts waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflicts: Option<MergeSide>,
    /// Why; kept with the revisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "version 2 of the API", max_length = 500)
    )]
    pub note: Option<String>,
}

/// Which changes are meant: exactly one of the members.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct QuarantineSelection {
    /// Those of these tools, each of which must wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = json!(["getPet"]), min_items = 1, max_items = 1000)
    )]
    pub names: Option<Vec<String>>,
    /// All that wait in this import.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "petstore", max_length = 63))]
    pub import: Option<String>,
}

/// Approving or rejecting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum QuarantineDecision {
    /// The tools get what the description changed, joined with what was edited here.
    Approve,
    /// The tools stay as they are; what the description changed counts as seen.
    Reject,
}

/// What became of several changes, or would.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DecidedChanges {
    /// Nothing was stored.
    pub dry_run: bool,
    /// The selected changes, by the names of the tools.
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub items: Vec<DecidedChange>,
    /// What becomes of the project's policy tests; only in a dry run of a project that has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_tests: Option<UploadPolicyTests>,
}

/// What became of one change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DecidedChange {
    /// The tool.
    #[cfg_attr(feature = "utoipa", schema(example = "getPet", max_length = 128))]
    pub tool: String,
    /// The import.
    #[cfg_attr(feature = "utoipa", schema(example = "petstore", max_length = 63))]
    pub import: String,
    /// What became of it.
    pub outcome: DecisionOutcome,
    /// Conflicts that `conflicts` has to decide, or has decided.
    #[cfg_attr(feature = "utoipa", schema(example = 0, minimum = 0))]
    pub conflicts: usize,
    /// The tool's revision afterwards.
    #[cfg_attr(feature = "utoipa", schema(example = 4, minimum = 1))]
    pub revision: i64,
    /// Unified diff of the tool, as YAML; absent when it stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// What became of a change in the quarantine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DecisionOutcome {
    /// The tool has it.
    Approved,
    /// The tool stays as it is.
    Rejected,
    /// It still waits: it has conflicts that need a decision.
    Waiting,
}
