//! Sessions.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use toolgate_api::audit::AuditAction;
use toolgate_api::sessions::{
    CreateSession, CreatedSession, Session, SessionCount, SessionCounts, SessionPage, SessionTools,
    SessionTransition, SessionTransitionPage,
};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::ids::SessionId;
use toolgate_core::policy::groups;
use toolgate_core::principal::{Permission, PrincipalRef};
use toolgate_core::session;
use toolgate_core::snapshot::Availability;
use toolgate_store::rows::{SessionFilter, SessionRow};
use uuid::Uuid;

use super::precondition::{IfMatch, etag, unchanged};
use super::projects::PageQuery;
use super::tools;
use crate::extract::{InProject, Json, Path, Query, ReadDefinitions, Use, check_lengths};
use crate::gateway::available::{self, Available, Question};
use crate::gateway::sessions;
use crate::gateway::{Gateway, Problem, bounds, cursor};

/// Which sessions to list. Everything given must match.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SessionQuery {
    /// Those of this principal: `user:<id>`, `service_key:<id>` or `external:<issuer>|<subject>`. Only roles that read the
    /// record may name another than themselves.
    #[param(
        max_length = 1100,
        example = "service_key:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11"
    )]
    principal: Option<String>,
    /// Those in this state.
    #[param(max_length = 128)]
    state: Option<String>,
    /// `true`: only those that can be used now.
    living: Option<bool>,
    /// Created at or after this time.
    since: Option<DateTime<Utc>>,
    /// Created before this time.
    until: Option<DateTime<Utc>>,
    /// Those with this text in the label or the name of the principal, in any case.
    #[param(max_length = 200)]
    q: Option<String>,
    /// `next_cursor` of the page before.
    #[param(max_length = 1024)]
    cursor: Option<String>,
    /// Items per page.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// Create a session
///
/// One workflow run, whose state the server keeps: calls with its `session_id` are decided against that state and
/// move it. It belongs to its creator alone. Its groups must be granted, now and at every use. `tools` is what it can
/// call now. Without `expires_in_s` it expires after a day.
#[utoipa::path(post, path = "/projects/{project_id}/sessions", tag = "sessions", params(super::ProjectPath), request_body = CreateSession,
    responses((status = 201, description = "Created", body = CreatedSession,
        headers(("ETag" = String, description = "For `If-Match`"), ("Location" = String, description = "Where it is")))))]
pub async fn create_session(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Json(request): Json<CreateSession>,
) -> Result<Response, Problem> {
    check(&request)?;
    let requester = place.requester();
    let (row, available) = Box::pin(sessions::create(&gateway, &place.project, &requester, request)).await?;
    let (items, next_cursor) = page_of_tools(&available.availability, None, cursor::MAX_LIMIT as usize);
    let location = format!("/projects/{}/sessions/{}", place.project.row.id, row.id);
    let headers = [
        (header::ETAG, etag(&tag(&row))),
        (header::LOCATION, super::header_value(&location)),
    ];
    let body = CreatedSession {
        session: wire(row),
        granted_groups: requester.granted.to_vec(),
        tools: items,
        available: available.availability.available_count() as u64,
        next_cursor,
    };
    Ok((StatusCode::CREATED, headers, axum::Json(body)).into_response())
}

/// List sessions
///
/// The caller's own, newest first; those of all principals for roles that read the record. Ended and expired ones
/// stay in the list for 30 days after they would have expired.
#[utoipa::path(get, path = "/projects/{project_id}/sessions", tag = "sessions", params(super::ProjectPath, SessionQuery),
    responses((status = 200, description = "A page", body = SessionPage)))]
pub async fn list_sessions(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Query(query): Query<SessionQuery>,
) -> Result<axum::Json<SessionPage>, Problem> {
    check_lengths(&[
        ("principal", &query.principal, 1100),
        ("state", &query.state, 128),
        ("q", &query.q, 200),
    ])?;
    let limit = cursor::limit(query.limit)?;
    let before = cursor::parse(query.cursor.as_deref())?
        .map(|text| text.parse::<Uuid>().map(SessionId).map_err(|_| cursor::invalid()))
        .transpose()?;
    let filter = SessionFilter {
        principal: whose(&place, query.principal.as_deref())?,
        state: query.state,
        text: query.q,
        living_at: query.living.unwrap_or_default().then(|| gateway.clock.now()),
        since: query.since,
        until: query.until,
    };
    let more = u32::try_from(limit + 1).unwrap_or(u32::MAX);
    let rows = gateway
        .store
        .sessions(place.project.row.uid, &filter, before, more)
        .await?;
    let (rows, next_cursor) = cursor::page(rows, limit, |row| row.id.to_string());
    Ok(axum::Json(SessionPage {
        items: rows.into_iter().map(wire).collect(),
        next_cursor,
    }))
}

