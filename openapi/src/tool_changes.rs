//! Changing many tools at once, and taking such a change back.

use serde::de::{DeserializeOwned, Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::policy_tests::UploadPolicyTests;

/// What to do: a change of the tools that are selected, several changes of different tools together, or the undoing of such
/// a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum ToolChangeRequest {
    /// Changes the selected tools.
    Change(Box<ToolChanges>),
    /// Changes different tools differently, all together.
    Several(SeveralToolChanges),
    /// Takes a change back.
    Undo(ToolUndoRequest),
}

impl<'de> Deserialize<'de> for ToolChangeRequest {
    /// The members `undo` and `changes` distinguish the forms, so that a fault is reported for the intended one.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if value.get("undo").is_some() {
            return ToolUndoRequest::deserialize(value)
                .map(Self::Undo)
                .map_err(D::Error::custom);
        }
        if value.get("changes").is_some() {
            return SeveralToolChanges::deserialize(value)
                .map(Self::Several)
                .map_err(D::Error::custom);
        }
        ToolChanges::deserialize(value)
            .map(|changes| Self::Change(Box::new(changes)))
            .map_err(D::Error::custom)
    }
}

/// One change of the tools that are selected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolChanges {
    /// Which tools.
    pub select: ToolSelection,
    /// What becomes of each.
    #[serde(deserialize_with = "object")]
    pub change: ToolChange,
    /// Why; kept with the revisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "the search provider is being replaced", max_length = 500)
    )]
    pub note: Option<String>,
    /// How many tools the selection is known to be; with another number nothing is changed (409).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 0, maximum = 5000))]
    pub expect_count: Option<u32>,
}

/// Several changes in one transaction, with one way back. No tool may be selected by two of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SeveralToolChanges {
    /// The changes.
    #[serde(deserialize_with = "objects")]
    #[cfg_attr(feature = "utoipa", schema(min_items = 1, max_items = 1000))]
    pub changes: Vec<OneToolChange>,
    /// Why; kept with the revisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "the search provider is being replaced", max_length = 500)
    )]
    pub note: Option<String>,
}

/// One of several changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct OneToolChange {
    /// Which tools.
    pub select: ToolSelection,
    /// What becomes of each.
    #[serde(deserialize_with = "object")]
    pub change: ToolChange,
    /// How many tools the selection is known to be; with another number nothing is changed (409).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 0, maximum = 5000))]
    pub expect_count: Option<u32>,
}

/// Which tools to change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolSelection {
    /// These, each of which must exist.
    Names(Vec<String>),
    /// All that match, by the rules of the list of tools; `{}` selects every tool.
    #[serde(deserialize_with = "object")]
    Filter(ToolFilter),
}

/// Which tools match: those for which everything that is given holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolFilter {
    /// Part of the name or the description, in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "search", max_length = 200))]
    pub q: Option<String>,
    /// In this group, by its exact name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge", max_length = 128))]
    pub group: Option<String>,
    /// Open in this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "analysis", max_length = 128))]
    pub state: Option<String>,
    /// Of this type.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "openapi", max_length = 64))]
    pub type_: Option<String>,
    /// From this source: `mcp:<server>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "mcp:weather", max_length = 80))]
    pub source: Option<String>,
    /// Enabled, or disabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// What becomes of each selected tool: any of the members together, but `delete` only alone. Members that are left
/// out change nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolChange {
    /// Whether it may be called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = false))]
    pub enabled: Option<bool>,
    /// Groups it is to be in too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub add_groups: Vec<String>,
    /// Groups it is no longer to be in. A tool that is left with none is in no group: only a request for `*` reaches it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub remove_groups: Vec<String>,
    /// States it is to be open in too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub add_states: Vec<String>,
    /// States it is no longer to be open in. A tool that is left with none is never open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub remove_states: Vec<String>,
    /// The workflow state after a success; null: none, so that it does not move.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<String>, example = "analysis", max_length = 128))]
    pub set_state: Option<Option<String>>,
    /// Deletes it. Only `true`, and nothing beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "utoipa", schema(default = false))]
    pub delete: bool,
}

/// Reads an object as such: the derive would take a list of its members too.
fn object<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<T, D::Error> {
    members(Value::deserialize(deserializer)?)
}

/// The same for a list of objects.
fn objects<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Vec::<Value>::deserialize(deserializer)?
        .into_iter()
        .map(members)
        .collect()
}

fn members<T: DeserializeOwned, E: Error>(value: Value) -> Result<T, E> {
    if value.is_object() {
        T::deserialize(value).map_err(E::custom)
    } else {
        Err(E::custom("expected an object"))
    }
}

/// Keeps "null" and "absent" apart.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}

/// Takes a change of tools back: what the answer to it has as `undo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolUndoRequest {
    /// What to restore.
    #[serde(deserialize_with = "object")]
    pub undo: ToolUndo,
}

/// The tools to restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolUndo {
    /// Each tool once.
    #[serde(deserialize_with = "objects")]
    #[cfg_attr(feature = "utoipa", schema(min_items = 1, max_items = 5000))]
    pub tools: Vec<UndoneTool>,
}

/// One tool, and what it is to be again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct UndoneTool {
    /// The tool.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "web-search",
            min_length = 1,
            max_length = 128,
            pattern = "^[A-Za-z0-9._-]+$"
        )
    )]
    pub name: String,
    /// The revision to restore. One that deleted the tool deletes it again.
    #[cfg_attr(feature = "utoipa", schema(example = 3, minimum = 1))]
    pub revision: i64,
    /// The revision that the change left it at, null when it deleted the tool. With any other the undoing is refused
    /// (412), because the tool was changed since.
    #[serde(deserialize_with = "Option::deserialize")]
    #[cfg_attr(feature = "utoipa", schema(required = true, example = 4, minimum = 1))]
    pub expect_revision: Option<i64>,
}

/// What became of one tool, or would.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolChangeOutcome {
    /// It has a new revision.
    Changed,
    /// It was so already; no revision was made.
    Unchanged,
    /// It is gone; its revisions stay.
    Deleted,
    /// It was deleted and is there again.
    Restored,
}

/// One tool of a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ToolChangeItem {
    /// The tool.
    #[cfg_attr(feature = "utoipa", schema(example = "web-search"))]
    pub name: String,
    /// What happened.
    pub outcome: ToolChangeOutcome,
    /// The revision after the change (or that it would get); absent for a tool that is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 4, minimum = 1))]
    pub revision: Option<i64>,
    /// Unified diff of the definitions as YAML; absent when unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// What a change of tools did. All or nothing: with one fault nothing is changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ToolChangeResult {
    /// True when nothing was changed because only a verdict was asked for.
    pub dry_run: bool,
    /// One entry per selected tool, by name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 5000))]
    pub items: Vec<ToolChangeItem>,
    /// How many tools were selected.
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 0))]
    pub count: usize,
    /// Send it as it is, as the body to the same address, to take the change back. Absent when nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<ToolUndoRequest>,
    /// How the project's policy tests would come out; in the answer to a dry run of a project that has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_tests: Option<UploadPolicyTests>,
}
