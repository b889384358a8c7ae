//! Service keys.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::TimeDelta;
use secrecy::ExposeSecret;
use toolgate_api::keys::{CreateKey, CreatedKey, Key, KeyPage};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::ids::KeyId;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::may_give;
use toolgate_store::rows::KeyRow;
use uuid::Uuid;

use super::cursor;
use super::precondition::{IfMatch, etag};
use super::projects::PageQuery;
use crate::auth::api_key;
use crate::error::{ApiError, ApiResult};
use crate::extract::{InProject, Json, ManageKeys, Path, Query};
use crate::state::AppState;

/// Create a key
///
/// For an agent or a machine. The secret is in this answer and nowhere else. Nobody gives more than they hold: the
/// role and the groups must be covered by the creator's own.
#[utoipa::path(post, path = "/projects/{project_id}/keys", tag = "keys", params(super::ProjectPath), request_body = CreateKey,
    responses((status = 201, description = "Created", body = CreatedKey,
        headers(("ETag" = String, description = "For `If-Match`"), ("Location" = String, description = "Where it is")))))]
pub async fn create_key(
    State(app): State<AppState>,
    place: InProject<ManageKeys>,
    Json(request): Json<CreateKey>,
) -> ApiResult<Response> {
    check(&request)?;
    let groups: GroupSet = request.groups.iter().cloned().collect();
    let missing = place.grant.groups.missing(&groups);
    if !missing.is_empty() {
        return Err(ApiError::new(
            ErrorCode::Forbidden,
            format!(
                "You cannot give groups that you do not hold: {}.",
                missing.join(", ")
            ),
        )
        .missing_groups(missing));
    }
    if !may_give(place.grant.role, request.role) {
        return Err(ApiError::new(
            ErrorCode::Forbidden,
            "You cannot give a role that may more than your own.",
        ));
    }
    let now = app.clock.now();
    let minted = api_key::mint().map_err(|error| ApiError::internal(&error))?;
    let row = KeyRow {
        id: KeyId(app.clock.new_id()),
        project: place.project.row.uid,
        name: request.name.trim().to_owned(),
        prefix: minted.prefix,
        digest: minted.digest,
        role: request.role,
        groups: groups.to_vec(),
        created_at: now,
        created_by: place.caller.identity.principal.name.clone(),
        expires_at: request
            .expires_in_s
            .map(|seconds| now + TimeDelta::seconds(i64::from(seconds))),
        revoked_at: None,
    };
    app.store.create_key(&row).await?;
    app.world.refresh().await?;
    let location = format!("/projects/{}/keys/{}", place.project.row.id, row.id);
    let headers = [
        (header::ETAG, etag(&tag(&row))),
        (header::LOCATION, super::header_value(&location)),
    ];
    let body = CreatedKey {
        secret: minted.text.expose_secret().to_owned(),
        key: wire(&row),
    };
    Ok((StatusCode::CREATED, headers, axum::Json(body)).into_response())
}

/// List keys
///
/// Newest first, revoked ones included; never their secrets.
#[utoipa::path(get, path = "/projects/{project_id}/keys", tag = "keys", params(super::ProjectPath, PageQuery),
    responses((status = 200, description = "A page", body = KeyPage)))]
pub async fn list_keys(
    place: InProject<ManageKeys>,
    Query(query): Query<PageQuery>,
) -> ApiResult<axum::Json<KeyPage>> {
    let (after, limit) = query.parse()?;
    let after = after
        .map(|text| text.parse::<Uuid>().map_err(|_| cursor::invalid()))
        .transpose()?;
    let rows: Vec<&KeyRow> = place
        .caller
        .world
        .directory
        .keys_of(place.project.row.uid)
        .map(AsRef::as_ref)
        .filter(|row| after.is_none_or(|after| row.id.0 < after))
        .take(limit + 1)
        .collect();
    let (rows, next_cursor) = cursor::page(rows, limit, |row| row.id.to_string());
    Ok(axum::Json(KeyPage {
        items: rows.into_iter().map(wire).collect(),
        next_cursor,
    }))
}

/// Get a key
///
/// Revoked ones included; never its secret.
#[utoipa::path(get, path = "/projects/{project_id}/keys/{key_id}", tag = "keys", params(super::ProjectPath, KeyPath),
    responses((status = 200, description = "The key", body = Key, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn get_key(
    place: InProject<ManageKeys>,
    Path((_, id)): Path<(String, Uuid)>,
) -> ApiResult<Response> {
    let row = find(&place, id)?;
    Ok(([(header::ETAG, etag(&tag(&row)))], axum::Json(wire(&row))).into_response())
}

/// Revoke a key
///
/// Effective at once. The key stays in the list, so that records can be read.
#[utoipa::path(delete, path = "/projects/{project_id}/keys/{key_id}", tag = "keys", params(super::ProjectPath, KeyPath, super::IfMatchHeader),
    responses((status = 204, description = "Revoked")))]
pub async fn revoke_key(
    State(app): State<AppState>,
    headers: HeaderMap,
    place: InProject<ManageKeys>,
    Path((_, id)): Path<(String, Uuid)>,
) -> ApiResult<StatusCode> {
    let precondition = IfMatch::required(&headers)?;
    let row = find(&place, id)?;
    precondition.check(&tag(&row))?;
    app.store.revoke_key(row.project, row.id, app.clock.now()).await?;
    app.world.refresh().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The key in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct KeyPath {
    /// The key's id.
    key_id: Uuid,
}

fn find(place: &InProject<ManageKeys>, id: Uuid) -> ApiResult<std::sync::Arc<KeyRow>> {
    place
        .caller
        .world
        .directory
        .key(KeyId(id))
        .filter(|row| row.project == place.project.row.uid)
        .cloned()
        .ok_or_else(|| ApiError::not_found(format!("key {id}")))
}

fn check(request: &CreateKey) -> ApiResult<()> {
    let mut errors = Vec::new();
    let name = request.name.trim();
    if !(1..=100).contains(&name.chars().count()) || name.chars().any(char::is_control) {
        errors.push(
            Diagnostic::error("the name must have 1-100 characters and no control characters")
                .at_pointer("/name"),
        );
    }
    for (at, group) in request.groups.iter().enumerate() {
        let plain = !group.is_empty()
            && group.len() <= 128
            && group.trim() == group
            && !group.chars().any(char::is_control);
        if !plain {
            errors.push(
                Diagnostic::error(
                    "a group name has 1-128 characters, no control characters and no space at its ends",
                )
                .at_pointer(format!("/groups/{at}")),
            );
        }
    }
    if request.groups.len() > 1000 {
        errors.push(Diagnostic::error("at most 1000 groups").at_pointer("/groups"));
    }
    if request
        .expires_in_s
        .is_some_and(|seconds| !(1..=315_360_000).contains(&seconds))
    {
        errors.push(Diagnostic::error("must be from 1 to 315360000 seconds").at_pointer("/expires_in_s"));
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(ApiError::new(ErrorCode::InvalidRequest, "The key cannot be created like this.").errors(errors))
    }
}

/// A key changes once in its life, when it is revoked.
fn tag(row: &KeyRow) -> String {
    format!(
        "{}{}",
        row.id,
        if row.revoked_at.is_some() { "-revoked" } else { "" }
    )
}

fn wire(row: &KeyRow) -> Key {
    Key {
        id: row.id.0,
        name: row.name.clone(),
        prefix: row.prefix.clone(),
        role: row.role,
        groups: row.groups.clone(),
        created_at: row.created_at,
        created_by: row.created_by.clone(),
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
    }
}
