//! Using a session: whether a request may, and what it asks for then.

use toolgate_api::audit::{AuditOutcome, AuditRecord, StateSource};
use toolgate_api::calls::CallContext;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::ids::{CallId, SessionId};
use toolgate_core::policy::decision::{UNDEFINED_STATE, state_or_undefined};
use toolgate_core::policy::groups;
use toolgate_core::principal::PrincipalRef;
use toolgate_core::session::place::{self, NotAStart};
use toolgate_core::session::{self, GroupsRefused, SessionLife};
use toolgate_store::rows::SessionRow;
use uuid::Uuid;

use crate::gateway::record::{self, Requester};
use crate::gateway::resolve::insufficient_groups;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// A session that a request may use.
pub struct SessionAdmitted {
    /// The session as it was read.
    pub row: SessionRow,
    /// The groups to ask for: the session's, or those of them that the request names. `None` is "absent".
    pub groups: Option<Vec<String>>,
    /// The session's context with the request's over it.
    pub context: Option<CallContext>,
}

/// Why a request may not use a session.
pub struct SessionRejected {
    /// The problem to answer with.
    pub answer: Problem,
    session: Option<Uuid>,
    state: String,
    state_from: StateSource,
    requested: Vec<String>,
    missing: Vec<String>,
}

impl SessionRejected {
    /// Completes the record of the refusal.
    #[must_use]
    pub fn record(&self, mut record: Box<AuditRecord>) -> Box<AuditRecord> {
        record.session_id = self.session;
        record.requested_groups.clone_from(&self.requested);
        record.missing_groups.clone_from(&self.missing);
        record.state_before.clone_from(&self.state);
        record.state_from = Some(self.state_from);
        record::ended(record, AuditOutcome::Denied, Some(self.answer.code()))
    }

    /// The problem, with the record's id.
    #[must_use]
    pub fn answer(self, id: CallId) -> Problem {
        self.answer.call_id(id)
    }
}

/// Reads the session that a request names and checks that it may be used: it is the requester's own, it has not
/// ended, its groups are still granted, and the request does not widen them. The one read of the database that a call
/// in a session costs.
///
/// # Errors
/// The outer error: the database does not answer. The inner one: the request is to be refused, and recorded.
pub async fn enter(
    gateway: &Gateway,
    project: &ProjectState,
    requester: &Requester<'_>,
    id: Uuid,
    group: Option<Vec<String>>,
    context: Option<&CallContext>,
) -> Result<Result<SessionAdmitted, Box<SessionRejected>>, Problem> {
    let row = gateway.store.session(project.row.uid, SessionId(id)).await?;
    let own = row.filter(|row| row.principal == PrincipalRef::from(requester.principal));
    let Some(row) = own else {
        return Ok(Err(Box::new(SessionRejected {
            answer: not_found(id),
            session: Some(id),
            state: UNDEFINED_STATE.to_owned(),
            state_from: StateSource::Default,
            requested: groups::requested(group.as_deref()).to_vec(),
            missing: Vec::new(),
        })));
    };
    let asked = groups::requested(group.as_deref().or(row.groups.as_deref())).to_vec();
    let turned = |row: SessionRow, answer, missing| {
        Ok(Err(Box::new(SessionRejected {
            answer,
            session: Some(id),
            state: row.state,
            state_from: StateSource::Session,
            requested: asked,
            missing,
        })))
    };
    match session::life(row.expires_at, row.ended_at, gateway.clock.now()) {
        SessionLife::Living => {}
        life => return turned(row, gone(project, life), Vec::new()),
    }
    match session::effective_groups(requester.granted, row.groups.as_deref(), group) {
        Ok(groups) => Ok(Ok(SessionAdmitted {
            groups,
            context: session::overlay(row.context.as_ref(), context),
            row,
        })),
        Err(GroupsRefused { missing, .. }) if !missing.is_empty() => {
            turned(row, insufficient_groups(missing.clone()), missing)
        }
        Err(GroupsRefused { outside, .. }) => turned(row, wider(outside.clone()), outside),
    }
}

/// Checks that a request which names no session may do without one. What was not granted is refused first, so that asking
/// for it is on the record as that.
///
/// # Errors
/// The request is to be refused, and recorded.
pub fn without(
    project: &ProjectState,
    requester: &Requester<'_>,
    group: Option<&[String]>,
    state: Option<&str>,
) -> Result<(), Box<SessionRejected>> {
    let requested = groups::requested(group);
    if !place::is_required(&project.settings) || !requester.granted.missing(&requested).is_empty() {
        return Ok(());
    }
    Err(Box::new(SessionRejected {
        answer: Problem::new(ErrorCode::SessionRequired, required(project)),
        session: None,
        state: state_or_undefined(state).to_owned(),
        state_from: place::source(false, state),
        requested: requested.to_vec(),
        missing: Vec::new(),
    }))
}

/// The state that a new session begins in. What was not granted is refused first, as in [`without`].
///
/// # Errors
/// The request is to be refused, and recorded.
pub fn beginning(
    project: &ProjectState,
    requester: &Requester<'_>,
    group: Option<&[String]>,
    state: Option<&str>,
) -> Result<String, Box<SessionRejected>> {
    let refused = match place::begin(&project.settings, state) {
        Ok(state) => return Ok(state),
        Err(refused) => refused,
    };
    let requested = groups::requested(group);
    if !requester.granted.missing(&requested).is_empty() {
        return Ok(refused.state);
    }
    Err(Box::new(SessionRejected {
        answer: not_a_start(&refused),
        session: None,
        state: refused.state,
        state_from: place::source(false, state),
        requested: requested.to_vec(),
        missing: Vec::new(),
    }))
}

/// What a request without a session is answered where the project requires one.
pub fn required(project: &ProjectState) -> String {
    format!(
        "This project requires sessions: its server keeps the workflow state, and no request can name one. Create a \
         session with POST /projects/{}/sessions, then send its id as `session_id` and leave `state` out.",
        project.row.id
    )
}

/// The project does not let a session begin in the state.
fn not_a_start(refused: &NotAStart) -> Problem {
    let hint = if refused.allowed.is_empty() {
        "name one of the start states".to_owned()
    } else {
        format!(
            "name one of the start states: {}; or leave `state` out",
            refused.allowed.join(", ")
        )
    };
    Problem::new(
        ErrorCode::StartStateNotAllowed,
        format!(
            "The settings of this project do not let a session begin in the state \"{}\".",
            refused.state
        ),
    )
    .errors(vec![
        Diagnostic::error("is not a start state")
            .hint(hint)
            .at_pointer("/state"),
    ])
}

/// A session that does not exist and one of another principal are answered alike.
pub fn not_found(id: Uuid) -> Problem {
    Problem::not_found(format!("session {id}"))
}

/// The session cannot be used any more.
pub fn gone(project: &ProjectState, life: SessionLife) -> Problem {
    let how = match life {
        SessionLife::Expired => "has expired",
        SessionLife::Ended | SessionLife::Living => "was ended",
    };
    let next = if place::start_states(&project.settings).is_some() {
        "Create a new one; it begins in one of the project's start states."
    } else {
        "Create a new one; its `state` may be the one this session had."
    };
    Problem::new(ErrorCode::SessionEnded, format!("The session {how}. {next}"))
}

/// A request asks for more than its session has.
pub fn wider(outside: Vec<String>) -> Problem {
    Problem::new(
        ErrorCode::InsufficientToolGroups,
        format!(
            "The session was not created with these groups: {}. A request in a session may ask for fewer groups, not for \
             others: leave them out, or create a session with them.",
            outside.join(", ")
        ),
    )
    .missing_groups(outside)
}
