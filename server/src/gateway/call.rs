//! The use case "call a tool": decide, record, execute, record, answer.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome, AuditRecord};
use toolgate_api::calls::{CallError, CallRequest, CallResponse, CallStatus, StateChange};
use toolgate_core::arguments::{self, Merged, TemplateContext};
use toolgate_core::ids::CallId;
use toolgate_core::policy::decision::{Decision, Effect, next_state};
use toolgate_core::redact;
use toolgate_core::snapshot::CompiledTool;
use toolgate_executors::{Execution, Failure, Invocation};
use toolgate_store::StoreError;
use toolgate_store::rows::{Completion, IdempotencyKey, Opening, Settlement};

use super::record::{self, Asker};
use super::resolve::insufficient_groups;
use super::world::ProjectState;
use crate::error::{ApiError, ApiResult};
use crate::state::App;

/// How long a completion is tried again before the caller is told that it could not be recorded.
const COMPLETION_PATIENCE: Duration = Duration::from_secs(10);

/// Decides about one call, records it, runs it and records how it ended.
///
/// From the opened record on the work goes on in a task of its own: a caller that goes away leaves no open record.
pub async fn call(
    app: &Arc<App>,
    project: &ProjectState,
    asker: &Asker<'_>,
    id: CallId,
    request: CallRequest,
    idempotency: Option<IdempotencyKey>,
) -> ApiResult<CallResponse> {
    let admitted = match admit(app, project, asker, id, &request) {
        Ok(admitted) => admitted,
        Err(refusal) => {
            app.metrics.decision(Effect::Deny, refusal.record.code);
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
    } = admitted;
    let started = record.at;
    let opening = Opening {
        project: project.row.uid,
        record,
    };
    app.records
        .open(opening)
        .await
        .map_err(|error| record::audit_unavailable(app, &error))?;

    let invocation = Invocation {
        call_id: id,
        project: project.row.id.clone(),
        definition: Arc::clone(&tool.definition),
        envs: Arc::clone(&tool.envs),
        arguments: merged.arguments,
    };
    let run = Run {
        id,
        project: project.row.uid,
        tool,
        invocation,
        state,
        started,
        idempotency,
    };
    match tokio::spawn(finish(Arc::clone(app), run)).await {
        Ok(answer) => answer,
        Err(panicked) => Err(ApiError::internal(&panicked)),
    }
}

/// A call that may run.
struct Admitted {
    tool: Arc<CompiledTool>,
    merged: Merged,
    record: AuditRecord,
    state: String,
}

/// A call that may not.
struct Refusal {
    record: AuditRecord,
    answer: ApiError,
}

/// Decides, and merges the arguments. Pure but for the clock.
fn admit(
    app: &App,
    project: &ProjectState,
    asker: &Asker<'_>,
    id: CallId,
    request: &CallRequest,
) -> Result<Admitted, Box<Refusal>> {
    let snapshot = &project.snapshot;
    let decision = snapshot.decide(
        asker.granted,
        request.group.as_deref(),
        request.state.as_deref(),
        &request.tool,
    );
    let mut record = record::decided(id, app.clock.now(), AuditAction::Call, asker, snapshot.version());
    record.tool = Some(request.tool.chars().take(128).collect());
    record.requested_groups.clone_from(&decision.requested);
    record.missing_groups.clone_from(&decision.missing);
    record.state_before.clone_from(&decision.state);
    record.context = request
        .context
        .as_ref()
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

    let context = TemplateContext::new(&project.row.id, request.context.as_ref());
    match arguments::merge(&tool, &request.arguments, &context) {
        Ok(merged) => {
            record.arguments = Some(redact::redact(&merged.arguments));
            record.provenance = serde_json::to_value(&merged.provenance)
                .ok()
                .and_then(record::non_empty);
            Ok(Admitted {
                tool,
                merged,
                record,
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
    project: toolgate_core::ids::ProjectUid,
    tool: Arc<CompiledTool>,
    invocation: Invocation,
    state: String,
    started: DateTime<Utc>,
    idempotency: Option<IdempotencyKey>,
}

/// Executes an admitted call, completes its record, and shapes the answer.
async fn finish(app: Arc<App>, run: Run) -> ApiResult<CallResponse> {
    let kind = crate::telemetry::executor_kind(&run.tool.definition);
    let outcome = app.executors.execute(run.invocation).await;
    let duration_ms = (app.clock.now() - run.started).num_milliseconds().max(0);
    let after = next_state(&run.tool, &run.state, outcome.is_ok());
    let (usage, answer) = shape(
        run.id,
        StateChange {
            before: run.state,
            after: after.clone(),
        },
        duration_ms,
        outcome,
    );
    let code = answer.error.as_ref().map(|error| error.code);
    app.metrics.call(kind, code, duration_ms);

    let completion = Completion {
        project: run.project,
        id: run.id,
        outcome: if code.is_none() {
            AuditOutcome::Succeeded
        } else {
            AuditOutcome::Failed
        },
        code,
        state_after: after,
        duration_ms,
        usage,
        settlement: run.idempotency.and_then(|key| {
            Some(Settlement {
                key,
                status: 200,
                body: serde_json::to_value(&answer).ok()?,
            })
        }),
    };
    complete(&app, completion).await?;
    Ok(answer)
}

fn shape(
    id: CallId,
    state: StateChange,
    duration_ms: i64,
    outcome: Result<Execution, Failure>,
) -> (Option<Value>, CallResponse) {
    match outcome {
        Ok(Execution { result, usage }) => (
            usage,
            CallResponse {
                call_id: id.0,
                status: CallStatus::Succeeded,
                result: Some(result),
                error: None,
                state,
                duration_ms,
            },
        ),
        Err(failure) => (
            None,
            CallResponse {
                call_id: id.0,
                status: CallStatus::Failed,
                result: None,
                error: Some(CallError {
                    code: failure.code,
                    message: failure.message,
                    retryable: failure.retryable,
                    retry_after_s: failure.retry_after_s,
                    upstream_status: failure.upstream_status,
                    upstream_message: failure.upstream_message,
                }),
                state,
                duration_ms,
            },
        ),
    }
}

/// Writes the completion, trying again while the database is away. The tool has run by now, so this must not give up
/// early; but a caller is never told of a success that is not in the record.
async fn complete(app: &App, completion: Completion) -> ApiResult<()> {
    let id = completion.id;
    let attempts = async {
        let mut pause = Duration::from_millis(20);
        loop {
            match app.records.complete(completion.clone()).await {
                Ok(()) => return Ok(()),
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
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            tracing::error!(call_id = %id, cause = %error, "the record was closed before its call ended");
            Err(unrecorded())
        }
        Err(_) => Err(unrecorded()),
    }
}
