//! The settings of a project.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolgate_api::settings::ProjectSettings;

use super::precondition::{IfMatch, etag, unchanged};
use crate::error::ApiResult;
use crate::extract::{InProject, Json, ManagePolicy, ReadDefinitions};
use crate::gateway::settings;
use crate::state::AppState;

/// Get the settings
///
/// Where agent requests and alerts go, and when to raise an alert. What was never set has its default.
#[utoipa::path(get, path = "/projects/{project_id}/settings", tag = "settings", params(super::ProjectPath),
    responses((status = 200, description = "The settings", body = ProjectSettings, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 304, description = "Not modified")))]
pub async fn get_settings(headers: HeaderMap, place: InProject<ReadDefinitions>) -> Response {
    let tag = tag(place.project.settings_revision);
    if unchanged(&headers, &tag) {
        return (StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&tag))]).into_response();
    }
    (
        [(header::ETAG, etag(&tag))],
        axum::Json(place.project.settings.as_ref()),
    )
        .into_response()
}

/// Replace the settings
///
/// All of them: what is left out has its default again. Addresses must pass the egress rules. Effective within a second
/// everywhere.
#[utoipa::path(put, path = "/projects/{project_id}/settings", tag = "settings", params(super::ProjectPath, super::IfMatchHeader),
    request_body = ProjectSettings,
    responses((status = 200, description = "Replaced", body = ProjectSettings, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn replace_settings(
    State(app): State<AppState>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Json(request): Json<ProjectSettings>,
) -> ApiResult<Response> {
    let precondition = IfMatch::required(&headers)?;
    let current = place.project.settings_revision;
    precondition.check(&tag(current))?;
    let expected = (precondition != IfMatch::Any).then_some(current);
    let revision = settings::replace(&app, &place.project, &request, expected, &place.asker()).await?;
    Ok(([(header::ETAG, etag(&tag(revision)))], axum::Json(request)).into_response())
}

fn tag(revision: i64) -> String {
    format!("r{revision}")
}
