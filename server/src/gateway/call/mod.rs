//! The use case "call a tool": decide, record, execute, record, answer.

mod admission;
mod completion;
mod replay;
mod run;

use std::sync::Arc;

use toolgate_api::calls::{CallRequest, CallResponse};
use toolgate_core::ids::CallId;
use toolgate_core::policy::decision::Effect;
use toolgate_executors::Invocation;
use toolgate_store::rows::{IdempotencyKey, Opening};
use tracing::Instrument;

use super::artifacts::Keeper;
use super::enduring::Enduring;
use super::observe::{self, Observed};
use super::record::{self, Asker};
use super::world::ProjectState;
use crate::error::{ApiError, ApiResult};
use crate::state::App;
use crate::telemetry::spans;
use admission::{Admitted, Refusal, admit, decide, enter, stand_alone};
use completion::complete;
pub use replay::replay;
use run::{Run, finish};

/// Decides about one call, records it, runs it and records how it ended.
///
/// Once its record is on its way the work goes on whoever goes away: a caller that does leaves no open record.
pub async fn call(
    app: &Arc<App>,
    project: &ProjectState,
    asker: &Asker<'_>,
    id: CallId,
    request: &CallRequest,
    idempotency: Option<IdempotencyKey>,
) -> ApiResult<Box<CallResponse>> {
    let session = match request.session_id {
        None => stand_alone(project, asker, request),
        Some(session) => Box::pin(enter(app, project, asker, session, request)).await?,
    };
    let admitted = match decide(app, project, asker, id, request, session) {
        Ok(decided) => {
            let merged = decided.merge(app, request).await;
            admit(app, project, asker, id, request, *decided, merged)
        }
        Err(refusal) => Err(refusal),
    };
    match admitted {
        Ok(admitted) => {
            let (opening, mut run) = begin(app, project, asker, id, admitted, idempotency);
            let span = spans::call(project.row.id.as_str(), run.tool.name(), &id);
            run.invocation.trace = spans::outgoing(&span, asker.trace);
            let opened = app.records.open(opening);
            Enduring::new(finish(Arc::clone(app), run, opened).instrument(span)).await
        }
        Err(refusal) => Err(Box::pin(refuse(app, project, asker, refusal)).await),
    }
}

/// Records a refusal, and gives the answer to it.
async fn refuse(app: &App, project: &ProjectState, asker: &Asker<'_>, refusal: Box<Refusal>) -> ApiError {
    app.metrics.decision(Effect::Deny, refusal.record.code);
    observe::observed(app, &Observed::of_record(project, asker, &refusal.record));
    let opening = Opening {
        project: project.row.uid,
        record: refusal.record,
    };
    match app.records.open(opening).await {
        Ok(_) => refusal.answer,
        Err(error) => record::audit_unavailable(app, &error),
    }
}

/// What is recorded of an admitted call before it runs, and what runs then.
fn begin(
    app: &App,
    project: &ProjectState,
    asker: &Asker<'_>,
    id: CallId,
    admitted: Admitted,
    idempotency: Option<IdempotencyKey>,
) -> (Opening, Box<Run>) {
    app.metrics.decision(Effect::Allow, None);
    let Admitted {
        tool,
        merged,
        record,
        state,
        session,
        in_state_since,
        running,
    } = admitted;
    let seen = Observed::of_record(project, asker, &record);
    let ticket = observe::observed(app, &seen).in_state_since(in_state_since);
    let started = record.at;
    let run = Run {
        id,
        project: project.row.uid,
        keeper: Keeper::of(&tool, &project.row.id, asker.principal),
        invocation: Invocation {
            call_id: id,
            project: project.row.id.clone(),
            definition: Arc::clone(&tool.definition),
            envs: Arc::clone(&tool.envs),
            secrets: (!project.secrets.is_empty()).then(|| project.secrets.source(started)),
            egress: project.egress.origins(),
            arguments: merged.arguments,
            trace: http::HeaderMap::new(),
        },
        tool,
        state,
        session,
        started,
        idempotency,
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
