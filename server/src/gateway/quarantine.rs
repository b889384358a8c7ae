//! The quarantine: what newer descriptions change, until it is approved or rejected. The tools stay as they are
//! meanwhile; approving makes a revision, under the same guards as an upload.

mod many;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;
use toolgate_api::audit::AuditAction;
use toolgate_api::quarantine::{ApproveChange, MergeSide, MergeSides, QuarantinedChange};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::{ToolDefinition, check_tool};
use toolgate_core::ids::ProjectId;
use toolgate_core::imports::{approved, compare, value};
use toolgate_core::mcp_import::suspicions;
use toolgate_core::snapshot::CompiledTool;
use toolgate_store::rows::{ImportChange, ImportOperationRow, WaitingRow};

pub use self::many::decide;
use super::change_record::Changer;
use super::publish::{
    ATTEMPTS, Author, DefinitionChange, commit, current, invalid_definition, too_busy, turn, with_context,
};
use super::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// A page of what waits.
pub struct Waiting {
    /// By the names of the tools. Those whose tool was deleted are left out: there is nothing to decide.
    pub items: Vec<QuarantinedChange>,
    /// All that wait, on all pages.
    pub total: u64,
    /// The last tool of the page, when there is more.
    pub last: Option<String>,
}

/// What waits in one import or in all.
pub async fn list(
    gateway: &Arc<Gateway>,
    project: &Arc<ProjectState>,
    import: Option<&str>,
    after: Option<&str>,
    limit: usize,
) -> Result<Waiting, Problem> {
    let more = u32::try_from(limit + 1).unwrap_or(u32::MAX);
    let (mut rows, total) = gateway
        .store
        .waiting_operations(project.row.uid, import, after, more)
        .await?;
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    let last = rows.last().filter(|_| has_more).map(|row| row.tool.to_string());
    // Comparing large definitions takes a while.
    let (gateway, project) = (Arc::clone(gateway), Arc::clone(project));
    let items = tokio::task::spawn_blocking(move || {
        let described = |row: ImportOperationRow| {
            let tool = project.snapshot.tool(row.tool.as_str())?;
            let waiting = row.waiting.clone()?;
            Some(described(&gateway, &project, &row, &waiting, &tool.definition))
        };
        rows.into_iter().filter_map(described).collect()
    })
    .await
    .map_err(|error| Problem::internal(&error))?;
    Ok(Waiting { items, total, last })
}

/// One change with its definitions, and its tag: another one when the change, or the tool, is another.
pub async fn get(
    gateway: &Gateway,
    project: &ProjectState,
    tool: &str,
) -> Result<(QuarantinedChange, String), Problem> {
    let row = gateway.store.import_operation(project.row.uid, tool).await?;
    let (row, waiting, tool) = waiting(project, row, tool)?;
    let tag = tag(&row, tool);
    let ours = &tool.definition;
    let merged = approved(&row.base, ours, &waiting.definition, |_| None).ok();
    let mut change = described(gateway, project, &row, &waiting, ours);
    change.definitions = Some(MergeSides {
        base: value(&row.base),
        ours: value(ours),
        theirs: value(&waiting.definition),
        merged,
    });
    Ok((change, tag))
}

/// Applies a change to its tool, on the record.
///
/// # Errors
/// 404 when nothing waits; what `matches` says of its tag; 409 `merge_conflict` with every place that is not decided; 422
/// when what comes out is no definition; what the policy tests of the project refuse.
pub async fn approve(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    by: &Changer<'_>,
    tool: &str,
    decision: &ApproveChange,
    matches: impl Fn(&str) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let row = gateway.store.import_operation(state.row.uid, tool).await?;
        let (row, waiting, tool) = waiting(&state, row, tool)?;
        matches(&tag(&row, tool))?;
        let after = merged(gateway, &state, &row, &waiting, tool, decision)?;
        let changes = *tool.definition != after;
        let by = Changer {
            requester: by.requester,
            author: approving(&by.author, &row.import),
        };
        let what = json!({
            "change": "approve_imported",
            "import": row.import,
            "tool": row.tool,
            "conflicts": decision.conflicts,
            "choices": (!decision.choices.is_empty()).then_some(&decision.choices),
        });
        let tools = if changes {
            vec![(row.tool.clone(), Some(after))]
        } else {
            Vec::new()
        };
        let change = DefinitionChange {
            tools,
            imports: settled([(row, waiting)]),
            ..DefinitionChange::default()
        };
        let done = commit(gateway, &state, &by, AuditAction::Import, what, change).await?;
        if done.is_some() {
            return Ok(());
        }
    }
    Err(too_busy())
}

/// The author of a revision, with a note that says why it was made.
fn approving<'a>(author: &Author<'a>, import: &str) -> Author<'a> {
    Author {
        note: author
            .note
            .clone()
            .or_else(|| Some(format!("approves what the import {import} brought"))),
        ..*author
    }
}

