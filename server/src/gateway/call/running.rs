//! The calls that run in this process, so that they can be cancelled.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use tokio_util::sync::CancellationToken;
use toolgate_api::ErrorCode;
use toolgate_core::ids::CallId;
use toolgate_executors::Failure;

use crate::gateway::Gateway;

/// How long a cancellation is kept for the servers that look for it.
pub const KEPT: TimeDelta = TimeDelta::hours(1);

/// What runs now, by call.
#[derive(Default)]
pub struct RunningCalls(Mutex<HashMap<CallId, Running>>);

/// One that runs.
struct Running {
    token: CancellationToken,
    since: DateTime<Utc>,
    /// Whether another server may complete it.
    deferred: bool,
}

impl RunningCalls {
    fn all(&self) -> MutexGuard<'_, HashMap<CallId, Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a call, if it runs here; whether it does.
    pub fn end(&self, call: CallId) -> bool {
        match self.all().get(&call) {
            Some(running) => {
                running.token.cancel();
                true
            }
            None => false,
        }
    }

    /// Notes that another server may complete a call from now on.
    pub(super) fn defer(&self, call: CallId) {
        if let Some(running) = self.all().get_mut(&call) {
            running.deferred = true;
        }
    }

    /// The calls that run here and that another server may complete.
    pub(super) fn deferred(&self) -> Vec<CallId> {
        let all = self.all();
        let deferred = all.iter().filter(|(_, running)| running.deferred);
        deferred.map(|(call, _)| *call).collect()
    }

    /// Whether a call runs here that another server may complete.
    pub(super) fn is_deferred(&self, call: CallId) -> bool {
        self.all().get(&call).is_some_and(|running| running.deferred)
    }

    /// Ends a call that began before a time, if it runs here.
    fn end_before(&self, call: CallId, at: DateTime<Utc>) {
        if let Some(running) = self.all().get(&call).filter(|running| running.since <= at) {
            running.token.cancel();
        }
    }
}

/// A call that runs; no longer when this is dropped.
pub struct RunningCall {
    gateway: Arc<Gateway>,
    call: CallId,
    token: CancellationToken,
}

impl RunningCall {
    /// Keeps a call among the running ones. `call` is its id, or one that an entrance derives from its own name of a request,
    /// so that the request can be cancelled by that name on every server. Cancelling the token ends it.
    #[must_use]
    pub fn new(gateway: &Arc<Gateway>, call: CallId, token: CancellationToken) -> Self {
        let running = Running {
            token: token.clone(),
            since: gateway.clock.now(),
            deferred: false,
        };
        gateway.running.all().insert(call, running);
        Self {
            gateway: Arc::clone(gateway),
            call,
            token,
        }
    }

    /// Does the work until it ends or the call is cancelled. Its caller has pinned it, because a future that is given away
    /// takes room twice: as a parameter and where it is waited for.
    pub(super) async fn until_cancelled<T>(
        &self,
        work: Pin<&mut impl Future<Output = Result<T, Failure>>>,
    ) -> Result<T, Failure> {
        tokio::select! {
            biased;
            done = work => done,
            () = self.token.cancelled() => Err(cancelled()),
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.gateway.running.all().remove(&self.call);
    }
}

pub(super) fn cancelled() -> Failure {
    Failure {
        code: ErrorCode::Cancelled,
        message: "the call was cancelled; whether the tool acted before is unknown".to_owned(),
        retryable: false,
        retry_after_s: None,
        upstream_status: None,
        upstream_message: None,
        upstream_answer: None,
        remedy: None,
    }
}

/// Ends the calls that run here and were cancelled at another server.
///
/// # Errors
/// When the database does not answer.
pub async fn end_cancelled(gateway: &Gateway) -> anyhow::Result<()> {
    if gateway.running.all().is_empty() {
        return Ok(());
    }
    let since = gateway.clock.now() - KEPT;
    for (call, at) in gateway.store.cancelled_calls(since).await? {
        gateway.running.end_before(call, at);
    }
    Ok(())
}
