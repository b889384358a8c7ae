//! Completions that could not be written at once: tried again until they are, however long the database is
//! unavailable.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use toolgate_core::ids::CallId;
use toolgate_store::rows::{Completed, Completion, IdempotencyKey};
use toolgate_store::{RecordWriter, Store, StoreError};

/// How long a caller waits for a completion before it is answered that it could not be recorded yet.
const PATIENCE: Duration = Duration::from_secs(10);
/// The first pause between two attempts; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Completes records and releases idempotency keys. What fails is kept in memory and tried again until it is written;
/// nothing new begins while the database is unavailable, so what is kept is bounded by what ran when it became
/// unavailable.
#[derive(Clone)]
pub struct Completer(Arc<Inner>);

struct Inner {
    records: RecordWriter,
    store: Store,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    jobs: BTreeMap<u64, Job>,
    /// Of the next job.
    number: u64,
    /// Whether a task works on the jobs.
    running: bool,
}

/// What could not be written yet.
struct Job {
    write: Write,
    /// A caller that still waits for a completion.
    done: Option<oneshot::Sender<Completed>>,
}

#[derive(Clone)]
enum Write {
    Completion(Box<Completion>),
    Release(IdempotencyKey, CallId),
}

/// How much waits for the database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Records to complete.
    pub records: usize,
    /// Idempotency keys to release.
    pub keys: usize,
}

impl Completer {
    /// With nothing to do.
    #[must_use]
    pub fn new(records: RecordWriter, store: Store) -> Self {
        Self(Arc::new(Inner {
            records,
            store,
            queue: Mutex::default(),
        }))
    }

    /// How much waits.
    #[must_use]
    pub fn waiting(&self) -> Waiting {
        let queue = self.0.lock();
        let records = queue
            .jobs
            .values()
            .filter(|job| matches!(job.write, Write::Completion(_)))
            .count();
        Waiting {
            records,
            keys: queue.jobs.len() - records,
        }
    }

    /// Completes a record. If that fails it is tried again in the background, and waited for up to ten seconds.
    /// `None` if it is not written by then (it will be), or if another server has closed the record, taking this one
    /// for dead or completing a deferred call first.
    pub async fn complete(&self, completion: Box<Completion>) -> Option<Completed> {
        let error = match self.0.records.complete((*completion).clone()).await {
            Ok(completed) => return Some(completed),
            Err(StoreError::NotFound { .. }) if completion.late.is_some() => return None,
            Err(error) => error,
        };
        if is_closed(&error, completion.id) {
            return None;
        }
        tracing::error!(call_id = %completion.id, cause = %error, "a completion could not be recorded; trying again");
        let (done, outcome) = oneshot::channel();
        self.add(Job {
            write: Write::Completion(completion),
            done: Some(done),
        });
        timeout(PATIENCE, outcome).await.ok()?.ok()
    }

    /// Completes a record in the background.
    pub fn complete_later(&self, completion: Completion) {
        self.add(Job {
            write: Write::Completion(Box::new(completion)),
            done: None,
        });
    }

    /// Releases the idempotency key of a call that did not run, now or, if that fails, in the background.
    pub async fn release(&self, key: IdempotencyKey, call: CallId) {
        if let Err(error) = self.0.store.release(&key, call).await {
            tracing::warn!(call_id = %call, cause = %error, "an idempotency key could not be released; trying again");
            self.release_later(key, call);
        }
    }

    /// Releases the idempotency key of a call that did not run, in the background.
    pub fn release_later(&self, key: IdempotencyKey, call: CallId) {
        self.add(Job {
            write: Write::Release(key, call),
            done: None,
        });
    }

    fn add(&self, job: Job) {
        let mut queue = self.0.lock();
        let number = queue.number;
        queue.number += 1;
        queue.jobs.insert(number, job);
        if !queue.running
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            queue.running = true;
            runtime.spawn(Arc::clone(&self.0).work());
        }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works until nothing is left.
    async fn work(self: Arc<Self>) {
        let mut pause = FIRST_PAUSE;
        loop {
            let Some(round) = self.round() else { return };
            let tried = round
                .into_iter()
                .map(|(number, write)| self.attempt(number, write));
            let mut failed = 0_usize;
            for (number, outcome) in join_all(tried).await {
                match outcome {
                    Attempt::Failed => failed += 1,
                    Attempt::Written(completed) => self.finish(number, completed),
                }
            }
            if failed == 0 {
                pause = FIRST_PAUSE;
                continue;
            }
            tracing::warn!(waiting = failed, "records cannot be completed yet");
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// What there is to write; `None` if nothing is left, and the task ends.
    fn round(&self) -> Option<Vec<(u64, Write)>> {
        let mut queue = self.lock();
        if queue.jobs.is_empty() {
            queue.running = false;
            return None;
        }
        let jobs = queue.jobs.iter();
        Some(jobs.map(|(number, job)| (*number, job.write.clone())).collect())
    }

    async fn attempt(&self, number: u64, write: Write) -> (u64, Attempt) {
        let attempt = match write {
            Write::Completion(completion) => {
                let id = completion.id;
                match self.records.complete(*completion).await {
                    Ok(completed) => Attempt::Written(Some(completed)),
                    Err(error) if is_closed(&error, id) => Attempt::Written(None),
                    Err(_) => Attempt::Failed,
                }
            }
            Write::Release(key, call) => match self.store.release(&key, call).await {
                Ok(()) => Attempt::Written(None),
                Err(_) => Attempt::Failed,
            },
        };
        (number, attempt)
    }

    fn finish(&self, number: u64, completed: Option<Completed>) {
        let job = self.lock().jobs.remove(&number);
        if let (Some(done), Some(completed)) = (job.and_then(|job| job.done), completed) {
            let _gone = done.send(completed);
        }
    }
}

/// What an attempt came to.
enum Attempt {
    /// It is written, or never will be because the record was closed.
    Written(Option<Completed>),
    /// It is to be tried again.
    Failed,
}

/// Whether another server has closed the record, taking this one for dead; that is final.
fn is_closed(error: &StoreError, id: CallId) -> bool {
    let closed = matches!(error, StoreError::NotFound { .. });
    if closed {
        tracing::error!(call_id = %id, cause = %error, "the record was closed before its call ended");
    }
    closed
}
