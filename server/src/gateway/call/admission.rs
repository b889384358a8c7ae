//! Whether a call may run: its session, the decision, its arguments and the limits.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome, AuditRecord};
use toolgate_api::calls::CallRequest;
use toolgate_api::sessions::CallSession;
use toolgate_core::arguments::{self, Merged, TemplateContext, Unmerged};
use toolgate_core::ids::CallId;
use toolgate_core::policy::decision::{Decision, Effect};
use toolgate_core::session::place;
use toolgate_core::snapshot::CompiledTool;
use toolgate_core::validation::Effort;
use uuid::Uuid;

use crate::error::{ApiError, ApiResult};
use crate::gateway::limits::{self, Running};
use crate::gateway::load;
use crate::gateway::record::{self, Asker};
use crate::gateway::resolve::insufficient_groups;
use crate::gateway::sessions::{self, Entered, Turned};
use crate::gateway::world::ProjectState;
use crate::state::App;

/// A call that may run.
pub(super) struct Admitted {
    pub(super) tool: Arc<CompiledTool>,
    pub(super) merged: Merged,
    pub(super) record: AuditRecord,
    pub(super) state: String,
    pub(super) session: Option<CallSession>,
    /// Since when the session is in its state.
    pub(super) in_state_since: Option<DateTime<Utc>>,
    pub(super) running: Option<Running>,
}

/// A call that may not.
pub(super) struct Refusal {
    pub(super) record: AuditRecord,
    pub(super) answer: ApiError,
}

/// The session that a call is made in, if any, or why it is refused before it is decided.
pub(super) type Entry = Result<Option<Box<Entered>>, Box<Turned>>;

/// Reads the session that a call names.
pub(super) async fn enter(
    app: &App,
    project: &ProjectState,
    asker: &Asker<'_>,
    session: Uuid,
    request: &CallRequest,
) -> ApiResult<Entry> {
    let group = request.group.clone();
    let entered = sessions::enter(app, project, asker, session, group, request.context.as_ref()).await?;
    Ok(entered.map(|entered| Some(Box::new(entered))))
}

/// Checks that a call which names no session may do without one.
pub(super) fn stand_alone(project: &ProjectState, asker: &Asker<'_>, request: &CallRequest) -> Entry {
    sessions::without(project, asker, request.group.as_deref(), request.state.as_deref()).map(|()| None)
}

/// A call that the decision allows.
pub(super) struct Decided {
    tool: Arc<CompiledTool>,
    record: AuditRecord,
    context: TemplateContext,
    entered: Option<Box<Entered>>,
    state: String,
}

/// Decides about a call.
pub(super) fn decide(
    app: &App,
    project: &ProjectState,
    asker: &Asker<'_>,
    id: CallId,
    request: &CallRequest,
    session: Entry,
) -> Result<Box<Decided>, Box<Refusal>> {
    let snapshot = &project.snapshot;
    let now = app.clock.now();
    let mut record = record::decided(id, now, AuditAction::Call, asker, snapshot.version());
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
        asker.granted,
        group,
        state,
        &request.tool,
        &load::moment(project, now, asker.principal, context),
    );
    record.session_id = request.session_id;
    record.state_from = Some(place::source(entered.is_some(), request.state.as_deref()));
    record.requested_groups.clone_from(&decision.requested);
    record.missing_groups.clone_from(&decision.missing);
    record.state_before.clone_from(&decision.state);
    record.context = context
        .and_then(|context| serde_json::to_value(context).ok())
        .and_then(record::non_empty);
    record.revision = decision.tool.as_ref().map(|tool| tool.revision);
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
                answer: refusal(asker, &decision, code).call_id(id),
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
    /// Merges the arguments, away from the threads that serve requests when checking them takes long.
    pub(super) async fn merge(
        &self,
        app: &App,
        request: &CallRequest,
    ) -> ApiResult<Result<Merged, Unmerged>> {
        match arguments::merge(&self.tool, &request.arguments, &self.context, Effort::Quick) {
            Err(Unmerged::TooCostly) => Box::pin(self.merge_thoroughly(app, request)).await,
            quick => Ok(quick),
        }
    }

    async fn merge_thoroughly(
        &self,
        app: &App,
        request: &CallRequest,
    ) -> ApiResult<Result<Merged, Unmerged>> {
        let (tool, caller, context) = (
            Arc::clone(&self.tool),
            request.arguments.clone(),
            self.context.clone(),
        );
        app.checks
            .run(move || arguments::merge(&tool, &caller, &context, Effort::Thorough))
            .await
    }
}

/// Counts an allowed call in the limits that apply to it, once its arguments are merged.
pub(super) fn admit(
    app: &App,
    project: &ProjectState,
    asker: &Asker<'_>,
    id: CallId,
    request: &CallRequest,
    decided: Decided,
    merged: ApiResult<Result<Merged, Unmerged>>,
) -> Result<Admitted, Box<Refusal>> {
    let Decided {
        tool,
        mut record,
        entered,
        state,
        ..
    } = decided;
    let refuse = |mut record: AuditRecord, answer: ApiError| {
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
    record.arguments = Some(record::arguments(project, Some(&tool), &merged.arguments));
    record.provenance = serde_json::to_value(&merged.provenance)
        .ok()
        .and_then(record::non_empty);
    record::conceal(project, &mut record);
    let running = match limits::admit(app, project, asker.principal, Some(&tool), record.at) {
        Ok(running) => running,
        Err(exceeded) => {
            let record = record::ended(record, AuditOutcome::Denied, Some(exceeded.code()));
            let answer = exceeded.answer().call_id(id);
            return Err(Box::new(Refusal { record, answer }));
        }
    };
    Ok(Admitted {
        running,
        tool,
        merged,
        record,
        in_state_since: entered.as_ref().map(|session| session.row.moved_at),
        session: entered.map(|session| CallSession {
            id: session.row.id.0,
            state: session.row.state,
            version: session.row.version,
            state_conflict: false,
        }),
        state,
    })
}

/// The answer to arguments that do not fit. Faults name members, and a caller may put a secret into a name.
fn unfit(project: &ProjectState, tool: &str, unmerged: Unmerged) -> ApiError {
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
    ApiError::new(
        ErrorCode::InvalidArguments,
        format!("The arguments do not fit the parameters of \"{tool}\"; `errors` names every fault."),
    )
    .errors(faults)
}

/// The answer to a call that was denied.
pub(super) fn refusal(asker: &Asker<'_>, decision: &Decision, code: ErrorCode) -> ApiError {
    match code {
        ErrorCode::InsufficientToolGroups => insufficient_groups(decision.missing.clone()),
        // Only a change of the definition or of the server makes it available.
        ErrorCode::ToolUnavailable => ApiError::new(code, decision.explain()).final_(),
        _ if asker.reads_definitions => ApiError::new(code, decision.explain()),
        _ => ApiError::new(code, decision.explain_to(asker.granted)),
    }
}
