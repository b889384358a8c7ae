//! Service keys.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use secrecy::ExposeSecret;
use toolgate_api::keys::{CreateKey, CreatedKey, Key, KeyPage, RotateKey};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::names::label_fault;
use toolgate_core::ids::KeyId;
use toolgate_core::principal::{PrincipalKind, PrincipalRef};
use toolgate_core::readable::name_fault;
use toolgate_store::rows::KeyRow;
use uuid::Uuid;

use super::precondition::{IfMatch, etag};
use super::projects::SearchQuery;
use crate::auth::directory::Directory;
use crate::extract::{Caller, InProject, Json, ManageKeys, Path, Query};
use crate::gateway::keys;
use crate::gateway::settings::is_target;
use crate::gateway::{Gateway, Problem, cursor};

/// The longest time for which the secret before a rotation works: 30 days.
const MAX_OVERLAP_S: u32 = 2_592_000;
/// Targets of workers that one key may have.
const MAX_TARGETS: usize = 64;

/// Create a key
///
/// For an agent or a machine. The secret is in this answer and nowhere else. A caller cannot give more than it holds:
/// the role and the groups must be covered by the creator's own.
#[utoipa::path(post, path = "/projects/{project_id}/keys", tag = "keys", params(super::ProjectPath), request_body = CreateKey,
    responses((status = 201, description = "Created", body = CreatedKey,
        headers(("ETag" = String, description = "For `If-Match`"), ("Location" = String, description = "Where it is")))))]
pub async fn create_key(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ManageKeys>,
    Json(request): Json<CreateKey>,
) -> Result<Response, Problem> {
    check(&request)?;
    let created = keys::create(&gateway, place.caller.actor(), &place.project, request);
    let keys::Minted { row, secret } = Box::pin(created).await?;
    let location = format!("/projects/{}/keys/{}", place.project.row.id, row.id);
    let directory = &gateway.snapshots.now().directory;
    let now = gateway.clock.now();
    let headers = [
        (header::ETAG, etag(&tag(directory, &row))),
        (header::LOCATION, super::header_value(&location)),
    ];
    let body = CreatedKey {
        secret: secret.expose_secret().to_owned(),
        key: wire(&gateway, directory, &row, now),
    };
    Ok((StatusCode::CREATED, headers, axum::Json(body)).into_response())
}

/// Replace the secret of a key
///
/// The new secret is in this answer and nowhere else; the old one works for `overlap_s` seconds more. Role and groups
/// stay as they are. The secret allows everything that the key may do, so the caller must hold all of it. With
/// `If-Match` only if the key is still the one that was read.
#[utoipa::path(post, path = "/projects/{project_id}/keys/{key_id}/rotate", tag = "keys", params(super::ProjectPath, KeyPath),
    request_body = RotateKey,
    responses((status = 200, description = "Replaced", body = CreatedKey, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn rotate_key(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManageKeys>,
    Path((_, id)): Path<(String, Uuid)>,
    Json(request): Json<RotateKey>,
) -> Result<Response, Problem> {
    let precondition = IfMatch::optional(&headers)?;
    if request.overlap_s > MAX_OVERLAP_S {
        return Err(
            Problem::new(ErrorCode::InvalidRequest, "The key cannot be rotated like this.").errors(vec![
                Diagnostic::error("must be from 0 to 2592000 seconds").at_pointer("/overlap_s"),
            ]),
        );
    }
    let matches = |directory: &Directory, row: &KeyRow| match &precondition {
        Some(condition) => condition.check(&tag(directory, row)),
        None => Ok(()),
    };
    let change = keys::rotate(
        &gateway,
        place.caller.actor(),
        &place.project,
        KeyId(id),
        request.overlap_s,
        matches,
    );
    let keys::Minted { row, secret } = Box::pin(change).await?;
    let directory = &gateway.snapshots.now().directory;
    let body = CreatedKey {
        secret: secret.expose_secret().to_owned(),
        key: wire(&gateway, directory, &row, gateway.clock.now()),
    };
    let tag = etag(&tag(directory, &row));
    Ok(([(header::ETAG, tag)], axum::Json(body)).into_response())
}

/// List keys
///
/// Newest first, revoked ones included; never their secrets.
#[utoipa::path(get, path = "/projects/{project_id}/keys", tag = "keys", params(super::ProjectPath, SearchQuery),
    responses((status = 200, description = "A page", body = KeyPage)))]
