//! The use case "what is available": the same decision as for calls, over all tools at once.

use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome};
use toolgate_api::calls::{ResolveRequest, ResolveResponse};
use toolgate_core::ids::CallId;
use toolgate_core::policy::decision::{Effect, state_or_undefined};
use toolgate_core::policy::groups;
use toolgate_store::rows::Opening;

use super::record::{self, Asker};
use super::world::ProjectState;
use crate::error::{ApiError, ApiResult};
use crate::state::App;

/// Answers which tools are available, and records that it was asked.
pub async fn resolve(
    app: &App,
    project: &ProjectState,
    asker: &Asker<'_>,
    request: &ResolveRequest,
) -> ApiResult<ResolveResponse> {
    let snapshot = &project.snapshot;
    let requested = groups::requested(request.group.as_deref());
    let state = state_or_undefined(request.state.as_deref());
    let answer = snapshot.resolve(asker.granted, request.group.as_deref(), request.state.as_deref());

    let id = CallId(app.clock.new_id());
    let mut record = record::decided(
        id,
        app.clock.now(),
        AuditAction::Resolve,
        asker,
        snapshot.version(),
    );
    record.requested_groups = requested.to_vec();
    state.clone_into(&mut record.state_before);
    let (outcome, code) = match &answer {
        Ok(_) => (AuditOutcome::Succeeded, None),
        Err(denial) => {
            record.missing_groups.clone_from(&denial.missing);
            (AuditOutcome::Denied, Some(ErrorCode::InsufficientToolGroups))
        }
    };
    app.metrics.decision(
        if code.is_none() {
            Effect::Allow
        } else {
            Effect::Deny
        },
        code,
    );
    let opening = Opening {
        project: project.row.uid,
        record: record::ended(record, outcome, code),
    };
    app.records
        .open(opening)
        .await
        .map_err(|error| record::audit_unavailable(app, &error))?;

    match answer {
        Ok(availability) => Ok(ResolveResponse {
            requested_groups: requested.to_vec(),
            granted_groups: asker.granted.to_vec(),
            state: state.to_owned(),
            available: availability.available(),
            filtered_by_group: availability.filtered_by_group(),
            filtered_by_state: availability.filtered_by_state(),
            unknown_groups: availability.unknown_groups.clone(),
        }),
        Err(denial) => Err(insufficient_groups(denial.missing).call_id(id)),
    }
}

/// The whole request is refused because it asks for more than its caller was granted.
pub fn insufficient_groups(missing: Vec<String>) -> ApiError {
    ApiError::new(
        ErrorCode::InsufficientToolGroups,
        format!(
            "Insufficient permissions for requested tool groups: {}. Ask for fewer groups, or ask an owner of the \
             project to grant them.",
            missing.join(", ")
        ),
    )
    .missing_groups(missing)
}
