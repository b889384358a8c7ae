//! A call by its id: its stage, its answer while that is stored, and ending it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout_at};
use toolgate_api::audit::{AuditAction, AuditOutcome, AuditRecord};
use toolgate_api::calls::{CallResponse, CallStage, CallState, CallStatus, StateChange};
use toolgate_core::ids::CallId;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::{Permission, PrincipalRef};

use crate::gateway::change_record;
use crate::gateway::entry::Entry;
use crate::gateway::recorded::recorded;
use crate::gateway::{Gateway, Problem};

/// How often a call that is waited for is looked at: it may run on another server.
const LOOK: Duration = Duration::from_millis(200);

/// The stage of a call of the caller; waits for its end, at most so long.
///
/// # Errors
/// 404 for a call that is not the caller's.
pub async fn state(
    gateway: &Gateway,
    entry: &Entry,
    id: CallId,
    wait: Duration,
) -> Result<CallState, Problem> {
    let until = Instant::now() + wait;
    loop {
        let record = own(gateway, entry, id).await?;
        if record.outcome != AuditOutcome::Open || timeout_at(until, sleep(LOOK)).await.is_err() {
            return state_of(gateway, entry, record).await;
        }
    }
}

/// The answer to a call that was admitted and runs.
///
/// # Errors
/// 404 for a call that is not the caller's.
pub async fn running(gateway: &Gateway, entry: &Entry, id: CallId) -> Result<CallResponse, Problem> {
    let record = own(gateway, entry, id).await?;
    Ok(CallResponse {
        call_id: record.id,
        status: CallStatus::Running,
        result: None,
        notes: None,
        error: None,
        state: StateChange {
            before: record.state_before.clone(),
            after: record.state_before,
        },
        session: None,
        duration_ms: (gateway.clock.now() - record.at).num_milliseconds().max(0),
    })
}

/// Cancels a running call: one of the caller's own, or with the permission to manage the policy any. One that has
/// ended stays as it is.
///
/// # Errors
/// 404 for a call that the caller may not end.
pub async fn cancel(gateway: &Arc<Gateway>, entry: &Entry, id: CallId) -> Result<CallState, Problem> {
    let record = find(gateway, entry, id).await?;
    if !is_own(entry, &record) && !entry.may(Permission::ManagePolicy) {
        return Err(not_found(id));
    }
    if record.outcome == AuditOutcome::Open {
        let row = &entry.project.row;
        let opening = change_record::opening(
            gateway,
            (row.uid, entry.project.snapshot.version()),
            &entry.requester(),
            AuditAction::Cancel,
            json!({"call": id.0, "tool": record.tool}),
        );
        let (task, project) = (Arc::clone(gateway), row.uid);
        recorded(gateway, vec![opening], async move {
            task.store.cancel_call(project, id, task.clock.now()).await?;
            task.running.end(id);
            Ok(())
        })
        .await?;
    }
    state_of(gateway, entry, record).await
}

/// Ends a request that an entrance named by an id of its own, on whichever server it runs. One that has ended stays as it is.
///
/// # Errors
/// When what is meant for other servers cannot be recorded or stored.
pub async fn cancel_named(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    name: CallId,
    what: Value,
) -> Result<(), Problem> {
    // The call's own record says that it was cancelled.
    if gateway.running.end(name) {
        return Ok(());
    }
    let project = entry.project.row.uid;
    let place = (project, entry.project.snapshot.version());
    let opening = change_record::opening(gateway, place, &entry.requester(), AuditAction::Cancel, what);
    let task = Arc::clone(gateway);
    recorded(gateway, vec![opening], async move {
        Ok(task.store.cancel_call(project, name, task.clock.now()).await?)
    })
    .await
}

async fn find(gateway: &Gateway, entry: &Entry, id: CallId) -> Result<AuditRecord, Problem> {
    let record = gateway.store.record(entry.project.row.uid, id).await?;
    record
        .filter(|record| record.action == AuditAction::Call)
        .ok_or_else(|| not_found(id))
}

async fn own(gateway: &Gateway, entry: &Entry, id: CallId) -> Result<AuditRecord, Problem> {
    let record = find(gateway, entry, id).await?;
    if is_own(entry, &record) {
        Ok(record)
    } else {
        Err(not_found(id))
    }
}

fn is_own(entry: &Entry, record: &AuditRecord) -> bool {
    let caller = PrincipalRef::from(&entry.caller.identity.principal);
    caller.kind == record.principal_kind && caller.id == record.principal_id
}

fn not_found(id: CallId) -> Problem {
    Problem::not_found(format!("call \"{}\"", id.0))
}

async fn state_of(gateway: &Gateway, entry: &Entry, record: AuditRecord) -> Result<CallState, Problem> {
    let status = match record.outcome {
        AuditOutcome::Open => CallStage::Running,
        AuditOutcome::Succeeded => CallStage::Succeeded,
        AuditOutcome::Failed => CallStage::Failed,
        AuditOutcome::Denied => CallStage::Denied,
        AuditOutcome::Interrupted => CallStage::Interrupted,
    };
    let ended = matches!(status, CallStage::Succeeded | CallStage::Failed);
    let kept = if ended && may_have_answer(entry, &record) {
        let (project, call) = (entry.project.row.uid, CallId(record.id));
        let now = gateway.clock.now();
        gateway
            .store
            .kept_answer(project, &record.principal_id, call, now)
            .await?
    } else {
        None
    };
    let (answer, answer_kept_until) = kept.map(|kept| (kept.body, kept.expires_at)).unzip();
    Ok(CallState {
        call_id: record.id,
        tool: record.tool.unwrap_or_default(),
        status,
        at: record.at,
        duration_ms: record.duration_ms,
        code: record.code,
        deferred_until: record.deferred_until,
        answer,
        answer_kept_until,
    })
}

/// As for an answer that is given again: its caller still holds the groups, and the tool still exists.
fn may_have_answer(entry: &Entry, record: &AuditRecord) -> bool {
    let tool = record.tool.as_deref().unwrap_or_default();
    let asked: GroupSet = record.requested_groups.iter().map(String::as_str).collect();
    is_own(entry, record)
        && entry.grant.groups.missing(&asked).is_empty()
        && entry.project.snapshot.tool(tool).is_some()
}
