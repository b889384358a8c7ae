//! Guides: how tools are used.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_api::guides::{Guide, GuideDefinition, GuidePage, GuideUpload};
use toolgate_api::tools::UploadOutcome;
use toolgate_core::definition::parse_guides;
use toolgate_core::principal::Permission;
use toolgate_core::snapshot::CompiledTool;
use toolgate_store::rows::GuideRow;

use super::permissions::PutHeaders;
use super::precondition::{IfMatch, PutCondition, etag, unchanged};
use super::tools_edit;
use crate::extract::{EditDefinitions, InProject, Json, Path, Query, Use, check_lengths};
use crate::gateway::entry::Entry;
use crate::gateway::guides::{self, find, is_about, not_found, shown, wire};
use crate::gateway::{Gateway, Problem, cursor};

/// The guide in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct GuidePath {
    /// The guide's id.
    #[param(
        example = "searching",
        min_length = 1,
        max_length = 64,
        pattern = "^[A-Za-z0-9._-]+$"
    )]
    guide_id: String,
}

/// Guides as YAML, as the documentation shows them.
const EXAMPLE: &str = "guide:\n  searching:\n    summary: How to search, and when to read a page instead\n    group: knowledge\n    text: |\n      # Searching\n\n      Call `web-search` first.\n";

/// Guides as YAML within JSON, for clients that send nothing but JSON.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes the body; the handler reads its text")]
pub struct GuidesYaml {
    /// The YAML.
    yaml: String,
}

/// Which guides to list.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GuideQuery {
    /// Those about this tool: of the project, of its groups, and of the import that it belongs to. None for a tool that the caller
    /// may not use.
    #[param(example = "web-search", max_length = 128)]
    tool: Option<String>,
    /// `next_cursor` of the page before.
    #[param(max_length = 1024)]
    cursor: Option<String>,
    /// Items per page.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// List guides
///
/// By id, without their texts. Callers see the guides of the project, of groups that they may use, and of imports whose tools
/// they may use; those who may read definitions see all.
#[utoipa::path(get, path = "/projects/{project_id}/guides", tag = "guides", params(super::ProjectPath, GuideQuery),
    responses((status = 200, description = "A page", body = GuidePage)))]
pub async fn list_guides(
    place: InProject<Use>,
    Query(query): Query<GuideQuery>,
) -> Result<axum::Json<GuidePage>, Problem> {
    check_lengths(&[("tool", &query.tool, 128)])?;
    let after = cursor::parse(query.cursor.as_deref())?.unwrap_or_default();
    let limit = cursor::limit(query.limit)?;
    let all = place.may(Permission::ReadDefinitions);
    let may_use = |tool: &&Arc<CompiledTool>| {
        let mut groups = tool.groups.iter();
        all || tool.is_offered() && groups.any(|group| place.grant.groups.covers(group))
    };
    let of_tool = |name: &String| place.project.snapshot.tool(name).filter(may_use);
    let about = query.tool.as_ref().map(of_tool);
    let page = seen(&place, all)
        .into_iter()
        .filter(|guide| guide.id > after)
        .filter(|guide| about.is_none_or(|tool| tool.is_some_and(|tool| is_about(guide, tool))))
        .take(limit + 1)
        .map(|guide| wire(guide, false, all))
        .collect();
    let (items, next_cursor) = cursor::page(page, limit, |guide: &Guide| guide.id.clone());
    Ok(axum::Json(GuidePage { items, next_cursor }))
}

/// The guides that the caller sees.
fn seen(entry: &Entry, all: bool) -> Vec<&GuideRow> {
    if all {
        entry.project.guides.iter().collect()
    } else {
        shown(&entry.project, entry.grant.groups.clone()).collect()
    }
}

