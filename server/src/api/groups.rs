//! Groups as resources.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_api::groups::{Group, GroupPage, NameEffects, PutGroup, RenameName};
use toolgate_core::rename::NameChange;
use toolgate_store::LabelContent;

use super::cursor;
use super::permissions::PutHeaders;
use super::precondition::{IfMatch, PutCondition, etag};
use crate::error::ApiResult;
use crate::extract::{InProject, Json, ManagePolicy, Path, Query, Use, check_lengths};
use crate::gateway::groups::Groups;
use crate::gateway::labels::{self, Actor, Kind, not_found};
use crate::state::AppState;

/// The group in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct GroupPath {
    /// The group's name, percent-encoded: `knowledge%2Fread`.
    #[param(example = "knowledge", min_length = 1, max_length = 128)]
    group: String,
}

/// Which groups or states to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LabelQuery {
    /// Part of the name or the description, in any case.
    #[param(max_length = 200)]
    pub q: Option<String>,
    /// `next_cursor` of the page before.
    #[param(max_length = 1024)]
    pub cursor: Option<String>,
    /// Items per page.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
}

/// Whether to look at the project's expectations.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeclareQuery {
    /// Changes it even if policy tests of the project would fail; the record then names them.
    #[param(default = false)]
    #[serde(default)]
    pub ignore_policy_tests: bool,
}

/// How to change a name.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct NameQuery {
    /// Only say what would change; the verdict is the same, and `If-Match` is not needed.
    #[param(default = false)]
    #[serde(default)]
    pub dry_run: bool,
    /// Changes it even if policy tests of the project would fail; the record then names them.
    #[param(default = false)]
    #[serde(default)]
    pub ignore_policy_tests: bool,
}

/// List groups
///
/// By name, with their parents and children, what is declared about them, whether they are open now, and how many tools are
/// in them. A role that reads definitions sees every group; others see those that their grant covers.
#[utoipa::path(get, path = "/projects/{project_id}/groups", tag = "groups", params(super::ProjectPath, LabelQuery),
    responses((status = 200, description = "A page", body = GroupPage)))]
pub async fn list_groups(
    State(app): State<AppState>,
    place: InProject<Use>,
    Query(query): Query<LabelQuery>,
) -> ApiResult<axum::Json<GroupPage>> {
    check_lengths(&[("q", &query.q, 200)])?;
    let after = cursor::parse(query.cursor.as_deref())?;
    let limit = cursor::limit(query.limit)?;
    let needle = query.q.as_deref().map(str::to_lowercase);
    let groups = Groups::new(&app, &place);
    let page: Vec<&str> = groups
        .names()
        .iter()
        .copied()
        .filter(|name| after.as_deref().is_none_or(|after| *name > after))
        .filter(|name| {
            needle
                .as_deref()
                .is_none_or(|needle| groups.matches(name, needle))
        })
        .take(limit + 1)
        .collect();
    let (page, next_cursor) = cursor::page(page, limit, |name| (*name).to_owned());
    Ok(axum::Json(GroupPage {
        items: page.into_iter().map(|name| groups.group(name)).collect(),
        next_cursor,
    }))
}

/// Get a group
///
/// With who holds it, for roles that may know. The `ETag` stands for what is declared, not for what is counted.
#[utoipa::path(get, path = "/projects/{project_id}/groups/{group}", tag = "groups", params(super::ProjectPath, GroupPath),
    responses((status = 200, description = "The group", body = Group, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn get_group(
    State(app): State<AppState>,
    place: InProject<Use>,
    Path((_, name)): Path<(String, String)>,
) -> ApiResult<Response> {
    let group = Groups::new(&app, &place)
        .get(&name)
        .ok_or_else(|| not_found(Kind::Group, &name))?;
    let revision = labels::revision(&place.project, Kind::Group, &name).unwrap_or(0);
    Ok(([(header::ETAG, etag(&tag(revision)))], axum::Json(group)).into_response())
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
    State(app): State<AppState>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<DeclareQuery>,
    Json(request): Json<PutGroup>,
) -> ApiResult<Response> {
    let content = LabelContent {
        description: request.description,
        condition: request.condition,
    };
    let created = declare(
        &app,
        &headers,
        &place,
        Kind::Group,
        &name,
        &content,
        query.ignore_policy_tests,
    )
    .await?;
    let place = place.again(&app)?;
    let group = Groups::new(&app, &place)
        .get(&name)
        .ok_or_else(|| not_found(Kind::Group, &name))?;
    Ok(declared(&place, Kind::Group, &name, created, group))
}

/// Rename a group
///
/// Everywhere at once: in all tools (each gets a new revision), its children's names, grants, living sessions, policy tests,
/// limits and declarations, in one transaction. The new name must be nobody's. With `dry_run` the answer says what would
/// change.
#[utoipa::path(post, path = "/projects/{project_id}/groups/{group}/rename", tag = "groups",
    params(super::ProjectPath, GroupPath, NameQuery, super::IfMatchHeader), request_body = RenameName,
    responses((status = 200, description = "What changed, or would", body = NameEffects)))]
