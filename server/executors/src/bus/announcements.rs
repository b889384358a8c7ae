//! What programs say of themselves on the bus: announcements and heartbeats of every project, and the question for them.
//!
//! Every server hears all of them. What comes faster than it is read is dropped: a heartbeat follows, and the question is asked again.

use async_nats::{HeaderMap, Message, SubscribeError};
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::sync::mpsc;
use toolgate_core::announcements::{DISCOVER, HEARTBEAT, SUBJECT};
use toolgate_core::ids::ProjectId;

use super::connection::Bus;

/// Messages that wait to be read.
const WAITING: usize = 2048;

/// A message of a program about itself.
#[derive(Debug, Clone)]
pub struct BusAnnouncement {
    /// The project whose subject it came on.
    pub project: ProjectId,
    /// The subject.
    pub subject: String,
    /// Whether it is a sign of life only.
    pub is_heartbeat: bool,
    /// Its headers.
    pub headers: Option<HeaderMap>,
    /// What it says.
    pub payload: Bytes,
}

impl Bus {
    /// Listens to the announcements of all projects until what is returned is dropped.
    ///
    /// # Errors
    /// The connection takes no subscription.
    pub async fn announcements(&self) -> Result<mpsc::Receiver<BusAnnouncement>, SubscribeError> {
        let (to, from) = mpsc::channel(WAITING);
        for (subject, is_heartbeat) in [
            (format!("tg.*.{SUBJECT}"), false),
            (format!("tg.*.{SUBJECT}.{HEARTBEAT}"), true),
        ] {
            let mut messages = self.client.subscribe(subject).await?;
            let (to, rules) = (to.clone(), self.rules().clone());
            tokio::spawn(async move {
                loop {
                    let message = tokio::select! {
                        message = messages.next() => message,
                        () = to.closed() => return,
                    };
                    let Some(message) = message else { return };
                    let read = read(message, is_heartbeat);
                    // The operator's list of subjects counts here as for queues.
                    let read = read.filter(|read| rules.allow(&read.project, &read.subject));
                    if let Some(read) = read
                        && to.try_send(read).is_err()
                    {
                        tracing::debug!("an announcement was dropped: too many at a time");
                    }
                }
            });
        }
        Ok(from)
    }

    /// Asks the programs of a project to announce themselves.
    pub async fn discover(&self, project: &ProjectId) {
        let subject = format!("tg.{project}.{SUBJECT}.{DISCOVER}");
        if !self.is_connected() || !self.rules().allow(project, &subject) {
            return;
        }
        if let Err(error) = self.client.publish(subject, Bytes::new()).await {
            tracing::debug!(%project, "the programs on the message bus were not asked for: {error}");
        }
    }
}

fn read(message: Message, is_heartbeat: bool) -> Option<BusAnnouncement> {
    let project = message.subject.split('.').nth(1)?;
    Some(BusAnnouncement {
        project: ProjectId::parse(project.to_owned()).ok()?,
        subject: message.subject.to_string(),
        is_heartbeat,
        headers: message.headers,
        payload: message.payload,
    })
}
