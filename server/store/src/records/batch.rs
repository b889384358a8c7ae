//! One commit for many records.

use uuid::Uuid;

use crate::Store;
use crate::db::{both, writing, writing_once};
use crate::error::{Result, StoreError};
use crate::multirow::{LARGEST, MultiRow, chunks};
use crate::records::columns::{CompletionColumns, OpeningColumns};

static OPEN: MultiRow = MultiRow::new(
        "INSERT INTO records (project_uid, id, instance, at, action, outcome, code, principal_kind, principal_id, tool,
                              revision, snapshot_version, state_before, state_after, duration_ms, usage, detail)",
        17,
        "",
);
static COMPLETE: MultiRow = MultiRow::new(
        "WITH done (project_uid, id, outcome, code, state_after, duration_ms, usage) AS (",
        7,
        ") UPDATE records
           SET outcome = done.outcome, code = done.code, state_after = done.state_after,
               duration_ms = done.duration_ms, usage = done.usage
           FROM done
           WHERE records.project_uid = done.project_uid AND records.id = done.id AND records.outcome = 'open'",
);
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

/// Writes a chunk of openings by one statement.
macro_rules! insert {
    ($connection:expr, $store:expr, $instance:expr, $chunk:expr) => {{
        let mut query = sqlx::query(OPEN.sql($store, $chunk.len()));
        for row in $chunk {
            query = query
                .bind(row.project)
                .bind(row.id)
                .bind($instance)
                .bind(row.at)
                .bind(row.action)
                .bind(row.outcome)
                .bind(row.code)
                .bind(row.principal_kind)
                .bind(row.principal_id.as_str())
                .bind(row.tool.as_deref())
                .bind(row.revision)
                .bind(row.snapshot_version)
                .bind(row.state_before.as_str())
                .bind(row.state_after.as_deref())
                .bind(row.duration_ms)
                .bind(row.usage.as_deref())
                .bind(row.detail.as_str());
        }
        query.execute(&mut *$connection).await?;
    }};
}

/// Writes a chunk of completions by one statement.
macro_rules! update {
    ($connection:expr, $store:expr, $chunk:expr) => {{
        let mut query = sqlx::query(COMPLETE.sql($store, $chunk.len()));
        for row in $chunk {
            query = query
                .bind(row.project)
                .bind(row.id)
                .bind(row.outcome)
                .bind(row.code)
                .bind(row.state_after.as_str())
                .bind(row.duration_ms)
                .bind(row.usage.as_deref());
        }
        if query.execute(&mut *$connection).await?.rows_affected() != $chunk.len() as u64 {
            return Err(StoreError::not_found("an open record of the call"));
        }
    }};
}

/// Writes openings, completions and the answers they settle by one commit.
///
/// # Errors
/// [`StoreError::NotFound`] when a completion has no open record. Openings are not written then; completions that do
/// have one may be, and can be repeated.
pub(super) async fn commit(
    store: &Store,
    instance: Uuid,
    openings: &[OpeningColumns],
    completions: &[CompletionColumns],
) -> Result<()> {
    let settled: Vec<_> = completions
        .iter()
        .filter_map(|completion| Some((completion.id, completion.settlement.as_ref()?)))
        .collect();
    if openings.is_empty() && completions.is_empty() {
        return Ok(());
    }
    // A lone caller waits for one statement instead of three.
    if completions.is_empty() && openings.len() <= LARGEST {
        return writing_once!(store, |connection| {
            insert!(connection, store, instance, openings);
        })
        .await;
    }
    if openings.is_empty() && settled.is_empty() && completions.len() <= LARGEST {
        return writing_once!(store, |connection| {
            update!(connection, store, completions);
        })
        .await;
    }
    writing!(store, |tx| {
        for chunk in chunks(openings) {
            insert!(tx, store, instance, chunk);
        }
        for chunk in chunks(completions) {
            update!(tx, store, chunk);
        }
        for chunk in chunks(&settled) {
            let mut query = sqlx::query(SETTLE.sql(store, chunk.len()));
            for (call, row) in chunk {
                query = query
                    .bind(row.project)
                    .bind(row.principal_id.as_str())
                    .bind(row.key.as_str())
                    .bind(*call)
                    .bind(row.status)
                    .bind(row.body.as_str());
            }
            // A claim that has expired meanwhile is no reason to refuse the completion.
            query.execute(&mut *tx).await?;
        }
    })
    .await
}

/// Whether the record was completed with just these values before: then the answer to that commit was lost, and the
/// completion was sent again.
pub(super) async fn is_completed(store: &Store, row: &CompletionColumns) -> Result<bool> {
    let found: i64 = both!(store, |pool| {
        sqlx::query_scalar(
            "SELECT COUNT(*) FROM records
             WHERE project_uid = $1 AND id = $2 AND outcome = $3 AND COALESCE(code, '') = $4
               AND state_after = $5 AND duration_ms = $6 AND COALESCE(usage, '') = $7",
        )
        .bind(row.project)
        .bind(row.id)
        .bind(row.outcome)
        .bind(row.code.unwrap_or_default())
        .bind(row.state_after.as_str())
        .bind(row.duration_ms)
        .bind(row.usage.as_deref().unwrap_or_default())
        .fetch_one(pool)
        .await?
    })
    .await?;
    Ok(found > 0)
}
