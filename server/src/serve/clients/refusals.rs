//! What was refused: counted, and in the log every few seconds.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use metrics::counter;
use tokio::time::Instant;

use crate::network::ClientNetwork;

/// Between two lines of the log.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// Why something was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// A connection: its client has as many as it may have.
    Connection,
    /// A request through a proxy: the same.
    Request,
    /// A silent connection gave way.
    Silent,
}

impl Reason {
    fn label(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::Request => "request",
            Self::Silent => "silent",
        }
    }
}

/// What was refused since the server started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refused {
    /// Connections and forwarded requests of clients that had as many as they may have.
    pub of_clients: u64,
    /// Silent connections that gave way.
    pub silent: u64,
    /// When something was refused last.
    pub last: Option<Instant>,
}

#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    so_far: Refused,
    logged: Option<Instant>,
    unlogged: u64,
}

impl Refusals {
    pub(super) fn so_far(&self) -> Refused {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).so_far
    }

    pub(super) fn count(&self, reason: Reason, client: ClientNetwork) {
        counter!("toolgate_http_refused_total", "reason" => reason.label()).increment(1);
        let now = Instant::now();
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match reason {
            Reason::Silent => state.so_far.silent += 1,
            Reason::Connection | Reason::Request => state.so_far.of_clients += 1,
        }
        state.so_far.last = Some(now);
        state.unlogged += 1;
        if state.logged.is_some_and(|logged| now - logged < LOG_EVERY) {
            return;
        }
        state.logged = Some(now);
        let refused = std::mem::take(&mut state.unlogged);
        drop(state);
        tracing::warn!(
            %client,
            reason = reason.label(),
            refused,
            "connections or requests are refused because there are too many; if this client is a proxy, name it in \
             trusted_proxies"
        );
    }
}
