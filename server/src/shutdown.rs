//! Asking a server to stop, and observing that it does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// A handle that stops the server; clones are the same handle.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    stopping: CancellationToken,
    stopped: CancellationToken,
}

impl Shutdown {
    /// A handle that nothing has stopped yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A handle that SIGTERM and SIGINT stop. A second signal ends the process at once with code 130.
    ///
    /// Must be called within a Tokio runtime.
    #[must_use]
    pub fn on_signals() -> Self {
        let shutdown = Self::new();
        let handle = shutdown.clone();
        tokio::spawn(async move {
            if let Err(error) = handle.follow_signals().await {
                tracing::error!(%error, "signals cannot be received; only killing the process stops it");
            }
        });
        shutdown
    }

    async fn follow_signals(&self) -> std::io::Result<()> {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut terminate, mut interrupt) =
            (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let mut next = async || {
            tokio::select! {
                _ = terminate.recv() => "SIGTERM",
                _ = interrupt.recv() => "SIGINT",
            }
        };
        let name = next().await;
        tracing::info!(signal = name, "stopping on a signal");
        self.stop();
        next().await;
        std::process::exit(130);
    }

    /// Asks the server to stop.
    pub fn stop(&self) {
        self.stopping.cancel();
    }

    /// Whether the server was asked to stop: it is not ready any more.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stopping.is_cancelled()
    }

    /// Ends when the server is asked to stop; requests may still run.
    pub async fn stopping(&self) {
        self.stopping.cancelled().await;
    }

    /// Ends when the server has stopped: no request runs any more.
    pub async fn stopped(&self) {
        self.stopped.cancelled().await;
    }

    pub(super) fn set_stopped(&self) {
        self.stopping.cancel();
        self.stopped.cancel();
    }
}

/// Counts running requests.
#[derive(Debug, Clone, Default)]
pub(super) struct Running(Arc<Count>);

#[derive(Debug, Default)]
struct Count {
    requests: AtomicUsize,
    ended: Notify,
}

impl Running {
    pub(super) fn begin(&self) -> RunningGuard {
        self.0.requests.fetch_add(1, Ordering::Relaxed);
        RunningGuard(Arc::clone(&self.0))
    }

    pub(super) fn count(&self) -> usize {
        self.0.requests.load(Ordering::Acquire)
    }

    /// Ends as soon as none runs.
    pub(super) async fn none(&self) {
        loop {
            let ended = self.0.ended.notified();
            if self.count() == 0 {
                return;
            }
            ended.await;
        }
    }
}

/// One running request.
#[derive(Debug)]
pub(super) struct RunningGuard(Arc<Count>);

impl Drop for RunningGuard {
    fn drop(&mut self) {
        if self.0.requests.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.ended.notify_waiters();
        }
    }
}
