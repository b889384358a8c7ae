//! One commit for many entries of a chain.

use std::sync::Arc;

use crate::Store;
use crate::db::{Db, both, writing, writing_once};
use crate::error::Result;
use crate::multirow::{LARGEST, MultiRow, chunks};
use crate::records::chain::Head;
use crate::records::columns::{CompletionColumns, OpeningColumns};
use crate::records::entry::Hash;
use crate::records::moves;
use crate::rows::Completed;

/// The statement that opens records, after `$begin`.
macro_rules! open {
    ($begin:literal) => {
        MultiRow::new(
            concat!(
                $begin,
                "INSERT INTO records (seq, project_uid, id, at, action, outcome, code, principal_kind, principal_id,
                                      tool, revision, snapshot_version, state_before, session_id, duration_ms, detail,
                                      hash)"
            ),
            17,
            "",
        )
    };
}

/// The statement that completes records, before `$commit`.
macro_rules! complete {
    ($commit:literal) => {
        MultiRow::new(
            "INSERT INTO completions (record_seq, seq, outcome, code, state_after, state_conflict, duration_ms, usage,
                                      hash, notes, closed_at)",
            11,
            $commit,
        )
    };
}

static OPEN: MultiRow = open!("");
static COMPLETE: MultiRow = complete!("");
/// The two as one transaction, for SQLite.
static BEGIN_AND_OPEN: MultiRow = open!("BEGIN IMMEDIATE; ");
static COMPLETE_AND_COMMIT: MultiRow = complete!("; COMMIT");
static SETTLE: MultiRow = MultiRow::new(
    "WITH answer (project_uid, principal_id, request_key, call_id, status, body) AS (",
    6,
    ") UPDATE idempotency_claims
           SET status = answer.status, body = answer.body
           FROM answer
           WHERE idempotency_claims.project_uid = answer.project_uid
             AND idempotency_claims.principal_id = answer.principal_id
             AND idempotency_claims.request_key = answer.request_key
             AND idempotency_claims.call_id = answer.call_id
             AND idempotency_claims.status IS NULL",
);

/// Rows with their places in the chain and their hashes.
struct Chained<'a> {
    head: Head,
    openings: Vec<(&'a OpeningColumns, i64, Hash)>,
    completions: Vec<(&'a CompletionColumns, bool, i64, Hash)>,
}

impl<'a> Chained<'a> {
    /// Openings first, then completions; `conflicts` says of each completion whether its session had moved meanwhile.
    fn new(
        mut head: Head,
        openings: &'a [OpeningColumns],
        completions: &'a [CompletionColumns],
        conflicts: &[bool],
    ) -> Self {
        let openings = openings
            .iter()
            .map(|row| {
                let seq = head.next();
                head = head.then(row.hash(seq, &head.hash));
                (row, seq, head.hash)
            })
            .collect();
        let completions = completions
            .iter()
            .zip(conflicts)
            .map(|(row, &conflict)| {
                let seq = head.next();
                head = head.then(row.hash(seq, conflict, &head.hash));
                (row, conflict, seq, head.hash)
            })
            .collect();
        Self {
            head,
            openings,
            completions,
        }
    }

    fn attempt(&self) -> Attempt {
        Attempt {
            head: self.head,
            of_record: self.completions.last().map(|(row, ..)| row.record.0),
        }
    }
}

/// What will be the head when a commit succeeds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    pub(super) head: Head,
    /// The record that the last entry completes; `None` when the last entry is a record.
    pub(super) of_record: Option<i64>,
}

/// Writes a chunk of openings by one statement.
macro_rules! insert_openings {
    ($connection:expr, $store:expr, $statement:expr, $chunk:expr) => {{
        let mut query = sqlx::query($statement.sql($store, $chunk.len()));
        for (row, seq, hash) in $chunk {
            query = query
                .bind(*seq)
                .bind(row.project)
                .bind(row.id)
                .bind(row.at)
                .bind(row.action)
                .bind(row.outcome)
                .bind(row.code)
                .bind(row.principal_kind)
                .bind(Arc::clone(&row.principal_id))
                .bind(row.tool.clone())
                .bind(row.revision)
                .bind(row.snapshot_version)
                .bind(Arc::clone(&row.state_before))
                .bind(row.session)
                .bind(row.duration_ms)
                .bind(Arc::clone(&row.detail))
                .bind(hash.as_slice());
        }
        query.execute(&mut *$connection).await?;
    }};
}

/// Writes a chunk of completions by one statement.
macro_rules! insert_completions {
    ($connection:expr, $store:expr, $statement:expr, $chunk:expr) => {{
        let mut query = sqlx::query($statement.sql($store, $chunk.len()));
        for (row, conflict, seq, hash) in $chunk {
            query = query
                .bind(row.record.0)
                .bind(*seq)
                .bind(row.outcome)
                .bind(row.code)
                .bind(row.state_after(*conflict))
                .bind(*conflict)
                .bind(row.duration_ms)
                .bind(row.usage.as_deref())
                .bind(hash.as_slice())
                .bind(row.notes.as_deref())
                .bind(row.closed_at(*seq));
        }
        query.execute(&mut *$connection).await?;
    }};
}

