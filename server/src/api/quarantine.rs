//! What newer descriptions change, until it is decided.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_api::quarantine::{
    ApproveChange, DecideChanges, DecidedChanges, QuarantinePage, QuarantinedChange,
};
use toolgate_api::tools::Tool;

use super::precondition::{IfMatch, etag, unchanged};
use super::tools::answer;
use super::tools_edit::{NoteQuery, changer};
use crate::extract::{EditDefinitions, InProject, Json, Path, Query, ReadDefinitions, check_lengths};
use crate::gateway::publish::tool_not_found;
use crate::gateway::quarantine;
use crate::gateway::{Gateway, Problem, cursor};

/// Which changes to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct QuarantineQuery {
    /// Only those of this import.
    #[param(max_length = 63, example = "petstore")]
    import: Option<String>,
    /// `next_cursor` of the page before.
    #[param(max_length = 1024)]
    cursor: Option<String>,
    /// Items per page.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// List the quarantine
///
/// What newer descriptions change in tools of this project, over all imports; by the names of the tools. Each comes with what
/// the description changed, what was edited here, and where the two do not agree. Until it is approved or rejected the tool
/// stays as it is.
#[utoipa::path(get, path = "/projects/{project_id}/quarantine", tag = "imports", params(super::ProjectPath, QuarantineQuery),
    responses((status = 200, description = "A page", body = QuarantinePage)))]
pub async fn list_quarantine(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
    Query(query): Query<QuarantineQuery>,
) -> Result<axum::Json<QuarantinePage>, Problem> {
    check_lengths(&[("import", &query.import, 63)])?;
    let limit = cursor::limit(query.limit)?;
    let after = cursor::parse(query.cursor.as_deref())?;
    let found = quarantine::list(
        &gateway,
        &place.project,
        query.import.as_deref(),
        after.as_deref(),
        limit,
    )
    .await?;
    Ok(axum::Json(QuarantinePage {
        items: found.items,
        total: usize::try_from(found.total).unwrap_or(usize::MAX),
        next_cursor: found.last.as_deref().map(cursor::after),
    }))
}

/// Get a quarantined change
///
/// With the definitions it is about: as the last import brought it, as the tool is, as the description has it now, and as
/// approving leaves it.
#[utoipa::path(get, path = "/projects/{project_id}/quarantine/{tool_name}", tag = "imports", params(super::ProjectPath, super::ToolPath),
    responses((status = 200, description = "The change", body = QuarantinedChange, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 304, description = "Not modified")))]
pub async fn get_quarantined_change(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ReadDefinitions>,
    Path((_, name)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let (change, tag) = quarantine::get(&gateway, &place.project, &name).await?;
    if unchanged(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&tag))]).into_response());
    }
    Ok(([(header::ETAG, etag(&tag))], axum::Json(change)).into_response())
}

/// Approve a quarantined change
///
/// Joins what the description changed with what was edited here, as a new revision of the tool. Where both changed
/// the same place in different ways a decision is needed: 409 `merge_conflict` names these places, until `conflicts`
/// or `choices` do. `If-Match` must name the change as it was read, so that only what was read can be approved.
#[utoipa::path(post, path = "/projects/{project_id}/quarantine/{tool_name}/approve", tag = "imports",
    params(super::ProjectPath, super::ToolPath, super::IfMatchHeader, NoteQuery), request_body = ApproveChange,
    responses((status = 200, description = "The tool as it is now", body = Tool, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn approve_change(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<EditDefinitions>,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<NoteQuery>,
    Json(request): Json<ApproveChange>,
) -> Result<Response, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let by = changer(&place, query.note, query.ignore_policy_tests)?;
    let project = &place.project.row.id;
    quarantine::approve(&gateway, project, &by, &name, &request, |tag| {
        precondition.check(tag)
    })
    .await?;
    let place = place.into_entry().again(&gateway)?;
    let tool = place.project.snapshot.tool(&name);
    answer(
        &HeaderMap::new(),
        tool.ok_or_else(|| tool_not_found(&name))?,
        true,
    )
}

/// Reject a quarantined change
///
/// The tool stays as it is. What is rejected counts as seen: it comes back only when the description changes again.
#[utoipa::path(post, path = "/projects/{project_id}/quarantine/{tool_name}/reject", tag = "imports",
    params(super::ProjectPath, super::ToolPath, super::IfMatchHeader),
    responses((status = 204, description = "Rejected")))]
pub async fn reject_change(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<EditDefinitions>,
    Path((_, name)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let by = changer(&place, None, false)?;
    let project = &place.project.row.id;
    quarantine::reject(&gateway, project, &by, &name, |tag| precondition.check(tag)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How to decide.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DecideQuery {
    /// Only say what would become of the changes; needs no `If-Match`.
    #[serde(default)]
    #[param(default = false)]
    dry_run: bool,
    /// Approve even if policy tests that hold now would fail; the revisions' note then names them.
    #[serde(default)]
    #[param(default = false)]
    ignore_policy_tests: bool,
}

/// What guards a decision.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes the header; `precondition` reads it")]
pub struct DecideHeaders {
    /// The ETag of the dry run, or `*`. Required unless this is one: 428 without, 412 when stale.
    #[param(rename = "If-Match", example = "*", required = false)]
    if_match: String,
}

/// Decide several quarantined changes
///
/// Approves or rejects the selected changes, all of them in one transaction or none. Approving joins each with what
/// was edited here; a change with conflicts still waits, unless `conflicts` decides them. A dry run says what would
/// become of each, and its `ETag` is for `If-Match`, so that only what was read can be decided. As with uploads, what
/// a policy test forbids is refused (409).
#[utoipa::path(post, path = "/projects/{project_id}/quarantine-decisions", tag = "imports",
    params(super::ProjectPath, DecideHeaders, DecideQuery),
    request_body(content = DecideChanges, example = json!({"select": {"import": "petstore"}, "decision": "approve", "note": "version 2 of the API"})),
    responses((status = 200, description = "Decided, or a dry run", body = DecidedChanges, headers(("ETag" = String, description = "Of what is selected, for `If-Match`")))))]
pub async fn decide_changes(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<EditDefinitions>,
    Query(query): Query<DecideQuery>,
    Json(request): Json<DecideChanges>,
) -> Result<Response, Problem> {
    let precondition = if query.dry_run {
        None
    } else {
        Some(IfMatch::required(&headers)?)
    };
    check_lengths(&[("import", &request.select.import, 63)])?;
    let by = changer(&place, request.note.clone(), query.ignore_policy_tests)?;
    let matches = |tag: &str| match &precondition {
        Some(precondition) => precondition.check(tag),
        None => Ok(()),
    };
    let project = &place.project.row.id;
    let decided = Box::pin(quarantine::decide(
        &gateway,
        project,
        &by,
        &request,
        query.dry_run,
        matches,
    ));
    let (answer, tag) = decided.await?;
    Ok(([(header::ETAG, etag(&tag))], axum::Json(answer)).into_response())
}
