//! Sending a message (Standard Webhooks 1.0).

use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use http::{HeaderName, HeaderValue};
use toolgate_core::ids::ProjectUid;

use super::sign;
use crate::gateway::Gateway;
use crate::gateway::server_snapshot::ProjectState;

/// How long a receiver has to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pauses after the first, second, ... attempt that failed, in seconds.
const PAUSES: [i64; 6] = [5, 30, 120, 600, 3600, 6 * 3600];
/// Says that the receiver wants no more messages.
const GONE: u16 = 410;

/// Why a message did not arrive.
pub(super) struct Undelivered {
    pub(super) text: String,
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
    pub(super) fn again(&self, before: i64, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let pause = usize::try_from(before)
            .ok()
            .and_then(|before| PAUSES.get(before))?;
        (!self.last).then(|| now + TimeDelta::seconds(*pause))
    }
}

/// Sends a message to the webhook of a project. A receiver recognizes a message that it gets again by `id`.
pub(super) async fn send(
    gateway: &Gateway,
    project: ProjectUid,
    id: &str,
    body: impl FnOnce(&ProjectState) -> Bytes,
) -> Result<(), Undelivered> {
    let now = gateway.clock.now();
    let snapshot = gateway.snapshots.now();
    let Some(project) = snapshot.projects().find(|state| state.row.uid == project) else {
        return Err(Undelivered::last("the project was deleted"));
    };
    let Some(webhook) = &project.settings.webhook else {
        return Err(Undelivered::last("the project has no webhook any more"));
    };
    let Some(secret) = project.secrets.value(&webhook.secret, now) else {
        return Err(Undelivered::new(format!(
            "the project has no readable secret {:?} to sign with",
            webhook.secret
        )));
    };
    let (body, timestamp) = (body(project), now.timestamp());
    let header = |name: &'static str, value: &str| {
        let value =
            HeaderValue::from_str(value).map_err(|_| Undelivered::new("a header cannot be written"))?;
        Ok((HeaderName::from_static(name), value))
    };
    let headers = [
        header("webhook-id", id)?,
        header("webhook-timestamp", &timestamp.to_string())?,
        header(
            "webhook-signature",
            &sign::signature(&secret, id, timestamp, &body),
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
