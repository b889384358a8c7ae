//! The history of tools: who changed what, when and why; compare and restore.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use serde::Deserialize;
use toolgate_api::tools::{RevisionDiff, ToolRevision, ToolRevisionPage, UploadResult};
use toolgate_core::definition;
use toolgate_core::ids::{ProjectUid, ToolName};
use toolgate_store::rows::RevisionRow;

use super::precondition::IfMatch;
use super::projects::PageQuery;
use super::tools::tag;
use super::tools_edit::{NoteQuery, changer};
use crate::extract::{EditDefinitions, InProject, Path, Query, ReadDefinitions};
use crate::gateway::publish::{self, tool_not_found};
use crate::gateway::{Gateway, Problem, cursor};

/// List a tool's revisions
///
/// Newest first; deleted tools keep theirs.
#[utoipa::path(get, path = "/projects/{project_id}/tools/{tool_name}/revisions", tag = "tools", params(super::ProjectPath, super::ToolPath, PageQuery),
    responses((status = 200, description = "A page, without the definitions", body = ToolRevisionPage)))]
pub async fn list_tool_revisions(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<PageQuery>,
) -> Result<axum::Json<ToolRevisionPage>, Problem> {
    let name = parse_name(name)?;
    let (before, limit) = query.parse()?;
    let before = before
        .map(|text| text.parse::<i64>().map_err(|_| cursor::invalid()))
        .transpose()?;
    let rows = gateway
        .store
        .revisions(
            place.project.row.uid,
            &name,
            before,
            u32::try_from(limit + 1).unwrap_or(u32::MAX),
        )
        .await?;
    if rows.is_empty() && before.is_none() {
        return Err(tool_not_found(name.as_str()));
    }
    let (rows, next_cursor) = cursor::page(rows, limit, |row| row.revision.to_string());
    let items = rows.into_iter().map(|row| wire(row, false)).collect();
    Ok(axum::Json(ToolRevisionPage { items, next_cursor }))
}

/// Get a revision
///
/// With the whole definition, also of deleted tools.
#[utoipa::path(get, path = "/projects/{project_id}/tools/{tool_name}/revisions/{revision}", tag = "tools", params(super::ProjectPath, super::ToolPath, RevisionPath),
    responses((status = 200, description = "The revision with its definition", body = ToolRevision)))]
pub async fn get_tool_revision(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
    Path((_, name, revision)): Path<(String, String, i64)>,
) -> Result<axum::Json<ToolRevision>, Problem> {
    let row = find(&gateway, place.project.row.uid, &parse_name(name)?, revision).await?;
    Ok(axum::Json(wire(row, true)))
}

/// Which revisions to compare.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DiffQuery {
    /// The earlier side.
    #[param(example = 1, minimum = 1)]
    from: i64,
    /// The later side.
    #[param(example = 2, minimum = 1)]
    to: i64,
}

/// Compare two revisions
///
/// As a unified diff of their YAML.
#[utoipa::path(get, path = "/projects/{project_id}/tools/{tool_name}/diff", tag = "tools", params(super::ProjectPath, super::ToolPath, DiffQuery),
    responses((status = 200, description = "The difference", body = RevisionDiff)))]
pub async fn diff_tool_revisions(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<DiffQuery>,
) -> Result<axum::Json<RevisionDiff>, Problem> {
    let name = parse_name(name)?;
    let uid = place.project.row.uid;
    let from = find(&gateway, uid, &name, query.from).await?;
    let to = find(&gateway, uid, &name, query.to).await?;
    let diff = definition::diff(from.definition.as_ref(), to.definition.as_ref());
    Ok(axum::Json(RevisionDiff {
        from: query.from,
        to: query.to,
        diff,
    }))
}

/// Restore a revision
///
/// Makes it the current one, as a new revision. What it refers to is checked again. With `If-Match` only if the tool
/// is still at that revision.
#[utoipa::path(post, path = "/projects/{project_id}/tools/{tool_name}/revisions/{revision}/restore", tag = "tools",
    params(super::ProjectPath, super::ToolPath, RevisionPath, NoteQuery),
    responses((status = 200, description = "Restored, or unchanged", body = UploadResult)))]
pub async fn restore_tool_revision(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<EditDefinitions>,
    Path((_, name, revision)): Path<(String, String, i64)>,
    Query(query): Query<NoteQuery>,
) -> Result<axum::Json<UploadResult>, Problem> {
    let name = parse_name(name)?;
    let row = find(&gateway, place.project.row.uid, &name, revision).await?;
    let current = place
        .project
        .snapshot
        .tool(name.as_str())
        .map_or(0, |tool| tool.revision);
    let expect = match IfMatch::optional(&headers)? {
        Some(precondition) => {
            precondition.check(&tag(current))?;
            (precondition != IfMatch::Any).then_some(current)
        }
        None => None,
    };
    let by = changer(&place, query.note, query.ignore_policy_tests)?;
    publish::restore(&gateway, &place.project.row.id, row, &by, expect)
        .await
        .map(axum::Json)
}

/// The revision in the path, after its tool.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct RevisionPath {
    /// The revision, from 1.
    #[param(example = 1, minimum = 1)]
    revision: i64,
}

fn parse_name(name: String) -> Result<ToolName, Problem> {
    ToolName::parse(name).map_err(|error| tool_not_found(&error.text))
}

async fn find(
    gateway: &Gateway,
    project: ProjectUid,
    name: &ToolName,
    revision: i64,
) -> Result<RevisionRow, Problem> {
    gateway
        .store
        .revision(project, name, revision)
        .await?
        .ok_or_else(|| Problem::not_found(format!("revision {revision} of tool \"{name}\"")))
}

fn wire(row: RevisionRow, full: bool) -> ToolRevision {
    ToolRevision {
        name: row.name.to_string(),
        revision: row.revision,
        author: row.author,
        created_at: row.created_at,
        note: row.note,
        deleted: row.definition.is_none(),
        definition: row
            .definition
            .filter(|_| full)
            .and_then(|definition| serde_json::to_value(definition).ok()),
    }
}
