//! Messages of the bus that could not be handled: what there is, sending one again, and dropping one.

use std::sync::Arc;

use serde_json::json;
use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditAction;
use toolgate_api::bus::BusTokenRequest;
use toolgate_api::dead_letters::DeadLetter;
use toolgate_core::principal::Permission;
use toolgate_executors::{Bus, Failure, KeptDead};

use super::bus::{self, TOKEN, sha256};
use super::change_record::opening;
use super::entry::Entry;
use super::recorded::recorded;
use crate::gateway::{Gateway, Problem};

/// The bus did not answer.
fn silent(failure: Failure) -> Problem {
    Problem::new(ErrorCode::Unavailable, failure.message).retry_after(5)
}

fn not_found(id: u64) -> Problem {
    Problem::not_found(format!("dead letter {id}"))
}

/// Up to `most` dead letters that follow one, the oldest first; none without a bus.
///
/// # Errors
/// 503 when the bus does not answer.
pub async fn list(
    gateway: &Gateway,
    entry: &Entry,
    after: u64,
    most: usize,
) -> Result<Vec<DeadLetter>, Problem> {
    let Some(bus) = &gateway.bus else {
        return Ok(Vec::new());
    };
    let row = &entry.project.row;
    let found = bus.dead_letters((row.uid, &row.id), after, most).await;
    let shows_payload = entry.may(Permission::ReadPayloads);
    Ok(found
        .map_err(silent)?
        .into_iter()
        .map(|kept| wire(kept, shows_payload))
        .collect())
}

fn wire(kept: KeptDead, shows_payload: bool) -> DeadLetter {
    let KeptDead { id, at, dead } = kept;
    let said = |name: &str| dead.headers.get(name).map(|value| value.as_str().to_owned());
    DeadLetter {
        id,
        at,
        tool_call_id: said("CG-Tool-Call-Id"),
        agent_id: said("CG-Agent-Id"),
        size: dead.payload.len() as u64,
        payload: shows_payload.then(|| String::from_utf8_lossy(&dead.payload).into_owned()),
        subject: dead.subject,
        reason: dead.reason,
        deliveries: dead.deliveries,
    }
}

/// Sends a dead letter again, with a token of the caller: it is the caller's call then, and decided as that.
///
/// # Errors
/// 404 without it; 409 when it cannot be sent again; 503 when the bus does not answer.
pub async fn retry(gateway: &Arc<Gateway>, entry: Entry, id: u64) -> Result<(), Problem> {
    let (bus, kept) = find(gateway, &entry, id).await?;
    let dead = kept.dead;
    let what = json!({"change": "dead_letter_retried", "dead_letter": id, "subject": dead.subject, "reason": dead.reason});
    let place = (entry.project.row.uid, entry.project.snapshot.version());
    let record = opening(gateway, place, &entry.requester(), AuditAction::Settings, what);
    let task = Arc::clone(gateway);
    recorded(gateway, vec![record], async move {
        let unreadable = || {
            Problem::new(
                ErrorCode::Conflict,
                "The message names no card that can be read, so no token can be made for it. Drop it, and let its sender send it again.",
            )
        };
        let card = bus.cards(&entry.project.row.id).await.map_err(silent)?;
        let payload: serde_json::Value =
            serde_json::from_slice(&dead.payload).map_err(|_| unreadable())?;
        let named = payload["tool_call_card_id"].as_str().ok_or_else(unreadable)?;
        let card = card.get(named).await.ok().flatten().ok_or_else(unreadable)?;
        let request = BusTokenRequest {
            subject: dead.subject.clone(),
            payload_sha256: sha256(&dead.payload),
            card_sha256: Some(sha256(&card)),
        };
        let token = bus::issue(&task, &entry, request)?;
        let mut headers = dead.headers;
        headers.insert(TOKEN, token.token);
        let name = format!("dead-letter-{id}-{}", task.clock.new_id());
        bus.command(dead.subject, headers, &name, dead.payload)
            .await
            .map_err(silent)?;
        bus.drop_dead_letter(id).await.map_err(silent)
    })
    .await
}

/// Drops a dead letter.
///
/// # Errors
/// 404 without it; 503 when the bus does not answer.
pub async fn discard(gateway: &Arc<Gateway>, entry: &Entry, id: u64) -> Result<(), Problem> {
    let (bus, kept) = find(gateway, entry, id).await?;
    let dead = kept.dead;
    let what = json!({"change": "dead_letter_dropped", "dead_letter": id, "subject": dead.subject, "reason": dead.reason});
    let place = (entry.project.row.uid, entry.project.snapshot.version());
    let record = opening(gateway, place, &entry.requester(), AuditAction::Settings, what);
    recorded(gateway, vec![record], async move {
        bus.drop_dead_letter(id).await.map_err(silent)
    })
    .await
}

async fn find(gateway: &Gateway, entry: &Entry, id: u64) -> Result<(Arc<Bus>, KeptDead), Problem> {
    let bus = gateway.bus.as_ref().ok_or_else(|| not_found(id))?;
    let row = &entry.project.row;
    let found = bus.dead_letter((row.uid, &row.id), id).await.map_err(silent)?;
    Ok((Arc::clone(bus), found.ok_or_else(|| not_found(id))?))
}
