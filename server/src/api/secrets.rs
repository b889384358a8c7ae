//! Secrets of a project: set and used, never shown.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_api::ErrorCode;
use toolgate_api::secrets::{Secret, SecretPage, SetSecret};

use super::precondition::{IfMatch, etag};
use super::projects::PageQuery;
use crate::extract::{InProject, Json, ManageSecrets, Path, Query};
use crate::gateway::secrets;
use crate::gateway::secrets::change::not_found;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem, cursor};

/// The secret in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct SecretPath {
    /// The secret's name.
    #[param(
        example = "SEARCH_API_KEY",
        min_length = 1,
        max_length = 128,
        pattern = "^[A-Za-z_][A-Za-z0-9_]*$"
    )]
    secret_name: String,
}

/// The precondition of replacing a secret.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes the header; `precondition` reads it")]
pub struct SecretIfMatch {
    /// The ETag that was last read, or `*` for whatever is there, nothing included. Not needed for a new secret.
    #[param(rename = "If-Match", example = "*", required = false)]
    if_match: String,
}

/// How to remove a secret.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeleteSecretQuery {
    /// Remove it even if something uses it.
    #[serde(default)]
    #[param(default = false)]
    force: bool,
}

/// List secrets
///
/// By name, with what uses each of them; never their values.
#[utoipa::path(get, path = "/projects/{project_id}/secrets", tag = "secrets", params(super::ProjectPath, PageQuery),
    responses((status = 200, description = "A page", body = SecretPage)))]
pub async fn list_secrets(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ManageSecrets>,
    Query(query): Query<PageQuery>,
) -> Result<axum::Json<SecretPage>, Problem> {
    let (after, limit) = query.parse()?;
    let found = secrets::list(&gateway, &place.project, after.as_deref(), limit + 1).await?;
    let (items, next_cursor) = cursor::page(found, limit, |secret| secret.name.clone());
    Ok(axum::Json(SecretPage { items, next_cursor }))
}

/// Get a secret
///
/// When it was set and by whom, when it was last used, and what refers to it; never its value.
#[utoipa::path(get, path = "/projects/{project_id}/secrets/{secret_name}", tag = "secrets", params(super::ProjectPath, SecretPath),
    responses((status = 200, description = "The secret, without its value", body = Secret, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn get_secret(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ManageSecrets>,
    Path((_, name)): Path<(String, String)>,
) -> Result<Response, Problem> {
    answer(&gateway, &place.project, &name, StatusCode::OK).await
}

/// Set a secret
///
/// Creates it or replaces its value. The value is encrypted, used by definitions that name `secret:<name>`, and never shown
/// again. Effective within a second everywhere. To replace one, `If-Match` must name the revision that was read.
#[utoipa::path(put, path = "/projects/{project_id}/secrets/{secret_name}", tag = "secrets",
    params(super::ProjectPath, SecretPath, SecretIfMatch), request_body = SetSecret,
    responses((status = 200, description = "Replaced", body = Secret, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 201, description = "Created", body = Secret, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn set_secret(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManageSecrets>,
    Path((_, name)): Path<(String, String)>,
    Json(request): Json<SetSecret>,
) -> Result<Response, Problem> {
    let current = place.project.secrets.get(&name).map(|secret| secret.revision);
    let expected = match (IfMatch::optional(&headers)?, current) {
        (Some(IfMatch::Any), _) => None,
        (None, None) => Some(0),
        (None, Some(_)) => {
            return Err(IfMatch::required(&headers)
                .err()
                .unwrap_or_else(|| not_found(&name)));
        }
        (Some(precondition), Some(revision)) => {
            precondition.check(&tag(revision))?;
            Some(revision)
        }
        (Some(IfMatch::Tags(_)), None) => {
            return Err(Problem::new(
                ErrorCode::PreconditionFailed,
                "There is no such secret (any more). Leave `If-Match` out to create it.",
            ));
        }
    };
    let requester = place.requester();
    secrets::put(
        &gateway,
        &place.project,
        &name,
        &request.value,
        expected,
        &requester,
    )
    .await?;
    let status = if current.is_none() {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let server_snapshot = gateway.snapshots.now();
    let project = server_snapshot.project(place.project.row.id.as_str());
    answer(&gateway, project.ok_or_else(|| not_found(&name))?, &name, status).await
}

/// Remove a secret
///
/// Refused while tools, services or the webhook refer to it, unless `force` says so; `errors` names them.
#[utoipa::path(delete, path = "/projects/{project_id}/secrets/{secret_name}", tag = "secrets",
    params(super::ProjectPath, SecretPath, super::IfMatchHeader, DeleteSecretQuery),
    responses((status = 204, description = "Removed")))]
pub async fn delete_secret(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManageSecrets>,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<DeleteSecretQuery>,
) -> Result<StatusCode, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let secret = place.project.secrets.get(&name).ok_or_else(|| not_found(&name))?;
    precondition.check(&tag(secret.revision))?;
    let expected = (precondition != IfMatch::Any).then_some(secret.revision);
    secrets::delete(
        &gateway,
        &place.project,
        &name,
        expected,
        query.force,
        &place.requester(),
    )
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn answer(
    gateway: &Gateway,
    project: &ProjectState,
    name: &str,
    status: StatusCode,
) -> Result<Response, Problem> {
    let secret = secrets::get(gateway, project, name)
        .await?
        .ok_or_else(|| not_found(name))?;
    let tag = etag(&tag(secret.revision));
    Ok((status, [(header::ETAG, tag)], axum::Json(secret)).into_response())
}

fn tag(revision: i64) -> String {
    format!("r{revision}")
}
