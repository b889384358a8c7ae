//! The end of a call: what is recorded and answered of its outcome, in whichever process it is known.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;
use toolgate_api::audit::AuditOutcome;
use toolgate_api::calls::{CallError, CallResponse, CallStatus, StateChange};
use toolgate_api::sessions::CallSession;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::ExecutorKind;
use toolgate_core::ids::{CallId, ProjectUid, SessionId};
use toolgate_core::policy::decision::{moves_to, next_state};
use toolgate_core::snapshot::CompiledTool;
use toolgate_core::validation::{Effort, TooCostly};
use toolgate_executors::{Execution, Failure};
use toolgate_store::rows::{Completion, IdempotencyKey, RecordSeq, SessionMove, Settlement};

use crate::gateway::Gateway;
use crate::gateway::artifacts::Keeper;
use crate::gateway::record;

/// What there is to know of a call when it ends.
pub(super) struct Ending<'a> {
    pub(super) id: CallId,
    pub(super) project: ProjectUid,
    /// Its open record.
    pub(super) record: RecordSeq,
    pub(super) tool: &'a CompiledTool,
    /// The state it was decided against.
    pub(super) state: String,
    /// The session as it was when the call was admitted.
    pub(super) session: Option<CallSession>,
    pub(super) started: DateTime<Utc>,
    /// Under which its answer is kept.
    pub(super) key: Option<IdempotencyKey>,
    /// Whether the call is deferred, so that another server may complete it.
    pub(super) deferred: bool,
}

impl Ending<'_> {
    /// The completion of the record, and the answer.
    pub(super) fn conclude(
        self,
        gateway: &Gateway,
        outcome: Result<Execution, Failure>,
    ) -> (Box<Completion>, Box<CallResponse>) {
        let now = gateway.clock.now();
        let duration_ms = (now - self.started).num_milliseconds().max(0);
        let after = next_state(self.tool, &self.state, outcome.is_ok());
        let step = self
            .session
            .as_ref()
            .and_then(|session| session_move(gateway, self.tool, self.id, session, outcome.is_ok()));
        let failure = outcome.as_ref().err().filter(|failure| !is_refusal(failure.code));
        let failure = failure.map(|failure| record::failure(gateway, self.project, self.tool, failure));
        let (usage, mut answer) = shape(
            self.id,
            StateChange {
                before: self.state.clone(),
                after: after.clone(),
            },
            duration_ms,
            outcome,
        );
        answer.session = self.session.map(|before| match &step {
            None => before,
            Some(step) => CallSession {
                state: step.to.clone(),
                version: step.expected_version + 1,
                ..before
            },
        });
        let code = answer.error.as_ref().map(|error| error.code);
        let mut noted = answer.notes.as_deref().and_then(record::noted);
        if failure.is_some() {
            noted.get_or_insert_default().failure = failure;
        }
        let completion = Box::new(Completion {
            project: self.project,
            id: self.id,
            record: self.record,
            outcome: match code {
                None => AuditOutcome::Succeeded,
                Some(code) if is_refusal(code) => AuditOutcome::Denied,
                Some(_) => AuditOutcome::Failed,
            },
            code,
            state_before: self.state,
            state_after: after,
            duration_ms,
            usage,
            noted,
            settlement: self
                .key
                .filter(|_| !code.is_some_and(is_refusal))
                .and_then(|key| settlement(key, &answer, step.is_some())),
            session: step,
            late: self.deferred.then_some(now),
        });
        (completion, answer)
    }
}

/// Whether an executor fails with this before it does anything.
pub(super) const fn is_refusal(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::InvalidArguments | ErrorCode::Forbidden)
}

/// Notes what of a result does not fit the schema of its tool, and keeps what is too large for the answer.
pub(super) async fn examine(
    gateway: &Gateway,
    project: ProjectUid,
    tool: &Arc<CompiledTool>,
    keeper: Option<Box<Keeper>>,
    execution: &mut Execution,
) {
    if tool.definition.output_schema.is_some() {
        compare(gateway, tool, execution).await;
    }
    if let Some(keeper) = keeper {
        keeper.keep(gateway, project, execution).await;
    }
}

