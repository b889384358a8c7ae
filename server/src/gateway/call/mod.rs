//! The use case "call a tool": decide, record, execute, record, answer.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome, AuditRecord};
use toolgate_api::calls::{CallError, CallRequest, CallResponse, CallStatus, StateChange};
use toolgate_api::sessions::CallSession;
use toolgate_core::arguments::{self, Merged, TemplateContext};
use toolgate_core::ids::{CallId, SessionId};
use toolgate_core::policy::decision::{Decision, Effect, moves_to, next_state};
use toolgate_core::redact;
use toolgate_core::snapshot::CompiledTool;
use toolgate_executors::{Execution, Failure, Invocation};
use toolgate_store::StoreError;
use toolgate_store::rows::{
    Completed, Completion, IdempotencyKey, Opening, RecordSeq, SessionMove, Settlement,
};
use tracing::{Instrument, Span};
use uuid::Uuid;

use super::artifacts::Keeper;
use super::enduring::Enduring;
use super::limits::{self, Running};
use super::load::{self, InFlight};
use super::observe::{self, Ended, Observed, Ticket};
use super::record::{self, Asker};
use super::resolve::insufficient_groups;
use super::sessions::{self, Entered, Turned};
use super::world::ProjectState;
use crate::error::{ApiError, ApiResult};
use crate::state::App;
use crate::telemetry::spans;

/// How long a completion is tried again before the caller is told that it could not be recorded.
const COMPLETION_PATIENCE: Duration = Duration::from_secs(10);

/// Decides about one call, records it, runs it and records how it ended.
///
/// From the opened record on the work goes on whoever goes away: a caller that does leaves no open record.
pub async fn call(
    app: &Arc<App>,
    project: &ProjectState,
    asker: &Asker<'_>,
    id: CallId,
    request: CallRequest,
    idempotency: Option<IdempotencyKey>,
) -> ApiResult<CallResponse> {
    let session = match request.session_id {
        None => None,
        Some(session) => Some(Box::pin(enter(app, project, asker, session, &request)).await?),
    };
    let admitted = match admit(app, project, asker, id, &request, session) {
        Ok(admitted) => admitted,
        Err(refusal) => {
            app.metrics.decision(Effect::Deny, refusal.record.code);
            observe::observed(app, &Observed::of_record(project, asker, &refusal.record));
            let opening = Opening {
                project: project.row.uid,
                record: refusal.record,
            };
            app.records
                .open(opening)
                .await
                .map_err(|error| record::audit_unavailable(app, &error))?;
            return Err(refusal.answer);
        }
    };
    app.metrics.decision(Effect::Allow, None);

    let Admitted {
        tool,
        merged,
        record,
        state,
        session,
        in_state_since,
        running,
    } = admitted;
    let seen = Observed::of_record(project, asker, &record);
    let ticket = observe::observed(app, &seen).in_state_since(in_state_since);
    let started = record.at;
    let in_flight = project.load.enter(started);
    let opening = Opening {
        project: project.row.uid,
        record,
    };
    let opened = app
        .records
        .open(opening)
        .await
        .map_err(|error| record::audit_unavailable(app, &error))?;

    let span = spans::call(project.row.id.as_str(), tool.name(), &id);
    let invocation = Invocation {
        call_id: id,
        project: project.row.id.clone(),
        definition: Arc::clone(&tool.definition),
        envs: Arc::clone(&tool.envs),
        secrets: (!project.secrets.is_empty()).then(|| project.secrets.source(started)),
        egress: project.egress.origins(),
        arguments: merged.arguments,
        trace: spans::outgoing(&span, asker.trace),
    };
    let run = Run {
        id,
        record: opened,
        project: project.row.uid,
        keeper: Keeper::of(&tool, &project.row.id, asker.principal),
        tool,
        invocation,
        state,
        session,
        started,
        idempotency,
        ticket,
        _in_flight: in_flight,
        _running: running,
    };
    Enduring::new(finish(Arc::clone(app), run).instrument(span)).await
}

/// A call that may run.
struct Admitted {
    tool: Arc<CompiledTool>,
    merged: Merged,
    record: AuditRecord,
    state: String,
    session: Option<CallSession>,
    /// Since when the session is in its state.
    in_state_since: Option<DateTime<Utc>>,
    running: Option<Running>,
}

/// A call that may not.
struct Refusal {
    record: AuditRecord,
    answer: ApiError,
}

/// What [`sessions::enter`] came to.
type Entry = Result<Box<Entered>, Box<Turned>>;

