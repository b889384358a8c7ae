//! Changes of access on the record: opened before, completed after, and the attempts that were refused.

use std::future::Future;
use std::sync::Arc;

use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome};
use toolgate_core::ids::CallId;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::redact;
use toolgate_store::rows::{Completion, NO_PROJECT, Opening, RecordSeq};

use super::{Actor, Place};
use crate::error::{ApiError, ApiResult};
use crate::gateway::record::Asker;
use crate::gateway::world::World;
use crate::gateway::{call, record};
use crate::state::App;

/// The record of a change that is about to be made.
#[must_use]
pub fn opening(app: &App, place: &Place, actor: Actor<'_>, what: &Value) -> Opening {
    let id = CallId(app.clock.new_id());
    let version = place.project.snapshot.version();
    let mut record = record::decided(id, place.now, AuditAction::Access, &place.asker(actor), version);
    record.arguments = arguments(what);
    Opening {
        project: place.project.row.uid,
        record,
    }
}

/// The record of a change that is about to be made on the server itself: of users, who belong to no project.
#[must_use]
pub fn server_opening(app: &App, world: &World, actor: Actor<'_>, what: &Value) -> Opening {
    let (id, now) = (CallId(app.clock.new_id()), app.clock.now());
    let asker = Asker {
        principal: &actor.identity.principal,
        granted: &GroupSet::default(),
        request_id: actor.request_id,
        address: actor.address,
        trace: None,
    };
    let version = world.directory.version();
    let mut record = record::decided(id, now, AuditAction::Access, &asker, version);
    record.arguments = arguments(what);
    Opening {
        project: NO_PROJECT,
        record,
    }
}

fn arguments(what: &Value) -> Option<Value> {
    what.as_object().map(redact::redact)
}

/// Opens the records, makes the change, loads it here and completes the records; nothing is changed when a record cannot be
/// opened. All in a task of its own: a caller that goes away leaves neither half a change nor an open record.
pub async fn carry_out<T: Send + 'static>(
    app: &Arc<App>,
    openings: Vec<Opening>,
    work: impl Future<Output = ApiResult<T>> + Send + 'static,
) -> ApiResult<T> {
    let app = Arc::clone(app);
    let task = async move {
        let mut open = Vec::with_capacity(openings.len());
        for opening in openings {
            let (project, id) = (opening.project, CallId(opening.record.id));
            let began = opening.record.at;
            let seq = write(&app, opening).await?;
            open.push((project, id, seq, began));
        }
        let done = work.await;
        // Effective here before anything else can go wrong; other servers look by themselves.
        let loaded = app.world.refresh().await;
        let code = done.as_ref().err().map(ApiError::code);
        for (project, id, record, began) in open {
            let ended = record::completion(&app, (project, id, record), began, "", code);
            complete(&app, ended).await?;
        }
        let value = done?;
        loaded?;
        Ok(value)
    };
    match tokio::spawn(task).await {
        Ok(answer) => answer,
        Err(panicked) => Err(ApiError::internal(&panicked)),
    }
}

/// Records an attempt that was refused, and gives the refusal back for the answer.
pub async fn refused(app: &App, opening: Opening, refusal: ApiError) -> ApiResult<ApiError> {
    let Opening { project, mut record } = opening;
    let id = CallId(record.id);
    record.missing_groups = refusal.groups_missing().to_vec();
    let record = record::ended(record, AuditOutcome::Denied, Some(refusal.code()));
    write(app, Opening { project, record }).await?;
    Ok(refusal.call_id(id))
}

async fn write(app: &App, opening: Opening) -> ApiResult<RecordSeq> {
    let written = app.records.open(opening).await;
    written.map_err(|error| record::audit_unavailable(app, &error))
}

async fn complete(app: &App, ended: Completion) -> ApiResult<()> {
    match call::complete(app, ended).await {
        Ok(_) => Ok(()),
        Err(_) => Err(ApiError::new(
            ErrorCode::AuditUnavailable,
            "The change may have been made, but how it ended could not be recorded. Read it before you repeat it.",
        )
        .final_()),
    }
}
