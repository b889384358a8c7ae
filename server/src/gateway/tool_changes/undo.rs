//! Taking a change of many tools back: each becomes what it was, unless it was changed since.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use toolgate_api::tool_changes::{ToolChangeResult, ToolUndo, UndoneTool};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::{self, ToolDefinition};
use toolgate_core::ids::{ProjectId, ToolName};
use toolgate_core::tool_changes::MAX_TOOLS;
use toolgate_store::rows::RevisionRow;

use super::{Step, invalid, run};
use crate::gateway::change_record::Changer;
use crate::gateway::publish::{ATTEMPTS, current, invalid_definition, too_busy, turn, with_context};
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// Definitions that are checked before others get their turn.
const AT_ONCE: usize = 64;

/// Restores what a change has changed, tools that it deleted too, or with `dry_run` only says what that would do.
///
/// # Errors
/// 412 when one of the tools was changed since; 404 when a revision is not there; 422 when a definition refers to what is
/// there no longer.
pub async fn undo(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    by: &Changer<'_>,
    asked: &ToolUndo,
    dry_run: bool,
) -> Result<ToolChangeResult, Problem> {
    let wanted = wanted(asked)?;
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let last = untouched(gateway, &state, &wanted).await?;
        let steps = steps(gateway, &state, &wanted, &last).await?;
        if let Some(result) = run(gateway, &state, by, "undo_tools", steps, dry_run).await? {
            return Ok(result);
        }
    }
    Err(too_busy())
}

/// The tools to restore, by name.
fn wanted(asked: &ToolUndo) -> Result<Vec<(ToolName, &UndoneTool)>, Problem> {
    if asked.tools.is_empty() || asked.tools.len() > MAX_TOOLS {
        return Err(invalid(vec![
            Diagnostic::error(format!("has {} tools; write 1 to {MAX_TOOLS}", asked.tools.len()))
                .at_pointer("/undo/tools"),
        ]));
    }
    let mut faults = Vec::new();
    let mut seen = HashSet::new();
    let mut wanted = Vec::with_capacity(asked.tools.len());
    for (at, tool) in asked.tools.iter().enumerate() {
        let mut fault = |key: &str, message: &str| {
            faults.push(Diagnostic::error(message).at_pointer(format!("/undo/tools/{at}/{key}")));
        };
        if !seen.insert(tool.name.as_str()) {
            fault("name", "occurs twice");
        }
        if tool.revision < 1 {
            fault("revision", "revisions count from 1");
        }
        if tool.expect_revision.is_some_and(|revision| revision < 1) {
            fault("expect_revision", "revisions count from 1");
        }
        match ToolName::parse(tool.name.clone()) {
            Ok(name) => wanted.push((name, tool)),
            Err(_) => fault("name", "is not a name of a tool"),
        }
    }
    if !faults.is_empty() {
        return Err(invalid(faults));
    }
    wanted.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(wanted)
}

/// The last revision of each tool, if all of them are as the change left them.
async fn untouched(
    gateway: &Gateway,
    state: &ProjectState,
    wanted: &[(ToolName, &UndoneTool)],
) -> Result<HashMap<String, i64>, Problem> {
    let names: Vec<&ToolName> = wanted.iter().map(|(name, _)| name).collect();
    let last = gateway.store.last_revisions(state.row.uid, &names).await?;
    let stale: Vec<Diagnostic> = wanted
        .iter()
        .filter_map(|(name, tool)| {
            let found = state.snapshot.tool(name.as_str()).map(|tool| tool.revision);
            // A change that deleted it made the revision after the one to restore.
            let touched = match tool.expect_revision {
                None => last.get(name.as_str()) != Some(&tool.revision.saturating_add(1)),
                Some(_) => false,
            };
            let is = match found {
                Some(revision) => format!("is at revision {revision}"),
                None => "is deleted".to_owned(),
            };
            (touched || found != tool.expect_revision)
                .then(|| Diagnostic::error(format!("\"{name}\" {is}, and that is not what the change left")))
        })
        .collect();
    if stale.is_empty() {
        return Ok(last);
    }
    Err(Problem::new(
        ErrorCode::PreconditionFailed,
        "These tools have changed since; nothing was restored. Restore single revisions instead.",
    )
    .errors(stale))
}

/// What each tool is, and what it is to be again.
async fn steps(
    gateway: &Gateway,
    state: &ProjectState,
    wanted: &[(ToolName, &UndoneTool)],
    last: &HashMap<String, i64>,
) -> Result<Vec<Step>, Problem> {
    let numbers: Vec<(&ToolName, i64)> = wanted.iter().map(|(name, tool)| (name, tool.revision)).collect();
    let rows = gateway.store.numbered_revisions(state.row.uid, &numbers).await?;
    let mut rows: HashMap<ToolName, RevisionRow> =
        rows.into_iter().map(|row| (row.name.clone(), row)).collect();
    let mut faults = Vec::new();
    let mut steps = Vec::with_capacity(wanted.len());
    for (at, (name, tool)) in wanted.iter().enumerate() {
        if at % AT_ONCE == AT_ONCE - 1 {
            tokio::task::yield_now().await;
        }
        let row = rows
            .remove(name)
            .ok_or_else(|| Problem::not_found(format!("revision {} of tool \"{name}\"", tool.revision)))?;
        match row
            .definition
            .map(|stored| checked(gateway, state, &stored))
            .transpose()?
        {
            Some(Err(found)) => faults.extend(found.into_iter().map(|mut fault| {
                fault.message = format!("\"{name}\": {}", fault.message);
                fault
            })),
            after => steps.push(Step {
                name: name.clone(),
                before: state.snapshot.tool(name.as_str()).map(Arc::clone),
                last: last.get(name.as_str()).copied().unwrap_or_default(),
                after: after.and_then(Result::ok),
            }),
        }
    }
    if faults.is_empty() {
        Ok(steps)
    } else {
        Err(invalid_definition(faults))
    }
}

/// A stored definition, if what it refers to is still there.
fn checked(
    gateway: &Gateway,
    state: &ProjectState,
    stored: &ToolDefinition,
) -> Result<Result<ToolDefinition, Vec<Diagnostic>>, Problem> {
    let value = serde_json::to_value(stored).map_err(|error| Problem::internal(&error))?;
    Ok(with_context(gateway, state, |context| {
        definition::check_tool(&value, context).map(|(definition, _)| definition)
    }))
}