/// Reads the session that a call names.
async fn enter(
    app: &App,
    project: &ProjectState,
    asker: &Asker<'_>,
    session: Uuid,
    request: &CallRequest,
) -> ApiResult<Entry> {
    let group = request.group.clone();
    let entered = sessions::enter(app, project, asker, session, group, request.context.as_ref()).await?;
    Ok(entered.map(Box::new))
}

/// Decides, merges the arguments, and counts the call in the limits that apply to it.
fn admit(
    app: &App,
    project: &ProjectState,
    asker: &Asker<'_>,
    id: CallId,
    request: &CallRequest,
    session: Option<Entry>,
) -> Result<Admitted, Box<Refusal>> {
    let snapshot = &project.snapshot;
    let now = app.clock.now();
    let mut record = record::decided(id, now, AuditAction::Call, asker, snapshot.version());
    record.tool = Some(request.tool.chars().take(128).collect());
    let entered = match session.transpose() {
        Ok(entered) => entered,
        Err(turned) => {
            record.arguments = Some(redact::redact(&request.arguments));
            let record = turned.record(record);
            let answer = turned.answer(id);
            return Err(Box::new(Refusal { record, answer }));
        }
    };
    let (group, state, context) = match &entered {
        None => (
            request.group.as_deref(),
            request.state.as_deref(),
            request.context.as_ref(),
        ),
        Some(session) => (
            session.groups.as_deref(),
            Some(session.row.state.as_str()),
            session.context.as_ref(),
        ),
    };
    let decision = snapshot.decide(
        asker.granted,
        group,
        state,
        &request.tool,
        &load::moment(project, now, asker.principal, context),
    );
    record.session_id = request.session_id;
    record.requested_groups.clone_from(&decision.requested);
    record.missing_groups.clone_from(&decision.missing);
    record.state_before.clone_from(&decision.state);
    record.context = context
        .and_then(|context| serde_json::to_value(context).ok())
        .and_then(record::non_empty);
    record.revision = decision.tool.as_ref().map(|tool| tool.revision);

    let tool = match (&decision.effect, &decision.tool) {
        (Effect::Allow, Some(tool)) => Arc::clone(tool),
        _ => {
            record.arguments = Some(redact::redact(&request.arguments));
            let code = decision.code.unwrap_or(ErrorCode::ToolNotFound);
            let record = record::ended(record, AuditOutcome::Denied, Some(code));
            return Err(Box::new(Refusal {
                record,
                answer: refusal(&decision, code).call_id(id),
            }));
        }
    };

    let context = TemplateContext::new(&project.row.id, context);
    match arguments::merge(&tool, &request.arguments, &context) {
        Ok(merged) => {
            record.arguments = Some(redact::redact(&merged.arguments));
            record.provenance = serde_json::to_value(&merged.provenance)
                .ok()
                .and_then(record::non_empty);
            let running = match limits::admit(app, project, asker.principal, Some(&tool), now) {
                Ok(running) => running,
                Err(exceeded) => {
                    let record = record::ended(record, AuditOutcome::Denied, Some(exceeded.code()));
                    let answer = exceeded.answer().call_id(id);
                    return Err(Box::new(Refusal { record, answer }));
                }
            };
            Ok(Admitted {
                running,
                tool,
                merged,
                record,
                in_state_since: entered.as_ref().map(|session| session.row.moved_at),
                session: entered.map(|session| CallSession {
                    id: session.row.id.0,
                    state: session.row.state,
                    version: session.row.version,
                    state_conflict: false,
                }),
                state: decision.state,
            })
        }
        Err(errors) => {
            record.arguments = Some(redact::redact(&request.arguments));
            let record = record::ended(record, AuditOutcome::Denied, Some(ErrorCode::InvalidArguments));
            let answer = ApiError::new(
                ErrorCode::InvalidArguments,
                format!(
                    "The arguments do not fit the parameters of \"{}\"; `errors` names every fault.",
                    request.tool
                ),
            )
            .errors(errors)
            .call_id(id);
            Err(Box::new(Refusal { record, answer }))
        }
    }
}

fn refusal(decision: &Decision, code: ErrorCode) -> ApiError {
    if code == ErrorCode::InsufficientToolGroups {
        insufficient_groups(decision.missing.clone())
    } else {
        ApiError::new(code, decision.explain())
    }
}

