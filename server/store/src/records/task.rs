//! The task behind the writer: gathers, writes, answers.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use chrono::{DateTime, Utc};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::Store;
use crate::codec::{micros, time};
use crate::error::{Result, StoreError};
use crate::records::abandoned;
use crate::records::batch::{Attempt, commit, completed, is_completed};
use crate::records::chain::{Head, Progress};
use crate::records::columns::{CompletionColumns, OpeningColumns};
use crate::records::entry::{place, seq};
use crate::records::writer::{CloseAbandoned, Done, Job, Shared};
use crate::rows::{Completed, RecordSeq};

/// Most jobs in one commit.
const BATCH: usize = 512;
/// Jobs that are worth a commit of their own.
const ENOUGH: usize = 16;

/// Runs until it is asked to stop or every sender is dropped.
pub(super) async fn run(store: Store, instance: Uuid, mut queue: mpsc::Receiver<Job>, progress: Shared) {
    let mut jobs = Vec::with_capacity(BATCH);
    let mut batch = Batch::default();
    let mut chain = Chain {
        store,
        instance,
        at: At::Unknown,
        open: BTreeSet::new(),
        orphans: Vec::new(),
        progress,
    };
    let mut stopping = None;
    while queue.recv_many(&mut jobs, BATCH).await > 0 {
        // The first job wakes this task at once, before the other callers that the last commit set free. Letting them run
        // first makes one commit of what would be two, and costs nothing when there are none. With enough of them, the
        // others had better work while this commit is on its way.
        let mut gathered = 0;
        while gathered < jobs.len() && jobs.len() < ENOUGH {
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
                Job::CloseAbandoned(job) => batch.closings.push(job),
                Job::Stop(at) => stopping = Some(at),
            }
        }
        batch.write(&mut chain).await;
        if stopping.is_some() && queue.is_empty() {
            break;
        }
    }
    if let Some(at) = stopping {
        chain.end(at).await;
    }
}

/// Where the writer believes its chain to be.
enum At {
    /// Nothing was written yet.
    Unknown,
    /// Everything that was committed is known.
    Known(Head),
    /// The answer to a commit was lost.
    InDoubt(Doubt),
}

/// A commit that may or may not have arrived.
struct Doubt {
    before: Head,
    attempt: Attempt,
    /// Positions that it opened, and no caller will complete, because their callers were answered that there is no
    /// record.
    opened: Vec<i64>,
    /// Positions that it completed.
    completed: Vec<i64>,
}

/// The chain of this server.
struct Chain {
    store: Store,
    instance: Uuid,
    at: At,
    /// Positions of its open records.
    open: BTreeSet<i64>,
    /// Open records that no caller will complete.
    orphans: Vec<i64>,
    progress: Shared,
}

impl Chain {
    /// The last entry; found out from the database first when it is not known.
    async fn head(&mut self, now: DateTime<Utc>) -> Result<Head> {
        let head = match &self.at {
            At::Known(head) => return Ok(*head),
            At::Unknown => {
                let found = self.store.chain_of(self.instance, now).await?;
                self.open = found.open;
                found.head
            }
            At::InDoubt(doubt) => {
                let arrived = self
                    .store
                    .has_arrived(&doubt.attempt.head, doubt.attempt.of_record)
                    .await?;
                if arrived {
                    let chain = doubt.before.chain;
                    self.open.extend(&doubt.opened);
                    self.orphans
                        .extend(doubt.opened.iter().map(|&position| seq(chain, position)));
                    for position in &doubt.completed {
                        self.open.remove(position);
                    }
                    doubt.attempt.head
                } else {
                    doubt.before
                }
            }
        };
        self.advance(head);
        Ok(head)
    }

    fn advance(&mut self, head: Head) {
        self.at = At::Known(head);
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Some(Progress::new(head, &self.open));
    }

    /// Writes rows by one commit; gives the place of the first opening, and for each completion whether its session had
    /// moved meanwhile.
    async fn commit(
        &mut self,
        openings: &[OpeningColumns],
        completions: &[CompletionColumns],
    ) -> Result<(i64, Vec<bool>)> {
        let before = self.head(DateTime::UNIX_EPOCH).await?;
        let opened = || {
            (before.position + 1..)
                .zip(openings)
                .filter(|(_, row)| row.is_open())
                .map(|(position, _)| position)
        };
        let ended = || {
            let places = completions.iter().map(CompletionColumns::record_place);
            places
                .filter(|(chain, _)| *chain == before.chain)
                .map(|(_, position)| position)
        };
        let mut attempt = None;
        match commit(&self.store, before, openings, completions, &mut attempt).await {
            Ok(conflicts) => {
                self.open.extend(opened());
                for position in ended() {
                    self.open.remove(&position);
                }
                self.advance(attempt.map_or(before, |attempt| attempt.head));
                Ok((before.next(), conflicts))
            }
            Err(error) => {
                if let Some(attempt) = attempt
                    && !error.is_from_database()
                {
                    self.at = At::InDoubt(Doubt {
                        before,
                        attempt,
                        opened: opened().collect(),
                        completed: ended().collect(),
                    });
                }
                Err(error)
            }
        }
    }

    /// Whether this server has the record open, as far as it knows.
    fn has_open(&self, row: &CompletionColumns) -> bool {
        let (chain, position) = row.record_place();
        matches!(&self.at, At::Known(head) if head.chain == chain) && self.open.contains(&position)
    }

    /// Takes note that a record was completed by another server.
    fn forget(&mut self, row: &CompletionColumns) {
        let (chain, position) = row.record_place();
        if matches!(&self.at, At::Known(head) if head.chain == chain) {
            self.open.remove(&position);
        }
    }

