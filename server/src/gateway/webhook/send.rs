//! Sending alerts to the webhooks of projects (Standard Webhooks 1.0).
//!
//! A message is claimed in the database before it is sent, so that of several servers one sends it; a server that
//! dies while sending leaves a claim that runs out. A receiver that answers with 2xx has it; otherwise it is tried
//! again, with growing pauses, and not tried again after the last one. A receiver may get a message twice and
//! recognizes that by its `webhook-id`.

use std::sync::Arc;

use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use http::{HeaderName, HeaderValue};
use serde_json::json;
use tokio::task::JoinSet;
use toolgate_api::alerts::Alert;
use toolgate_store::StoreError;
use toolgate_store::rows::DueAlert;

use super::sign;
use crate::gateway::Gateway;
use crate::gateway::server_snapshot::ProjectState;

/// How long a receiver has to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a claim holds: longer than sending takes.
const CLAIM: TimeDelta = TimeDelta::seconds(60);
/// Messages that are sent at the same time.
const AT_ONCE: u32 = 16;
/// Pauses after the first, second, ... attempt that failed, in seconds.
const PAUSES: [i64; 6] = [5, 30, 120, 600, 3600, 6 * 3600];
/// Says that the receiver wants no more messages.
const GONE: u16 = 410;

/// Sends the messages that are due.
///
/// # Errors
/// When the database does not answer.
pub async fn deliver(gateway: &Arc<Gateway>) -> anyhow::Result<()> {
    let due = gateway.store.due_alerts(gateway.clock.now(), AT_ONCE).await?;
    let mut sending = JoinSet::new();
    for due in due {
        let gateway = Arc::clone(gateway);
        sending.spawn(async move { deliver_one(&gateway, due).await });
    }
    while let Some(done) = sending.join_next().await {
        done??;
    }
    Ok(())
}

async fn deliver_one(gateway: &Gateway, due: DueAlert) -> Result<(), StoreError> {
    let now = gateway.clock.now();
    if !gateway.store.claim_alert(&due, now + CLAIM).await? {
        return Ok(());
    }
    let server_snapshot = gateway.snapshots.now();
    let project = server_snapshot
        .projects()
        .find(|project| project.row.uid == due.project);
    let sent = match project {
        Some(project) => send(gateway, project, &due.alert, now).await,
        None => Err(Undelivered::last("the project was deleted")),
    };
    let id = due.alert.id;
    match sent {
        Ok(()) => {
            gateway
                .store
                .alert_delivered(due.project, id, gateway.clock.now())
                .await
        }
        Err(problem) => {
            let again = problem.again(due.alert.attempts, gateway.clock.now());
            tracing::warn!(
                target: "toolgate::alert",
                alert_id = %id,
                cause = problem.text,
                given_up = again.is_none(),
                "an alert could not be sent"
            );
            gateway
                .store
                .alert_not_delivered(due.project, id, &problem.text, again)
                .await
        }
    }
}

/// Why a message did not arrive.
struct Undelivered {
    text: String,
    last: bool,
}

impl Undelivered {
    fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            last: false,
        }
    }

    fn last(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            last: true,
        }
    }

    /// When to try again, after so many attempts before this one.
    fn again(&self, before: i64, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let pause = usize::try_from(before)
            .ok()
            .and_then(|before| PAUSES.get(before))?;
        (!self.last).then(|| now + TimeDelta::seconds(*pause))
    }
}

async fn send(
    gateway: &Gateway,
    project: &ProjectState,
    alert: &Alert,
    now: DateTime<Utc>,
) -> Result<(), Undelivered> {
    let Some(webhook) = &project.settings.webhook else {
        return Err(Undelivered::last("the project has no webhook any more"));
    };
    let Some(secret) = project.secrets.value(&webhook.secret, now) else {
        return Err(Undelivered::new(format!(
            "the project has no readable secret {:?} to sign with",
            webhook.secret
        )));
    };
    let body = body(project, alert);
    let (id, timestamp) = (alert.id.to_string(), now.timestamp());
    let header = |name: &'static str, value: &str| {
        let value =
            HeaderValue::from_str(value).map_err(|_| Undelivered::new("a header cannot be written"))?;
        Ok((HeaderName::from_static(name), value))
    };
    let headers = [
        header("webhook-id", &id)?,
        header("webhook-timestamp", &timestamp.to_string())?,
        header(
            "webhook-signature",
            &sign::signature(&secret, &id, timestamp, &body),
        )?,
    ];
    let status = gateway
        .executors
        .post_message(&webhook.url, &headers, body, PATIENCE)
        .await
        .map_err(|failure| Undelivered::new(failure.message))?;
    match status {
        200..=299 => Ok(()),
        GONE => Err(Undelivered::last(
            "the receiver answered 410: it wants no more messages",
        )),
        status => Err(Undelivered::new(format!("the receiver answered {status}"))),
    }
}

/// What is sent: the alert as it was raised.
fn body(project: &ProjectState, alert: &Alert) -> Bytes {
    let message = json!({
        "type": "alert.raised",
        "timestamp": alert.at,
        "data": {
            "project_id": project.row.id,
            "id": alert.id,
            "at": alert.at,
            "rule": alert.rule,
            "subject": alert.subject,
            "subject_name": alert.subject_name,
            "message": alert.message,
            "details": alert.details,
        },
    });
    message.to_string().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_come_to_an_end() {
        let now = DateTime::UNIX_EPOCH;
        let pauses: Vec<_> = (0..8)
            .map(|before| {
                Undelivered::new("")
                    .again(before, now)
                    .map(|at| (at - now).num_seconds())
            })
            .collect();
        assert_eq!(pauses[..6], PAUSES.map(Some));
        assert!(PAUSES.is_sorted());
        assert_eq!(pauses[6..], [None, None]);
        assert_eq!(Undelivered::last("").again(0, now), None);
    }
}