/// What the task that runs an admitted call needs.
struct Run {
    id: CallId,
    record: RecordSeq,
    project: toolgate_core::ids::ProjectUid,
    /// Who keeps what is too large for the answer, if the tool says that it is kept.
    keeper: Option<Box<Keeper>>,
    tool: Arc<CompiledTool>,
    invocation: Invocation,
    state: String,
    /// The session as it was when the call was admitted.
    session: Option<CallSession>,
    started: DateTime<Utc>,
    idempotency: Option<IdempotencyKey>,
    ticket: Ticket,
    /// Counts the call as running until its task ends.
    _in_flight: InFlight,
    /// Its places in the limits on calls at the same time, until its task ends.
    _running: Option<Running>,
}

/// Executes an admitted call, completes its record, and shapes the answer.
async fn finish(app: Arc<App>, run: Run) -> ApiResult<CallResponse> {
    let kind = crate::telemetry::executor_kind(&run.tool.definition);
    let mut outcome = app.executors.execute(run.invocation).await;
    if let (Ok(execution), Some(_)) = (&mut outcome, &run.tool.definition.output_schema) {
        compare(&run.tool, execution);
    }
    if let (Ok(execution), Some(keeper)) = (&mut outcome, run.keeper) {
        Box::pin(keeper.keep(&app, run.project, execution)).await;
    }
    let duration_ms = (app.clock.now() - run.started).num_milliseconds().max(0);
    let after = next_state(&run.tool, &run.state, outcome.is_ok());
    let step = run
        .session
        .as_ref()
        .and_then(|session| session_move(&app, &run.tool, run.id, session, outcome.is_ok()));
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
    app.metrics.call(kind, code, duration_ms);
    if let Some(code) = code {
        spans::failed(&Span::current(), code.as_str());
    }

    let completion = Completion {
        project: run.project,
        id: run.id,
        record: run.record,
        outcome: if code.is_none() {
            AuditOutcome::Succeeded
        } else {
            AuditOutcome::Failed
        },
        code,
        state_before: run.state,
        state_after: after,
        duration_ms,
        usage,
        noted: answer.notes.as_deref().and_then(record::noted),
        settlement: run.idempotency.and_then(|key| {
            Some(Settlement {
                key,
                status: 200,
                body: serde_json::to_string(&answer).ok()?,
                body_on_conflict: step
                    .as_ref()
                    .and_then(|_| serde_json::to_string(&without_move(answer.clone())).ok()),
            })
        }),
        session: step,
    };
    let state_conflict = complete(&app, completion).await?.state_conflict;
    if state_conflict {
        answer = without_move(answer);
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
    Ok(answer)
}

/// Notes what of a result does not fit the schema that its tool declares. The result stands: the tool did what it did.
fn compare(tool: &CompiledTool, execution: &mut Execution) {
    let Some(whole) = execution.whole() else { return };
    let warnings = tool.output_faults(&whole);
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
    app: &App,
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
        at: app.clock.now(),
    })
}

/// The answer when the session had moved meanwhile: the result stands, the move was not applied.
fn without_move(mut answer: CallResponse) -> CallResponse {
    answer.state.after.clone_from(&answer.state.before);
    if let Some(session) = &mut answer.session {
        session.state.clone_from(&answer.state.before);
        session.version -= 1;
        session.state_conflict = true;
    }
    answer
}

fn shape(
    id: CallId,
    state: StateChange,
    duration_ms: i64,
    outcome: Result<Execution, Failure>,
) -> (Option<Value>, CallResponse) {
    match outcome {
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
    }
}

/// Writes the completion, trying again while the database is away. The tool has run by now, so this must not give up
/// early; but a caller is never told of a success that is not in the record.
pub(super) async fn complete(app: &App, completion: Completion) -> ApiResult<Completed> {
    let id = completion.id;
    let attempts = async {
        let mut pause = Duration::from_millis(20);
        loop {
            match app.records.complete(completion.clone()).await {
                Ok(completed) => return Ok(completed),
                // Another process believed this one dead and closed the record; that stands.
                Err(error @ StoreError::NotFound { .. }) => return Err(error),
                Err(error) => {
                    tracing::error!(call_id = %id, cause = %error, "the completion could not be recorded; trying again");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(1));
                }
            }
        }
    };
    let unrecorded = || {
        app.metrics.audit_failure();
        ApiError::new(
            ErrorCode::AuditUnavailable,
            "The tool ran, but its completion could not be recorded. Look at the tool's effects before you repeat \
             the call.",
        )
        .final_()
        .call_id(id)
    };
    match tokio::time::timeout(COMPLETION_PATIENCE, attempts).await {
        Ok(Ok(completed)) => Ok(completed),
        Ok(Err(error)) => {
            tracing::error!(call_id = %id, cause = %error, "the record was closed before its call ended");
            Err(unrecorded())
        }
        Err(_) => Err(unrecorded()),
    }
}
