//! Chains: one per run of a server, extended by its writer alone.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::Store;
use crate::codec::{digest, micros};
use crate::db::{Db, execute, writing};
use crate::error::{Result, StoreError};
use crate::records::entry::{Hash, genesis, place, seq};

/// The last entry of a chain, looked for after what was settled when its head was stored: calls that ended since then were
/// open at that time.
macro_rules! last_entry {
    ($tx:expr, $stored:expr) => {{
        let last: Option<(i64, Vec<u8>)> = sqlx::query_as(
            "SELECT seq, hash FROM (
                 SELECT seq, hash FROM records WHERE seq > $1 AND seq < $2
                 UNION ALL
                 SELECT seq, hash FROM completions WHERE record_seq > $1 AND record_seq < $2 AND seq < $2
                 UNION ALL
                 SELECT seq, hash FROM completions WHERE closed_at IS NOT NULL AND seq > $1 AND seq < $2
             ) AS entries ORDER BY seq DESC LIMIT 1",
        )
        .bind($crate::records::entry::seq(
            $stored.number,
            $stored.settled_position,
        ))
        .bind($crate::records::entry::seq($stored.number + 1, 0))
        .fetch_optional(&mut *$tx)
        .await?;
        last
    }};
}
pub(super) use last_entry;

/// The last entry of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) chain: i64,
    pub(crate) position: i64,
    pub(crate) hash: Hash,
}

impl Head {
    /// The `seq` that the next entry gets.
    pub(crate) const fn next(&self) -> i64 {
        seq(self.chain, self.position + 1)
    }

    /// This chain with one more entry.
    pub(crate) const fn then(&self, hash: Hash) -> Self {
        Self {
            chain: self.chain,
            position: self.position + 1,
            hash,
        }
    }
}

/// A chain as its writer finds it.
pub(crate) struct Found {
    pub(crate) head: Head,
    /// Positions of records without completion.
    pub(crate) open: BTreeSet<i64>,
}

/// How far a chain has come, for its heartbeat.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    pub(crate) head: Head,
    /// No call up to this position is open.
    pub(crate) settled: i64,
}

impl Progress {
    /// With the positions of the open records.
    pub(crate) fn new(head: Head, open: &BTreeSet<i64>) -> Self {
        Self {
            head,
            settled: open.first().map_or(head.position, |open| open - 1),
        }
    }
}

impl Found {
    pub(crate) fn progress(&self) -> Progress {
        Progress::new(self.head, &self.open)
    }
}

/// How often another server may be faster in taking the next number.
const ATTEMPTS: u32 = 20;

impl Store {
    /// The chain of a server; a new one if it has none.
    pub(crate) async fn chain_of(&self, instance: Uuid, at: DateTime<Utc>) -> Result<Found> {
        for _ in 0..ATTEMPTS {
            if let Some(found) = self.find_chain(instance).await? {
                return Ok(found);
            }
            match self.begin_chain(instance, at).await {
                Err(StoreError::Conflict { .. }) => {}
                outcome => {
                    return outcome.map(|head| Found {
                        head,
                        open: BTreeSet::new(),
                    });
                }
            }
        }
        Err(StoreError::conflict("the next chain of records"))
    }

    async fn begin_chain(&self, instance: Uuid, at: DateTime<Utc>) -> Result<Head> {
        writing!(self, |tx| {
            let chain: i64 = sqlx::query_scalar("SELECT COALESCE(MAX(number), 0) + 1 FROM chains")
                .fetch_one(&mut *tx)
                .await?;
            let hash = genesis(chain, instance);
            execute!(
                tx,
                "INSERT INTO chains (number, instance, started_at, heartbeat_at, head_position, head_hash,
                                     settled_position, first_position, first_hash)
                 VALUES ($1, $2, $3, $3, 0, $4, 0, 1, $4)",
                chain,
                instance,
                micros(at),
                hash.as_slice(),
            );
            Head {
                chain,
                position: 0,
                hash,
            }
        })
        .await
    }

    async fn find_chain(&self, instance: Uuid) -> Result<Option<Found>> {
        let found: Option<(StoredHead, Vec<(i64,)>)> = writing!(self, |tx| {
            let stored: Option<StoredHead> = sqlx::query_as(
                "SELECT number, head_position, head_hash, settled_position FROM chains WHERE instance = $1",
            )
            .bind(instance)
            .fetch_optional(&mut *tx)
            .await?;
            match stored {
                None => None,
                Some(stored) => {
                    let last = last_entry!(tx, stored);
                    let open: Vec<(i64,)> = sqlx::query_as(
                        "SELECT seq FROM records WHERE seq > $1 AND seq < $2 AND outcome = 'open'
                           AND NOT EXISTS (SELECT 1 FROM completions WHERE completions.record_seq = records.seq)",
                    )
                    .bind(seq(stored.number, stored.settled_position))
                    .bind(seq(stored.number + 1, 0))
                    .fetch_all(&mut *tx)
                    .await?;
                    Some((stored.advanced_to(last), open))
                }
            }
        })
        .await?;
        found
            .map(|(stored, open)| {
                Ok(Found {
                    head: stored.head()?,
                    open: open.into_iter().map(|(seq,)| place(seq).1).collect(),
                })
            })
            .transpose()
    }

    /// Whether the entry that would be the head is there, after everything that was on its way to the database has either
    /// arrived or failed.
    pub(crate) async fn has_arrived(&self, head: &Head, of_record: Option<i64>) -> Result<bool> {
        let found: i64 = writing!(self, |tx| {
            if matches!(self.db(), Db::Pg(_)) {
                execute!(tx, "LOCK TABLE records, completions IN SHARE MODE");
            }
            let query = match of_record {
                None => {
                    sqlx::query_scalar("SELECT COUNT(*) FROM records WHERE seq = $1 AND hash = $2 AND $3 = 0")
                }
                Some(_) => sqlx::query_scalar(
                    "SELECT COUNT(*) FROM completions WHERE seq = $1 AND hash = $2 AND record_seq = $3",
                ),
            };
            query
                .bind(seq(head.chain, head.position))
                .bind(head.hash.as_slice())
                .bind(of_record.unwrap_or_default())
                .fetch_one(&mut *tx)
                .await?
        })
        .await?;
        Ok(found > 0)
    }
}

/// The head of a chain as it was stored last.
#[derive(sqlx::FromRow)]
pub(super) struct StoredHead {
    pub(super) number: i64,
    pub(super) head_position: i64,
    pub(super) head_hash: Vec<u8>,
    pub(super) settled_position: i64,
}

impl StoredHead {
    /// With the last entry that is there, if it is further on.
    pub(super) fn advanced_to(mut self, last: Option<(i64, Vec<u8>)>) -> Self {
        if let Some((seq, hash)) = last
            && place(seq).1 > self.head_position
        {
            self.head_position = place(seq).1;
            self.head_hash = hash;
        }
        self
    }

    pub(super) fn head(&self) -> Result<Head> {
        Ok(Head {
            chain: self.number,
            position: self.head_position,
            hash: digest(&self.head_hash)?,
        })
    }
}
