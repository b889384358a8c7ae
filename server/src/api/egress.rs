//! The egress list of a project.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolgate_api::egress::ProjectEgress;

use super::precondition::{IfMatch, etag, unchanged};
use crate::extract::{InProject, Json, ManagePolicy, ReadDefinitions, SystemAdmin};
use crate::gateway::egress;
use crate::gateway::{Gateway, Problem};

/// Get the egress list
///
/// The origins that tools of this project may connect to, beside those that the server's configuration lists for all.
#[utoipa::path(get, path = "/projects/{project_id}/egress", tag = "settings", params(super::ProjectPath),
    responses((status = 200, description = "The list", body = ProjectEgress, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 304, description = "Not modified")))]
pub async fn get_egress(headers: HeaderMap, place: InProject<ReadDefinitions>) -> Response {
    let egress = &place.project.egress;
    let tag = tag(egress.revision);
    if unchanged(&headers, &tag) {
        return (StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&tag))]).into_response();
    }
    ([(header::ETAG, etag(&tag))], axum::Json(&egress.list)).into_response()
}

/// Replace the egress list
///
/// For system administrators. Each entry is an exact origin, `https://api.example.com`; `http` only where it is
/// written. An address that is not public can be reached only if the server's own configuration lists it, whatever is
/// listed here. Effective at once, for calls of this project only; the change is on the record of the project and of
/// the server.
#[utoipa::path(put, path = "/projects/{project_id}/egress", tag = "settings", params(super::ProjectPath, super::IfMatchHeader),
    request_body = ProjectEgress,
    responses((status = 200, description = "Replaced", body = ProjectEgress, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn replace_egress(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    _admin: SystemAdmin,
    Json(request): Json<ProjectEgress>,
) -> Result<Response, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let current = place.project.egress.revision;
    precondition.check(&tag(current))?;
    let expected = (precondition != IfMatch::Any).then_some(current);
    let actor = place.caller.actor();
    let (revision, list) = Box::pin(egress::replace(
        &gateway,
        actor,
        &place.project,
        &request,
        expected,
    ))
    .await?;
    Ok(([(header::ETAG, etag(&tag(revision)))], axum::Json(list)).into_response())
}

fn tag(revision: i64) -> String {
    format!("r{revision}")
}