/// Count sessions by state
///
/// How many active sessions of the project are in each state, of those states that have any.
#[utoipa::path(get, path = "/projects/{project_id}/sessions/by-state", tag = "sessions", params(super::ProjectPath),
    responses((status = 200, description = "The counts", body = SessionCounts)))]
pub async fn count_sessions(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadDefinitions>,
) -> Result<axum::Json<SessionCounts>, Problem> {
    let (uid, now) = (place.project.row.uid, gateway.clock.now());
    let rows = gateway.store.living_sessions_by_state(uid, now).await?;
    let items = rows.into_iter().map(|(name, sessions)| SessionCount {
        name,
        sessions: sessions.unsigned_abs(),
    });
    Ok(axum::Json(SessionCounts {
        items: items.collect(),
    }))
}

/// Get a session
///
/// The caller's own, or any for roles that read the record.
#[utoipa::path(get, path = "/projects/{project_id}/sessions/{session_id}", tag = "sessions", params(super::ProjectPath, SessionPath),
    responses((status = 200, description = "The session", body = Session, headers(("ETag" = String, description = "For `If-Match`"))),
        (status = 304, description = "Not modified")))]
pub async fn get_session(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<Use>,
    Path((_, id)): Path<(String, Uuid)>,
) -> Result<Response, Problem> {
    let row = find(&gateway, &place, id).await?;
    let tag = tag(&row);
    if unchanged(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag(&tag))]).into_response());
    }
    Ok(([(header::ETAG, etag(&tag))], axum::Json(wire(row))).into_response())
}

/// End a session
///
/// By its principal, or by a role that manages access. Calls that are running end as they would, but move nothing any more.
/// The session can be read until it would have expired, and 30 days longer.
#[utoipa::path(delete, path = "/projects/{project_id}/sessions/{session_id}", tag = "sessions",
    params(super::ProjectPath, SessionPath, super::IfMatchHeader),
    responses((status = 204, description = "Ended")))]
pub async fn end_session(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    place: InProject<Use>,
    Path((_, id)): Path<(String, Uuid)>,
) -> Result<StatusCode, Problem> {
    let precondition = IfMatch::required(&headers)?;
    let row = find(&gateway, &place, id).await?;
    let requester = place.requester();
    if row.principal != PrincipalRef::from(requester.principal) && !place.may(Permission::ManageAccess) {
        return Err(Problem::new(
            ErrorCode::Forbidden,
            "Only its principal, or a role that manages access, can end a session.",
        ));
    }
    precondition.check(&tag(&row))?;
    let expected = match precondition {
        IfMatch::Any => None,
        IfMatch::Tags(_) => Some(row.version),
    };
    Box::pin(sessions::end(&gateway, &place.project, &requester, row, expected)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What a session can call now
///
/// Decided as a call would be: by the session's present state, what is granted at present, and the present definitions. Each
/// question is recorded. Only for the session's own principal.
#[utoipa::path(get, path = "/projects/{project_id}/sessions/{session_id}/tools", tag = "sessions",
    params(super::ProjectPath, SessionPath, PageQuery),
    responses((status = 200, description = "A page", body = SessionTools)))]
pub async fn list_session_tools(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Path((_, id)): Path<(String, Uuid)>,
    Query(query): Query<PageQuery>,
) -> Result<axum::Json<SessionTools>, Problem> {
    let (after, limit) = query.parse()?;
    let requester = place.requester();
    let question = Question {
        action: AuditAction::Resolve,
        group: None,
        state: None,
        session_id: Some(id),
        context: None,
        arguments: None,
        offers: None,
    };
    let asked = Box::pin(available::ask(&gateway, &place.project, &requester, question)).await?;
    let (
        Available {
            session,
            availability,
            ..
        },
        opening,
    ) = asked;
    available::answered(&gateway, opening).await?;
    let (items, next_cursor) = page_of_tools(&availability, after.as_deref(), limit);
    Ok(axum::Json(SessionTools {
        state: availability.state.clone(),
        version: session.map_or(1, |row| row.version),
        requested_groups: availability.requested.clone(),
        granted_groups: requester.granted.to_vec(),
        items,
        available: availability.available_count() as u64,
        filtered_by_group: availability.filtered_by_group_count() as u64,
        filtered_by_state: availability.filtered_by_state_count() as u64,
        filtered_by_condition: availability.filtered_by_condition_count() as u64,
        next_cursor,
    }))
}

/// List a session's transitions
///
/// Every move of its state, oldest first, with the tool and the call that made it. A call whose move was not applied
/// (`state_conflict`) is not here but in the record.
#[utoipa::path(get, path = "/projects/{project_id}/sessions/{session_id}/transitions", tag = "sessions",
    params(super::ProjectPath, SessionPath, PageQuery),
    responses((status = 200, description = "A page", body = SessionTransitionPage)))]