/// The answer to keep for a repeated request.
fn settlement(key: IdempotencyKey, answer: &CallResponse, has_moved: bool) -> Option<Settlement> {
    let unmoved = || {
        let mut answer = answer.clone();
        undo_move(&mut answer);
        serde_json::to_string(&answer).ok()
    };
    Some(Settlement {
        key,
        status: 200,
        body: serde_json::to_string(answer).ok()?,
        body_on_conflict: has_moved.then(unmoved).flatten(),
    })
}

/// Notes what of a result does not fit the schema that its tool declares. The result is answered anyway: the tool has
/// already run.
async fn compare(gateway: &Gateway, tool: &Arc<CompiledTool>, execution: &mut Execution) {
    let Some(whole) = execution.whole() else { return };
    // An MCP server's schema is that of the structured part of its answer.
    let whole = match tool.definition.executor_kind() {
        ExecutorKind::Mcp => match whole.get("structuredContent") {
            Some(structured) => structured.clone(),
            None => {
                let warning =
                    "the MCP server declares an output schema and answered without structuredContent";
                execution.notes.get_or_insert_default().warnings = vec![Diagnostic::warning(warning)];
                return;
            }
        },
        _ => whole,
    };
    let warnings = match tool.output_faults(&whole, Effort::Quick) {
        Ok(warnings) => warnings,
        Err(TooCostly) => {
            let tool = Arc::clone(tool);
            let checked = gateway
                .checks
                .run(move || tool.output_faults(&whole, Effort::Thorough))
                .await;
            let unchecked = |_| {
                vec![Diagnostic::warning(
                    "the result was not checked against the tool's output_schema: other checks took too long",
                )]
            };
            checked.map_or_else(unchecked, Result::unwrap_or_default)
        }
    };
    if !warnings.is_empty() {
        tracing::warn!(
            tool = tool.name(),
            faults = warnings.len(),
            "a result does not fit its output_schema"
        );
        execution.notes.get_or_insert_default().warnings = warnings;
    }
}

/// The move that a success makes in its session, if its tool names a state.
fn session_move(
    gateway: &Gateway,
    tool: &CompiledTool,
    call: CallId,
    session: &CallSession,
    succeeded: bool,
) -> Option<SessionMove> {
    Some(SessionMove {
        session: SessionId(session.id),
        expected_version: session.version,
        to: moves_to(tool, succeeded)?.to_owned(),
        tool: tool.name().to_owned(),
        call,
        at: gateway.clock.now(),
    })
}

/// Makes it the answer for when the session had moved meanwhile: the result is valid, the move was not applied.
pub(super) fn undo_move(answer: &mut CallResponse) {
    answer.state.after.clone_from(&answer.state.before);
    if let Some(session) = &mut answer.session {
        session.state.clone_from(&answer.state.before);
        session.version -= 1;
        session.state_conflict = true;
    }
}

fn shape(
    id: CallId,
    state: StateChange,
    duration_ms: i64,
    outcome: Result<Execution, Failure>,
) -> (Option<Value>, Box<CallResponse>) {
    let (usage, answer) = match outcome {
        Ok(Execution {
            result,
            usage,
            notes,
            artifact: _,
        }) => (
            usage,
            CallResponse {
                call_id: id.0,
                status: CallStatus::Succeeded,
                result: Some(result),
                notes,
                error: None,
                state,
                session: None,
                duration_ms,
            },
        ),
        Err(failure) => (
            None,
            CallResponse {
                call_id: id.0,
                status: CallStatus::Failed,
                result: None,
                notes: None,
                error: Some(CallError {
                    code: failure.code,
                    message: failure.message,
                    retryable: failure.retryable,
                    retry_after_s: failure.retry_after_s,
                    upstream_status: failure.upstream_status,
                    upstream_message: failure.upstream_message,
                    upstream_answer: failure.upstream_answer,
                    remedy: failure.remedy,
                }),
                state,
                session: None,
                duration_ms,
            },
        ),
    };
    (usage, Box::new(answer))
}
