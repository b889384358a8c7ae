//! Importing descriptions of APIs.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_api::ErrorCode;
use toolgate_api::imports::{
    Import, ImportOperation, ImportOperationPage, ImportPage, ImportPreview, ImportReport, ImportSource,
};
use toolgate_core::ids::ImportId;

use super::imports_query::{ImportQuery, PreviewQuery, prefix};
use super::permissions::PutHeaders;
use super::precondition::{IfMatch, PutCondition, etag, unchanged};
use super::projects::PageQuery;
use super::tools_edit::{UploadForm, UploadJson, changer};
use crate::extract::{EditDefinitions, InProject, Path, Query, ReadDefinitions, SystemAdmin};
use crate::gateway::imports::request::ImportRequest;
use crate::gateway::imports::{self, read, run};
use crate::gateway::{Gateway, Problem, cursor};

/// A description, as the documentation shows uploads.
const EXAMPLE: &str = "openapi: 3.1.0\ninfo: {title: Petstore, version: 1.0.0}\nservers: [{url: \"https://petstore.example.com\"}]\npaths: {/pets: {get: {operationId: listPets, summary: List all pets}}}\n";

/// The import in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct ImportPath {
    /// The import's id.
    #[param(
        example = "petstore",
        min_length = 1,
        max_length = 63,
        pattern = "^[a-z](-?[a-z0-9])*$"
    )]
    import_id: String,
}

/// How to import again.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RefreshQuery {
    /// Only say what the import would do.
    #[serde(default)]
    #[param(default = false)]
    pub(super) dry_run: bool,
    /// Also answer every definition and what changed in it.
    #[serde(default)]
    #[param(default = false)]
    pub(super) definitions: bool,
    /// Another beginning for the names of new tools.
    #[param(
        max_length = 32,
        pattern = "^([A-Za-z0-9][A-Za-z0-9_-]*)?$",
        example = "petstore_"
    )]
    pub(super) prefix: Option<String>,
    /// Why; kept with the revisions.
    #[param(max_length = 500)]
    pub(super) note: Option<String>,
    /// Store it even if policy tests that hold now would fail; the revisions' note then names them.
    #[serde(default)]
    #[param(default = false)]
    pub(super) ignore_policy_tests: bool,
}

/// Preview an import
///
/// Reads a description of an API (OpenAPI 3.0, 3.1 or 3.2, or Swagger 2.0; at most 16 MiB of JSON or YAML) and says for each
/// operation which tool it would become, or why it cannot: a fault costs the operation it is in, never the whole. Nothing is
/// stored; the definitions can be uploaded as they are, or edited first. References to other documents are not followed.
#[utoipa::path(post, path = "/projects/{project_id}/imports", tag = "imports", params(super::ProjectPath, PreviewQuery),
    request_body(description = "The description", content(
        (String = "application/yaml", example = json!(EXAMPLE)),
        (UploadJson = "application/json", example = json!({"yaml": EXAMPLE})),
        (UploadForm = "multipart/form-data", example = json!({"file": EXAMPLE})))),
    responses((status = 200, description = "What it would become", body = ImportPreview)))]
pub async fn preview_import(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<EditDefinitions>,
    Query(query): Query<PreviewQuery>,
    request: Request,
) -> Result<axum::Json<ImportPreview>, Problem> {
    let asked = query.read(&place.caller, request).await?;
    imports::describe(&gateway, &place.project, asked)
        .await
        .map(axum::Json)
}

/// List imports
///
/// By id; each with what was imported last, where its tools send requests, and how much of it waits for a decision.
#[utoipa::path(get, path = "/projects/{project_id}/imports", tag = "imports", params(super::ProjectPath, PageQuery),
    responses((status = 200, description = "A page", body = ImportPage)))]
pub async fn list_imports(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
    Query(query): Query<PageQuery>,
) -> Result<axum::Json<ImportPage>, Problem> {
    let (after, limit) = query.parse()?;
    let found = read::list(&gateway, &place.project, after.as_deref(), limit + 1).await?;
    let (items, next_cursor) = cursor::page(found, limit, |import: &Import| import.id.clone());
    Ok(axum::Json(ImportPage { items, next_cursor }))
}

