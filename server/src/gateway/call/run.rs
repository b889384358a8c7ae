//! An admitted call: it is executed, its record is completed, and its answer takes shape.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use toolgate_api::ErrorCode;
use toolgate_api::audit::Entrance;
use toolgate_api::calls::CallResponse;
use toolgate_api::sessions::CallSession;
use toolgate_core::ids::{CallId, ProjectUid};
use toolgate_core::snapshot::CompiledTool;
use toolgate_executors::Invocation;
use toolgate_store::StoreError;
use toolgate_store::rows::{IdempotencyKey, RecordSeq};
use tracing::Span;

use super::complete;
use super::deferral::Deferral;
use super::ending::{Ending, examine, is_refusal, undo_move};
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
    mut run: Box<Run>,
    opened: impl Future<Output = Result<RecordSeq, StoreError>>,
) -> Result<Box<CallResponse>, Problem> {
    let opened = opened.await.map_err(|error| {
        spans::failed(&Span::current(), ErrorCode::AuditUnavailable.as_str());
        record::audit_unavailable(&gateway, &error)
    })?;
    if let Some(admitted) = run.admitted.take() {
        let _gone = admitted.send(());
    }
    let kind = run.tool.definition.executor_kind();
    let deferral = kind.defers().then(|| Deferral::new(&gateway, &run, opened));
    // Completes the record if what follows panics.
    let mut guard = OpenRecord::new(
        &gateway,
        (run.project, run.id, opened),
        run.started,
        run.state.clone(),
    );
    if let Some(deferral) = &deferral {
        guard.unless(deferral.is_deferred());
        run.invocation.ledger = Some(Arc::<Deferral>::clone(deferral));
    }
    let asker = run.invocation.asker.clone();
    let running = RunningCall::new(&gateway, run.id, run.cancelled);
    let work = pin!(gateway.executors.execute(&mut run.invocation));
    let mut outcome = running.until_cancelled(work).await;
    drop(running);
    let is_examined = run.tool.definition.output_schema.is_some() || run.keeper.is_some();
    if let (Ok(execution), true) = (&mut outcome, is_examined) {
        Box::pin(examine(&gateway, run.project, &run.tool, run.keeper, execution)).await;
    }
    let deferral = deferral.filter(|deferral| deferral.is_deferred().load(Ordering::Relaxed));
    let ending = Ending {
        id: run.id,
        project: run.project,
        record: opened,
        tool: &run.tool,
        state: run.state,
        session: run.session,
        started: run.started,
        key: match &deferral {
            Some(deferral) => Some(deferral.key()),
            None => run.idempotency,
        },
        deferred: deferral.is_some(),
    };
    let (mut completion, mut answer) = ending.conclude(&gateway, outcome);
    let questions = asker.map(|asker| asker.asked()).unwrap_or_default();
    if !questions.is_empty() {
        completion.noted.get_or_insert_default().questions = questions;
    }
    let (code, duration_ms) = (completion.code, completion.duration_ms);
    if let Some(code) = code {
        spans::failed(&Span::current(), code.as_str());
    }

    guard.leave();
    let completed = match (complete(&gateway, completion).await, &deferral) {
        // Another server was first, or this one, when the report came again.
        (Err(problem), Some(deferral)) => return deferral.kept_answer().await.ok_or(problem),
        (completed, _) => completed,
    };
    gateway.metrics.call(run.entrance, kind, code, duration_ms);
    let state_conflict = completed?.state_conflict;
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
