//! What there is of imports.

use std::sync::Arc;

use serde_json::json;
use toolgate_api::audit::AuditAction;
use toolgate_api::imports::{Import, ImportCounts, ImportOperation};
use toolgate_api::quarantine::{OperationChange, PropertyChange};
use toolgate_core::ids::ProjectId;
use toolgate_core::imports::{local_changes, value};
use toolgate_store::rows::{ImportChange, ImportOperationRow, ImportRow};

use super::hosts;
use crate::gateway::change_record::Changer;
use crate::gateway::publish::{ATTEMPTS, DefinitionChange, commit, current, too_busy, turn};
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// The imports of a project, by id.
pub async fn list(
    gateway: &Gateway,
    project: &ProjectState,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<Import>, Problem> {
    let limit = u32::try_from(limit).unwrap_or(u32::MAX);
    let rows = gateway.store.imports(project.row.uid, after, limit).await?;
    Ok(rows
        .into_iter()
        .map(|(row, counts)| wire(gateway, project, row, counts))
        .collect())
}

/// One import.
pub async fn get(gateway: &Gateway, project: &ProjectState, id: &str) -> Result<Import, Problem> {
    let found = gateway.store.import_counted(project.row.uid, id).await?;
    let (row, counts) = found.ok_or_else(|| not_found(id))?;
    Ok(wire(gateway, project, row, counts))
}

/// The operations of an import, by the names of their tools.
pub async fn operations(
    gateway: &Gateway,
    project: &ProjectState,
    id: &str,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<ImportOperation>, Problem> {
    let uid = project.row.uid;
    let limit = u32::try_from(limit).unwrap_or(u32::MAX);
    let rows = gateway
        .store
        .import_operations(uid, Some(id), after, limit)
        .await?;
    if rows.is_empty() && gateway.store.import_counted(uid, id).await?.is_none() {
        return Err(not_found(id));
    }
    Ok(rows.into_iter().map(|row| operation(project, row)).collect())
}

/// Removes an import, on the record; its tools stay.
///
/// # Errors
/// 404 without one; what `matches` says of its revision.
pub async fn delete(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    by: &Changer<'_>,
    id: &str,
    matches: impl Fn(i64) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let found = gateway.store.import_counted(state.row.uid, id).await?;
        let (row, counts) = found.ok_or_else(|| not_found(id))?;
        matches(row.revision)?;
        let change = ImportChange {
            remove: Some(id.to_owned()),
            ..ImportChange::default()
        };
        let what = json!({"change": "delete_import", "import": id, "version": row.version, "operations": counts.operations});
        let change = DefinitionChange::of_imports(change);
        let done = commit(gateway, &state, by, AuditAction::Import, what, change).await?;
        if done.is_some() {
            return Ok(());
        }
    }
    Err(too_busy())
}

/// How many operations are in which state.
pub(super) fn counts(rows: &[ImportOperationRow]) -> ImportCounts {
    let count = |of: fn(&ImportOperationRow) -> bool| {
        u32::try_from(rows.iter().filter(|row| of(row)).count()).unwrap_or(u32::MAX)
    };
    ImportCounts {
        operations: count(|_| true),
        waiting: count(|row| row.waiting.is_some()),
        gone: count(|row| row.gone_since.is_some()),
    }
}

/// An import as it travels.
pub(super) fn wire(
    gateway: &Gateway,
    project: &ProjectState,
    row: ImportRow,
    counts: ImportCounts,
) -> Import {
    Import {
        id: row.id,
        title: row.title,
        version: row.version,
        format: row.format,
        source: row.source,
        hosts: hosts(gateway, project, row.hosts),
        counts,
        revision: row.revision,
        created_at: row.created_at,
        created_by: row.created_by,
        imported_at: row.imported_at,
        imported_by: row.imported_by,
    }
}

fn operation(project: &ProjectState, row: ImportOperationRow) -> ImportOperation {
    let tool = project.snapshot.tool(row.tool.as_str());
    let edited = tool.map_or_else(Vec::new, |tool| {
        local_changes(&value(&row.base), &value(&tool.definition))
            .into_iter()
            .map(|change| change.pointer)
            .collect()
    });
    ImportOperation {
        method: row.method,
        path: row.path,
        tool: row.tool.to_string(),
        enabled: tool.map(|tool| tool.definition.enabled),
        edited,
        waiting_since: row.waiting.map(|waiting| waiting.since),
        gone_since: row.gone_since,
    }
}

/// Leaves only where something changed: an answer about thousands of operations would be too long with all values.
pub(super) fn places_only(change: &mut OperationChange) {
    let strip = |changes: &mut Vec<PropertyChange>| {
        for change in changes {
            change.before = None;
            change.after = None;
        }
    };
    strip(&mut change.upstream);
    strip(&mut change.local);
    for conflict in &mut change.conflicts {
        conflict.base = None;
        conflict.ours = None;
        conflict.theirs = None;
    }
    change.diff = None;
}

/// There is no such import.
pub fn not_found(id: &str) -> Problem {
    let shown: String = id.chars().take(64).collect();
    Problem::not_found(format!("import \"{shown}\""))
}
