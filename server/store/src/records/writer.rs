//! The group commit: callers hand in records and wait; one task writes what has gathered, in one commit.
//!
//! While a commit is on its way to the disk, the next batch gathers, so batches grow with the load and a lone caller
//! waits for no other. The task is the only one that adds to the chain of its server, so it knows the chain's head
//! without asking.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use crate::Store;
use crate::error::{Result, StoreError};
use crate::records::chain::Progress;
use crate::records::columns::{CompletionColumns, OpeningColumns};
use crate::records::task;
use crate::rows::{Completed, Completion, Opening, RecordSeq};

/// Jobs that may wait; further callers wait to hand in theirs.
const QUEUE: usize = 4096;

/// Reports to a caller how its job ended.
pub(super) type Done<T> = oneshot::Sender<Result<T>>;

/// What callers want of the task.
pub(super) enum Job {
    Open(OpeningColumns, Done<RecordSeq>),
    Complete(CompletionColumns, Done<Completed>),
    CloseAbandoned(CloseAbandoned),
    Stop(DateTime<Utc>),
}

/// See [`RecordWriter::close_abandoned`].
pub(super) struct CloseAbandoned {
    pub(super) alive_after: DateTime<Utc>,
    pub(super) at: DateTime<Utc>,
    pub(super) done: Done<u64>,
}

/// What the task reports about its chain; `None` until it has written something.
pub(super) type Shared = Arc<Mutex<Option<Progress>>>;

/// Writes the record of decisions and calls. Clones share one queue.
#[derive(Clone)]
pub struct RecordWriter {
    jobs: mpsc::Sender<Job>,
    store: Store,
    instance: Uuid,
    progress: Shared,
}

impl Store {
    /// Starts the task that writes records for a server; it ends with [`RecordWriter::shutdown`] or with the last clone of
    /// the writer. Must be called within a Tokio runtime. There must be one writer per server: it alone extends the
    /// server's chain.
    #[must_use]
    pub fn records_writer(&self, instance: Uuid) -> RecordWriter {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let progress = Shared::default();
        tokio::spawn(task::run(self.clone(), instance, queue, Arc::clone(&progress)));
        RecordWriter {
            jobs,
            store: self.clone(),
            instance,
            progress,
        }
    }
}

impl RecordWriter {
    /// Writes a record, open or already ended; gives its place when it is durable. It is on its way at once, unless
    /// the queue is full, and is then written also when no caller waits for it.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the call has a record; [`StoreError::Refused`] when outcome and fields contradict each
    /// other; [`StoreError::Unavailable`] when the database does not answer or the writer was shut down. After an error the
    /// caller must assume that there is no record, and execute nothing.
    pub fn open(&self, opening: Opening) -> impl Future<Output = Result<RecordSeq>> + use<> {
        let row = OpeningColumns::try_from(opening);
        let written = row.map(|row| self.hand_in(|done| Job::Open(row, done)));
        async move { written?.await }
    }

    /// Completes an open record, moves its session and settles its idempotency claim, all or none; returns when that is
    /// durable. Doing the same again is fine, so it can be repeated after an error.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the call has no open record of this server: never opened, or closed by another
    /// server that took this one for dead; for a deferred call, when another completion was first. Otherwise as
    /// [`Self::open`].
    pub fn complete(&self, completion: Completion) -> impl Future<Output = Result<Completed>> + use<> {
        let row = CompletionColumns::try_from(completion);
        let written = row.map(|row| self.hand_in(|done| Job::Complete(row, done)));
        async move { written?.await }
    }

    /// Closes as interrupted the open records of other servers without a heartbeat since `alive_after`; the number of
    /// records. On SQLite there is one server, so every other one is dead. Keys that they claimed without opening a
    /// record never ran and are free again.
    pub async fn close_abandoned(&self, alive_after: DateTime<Utc>, at: DateTime<Utc>) -> Result<u64> {
        self.hand_in(|done| {
            Job::CloseAbandoned(CloseAbandoned {
                alive_after,
                at,
                done,
            })
        })
        .await
    }

    /// Says that the server still runs, and how far its chain has come, so that a missing tail is noticed.
    pub async fn heartbeat(&self, at: DateTime<Utc>) -> Result<()> {
        let progress = *self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        self.store.heartbeat(self.instance, progress, at, false).await
    }

    /// Whether the task still takes records.
    #[must_use]
    pub fn is_running(&self) -> bool {
        !self.jobs.is_closed()
    }

    /// Writes what was handed in before, then ends the task and the chain; everything later is refused as unavailable.
    pub async fn shutdown(&self, at: DateTime<Utc>) {
        if self.jobs.send(Job::Stop(at)).await.is_ok() {
            self.jobs.closed().await;
        }
    }

    /// Hands in at once if there is room, as there mostly is: what is waited for is small then, and calls move it often.
    fn hand_in<T, J>(&self, job: J) -> impl Future<Output = Result<T>> + use<T, J>
    where
        J: FnOnce(Done<T>) -> Job,
    {
        let (done, outcome) = oneshot::channel();
        let left = match self.jobs.try_send(job(done)) {
            Err(TrySendError::Full(job)) => {
                let jobs = self.jobs.clone();
                Some(Box::pin(async move { jobs.send(job).await }))
            }
            // If the writer has stopped, the oneshot sender is dropped and `outcome` is an error.
            Ok(()) | Err(TrySendError::Closed(_)) => None,
        };
        async move {
            if let Some(left) = left {
                left.await.map_err(|_| stopped())?;
            }
            outcome.await.map_err(|_| stopped())?
        }
    }
}

fn stopped() -> StoreError {
    StoreError::io(std::io::Error::new(
        std::io::ErrorKind::BrokenPipe,
        "the writer of records was shut down",
    ))
}