    /// Completes one record, also when that was done before with the same values.
    async fn complete_one(&mut self, row: &CompletionColumns) -> Result<Completed> {
        self.head(DateTime::UNIX_EPOCH).await?;
        // A deferred call has an open record as long as nothing has completed it, in whichever chain.
        if self.has_open(row) || row.late.is_some() {
            match self.commit(&[], std::slice::from_ref(row)).await {
                Ok((_, conflicts)) => return Ok(completed(row, conflicts.contains(&true))),
                Err(StoreError::Conflict { .. }) => {
                    // Another server took this one for dead, or was faster in completing a deferred call.
                    self.forget(row);
                }
                Err(error) => return Err(error),
            }
        }
        is_completed(&self.store, row)
            .await?
            .ok_or_else(|| StoreError::not_found("an open record of the call"))
    }

    async fn close_abandoned(&mut self, alive_after: DateTime<Utc>, at: DateTime<Utc>) -> Result<u64> {
        let me = self.head(at).await?;
        let closing = abandoned::close(&self.store, me, &self.orphans, micros(alive_after), micros(at));
        match closing.await {
            Ok(closed) => {
                for orphan in std::mem::take(&mut self.orphans) {
                    self.open.remove(&place(orphan).1);
                }
                self.advance(closed.head);
                Ok(closed.records)
            }
            // Another server was faster.
            Err(StoreError::Conflict { .. }) => Ok(0),
            Err(error) => {
                if !error.is_from_database() {
                    self.at = At::Unknown;
                }
                Err(error)
            }
        }
    }

    /// Stores the last entry for good.
    async fn end(&mut self, at: DateTime<Utc>) {
        let outcome = match self.head(at).await {
            Ok(_) => {
                let progress = *self.progress.lock().unwrap_or_else(PoisonError::into_inner);
                self.store.heartbeat(self.instance, progress, at, true).await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = outcome {
            tracing::warn!(
                cause = chain_of(&error),
                "the end of this server's records could not be stored"
            );
        }
    }
}

/// Rows with those who wait for them.
struct Rows<R, T> {
    rows: Vec<R>,
    waiting: Vec<Done<T>>,
}

impl<R, T> Default for Rows<R, T> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            waiting: Vec::new(),
        }
    }
}

impl<R, T> Rows<R, T> {
    fn push(&mut self, row: R, done: Done<T>) {
        self.rows.push(row);
        self.waiting.push(done);
    }

    /// Answers everyone. A caller that was dropped does not need its answer.
    fn answer(&mut self, mut outcome: impl FnMut(usize, &R) -> Result<T>) {
        for (index, (row, done)) in self.rows.drain(..).zip(self.waiting.drain(..)).enumerate() {
            let _gone = done.send(outcome(index, &row));
        }
    }
}

#[derive(Default)]
struct Batch {
    openings: Rows<OpeningColumns, RecordSeq>,
    completions: Rows<CompletionColumns, Completed>,
    closings: Vec<CloseAbandoned>,
}

impl Batch {
    /// Writes everything and answers everyone.
    async fn write(&mut self, chain: &mut Chain) {
        if !self.openings.rows.is_empty() || !self.completions.rows.is_empty() {
            self.write_rows(chain).await;
        }
        for CloseAbandoned {
            alive_after,
            at,
            done,
        } in self.closings.drain(..)
        {
            let _gone = done.send(chain.close_abandoned(alive_after, at).await);
        }
    }

    async fn write_rows(&mut self, chain: &mut Chain) {
        if let Err(error) = chain.head(self.now()).await {
            return self.fail(&error);
        }
        if !self.completions.rows.iter().all(|row| chain.has_open(row)) {
            return self.write_one_by_one(chain).await;
        }
        match chain.commit(&self.openings.rows, &self.completions.rows).await {
            Ok((first, conflicts)) => {
                self.openings
                    .answer(|index, _| Ok(RecordSeq(first + i64::try_from(index).unwrap_or_default())));
                self.completions
                    .answer(|index, row| Ok(completed(row, conflicts.get(index) == Some(&true))));
            }
            Err(error) if error.is_about_one_row() => self.write_one_by_one(chain).await,
            Err(error) => self.fail(&error),
        }
    }

    /// Nothing was written.
    fn fail(&mut self, error: &StoreError) {
        tracing::error!(
            openings = self.openings.rows.len(),
            completions = self.completions.rows.len(),
            cause = chain_of(error),
            "a batch of records could not be written"
        );
        self.openings.answer(|_, _| Err(error.clone()));
        self.completions.answer(|_, _| Err(error.clone()));
    }

    /// The time of the first opening: when a chain begins that was not registered.
    fn now(&self) -> DateTime<Utc> {
        let first = self.openings.rows.first().map_or(0, |row| row.at);
        time(first).unwrap_or_default()
    }

    /// One row has spoiled the batch: each gets a transaction of its own. When the database fails meanwhile, those that are
    /// left are not tried.
    async fn write_one_by_one(&mut self, chain: &mut Chain) {
        let mut failure = None;
        for (row, done) in self.openings.rows.drain(..).zip(self.openings.waiting.drain(..)) {
            let outcome = match &failure {
                None => chain
                    .commit(std::slice::from_ref(&row), &[])
                    .await
                    .map(|(seq, _)| RecordSeq(seq)),
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
                None => chain.complete_one(&row).await,
                Some(error) => Err(StoreError::clone(error)),
            };
            remember(&mut failure, &outcome);
            let _gone = done.send(outcome);
        }
    }
}

fn remember<T>(failure: &mut Option<StoreError>, outcome: &Result<T>) {
    if let Err(error) = outcome
        && !error.is_about_one_row()
    {
        *failure = Some(error.clone());
    }
}

/// An error with its causes.
fn chain_of(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