pub async fn rename_group(
    State(app): State<AppState>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<NameQuery>,
    Json(request): Json<RenameName>,
) -> ApiResult<axum::Json<NameEffects>> {
    let names = NameChange::RenameGroup {
        from: name,
        to: request.to,
    };
    change(&app, &headers, &place, Kind::Group, &names, &query).await
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
    State(app): State<AppState>,
    headers: HeaderMap,
    place: InProject<ManagePolicy>,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<NameQuery>,
) -> ApiResult<axum::Json<NameEffects>> {
    let names = NameChange::RemoveGroup(name);
    change(&app, &headers, &place, Kind::Group, &names, &query).await
}

/// The entity tag of a declaration; `v0` while there is none.
fn tag(revision: i64) -> String {
    format!("v{revision}")
}

fn actor<'a>(place: &'a InProject<ManagePolicy>, ignore_policy_tests: bool) -> Actor<'a> {
    Actor {
        asker: place.asker(),
        project: &place.project,
        ignore_policy_tests,
    }
}

/// Declares a group or state under the preconditions of the request; whether for the first time.
pub(super) async fn declare(
    app: &AppState,
    headers: &HeaderMap,
    place: &InProject<ManagePolicy>,
    kind: Kind,
    name: &str,
    content: &LabelContent,
    ignore_policy_tests: bool,
) -> ApiResult<bool> {
    let condition = PutCondition::required(headers)?;
    let actor = actor(place, ignore_policy_tests);
    let matches = |declared: bool, revision: Option<i64>| match condition {
        // What is only used may be declared for the first time.
        PutCondition::New if !declared => Ok(()),
        _ => condition.check(revision.map(tag).as_deref()),
    };
    Box::pin(labels::declare(app, &actor, kind, name, content, matches)).await
}

/// The answer to a declaration.
pub(super) fn declared<P>(
    place: &InProject<P>,
    kind: Kind,
    name: &str,
    created: bool,
    body: impl serde::Serialize,
) -> Response {
    let status = if created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let revision = labels::revision(&place.project, kind, name).unwrap_or(0);
    (status, [(header::ETAG, etag(&tag(revision)))], axum::Json(body)).into_response()
}

/// The entity tag of a group or state that is there.
pub(super) fn current_tag<P>(place: &InProject<P>, kind: Kind, name: &str) -> String {
    tag(labels::revision(&place.project, kind, name).unwrap_or(0))
}

/// Changes a name under the precondition of the request.
pub(super) async fn change(
    app: &AppState,
    headers: &HeaderMap,
    place: &InProject<ManagePolicy>,
    kind: Kind,
    names: &NameChange,
    query: &NameQuery,
) -> ApiResult<axum::Json<NameEffects>> {
    let condition = if query.dry_run {
        IfMatch::optional(headers)?.unwrap_or(IfMatch::Any)
    } else {
        IfMatch::required(headers)?
    };
    let actor = actor(place, query.ignore_policy_tests);
    let matches = |revision| condition.check(&tag(revision));
    let change = labels::change_name(app, &actor, kind, names, query.dry_run, matches);
    Box::pin(change).await.map(axum::Json)
}
