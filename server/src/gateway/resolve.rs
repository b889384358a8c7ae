//! The use case "what is available": the same decision as for calls, over all tools at once.

use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditAction;
use toolgate_api::calls::{ResolveRequest, ResolveResponse};

use super::available::{self, Question};
use super::record::Asker;
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
    let question = Question {
        action: AuditAction::Resolve,
        group: request.group.clone(),
        state: request.state.as_deref(),
        session_id: request.session_id,
        context: request.context.as_ref(),
        arguments: None,
    };
    let (asked, opening) = available::ask(app, project, asker, question).await?;
    available::answered(app, opening).await?;
    let availability = asked.availability;
    Ok(ResolveResponse {
        requested_groups: availability.requested.clone(),
        granted_groups: asker.granted.to_vec(),
        state: availability.state.clone(),
        available: availability.available(),
        filtered_by_group: availability.filtered_by_group(),
        filtered_by_state: availability.filtered_by_state(),
        filtered_by_condition: availability.filtered_by_condition(),
        closed_groups: availability
            .closed_groups
            .iter()
            .map(|closed| closed.group.clone())
            .collect(),
        unknown_groups: availability.unknown_groups.clone(),
    })
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
