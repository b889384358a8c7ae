//! The use case "change many tools at once", and taking such a change back. All or nothing, in one transaction, under the
//! same guards as an upload.

mod selection;
mod undo;

use std::sync::Arc;

use serde_json::Value;
use toolgate_api::audit::AuditAction;
use toolgate_api::tool_changes::{
    ToolChangeItem, ToolChangeOutcome, ToolChangeResult, ToolUndo, ToolUndoRequest, UndoneTool,
};
use toolgate_api::tools::DefinitionKind;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::names::MAX_GROUPS;
use toolgate_core::definition::{self, ToolDefinition};
use toolgate_core::ids::{ProjectId, ToolName};
use toolgate_core::snapshot::CompiledTool;
use toolgate_core::tool_changes as rules;

use super::change_record::Changer;
use super::policy_tests;
use super::publish::{self, ATTEMPTS, DefinitionChange, candidate, commit, current, too_busy, turn};
use super::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

pub use self::selection::ChangeRequest;
pub use self::undo::undo;

/// Changes tools, or with `dry_run` only says what that would do.
///
/// # Errors
/// 422 for a change that is none, and when two changes select the same tool; 404 when a named tool is not there; 409
/// `selection_changed` when another number of tools is selected than expected; what the policy tests of the project refuse.
pub async fn change(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    by: &Changer<'_>,
    asked: &[ChangeRequest<'_>],
    dry_run: bool,
) -> Result<ToolChangeResult, Problem> {
    let faults: Vec<Diagnostic> = asked.iter().flat_map(ChangeRequest::faults).collect();
    if !faults.is_empty() {
        return Err(invalid(faults));
    }
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let steps = selection::select(&state, asked)?
            .into_iter()
            .map(|(tool, change)| Step {
                name: tool.definition.name.clone(),
                last: tool.revision,
                after: rules::apply(change, &tool),
                before: Some(tool),
            })
            .collect::<Vec<_>>();
        let faults: Vec<Diagnostic> = steps.iter().filter_map(Step::fault).collect();
        if !faults.is_empty() {
            return Err(invalid(faults));
        }
        if let Some(result) = run(gateway, &state, by, "change_tools", steps, dry_run).await? {
            return Ok(result);
        }
    }
    Err(too_busy())
}

/// 422 for what no schema says.
fn invalid(faults: Vec<Diagnostic>) -> Problem {
    Problem::new(
        ErrorCode::InvalidRequest,
        "This cannot be changed so; nothing was changed. `errors` names each fault with its place.",
    )
    .errors(faults)
}

/// One tool on its way.
struct Step {
    name: ToolName,
    /// `None`: it is deleted now.
    before: Option<Arc<CompiledTool>>,
    /// Its last revision, which for a deleted tool is the one that deleted it.
    last: i64,
    /// `None`: it is not to be there.
    after: Option<ToolDefinition>,
}

impl Step {
    fn outcome(&self) -> ToolChangeOutcome {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) if before.definition.as_ref() == after => {
                ToolChangeOutcome::Unchanged
            }
            (Some(_), Some(_)) => ToolChangeOutcome::Changed,
            (Some(_), None) => ToolChangeOutcome::Deleted,
            (None, Some(_)) => ToolChangeOutcome::Restored,
            (None, None) => ToolChangeOutcome::Unchanged,
        }
    }

    /// What a definition may not have, however it came to have it.
    fn fault(&self) -> Option<Diagnostic> {
        let groups = self.after.as_ref()?.group.as_ref()?;
        (groups.len() > MAX_GROUPS && self.outcome() != ToolChangeOutcome::Unchanged).then(|| {
            Diagnostic::error(format!(
                "\"{}\" would be in {} groups; a tool is in at most {MAX_GROUPS}",
                self.name,
                groups.len()
            ))
        })
    }

    /// The revision afterwards: a change is committed only if no other was committed in between, so it is the next
    /// one.
    fn revision(&self) -> Option<i64> {
        match self.outcome() {
            ToolChangeOutcome::Unchanged => self.before.as_ref().map(|tool| tool.revision),
            ToolChangeOutcome::Deleted => None,
            ToolChangeOutcome::Changed | ToolChangeOutcome::Restored => Some(self.last + 1),
        }
    }

    fn item(&self) -> ToolChangeItem {
        let outcome = self.outcome();
        let before = self.before.as_ref().map(|tool| tool.definition.as_ref());
        ToolChangeItem {
            name: self.name.to_string(),
            outcome,
            revision: self.revision(),
            diff: (outcome != ToolChangeOutcome::Unchanged)
                .then(|| definition::diff(before, self.after.as_ref())),
        }
    }

    /// For the record.
    fn revised(&self) -> Value {
        let before = self.before.as_ref().map(|tool| tool.revision);
        publish::revised(DefinitionKind::Tool, self.name.as_str(), before, self.revision())
    }

    fn undone(&self) -> UndoneTool {
        UndoneTool {
            name: self.name.to_string(),
            revision: self.last,
            expect_revision: self.revision(),
        }
    }
}

/// Does it, or says what it would do; `None` when another change was committed in between and it must be computed
/// again.
async fn run(
    gateway: &Arc<Gateway>,
    state: &Arc<ProjectState>,
    by: &Changer<'_>,
    change: &str,
    steps: Vec<Step>,
    dry_run: bool,
) -> Result<Option<ToolChangeResult>, Problem> {
    let changed: Vec<&Step> = steps
        .iter()
        .filter(|step| step.outcome() != ToolChangeOutcome::Unchanged)
        .collect();
    let tools: Vec<(ToolName, Option<ToolDefinition>)> = changed
        .iter()
        .map(|step| (step.name.clone(), step.after.clone()))
        .collect();
    let (mut undo, mut tests) = (None, None);
    if dry_run {
        tests = (!state.policy_tests.is_empty()).then(|| {
            let candidate = candidate(gateway, state, &by.author, &tools, &[]);
            policy_tests::wire_effects(policy_tests::effects(
                gateway,
                &gateway.snapshots.now(),
                state,
                &candidate,
            ))
        });
    } else if !tools.is_empty() {
        let what = publish::changed(
            change,
            &by.author,
            changed.iter().map(|step| step.revised()).collect(),
        );
        let tools = DefinitionChange::of_tools(tools);
        let done = commit(gateway, state, by, AuditAction::Definition, what, tools).await?;
        if done.is_none() {
            return Ok(None);
        }
        let tools = changed.iter().map(|step| step.undone()).collect();
        undo = Some(ToolUndoRequest {
            undo: ToolUndo { tools },
        });
    }
    Ok(Some(ToolChangeResult {
        dry_run,
        count: steps.len(),
        items: steps.iter().map(Step::item).collect(),
        undo,
        policy_tests: tests,
    }))
}
