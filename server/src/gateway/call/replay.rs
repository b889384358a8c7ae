//! Giving the answer of an earlier call again, by its `Idempotency-Key`.

use serde_json::json;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome};
use toolgate_api::calls::CallRequest;
use toolgate_core::ids::{CallId, SessionId};
use toolgate_store::rows::Opening;

use super::admission::{Refusal, refusal};
use super::refuse;
use crate::gateway::record::{self, Requester};
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};
use crate::gateway::{load, recorded, sessions};

/// Decides whether a caller may have the answer of the call `earlier` again, and records that it has. Grant, tool and groups
/// are decided as for a new call. State and conditions are not: the earlier call may have moved the one, and the others
/// change by themselves, while the caller must learn what its call came to.
///
/// # Errors
/// The refusal that a new call would get; [`ErrorCode::AuditUnavailable`].
pub(super) async fn replay(
    gateway: &Gateway,
    project: &ProjectState,
    requester: &Requester<'_>,
    request: &CallRequest,
    earlier: CallId,
) -> Result<(), Problem> {
    let (id, now) = (CallId(gateway.clock.new_id()), gateway.clock.now());
    let mut group = request.group.clone();
    let mut state = request.state.clone();
    if let Some(session) = request.session_id {
        let row = gateway.store.session(project.row.uid, SessionId(session)).await?;
        let row = row.ok_or_else(|| sessions::not_found(session))?;
        group = group.or(row.groups);
        state = Some(row.state);
    }
    let evaluation = load::evaluation(project, now, requester.principal, request.context.as_ref());
    let snapshot = &project.snapshot;
    let (group, state) = (group.as_deref(), state.as_deref());
    let decision = snapshot.decide(requester.granted, group, state, &request.tool, &evaluation);

    let mut record = record::decided(id, now, AuditAction::Replay, requester, snapshot.version());
    record.tool = Some(request.tool.chars().take(128).collect());
    record.session_id = request.session_id;
    record.requested_groups.clone_from(&decision.requested);
    record.missing_groups.clone_from(&decision.missing);
    record.state_before.clone_from(&decision.state);
    match decision.code {
        None | Some(ErrorCode::GroupClosed | ErrorCode::ToolNotInState) => {
            record.arguments = Some(json!({"replay_of": earlier.0}));
            let opening = Opening {
                project: project.row.uid,
                record: record::ended(record, AuditOutcome::Succeeded, None),
            };
            recorded::write(gateway, opening).await
        }
        Some(code) => {
            record.action = AuditAction::Call;
            record.revision = decision.tool.as_ref().map(|tool| tool.revision);
            record.arguments = Some(record::arguments(
                project,
                decision.tool.as_deref(),
                &request.arguments,
            ));
            record::conceal(project, &mut record);
            let refusal = Refusal {
                record: record::ended(record, AuditOutcome::Denied, Some(code)),
                answer: refusal(requester, &decision, code).call_id(id),
            };
            Err(refuse(gateway, project, requester, Box::new(refusal)).await)
        }
    }
}
