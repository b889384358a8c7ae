//! Deciding what is available to a request, in a session or not: the same decision for every question of this kind.

use std::sync::Arc;

use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome, AuditRecord};
use toolgate_api::calls::CallContext;
use toolgate_core::ids::CallId;
use toolgate_core::policy::decision::{Effect, Offer};
use toolgate_core::session::place;
use toolgate_core::snapshot::Availability;
use toolgate_store::rows::{Opening, SessionRow};
use uuid::Uuid;

use super::limits::{self, Running};
use super::observe::{self, Observed};
use super::record::{self, Requester};
use super::recorded;
use super::resolve::insufficient_groups;
use super::server_snapshot::ProjectState;
use super::{load, sessions};
use crate::gateway::{Gateway, Problem};

/// What is asked.
pub struct Question<'a> {
    /// How the record calls it.
    pub action: AuditAction,
    /// The requested groups as they came.
    pub group: Option<Vec<String>>,
    /// The state as it came; not together with a session.
    pub state: Option<&'a str>,
    /// The session to ask for.
    pub session_id: Option<Uuid>,
    /// Where the request comes from.
    pub context: Option<&'a CallContext>,
    /// What else the record shall hold, redacted.
    pub arguments: Option<Value>,
    /// What the request is for, if that is no tool: it is refused unless it reaches one of these.
    pub offers: Option<&'a [Offer<'a>]>,
}

impl Question<'_> {
    /// Why what it is for is not reached; `None` when it is.
    fn closes(&self, availability: &Availability) -> Option<ErrorCode> {
        let mut closed = None;
        for offer in self.offers? {
            match availability.closes(*offer) {
                None => return None,
                // Of several reasons the one that is left to overcome.
                Some(code) if code != ErrorCode::ToolNotInGroups => closed = Some(code),
                Some(_) => {}
            }
        }
        Some(closed.unwrap_or(ErrorCode::ToolNotInGroups))
    }
}

/// What is available.
pub struct Available {
    /// The record.
    pub id: CallId,
    /// The session, if one was named.
    pub session: Option<SessionRow>,
    /// The groups as they were asked for; `None` is "absent".
    pub group: Option<Vec<String>>,
    /// The answer, with the requested groups and the state it is for.
    pub availability: Arc<Availability>,
    /// The places of an agent request in the limits on what runs at the same time; keep it until the answer has ended.
    pub running: Option<Running>,
}