/// Keeps the answers that completions settle. A claim that has expired meanwhile is no reason to refuse the completion.
macro_rules! settle {
    ($connection:expr, $store:expr, $completions:expr, $conflicts:expr) => {{
        let settled: Vec<_> = $completions
            .iter()
            .zip(&$conflicts)
            .filter_map(|(completion, &conflict)| Some((completion.settlement.as_ref()?, conflict)))
            .collect();
        for chunk in chunks(&settled) {
            let mut query = sqlx::query(SETTLE.sql($store, chunk.len()));
            for (row, conflict) in chunk {
                let body = match &row.body_on_conflict {
                    Some(body) if *conflict => body,
                    _ => &row.body,
                };
                query = query
                    .bind(row.project)
                    .bind(row.principal_id.as_str())
                    .bind(row.key.as_str())
                    .bind(row.call)
                    .bind(row.status)
                    .bind(body.as_str());
            }
            query.execute(&mut *$connection).await?;
        }
    }};
}

/// Adds openings and completions to a chain, moves sessions and settles claims, all by one commit; gives for each
/// completion whether its session had moved meanwhile. `attempt` is set as soon as something is on its way.
///
/// # Errors
/// [`crate::StoreError::Conflict`] when a call has a record or a completion already. After any error that the database
/// reported itself, nothing was written.
pub(super) async fn commit(
    store: &Store,
    head: Head,
    openings: &[OpeningColumns],
    completions: &[CompletionColumns],
    attempt: &mut Option<Attempt>,
) -> Result<Vec<bool>> {
    let mut conflicts = vec![false; completions.len()];
    let alone = completions
        .iter()
        .all(|row| row.session.is_none() && row.settlement.is_none());
    // Each step is a round trip to the thread of SQLite's connection, or to PostgreSQL, and everyone in the batch waits for
    // all of them: mostly one or two do instead of four.
    if completions.is_empty() && openings.len() <= LARGEST {
        let chained = Chained::new(head, openings, completions, &conflicts);
        writing_once!(store, |connection| {
            *attempt = Some(chained.attempt());
            insert_openings!(connection, store, OPEN, &chained.openings);
        })
        .await?;
        return Ok(conflicts);
    }
    if openings.is_empty() && alone && completions.len() <= LARGEST {
        let chained = Chained::new(head, openings, completions, &conflicts);
        writing_once!(store, |connection| {
            *attempt = Some(chained.attempt());
            insert_completions!(connection, store, COMPLETE, &chained.completions);
        })
        .await?;
        return Ok(conflicts);
    }
    let mixed = !openings.is_empty() && !completions.is_empty();
    if mixed && alone && matches!(store.db(), Db::Lite(_)) {
        let chained = Chained::new(head, openings, completions, &conflicts);
        let last = chunks(&chained.completions).len();
        writing_once!(store, |connection| {
            *attempt = Some(chained.attempt());
            for (index, chunk) in (1..).zip(chunks(&chained.openings)) {
                let statement = if index == 1 { &BEGIN_AND_OPEN } else { &OPEN };
                insert_openings!(connection, store, statement, chunk);
            }
            for (index, chunk) in (1..).zip(chunks(&chained.completions)) {
                let statement = if index == last {
                    &COMPLETE_AND_COMMIT
                } else {
                    &COMPLETE
                };
                insert_completions!(connection, store, statement, chunk);
            }
        })
        .await?;
        return Ok(conflicts);
    }
    writing!(store, |tx| {
        moves::apply!(tx, store, completions, conflicts);
        let chained = Chained::new(head, openings, completions, &conflicts);
        *attempt = Some(chained.attempt());
        for chunk in chunks(&chained.openings) {
            insert_openings!(tx, store, OPEN, chunk);
        }
        for chunk in chunks(&chained.completions) {
            insert_completions!(tx, store, COMPLETE, chunk);
        }
        settle!(tx, store, completions, conflicts);
    })
    .await?;
    Ok(conflicts)
}

/// What a completion came to.
pub(super) fn completed(row: &CompletionColumns, conflict: bool) -> Completed {
    Completed {
        state_after: row.state_after(conflict).to_owned(),
        state_conflict: conflict,
        version: row
            .session
            .as_ref()
            .filter(|_| !conflict)
            .map(|step| step.expected_version + 1),
    }
}

/// What an earlier completion with just these values came to: the answer to its commit was lost, and it was sent again.
pub(super) async fn is_completed(store: &Store, row: &CompletionColumns) -> Result<Option<Completed>> {
    let conflict: Option<bool> = both!(store, |pool| {
        sqlx::query_scalar(
            "SELECT state_conflict FROM completions
             WHERE record_seq = $1 AND outcome = $2 AND COALESCE(code, '') = $3 AND duration_ms = $4
               AND COALESCE(usage, '') = $5 AND COALESCE(notes, '') = $6",
        )
        .bind(row.record.0)
        .bind(row.outcome)
        .bind(row.code.unwrap_or_default())
        .bind(row.duration_ms)
        .bind(row.usage.as_deref().unwrap_or_default())
        .bind(row.notes.as_deref().unwrap_or_default())
        .fetch_optional(pool)
        .await?
    })
    .await?;
    Ok(conflict.map(|conflict| completed(row, conflict)))
}
