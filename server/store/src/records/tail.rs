//! Following the record: the entries of a chain in their order, each as soon as it is committed.
//!
//! A chain is extended by one writer, in order and without gaps, so a reader that has seen one entry has seen all
//! before it. What an opening adds is found by its `seq`, which is the primary key. A completion is stored beside its
//! record: those of records that were open when the reader came are looked up by them. Only what another server
//! closed has an index of its own.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use toolgate_api::audit::{AuditOutcome, AuditRecord};
use toolgate_core::ids::ProjectUid;
use uuid::Uuid;

use crate::Store;
use crate::codec::micros;
use crate::db::{both, reading};
use crate::error::Result;
use crate::multirow::{MultiRow, chunks};
use crate::records::chain::{StoredHead, last_entry};
use crate::records::columns::{RecordColumns, select_records};
use crate::records::entry::{place, seq};
use crate::rows::ChainPlace;

/// Positions read in one step.
const STEP: i64 = 500;
/// The same for a reader of one project, which leaves most of them out.
const STEP_OF_PROJECT: i64 = 5_000;
/// Open records that a reader remembers; more than a server runs at a time.
const MOST_OPEN: i64 = 100_000;
/// How far back the oldest open record of a reader may be: a call ends within minutes.
const FARTHEST_OPEN: i64 = 2_000_000;
/// Up to so many positions for each open record, their range is read instead of each of them.
const DENSE: i64 = 64;

static COMPLETED: MultiRow = MultiRow::new(
    "WITH wanted (open_seq) AS (",
    1,
    concat!(
        ") ",
        select_records!(
            with ", c.seq AS entry, c.record_seq, r.project_uid",
            "FROM wanted
             JOIN completions c ON c.record_seq = wanted.open_seq
             JOIN records r ON r.seq = c.record_seq
             WHERE c.closed_at IS NULL"
        )
    ),
);

/// Reads one chain from its current position.
#[derive(Debug, Clone)]
pub struct ChainReader {
    chain: i64,
    position: i64,
    /// Positions of records whose completion has not been read.
    open: BTreeSet<i64>,
    /// Only this project's entries.
    project: Option<ProjectUid>,
}

/// An entry of a chain.
#[derive(Debug, Clone)]
pub struct ChainEntry {
    /// The position of the reader after it.
    pub place: ChainPlace,
    /// Whose it is.
    pub project: ProjectUid,
    /// The record as this entry left it: an opening does not know of its completion.
    pub record: Arc<AuditRecord>,
}

/// What a reader found.
#[derive(Debug, Clone, Default)]
pub struct ChainStep {
    /// In the order they were committed.
    pub entries: Vec<ChainEntry>,
    /// Whether there is more to read at once.
    pub more: bool,
}

/// A chain that is written to, or was until lately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::FromRow)]
pub struct ChainState {
    /// Its number; later ones are greater.
    pub number: i64,
    /// Whether its server runs, as far as is known.
    pub living: bool,
}

impl ChainReader {
    /// Before the first entry of a chain.
    #[must_use]
    pub fn from_start(chain: i64, project: Option<ProjectUid>) -> Self {
        Self {
            chain,
            position: 0,
            open: BTreeSet::new(),
            project,
        }
    }

    /// Its position.
    #[must_use]
    pub fn place(&self) -> ChainPlace {
        ChainPlace {
            chain: self.chain,
            position: self.position,
            settled: self.open.first().map_or(self.position, |first| first - 1),
        }
    }

    fn step(&self) -> i64 {
        if self.project.is_some() {
            STEP_OF_PROJECT
        } else {
            STEP
        }
    }

    /// Takes in the rows up to an end, which are all there are.
    fn take(&mut self, mut rows: Vec<EntryColumns>, end: i64) -> Vec<ChainEntry> {
        rows.retain(|row| row.entry <= end);
        rows.sort_unstable_by_key(|row| row.entry);
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            self.position = place(row.entry).1;
            let (chain, record_position) = place(row.record_seq);
            let is_opening = row.entry == row.record_seq;
            let record = match AuditRecord::try_from(row.columns) {
                Ok(record) => record,
                Err(error) => {
                    // Skipped: a stream that ended here would never get past this entry.
                    tracing::error!(seq = row.entry, cause = %error, "an entry of the record cannot be read");
                    continue;
                }
            };
            if is_opening && record.outcome == AuditOutcome::Open {
                self.open.insert(record_position);
            } else if chain == self.chain {
                self.open.remove(&record_position);
            }
            entries.push(ChainEntry {
                place: self.place(),
                project: ProjectUid(row.project_uid),
                record: Arc::new(record),
            });
        }
        entries
    }
}

/// An entry as it is read.
#[derive(sqlx::FromRow)]
struct EntryColumns {
    entry: i64,
    record_seq: i64,
    project_uid: Uuid,
    #[sqlx(flatten)]
    columns: RecordColumns,
}

impl Store {
    /// The chains that are written to, and those that ended after a time, in the order of their numbers.
    pub async fn chains(&self, ended_after: DateTime<Utc>) -> Result<Vec<ChainState>> {
        both!(self, |pool| {
            sqlx::query_as(
                "SELECT number, ended_at IS NULL AS living FROM chains WHERE ended_at IS NULL OR ended_at > $1
                 ORDER BY number",
            )
            .bind(micros(ended_after))
            .fetch_all(pool)
            .await?
        })
        .await
    }

