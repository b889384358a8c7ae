//! Who holds what in a project, and changing it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::TimeDelta;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use toolgate_api::ErrorCode;
use toolgate_api::permissions::{
    GrantTerms, Permission, PermissionCandidates, PermissionMatrix, UnusedGrants,
};
use toolgate_core::principal::PrincipalRef;

use super::precondition::{IfMatch, PutCondition, etag, unchanged};
use crate::auth::grants::StoredGrant;
use crate::extract::{InProject, Json, ManageAccess, Path, Query, ReadAccess, check_lengths};
use crate::gateway::access::{self, check_terms, matrix};
use crate::gateway::{Gateway, Problem, cursor};

/// Days without use after which a grant is listed as not used.
const UNUSED_DAYS: u32 = 90;

/// Which part of the matrix.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PermissionsQuery {
    /// Only this group and its children as columns, and `*`.
    #[param(max_length = 128)]
    group: Option<String>,
    /// `next_cursor` of the page before.
    #[param(max_length = 2048)]
    cursor: Option<String>,
    /// Rows per page; with many groups a page has fewer.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// Who holds what
///
/// Principals against groups: for each the role, where it comes from, and how it holds each group now. For owners and
/// auditors. A group that is not among a row's `cells` is not held.
#[utoipa::path(get, path = "/projects/{project_id}/permissions", tag = "permissions", params(super::ProjectPath, PermissionsQuery),
    responses((status = 200, description = "A page", body = PermissionMatrix, headers(("ETag" = String, description = "For `If-None-Match`"))),
        (status = 304, description = "Not modified")))]
pub async fn list_permissions(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ReadAccess>,
    Query(query): Query<PermissionsQuery>,
) -> Result<Response, Problem> {
    check_lengths(&[("group", &query.group, 128)])?;
    let after = cursor::parse(query.cursor.as_deref())?;
    let limit = cursor::limit(query.limit)?;
    let (directory, now) = (&place.caller.server_snapshot.directory, place.caller.now);
    let (groups, more_groups) = matrix::columns(&place.project, directory, query.group.as_deref());
    let limit = limit.min(matrix::rows_at_most(groups.len()));
    let members = matrix::members(&gateway, directory, &place.project, now);
    let page: Vec<_> = members
        .into_iter()
        .filter(|member| after.as_ref().is_none_or(|after| member.sort_key() > *after))
        .take(limit + 1)
        .collect();
    let (page, next_cursor) = cursor::page(page, limit, matrix::Member::sort_key);
    let quoted = |grant: &StoredGrant| format!("\"{}\"", tag(grant));
    let body = PermissionMatrix {
        items: page
            .into_iter()
            .map(|member| matrix::row(member, &groups, now, quoted))
            .collect(),
        groups,
        more_groups,
        next_cursor,
    };
    // What is held changes by the passing of time too, so the content itself is the tag.
    let body = serde_json::to_vec(&body).map_err(|error| Problem::internal(&error))?;
    let digest = Sha256::digest(&body);
    let tag: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    if unchanged(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&tag))]).into_response());
    }
    let headers = [
        (header::ETAG, etag(&tag)),
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
    ];
    Ok((headers, Body::from(body)).into_response())
}

/// How long nothing asked for it.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct UnusedQuery {
    /// Days.
    #[param(minimum = 1, maximum = 3650, default = 90)]
    days: Option<u32>,
}

/// List grants that are not used
///
/// The grants that are older than so many days and hold groups that their principal has not asked for since, with these groups.
/// Asking for a group or for a child of it counts, by a call or by a question what is available. For owners and auditors. To take the
/// groups away, replace the grant without them.
#[utoipa::path(get, path = "/projects/{project_id}/permissions/unused", tag = "permissions", params(super::ProjectPath, UnusedQuery),
    responses((status = 200, description = "The grants", body = UnusedGrants)))]
pub async fn list_unused_grants(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadAccess>,
    Query(query): Query<UnusedQuery>,
) -> Result<axum::Json<UnusedGrants>, Problem> {
    let days = query.days.unwrap_or(UNUSED_DAYS);
    if !(1..=3650).contains(&days) {
        return Err(Problem::new(
            ErrorCode::MalformedRequest,
            "The query is not valid: `days` must be from 1 to 3650.",
        ));
    }
    let quoted = |grant: &StoredGrant| format!("\"{}\"", tag(grant));
    let snapshot = &place.caller.server_snapshot;
    let age = TimeDelta::days(i64::from(days));
    access::unused::unused(&gateway, snapshot, &place.project, age, quoted)
        .await
        .map(axum::Json)
}

/// The text to search by.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CandidatesQuery {
    /// A part of the user name or of the name for people, whatever the case.
    #[param(min_length = 2, max_length = 64, example = "ada")]
    q: String,
}

/// Find users to grant something
///
/// For owners: the first 20 users whose name has the text in it, of the whole server. Disabled ones are not found.
#[utoipa::path(get, path = "/projects/{project_id}/permissions/candidates", tag = "permissions", params(super::ProjectPath, CandidatesQuery),
    responses((status = 200, description = "Those that were found", body = PermissionCandidates)))]
pub async fn list_permission_candidates(
    place: InProject<ManageAccess>,
    Query(query): Query<CandidatesQuery>,
) -> Result<axum::Json<PermissionCandidates>, Problem> {
    if !(2..=64).contains(&query.q.chars().count()) {
        return Err(Problem::new(
            ErrorCode::MalformedRequest,
            "The query is not valid: `q` must have 2 to 64 characters.",
        ));
    }
    let directory = &place.caller.server_snapshot.directory;
    Ok(axum::Json(PermissionCandidates {
        items: matrix::candidates(directory, &place.project, &query.q),
    }))
}

