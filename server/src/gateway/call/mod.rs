//! The use case "call a tool": decide, record, execute, record, answer.

mod admission;
mod completion;
mod deferral;
mod ending;
mod late;
mod once;
mod replay;
mod run;
mod running;
mod state;

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use toolgate_api::audit::{ArgumentCoercion, AuditAction};
use toolgate_api::calls::{CallRequest, CallResponse};
use toolgate_core::definition::ExecutorKind;
use toolgate_core::ids::CallId;
use toolgate_core::policy::decision::Effect;
use toolgate_core::principal::PrincipalRef;
use toolgate_executors::{Asker, Exchange, Invocation, Manager, Parts, UpstreamLog};
use toolgate_store::rows::{IdempotencyKey, Opening};
use tracing::Instrument;

use super::accounts;
use super::artifacts::Keeper;
use super::detach_on_drop::DetachOnDrop;
use super::entry::Entry;
use super::management::ProjectManager;
use super::observe::{self, Observed};
use super::record::{self, Requester};
use super::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};
use crate::telemetry::spans;
use admission::{Admitted, Prerequisites, Refusal, admit, decide, enter, stand_alone};
use completion::complete;
pub use late::{complete_due, receive_reports};
pub use once::{Begun, Called, KeyText, NEED, begin_once, call_once, call_once_with, unusable_key};
use replay::replay;
use run::{Run, finish};
pub use running::{KEPT as CANCELLATIONS_KEPT, RunningCall, RunningCalls, end_cancelled};
pub use state::{cancel, cancel_named, running, state};

/// What an entrance knows of a call beside its request.
#[derive(Default)]
pub struct CallOptions {
    /// Makes a repeated request harmless.
    pub key: Option<KeyText>,
    /// The arguments that the entrance read otherwise than they were sent.
    pub coercions: Vec<ArgumentCoercion>,
    /// Ends the call. It is recorded as cancelled.
    pub cancelled: CancellationToken,
    /// Takes the parts of the answer as they come.
    pub parts: Option<Parts>,
    /// Makes it a test, recorded as one, and takes what was sent and received.
    pub test: Option<Exchange>,
    /// Puts questions of the upstream to the caller.
    pub asker: Option<Arc<dyn Asker>>,
    /// Takes what the upstream logs.
    pub log: Option<UpstreamLog>,
}

/// What a call is run with.
#[derive(Default)]
struct Watch {
    coercions: Vec<ArgumentCoercion>,
    cancelled: CancellationToken,
    /// Sent when the record is open.
    admitted: Option<oneshot::Sender<()>>,
    /// Takes the parts of the answer as they come.
    parts: Option<Parts>,
    /// Of a test.
    test: Option<Exchange>,
    /// Puts questions of the upstream to the caller.
    asker: Option<Arc<dyn Asker>>,
    /// Takes what the upstream logs.
    log: Option<UpstreamLog>,
}

/// Decides about one call, records it, runs it and records how it ended.
///
/// Once its record is on its way the work continues if the caller disconnects.
async fn call(
    gateway: &Arc<Gateway>,
    entry: &Arc<Entry>,
    id: CallId,
    request: &CallRequest,
    idempotency: Option<IdempotencyKey>,
    watch: Watch,
) -> Result<Box<CallResponse>, Problem> {
    let (project, requester) = (&*entry.project, &entry.requester());
    let session = match request.session_id {
        None => stand_alone(project, requester, request),
        Some(session) => Box::pin(enter(gateway, project, requester, session, request)).await?,
    };
    let action = match &watch.test {
        Some(_) => AuditAction::Test,
        None => AuditAction::Call,
    };
    let decided = match decide(gateway, project, requester, (id, action), request, session) {
        Ok(decided) => {
            let decided = decided.with_coercions(project, watch.coercions);
            let merged = decided.merge(gateway, request).await;
            let account = match accounts::provider_of(project, &decided.tool().definition) {
                None => Ok(None),
                Some(_) => Box::pin(accounts::for_call(gateway, entry, &decided.tool().definition)).await,
            };
            admit(
                gateway,
                project,
                requester,
                id,
                request,
                *decided,
                Prerequisites { merged, account },
            )
        }
        Err(refusal) => Err(refusal),
    };
    match decided {
        Ok(call) => {
            let (opening, mut run) = begin(gateway, entry, id, request, call, idempotency);
            let span = spans::call(project.row.id.as_str(), run.tool.name(), &id);
            run.admitted = watch.admitted;
            run.cancelled = watch.cancelled;
            run.invocation.parts = watch.parts;
            run.invocation.exchange = watch.test;
            run.invocation.asker = watch.asker;
            run.invocation.log = watch.log;
            run.invocation.trace = spans::outgoing(&span, requester.origin.trace.as_ref());
            let opened = gateway.records.open(opening);
            DetachOnDrop::new(finish(Arc::clone(gateway), run, opened).instrument(span)).await
        }
        Err(refusal) => Err(Box::pin(refuse(gateway, project, requester, refusal)).await),
    }
}

