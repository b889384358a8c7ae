//! Whether a call may run: its session, the decision, its arguments and the limits.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use toolgate_api::ErrorCode;
use toolgate_api::audit::{ArgumentCoercion, AuditAction, AuditOutcome, AuditRecord};
use toolgate_api::calls::{CallContext, CallRequest};
use toolgate_api::sessions::CallSession;
use toolgate_core::arguments::{self, Merged, TemplateContext, Unmerged};
use toolgate_core::ids::CallId;
use toolgate_core::policy::decision::{Decision, Effect};
use toolgate_core::session::place;
use toolgate_core::snapshot::CompiledTool;
use toolgate_core::validation::Effort;
use toolgate_executors::Account;
use uuid::Uuid;

use crate::gateway::accounts::CallAccount;
use crate::gateway::limits::{self, Running};
use crate::gateway::load;
use crate::gateway::record::{self, Requester};
use crate::gateway::resolve::insufficient_groups;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::sessions::{self, SessionAdmitted, SessionRejected};
use crate::gateway::{Gateway, Problem};

/// A call that may run.
pub(super) struct Admitted {
    pub(super) tool: Arc<CompiledTool>,
    pub(super) merged: Merged,
    pub(super) context: TemplateContext,
    pub(super) record: Box<AuditRecord>,
    pub(super) state: String,
    pub(super) session: Option<CallSession>,
    /// The context of the session, with the request's over it, that conditions were evaluated with.
    pub(super) conditions: Option<CallContext>,
    /// Since when the session is in its state.
    pub(super) in_state_since: Option<DateTime<Utc>>,
    pub(super) running: Option<Running>,
    /// The caller's account that the tool uses.
    pub(super) account: Option<Arc<dyn Account>>,
}

/// A call that is refused.
pub(super) struct Refusal {
    pub(super) record: Box<AuditRecord>,
    pub(super) answer: Problem,
}

/// The session that a call is made in, if any, or why it is refused before it is decided.
pub(super) type Entry = Result<Option<Box<SessionAdmitted>>, Box<SessionRejected>>;

/// Reads the session that a call names.
pub(super) async fn enter(
    gateway: &Gateway,
    project: &ProjectState,
    requester: &Requester<'_>,
    session: Uuid,
    request: &CallRequest,
) -> Result<Entry, Problem> {
    let group = request.group.clone();
    let entered = sessions::enter(
        gateway,
        project,
        requester,
        session,
        group,
        request.context.as_ref(),
    )
    .await?;
    Ok(entered.map(|entered| Some(Box::new(entered))))
}

/// Checks that a call which names no session may do without one.
pub(super) fn stand_alone(project: &ProjectState, requester: &Requester<'_>, request: &CallRequest) -> Entry {
    sessions::without(
        project,
        requester,
        request.group.as_deref(),
        request.state.as_deref(),
    )
    .map(|()| None)
}

/// A call that the decision allows.
pub(super) struct Decided {
    tool: Arc<CompiledTool>,
    record: Box<AuditRecord>,
    context: TemplateContext,
    entered: Option<Box<SessionAdmitted>>,
    state: String,
}

/// Decides about a call.
pub(super) fn decide(
    gateway: &Gateway,
    project: &ProjectState,
    requester: &Requester<'_>,
    (id, action): (CallId, AuditAction),
    request: &CallRequest,
    session: Entry,
) -> Result<Box<Decided>, Box<Refusal>> {
    let snapshot = &project.snapshot;
    let now = gateway.clock.now();
    let mut record = record::decided(id, now, action, requester, snapshot.version());
    record.tool = Some(request.tool.chars().take(128).collect());
    let entered = match session {
        Ok(entered) => entered,
        Err(turned) => {
            let tool = snapshot.tool(&request.tool).map(|tool| &**tool);
            record.arguments = Some(record::arguments(project, tool, &request.arguments));
            record::conceal(project, &mut record);
            let record = turned.record(record);
            let answer = turned.answer(id);
            return Err(Box::new(Refusal { record, answer }));
        }
    };
    let (group, state, context) = match &entered {
        None => (
            request.group.as_deref(),
            request.state.as_deref(),
            request.context.as_ref(),
        ),
        Some(session) => (
            session.groups.as_deref(),
            Some(session.row.state.as_str()),
            session.context.as_ref(),
        ),
    };
    let decision = snapshot.decide(
        requester.granted,
        group,
        state,
        &request.tool,
        &load::evaluation(project, now, requester.principal, context),
    );
    record.session_id = request.session_id;
    record.state_from = Some(place::source(entered.is_some(), request.state.as_deref()));
    record.requested_groups.clone_from(&decision.requested);
    record.missing_groups.clone_from(&decision.missing);
    record.state_before.clone_from(&decision.state);
    record.context = context
        .and_then(|context| serde_json::to_value(context).ok())
        .and_then(record::non_empty);
    // A draft that is tested has no revision.
    let stored = decision.tool.as_ref().filter(|_| action != AuditAction::Test);
    record.revision = stored.map(|tool| tool.revision);
    record::conceal(project, &mut record);

    let tool = match (&decision.effect, &decision.tool) {
        (Effect::Allow, Some(tool)) => Arc::clone(tool),
        _ => {
            let tool = snapshot.tool(&request.tool).map(|tool| &**tool);
            record.arguments = Some(record::arguments(project, tool, &request.arguments));
            let code = decision.code.unwrap_or(ErrorCode::ToolNotFound);
            let record = record::ended(record, AuditOutcome::Denied, Some(code));
            return Err(Box::new(Refusal {
                record,
                answer: refusal(requester, &decision, code).call_id(id),
            }));
        }
    };

    Ok(Box::new(Decided {
        context: TemplateContext::new(&project.row.id, context),
        tool,
        record,
        entered,
        state: decision.state,
    }))
}

