//! Commands of the UTP tool protocol: checked, called, and answered by a card and a report (tool development guide, sections 1 and 2).
//!
//! A command is acknowledged when its report is stored. Until then the bus delivers it again, to any server; its `tool_call_id`
//! makes that harmless. What can be answered by no report is kept as a dead letter. `control` reads subject and headers, `payload`
//! the payload and the card that it names, `delivery` does the work of one delivery, and `place` calls and answers.

mod control;
mod delivery;
mod payload;
mod place;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::{self, AckKind};
use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_core::ids::{ProjectId, ProjectUid};
use toolgate_executors::bus::ACK_WAIT;
use toolgate_executors::{Bus, Dead, Failure};

use self::delivery::Delivery;
use super::header;
use crate::gateway::bus::TOKEN;
use crate::gateway::{Gateway, Problem};

/// The longest pause before a command is delivered again.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);
/// The inbox that a refusal is sent to: a stream takes the reply subject of a command for itself.
const INBOX: &str = "Toolgate-Inbox";

/// What becomes of a command.
enum End {
    /// It is answered.
    Done,
    /// It is delivered again.
    Again(Problem),
    /// It is given up.
    Dead(Problem),
}

/// Handles one delivery of a command.
pub(super) async fn handle(
    gateway: &Arc<Gateway>,
    (uid, id): (ProjectUid, &ProjectId),
    message: jetstream::Message,
) {
    let Some(bus) = &gateway.bus else { return };
    let Some(delivery) = Delivery::of(&message) else {
        return;
    };
    let end = {
        let mut work = pin!(delivery.work(gateway, bus, (uid, id), &message));
        let mut ticks = tokio::time::interval(ACK_WAIT / 3);
        ticks.tick().await;
        loop {
            tokio::select! {
                end = &mut work => break end,
                _ = ticks.tick() => acknowledge(&message, AckKind::Progress).await,
            }
        }
    };
    match end {
        End::Done => acknowledge(&message, AckKind::Ack).await,
        End::Again(problem) => {
            let pause = Duration::from_secs(1 << delivery.deliveries.min(5)).min(LONGEST_PAUSE);
            tracing::info!(project = %id, deliveries = delivery.deliveries, "a command is delivered again: {}", problem.detail());
            acknowledge(&message, AckKind::Nak(Some(pause))).await;
        }
        End::Dead(problem) => {
            let mut headers = message.headers.clone().unwrap_or_default();
            refuse_to_inbox(bus, &headers, &message, &problem).await;
            headers = without_token(&headers);
            let dead = Dead {
                subject: message.subject.to_string(),
                reason: format!("{}: {}", problem.code(), problem.detail()),
                deliveries: delivery.deliveries,
                headers,
                payload: message.payload.clone(),
            };
            match bus.bury((uid, id), dead).await {
                Ok(()) => acknowledge(&message, AckKind::Term).await,
                Err(failure) => {
                    tracing::warn!(project = %id, "a dead letter could not be kept: {}", failure.message);
                    acknowledge(&message, AckKind::Nak(Some(LONGEST_PAUSE))).await;
                }
            }
        }
    }
}

async fn acknowledge(message: &jetstream::Message, kind: AckKind) {
    if let Err(error) = message.ack_with(kind).await {
        // It is delivered again, and answered as before.
        tracing::warn!(%error, "a command could not be acknowledged");
    }
}

/// The headers as they may be kept: a token is a credential, and what the bus set is not the sender's.
fn without_token(headers: &HeaderMap) -> HeaderMap {
    let mut kept = HeaderMap::new();
    for (name, values) in headers.iter() {
        let name = name.to_string();
        if !name.eq_ignore_ascii_case(TOKEN) && !name.starts_with("Nats-") {
            for value in values {
                kept.append(name.as_str(), value.clone());
            }
        }
    }
    kept
}

/// Sends a refusal to the inbox that a command names, if it names one.
async fn refuse_to_inbox(bus: &Bus, headers: &HeaderMap, message: &jetstream::Message, problem: &Problem) {
    let Some(inbox) = header(headers, INBOX).filter(|inbox| {
        inbox.starts_with("_INBOX.")
            && inbox
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'*' | b'>'))
    }) else {
        return;
    };
    let payload: Value = serde_json::from_slice(&message.payload).unwrap_or_default();
    let body = json!({
        "tool_call_id": header(headers, "CG-Tool-Call-Id").unwrap_or_default(),
        "tool_name": payload["tool_name"].as_str().unwrap_or_default(),
        "code": "execution_failed",
        "message": problem.detail(),
        "is_retryable": problem.retryable(),
    });
    let mut said = HeaderMap::new();
    said.insert("Toolgate-Code", problem.code().as_str());
    if let Err(failure) = bus.answer(inbox.to_owned(), said, body.to_string().into()).await {
        tracing::debug!("a refusal could not be sent: {}", failure.message);
    }
}

fn silent(failure: Failure) -> Problem {
    Problem::new(ErrorCode::Unavailable, failure.message)
}

fn bad(what: impl Into<String>) -> Problem {
    Problem::new(ErrorCode::InvalidRequest, what)
}
