//! MCP clients that users have let in.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_api::connections::{
    Connection, ConnectionPage, Consent, ConsentDecision, ConsentGiven, LimitConnection,
};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::names::label_fault;
use toolgate_core::ids::ConnectionId;
use toolgate_core::principal::PrincipalRef;
use toolgate_store::rows::ConnectionRow;
use uuid::Uuid;

use super::precondition::{IfMatch, etag};
use super::projects::PageQuery;
use crate::extract::{InProject, Json, Path, Query, SignedIn, Use};
use crate::gateway::connections::{self, Managed};
use crate::gateway::{Gateway, Problem, cursor};

/// The connection in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct ConnectionPath {
    /// The connection's id.
    connection_id: Uuid,
}

/// An authorization request.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ConsentQuery {
    /// The query that the client sent the user with.
    #[param(
        max_length = 8192,
        example = "response_type=code&client_id=tgc_4x8bVh2PqLw0sZt6yKc9Rd"
    )]
    pub request: String,
}

/// What does a client ask for
///
/// For the page that asks the user who is signed in. A client that is known by the address of its metadata is fetched. A
/// request whose client or redirection address is not to be trusted is refused; one that is wrong otherwise is answered with
/// the client's address in `redirect_to`.
#[utoipa::path(get, path = "/auth/consent", tag = "auth", params(ConsentQuery),
    responses((status = 200, description = "What is asked for", body = Consent)))]
pub async fn get_consent(
    State(gateway): State<Arc<Gateway>>,
    person: SignedIn,
    Query(query): Query<ConsentQuery>,
) -> Result<axum::Json<Consent>, Problem> {
    require_enabled(&gateway)?;
    let offer = connections::offer(&gateway, person.caller.actor(), &query.request);
    Ok(axum::Json(Box::pin(offer).await?))
}

/// Let a client in, or refuse it
///
/// The user gives groups that it holds itself. The answer names the client's address with a code, which the client exchanges
/// within a minute; the connection is listed from then on. What the client may do is never more than what the user holds at
/// the time of a request, with the role of an agent.
#[utoipa::path(post, path = "/auth/consent", tag = "auth", request_body = ConsentDecision,
    responses((status = 200, description = "Where the user goes", body = ConsentGiven)))]
pub async fn give_consent(
    State(gateway): State<Arc<Gateway>>,
    person: SignedIn,
    Json(decision): Json<ConsentDecision>,
) -> Result<axum::Json<ConsentGiven>, Problem> {
    require_enabled(&gateway)?;
    let mut errors = group_faults(decision.groups.as_deref());
    if decision
        .expires_in_s
        .is_some_and(|seconds| !(1..=315_360_000).contains(&seconds))
    {
        errors.push(Diagnostic::error("must be from 1 to 315360000 seconds").at_pointer("/expires_in_s"));
    }
    refuse(errors)?;
    let decided = connections::decide(&gateway, person.caller.actor(), &person.user, decision);
    let redirect_to = Box::pin(decided).await?;
    Ok(axum::Json(ConsentGiven { redirect_to }))
}

/// List connections
///
/// MCP clients that users have let in, newest first: one's own, or with the permission to manage keys all of the project.
#[utoipa::path(get, path = "/projects/{project_id}/connections", tag = "keys", params(super::ProjectPath, PageQuery),
    responses((status = 200, description = "A page", body = ConnectionPage)))]
pub async fn list_connections(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Query(query): Query<PageQuery>,
) -> Result<axum::Json<ConnectionPage>, Problem> {
    let (after, limit) = query.parse()?;
    let after = after
        .map(|text| text.parse::<Uuid>().map_err(|_| cursor::invalid()))
        .transpose()?;
    let rows: Vec<Managed> = connections::list(&gateway, &place)
        .await?
        .into_iter()
        .filter(|managed| after.is_none_or(|after| managed.row.id.0 < after))
        .take(limit + 1)
        .collect();
    let (rows, next_cursor) = cursor::page(rows, limit, |managed| managed.row.id.to_string());
    Ok(axum::Json(ConnectionPage {
        items: rows.into_iter().map(wire).collect(),
        next_cursor,
    }))
}