/// Upload guides
///
/// A map `guide: {id: {summary, group, source, text}}`, as YAML or JSON. What an upload names is created or replaced; the
/// others stay. All or nothing: with one fault nothing is stored, and every fault is named with its line and column.
#[utoipa::path(post, path = "/projects/{project_id}/guides", tag = "guides", params(super::ProjectPath),
    request_body(description = "Guides", content(
        (String = "application/yaml", example = json!(EXAMPLE)),
        (GuidesYaml = "application/json", example = json!({"yaml": EXAMPLE})))),
    responses((status = 200, description = "Replaced or unchanged", body = GuideUpload),
        (status = 201, description = "At least one guide is new", body = GuideUpload)))]
pub async fn upload_guides(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<EditDefinitions>,
    request: Request,
) -> Result<Response, Problem> {
    let (text, format) = tools_edit::text(request, "application/yaml or application/json").await?;
    // Away from the threads that serve requests: a hostile text may take a while.
    let read = tokio::task::spawn_blocking(move || parse_guides(&text, format))
        .await
        .map_err(|error| Problem::internal(&error))?
        .map_err(guides::invalid)?;
    let project = &place.project.row.id;
    let items = guides::upload(&gateway, project, &place.requester(), read).await?;
    let created = items.iter().any(|item| item.outcome == UploadOutcome::Created);
    let status = if created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok((status, axum::Json(GuideUpload { items })).into_response())
}

/// Get a guide
///
/// With its text. A guide that the caller does not see is answered like one that does not exist.
#[utoipa::path(get, path = "/projects/{project_id}/guides/{guide_id}", tag = "guides", params(super::ProjectPath, GuidePath),
    responses((status = 200, description = "The guide", body = Guide, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 304, description = "Not modified")))]
pub async fn get_guide(
    headers: HeaderMap,
    place: InProject<Use>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let all = place.may(Permission::ReadDefinitions);
    let guide = seen(&place, all).into_iter().find(|guide| guide.id == id);
    let guide = guide.ok_or_else(|| not_found(&id))?;
    let tag = tag(guide.revision);
    if unchanged(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&tag))]).into_response());
    }
    Ok(([(header::ETAG, etag(&tag))], axum::Json(wire(guide, true, all))).into_response())
}

/// Write a guide
///
/// Makes it with `If-None-Match: *`, or replaces the one that `If-Match` names.
#[utoipa::path(put, path = "/projects/{project_id}/guides/{guide_id}", tag = "guides",
    params(super::ProjectPath, GuidePath, PutHeaders), request_body = GuideDefinition,
    responses((status = 200, description = "Replaced", body = Guide, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 201, description = "Created", body = Guide, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn put_guide(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<EditDefinitions>,
    Path((_, id)): Path<(String, String)>,
    Json(guide): Json<GuideDefinition>,
) -> Result<Response, Problem> {
    let condition = PutCondition::required(&headers)?;
    let project = &place.project.row.id;
    let matches = |revision: Option<i64>| condition.check(revision.map(tag).as_deref());
    let is_new = guides::put(&gateway, project, &place.requester(), &id, guide, matches).await?;
    let server_snapshot = gateway.snapshots.now();
    let project = server_snapshot.project(project.as_str());
    let stored = project
        .and_then(|project| find(project, &id))
        .ok_or_else(|| not_found(&id))?;
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let headers = [(header::ETAG, etag(&tag(stored.revision)))];
    Ok((status, headers, axum::Json(wire(stored, true, true))).into_response())
}

/// Delete a guide
///
/// It is not offered any more.
#[utoipa::path(delete, path = "/projects/{project_id}/guides/{guide_id}", tag = "guides",
    params(super::ProjectPath, GuidePath, super::IfMatchHeader),
    responses((status = 204, description = "Deleted")))]
pub async fn delete_guide(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<EditDefinitions>,
    Path((_, id)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let (project, requester) = (&place.project.row.id, place.requester());
    let matches = |revision| precondition.check(&tag(revision));
    guides::remove(&gateway, project, &requester, &id, matches).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn tag(revision: i64) -> String {
    format!("v{revision}")
}
