//! Completes deferred calls, whichever server began them: by an answer that comes late, by a cancellation, or at the deadline.
//!
//! The server that waits for the answer mostly is first. A record takes one completion, so it does not matter which is.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use tokio::sync::mpsc;
use toolgate_api::ErrorCode;
use toolgate_api::calls::CallStatus;
use toolgate_core::ids::ProjectUid;
use toolgate_core::principal::PrincipalRef;
use toolgate_core::snapshot::{CompiledTool, ToolInput};
use toolgate_executors::{Bus, Execution, Failure, SecretSource, WorkerReport};
use toolgate_store::StoreError;
use toolgate_store::rows::{DeferredCall, OpenDeferral};

use super::deferral::Begun;
use super::ending::{Ending, examine};
use super::running::cancelled;
use crate::gateway::Gateway;
use crate::gateway::artifacts::Keeper;
use crate::gateway::cards::Kept;

/// How much later than the server that waits for the answer the others notice the deadline.
const GRACE: TimeDelta = TimeDelta::seconds(2);
/// When a report is looked at again: a call that waits for it completes by itself, and the database may be away.
const AGAIN: Duration = Duration::from_secs(1);

/// Completes the deferred calls that were cancelled or have reached their deadline, and has the bus deliver the reports of
/// the others.
///
/// # Errors
/// When the database does not answer, or the tool of a call cannot be read.
pub async fn complete_due(gateway: &Gateway) -> anyhow::Result<()> {
    // Before the question: a call that is deferred after it is not taken for completed.
    let waiting = gateway.running.deferred();
    let open = gateway.store.open_deferrals().await?;
    for call in waiting {
        if open.iter().all(|found| found.deferred.call != call) {
            // Completed elsewhere: what waits here for the answer finds it.
            gateway.running.end(call);
        }
    }
    let now = gateway.clock.now();
    let mut bus = gateway.bus.as_deref().filter(|bus| bus.is_connected());
    let mut all = Ok(());
    for OpenDeferral {
        deferred,
        cancelled: is_cancelled,
    } in open
    {
        // One that cannot be completed does not keep the others from it.
        if is_cancelled {
            all = complete(gateway, &deferred, Err(cancelled())).await.and(all);
        } else if deferred.until + GRACE <= now {
            all = complete(gateway, &deferred, Err(timeout())).await.and(all);
        } else if let Some(connected) = bus
            && let Err(failure) = follow(connected, &deferred).await
        {
            tracing::debug!(call = %deferred.call, "its report cannot be read yet: {}", failure.message);
            bus = None;
        }
    }
    all
}

async fn follow(bus: &Bus, deferred: &DeferredCall) -> Result<(), Failure> {
    let begun = begun(deferred).map_err(|error| Failure::misconfigured(error.to_string()))?;
    bus.follow_reports((deferred.project.0, &begun.project), &begun.awaited)
        .await
}

/// Completes deferred calls by the reports that the bus keeps, until the server has stopped.
pub async fn receive_reports(gateway: Arc<Gateway>, mut reports: mpsc::Receiver<WorkerReport>) {
    loop {
        let report = tokio::select! {
            () = gateway.shutdown.stopped() => return,
            report = reports.recv() => report,
        };
        let Some(report) = report else { return };
        match receive(&gateway, &report).await {
            Ok(true) => report.acknowledge().await,
            Ok(false) => report.again_in(AGAIN).await,
            Err(error) => {
                tracing::warn!(
                    cause = format!("{error:#}"),
                    "a report could not be handled yet; it is delivered again"
                );
                report.again_in(AGAIN).await;
            }
        }
    }
}