/// Records a refusal, and gives the answer to it.
async fn refuse(
    gateway: &Gateway,
    project: &ProjectState,
    requester: &Requester<'_>,
    refusal: Box<Refusal>,
) -> Problem {
    gateway.metrics.decision(Effect::Deny, refusal.record.code);
    observe::observed(gateway, &Observed::of_record(project, requester, &refusal.record));
    let opening = Opening {
        project: project.row.uid,
        record: refusal.record,
    };
    match gateway.records.open(opening).await {
        Ok(_) => refusal.answer,
        Err(error) => record::audit_unavailable(gateway, &error),
    }
}

/// What is recorded of an admitted call before it runs, and what runs then.
fn begin(
    gateway: &Arc<Gateway>,
    entry: &Arc<Entry>,
    id: CallId,
    request: &CallRequest,
    admitted: Admitted,
    idempotency: Option<IdempotencyKey>,
) -> (Opening, Box<Run>) {
    let (project, requester) = (&*entry.project, &entry.requester());
    gateway.metrics.decision(Effect::Allow, None);
    let Admitted {
        tool,
        merged,
        context,
        record,
        state,
        session,
        conditions,
        in_state_since,
        running,
        account,
    } = admitted;
    let seen = Observed::of_record(project, requester, &record);
    let ticket = observe::observed(gateway, &seen).in_state_since(in_state_since);
    let started = record.at;
    let manager =
        (tool.definition.executor_kind() == ExecutorKind::Management).then(|| -> Arc<dyn Manager> {
            let decided = (record.requested_groups.clone(), state.clone());
            let context = match &session {
                Some(_) => conditions,
                None => request.context.clone(),
            };
            Arc::new(ProjectManager::new(gateway, entry, request, decided, context))
        });
    // A management call leaves its places to the calls that it makes.
    let running = running.filter(|_| manager.is_none());
    let run = Run {
        id,
        project: project.row.uid,
        keeper: Keeper::of(&tool, &project.row.id, requester.principal),
        invocation: Invocation {
            call_id: id,
            project: project.row.id.clone(),
            caller: Some(PrincipalRef::from(requester.principal)),
            user: requester.principal.name.clone(),
            session: session.clone(),
            context,
            definition: Arc::clone(&tool.definition),
            service: tool.service.clone(),
            envs: Arc::clone(&tool.envs),
            account,
            secrets: (!project.secrets.is_empty()).then(|| project.secrets.source(started)),
            egress: project.egress.origins(),
            servers: project.mcp_servers.set().cloned(),
            manager,
            arguments: merged.arguments,
            provenance: merged.provenance,
            parts: None,
            exchange: None,
            asker: None,
            log: None,
            ledger: None,
            trace: Default::default(),
        },
        tool,
        state,
        session,
        started,
        entrance: requester.origin.entrance,
        idempotency,
        cancelled: CancellationToken::new(),
        admitted: None,
        ticket,
        _in_flight: project.load.enter(started),
        _running: running,
    };
    let opening = Opening {
        project: project.row.uid,
        record,
    };
    (opening, Box::new(run))
}
