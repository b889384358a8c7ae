//! Groups as resources.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use toolgate_api::groups::{Group, GroupPage, NameEffects, PutGroup, RenameName};
use toolgate_core::rename::NameChange;
use toolgate_store::LabelContent;

use super::labels::{self, DeclareQuery, LabelQuery, NameQuery};
use super::permissions::PutHeaders;
use crate::extract::{InProject, Json, ManagePolicy, Path, Query, Use};
use crate::gateway::labels::Kind;
use crate::gateway::{Gateway, Problem};

/// The group in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct GroupPath {
    /// The group's name, percent-encoded: `knowledge%2Fread`.
    #[param(example = "knowledge", min_length = 1, max_length = 128)]
    group: String,
}

/// List groups
///
/// By name, with their parents and children, what is declared about them, whether they are open now, and how many tools are
/// in them. A role that reads definitions sees every group; others see those that their grant covers.
#[utoipa::path(get, path = "/projects/{project_id}/groups", tag = "groups", params(super::ProjectPath, LabelQuery),
    responses((status = 200, description = "A page", body = GroupPage)))]
pub async fn list_groups(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Query(query): Query<LabelQuery>,
) -> Result<axum::Json<GroupPage>, Problem> {
    let (items, next_cursor) = labels::list(&gateway, &place, &query)?;
    Ok(axum::Json(GroupPage { items, next_cursor }))
}

/// Get a group
///
/// With who holds it, for roles that may know. The `ETag` stands for what is declared, not for what is counted.
#[utoipa::path(get, path = "/projects/{project_id}/groups/{group}", tag = "groups", params(super::ProjectPath, GroupPath),
    responses((status = 200, description = "The group", body = Group, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn get_group(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Path((_, name)): Path<(String, String)>,
) -> Result<Response, Problem> {
    labels::get::<Group>(&gateway, &place, &name)
}

/// Declare a group
///
/// Its description and its condition, in place of what was declared. With `If-None-Match: *` when it is not declared yet, with
/// `If-Match` to replace a declaration. A group may be declared before any tool is in it. A condition that cannot be read is
/// refused with the line and column of every fault; one that cannot be evaluated later closes the group.
#[utoipa::path(put, path = "/projects/{project_id}/groups/{group}", tag = "groups",
    params(super::ProjectPath, GroupPath, DeclareQuery, PutHeaders), request_body = PutGroup,
    responses((status = 200, description = "Replaced", body = Group, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 201, description = "Declared", body = Group, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn put_group(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<DeclareQuery>,
    Json(request): Json<PutGroup>,
) -> Result<Response, Problem> {
    let content = LabelContent {
        description: request.description,
        condition: request.condition,
    };
    labels::put::<Group>(&gateway, &headers, place, &name, &content, &query).await
}

/// Rename a group
///
/// Everywhere at once: in all tools (each gets a new revision), its children's names, grants, living sessions, policy tests,
/// limits and declarations, in one transaction. The new name must be free. With `dry_run` the answer says what would
/// change.
#[utoipa::path(post, path = "/projects/{project_id}/groups/{group}/rename", tag = "groups",
    params(super::ProjectPath, GroupPath, NameQuery, super::IfMatchHeader), request_body = RenameName,
    responses((status = 200, description = "What changed, or would", body = NameEffects)))]
pub async fn rename_group(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<NameQuery>,
    Json(request): Json<RenameName>,
) -> Result<axum::Json<NameEffects>, Problem> {
    let names = NameChange::RenameGroup {
        from: name,
        to: request.to,
    };
    labels::change(&gateway, &headers, &place, Kind::Group, &names, &query).await
}

/// Remove a group
///
/// From all tools, grants and declarations, in one transaction; its children stay. A tool that loses its last group is in
/// `[]`, which only a request for `*` reaches; it never falls into `default`. With `dry_run` the answer says what would
/// change.
#[utoipa::path(delete, path = "/projects/{project_id}/groups/{group}", tag = "groups",
    params(super::ProjectPath, GroupPath, NameQuery, super::IfMatchHeader),
    responses((status = 200, description = "What changed, or would", body = NameEffects)))]
pub async fn delete_group(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<NameQuery>,
) -> Result<axum::Json<NameEffects>, Problem> {
    let names = NameChange::RemoveGroup(name);
    labels::change(&gateway, &headers, &place, Kind::Group, &names, &query).await
}
