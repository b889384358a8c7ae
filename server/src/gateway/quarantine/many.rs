//! Deciding several changes at once, in one transaction.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use toolgate_api::audit::AuditAction;
use toolgate_api::quarantine::{
    DecideChanges, DecidedChange, DecidedChanges, DecisionOutcome, QuarantineDecision, QuarantineSelection,
};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::{self, ToolDefinition, check_tool};
use toolgate_core::ids::{ProjectId, ToolName};
use toolgate_core::imports::approved;
use toolgate_core::snapshot::CompiledTool;
use toolgate_store::rows::{ImportOperationRow, WaitingRow};

use super::{Changer, approving, settled, tag, waiting};
use crate::gateway::Gateway;
use crate::gateway::Problem;
use crate::gateway::policy_tests;
use crate::gateway::publish::{
    ATTEMPTS, DefinitionChange, candidate, commit, current, invalid_definition, too_busy, turn, with_context,
};
use crate::gateway::server_snapshot::ProjectState;

/// Changes that are decided in one request.
const MOST: usize = 1_000;

/// A change that waits, with its tool.
struct Waits {
    row: ImportOperationRow,
    waiting: WaitingRow,
    tool: Arc<CompiledTool>,
}

/// What is to become of one of them.
struct Step {
    waits: Waits,
    item: DecidedChange,
    /// The tool as it becomes, when it becomes another.
    after: Option<ToolDefinition>,
}

/// Approves or rejects several changes on the record, or with `dry_run` only says what that would do; and the tag of what is
/// selected, another one when any of the changes or tools is another.
///
/// # Errors
/// 422 for a selection that is none; 404 when a named change does not wait; what `matches` says of the tag; what the policy
/// tests of the project refuse.
pub async fn decide(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    by: &Changer<'_>,
    asked: &DecideChanges,
    dry_run: bool,
    matches: impl Fn(&str) -> Result<(), Problem>,
) -> Result<(DecidedChanges, String), Problem> {
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let selected = select(gateway, &state, &asked.select).await?;
        let tag = tag_of(&selected);
        if !dry_run {
            matches(&tag)?;
        }
        // Comparing large definitions takes a while.
        let (of_app, of_state, of_asked) = (Arc::clone(gateway), Arc::clone(&state), asked.clone());
        let judge = move || steps(&of_app, &of_state, selected, &of_asked);
        let steps = tokio::task::spawn_blocking(judge)
            .await
            .map_err(|error| Problem::internal(&error))??;
        let tools: Vec<(ToolName, Option<ToolDefinition>)> = steps
            .iter()
            .filter_map(|step| Some((step.waits.row.tool.clone(), Some(step.after.clone()?))))
            .collect();
        let mut answer = DecidedChanges {
            dry_run,
            items: steps.iter().map(|step| step.item.clone()).collect(),
            policy_tests: None,
        };
        if dry_run {
            answer.policy_tests = (!state.policy_tests.is_empty()).then(|| {
                let candidate = candidate(gateway, &state, &by.author, &tools, &[]);
                policy_tests::wire_effects(policy_tests::effects(
                    gateway,
                    &gateway.snapshots.now(),
                    &state,
                    &candidate,
                ))
            });
            return Ok((answer, tag));
        }
        let what = what(asked, &steps);
        let by = Changer {
            requester: by.requester,
            author: approving(&by.author, &imports(&steps).join(", ")),
        };
        let decided = steps
            .into_iter()
            .filter(|step| step.item.outcome != DecisionOutcome::Waiting)
            .map(|step| (step.waits.row, step.waits.waiting));
        let imports = settled(decided);
        if imports.operations.is_empty() {
            return Ok((answer, tag));
        }
        let change = DefinitionChange {
            tools,
            imports,
            ..DefinitionChange::default()
        };
        let done = commit(gateway, &state, &by, AuditAction::Import, what, change).await?;
        if done.is_some() {
            return Ok((answer, tag));
        }
    }
    Err(too_busy())
}

/// The changes that are meant, by the names of their tools.
async fn select(
    gateway: &Gateway,
    state: &ProjectState,
    asked: &QuarantineSelection,
) -> Result<Vec<Waits>, Problem> {
    let rows = match (&asked.names, &asked.import) {
        (Some(names), None) => return named(gateway, state, names).await,
        (None, Some(import)) => {
            let most = u32::try_from(MOST).unwrap_or(u32::MAX);
            let uid = state.row.uid;
            let (rows, total) = gateway
                .store
                .waiting_operations(uid, Some(import), None, most)
                .await?;
            if total > u64::from(most) {
                return Err(invalid(
                    "/select/import",
                    &format!("{total} changes wait in it; at most {MOST} can be decided at once: name them"),
                ));
            }
            rows
        }
        _ => return Err(invalid("/select", "write either `names` or `import`")),
    };
    // There is nothing to decide about tools that were deleted.
    let waits = rows.into_iter().filter_map(|mut row| {
        let tool = Arc::clone(state.snapshot.tool(row.tool.as_str())?);
        let waiting = row.waiting.take()?;
        Some(Waits { row, waiting, tool })
    });
    Ok(waits.collect())
}

