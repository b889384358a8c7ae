//! `Idempotency-Key`: the same request, sent again, is answered again and not run again.

use std::future::Future;

use chrono::TimeDelta;
use sha2::{Digest, Sha256};
use toolgate_api::calls::{CallRequest, CallResponse};
use toolgate_api::{ErrorCode, JsonText};
use toolgate_core::ids::CallId;
use toolgate_store::rows::{Claim, Claimed, IdempotencyKey};

use crate::error::{ApiError, ApiResult};
use crate::state::App;

/// How long an answer is kept for repeated requests.
const RETENTION: TimeDelta = TimeDelta::hours(24);

/// What a repeated request is answered with.
pub enum Answer {
    /// The call ran now.
    Fresh(Box<CallResponse>),
    /// The call ran before; this is what it answered then.
    Replayed(JsonText),
}

/// Runs `work` under the key, unless the same request was answered before.
pub async fn once<F, W>(
    app: &App,
    key: IdempotencyKey,
    request: &CallRequest,
    call: CallId,
    work: W,
) -> ApiResult<Answer>
where
    W: FnOnce() -> F,
    F: Future<Output = ApiResult<Box<CallResponse>>>,
{
    let now = app.clock.now();
    let claim = Claim {
        key: key.clone(),
        fingerprint: fingerprint(request),
        call,
        expires_at: now + RETENTION,
    };
    match app.store.claim(&claim, now).await? {
        Claimed::Fresh => {}
        Claimed::Answered(_, body) => return Ok(Answer::Replayed(body)),
        Claimed::InProgress => {
            return Err(ApiError::new(
                ErrorCode::IdempotencyInProgress,
                "A call with this Idempotency-Key is still running. Repeat the request when it has ended.",
            )
            .retry_after(1));
        }
        Claimed::Mismatch => {
            return Err(ApiError::new(
                ErrorCode::IdempotencyMismatch,
                "This Idempotency-Key was used with another request. Use a new key for a new request.",
            ));
        }
        Claimed::Interrupted(earlier) => {
            return Err(ApiError::new(
                ErrorCode::Interrupted,
                "The call with this Idempotency-Key was cut off by a restart; whether the tool acted is unknown. Look \
                 at its effects, then use a new key.",
            )
            .call_id(earlier));
        }
    }
    let outcome = work().await;
    if let Err(error) = &outcome {
        // Refused before anything ran: the key is free again. A call that ran has settled its claim already, and
        // `release` leaves settled claims alone. One that ran without being recorded keeps its claim.
        let ran = error.code() == ErrorCode::Internal
            || (error.code() == ErrorCode::AuditUnavailable && !error.retryable());
        if !ran && let Err(cause) = app.store.release(&key, call).await {
            tracing::warn!(%cause, "an idempotency key could not be released; it expires by itself");
        }
    }
    outcome.map(Answer::Fresh)
}

/// SHA-256 of what was asked, so that another request under the same key is noticed.
fn fingerprint(request: &CallRequest) -> [u8; 32] {
    let text = serde_json::to_vec(request).unwrap_or_default();
    Sha256::digest(text).into()
}