    /// A reader behind the last entry of a chain; `None` when there is no such chain.
    pub async fn chain_end(&self, chain: i64) -> Result<Option<ChainReader>> {
        let end = reading!(self, |tx| {
            let stored: Option<StoredHead> = sqlx::query_as(
                "SELECT number, head_position, head_hash, settled_position FROM chains WHERE number = $1",
            )
            .bind(chain)
            .fetch_optional(&mut *tx)
            .await?;
            match stored {
                None => None,
                Some(stored) => {
                    let last = last_entry!(tx, stored);
                    Some((stored.settled_position, stored.advanced_to(last).head_position))
                }
            }
        })
        .await?;
        match end {
            None => Ok(None),
            Some((settled, position)) => {
                let place = ChainPlace {
                    chain,
                    position,
                    settled,
                };
                self.chain_reader(place, None).await.map(Some)
            }
        }
    }

    /// A reader that continues at a position.
    pub async fn chain_reader(&self, from: ChainPlace, project: Option<ProjectUid>) -> Result<ChainReader> {
        let ChainPlace {
            chain,
            position,
            settled,
        } = from;
        let open: Vec<(i64,)> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT seq FROM records
                 WHERE seq > $1 AND seq <= $2 AND outcome = 'open' AND ($3 IS NULL OR project_uid = $3)
                   AND NOT EXISTS (SELECT 1 FROM completions c WHERE c.record_seq = records.seq
                                     AND (c.closed_at IS NOT NULL OR c.seq <= $2))
                 ORDER BY seq DESC LIMIT $4",
            )
            .bind(seq(chain, settled.max(position - FARTHEST_OPEN)))
            .bind(seq(chain, position))
            .bind(project.map(|project| project.0))
            .bind(MOST_OPEN)
            .fetch_all(pool)
            .await?
        })
        .await?;
        Ok(ChainReader {
            chain,
            position,
            open: open.into_iter().map(|(seq,)| place(seq).1).collect(),
            project,
        })
    }

    /// Reads on, up to a position if one is given; the chain must have come so far.
    pub async fn read_chain(&self, reader: &mut ChainReader, until: Option<i64>) -> Result<ChainStep> {
        let last = until.unwrap_or(i64::MAX);
        let end = reader.position.saturating_add(reader.step()).min(last);
        if end <= reader.position {
            return Ok(ChainStep::default());
        }
        let chain = reader.chain;
        let (from, to, behind) = (seq(chain, reader.position), seq(chain, end), seq(chain + 1, 0));
        let project = reader.project.map(|project| project.0);
        // Open records that lie far apart are looked up one by one, so that one long call does not make each step read
        // all that came after it.
        let dense = reader.open.first().is_none_or(|first| {
            reader.position - first < DENSE * i64::try_from(reader.open.len()).unwrap_or(i64::MAX)
        });
        let first_open = match reader.open.first() {
            Some(&first) if dense => seq(chain, first),
            _ => from + 1,
        };
        let scattered: Vec<i64> = if dense {
            Vec::new()
        } else {
            reader.open.iter().map(|&position| seq(chain, position)).collect()
        };
        let (rows, top) = reading!(self, |tx| {
            let top: Option<i64> =
                sqlx::query_scalar("SELECT MAX(seq) FROM records WHERE seq > $1 AND seq < $2")
                    .bind(from)
                    .bind(behind)
                    .fetch_one(&mut *tx)
                    .await?;
            // The join finds nothing: an opening does not know of its completion.
            let mut rows: Vec<EntryColumns> = sqlx::query_as(select_records!(
                with ", r.seq AS entry, r.seq AS record_seq, r.project_uid",
                "FROM records r LEFT JOIN completions c ON c.record_seq = r.seq AND c.record_seq < 0
                 WHERE r.seq > $1 AND r.seq <= $2 AND ($3 IS NULL OR r.project_uid = $3)"
            ))
            .bind(from)
            .bind(to)
            .bind(project)
            .fetch_all(&mut *tx)
            .await?;
            let completed: Vec<EntryColumns> = sqlx::query_as(select_records!(
                with ", c.seq AS entry, c.record_seq, r.project_uid",
                "FROM completions c JOIN records r ON r.seq = c.record_seq
                 WHERE c.record_seq >= $1 AND c.record_seq <= $2 AND c.seq > $3 AND c.seq <= $2
                   AND c.closed_at IS NULL AND ($4 IS NULL OR r.project_uid = $4)"
            ))
            .bind(first_open)
            .bind(to)
            .bind(from)
            .bind(project)
            .fetch_all(&mut *tx)
            .await?;
            rows.extend(completed);
            for chunk in chunks(&scattered) {
                let mut query = sqlx::query_as(COMPLETED.sql(self, chunk.len()));
                for open in chunk {
                    query = query.bind(*open);
                }
                let completed: Vec<EntryColumns> = query.fetch_all(&mut *tx).await?;
                rows.extend(completed);
            }
            let closed: Vec<EntryColumns> = sqlx::query_as(select_records!(
                with ", c.seq AS entry, c.record_seq, r.project_uid",
                "FROM completions c JOIN records r ON r.seq = c.record_seq
                 WHERE c.closed_at IS NOT NULL AND c.seq > $1 AND c.seq <= $2
                   AND ($3 IS NULL OR r.project_uid = $3)"
            ))
            .bind(from)
            .bind(to)
            .bind(project)
            .fetch_all(&mut *tx)
            .await?;
            rows.extend(closed);
            (rows, top)
        })
        .await?;
        let entries = reader.take(rows, to);
        // Everything up to here is there, so what was not found was left out on purpose: another project's, or not kept.
        if until.is_some() || top.is_some_and(|top| top > to) {
            reader.position = end;
        }
        let more = reader.position >= end && until != Some(end);
        Ok(ChainStep { entries, more })
    }
}