/// Get a grant
///
/// What is stored for a principal, whether it is in force or has expired. For owners and auditors.
#[utoipa::path(get, path = "/projects/{project_id}/permissions/{principal}", tag = "permissions", params(super::ProjectPath, PrincipalPath),
    responses((status = 200, description = "The grant", body = Permission, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 304, description = "Not modified")))]
pub async fn get_permission(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ReadAccess>,
    Path((_, principal)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let principal = parse(&principal)?;
    let stored = place
        .caller
        .server_snapshot
        .directory
        .stored_grant(&principal, place.project.row.uid);
    let stored = stored.ok_or_else(|| Problem::not_found(format!("grant of \"{principal}\"")))?;
    let tag = tag(stored);
    if unchanged(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&tag))]).into_response());
    }
    Ok(([(header::ETAG, etag(&tag))], axum::Json(wire(&gateway, stored))).into_response())
}

/// Whether to look at the project's expectations.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GuardQuery {
    /// Makes the change even if policy tests of a project would fail; the record then names them.
    #[param(default = false)]
    #[serde(default)]
    pub(super) ignore_policy_tests: bool,
}

/// Grant a role and groups
///
/// In place of what the principal held: with `If-None-Match: *` when it has no grant yet, with `If-Match` to replace
/// one. A caller cannot give more than it holds, nor for longer; a system administrator may give anything. Keeping or
/// shortening what is there is always allowed. Effective within a second everywhere, running sessions included.
#[utoipa::path(put, path = "/projects/{project_id}/permissions/{principal}", tag = "permissions",
    params(super::ProjectPath, PrincipalPath, GuardQuery, PutHeaders), request_body = GrantTerms,
    responses((status = 200, description = "Replaced", body = Permission, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 201, description = "Granted", body = Permission, headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn put_permission(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManageAccess>,
    Path((_, principal)): Path<(String, String)>,
    Query(query): Query<GuardQuery>,
    Json(terms): Json<GrantTerms>,
) -> Result<Response, Problem> {
    let condition = PutCondition::required(&headers)?;
    let principal = parse(&principal)?;
    check_terms(&terms)?;
    let matches = |current: Option<&StoredGrant>| condition.check(current.map(tag).as_deref());
    let (actor, project) = (place.caller.actor(), &place.project);
    let change = access::put(
        &gateway,
        actor,
        project,
        &principal,
        terms,
        matches,
        query.ignore_policy_tests,
    );
    let stored = Box::pin(change).await?;
    let status = match condition {
        PutCondition::New => StatusCode::CREATED,
        PutCondition::Existing(_) => StatusCode::OK,
    };
    let body = axum::Json(wire(&gateway, &stored));
    Ok((status, [(header::ETAG, etag(&tag(&stored)))], body).into_response())
}

/// Take a grant away
///
/// The principal loses its role and groups within a second everywhere. A key stays, but may do nothing; a subject of an
/// external issuer keeps what the issuer's configuration gives it. The last owner of a project stays.
#[utoipa::path(delete, path = "/projects/{project_id}/permissions/{principal}", tag = "permissions",
    params(super::ProjectPath, PrincipalPath, GuardQuery, super::IfMatchHeader),
    responses((status = 204, description = "Taken away")))]
pub async fn delete_permission(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<ManageAccess>,
    Path((_, principal)): Path<(String, String)>,
    Query(query): Query<GuardQuery>,
) -> Result<StatusCode, Problem> {
    let condition = IfMatch::required(&headers)?;
    let principal = parse(&principal)?;
    let matches = |current: &StoredGrant| condition.check(&tag(current));
    let (actor, project) = (place.caller.actor(), &place.project);
    let change = access::delete(
        &gateway,
        actor,
        project,
        &principal,
        matches,
        query.ignore_policy_tests,
    );
    Box::pin(change).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The principal in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct PrincipalPath {
    /// `user:<id>`, `service_key:<id>` or `external:<issuer>|<subject>`, percent-encoded.
    #[param(
        example = "user:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11",
        min_length = 1,
        max_length = 1040
    )]
    principal: String,
}

/// The preconditions of making or replacing: one of them is required, 428 without.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes the headers; `precondition` reads them")]
pub struct PutHeaders {
    /// The ETag that was last read, or `*`: replaces what is there. 412 when stale, or when nothing is there.
    #[param(rename = "If-Match", example = "*", required = false)]
    if_match: String,
    /// `*`: makes what is not there yet. 412 when it is.
    #[param(rename = "If-None-Match", example = "*", required = false)]
    if_none_match: String,
}

/// A text that is not a principal is answered as an unknown principal.
fn parse(text: &str) -> Result<PrincipalRef, Problem> {
    PrincipalRef::parse(text).ok_or_else(|| {
        let shown: String = text.chars().take(80).collect();
        Problem::not_found(format!(
            "principal \"{shown}\" (write user:<id>, service_key:<id> or external:<issuer>|<subject>)"
        ))
    })
}

fn tag(grant: &StoredGrant) -> String {
    format!("r{}", grant.revision)
}

fn wire(gateway: &Gateway, grant: &StoredGrant) -> Permission {
    let (terms, principal) = (grant.terms(), &grant.principal);
    let mut groups = terms.groups.clone();
    groups.sort_by(|a, b| a.group.cmp(&b.group));
    Permission {
        principal: principal.to_string(),
        kind: principal.kind,
        name: gateway.snapshots.now().directory.name_of(principal),
        role: terms.role,
        groups,
        expires_at: terms.expires_at,
        in_force: grant.at(gateway.clock.now()).is_some(),
        granted_by: grant.granted_by.clone(),
        granted_at: grant.granted_at,
    }
}