/// Get a connection
///
/// One's own, or with the permission to manage keys any of the project. One that has ended is not found.
#[utoipa::path(get, path = "/projects/{project_id}/connections/{connection_id}", tag = "keys",
    params(super::ProjectPath, ConnectionPath),
    responses((status = 200, description = "The connection", body = Connection,
        headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn get_connection(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Path((_, id)): Path<(String, Uuid)>,
) -> Result<Response, Problem> {
    shown(connections::find(&gateway, &place, ConnectionId(id)).await?)
}

/// Limit a connection
///
/// Replaces the groups that the client may ask for, effective within a second. The user who let it in gives groups that it
/// holds itself; with the permission to manage keys the groups of others' connections are narrowed, never widened.
#[utoipa::path(put, path = "/projects/{project_id}/connections/{connection_id}", tag = "keys",
    params(super::ProjectPath, ConnectionPath, super::IfMatchHeader), request_body = LimitConnection,
    responses((status = 200, description = "Limited", body = Connection,
        headers(("ETag" = String, description = "For `If-Match`")))))]
pub async fn limit_connection(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<Use>,
    Path((_, id)): Path<(String, Uuid)>,
    Json(limit): Json<LimitConnection>,
) -> Result<Response, Problem> {
    let precondition = IfMatch::required(&headers)?;
    refuse(group_faults(limit.groups.as_deref()))?;
    let id = ConnectionId(id);
    let matches = |row: &ConnectionRow| precondition.check(&tag(row));
    Box::pin(connections::limit(&gateway, &place, id, limit, matches)).await?;
    let entry = place.into_entry().again(&gateway)?;
    shown(connections::find(&gateway, &entry, id).await?)
}

/// Revoke a connection
///
/// Effective at once: its tokens are worth nothing any more, and the client has to ask the user again.
#[utoipa::path(delete, path = "/projects/{project_id}/connections/{connection_id}", tag = "keys",
    params(super::ProjectPath, ConnectionPath, super::IfMatchHeader),
    responses((status = 204, description = "Revoked")))]
pub async fn revoke_connection(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<Use>,
    Path((_, id)): Path<(String, Uuid)>,
) -> Result<StatusCode, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let matches = |row: &ConnectionRow| precondition.check(&tag(row));
    Box::pin(connections::revoke(&gateway, &place, ConnectionId(id), matches)).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn require_enabled(gateway: &Gateway) -> Result<(), Problem> {
    if gateway.config.auth.authorization_server {
        return Ok(());
    }
    Err(Problem::new(
        ErrorCode::InvalidRequest,
        "This server lets no clients in by consent: its operator has switched it off (auth.authorization_server). Use a key.",
    ))
}

fn group_faults(groups: Option<&[String]>) -> Vec<Diagnostic> {
    let groups = groups.unwrap_or_default();
    let faults = groups.iter().enumerate().filter_map(|(at, group)| {
        let fault = label_fault(group)?;
        Some(Diagnostic::error(fault).at_pointer(format!("/groups/{at}")))
    });
    let mut faults: Vec<_> = faults.collect();
    if groups.len() > 1000 {
        faults.push(Diagnostic::error("at most 1000 groups").at_pointer("/groups"));
    }
    faults
}

fn refuse(errors: Vec<Diagnostic>) -> Result<(), Problem> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(Problem::new(
        ErrorCode::InvalidRequest,
        "The connection is invalid like this; nothing was changed. `errors` names each fault.",
    )
    .errors(errors))
}

fn shown(managed: Managed) -> Result<Response, Problem> {
    let tag = etag(&tag(&managed.row));
    Ok(([(header::ETAG, tag)], axum::Json(wire(managed))).into_response())
}

fn tag(row: &ConnectionRow) -> String {
    format!("r{}", row.revision)
}

fn wire(managed: Managed) -> Connection {
    let Managed { row, user, granted } = managed;
    Connection {
        id: row.id.0,
        redirect_host: connections::shown_host(&row.redirect_uri),
        client_id: row.client_id,
        client_name: row.client_name,
        principal: PrincipalRef::user(row.user).to_string(),
        username: user.username.clone(),
        groups: row.groups,
        granted_groups: granted,
        created_at: row.created_at,
        refreshed_at: row.refreshed_at,
        expires_at: row.expires_at,
    }
}