pub async fn list_session_transitions(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Path((_, id)): Path<(String, Uuid)>,
    Query(query): Query<PageQuery>,
) -> Result<axum::Json<SessionTransitionPage>, Problem> {
    let (after, limit) = query.parse()?;
    let after = after
        .map(|text| text.parse::<i64>().map_err(|_| cursor::invalid()))
        .transpose()?;
    let row = find(&gateway, &place, id).await?;
    let more = u32::try_from(limit + 1).unwrap_or(u32::MAX);
    let moves = gateway
        .store
        .transitions(row.project, row.id, after.unwrap_or(0), more)
        .await?;
    let (moves, next_cursor) = cursor::page(moves, limit, |row| row.version.to_string());
    let items = moves
        .into_iter()
        .map(|row| SessionTransition {
            version: row.version,
            from: row.from,
            to: row.to,
            tool: row.tool,
            call_id: row.call.0,
            at: row.at,
        })
        .collect();
    Ok(axum::Json(SessionTransitionPage { items, next_cursor }))
}

/// The session in the path, after its project.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes the parameter; the extractor reads it")]
pub struct SessionPath {
    /// The session's id.
    session_id: Uuid,
}

async fn find(gateway: &Arc<Gateway>, place: &InProject<Use>, id: Uuid) -> Result<SessionRow, Problem> {
    let sees_all = place.may(Permission::ReadAudit);
    sessions::find(gateway, &place.project, &place.requester(), id, sees_all).await
}

/// Whose sessions to list; `None` for those of all principals.
fn whose(place: &InProject<Use>, asked: Option<&str>) -> Result<Option<PrincipalRef>, Problem> {
    let own = PrincipalRef::from(&place.caller.identity.principal);
    let sees_all = place.may(Permission::ReadAudit);
    let Some(text) = asked else {
        return Ok((!sees_all).then_some(own));
    };
    let asked = PrincipalRef::parse(text).ok_or_else(|| {
        Problem::new(
            ErrorCode::MalformedRequest,
            "The query is not valid: `principal` is `user:<id>`, `service_key:<id>` or `external:<issuer>|<subject>`.",
        )
    })?;
    if asked == own || sees_all {
        Ok(Some(asked))
    } else {
        Err(Problem::new(
            ErrorCode::Forbidden,
            "Your role in this project sees your own sessions only.",
        ))
    }
}

/// Some of the tools that can be called, as callers see them.
fn page_of_tools(
    availability: &Availability,
    after: Option<&str>,
    limit: usize,
) -> (Vec<toolgate_api::tools::Tool>, Option<String>) {
    // `""` is no name, so without a cursor the page starts at the first tool.
    let page: Vec<_> = availability
        .tools_after(after.unwrap_or_default())
        .take(limit + 1)
        .collect();
    let (page, next_cursor) = cursor::page(page, limit, |tool| tool.name().to_owned());
    (
        page.into_iter().map(|tool| tools::wire(tool, false)).collect(),
        next_cursor,
    )
}

/// Moves and ending change a session.
fn tag(row: &SessionRow) -> String {
    let ended = if row.ended_at.is_some() { "-ended" } else { "" };
    format!("v{}{ended}", row.version)
}

fn wire(row: SessionRow) -> Session {
    Session {
        id: row.id.0,
        principal_kind: row.principal.kind,
        principal_id: row.principal.id,
        principal_name: row.principal_name,
        label: row.label,
        requested_groups: groups::requested(row.groups.as_deref()).to_vec(),
        group: row.groups,
        context: row.context,
        state: row.state,
        version: row.version,
        created_at: row.created_at,
        moved_at: row.moved_at,
        expires_at: row.expires_at,
        ended_at: row.ended_at,
    }
}

fn check(request: &CreateSession) -> Result<(), Problem> {
    let mut errors = bounds::faults(
        request.group.as_deref(),
        request.state.as_deref(),
        request.context.as_ref(),
    );
    if let Some(fault) = request.label.as_deref().and_then(session::label_fault) {
        errors.push(Diagnostic::error(fault).at_pointer("/label"));
    }
    if request
        .expires_in_s
        .is_some_and(|seconds| !(1..=session::MAX_LIFETIME_S).contains(&seconds))
    {
        errors.push(
            Diagnostic::error(format!("must be from 1 to {} seconds", session::MAX_LIFETIME_S))
                .at_pointer("/expires_in_s"),
        );
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(Problem::new(
            ErrorCode::InvalidRequest,
            "The session cannot be created like this.",
        )
        .errors(errors))
    }
}
