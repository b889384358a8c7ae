//! The group commit: callers hand in records and wait; one task writes what has gathered, in one commit.
//!
//! While a commit is on its way to the disk, the next batch gathers, so batches grow with the load and a lone caller waits
//! for nobody.

use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use crate::Store;
use crate::error::{Result, StoreError};
use crate::records::batch::{commit, is_completed};
use crate::records::columns::{CompletionColumns, OpeningColumns};
use crate::rows::{Completion, Opening};

/// Most jobs in one commit.
const BATCH: usize = 512;
/// Jobs that may wait; further callers wait to hand in theirs.
const QUEUE: usize = 4096;

/// Tells a caller how its job ended.
type Done = oneshot::Sender<Result<()>>;

enum Job {
    Open(OpeningColumns, Done),
    Complete(CompletionColumns, Done),
    Stop,
}

/// Writes the record of decisions and calls. Clones share one queue.
#[derive(Clone)]
pub struct RecordWriter {
    jobs: mpsc::Sender<Job>,
}

impl Store {
    /// Starts the task that writes records for a server; it ends with [`RecordWriter::shutdown`] or with the last clone of
    /// the writer. Must be called within a Tokio runtime. One writer per server is best: two do not share commits.
    #[must_use]
    pub fn records_writer(&self, instance: Uuid) -> RecordWriter {
        let (jobs, queue) = mpsc::channel(QUEUE);
        tokio::spawn(run(self.clone(), instance, queue));
        RecordWriter { jobs }
    }
}

impl RecordWriter {
    /// Writes a record, open or already ended; returns when it is durable.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the call has a record; [`StoreError::Refused`] when outcome and fields contradict each
    /// other; [`StoreError::Unavailable`] when the database does not answer or the writer was shut down. After an error the
    /// caller must assume that there is no record, and execute nothing.
    pub async fn open(&self, opening: Opening) -> Result<()> {
        let row = OpeningColumns::try_from(opening)?;
        self.hand_in(|done| Job::Open(row, done)).await
    }

    /// Completes an open record and settles its idempotency claim, both or none; returns when it is durable. Doing the same
    /// again is fine, so it can be repeated after an error.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the call has no open record: never opened, or closed by another server that believed
    /// this one dead. Otherwise as [`Self::open`].
    pub async fn complete(&self, completion: Completion) -> Result<()> {
        let row = CompletionColumns::try_from(completion)?;
        self.hand_in(|done| Job::Complete(row, done)).await
    }

    /// Writes what was handed in before, then ends the task; everything later is refused as unavailable.
    pub async fn shutdown(&self) {
        if self.jobs.send(Job::Stop).await.is_ok() {
            self.jobs.closed().await;
        }
    }

    async fn hand_in(&self, job: impl FnOnce(Done) -> Job) -> Result<()> {
        let (done, outcome) = oneshot::channel();
        self.jobs.send(job(done)).await.map_err(|_| stopped())?;
        outcome.await.map_err(|_| stopped())?
    }
}

fn stopped() -> StoreError {
    StoreError::io(std::io::Error::new(
        std::io::ErrorKind::BrokenPipe,
        "the writer of records was shut down",
    ))
}

/// The task: gathers, writes, answers, until it is told to stop or nobody is left who could ask.
async fn run(store: Store, instance: Uuid, mut queue: mpsc::Receiver<Job>) {
    let mut jobs = Vec::with_capacity(BATCH);
    let mut batch = Batch::default();
    let mut stopping = false;
    while queue.recv_many(&mut jobs, BATCH).await > 0 {
        // The first job wakes this task at once, before the other callers that the last commit set free. Letting them run
        // first makes one commit of what would be two, and costs nothing when there are none.
        let mut gathered = 0;
        while gathered < jobs.len() {
            gathered = jobs.len();
            tokio::task::yield_now().await;
            while jobs.len() < BATCH
                && let Ok(job) = queue.try_recv()
            {
                jobs.push(job);
            }
        }
        for job in jobs.drain(..) {
            match job {
                Job::Open(row, done) => batch.openings.push(row, done),
                Job::Complete(row, done) => batch.completions.push(row, done),
                Job::Stop => stopping = true,
            }
        }
        batch.write(&store, instance).await;
        if stopping && queue.is_empty() {
            break;
        }
    }
}

/// Rows with those who wait for them.
struct Rows<T> {
    rows: Vec<T>,
    waiting: Vec<Done>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            waiting: Vec::new(),
        }
    }
}

impl<T> Rows<T> {
    fn push(&mut self, row: T, done: Done) {
        self.rows.push(row);
        self.waiting.push(done);
    }

    /// A caller that has gone away does not need its answer.
    fn answer_all(&mut self, outcome: &Result<()>) {
        self.rows.clear();
        for done in self.waiting.drain(..) {
            let _gone = done.send(outcome.clone());
        }
    }
}

#[derive(Default)]
struct Batch {
    openings: Rows<OpeningColumns>,
    completions: Rows<CompletionColumns>,
}

impl Batch {
    /// Writes everything and answers everyone.
    async fn write(&mut self, store: &Store, instance: Uuid) {
        let outcome = commit(store, instance, &self.openings.rows, &self.completions.rows).await;
        match &outcome {
            Err(error) if error.is_about_one_row() => self.write_one_by_one(store, instance).await,
            _ => {
                if let Err(error) = &outcome {
                    tracing::error!(
                        openings = self.openings.rows.len(),
                        completions = self.completions.rows.len(),
                        cause = chain(error),
                        "a batch of records could not be written"
                    );
                }
                self.openings.answer_all(&outcome);
                self.completions.answer_all(&outcome);
            }
        }
    }

    /// One row has spoiled the batch: each gets a transaction of its own. When the database fails meanwhile, those that are
    /// left are not tried.
    async fn write_one_by_one(&mut self, store: &Store, instance: Uuid) {
        let mut failure = None;
        for (row, done) in self.openings.rows.drain(..).zip(self.openings.waiting.drain(..)) {
            let outcome = match &failure {
                None => commit(store, instance, std::slice::from_ref(&row), &[]).await,
                Some(error) => Err(StoreError::clone(error)),
            };
            remember(&mut failure, &outcome);
            let _gone = done.send(outcome);
        }
        for (row, done) in self
            .completions
            .rows
            .drain(..)
            .zip(self.completions.waiting.drain(..))
        {
            let outcome = match &failure {
                None => complete_one(store, instance, &row).await,
                Some(error) => Err(StoreError::clone(error)),
            };
            remember(&mut failure, &outcome);
            let _gone = done.send(outcome);
        }
    }
}

async fn complete_one(store: &Store, instance: Uuid, row: &CompletionColumns) -> Result<()> {
    match commit(store, instance, &[], std::slice::from_ref(row)).await {
        Err(StoreError::NotFound { .. }) if is_completed(store, row).await? => Ok(()),
        outcome => outcome,
    }
}

fn remember(failure: &mut Option<StoreError>, outcome: &Result<()>) {
    if let Err(error) = outcome
        && !error.is_about_one_row()
    {
        *failure = Some(error.clone());
    }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
