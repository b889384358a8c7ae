//! The upstreams of a project's tools.

use std::sync::Arc;

use axum::extract::State;
use toolgate_api::upstreams::Upstreams;

use crate::extract::{InProject, ReadDefinitions};
use crate::gateway::Gateway;
use crate::gateway::upstreams;

/// See how upstreams answer
///
/// Each tool that was called or probed, with its circuit breaker, its calls that run now and what its last probe has found;
/// and each host, with how it answered last. It is what the server that answers has seen since it started: with several servers, each has seen its own calls.
#[utoipa::path(get, path = "/projects/{project_id}/upstreams", tag = "operations", params(super::ProjectPath),
    responses((status = 200, description = "The upstreams", body = Upstreams)))]
pub async fn list_upstreams(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
) -> axum::Json<Upstreams> {
    axum::Json(upstreams::of_project(&gateway, &place.project))
}
