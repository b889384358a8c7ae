//! Uploading, replacing and deleting tools.

use std::sync::Arc;

use axum::extract::{FromRequest, Multipart, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Deserialize;
use toolgate_api::tools::{Tool, UploadOutcome, UploadResult};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::{self, TextFormat, Upload};
use toolgate_core::ids::ToolName;

use super::precondition::IfMatch;
use super::tools::{answer, tag};
use crate::extract::{EditDefinitions, InProject, Path, Query, body, content_type, unsupported};
use crate::gateway::change_record::Changer;
use crate::gateway::publish::{self, Author, tool_not_found};
use crate::gateway::{Gateway, Problem};

/// What an upload reads.
const FORMATS: &str = "application/yaml, application/json, or multipart/form-data with a part `file`";
/// One definition, as the documentation shows uploads.
pub const EXAMPLE: &str = "name: ping\ntype: openapi\ndescription: Is the service up?\nparameters: {type: object, properties: {}}\noptions:\n  http: {base_url: \"https://api.example.com\", path: /ping}\n";

/// How to upload.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct UploadQuery {
    /// Only say what the upload would do; the verdict is the same.
    #[serde(default)]
    #[param(default = false)]
    dry_run: bool,
    /// Why; kept with the revisions.
    #[param(max_length = 500)]
    note: Option<String>,
    /// Store it even if policy tests that hold now would fail; the revisions' note then names them.
    #[serde(default)]
    #[param(default = false)]
    ignore_policy_tests: bool,
}

/// Why something is changed.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct NoteQuery {
    /// Why; kept with the revision.
    #[param(max_length = 500)]
    pub note: Option<String>,
    /// Change it even if policy tests that hold now would fail; the revision's note then names them.
    #[serde(default)]
    #[param(default = false)]
    pub ignore_policy_tests: bool,
}

/// Upload tools
///
/// One tool, several YAML documents, or a map `tool: {id: {...}}` and `tool-service: {id: {...}}`, as YAML, as JSON,
/// or as the part `file` of a form. All or nothing: with one fault nothing is stored, and every fault is named with
/// its line and column. What an upload names is replaced; a tool may carry `expect_revision` (0: must be new). A client
/// that sends nothing but JSON sends a YAML text as `{"yaml": "..."}`.
#[utoipa::path(post, path = "/projects/{project_id}/tools", tag = "tools", params(super::ProjectPath, UploadQuery),
    request_body(description = "Definitions", content(
        (String = "application/yaml", example = json!(EXAMPLE)),
        (UploadJson = "application/json", example = json!({"yaml": EXAMPLE})),
        (UploadForm = "multipart/form-data", example = json!({"file": EXAMPLE})))),
    responses((status = 200, description = "Replaced, unchanged, or a dry run", body = UploadResult),
        (status = 201, description = "At least one definition is new", body = UploadResult)))]
pub async fn upload_tools(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<EditDefinitions>,
    Query(query): Query<UploadQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let (bytes, format) = read(request).await?;
    let upload = parse(&gateway, &place, bytes, format)
        .await?
        .map_err(publish::invalid_definition)?;
    let by = changer(&place, query.note, query.ignore_policy_tests)?;
    let project = &place.project.row.id;
    let result = publish::upload(&gateway, project, &by, "upload", upload, query.dry_run).await?;
    let created = !query.dry_run
        && result
            .items
            .iter()
            .any(|item| item.outcome == UploadOutcome::Created);
    let status = if created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok((status, axum::Json(result)).into_response())
}

/// An upload as JSON: its members, or the text `yaml` alone.
#[derive(Deserialize, utoipa::ToSchema)]
#[expect(dead_code, reason = "describes the body; the handler reads its text")]
pub struct UploadJson {
    /// The same as YAML, for clients that send nothing but JSON. No other member is allowed beside it.
    #[schema(required = false)]
    yaml: String,
    /// What is uploaded.
    #[serde(flatten)]
    members: serde_json::Map<String, serde_json::Value>,
}

/// The form of an upload.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "describes the form; the handler reads its parts")]
pub struct UploadForm {
    /// A YAML or JSON file.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
}

/// Replace a tool
///
/// With one definition, as YAML or JSON, under the same name. `If-Match` must name the revision that was read.
#[utoipa::path(put, path = "/projects/{project_id}/tools/{tool_name}", tag = "tools",
    params(super::ProjectPath, super::ToolPath, super::IfMatchHeader, NoteQuery),
    request_body(description = "The definition", content(
        (String = "application/yaml", example = json!(EXAMPLE)),
        (UploadJson = "application/json", example = json!({"yaml": EXAMPLE})),
        (UploadForm = "multipart/form-data", example = json!({"file": EXAMPLE})))),
    responses((status = 200, description = "Replaced", body = Tool, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn replace_tool(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<EditDefinitions>,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<NoteQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let revision = place
        .project
        .snapshot
        .tool(&name)
        .ok_or_else(|| tool_not_found(&name))?
        .revision;
    precondition.check(&tag(revision))?;
    let (bytes, format) = read(request).await?;
    let mut upload = parse(&gateway, &place, bytes, format)
        .await?
        .map_err(publish::invalid_definition)?;
    match upload.tools.as_mut_slice() {
        [only] if only.definition.name.as_str() == name && upload.services.is_empty() => {
            if precondition != IfMatch::Any {
                only.expect_revision = Some(revision);
            }
        }
        _ => {
            return Err(Problem::new(
                ErrorCode::InvalidRequest,
                format!("Send exactly one definition, named \"{name}\" as in the path."),
            ));
        }
    }
    let by = changer(&place, query.note, query.ignore_policy_tests)?;
    publish::upload(
        &gateway,
        &place.project.row.id,
        &by,
        "replace_tool",
        upload,
        false,
    )
    .await?;
    let server_snapshot = gateway.snapshots.now();
    let project = server_snapshot.project(place.project.row.id.as_str());
    let tool = project
        .and_then(|project| project.snapshot.tool(&name))
        .ok_or_else(|| tool_not_found(&name))?;
    answer(&HeaderMap::new(), tool, true)
}

/// Delete a tool
///
/// It can be restored from its revisions.
#[utoipa::path(delete, path = "/projects/{project_id}/tools/{tool_name}", tag = "tools",
    params(super::ProjectPath, super::ToolPath, super::IfMatchHeader, NoteQuery),
    responses((status = 204, description = "Deleted")))]
