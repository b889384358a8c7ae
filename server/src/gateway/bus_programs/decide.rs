//! Deciding about an announced descriptor that differs from the service, on the record.

use std::sync::Arc;

use serde_json::json;
use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditAction;
use toolgate_api::presence::{AnnouncerKind, DecideDescriptor, DescriptorDecision};
use toolgate_api::tools::DefinitionKind;
use toolgate_core::ids::ProjectId;
use toolgate_store::rows::ProgramKey;

use super::{not_found, waiting_descriptor};
use crate::gateway::change_record::{Changer, recorded};
use crate::gateway::publish::{
    ATTEMPTS, DefinitionChange, changed, commit, current, revised, too_busy, turn,
};
use crate::gateway::{Gateway, Problem};

/// Makes the service what was announced, or leaves it as it is.
///
/// # Errors
/// 404 when nothing was announced; 412 when the announcement is another one; 409 when nothing waits.
pub async fn decide(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    by: &Changer<'_>,
    id: &str,
    decided: &DecideDescriptor,
) -> Result<(), Problem> {
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let key = ProgramKey {
            project: state.row.uid,
            kind: AnnouncerKind::ToolService,
            name: id.to_owned(),
        };
        let row = gateway.store.announced_program(&key).await?;
        let row = row.ok_or_else(|| not_found(id))?;
        if row.digest != decided.digest {
            return Err(Problem::new(
                ErrorCode::PreconditionFailed,
                "The service has announced something else since it was read; nothing was changed. Read it again.",
            ));
        }
        let Some(waiting) = waiting_descriptor(gateway, &state, &row) else {
            return Err(Problem::new(
                ErrorCode::Conflict,
                "No descriptor of this service waits for a decision; nothing was changed.",
            ));
        };
        let settled = {
            let (gateway, base) = (Arc::clone(gateway), row.descriptor.clone());
            async move {
                gateway
                    .store
                    .settle_announcement(&row.key, &row.digest, &row.problems, base.as_ref())
                    .await?;
                Ok::<_, Problem>(())
            }
        };
        let done = match decided.decision {
            DescriptorDecision::Approve => {
                let before = state.snapshot.service_revision(id);
                let after = before.map(|revision| revision + 1);
                let what = revised(DefinitionKind::ToolService, id, before, after);
                let what = changed("approve_descriptor", &by.author, vec![what]);
                let change = DefinitionChange {
                    services: vec![waiting.service],
                    ..DefinitionChange::default()
                };
                let done = commit(gateway, &state, by, AuditAction::Definition, what, change).await?;
                if done.is_some() {
                    settled.await?;
                }
                done.map(drop)
            }
            DescriptorDecision::Reject => {
                let what = json!({"change": "reject_descriptor", "tool_service": id, "note": by.author.note});
                let settled = async move { settled.await.map(Some) };
                recorded(
                    gateway,
                    &state,
                    &by.requester,
                    AuditAction::Definition,
                    what,
                    settled,
                )
                .await?
            }
        };
        if done.is_some() {
            return Ok(());
        }
    }
    Err(too_busy())
}