pub async fn list_keys(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ManageKeys>,
    Query(query): Query<SearchQuery>,
) -> Result<axum::Json<KeyPage>, Problem> {
    let (after, limit) = query.parse()?;
    let after = after
        .map(|text| text.parse::<Uuid>().map_err(|_| cursor::invalid()))
        .transpose()?;
    let rows: Vec<&KeyRow> = place
        .caller
        .server_snapshot
        .directory
        .keys_of(place.project.row.uid)
        .map(AsRef::as_ref)
        .filter(|row| after.is_none_or(|after| row.id.0 < after))
        .filter(|row| query.finds(&[&row.name, &row.prefix]))
        .take(limit + 1)
        .collect();
    let (rows, next_cursor) = cursor::page(rows, limit, |row| row.id.to_string());
    let Caller {
        server_snapshot, now, ..
    } = &place.caller;
    Ok(axum::Json(KeyPage {
        items: rows
            .into_iter()
            .map(|row| wire(&gateway, &server_snapshot.directory, row, *now))
            .collect(),
        next_cursor,
    }))
}

/// Get a key
///
/// Revoked ones included; never its secret.
#[utoipa::path(get, path = "/projects/{project_id}/keys/{key_id}", tag = "keys", params(super::ProjectPath, KeyPath),
    responses((status = 200, description = "The key", body = Key, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn get_key(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ManageKeys>,
    Path((_, id)): Path<(String, Uuid)>,
) -> Result<Response, Problem> {
    let Caller {
        server_snapshot, now, ..
    } = &place.caller;
    let row = keys::find(server_snapshot, &place.project, KeyId(id))?;
    let tag = etag(&tag(&server_snapshot.directory, &row));
    Ok((
        [(header::ETAG, tag)],
        axum::Json(wire(&gateway, &server_snapshot.directory, &row, *now)),
    )
        .into_response())
}

/// Revoke a key
///
/// Effective at once. The key stays in the list, so that records can be read.
#[utoipa::path(delete, path = "/projects/{project_id}/keys/{key_id}", tag = "keys", params(super::ProjectPath, KeyPath, super::IfMatchHeader),
    responses((status = 204, description = "Revoked")))]
pub async fn revoke_key(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManageKeys>,
    Path((_, id)): Path<(String, Uuid)>,
) -> Result<StatusCode, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let matches = |directory: &Directory, row: &KeyRow| precondition.check(&tag(directory, row));
    let change = keys::revoke(&gateway, place.caller.actor(), &place.project, KeyId(id), matches);
    Box::pin(change).await?;
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

fn check(request: &CreateKey) -> Result<(), Problem> {
    let mut errors = Vec::new();
    if let Some(fault) = name_fault(request.name.trim(), 100) {
        errors.push(Diagnostic::error(fault).at_pointer("/name"));
    }
    for (at, group) in request.groups.iter().enumerate() {
        if let Some(fault) = label_fault(group) {
            errors.push(Diagnostic::error(fault).at_pointer(format!("/groups/{at}")));
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
    let targets = request.bus.as_ref().map_or(&[][..], |bus| &bus.workers);
    if targets.len() > MAX_TARGETS {
        errors.push(Diagnostic::error("at most 64 targets").at_pointer("/bus/workers"));
    }
    for (at, target) in targets.iter().enumerate() {
        if !is_target(target) {
            let fault = "must be a target of a worker: 1-64 letters, digits, `_` and `-`";
            errors.push(Diagnostic::error(fault).at_pointer(format!("/bus/workers/{at}")));
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(Problem::new(ErrorCode::InvalidRequest, "The key cannot be created like this.").errors(errors))
    }
}

/// A key changes by itself when it is rotated or revoked, and with its grant.
fn tag(directory: &Directory, row: &KeyRow) -> String {
    let grant = directory.stored_grant(&PrincipalRef::key(row.id), row.project);
    format!("r{}-{}", row.revision, grant.map_or(0, |grant| grant.revision))
}

fn wire(gateway: &Gateway, directory: &Directory, row: &KeyRow, now: DateTime<Utc>) -> Key {
    let id = row.id.to_string();
    let used = gateway
        .observer
        .usage()
        .principal(row.project, PrincipalKind::ServiceKey, &id);
    let grant = directory.key_grant(row, now);
    let previous = row.previous.as_ref().map(|secret| secret.until);
    Key {
        id: row.id.0,
        name: row.name.clone(),
        prefix: row.prefix.clone(),
        principal: PrincipalRef::key(row.id).to_string(),
        role: grant.as_ref().map(|grant| grant.role),
        groups: grant.map(|grant| grant.groups.to_vec()).unwrap_or_default(),
        created_at: row.created_at,
        created_by: row.created_by.clone(),
        rotated_at: row.rotated_at,
        previous_secret_until: previous.filter(|&until| now < until),
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
        last_used_at: used.map(|used| used.last_at),
        bus: row.bus.clone(),
    }
}
