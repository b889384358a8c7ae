//! What servers that died have left behind.

use crate::Store;
use crate::db::{Db, execute, writing};
use crate::error::Result;
use crate::records::chain::{Head, StoredHead, last_entry};
use crate::records::entry::{CompletionEntry, Hash, place, seq};

/// One probe of the primary key for each chain that has nothing open. Were the outcome column compared directly,
/// SQLite would rather read all records and make an index of them for this one statement.
const OPEN_OF_OTHERS: &str = "
    SELECT r.seq, r.state_before FROM chains c CROSS JOIN records r
    WHERE c.number <> $1 AND c.heartbeat_at < $2
      AND r.seq > c.number * 1099511627776 + c.settled_position
      AND r.seq < (c.number + 1) * 1099511627776
      AND COALESCE(r.outcome, '') = 'open'
      AND NOT EXISTS (SELECT 1 FROM completions d WHERE d.record_seq = r.seq)
      AND NOT EXISTS (SELECT 1 FROM deferred_calls x WHERE x.record_seq = r.seq)
    ORDER BY r.seq";

/// The first record of a chain that is open because its call is deferred: what follows is not settled.
const FIRST_DEFERRED: &str = "
    SELECT MIN(x.record_seq) FROM deferred_calls x
    WHERE x.record_seq > $1 AND x.record_seq < $2
      AND NOT EXISTS (SELECT 1 FROM completions d WHERE d.record_seq = x.record_seq)";

/// What was found and done.
pub(super) struct Closed {
    /// The closer's chain, with what was added to it.
    pub(super) head: Head,
    /// How many records were closed.
    pub(super) records: u64,
}

/// Closes the open records, except those of deferred calls, of every other server without a heartbeat since `alive_after`, and those in `orphans`, by
/// entries in the chain of `me`; all in one transaction. Keys that those servers claimed without opening a record
/// never ran and are free again.
pub(super) async fn close(
    store: &Store,
    mut me: Head,
    orphans: &[i64],
    alive_after: i64,
    at: i64,
) -> Result<Closed> {
    // A SQLite file has one server, so every other one is dead.
    let alive_after = match store.db() {
        Db::Lite(_) => i64::MAX,
        Db::Pg(_) => alive_after,
    };
    writing!(store, |tx| {
        let mut open: Vec<(i64, String)> = sqlx::query_as(OPEN_OF_OTHERS)
            .bind(me.chain)
            .bind(alive_after)
            .fetch_all(&mut *tx)
            .await?;
        for orphan in orphans {
            let found: Option<(i64, String)> = sqlx::query_as(
                "SELECT r.seq, r.state_before FROM records r WHERE r.seq = $1
                   AND NOT EXISTS (SELECT 1 FROM completions d WHERE d.record_seq = r.seq)",
            )
            .bind(*orphan)
            .fetch_optional(&mut *tx)
            .await?;
            open.extend(found);
        }
        for (record, state) in &open {
            let (seq, hash) = interrupted(*record, state, at, &me);
            execute!(
                tx,
                "INSERT INTO completions (record_seq, seq, outcome, code, state_after, state_conflict, closed_at, hash)
                 VALUES ($1, $2, 'interrupted', 'interrupted', $3, $4, $5, $6)",
                *record,
                seq,
                state.as_str(),
                false,
                at,
                hash.as_slice(),
            );
            me = me.then(hash);
        }
        // From here on a missing tail of theirs is noticed.
        let ended: Vec<StoredHead> = sqlx::query_as(
            "SELECT number, head_position, head_hash, settled_position FROM chains
             WHERE number <> $1 AND heartbeat_at < $2 AND (ended_at IS NULL OR settled_position < head_position)",
        )
        .bind(me.chain)
        .bind(alive_after)
        .fetch_all(&mut *tx)
        .await?;
        for stored in ended {
            let last = last_entry!(tx, stored);
            let stored = stored.advanced_to(last);
            let deferred: Option<i64> = sqlx::query_scalar(FIRST_DEFERRED)
                .bind(seq(stored.number, 0))
                .bind(seq(stored.number + 1, 0))
                .fetch_one(&mut *tx)
                .await?;
            execute!(
                tx,
                "UPDATE chains SET head_position = $2, head_hash = $3, settled_position = $4, ended_at = COALESCE(ended_at, $5)
                 WHERE number = $1",
                stored.number,
                stored.head_position,
                stored.head_hash.as_slice(),
                deferred.map_or(stored.head_position, |record| place(record).1 - 1),
                at,
            );
        }
        execute!(
            tx,
            "DELETE FROM idempotency_claims
             WHERE status IS NULL
               AND (instance IS NULL
                    OR instance NOT IN (SELECT instance FROM chains WHERE number = $1 OR heartbeat_at >= $2))
               AND NOT EXISTS (
                   SELECT 1 FROM records
                   WHERE records.project_uid = idempotency_claims.project_uid
                     AND records.id = idempotency_claims.call_id
               )",
            me.chain,
            alive_after,
        );
        Closed {
            head: me,
            records: open.len() as u64,
        }
    })
    .await
}

/// The place and the hash of an `interrupted` completion after `head`.
fn interrupted(record_seq: i64, state: &str, at: i64, head: &Head) -> (i64, Hash) {
    let seq = head.next();
    let entry = CompletionEntry {
        record_seq,
        seq,
        outcome: "interrupted",
        code: Some("interrupted"),
        state_after: state,
        state_conflict: false,
        duration_ms: None,
        closed_at: Some(at),
        usage: None,
        notes: None,
    };
    (seq, entry.hash(&head.hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::both;

    #[tokio::test]
    async fn looking_for_open_records_reads_none_that_are_settled() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let plan: Vec<(i64, i64, i64, String)> = both!(store, |pool| {
            sqlx::query_as(sqlx::AssertSqlSafe(format!(
                "EXPLAIN QUERY PLAN {OPEN_OF_OTHERS}"
            )))
            .bind(1_i64)
            .bind(1_i64)
            .fetch_all(pool)
            .await?
        })
        .await
        .unwrap();
        let of_records: Vec<_> = plan
            .iter()
            .map(|step| step.3.as_str())
            .filter(|step| step.contains(" r "))
            .collect();
        assert_eq!(
            of_records,
            ["SEARCH r USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"]
        );
    }
}