/// Import a description
///
/// The chosen operations become disabled tools, all of them or none. Importing again compares with the last time: new
/// operations become disabled tools; what changed in others waits in the quarantine, and their tools stay as they are; what
/// was edited here is kept. An operation that is gone keeps its tool. `If-None-Match: *` makes an import, `If-Match` imports
/// again; a dry run needs neither. What the query does not mention stays as it was said the last time.
#[utoipa::path(put, path = "/projects/{project_id}/imports/{import_id}", tag = "imports",
    params(super::ProjectPath, ImportPath, PutHeaders, ImportQuery),
    request_body(description = "The description", content(
        (String = "application/yaml", example = json!(EXAMPLE)),
        (UploadJson = "application/json", example = json!({"yaml": EXAMPLE})),
        (UploadForm = "multipart/form-data", example = json!({"file": EXAMPLE})))),
    responses((status = 200, description = "Imported again, or a dry run", body = ImportReport, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 201, description = "A new import", body = ImportReport, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn put_import(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<EditDefinitions>,
    Path((_, id)): Path<(String, String)>,
    Query(query): Query<ImportQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let condition = if query.dry_run {
        None
    } else {
        Some(PutCondition::required(&headers)?)
    };
    let id = ImportId::parse(id).map_err(|error| {
        Problem::new(
            ErrorCode::MalformedRequest,
            format!("The id of the import: {error}."),
        )
    })?;
    let asked = ImportRequest {
        adopt: query.adopt,
        dry_run: query.dry_run,
        ..query.read(&place.caller, request).await?
    };
    let by = changer(&place, query.note, query.ignore_policy_tests)?;
    let check = |revision: Option<i64>| match &condition {
        Some(condition) => condition.check(revision.map(tag).as_deref()),
        None => Ok(()),
    };
    let (is_new, report) = Box::pin(run::import(
        &gateway,
        &place.project.row.id,
        id,
        &by,
        asked,
        check,
    ))
    .await?;
    Ok(answer(is_new, report))
}

/// Get an import
///
/// Where it came from, where its tools send requests, and how many of its operations are in which state.
#[utoipa::path(get, path = "/projects/{project_id}/imports/{import_id}", tag = "imports", params(super::ProjectPath, ImportPath),
    responses((status = 200, description = "The import", body = Import, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 304, description = "Not modified")))]
pub async fn get_import(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ReadDefinitions>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let import = read::get(&gateway, &place.project, &id).await?;
    let tag = tag(import.revision);
    if unchanged(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&tag))]).into_response());
    }
    Ok(([(header::ETAG, etag(&tag))], axum::Json(import)).into_response())
}

/// List the operations of an import
///
/// By the names of their tools; each with what was edited here, whether a change waits, and whether the description still
/// has it.
#[utoipa::path(get, path = "/projects/{project_id}/imports/{import_id}/operations", tag = "imports",
    params(super::ProjectPath, ImportPath, PageQuery),
    responses((status = 200, description = "A page", body = ImportOperationPage)))]
pub async fn list_import_operations(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
    Path((_, id)): Path<(String, String)>,
    Query(query): Query<PageQuery>,
) -> Result<axum::Json<ImportOperationPage>, Problem> {
    let (after, limit) = query.parse()?;
    let found = read::operations(&gateway, &place.project, &id, after.as_deref(), limit + 1).await?;
    let (items, next_cursor) =
        cursor::page(found, limit, |operation: &ImportOperation| operation.tool.clone());
    Ok(axum::Json(ImportOperationPage { items, next_cursor }))
}

/// Delete an import
///
/// Its tools stay as they are; what waits in the quarantine is dropped. Importing the description again takes the
/// tools in with `adopt`.
#[utoipa::path(delete, path = "/projects/{project_id}/imports/{import_id}", tag = "imports",
    params(super::ProjectPath, ImportPath, super::IfMatchHeader),
    responses((status = 204, description = "Deleted")))]
pub async fn delete_import(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<EditDefinitions>,
    Path((_, id)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let by = changer(&place, None, false)?;
    read::delete(&gateway, &place.project.row.id, &by, &id, |revision| {
        precondition.check(&tag(revision))
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Import again
///
/// For system administrators. Fetches the description from the address it came from, through the egress rules, and imports it
/// as it was imported the last time.
#[utoipa::path(post, path = "/projects/{project_id}/imports/{import_id}/refresh", tag = "imports",
    params(super::ProjectPath, ImportPath, super::IfMatchHeader, RefreshQuery),
    responses((status = 200, description = "Imported again, or a dry run", body = ImportReport, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn refresh_import(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<EditDefinitions>,
    _admin: SystemAdmin,
    Path((_, id)): Path<(String, String)>,
    Query(query): Query<RefreshQuery>,
) -> Result<Response, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let ImportSource { url, mcp_server, .. } = read::get(&gateway, &place.project, &id).await?.source;
    if url.is_none() && mcp_server.is_none() {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "The description of this import was sent, not fetched. Send the newer one with PUT, or name its `url` there.",
        ));
    }
    let shown = id.clone();
    let id = ImportId::parse(id).map_err(|error| read::not_found(&error.text))?;
    let asked = ImportRequest {
        url,
        mcp_server,
        prefix: prefix(query.prefix.as_deref())?,
        definitions: query.definitions,
        dry_run: query.dry_run,
        ..ImportRequest::default()
    };
    let by = changer(&place, query.note, query.ignore_policy_tests)?;
    let check = |revision: Option<i64>| match revision {
        Some(revision) => precondition.check(&tag(revision)),
        None => Err(read::not_found(&shown)),
    };
    let (_, report) = Box::pin(run::import(
        &gateway,
        &place.project.row.id,
        id,
        &by,
        asked,
        check,
    ))
    .await?;
    Ok(answer(false, report))
}

fn answer(is_new: bool, report: ImportReport) -> Response {
    let status = if is_new && !report.dry_run {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let tag = etag(&tag(report.import.revision));
    (status, [(header::ETAG, tag)], axum::Json(report)).into_response()
}

fn tag(revision: i64) -> String {
    format!("v{revision}")
}
