//! The only place besides `call` where records are opened and completed.
//!
//! A record is opened before its work begins and completed when the work has ended. The work continues in a task if its
//! caller disconnects. A record that nothing completes, because its work panicked or was dropped, completes itself. What
//! cannot be written at once is written by the [`Completer`] when the database answers again.

mod completer;
mod offline;
mod pulse;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, Utc};
use futures_util::future::join_all;
use serde_json::Value;
use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditOutcome;
use toolgate_core::ids::{CallId, ProjectUid};
use toolgate_store::rows::{Completion, Opening, RecordSeq};
use tracing::Instrument;

pub use self::completer::{Completer, Waiting};
pub use self::offline::offline;
pub use self::pulse::Pulse;
use super::detach_on_drop::DetachOnDrop;
use super::record;
use crate::gateway::{Gateway, Problem};

/// Opens the records, does the work and completes the records with how it ended. Nothing is done if a record cannot be
/// opened. If the caller drops this future, it continues in a task of its own, also when it was not polled yet.
///
/// # Errors
/// What the work answers; [`ErrorCode::AuditUnavailable`] if a record could not be opened, or not be completed in time.
pub fn recorded<T: Send + 'static>(
    gateway: &Arc<Gateway>,
    openings: Vec<Opening>,
    work: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> DetachOnDrop<Result<T, Problem>> {
    let code = |done: &Result<T, Problem>| done.as_ref().err().map(Problem::code);
    let whole = between_records(Arc::clone(gateway), openings, work, code);
    DetachOnDrop::new(async move { whole.await? }.in_current_span())
}

/// As [`recorded`], for work that answers something else than a result: `code` says why it failed, if it did.
///
/// # Errors
/// [`ErrorCode::AuditUnavailable`] if a record could not be opened, or not be completed in time.
pub fn recorded_as<T: Send + 'static>(
    gateway: &Arc<Gateway>,
    openings: Vec<Opening>,
    work: impl Future<Output = T> + Send + 'static,
    code: impl Fn(&T) -> Option<ErrorCode> + Send + 'static,
) -> DetachOnDrop<Result<T, Problem>> {
    let whole = between_records(Arc::clone(gateway), openings, work, code);
    DetachOnDrop::new(whole.in_current_span())
}

async fn between_records<T>(
    gateway: Arc<Gateway>,
    openings: Vec<Opening>,
    work: impl Future<Output = T>,
    code: impl Fn(&T) -> Option<ErrorCode>,
) -> Result<T, Problem> {
    let opened = join_all(openings.into_iter().map(|opening| begin(&gateway, opening))).await;
    // With one that failed, the others are dropped, and complete themselves as cancelled.
    let opened: Vec<OpenRecord> = opened.into_iter().collect::<Result<_, Problem>>()?;
    let done = work.await;
    let code = code(&done);
    let completed = join_all(opened.into_iter().map(|record| record.complete(code, None))).await;
    completed.into_iter().collect::<Result<(), Problem>>()?;
    Ok(done)
}

/// Opens a record for work that outlives its request. If the caller drops this future, the record is completed as
/// cancelled.
///
/// # Errors
/// [`ErrorCode::AuditUnavailable`].
pub async fn open(gateway: &Arc<Gateway>, opening: Opening) -> Result<OpenRecord, Problem> {
    let gateway = Arc::clone(gateway);
    DetachOnDrop::new(async move { begin(&gateway, opening).await }).await
}

/// Writes a record that has ended already: a question that was answered, or a refusal.
///
/// # Errors
/// [`ErrorCode::AuditUnavailable`].
pub async fn write(gateway: &Gateway, ended: Opening) -> Result<(), Problem> {
    debug_assert!(
        ended.record.outcome != AuditOutcome::Open,
        "nothing would complete it"
    );
    match gateway.records.open(ended).await {
        Ok(_) => Ok(()),
        Err(error) => Err(record::audit_unavailable(gateway, &error)),
    }
}

async fn begin(gateway: &Arc<Gateway>, opening: Opening) -> Result<OpenRecord, Problem> {
    let (project, id, began) = (opening.project, CallId(opening.record.id), opening.record.at);
    let state = opening.record.state_before.clone();
    match gateway.records.open(opening).await {
        Ok(seq) => Ok(OpenRecord::new(gateway, (project, id, seq), began, state)),
        Err(error) => Err(record::audit_unavailable(gateway, &error)),
    }
}

/// A record that is open. Dropped without being completed, it is completed in the background: as `internal` if its work
/// panicked, as `cancelled` otherwise.
pub struct OpenRecord {
    gateway: Arc<Gateway>,
    opened: (ProjectUid, CallId, RecordSeq),
    began: DateTime<Utc>,
    state: String,
    completed: bool,
    /// Whether another server completes it if this one does not.
    deferred: Option<Arc<AtomicBool>>,
}

impl OpenRecord {
    /// A record that was opened at a time, in a workflow state.
    pub(super) fn new(
        gateway: &Arc<Gateway>,
        opened: (ProjectUid, CallId, RecordSeq),
        began: DateTime<Utc>,
        state: String,
    ) -> Self {
        Self {
            gateway: Arc::clone(gateway),
            opened,
            began,
            state,
            completed: false,
            deferred: None,
        }
    }

    /// Completes the record: failed with a code, succeeded without one. Await it where nothing drops it.
    ///
    /// # Errors
    /// [`ErrorCode::AuditUnavailable`], final, if that could not be written in time. It is written later.
    pub async fn complete(mut self, code: Option<ErrorCode>, usage: Option<Value>) -> Result<(), Problem> {
        let completion = Box::new(Completion {
            usage,
            ..self.completion(code)
        });
        self.completed = true;
        match self.gateway.completer.complete(completion).await {
            Some(_) => Ok(()),
            None => {
                self.gateway.metrics.audit_failure();
                Err(Problem::new(
                    ErrorCode::AuditUnavailable,
                    "The change may have been made, but how it ended could not be recorded yet. Read it before you \
                     repeat it.",
                )
                .final_())
            }
        }
    }

    /// Does not complete the record by itself once its call is deferred: any server does.
    pub(super) fn unless(&mut self, deferred: &Arc<AtomicBool>) {
        self.deferred = Some(Arc::clone(deferred));
    }

    /// Leaves the completion to the caller, which has one of its own.
    pub(super) fn leave(mut self) {
        self.completed = true;
    }

    fn completion(&self, code: Option<ErrorCode>) -> Completion {
        record::completion(&self.gateway, self.opened, self.began, &self.state, code)
    }
}

impl Drop for OpenRecord {
    fn drop(&mut self) {
        let is_deferred = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        if self.completed || self.deferred.as_ref().is_some_and(is_deferred) {
            return;
        }
        let code = if std::thread::panicking() {
            ErrorCode::Internal
        } else {
            ErrorCode::Cancelled
        };
        self.gateway.completer.complete_later(self.completion(Some(code)));
    }
}
