//! Asking for what was refused, and deciding about it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use toolgate_api::access_requests::{
    AccessRequest, AccessRequestPage, AccessRequestStatus, AskForAccess, DecideAccessRequest,
};
use toolgate_core::principal::{Permission, PrincipalRef};
use uuid::Uuid;

use crate::extract::{InProject, Json, ManageAccess, Path, Query, Use};
use crate::gateway::{Gateway, Problem, access_requests, cursor};

/// Which requests to list. Everything given must match.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AccessRequestQuery {
    /// How far it has come.
    status: Option<AccessRequestStatus>,
    /// `next_cursor` of the page before.
    #[param(max_length = 1024)]
    cursor: Option<String>,
    /// Items per page.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// The request in the path.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct AccessRequestPath {
    /// The request's id.
    request_id: Uuid,
}

/// List access requests
///
/// Newest first: to those who read who holds what all of the project, to everybody else their own.
#[utoipa::path(get, path = "/projects/{project_id}/access-requests", tag = "permissions", params(super::ProjectPath, AccessRequestQuery),
    responses((status = 200, description = "A page", body = AccessRequestPage)))]
pub async fn list_access_requests(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Query(query): Query<AccessRequestQuery>,
) -> Result<axum::Json<AccessRequestPage>, Problem> {
    let limit = cursor::limit(query.limit)?;
    let before = cursor::parse(query.cursor.as_deref())?
        .map(|text| text.parse::<Uuid>().map_err(|_| cursor::invalid()))
        .transpose()?;
    let own = PrincipalRef::from(&place.caller.identity.principal).to_string();
    let of = (!place.may(Permission::ReadAccess)).then_some(own.as_str());
    let more = u32::try_from(limit + 1).unwrap_or(u32::MAX);
    let found = gateway
        .store
        .access_requests(place.project.row.uid, of, query.status, before, more)
        .await?;
    let (items, next_cursor) = cursor::page(found, limit, |request| request.id.to_string());
    Ok(axum::Json(AccessRequestPage { items, next_cursor }))
}

/// Ask for access
///
/// Asks the administrators for what was refused: groups for the caller itself, or a host for the tools of the project. Any
/// name of a group may be asked for, whether such a group exists or not. A request for the same that waits for a decision is
/// answered again. 5 requests of a principal may wait, and 20 may be made in a day. On the record.
#[utoipa::path(post, path = "/projects/{project_id}/access-requests", tag = "permissions", params(super::ProjectPath),
    request_body = AskForAccess,
    responses((status = 200, description = "The same was asked for before and waits for a decision", body = AccessRequest),
        (status = 201, description = "Stored", body = AccessRequest)))]
pub async fn ask_for_access(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Json(request): Json<AskForAccess>,
) -> Result<(StatusCode, axum::Json<AccessRequest>), Problem> {
    let (request, is_new) = Box::pin(access_requests::ask(&gateway, &place, request)).await?;
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok((status, axum::Json(request)))
}

/// Decide an access request
///
/// `grant` adds the groups to what the asker holds, without an end, or the host to the egress list, by the same rules as a change
/// of permissions or of the list: a caller grants no more than it holds, and only system administrators allow hosts. `decline`
/// changes nothing. On the record.
#[utoipa::path(post, path = "/projects/{project_id}/access-requests/{request_id}/decision", tag = "permissions",
    params(super::ProjectPath, AccessRequestPath), request_body = DecideAccessRequest,
    responses((status = 200, description = "The request as it is decided", body = AccessRequest)))]
pub async fn decide_access_request(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ManageAccess>,
    Path((_, id)): Path<(String, Uuid)>,
    Json(decision): Json<DecideAccessRequest>,
) -> Result<axum::Json<AccessRequest>, Problem> {
    Box::pin(access_requests::decide(&gateway, &place, id, decision))
        .await
        .map(axum::Json)
}
