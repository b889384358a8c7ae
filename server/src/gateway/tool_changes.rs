//! The use case "change many tools at once", and taking such a change back. All or nothing, in one transaction, under the
//! same guards as an upload.

mod undo;

use std::sync::Arc;

use toolgate_api::tool_changes::{
    ToolChangeItem, ToolChangeOutcome, ToolChangeResult, ToolChanges, ToolSelection, ToolUndo,
    ToolUndoRequest, UndoneTool,
};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::{self, ToolDefinition};
use toolgate_core::ids::{ProjectId, ToolName};
use toolgate_core::snapshot::CompiledTool;
use toolgate_core::tool_changes::{self as rules, MAX_TOOLS, Matcher};

use super::policy_tests;
use super::publish::{ATTEMPTS, Author, candidate, commit, current, too_busy, tool_not_found};
use super::world::ProjectState;
use crate::error::{ApiError, ApiResult};
use crate::state::App;

pub use self::undo::undo;

/// Changes the selected tools, or with `dry_run` only says what that would do.
///
/// # Errors
/// 422 for a change that is none; 404 when a named tool is not there; 409 `selection_changed` when another number of tools
/// is selected than expected; what the policy tests of the project refuse.
pub async fn change(
    app: &App,
    project: &ProjectId,
    author: &Author<'_>,
    asked: &ToolChanges,
    dry_run: bool,
) -> ApiResult<ToolChangeResult> {
    let faults = rules::check(&asked.change);
    if !faults.is_empty() {
        return Err(invalid(faults));
    }
    for _ in 0..ATTEMPTS {
        let state = current(app, project)?;
        let selected = select(&state, &asked.select)?;
        expect(asked.expect_count, selected.len())?;
        let steps = selected
            .into_iter()
            .map(|tool| Step {
                name: tool.definition.name.clone(),
                last: tool.revision,
                after: rules::apply(&asked.change, &tool),
                before: Some(tool),
            })
            .collect();
        if let Some(result) = run(app, &state, author, steps, dry_run).await? {
            return Ok(result);
        }
    }
    Err(too_busy())
}

/// The tools that are meant, by name.
fn select(state: &ProjectState, selection: &ToolSelection) -> ApiResult<Vec<Arc<CompiledTool>>> {
    match selection {
        ToolSelection::Names(names) => named(state, names),
        ToolSelection::Filter(filter) => {
            let matcher = Matcher::new(filter);
            let tools: Vec<_> = state
                .snapshot
                .tools()
                .iter()
                .filter(|tool| matcher.matches(tool))
                .cloned()
                .collect();
            if tools.len() > MAX_TOOLS {
                return Err(invalid(vec![
                    Diagnostic::error(format!(
                        "selects {} tools; at most {MAX_TOOLS} can be changed at once",
                        tools.len()
                    ))
                    .hint("select fewer, and change the rest afterwards")
                    .at_pointer("/select/filter"),
                ]));
            }
            Ok(tools)
        }
    }
}

/// Tools by their names, each once.
fn named(state: &ProjectState, names: &[String]) -> ApiResult<Vec<Arc<CompiledTool>>> {
    if names.is_empty() || names.len() > MAX_TOOLS {
        return Err(invalid(vec![
            Diagnostic::error(format!("has {} names; write 1 to {MAX_TOOLS}", names.len()))
                .at_pointer("/select/names"),
        ]));
    }
    let mut tools = Vec::with_capacity(names.len());
    let mut missing = Vec::new();
    for (at, name) in names.iter().enumerate() {
        match state.snapshot.tool(name) {
            Some(tool) => tools.push(Arc::clone(tool)),
            None => missing.push((at, name)),
        }
    }
    if let Some((_, first)) = missing.first() {
        let faults = missing.iter().map(|(at, _)| {
            Diagnostic::error("there is no such tool").at_pointer(format!("/select/names/{at}"))
        });
        return Err(tool_not_found(first).errors(faults.collect()));
    }
    tools.sort_by(|a, b| a.name().cmp(b.name()));
    tools.dedup_by(|a, b| a.name() == b.name());
    Ok(tools)
}

fn expect(expected: Option<u32>, found: usize) -> ApiResult<()> {
    match expected {
        Some(expected) if u32::try_from(found) != Ok(expected) => Err(ApiError::new(
            ErrorCode::SelectionChanged,
            format!(
                "{found} tools are selected, not the expected {expected}; nothing was changed. Look at the selection again."
            ),
        )),
        _ => Ok(()),
    }
}

/// 422 for what no schema says.
fn invalid(faults: Vec<Diagnostic>) -> ApiError {
    ApiError::new(
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

    /// The revision afterwards: a change is committed only if nobody was faster, so it is the next one.
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

    fn undone(&self) -> UndoneTool {
        UndoneTool {
            name: self.name.to_string(),
            revision: self.last,
            expect_revision: self.revision(),
        }
    }
}

/// Does it, or says what it would do; `None` when somebody was faster, and it is to be computed again.
async fn run(
    app: &App,
    state: &ProjectState,
    author: &Author<'_>,
    steps: Vec<Step>,
    dry_run: bool,
) -> ApiResult<Option<ToolChangeResult>> {
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
            let candidate = candidate(app, state, author, &tools, &[]);
            policy_tests::wire_effects(policy_tests::effects(app, &app.world.now(), state, &candidate))
        });
    } else if !tools.is_empty() {
        if commit(app, state, author, tools, Vec::new()).await?.is_none() {
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