/// Completes the call of a report; whether the report is done with.
async fn receive(gateway: &Gateway, report: &WorkerReport) -> anyhow::Result<bool> {
    let Some(bus) = &gateway.bus else { return Ok(false) };
    let project = ProjectUid(report.project());
    let Some(call) = report.call() else {
        return Ok(true);
    };
    // What waits for it here has it too, and answers its caller sooner.
    if report.is_first_delivery() && gateway.running.is_deferred(call) {
        return Ok(false);
    }
    // Completed before, by this or another report, or at its deadline.
    let Some(deferred) = gateway.store.deferred_call(project, call).await? else {
        return Ok(true);
    };
    // The server that waits for it has it too, and answers its caller sooner.
    if report.is_first_delivery() {
        return Ok(false);
    }
    let begun = begun(&deferred)?;
    let outcome = bus
        .outcome(
            report,
            call,
            &begun.project,
            &begun.awaited,
            &Kept { gateway, project },
        )
        .await
        .map_err(|failure| anyhow::anyhow!("{}", failure.message))?;
    match outcome {
        Ok(outcome) => complete(gateway, &deferred, outcome).await?,
        Err(why) => tracing::warn!(%call, "a report was refused: {why}"),
    }
    Ok(true)
}

/// Completes a call, unless something else was first.
async fn complete(
    gateway: &Gateway,
    deferred: &DeferredCall,
    outcome: Result<Execution, Failure>,
) -> anyhow::Result<()> {
    let begun = begun(deferred)?;
    let tool = tool(gateway, deferred.project, &begun).await?;
    let snapshot = gateway.snapshots.now();
    let project = snapshot.project(begun.project.as_str());
    let project = project.filter(|project| project.row.uid == deferred.project);
    let secrets: Option<Arc<dyn SecretSource>> = project
        .filter(|project| !project.secrets.is_empty())
        .map(|project| project.secrets.source(begun.started));
    let mut outcome = gateway
        .executors
        .finish_late(&tool.definition, secrets.as_deref(), outcome);
    if let Ok(execution) = &mut outcome {
        let owner = || PrincipalRef {
            kind: begun.principal_kind,
            id: begun.principal_id.clone(),
        };
        let keeper = Keeper::for_owner(&tool, &begun.project, owner);
        examine(gateway, deferred.project, &tool, keeper, execution).await;
    }
    let ending = Ending {
        id: deferred.call,
        project: deferred.project,
        record: deferred.record,
        tool: &tool,
        state: begun.state.clone(),
        session: begun.session.clone(),
        started: begun.started,
        key: Some(begun.key(deferred.project)),
        deferred: true,
    };
    let (completion, answer) = ending.conclude(gateway, outcome);
    let (code, duration_ms) = (completion.code, completion.duration_ms);
    match gateway.records.complete(*completion).await {
        Ok(_) => {
            let kind = tool.definition.executor_kind();
            gateway.metrics.call(begun.entrance, kind, code, duration_ms);
            tracing::info!(
                call = %deferred.call,
                succeeded = answer.status == CallStatus::Succeeded,
                "a deferred call was completed"
            );
            Ok(())
        }
        Err(StoreError::NotFound { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn begun(deferred: &DeferredCall) -> anyhow::Result<Begun> {
    serde_json::from_str(&deferred.begun).map_err(|error| {
        anyhow::anyhow!(
            "what is stored of the deferred call {} cannot be read: {error}",
            deferred.call
        )
    })
}

/// The tool as it was when the call was admitted.
async fn tool(gateway: &Gateway, project: ProjectUid, begun: &Begun) -> anyhow::Result<Arc<CompiledTool>> {
    let snapshot = gateway.snapshots.now();
    let current = snapshot
        .project(begun.project.as_str())
        .filter(|state| state.row.uid == project)
        .and_then(|state| state.snapshot.tool(begun.tool.as_str()));
    if let Some(tool) = current.filter(|tool| tool.revision == begun.revision) {
        return Ok(Arc::clone(tool));
    }
    let row = gateway
        .store
        .revision(project, &begun.tool, begun.revision)
        .await?;
    let (row, definition) = row
        .and_then(|mut row| row.definition.take().map(|definition| (row, definition)))
        .ok_or_else(|| anyhow::anyhow!("there is no revision {} of \"{}\"", begun.revision, begun.tool))?;
    let input = ToolInput {
        definition,
        revision: row.revision,
        updated_at: row.created_at,
        updated_by: row.author,
    };
    Ok(Arc::new(CompiledTool::new(
        input,
        None,
        gateway.executors.executes(),
    )))
}

fn timeout() -> Failure {
    Failure::new(
        ErrorCode::Timeout,
        "no answer came in time; whether the tool acted is unknown",
    )
}