async fn named(gateway: &Gateway, state: &ProjectState, names: &[String]) -> Result<Vec<Waits>, Problem> {
    if names.is_empty() || names.len() > MOST {
        return Err(invalid(
            "/select/names",
            &format!("has {} names; write 1 to {MOST}", names.len()),
        ));
    }
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let row = gateway.store.import_operation(state.row.uid, name).await?;
        let (row, waiting, tool) = waiting(state, row, name)?;
        let tool = Arc::clone(tool);
        found.push(Waits { row, waiting, tool });
    }
    Ok(found)
}

fn tag_of(selected: &[Waits]) -> String {
    let mut digest = Sha256::new();
    for one in selected {
        digest.update(one.row.tool.as_str());
        digest.update([0]);
        digest.update(tag(&one.row, &one.tool));
        digest.update([0]);
    }
    let digest = digest.finalize();
    digest.iter().take(16).fold(String::from("q"), |mut text, byte| {
        // A `String` takes everything that is written to it.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn steps(
    gateway: &Gateway,
    state: &ProjectState,
    selected: Vec<Waits>,
    asked: &DecideChanges,
) -> Result<Vec<Step>, Problem> {
    selected
        .into_iter()
        .map(|waits| step(gateway, state, waits, asked))
        .collect()
}

fn step(
    gateway: &Gateway,
    state: &ProjectState,
    waits: Waits,
    asked: &DecideChanges,
) -> Result<Step, Problem> {
    let ours = &*waits.tool.definition;
    let merge = |decision| approved(&waits.row.base, ours, &waits.waiting.definition, |_| decision);
    let conflicts = merge(None).err().map_or(0, |conflicts| conflicts.len());
    let mut item = DecidedChange {
        tool: waits.row.tool.to_string(),
        import: waits.row.import.clone(),
        outcome: DecisionOutcome::Rejected,
        conflicts,
        revision: waits.tool.revision,
        diff: None,
    };
    let mut after = None;
    if asked.decision == QuarantineDecision::Approve {
        match merge(asked.conflicts) {
            Err(_) => item.outcome = DecisionOutcome::Waiting,
            Ok(value) => {
                item.outcome = DecisionOutcome::Approved;
                let (merged, _) = with_context(gateway, state, |context| check_tool(&value, context))
                    .map_err(|faults| invalid_definition(named_after(&item.tool, faults)))?;
                if merged != *ours {
                    item.revision += 1;
                    item.diff = Some(definition::diff(Some(ours), Some(&merged)));
                    after = Some(merged);
                }
            }
        }
    }
    Ok(Step { waits, item, after })
}

/// Faults of one of several definitions.
fn named_after(tool: &str, mut faults: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for fault in &mut faults {
        fault.message = format!("\"{tool}\": {}", fault.message);
    }
    faults
}

fn imports(steps: &[Step]) -> Vec<&str> {
    let mut imports: Vec<&str> = steps.iter().map(|step| step.item.import.as_str()).collect();
    imports.sort_unstable();
    imports.dedup();
    imports
}

/// For the record: the tools by what became of them.
fn what(asked: &DecideChanges, steps: &[Step]) -> Value {
    let tools = |outcome: DecisionOutcome| -> Vec<&str> {
        let of = steps.iter().filter(|step| step.item.outcome == outcome);
        of.map(|step| step.item.tool.as_str()).collect()
    };
    let (change, outcome) = match asked.decision {
        QuarantineDecision::Approve => ("approve_imported", DecisionOutcome::Approved),
        QuarantineDecision::Reject => ("reject_imported", DecisionOutcome::Rejected),
    };
    json!({
        "change": change,
        "imports": imports(steps),
        "tools": tools(outcome),
        "still_waiting": tools(DecisionOutcome::Waiting),
        "conflicts": asked.conflicts,
    })
}

fn invalid(pointer: &str, fault: &str) -> Problem {
    Problem::new(
        ErrorCode::InvalidRequest,
        "This cannot be decided so; nothing was changed. `errors` names the fault with its place.",
    )
    .errors(vec![Diagnostic::error(fault).at_pointer(pointer)])
}
