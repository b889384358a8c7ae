//! Projects.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use toolgate_api::ErrorCode;
use toolgate_api::projects::{CreateProject, Project, ProjectPage, RenameProject};
use toolgate_core::ids::{ProjectId, ProjectUid};
use toolgate_core::readable::name_fault;
use toolgate_store::rows::ProjectRow;

use super::precondition::{IfMatch, etag, unchanged};
use crate::extract::{
    Caller, DeleteProject, InProject, Json, ManagePolicy, Query, SystemAdmin, Use, check_lengths,
};
use crate::gateway::projects;
use crate::gateway::{Gateway, Problem, cursor};

/// Paging.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// `next_cursor` of the page before.
    #[param(max_length = 1024)]
    cursor: Option<String>,
    /// Items per page.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

impl PageQuery {
    /// The key to start after, and the number of items.
    pub fn parse(&self) -> Result<(Option<String>, usize), Problem> {
        Ok((cursor::parse(self.cursor.as_deref())?, cursor::limit(self.limit)?))
    }
}

/// Paging, and what to look for.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SearchQuery {
    /// Only what has this text in its names, in any case.
    #[param(max_length = 200)]
    q: Option<String>,
    /// `next_cursor` of the page before.
    #[param(max_length = 1024)]
    cursor: Option<String>,
    /// Items per page.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

impl SearchQuery {
    /// The key to start after, and the number of items.
    pub fn parse(&self) -> Result<(Option<String>, usize), Problem> {
        check_lengths(&[("q", &self.q, 200)])?;
        Ok((cursor::parse(self.cursor.as_deref())?, cursor::limit(self.limit)?))
    }

    /// Whether one of some names has the text.
    pub fn finds(&self, names: &[&str]) -> bool {
        let Some(wanted) = self.q.as_deref().map(|text| text.trim().to_lowercase()) else {
            return true;
        };
        names.iter().any(|name| name.to_lowercase().contains(&wanted))
    }
}

/// Create a project
///
/// For system administrators. The creator becomes its owner and gets an explicit, removable grant of `*`.
#[utoipa::path(post, path = "/projects", tag = "projects", request_body = CreateProject,
    responses((status = 201, description = "Created", body = Project,
        headers(("ETag" = String, description = "For `If-Match`"), ("Location" = String, description = "Where it is")))))]
pub async fn create_project(
    State(gateway): State<Arc<Gateway>>,
    admin: SystemAdmin,
    Json(request): Json<CreateProject>,
) -> Result<Response, Problem> {
    let id = ProjectId::parse(request.id).map_err(|error| invalid("/id", &error.to_string()))?;
    let name = request.name.unwrap_or_else(|| id.to_string()).trim().to_owned();
    if let Some(fault) = name_fault(&name, 200) {
        return Err(invalid("/name", &fault));
    }
    let row = ProjectRow {
        uid: ProjectUid(gateway.clock.new_id()),
        id,
        name,
        created_at: gateway.clock.now(),
    };
    projects::create(&gateway, admin.caller.actor(), admin.user, row.clone()).await?;
    let location = format!("/projects/{}", row.id);
    Ok((
        StatusCode::CREATED,
        [
            (header::ETAG, etag(&tag(&row))),
            (header::LOCATION, super::header_value(&location)),
        ],
        axum::Json(wire(&row)),
    )
        .into_response())
}

/// List projects
///
/// Those the caller belongs to, by id; system administrators see all. `q` finds ids and names.
#[utoipa::path(get, path = "/projects", tag = "projects", params(SearchQuery),
    responses((status = 200, description = "A page", body = ProjectPage)))]
pub async fn list_projects(
    caller: Caller,
    Query(query): Query<SearchQuery>,
) -> Result<axum::Json<ProjectPage>, Problem> {
    let (after, limit) = query.parse()?;
    let mut rows: Vec<&ProjectRow> = caller
        .server_snapshot
        .projects()
        .map(|project| &project.row)
        .filter(|row| query.finds(&[row.id.as_str(), &row.name]))
        .filter(|row| after.as_deref().is_none_or(|after| row.id.as_str() > after))
        .filter(|row| {
            let held = caller
                .identity
                .grant(&caller.server_snapshot.directory, row, caller.now);
            held.is_some()
        })
        .collect();
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    let (rows, next_cursor) = cursor::page(rows, limit, |row| row.id.to_string());
    Ok(axum::Json(ProjectPage {
        items: rows.into_iter().map(wire).collect(),
        next_cursor,
    }))
}

/// Get a project
///
/// Its id, its name and when it was created.
#[utoipa::path(get, path = "/projects/{project_id}", tag = "projects", params(super::ProjectPath),
    responses((status = 200, description = "The project", body = Project, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 304, description = "Not modified")))]
pub async fn get_project(headers: HeaderMap, place: InProject<Use>) -> Response {
    let row = &place.project.row;
    let tag = tag(row);
    if unchanged(&headers, &tag) {
        return (StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&tag))]).into_response();
    }
    ([(header::ETAG, etag(&tag))], axum::Json(wire(row))).into_response()
}

/// Rename a project
///
/// Gives it another name for people. Its id, which paths and definitions use, stays.
#[utoipa::path(patch, path = "/projects/{project_id}", tag = "projects", params(super::ProjectPath, super::IfMatchHeader),
    request_body = RenameProject,
    responses((status = 200, description = "Renamed", body = Project, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn rename_project(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Json(request): Json<RenameProject>,
) -> Result<Response, Problem> {
    let row = &place.project.row;
    IfMatch::required(&headers)?.check(&tag(row))?;
    let name = request.name.trim().to_owned();
    if let Some(fault) = name_fault(&name, 200) {
        return Err(invalid("/name", &fault));
    }
    projects::rename(&gateway, place.caller.actor(), row, name.clone()).await?;
    let renamed = ProjectRow { name, ..row.clone() };
    Ok(([(header::ETAG, etag(&tag(&renamed)))], axum::Json(wire(&renamed))).into_response())
}

/// Delete a project
///
/// Its tools, keys and grants are gone at once. Its records stay in the database. The id may be used again.
#[utoipa::path(delete, path = "/projects/{project_id}", tag = "projects", params(super::ProjectPath, super::IfMatchHeader),
    responses((status = 204, description = "Deleted")))]
pub async fn delete_project(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<DeleteProject>,
) -> Result<StatusCode, Problem> {
    let row = &place.project.row;
    IfMatch::required(&headers)?.check(&tag(row))?;
    projects::delete(&gateway, place.caller.actor(), row).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn wire(row: &ProjectRow) -> Project {
    Project {
        id: row.id.to_string(),
        name: row.name.clone(),
        created_at: row.created_at,
    }
}

/// Of a project nothing changes but its name.
fn tag(row: &ProjectRow) -> String {
    let digest = Sha256::digest(row.name.as_bytes());
    let name = digest.iter().take(8).map(|byte| format!("{byte:02x}"));
    format!("{}-{}", row.uid, name.collect::<String>())
}

fn invalid(pointer: &str, message: &str) -> Problem {
    Problem::new(
        ErrorCode::InvalidRequest,
        "The id or the name of the project is invalid.",
    )
    .errors(vec![toolgate_api::Diagnostic::error(message).at_pointer(pointer)])
}