pub async fn delete_tool(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<EditDefinitions>,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<NoteQuery>,
) -> Result<StatusCode, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let name = ToolName::parse(name).map_err(|error| tool_not_found(&error.text))?;
    let by = changer(&place, query.note, query.ignore_policy_tests)?;
    publish::delete_tool(&gateway, &place.project.row.id, &name, &by, |revision| {
        precondition.check(&tag(revision))
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Who changes definitions, and why.
///
/// # Errors
/// 400 for a note that is too long.
pub fn changer<P>(
    place: &InProject<P>,
    said: Option<String>,
    ignore_policy_tests: bool,
) -> Result<Changer<'_>, Problem> {
    Ok(Changer {
        requester: place.requester(),
        author: Author {
            name: &place.caller.identity.principal.name,
            note: note(said)?,
            ignore_policy_tests,
        },
    })
}

/// A note that fits.
pub fn note(note: Option<String>) -> Result<Option<String>, Problem> {
    match note {
        Some(note) if note.chars().count() > 500 => Err(Problem::new(
            ErrorCode::MalformedRequest,
            "`note` has more than 500 characters.",
        )),
        Some(note) if note.trim().is_empty() => Ok(None),
        other => Ok(other),
    }
}

/// The text of the upload and how to read it.
pub async fn read(request: Request) -> Result<(Bytes, TextFormat), Problem> {
    match content_type(request.headers()).as_deref() {
        Some("multipart/form-data") => file_part(request).await,
        _ => text(request, FORMATS).await,
    }
}

/// A body that is YAML or JSON; `formats` are what another one is answered with.
pub(super) async fn text(request: Request, formats: &str) -> Result<(Bytes, TextFormat), Problem> {
    match content_type(request.headers()).as_deref() {
        Some("application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml") => {
            Ok((body(request).await?, TextFormat::Yaml))
        }
        Some("application/json") => Ok(carried(body(request).await?)),
        other => Err(unsupported(other, formats)),
    }
}

/// The text of a JSON body: the YAML that it carries as `{"yaml": "..."}`, or itself.
fn carried(json: Bytes) -> (Bytes, TextFormat) {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Carried {
        yaml: String,
    }
    match serde_json::from_slice(&json) {
        Ok(Carried { yaml }) => (Bytes::from(yaml), TextFormat::Yaml),
        Err(_) => (json, TextFormat::Json),
    }
}

async fn file_part(request: Request) -> Result<(Bytes, TextFormat), Problem> {
    let malformed = |what: &str| {
        Problem::new(
            ErrorCode::MalformedRequest,
            format!("The form is not readable: {what}."),
        )
    };
    let too_large = |status: StatusCode, what: String| match status {
        StatusCode::PAYLOAD_TOO_LARGE => Problem::new(
            ErrorCode::PayloadTooLarge,
            "The form is larger than this server accepts.",
        ),
        _ => Problem::new(
            ErrorCode::MalformedRequest,
            format!("The form is not readable: {what}."),
        ),
    };
    let mut form = Multipart::from_request(request, &())
        .await
        .map_err(|error| malformed(&error.body_text()))?;
    let mut found = None;
    while let Some(part) = form
        .next_field()
        .await
        .map_err(|error| too_large(error.status(), error.body_text()))?
    {
        if part.name() != Some("file") {
            return Err(malformed("it has a part other than `file`"));
        }
        if found.is_some() {
            return Err(malformed("it has more than one part `file`"));
        }
        let json = part.content_type() == Some("application/json")
            || part
                .file_name()
                .is_some_and(|name| name.to_ascii_lowercase().ends_with(".json"));
        let bytes = part
            .bytes()
            .await
            .map_err(|error| too_large(error.status(), error.body_text()))?;
        found = Some((bytes, if json { TextFormat::Json } else { TextFormat::Yaml }));
    }
    found.ok_or_else(|| malformed("it has no part `file`"))
}

/// Parses away from the threads that serve requests: a hostile text may take a while.
pub async fn parse(
    gateway: &std::sync::Arc<Gateway>,
    place: &InProject<EditDefinitions>,
    bytes: Bytes,
    format: TextFormat,
) -> Result<Result<Upload, Vec<Diagnostic>>, Problem> {
    let (gateway, project) = (
        std::sync::Arc::clone(gateway),
        std::sync::Arc::clone(&place.project),
    );
    tokio::task::spawn_blocking(move || {
        publish::with_context(&gateway, &project, |context| {
            definition::parse_upload(&bytes, format, context)
        })
    })
    .await
    .map_err(|error| Problem::internal(&error))
}
