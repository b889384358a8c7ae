//! The settings of a project.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolgate_api::settings::{ProjectSettings, StoredSettings};

use super::precondition::{IfMatch, etag, unchanged};
use crate::extract::{InProject, Json, ManagePolicy, ReadDefinitions};
use crate::gateway::settings;
use crate::gateway::{Gateway, Problem};

/// Get the settings
///
/// Where agent requests and alerts go, when to raise an alert, whether requests must name a session, and where sessions may
/// begin. What was never set has its default.
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
/// All of them: what is left out has its default again. Addresses must pass the egress rules. A start state that no
/// tool and no declaration names is stored with a warning. Effective within a second everywhere; active sessions stay
/// as they are.
#[utoipa::path(put, path = "/projects/{project_id}/settings", tag = "settings", params(super::ProjectPath, super::IfMatchHeader),
    request_body = ProjectSettings,
    responses((status = 200, description = "Replaced", body = StoredSettings, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn replace_settings(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Json(request): Json<ProjectSettings>,
) -> Result<Response, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let current = place.project.settings_revision;
    precondition.check(&tag(current))?;
    let expected = (precondition != IfMatch::Any).then_some(current);
    let replaced =
        settings::replace(&gateway, &place.project, &request, expected, &place.requester()).await?;
    let (revision, warnings) = replaced;
    let stored = StoredSettings {
        settings: request,
        warnings,
    };
    Ok(([(header::ETAG, etag(&tag(revision)))], axum::Json(stored)).into_response())
}

fn tag(revision: i64) -> String {
    format!("r{revision}")
}
