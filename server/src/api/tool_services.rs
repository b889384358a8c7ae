//! Tool services: programs behind a message bus.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolgate_api::tool_services::{ToolService, ToolServiceDefinition, ToolServicePage};
use toolgate_core::ids::ToolName;

use super::precondition::{IfMatch, ReplaceCondition, ReplaceIfMatch, etag, unchanged};
use super::projects::PageQuery;
use super::tools_edit::{NoteQuery, changer};
use crate::extract::{EditDefinitions, InProject, Json, Path, Query, ReadDefinitions};
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::tool_services::{self, not_found, wire};
use crate::gateway::{Gateway, Problem, cursor};

/// The service in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct ToolServicePath {
    /// The service's id.
    #[param(example = "joke-service", min_length = 1, max_length = 128)]
    service_id: String,
}

/// List tool services
///
/// Ordered by id, each with the names of the tools that use it.
#[utoipa::path(get, path = "/projects/{project_id}/tool-services", tag = "tools", params(super::ProjectPath, PageQuery),
    responses((status = 200, description = "A page", body = ToolServicePage)))]
pub async fn list_tool_services(
    place: InProject<ReadDefinitions>,
    Query(query): Query<PageQuery>,
) -> Result<axum::Json<ToolServicePage>, Problem> {
    let (after, limit) = query.parse()?;
    let after = after.unwrap_or_default();
    let services = place.project.snapshot.services();
    let page = services
        .filter(|(service, _)| service.id.as_str() > after.as_str())
        .take(limit + 1)
        .map(|(service, revision)| wire(&place.project, service, revision))
        .collect();
    let (items, next_cursor) = cursor::page(page, limit, |service: &ToolService| service.id.clone());
    Ok(axum::Json(ToolServicePage { items, next_cursor }))
}

/// Get a tool service
///
/// With the names of the tools that use it.
#[utoipa::path(get, path = "/projects/{project_id}/tool-services/{service_id}", tag = "tools",
    params(super::ProjectPath, ToolServicePath),
    responses((status = 200, description = "The service", body = ToolService, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 304, description = "Not modified")))]
pub async fn get_tool_service(
    headers: HeaderMap,
    place: InProject<ReadDefinitions>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let revision = place.project.snapshot.service_revision(&id);
    let tag = revision.ok_or_else(|| not_found(&id))?.to_string();
    if unchanged(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&tag))]).into_response());
    }
    answer(&place.project, &id, StatusCode::OK)
}

fn answer(project: &ProjectState, id: &str, status: StatusCode) -> Result<Response, Problem> {
    let snapshot = &project.snapshot;
    let found = snapshot.service(id).zip(snapshot.service_revision(id));
    let (service, revision) = found.ok_or_else(|| not_found(id))?;
    let tag = etag(&revision.to_string());
    let service = wire(project, service, revision);
    Ok((status, [(header::ETAG, tag)], axum::Json(service)).into_response())
}

/// Put a tool service
///
/// Creates it or replaces it whole; replacing needs `If-Match`. Uploads of definitions (`tool-service:`) do the same for several. It
/// counts for the next call of the tools that use it.
#[utoipa::path(put, path = "/projects/{project_id}/tool-services/{service_id}", tag = "tools",
    params(super::ProjectPath, ToolServicePath, ReplaceIfMatch, NoteQuery), request_body = ToolServiceDefinition,
    responses((status = 200, description = "Replaced, or unchanged", body = ToolService, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 201, description = "Created", body = ToolService, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn put_tool_service(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<EditDefinitions>,
    Path((_, id)): Path<(String, String)>,
    Query(query): Query<NoteQuery>,
    Json(definition): Json<ToolServiceDefinition>,
) -> Result<Response, Problem> {
    let precondition = ReplaceCondition::optional(&headers)?;
    let project = &place.project.row.id;
    let by = changer(&place, query.note, query.ignore_policy_tests)?;
    let before = tool_services::put(&gateway, project, &id, &definition, &by, |revision| {
        let tag = revision.map(|revision| revision.to_string());
        precondition.check(tag.as_deref(), "tool service")
    })
    .await?;
    let status = match before {
        Some(_) => StatusCode::OK,
        None => StatusCode::CREATED,
    };
    let server_snapshot = gateway.snapshots.now();
    let project = server_snapshot.project(project.as_str());
    answer(project.ok_or_else(|| not_found(&id))?, &id, status)
}

/// Delete a tool service
///
/// One that tools use is not deleted: 409 names them.
#[utoipa::path(delete, path = "/projects/{project_id}/tool-services/{service_id}", tag = "tools",
    params(super::ProjectPath, ToolServicePath, super::IfMatchHeader, NoteQuery),
    responses((status = 204, description = "Deleted")))]
pub async fn delete_tool_service(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<EditDefinitions>,
    Path((_, id)): Path<(String, String)>,
    Query(query): Query<NoteQuery>,
) -> Result<StatusCode, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let id = ToolName::parse(id).map_err(|error| not_found(&error.text))?;
    let by = changer(&place, query.note, query.ignore_policy_tests)?;
    tool_services::delete(&gateway, &place.project.row.id, &id, &by, |revision| {
        precondition.check(&revision.to_string())
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}
