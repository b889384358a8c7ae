//! The use case "what is available": the same decision as for calls, over all tools at once.

use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditAction;
use toolgate_api::calls::{ResolveRequest, ResolveResponse};
use toolgate_core::snapshot::Availability;

use super::available::{self, Question};
use super::record::Requester;
use super::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem, bounds};

/// Answers which tools are available, and records that it was asked.
pub async fn resolve(
    gateway: &Gateway,
    project: &ProjectState,
    requester: &Requester<'_>,
    request: &ResolveRequest,
) -> Result<ResolveResponse, Problem> {
    bounds::check(
        request.group.as_deref(),
        request.state.as_deref(),
        request.session_id,
        request.context.as_ref(),
    )?;
    let question = Question {
        action: AuditAction::Resolve,
        group: request.group.clone(),
        state: request.state.as_deref(),
        session_id: request.session_id,
        context: request.context.as_ref(),
        arguments: None,
        offers: None,
    };
    let (asked, opening) = available::ask(gateway, project, requester, question).await?;
    available::answered(gateway, opening).await?;
    let availability = asked.availability;
    let named = request.filtered.unwrap_or(true);
    let hidden = |names: fn(&Availability) -> Vec<String>| {
        if named { names(&availability) } else { Vec::new() }
    };
    Ok(ResolveResponse {
        requested_groups: availability.requested.clone(),
        granted_groups: requester.granted.to_vec(),
        state: availability.state.clone(),
        available: availability.available(),
        filtered_by_group: hidden(Availability::filtered_by_group),
        filtered_by_state: hidden(Availability::filtered_by_state),
        filtered_by_condition: hidden(Availability::filtered_by_condition),
        closed_groups: availability
            .closed_groups
            .iter()
            .map(|closed| closed.group.clone())
            .collect(),
        unknown_groups: availability.unknown_groups.clone(),
    })
}

/// The whole request is refused because it asks for more than its caller was granted.
pub fn insufficient_groups(missing: Vec<String>) -> Problem {
    Problem::new(
        ErrorCode::InsufficientToolGroups,
        format!(
            "Insufficient permissions for requested tool groups: {}. Ask for fewer groups, or ask an owner of the \
             project to grant them.",
            missing.join(", ")
        ),
    )
    .missing_groups(missing)
}
