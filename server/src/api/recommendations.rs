//! Asking which tools fit a question.

use std::sync::Arc;

use axum::extract::State;
use toolgate_api::recommendations::{RecommendationRequest, RecommendationResponse};
use toolgate_api::{Diagnostic, ErrorCode};

use crate::extract::{InProject, Json, Use};
use crate::gateway::recommend;
use crate::gateway::{Gateway, Problem, bounds};

/// Entries of a list when the request does not say.
const DEFAULT_LIMIT: u32 = 10;
/// Entries of a list at most.
const MAX_LIMIT: u32 = 50;
/// Longest question, in characters.
const QUESTION: usize = 4_000;

/// Recommend tools
///
/// The tools and groups that fit a question best, by BM25 over names, descriptions, parameters and groups: those that can
/// be called now, and apart those that the caller holds but in another state or group. Only tools of granted groups are
/// looked at, and in a session only those of its groups. Scores are absolute, from 0 to 1. When nothing in the preferred groups fits and can be called, `groups`
/// names the next best ones and says so.
#[utoipa::path(post, path = "/projects/{project_id}/recommendations", tag = "calls", params(super::ProjectPath), request_body = RecommendationRequest,
    responses((status = 200, description = "What fits", body = RecommendationResponse)))]
pub async fn recommend_tools(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Json(request): Json<RecommendationRequest>,
) -> Result<axum::Json<RecommendationResponse>, Problem> {
    let mut faults = bounds::faults(request.group.as_deref(), request.state.as_deref(), None);
    if request.session_id.is_some() && request.state.is_some() {
        faults.push(bounds::state_beside_session());
    }
    if !faults.is_empty() {
        return Err(refused(faults));
    }
    if request.question.trim().is_empty() || request.question.chars().nth(QUESTION).is_some() {
        return Err(invalid(
            "/question",
            format!("must have 1-{QUESTION} characters and not only blanks"),
        ));
    }
    let limit = request.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(invalid("/limit", format!("must be from 1 to {MAX_LIMIT}")));
    }
    recommend::recommend(
        &gateway,
        &place.project,
        &place.requester(),
        request,
        limit as usize,
    )
    .await
    .map(axum::Json)
}

fn invalid(pointer: &str, message: String) -> Problem {
    refused(vec![Diagnostic::error(message).at_pointer(pointer)])
}

fn refused(faults: Vec<Diagnostic>) -> Problem {
    Problem::new(ErrorCode::InvalidRequest, "This cannot be searched for.").errors(faults)
}
