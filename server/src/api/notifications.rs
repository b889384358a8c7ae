//! What waits for the user who is signed in.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use toolgate_api::notifications::{Notifications, ReadNotifications};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::ids::{ProjectUid, UserId};
use toolgate_store::rows::NO_PROJECT;

use crate::auth::authenticator::Credential;
use crate::extract::{InProject, Json, SignedIn, Use};
use crate::gateway::entry::Entry;
use crate::gateway::users::refuse;
use crate::gateway::{Gateway, Problem, notifications};

/// Most ids of one request.
const IDS: usize = 100;
/// Bytes of an id.
const LONGEST: usize = 300;

/// List notifications
///
/// What waits for the user who is signed in: alerts that are not acknowledged, changes in the quarantine, requests for access,
/// keys that expire within 14 days, each for those who may act on it, and decisions of the last 30 days about the user's own
/// requests.
#[utoipa::path(get, path = "/projects/{project_id}/notifications", tag = "alerts", params(super::ProjectPath),
    responses((status = 200, description = "The notifications", body = Notifications)))]
pub async fn list_notifications(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
) -> Result<axum::Json<Notifications>, Problem> {
    let user = user(&place)?;
    let found = Box::pin(notifications::list(&gateway, &place, user)).await?;
    Ok(axum::Json(found))
}

/// List the notifications of all projects
///
/// What the user who is signed in has not read in the projects that the user belongs to; of more than 50 projects, the first by id
/// are looked at. Each is marked as read in its project. For system administrators also the alerts of the server, which name no
/// project.
#[utoipa::path(get, path = "/notifications", tag = "alerts",
    responses((status = 200, description = "The notifications", body = Notifications)))]
pub async fn list_all_notifications(
    State(gateway): State<Arc<Gateway>>,
    who: SignedIn,
) -> Result<axum::Json<Notifications>, Problem> {
    let found = Box::pin(notifications::of_all_projects(&gateway, &who.caller, who.user.id)).await?;
    Ok(axum::Json(found))
}

/// Mark notifications as read
///
/// For the user who is signed in; others are not affected. An id that is not listed has no effect.
#[utoipa::path(post, path = "/projects/{project_id}/notifications/read", tag = "alerts", params(super::ProjectPath),
    request_body = ReadNotifications, responses((status = 204, description = "Marked")))]
pub async fn read_notifications(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<Use>,
    Json(request): Json<ReadNotifications>,
) -> Result<StatusCode, Problem> {
    let user = user(&place)?;
    mark_read(&gateway, user, place.project.row.uid, &request.ids).await
}

/// Mark notifications of the server as read
///
/// Those that name no project, for the user who is signed in; others are not affected. An id that is not listed has no effect.
#[utoipa::path(post, path = "/notifications/read", tag = "alerts",
    request_body = ReadNotifications, responses((status = 204, description = "Marked")))]
pub async fn read_server_notifications(
    State(gateway): State<Arc<Gateway>>,
    who: SignedIn,
    Json(request): Json<ReadNotifications>,
) -> Result<StatusCode, Problem> {
    mark_read(&gateway, who.user.id, NO_PROJECT, &request.ids).await
}

async fn mark_read(
    gateway: &Gateway,
    user: UserId,
    project: ProjectUid,
    ids: &[String],
) -> Result<StatusCode, Problem> {
    let fits = (1..=IDS).contains(&ids.len()) && ids.iter().all(|id| id.len() <= LONGEST);
    refuse([(!fits).then(|| {
        Diagnostic::error(format!(
            "1 to {IDS} ids of at most {LONGEST} bytes are taken: send ids of the list of notifications"
        ))
        .at_pointer("/ids")
    })])?;
    let now = gateway.clock.now();
    gateway.store.read_notifications(user, project, ids, now).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Users alone have notifications.
fn user(place: &Entry) -> Result<UserId, Problem> {
    match &place.caller.identity.credential {
        Credential::User { user, .. } => Ok(user.id),
        _ => Err(Problem::new(
            ErrorCode::Forbidden,
            "Only a user who is signed in has notifications.",
        )),
    }
}
