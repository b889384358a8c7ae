//! `Idempotency-Key`: the same request, sent again, is answered again and not run again.

use std::sync::Arc;

use chrono::TimeDelta;
use sha2::{Digest, Sha256};
use toolgate_api::calls::{CallRequest, CallResponse};
use toolgate_api::{ErrorCode, JsonText};
use toolgate_core::ids::CallId;
use toolgate_store::rows::{Claim, Claimed, IdempotencyKey};
use tracing::Instrument;

use super::detach_on_drop::DetachOnDrop;
use crate::gateway::{Gateway, Problem};

/// How long an answer is kept for repeated requests.
pub(super) const RETENTION: TimeDelta = TimeDelta::hours(24);

/// What a repeated request is answered with.
pub enum Answer {
    /// The call ran now.
    Fresh(Box<CallResponse>),
    /// The call ran before, under this id; this is what it answered then.
    Replayed(CallId, JsonText),
}

/// Runs `work` under the key, unless the same request was answered before. Continues if its caller disconnects, so that a
/// key is never left claimed for nothing.
pub async fn once(
    gateway: &Arc<Gateway>,
    key: IdempotencyKey,
    request: &CallRequest,
    call: CallId,
    work: impl Future<Output = Result<Box<CallResponse>, Problem>> + Send + 'static,
) -> Result<Answer, Problem> {
    let claim = Claim {
        key,
        fingerprint: fingerprint(request),
        call,
        expires_at: gateway.clock.now() + RETENTION,
    };
    DetachOnDrop::new(under(Arc::clone(gateway), claim, work).in_current_span()).await
}

async fn under(
    gateway: Arc<Gateway>,
    claim: Claim,
    work: impl Future<Output = Result<Box<CallResponse>, Problem>>,
) -> Result<Answer, Problem> {
    let claimed = match gateway.store.claim(&claim, gateway.clock.now()).await {
        Ok(claimed) => claimed,
        Err(error) => {
            // The claim may have been stored although its answer was lost.
            gateway.completer.release_later(claim.key, claim.call);
            return Err(error.into());
        }
    };
    match claimed {
        Claimed::Fresh => {}
        Claimed::Answered(earlier, body) => return Ok(Answer::Replayed(earlier, body)),
        Claimed::InProgress(earlier) => {
            return Err(Problem::new(
                ErrorCode::IdempotencyInProgress,
                "A call with this Idempotency-Key is still running: `call_id` names it. Ask for its state, or repeat the request \
                 when it has ended.",
            )
            .call_id(earlier)
            .retry_after(1));
        }
        Claimed::Mismatch => {
            return Err(Problem::new(
                ErrorCode::IdempotencyMismatch,
                "This Idempotency-Key was used with another request. Use a new key for a new request.",
            ));
        }
        Claimed::Interrupted(earlier) => {
            return Err(Problem::new(
                ErrorCode::Interrupted,
                "The call with this Idempotency-Key was cut off by a restart; whether the tool acted is unknown. Look \
                 at its effects, then use a new key.",
            )
            .call_id(earlier));
        }
    }
    let outcome = work.await;
    if let Err(error) = &outcome {
        // Refused before anything ran: the key is free again. A call that ran has settled its claim already, and
        // `release` leaves settled claims alone. One that ran and is not recorded yet keeps its claim until it is.
        let ran = error.code() == ErrorCode::Internal
            || (error.code() == ErrorCode::AuditUnavailable && !error.retryable());
        if !ran {
            gateway.completer.release(claim.key, claim.call).await;
        }
    }
    outcome.map(Answer::Fresh)
}

/// SHA-256 of what was asked, so that another request under the same key is noticed.
fn fingerprint(request: &CallRequest) -> [u8; 32] {
    let text = serde_json::to_vec(request).unwrap_or_default();
    Sha256::digest(text).into()
}
