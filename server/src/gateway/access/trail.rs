//! Changes of access on the record: opened before, completed after, and the attempts that were refused.

use std::sync::Arc;

use serde_json::Value;
use toolgate_api::audit::{AuditAction, AuditOutcome};
use toolgate_core::ids::CallId;
use toolgate_store::rows::Opening;

use super::{Actor, Place};
use crate::gateway::recorded::{self, recorded_as};
use crate::gateway::{Gateway, Problem};
use crate::gateway::{change_record, record};

/// The record of a change that is about to be made.
#[must_use]
pub fn opening(gateway: &Gateway, place: &Place, actor: Actor<'_>, what: &Value) -> Opening {
    let project = (place.project.row.uid, place.project.snapshot.version());
    change_record::opening(
        gateway,
        project,
        &place.requester(actor),
        AuditAction::Access,
        what.clone(),
    )
}

/// The record of a change that is about to be made on the server itself: of users, who belong to no project.
#[must_use]
pub fn server_opening(gateway: &Gateway, actor: Actor<'_>, what: &Value) -> Opening {
    change_record::server_opening(gateway, actor, AuditAction::Access, what.clone())
}

/// Makes a change between the opening and the completion of its records, and loads it here; nothing is changed when a record
/// cannot be opened.
pub fn carry_out<T: Send + 'static>(
    gateway: &Arc<Gateway>,
    openings: Vec<Opening>,
    work: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> impl Future<Output = Result<T, Problem>> + Send {
    let task = Arc::clone(gateway);
    let loading = async move {
        let done = work.await;
        // Effective here before anything else can go wrong; other servers look by themselves.
        let loaded = task.snapshots.refresh().await;
        (done, loaded)
    };
    let code = |(done, _): &(Result<T, Problem>, _)| done.as_ref().err().map(Problem::code);
    let ended = recorded_as(gateway, openings, loading, code);
    async move {
        let (done, loaded) = ended.await?;
        let value = done?;
        loaded?;
        Ok(value)
    }
}

/// Records an attempt that was refused, and gives the refusal back for the answer.
pub async fn refused(gateway: &Gateway, opening: Opening, refusal: Problem) -> Result<Problem, Problem> {
    let Opening { project, mut record } = opening;
    let id = CallId(record.id);
    record.missing_groups = refusal.groups_missing().to_vec();
    let record = record::ended(record, AuditOutcome::Denied, Some(refusal.code()));
    recorded::write(gateway, Opening { project, record }).await?;
    Ok(refusal.call_id(id))
}
