//! Changes of definitions and of what is declared on the record: opened before, completed after.

use std::sync::Arc;

use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditAction;
use toolgate_core::ids::CallId;
use toolgate_core::redact;
use toolgate_store::rows::Opening;
use tracing::Instrument;

use super::enduring::Enduring;
use super::publish::Author;
use super::record::{self, Asker};
use super::world::ProjectState;
use crate::error::{ApiError, ApiResult};
use crate::state::App;

/// Who changes definitions: for the record, and for their revisions.
pub struct Changer<'a> {
    /// For the record.
    pub asker: Asker<'a>,
    /// For the revisions.
    pub author: Author<'a>,
}

/// Makes a change between the opening and the completion of its record; `what` is the record's arguments, nulls left out. A
/// change that has to be computed again (`None`), because somebody else was faster, is on the record as failed. A caller
/// that goes away leaves neither half a change nor an open record.
pub(super) async fn recorded<T: Send + 'static>(
    app: &Arc<App>,
    state: &ProjectState,
    asker: &Asker<'_>,
    action: AuditAction,
    what: Value,
    change: impl Future<Output = ApiResult<Option<T>>> + Send + 'static,
) -> ApiResult<Option<T>> {
    let id = CallId(app.clock.new_id());
    let version = state.snapshot.version();
    let mut record = record::decided(id, app.clock.now(), action, asker, version);
    if let Value::Object(mut what) = what {
        what.retain(|_, value| !value.is_null());
        record.arguments = Some(redact::redact(&what));
    }
    let project = state.row.uid;
    let whole = carry_out(Arc::clone(app), Opening { project, record }, change);
    Enduring::new(whole.in_current_span()).await
}

async fn carry_out<T>(
    app: Arc<App>,
    opening: Opening,
    change: impl Future<Output = ApiResult<Option<T>>>,
) -> ApiResult<Option<T>> {
    let (project, id, began) = (opening.project, CallId(opening.record.id), opening.record.at);
    let seq = app
        .records
        .open(opening)
        .await
        .map_err(|error| record::audit_unavailable(&app, &error))?;
    let done = change.await;
    let code = match &done {
        Ok(Some(_)) => None,
        Ok(None) => Some(ErrorCode::PreconditionFailed),
        Err(error) => Some(error.code()),
    };
    let completion = record::completion(&app, (project, id, seq), began, "", code);
    if let Err(error) = app.records.complete(completion).await {
        app.metrics.audit_failure();
        tracing::error!(call_id = %id, cause = %error, "the end of a change could not be recorded");
        return Err(ApiError::new(
            ErrorCode::AuditUnavailable,
            "The change may have been made, but how it ended could not be recorded. Read it before you repeat it.",
        )
        .final_());
    }
    done
}
