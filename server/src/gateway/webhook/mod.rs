//! Messages to the webhooks of projects (Standard Webhooks 1.0): alerts, and what waits for administrators.
//!
//! A message is claimed in the database before it is sent, so that of several servers one sends it; a server that
//! dies while sending leaves a claim that runs out. A receiver that answers with 2xx has it; otherwise it is tried
//! again, with growing pauses, and not tried again after the last one. A receiver may get a message twice and
//! recognizes that by its `webhook-id`.

mod alerts;
mod notices;
mod send;
mod sign;

use std::sync::Arc;

use chrono::TimeDelta;
use tokio::task::JoinSet;

pub use self::notices::collect;
use crate::gateway::Gateway;

/// How long what was sent about waiting things is remembered, so that it is not sent again.
pub const KEPT: TimeDelta = TimeDelta::days(400);

/// How long a claim holds: longer than sending takes.
const CLAIM: TimeDelta = TimeDelta::seconds(60);
/// Messages of one kind that are sent at the same time.
const AT_ONCE: u32 = 16;

/// Sends the messages that are due.
///
/// # Errors
/// When the database does not answer.
pub async fn deliver(gateway: &Arc<Gateway>) -> anyhow::Result<()> {
    let now = gateway.clock.now();
    let mut sending = JoinSet::new();
    for due in gateway.store.due_alerts(now, AT_ONCE).await? {
        let gateway = Arc::clone(gateway);
        sending.spawn(async move { alerts::deliver(&gateway, due).await });
    }
    for due in gateway.store.due_notices(now, AT_ONCE).await? {
        let gateway = Arc::clone(gateway);
        sending.spawn(async move { notices::deliver(&gateway, due).await });
    }
    while let Some(done) = sending.join_next().await {
        done??;
    }
    Ok(())
}