/// Leaves the tool as it is, on the record; the next import is compared with what is rejected now.
///
/// # Errors
/// 404 when nothing waits; what `matches` says of its tag.
pub async fn reject(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    by: &Changer<'_>,
    tool: &str,
    matches: impl Fn(&str) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let row = gateway.store.import_operation(state.row.uid, tool).await?;
        let (row, waiting, tool) = waiting(&state, row, tool)?;
        matches(&tag(&row, tool))?;
        let what = json!({"change": "reject_imported", "import": row.import, "tool": row.tool});
        let change = DefinitionChange::of_imports(settled([(row, waiting)]));
        let done = commit(gateway, &state, by, AuditAction::Import, what, change).await?;
        if done.is_some() {
            return Ok(());
        }
    }
    Err(too_busy())
}

/// The operation of a tool with what waits.
fn waiting<'s>(
    state: &'s ProjectState,
    row: Option<ImportOperationRow>,
    name: &str,
) -> Result<(ImportOperationRow, WaitingRow, &'s Arc<CompiledTool>), Problem> {
    let shown: String = name.chars().take(128).collect();
    let none = || Problem::not_found(format!("change of the tool \"{shown}\" in the quarantine"));
    let mut row = row.ok_or_else(none)?;
    let waiting = row.waiting.take().ok_or_else(none)?;
    let tool = state.snapshot.tool(name).ok_or_else(none)?;
    Ok((row, waiting, tool))
}

/// What approving makes of the tool.
fn merged(
    gateway: &Gateway,
    state: &ProjectState,
    row: &ImportOperationRow,
    waiting: &WaitingRow,
    tool: &CompiledTool,
    decision: &ApproveChange,
) -> Result<ToolDefinition, Problem> {
    let sides = (&row.base, &*tool.definition, &waiting.definition);
    let conflicts: BTreeSet<String> = approved(sides.0, sides.1, sides.2, |_| None)
        .err()
        .into_iter()
        .flatten()
        .collect();
    let choices = choices(decision, &conflicts)?;
    let decide = |pointer: &str| choices.get(pointer).copied().or(decision.conflicts);
    let value = approved(sides.0, sides.1, sides.2, decide).map_err(undecided)?;
    let (definition, _) =
        with_context(gateway, state, |context| check_tool(&value, context)).map_err(invalid_definition)?;
    Ok(definition)
}

/// Single decisions by their places, each of which must be a conflict.
fn choices<'d>(
    decision: &'d ApproveChange,
    conflicts: &BTreeSet<String>,
) -> Result<BTreeMap<&'d str, MergeSide>, Problem> {
    let unknown = decision
        .choices
        .iter()
        .enumerate()
        .filter(|(_, choice)| !conflicts.contains(&choice.pointer));
    let faults: Vec<Diagnostic> = unknown
        .map(|(at, _)| {
            Diagnostic::error("nothing conflicts there")
                .hint("read the change again: `conflicts` names every place to decide")
                .at_pointer(format!("/choices/{at}/pointer"))
        })
        .collect();
    if !faults.is_empty() {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "A choice is about nothing that has to be decided; nothing was changed.",
        )
        .errors(faults));
    }
    Ok(decision
        .choices
        .iter()
        .map(|choice| (choice.pointer.as_str(), choice.take))
        .collect())
}

fn undecided(conflicts: Vec<String>) -> Problem {
    let faults = conflicts.into_iter().map(|pointer| {
        Diagnostic::error("the description and an edit here changed this in different ways")
            .hint("decide in `choices`, or with `conflicts` for all: \"ours\" or \"theirs\"")
            .at_pointer(pointer)
    });
    Problem::new(
        ErrorCode::MergeConflict,
        "A decision is needed; nothing was changed. `errors` names each place of the definition.",
    )
    .errors(faults.collect())
}

/// Nothing waits any more: what waited is what newer descriptions are compared with.
fn settled(decided: impl IntoIterator<Item = (ImportOperationRow, WaitingRow)>) -> ImportChange {
    let operations = decided.into_iter().map(|(row, waiting)| ImportOperationRow {
        base: waiting.definition,
        waiting: None,
        ..row
    });
    ImportChange {
        operations: operations.collect(),
        ..ImportChange::default()
    }
}

fn described(
    gateway: &Gateway,
    project: &ProjectState,
    row: &ImportOperationRow,
    waiting: &WaitingRow,
    ours: &ToolDefinition,
) -> QuarantinedChange {
    QuarantinedChange {
        import: row.import.clone(),
        tool: row.tool.to_string(),
        method: row.method.clone(),
        path: row.path.clone(),
        since: waiting.since,
        by: waiting.by.clone(),
        change: with_context(gateway, project, |context| {
            compare(&row.base, ours, &waiting.definition, context)
        }),
        notes: notes(ours, &waiting.definition),
        definitions: None,
    }
}

/// What a new definition hides from people, and the present one does not.
fn notes(ours: &ToolDefinition, theirs: &ToolDefinition) -> Vec<String> {
    let before = suspicions(&value(ours));
    let mut found = suspicions(&value(theirs));
    found.retain(|note| !before.contains(note));
    found
}

fn tag(row: &ImportOperationRow, tool: &CompiledTool) -> String {
    format!("v{}-{}", row.revision, tool.revision)
}