/// Decides. Allowed: the answer, and a record that is still to be written, as ended or as open. Refused: the refusal has
/// been written.
///
/// # Errors
/// 403 when the request asks for more than was granted, names no session where one is required, or would begin one in a state
/// that is no start state; 429 for an agent request beyond a limit; what [`sessions::enter`] answers; 503 when the refusal could not
/// be recorded.
pub async fn ask(
    gateway: &Gateway,
    project: &ProjectState,
    requester: &Requester<'_>,
    question: Question<'_>,
) -> Result<(Available, Opening), Problem> {
    let id = CallId(gateway.clock.new_id());
    let at = gateway.clock.now();
    let mut record = record::decided(id, at, question.action, requester, project.snapshot.version());
    record.session_id = question.session_id;
    record.arguments.clone_from(&question.arguments);

    let mut context = question.context.cloned();
    let mut group = question.group.clone();
    let mut session = None;
    let mut state = question.state.map(str::to_owned);
    let placed = match question.session_id {
        Some(session) => sessions::enter(
            gateway,
            project,
            requester,
            session,
            group.clone(),
            context.as_ref(),
        )
        .await?
        .map(Some),
        None if question.action == AuditAction::Session => {
            sessions::beginning(project, requester, group.as_deref(), question.state).map(|begun| {
                state = Some(begun);
                None
            })
        }
        None => sessions::without(project, requester, group.as_deref(), question.state).map(|()| None),
    };
    match placed {
        Ok(None) => {}
        Ok(Some(entered)) => {
            group = entered.groups;
            context = entered.context;
            state = Some(entered.row.state.clone());
            session = Some(entered.row);
        }
        Err(turned) => {
            refuse(gateway, project, requester, turned.record(record)).await?;
            return Err(turned.answer(id));
        }
    }
    record.state_from = Some(place::source(session.is_some(), question.state));
    record.context = context
        .as_ref()
        .and_then(|context| serde_json::to_value(context).ok())
        .and_then(record::non_empty);
    let evaluation = load::evaluation(project, at, requester.principal, context.as_ref());
    match project
        .snapshot
        .resolve(requester.granted, group.as_deref(), state.as_deref(), &evaluation)
    {
        Ok(availability) => {
            record.requested_groups.clone_from(&availability.requested);
            record.state_before.clone_from(&availability.state);
            record::conceal(project, &mut record);
            if let Some(code) = question.closes(&availability) {
                let state = availability.state.clone();
                let record = record::ended(record, AuditOutcome::Denied, Some(code));
                refuse(gateway, project, requester, record).await?;
                return Err(not_reached(code, &state).call_id(id));
            }
            // Only what makes an agent or an upstream work is limited; asking what is available is not.
            let running = match question.action {
                AuditAction::AgentRequest | AuditAction::McpRead => {
                    limits::admit(gateway, project, requester.principal, None, at)
                }
                _ => Ok(None),
            };
            let running = match running {
                Ok(running) => running,
                Err(exceeded) => {
                    let record = record::ended(record, AuditOutcome::Denied, Some(exceeded.code()));
                    refuse(gateway, project, requester, record).await?;
                    return Err(exceeded.answer().call_id(id));
                }
            };
            gateway.metrics.decision(Effect::Allow, None);
            let seen = Observed {
                available: Some(&availability),
                ..Observed::of_record(project, requester, &record)
            };
            observe::observed(gateway, &seen);
            let opening = Opening {
                project: project.row.uid,
                record,
            };
            let available = Available {
                running,
                id,
                session,
                group,
                availability,
            };
            Ok((available, opening))
        }
        Err(denial) => {
            record.requested_groups = denial.requested;
            record.missing_groups.clone_from(&denial.missing);
            record.state_before = denial.state;
            let code = ErrorCode::InsufficientToolGroups;
            refuse(
                gateway,
                project,
                requester,
                record::ended(record, AuditOutcome::Denied, Some(code)),
            )
            .await?;
            Err(insufficient_groups(denial.missing).call_id(id))
        }
    }
}

/// The answer to a request for what it does not reach. What it may not use is answered like what is not there.
fn not_reached(code: ErrorCode, state: &str) -> Problem {
    match code {
        ErrorCode::ToolNotInState => {
            let state: String = state.chars().take(128).collect();
            Problem::new(code, format!("It is closed in the state {state:?}."))
        }
        ErrorCode::GroupClosed => Problem::new(
            code,
            "It can be reached only through groups that are closed now. Try again when their conditions hold.",
        ),
        _ => Problem::not_found("resource or prompt"),
    }
}

/// Writes the record of a question that was answered at once.
pub async fn answered(gateway: &Gateway, mut opening: Opening) -> Result<(), Problem> {
    opening.record = record::ended(opening.record, AuditOutcome::Succeeded, None);
    recorded::write(gateway, opening).await
}

/// Counts a refusal and writes its record.
pub(super) async fn refuse(
    gateway: &Gateway,
    project: &ProjectState,
    requester: &Requester<'_>,
    mut record: Box<AuditRecord>,
) -> Result<(), Problem> {
    record::conceal(project, &mut record);
    gateway.metrics.decision(Effect::Deny, record.code);
    observe::observed(gateway, &Observed::of_record(project, requester, &record));
    let opening = Opening {
        project: project.row.uid,
        record,
    };
    recorded::write(gateway, opening).await
}