impl Decided {
    /// The tool.
    pub(super) fn tool(&self) -> &CompiledTool {
        &self.tool
    }

    /// Notes which arguments the entrance read otherwise than they were sent.
    pub(super) fn with_coercions(
        mut self: Box<Self>,
        project: &ProjectState,
        coercions: Vec<ArgumentCoercion>,
    ) -> Box<Self> {
        if !coercions.is_empty() {
            self.record.coercions = coercions;
            record::conceal(project, &mut self.record);
        }
        self
    }

    /// Merges the arguments, away from the threads that serve requests when checking them takes long.
    pub(super) async fn merge(
        &self,
        gateway: &Gateway,
        request: &CallRequest,
    ) -> Result<Result<Merged, Unmerged>, Problem> {
        match arguments::merge(&self.tool, &request.arguments, &self.context, Effort::Quick) {
            Err(Unmerged::TooCostly) => Box::pin(self.merge_thoroughly(gateway, request)).await,
            quick => Ok(quick),
        }
    }

    async fn merge_thoroughly(
        &self,
        gateway: &Gateway,
        request: &CallRequest,
    ) -> Result<Result<Merged, Unmerged>, Problem> {
        let (tool, caller, context) = (
            Arc::clone(&self.tool),
            request.arguments.clone(),
            self.context.clone(),
        );
        gateway
            .checks
            .run(move || arguments::merge(&tool, &caller, &context, Effort::Thorough))
            .await
    }
}

/// What an allowed call needs besides the decision.
pub(super) struct Prerequisites {
    /// Its arguments from their layers.
    pub(super) merged: Result<Result<Merged, Unmerged>, Problem>,
    /// The caller's own account, if the tool is called with one.
    pub(super) account: Result<Option<CallAccount>, Problem>,
}

/// Counts an allowed call in the limits that apply to it, once its arguments are merged.
pub(super) fn admit(
    gateway: &Gateway,
    project: &ProjectState,
    requester: &Requester<'_>,
    id: CallId,
    request: &CallRequest,
    decided: Decided,
    Prerequisites { merged, account }: Prerequisites,
) -> Result<Admitted, Box<Refusal>> {
    let Decided {
        tool,
        mut record,
        entered,
        state,
        context,
    } = decided;
    let refuse = |mut record: Box<AuditRecord>, answer: Problem| {
        record.arguments = Some(record::arguments(project, Some(&tool), &request.arguments));
        let record = record::ended(record, AuditOutcome::Denied, Some(answer.code()));
        Err(Box::new(Refusal {
            record,
            answer: answer.call_id(id),
        }))
    };
    let merged = match merged {
        Ok(Ok(merged)) => merged,
        Ok(Err(unmerged)) => return refuse(record, unfit(project, &request.tool, unmerged)),
        Err(busy) => return refuse(record, busy),
    };
    let account = match account {
        Ok(account) => account,
        Err(problem) => return refuse(record, problem),
    };
    let account = account.map(|found| {
        record.account = Some(found.recorded);
        found.account
    });
    record.arguments = Some(record::arguments(project, Some(&tool), &merged.arguments));
    record.provenance = serde_json::to_value(&merged.provenance)
        .ok()
        .and_then(record::non_empty);
    record::conceal(project, &mut record);
    let running = match limits::admit(gateway, project, requester.principal, Some(&tool), record.at) {
        Ok(running) => running,
        Err(exceeded) => {
            let record = record::ended(record, AuditOutcome::Denied, Some(exceeded.code()));
            let answer = exceeded.answer().call_id(id);
            return Err(Box::new(Refusal { record, answer }));
        }
    };
    let in_state_since = entered.as_ref().map(|session| session.row.moved_at);
    let (session, conditions) = match entered.map(|entered| *entered) {
        None => (None, None),
        Some(SessionAdmitted { row, context, .. }) => {
            let session = CallSession {
                id: row.id.0,
                state: row.state,
                version: row.version,
                state_conflict: false,
            };
            (Some(session), context)
        }
    };
    Ok(Admitted {
        account,
        running,
        tool,
        merged,
        context,
        record,
        in_state_since,
        session,
        conditions,
        state,
    })
}

/// The answer to arguments that do not fit. Faults name members, and a caller may put a secret into a name.
fn unfit(project: &ProjectState, tool: &str, unmerged: Unmerged) -> Problem {
    let mut faults = match unmerged {
        Unmerged::Faults(faults) => faults,
        Unmerged::TooCostly => Vec::new(),
    };
    if let Some(known) = project.secrets.known() {
        for fault in &mut faults {
            fault.message = known.clean_text(&fault.message).into_owned();
            fault.pointer = fault
                .pointer
                .take()
                .map(|pointer| known.clean_text(&pointer).into_owned());
        }
    }
    Problem::new(
        ErrorCode::InvalidArguments,
        format!("The arguments do not fit the parameters of \"{tool}\"; `errors` names every fault."),
    )
    .errors(faults)
}

/// The answer to a call that was denied.
pub(super) fn refusal(requester: &Requester<'_>, decision: &Decision, code: ErrorCode) -> Problem {
    match code {
        ErrorCode::InsufficientToolGroups => insufficient_groups(decision.missing.clone()),
        // Only a change of the definition or of the server makes it available.
        ErrorCode::ToolUnavailable => Problem::new(code, decision.explain()).final_(),
        _ if requester.reads_definitions => Problem::new(code, decision.explain()),
        _ => Problem::new(code, decision.explain_to(requester.granted)),
    }
}
