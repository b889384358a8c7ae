//! Claims on idempotency keys, and the answers to give again.

use chrono::{DateTime, Utc};
use toolgate_api::JsonText;
use toolgate_api::audit::AuditOutcome;
use toolgate_core::ids::CallId;
use uuid::Uuid;

use crate::Store;
use crate::codec::{Word, from_json, micros, text};
use crate::db::{execute, writing};
use crate::error::Result;
use crate::rows::{Claim, Claimed, IdempotencyKey};

/// A claim that blocks another, with the outcome of its record.
type ClaimRow = (Vec<u8>, Uuid, Option<i64>, Option<String>, Option<String>);

/// Takes the key if it is not held, or its holder `$2` may be replaced; a claim that has expired at `$1` always may.
const TAKE: &str = "
    INSERT INTO idempotency_claims
        (project_uid, principal_id, request_key, fingerprint, call_id, instance, expires_at)
    VALUES ($3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (project_uid, principal_id, request_key)
    DO UPDATE SET fingerprint = excluded.fingerprint, call_id = excluded.call_id, instance = excluded.instance,
                  expires_at = excluded.expires_at, status = NULL, body = NULL
    WHERE idempotency_claims.expires_at <= $1 OR idempotency_claims.call_id = $2";

macro_rules! take {
    ($tx:expr, $claim:expr, $now:expr, $replaced:expr, $instance:expr) => {
        execute!(
            $tx,
            TAKE,
            micros($now),
            $replaced,
            $claim.key.project.0,
            text(&$claim.key.principal_id),
            text(&$claim.key.key),
            $claim.fingerprint.as_slice(),
            $claim.call.0,
            $instance,
            micros($claim.expires_at),
        ) > 0
    };
}

impl Store {
    /// Claims an idempotency key for a call. Of several claims at once exactly one is [`Claimed::Fresh`].
    pub async fn claim(&self, claim: &Claim, now: DateTime<Utc>) -> Result<Claimed> {
        let instance = self.inner.instance.get().copied();
        writing!(self, |tx| {
            if take!(tx, claim, now, Uuid::nil(), instance) {
                Claimed::Fresh
            } else {
                // In the way of the insertion, so it is there, and its lock keeps it so.
                let claimed: ClaimRow = sqlx::query_as(
                    "SELECT c.fingerprint, c.call_id, c.status, c.body, COALESCE(d.outcome, r.outcome)
                     FROM idempotency_claims c
                     LEFT JOIN records r ON r.project_uid = c.project_uid AND r.id = c.call_id
                     LEFT JOIN completions d ON d.record_seq = r.seq
                     WHERE c.project_uid = $1 AND c.principal_id = $2 AND c.request_key = $3",
                )
                .bind(claim.key.project.0)
                .bind(text(&claim.key.principal_id))
                .bind(text(&claim.key.key))
                .fetch_one(&mut *tx)
                .await?;
                match judge(claim, &claimed)? {
                    Some(verdict) => verdict,
                    // Its call was refused, so nothing ran and the key is free.
                    None if take!(tx, claim, now, claimed.1, instance) => Claimed::Fresh,
                    None => Claimed::InProgress(CallId(claimed.1)),
                }
            }
        })
        .await
    }

    /// Gives a key back that `call` holds and nothing ran under. A claim that was settled stays.
    pub async fn release(&self, key: &IdempotencyKey, call: CallId) -> Result<()> {
        writing!(self, |tx| {
            execute!(
                tx,
                "DELETE FROM idempotency_claims
                 WHERE project_uid = $1 AND principal_id = $2 AND request_key = $3 AND call_id = $4
                   AND status IS NULL",
                key.project.0,
                text(&key.principal_id),
                text(&key.key),
                call.0,
            );
        })
        .await
    }
}

/// What an existing claim means for a new one; `None` when it may be replaced.
fn judge(claim: &Claim, claimed: &ClaimRow) -> Result<Option<Claimed>> {
    let (fingerprint, call, status, body, outcome) = claimed;
    let outcome = outcome.as_deref().map(AuditOutcome::from_word).transpose()?;
    if outcome == Some(AuditOutcome::Denied) {
        return Ok(None);
    }
    if fingerprint[..] != claim.fingerprint {
        return Ok(Some(Claimed::Mismatch));
    }
    if let (Some(_), Some(body)) = (status, body) {
        let body: JsonText = from_json(body, || format!("the kept answer of call {call}"))?;
        return Ok(Some(Claimed::Answered(CallId(*call), body)));
    }
    Ok(Some(match outcome {
        None | Some(AuditOutcome::Open) => Claimed::InProgress(CallId(*call)),
        // Completed without an answer to keep is as little known to the caller as cut off.
        Some(_) => Claimed::Interrupted(CallId(*call)),
    }))
}
