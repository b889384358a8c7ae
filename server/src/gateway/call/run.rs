//! An admitted call: it is executed, its record is completed, and its answer takes shape.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use toolgate_api::audit::{AuditOutcome, Entrance};
use toolgate_api::calls::{CallError, CallResponse, CallStatus, StateChange};
use toolgate_api::sessions::CallSession;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::ExecutorKind;
use toolgate_core::ids::{CallId, ProjectUid, SessionId};
use toolgate_core::policy::decision::{moves_to, next_state};
use toolgate_core::snapshot::CompiledTool;
use toolgate_core::validation::{Effort, TooCostly};
use toolgate_executors::{Execution, Failure, Invocation};
use toolgate_store::StoreError;
use toolgate_store::rows::{Completion, IdempotencyKey, RecordSeq, SessionMove, Settlement};
use tracing::Span;

use super::complete;
use super::running::RunningCall;
use crate::gateway::artifacts::Keeper;
use crate::gateway::limits::Running;
use crate::gateway::load::InFlight;
use crate::gateway::observe::{self, Ended, Ticket};
use crate::gateway::record;
use crate::gateway::recorded::OpenRecord;
use crate::gateway::{Gateway, Problem};
use crate::telemetry::spans;

/// What the task that runs an admitted call needs.
pub(super) struct Run {
    pub(super) id: CallId,
    pub(super) project: ProjectUid,
    /// Who keeps what is too large for the answer, if the tool says that it is kept.
    pub(super) keeper: Option<Box<Keeper>>,
    pub(super) tool: Arc<CompiledTool>,
    pub(super) invocation: Invocation,
    pub(super) state: String,
    /// The session as it was when the call was admitted.
    pub(super) session: Option<CallSession>,
    pub(super) started: DateTime<Utc>,
    /// By which entrance it came.
    pub(super) entrance: Entrance,
    pub(super) idempotency: Option<IdempotencyKey>,
    /// Ends it.
    pub(super) cancelled: CancellationToken,
    /// Sent when the record is open.
    pub(super) admitted: Option<oneshot::Sender<()>>,
    pub(super) ticket: Ticket,
    /// Counts the call as running until its task ends.
    pub(super) _in_flight: InFlight,
    /// Its places in the limits on calls at the same time, until its task ends.
    pub(super) _running: Option<Running>,
}

/// Executes an admitted call once its record is open, completes the record, and shapes the answer. All it needs is in one
/// box, because what is waited for is moved with every layer around a call.
pub(super) async fn finish(
    gateway: Arc<Gateway>,
    run: Box<Run>,
    opened: impl Future<Output = Result<RecordSeq, StoreError>>,
) -> Result<Box<CallResponse>, Problem> {
    let opened = opened.await.map_err(|error| {
        spans::failed(&Span::current(), ErrorCode::AuditUnavailable.as_str());
        record::audit_unavailable(&gateway, &error)
    })?;
    if let Some(admitted) = run.admitted {
        let _gone = admitted.send(());
    }
    // Completes the record if what follows panics.
    let guard = OpenRecord::new(
        &gateway,
        (run.project, run.id, opened),
        run.started,
        run.state.clone(),
    );
    let kind = run.tool.definition.executor_kind();
    let running = RunningCall::new(&gateway, run.id, run.cancelled);
    let mut outcome = running
        .until_cancelled(gateway.executors.execute(run.invocation))
        .await;
    drop(running);
    if let (Ok(execution), Some(_)) = (&mut outcome, &run.tool.definition.output_schema) {
        Box::pin(compare(&gateway, &run.tool, execution)).await;
    }
    if let (Ok(execution), Some(keeper)) = (&mut outcome, run.keeper) {
        Box::pin(keeper.keep(&gateway, run.project, execution)).await;
    }
    let duration_ms = (gateway.clock.now() - run.started).num_milliseconds().max(0);
    let after = next_state(&run.tool, &run.state, outcome.is_ok());
    let step = run
        .session
        .as_ref()
        .and_then(|session| session_move(&gateway, &run.tool, run.id, session, outcome.is_ok()));
    let (usage, mut answer) = shape(
        run.id,
        StateChange {
            before: run.state.clone(),
            after: after.clone(),
        },
        duration_ms,
        outcome,
    );
    answer.session = run.session.map(|before| match &step {
        None => before,
        Some(step) => CallSession {
            state: step.to.clone(),
            version: step.expected_version + 1,
            ..before
        },
    });
    let code = answer.error.as_ref().map(|error| error.code);
    gateway.metrics.call(run.entrance, kind, code, duration_ms);
    if let Some(code) = code {
        spans::failed(&Span::current(), code.as_str());
    }

    guard.leave();
    let completed = complete(
        &gateway,
        Completion {
            project: run.project,
            id: run.id,
            record: opened,
            outcome: match code {
                None => AuditOutcome::Succeeded,
                Some(code) if is_refusal(code) => AuditOutcome::Denied,
                Some(_) => AuditOutcome::Failed,
            },
            code,
            state_before: run.state,
            state_after: after,
            duration_ms,
            usage,
            noted: answer.notes.as_deref().and_then(record::noted),
            settlement: run
                .idempotency
                .filter(|_| !code.is_some_and(is_refusal))
                .and_then(|key| settlement(key, &answer, step.is_some())),
            session: step,
        },
    );
    let state_conflict = completed.await?.state_conflict;
    if state_conflict {
        undo_move(&mut answer);
    }
    let end = Ended {
        tool: run.tool.name(),
        before: &answer.state.before,
        after: &answer.state.after,
        code,
        state_conflict,
        at: run.started + TimeDelta::milliseconds(duration_ms),
    };
    observe::ended(run.ticket, &end);
    match answer.error.take_if(|error| is_refusal(error.code)) {
        // Nothing was done: the same answer as from the decision, or to arguments that break the schema.
        Some(error) => Err(Problem::of_failure(error).call_id(run.id)),
        None => Ok(answer),
    }
}

/// Whether an executor fails with this before it does anything.
const fn is_refusal(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::InvalidArguments | ErrorCode::Forbidden)
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
fn undo_move(answer: &mut CallResponse) {
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
                }),
                state,
                session: None,
                duration_ms,
            },
        ),
    };
    (usage, Box::new(answer))
}
