//! Retention: the oldest part of every chain can go; what stays can still be verified.

use chrono::{DateTime, Utc};

use crate::Store;
use crate::codec::micros;
use crate::db::{both, execute, writing};
use crate::error::{Result, StoreError};
use crate::records::entry::seq;

/// Entries that one transaction removes at most, so that calls do not wait for long.
const AT_ONCE: i64 = 2_000;

impl Store {
    /// Removes the records of before a time, with their completions; the number of entries that went.
    ///
    /// Deletes a part from the start of every chain, up to the first record that is younger or whose call may still
    /// run. The chain keeps the hash before its first entry that stays.
    pub async fn prune_records(&self, before: DateTime<Utc>) -> Result<u64> {
        let chains: Vec<(i64,)> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT number FROM chains WHERE first_position <= settled_position ORDER BY number",
            )
            .fetch_all(pool)
            .await?
        })
        .await?;
        let mut removed = 0;
        for (chain,) in chains {
            loop {
                let entries = self.prune_some(chain, micros(before)).await?;
                if entries == 0 {
                    break;
                }
                removed += entries;
            }
        }
        Ok(removed)
    }

    /// Removes up to [`AT_ONCE`] entries of a chain.
    async fn prune_some(&self, chain: i64, before: i64) -> Result<u64> {
        writing!(self, |tx| {
            let (first, settled): (i64, i64) =
                sqlx::query_as("SELECT first_position, settled_position FROM chains WHERE number = $1")
                    .bind(chain)
                    .fetch_one(&mut *tx)
                    .await?;
            let limit = seq(chain, (settled + 1).min(first + AT_ONCE));
            let start = seq(chain, first);
            let younger: Option<i64> =
                sqlx::query_scalar("SELECT MIN(seq) FROM records WHERE seq >= $1 AND seq < $2 AND at >= $3")
                    .bind(start)
                    .bind(limit)
                    .bind(before)
                    .fetch_one(&mut *tx)
                    .await?;
            let end = younger.unwrap_or(limit);
            if end <= start {
                0
            } else {
                let hash: Option<Vec<u8>> = sqlx::query_scalar(
                    "SELECT hash FROM records WHERE seq = $2 - 1
                     UNION ALL
                     SELECT hash FROM completions WHERE seq = $2 - 1 AND record_seq >= $1 AND record_seq < $2
                     UNION ALL
                     SELECT hash FROM completions WHERE seq = $2 - 1 AND closed_at IS NOT NULL",
                )
                .bind(seq(chain, 0))
                .bind(end)
                .fetch_optional(&mut *tx)
                .await?;
                let Some(hash) = hash else {
                    // Verification names it; removing more would hide it.
                    return Err(StoreError::corrupt(format!(
                        "chain {chain} of the records has a gap before {end}"
                    )));
                };
                execute!(
                    tx,
                    "DELETE FROM completions WHERE record_seq >= $1 AND record_seq < $2 AND seq < $2",
                    seq(chain, 0),
                    end,
                );
                execute!(
                    tx,
                    "DELETE FROM completions WHERE closed_at IS NOT NULL AND seq >= $1 AND seq < $2",
                    start,
                    end,
                );
                execute!(tx, "DELETE FROM records WHERE seq >= $1 AND seq < $2", start, end);
                execute!(
                    tx,
                    "UPDATE chains SET first_position = $2, first_hash = $3 WHERE number = $1",
                    chain,
                    first + (end - start),
                    hash.as_slice(),
                );
                (end - start).unsigned_abs()
            }
        })
        .await
    }
}
