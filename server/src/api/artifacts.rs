//! Results that are kept whole, because they are too large for an answer.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolgate_core::principal::Permission;
use uuid::Uuid;

use super::header_value;
use super::precondition::{etag, unchanged};
use crate::extract::{InProject, Path, Use};
use crate::gateway::artifacts;
use crate::gateway::{Gateway, Problem};

/// Keeps browsers from running what an upstream has sent, should one show it.
const SANDBOX: HeaderValue = HeaderValue::from_static("default-src 'none'; sandbox; frame-ancestors 'none'");

/// The artifact in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct ArtifactPath {
    /// The artifact's id, as `notes.artifact` of the call's answer has it.
    artifact_id: Uuid,
}

/// Get an artifact
///
/// A result that was too large for the answer of its call, whole, with the media type that `notes.artifact` named.
/// For the principal that made the call, and for auditors of the project; for others, and when it has expired, there
/// is none.
#[utoipa::path(get, path = "/projects/{project_id}/artifacts/{artifact_id}", tag = "calls",
    params(super::ProjectPath, ArtifactPath),
    responses((status = 200, description = "The content", body = String, content_type = "application/octet-stream",
            headers(("ETag" = String, description = "An artifact never changes"),
                ("Content-Disposition" = String, description = "It is a file, whatever its media type"))),
        (status = 304, description = "Not modified")))]
pub async fn get_artifact(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<Use>,
    Path((_, id)): Path<(String, Uuid)>,
) -> Result<Response, Problem> {
    let payloads = place.may(Permission::ReadPayloads);
    let principal = &place.caller.identity.principal;
    let artifact = artifacts::read(&gateway, place.project.row.uid, id, principal, payloads).await?;
    let tag = id.to_string();
    if unchanged(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&tag))]).into_response());
    }
    let name = format!(
        "attachment; filename=\"{}-{id}{}\"",
        place.project.row.id,
        ending(&artifact.content_type)
    );
    let headers: [(HeaderName, HeaderValue); 5] = [
        (header::ETAG, etag(&tag)),
        (header::CONTENT_TYPE, header_value(&artifact.content_type)),
        (header::CONTENT_DISPOSITION, header_value(&name)),
        (header::CONTENT_SECURITY_POLICY, SANDBOX),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, artifact.content).into_response())
}

/// What the name of a file ends with, where that is known well.
fn ending(content_type: &str) -> &'static str {
    match content_type.split(';').next().unwrap_or_default() {
        "application/json" => ".json",
        "text/plain" => ".txt",
        "text/csv" => ".csv",
        "application/pdf" => ".pdf",
        "application/zip" => ".zip",
        "image/png" => ".png",
        "image/jpeg" => ".jpg",
        _ => "",
    }
}
