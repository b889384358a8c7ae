//! The use cases of sessions: creating, finding and ending them, and using them.
//!
//! The gateway keeps a session's state; the caller only names the session. The state moves in the transaction that completes
//! a call (`call`), by a compare-and-set on the session's version.

pub mod entering;

use std::sync::Arc;

use chrono::TimeDelta;
use serde_json::{Map, Value, json};
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, StateSource};
use toolgate_api::sessions::CreateSession;
use toolgate_core::ids::{CallId, SessionId};
use toolgate_core::principal::PrincipalRef;
use toolgate_core::redact;
use toolgate_core::session;
use toolgate_store::StoreError;
use toolgate_store::rows::{Opening, SessionAdmission, SessionEnd, SessionLimits, SessionRow};
use uuid::Uuid;

pub use self::entering::{
    SessionAdmitted, SessionRejected, beginning, enter, gone, not_found, required, wider, without,
};
use super::available::{self, Available, Question};
use super::observe;
use super::record::{self, Requester};
use super::recorded;
use super::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// How long an expired session can still be read.
pub const KEPT: TimeDelta = TimeDelta::days(30);

/// Creates a session; it, and what it can call now. The request's texts were checked before.
pub async fn create(
    gateway: &Arc<Gateway>,
    project: &ProjectState,
    requester: &Requester<'_>,
    request: CreateSession,
) -> Result<(SessionRow, Available), Problem> {
    let id = SessionId(gateway.clock.new_id());
    create_as(gateway, project, requester, id, request).await
}

/// Creates a session under an id that was made before.
///
/// # Errors
/// As [`create`]; when there is a session of that id.
pub async fn create_as(
    gateway: &Arc<Gateway>,
    project: &ProjectState,
    requester: &Requester<'_>,
    session: SessionId,
    request: CreateSession,
) -> Result<(SessionRow, Available), Problem> {
    let details = json!({
        "operation": "create",
        "label": request.label,
        "expires_in_s": request.expires_in_s.unwrap_or(session::DEFAULT_LIFETIME_S),
    });
    let question = Question {
        action: AuditAction::Session,
        group: request.group.clone(),
        state: request.state.as_deref(),
        session_id: None,
        context: request.context.as_ref(),
        arguments: details.as_object().map(redact::redact),
        offers: None,
    };
    let (available, mut opening) = available::ask(gateway, project, requester, question).await?;
    let at = opening.record.at;
    let row = SessionRow {
        id: session,
        project: project.row.uid,
        principal: PrincipalRef::from(requester.principal),
        principal_name: requester.principal.name.clone(),
        label: request.label.map(|label| label.trim().to_owned()),
        groups: request.group,
        context: request.context,
        state: available.availability.state.clone(),
        version: 1,
        created_at: at,
        moved_at: at,
        expires_at: session::expiry(at, request.expires_in_s).ok_or_else(lifetime)?,
        ended_at: None,
    };
    opening.record.session_id = Some(session.0);
    let (task, id) = (Arc::clone(gateway), project.row.id.clone());
    let work = async move {
        let limits = SessionLimits {
            per_project: task.config.limits.max_sessions_per_project,
            per_principal: task.config.limits.max_sessions_per_principal,
        };
        match task.store.create_session(&row, limits).await {
            Ok(SessionAdmission::Created) => Ok(row),
            Ok(SessionAdmission::ProjectFull) => Err(full("This project has")),
            Ok(SessionAdmission::PrincipalFull) => Err(full("You have")),
            // Deleted since the request began.
            Err(StoreError::NotFound { .. }) => Err(Problem::not_found(format!("project \"{id}\""))),
            Err(error) => Err(error.into()),
        }
    };
    let row = recorded(gateway, opening, work).await?;
    Ok((row, available))
}

/// A session that its reader may see: the reader's own, or any when the reader may read the record.
pub async fn find(
    gateway: &Gateway,
    project: &ProjectState,
    requester: &Requester<'_>,
    id: Uuid,
    sees_all: bool,
) -> Result<SessionRow, Problem> {
    gateway
        .store
        .session(project.row.uid, SessionId(id))
        .await?
        .filter(|row| sees_all || row.principal == PrincipalRef::from(requester.principal))
        .ok_or_else(|| not_found(id))
}

/// Ends a session that was found, and records it. One that was ended before stays as it is.
pub async fn end(
    gateway: &Arc<Gateway>,
    project: &Arc<ProjectState>,
    requester: &Requester<'_>,
    row: SessionRow,
    expected_version: Option<i64>,
) -> Result<(), Problem> {
    if row.ended_at.is_some() {
        return Ok(());
    }
    let id = CallId(gateway.clock.new_id());
    let at = gateway.clock.now();
    let mut record = record::decided(
        id,
        at,
        AuditAction::Session,
        requester,
        project.snapshot.version(),
    );
    record.session_id = Some(row.id.0);
    record.state_before.clone_from(&row.state);
    record.state_from = Some(StateSource::Session);
    record.arguments = Some(redact::redact(&Map::from_iter([(
        "operation".to_owned(),
        Value::from("end"),
    )])));
    let opening = Opening {
        project: project.row.uid,
        record,
    };
    let (task, project) = (Arc::clone(gateway), Arc::clone(project));
    let work = async move {
        match task
            .store
            .end_session(row.project, row.id, expected_version, at)
            .await?
        {
            SessionEnd::Before => Ok(()),
            SessionEnd::Ended => {
                observe::left_state(&task, &project, &row.state, at - row.moved_at);
                task.executors.mcp().end_sessions(&[row.id]);
                Ok(())
            }
            SessionEnd::NotThere => Err(not_found(row.id.0)),
            SessionEnd::Moved(version) => Err(Problem::new(
                ErrorCode::PreconditionFailed,
                format!("The session has moved since you read it; its ETag is now \"v{version}\"."),
            )),
        }
    };
    recorded(gateway, opening, work).await
}

/// Does something between the opening and the completion of its record; a problem names the record.
fn recorded<T: Send + 'static>(
    gateway: &Arc<Gateway>,
    opening: Opening,
    work: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> impl Future<Output = Result<T, Problem>> + Send {
    let id = CallId(opening.record.id);
    let done = recorded::recorded(gateway, vec![opening], work);
    async move { done.await.map_err(|error| error.call_id(id)) }
}

fn full(who: &str) -> Problem {
    Problem::new(
        ErrorCode::TooManySessions,
        format!("{who} as many living sessions as allowed. End some (DELETE), or wait until they expire."),
    )
}

fn lifetime() -> Problem {
    Problem::new(
        ErrorCode::InvalidRequest,
        format!(
            "`expires_in_s` must be from 1 to {} seconds.",
            session::MAX_LIFETIME_S
        ),
    )
}
