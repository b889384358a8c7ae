//! Messages that could not be handled, in a stream of the bus: `tg.{project_id}.dead-letters`.

use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::stream::{RawMessageErrorKind, Stream};
use async_nats::jetstream::{self, stream};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use toolgate_core::ids::{ProjectId, ProjectUid};

use super::connection::{Bus, lost};
use crate::failure::Failure;

/// The stream of all projects.
const STREAM: &str = "tg_dead_letters";
/// How long dead letters are kept.
const KEPT: Duration = Duration::from_hours(7 * 24);
/// Bytes that all of them may have; the oldest go.
const MOST_BYTES: i64 = 256 * 1024 * 1024;

const REASON: &str = "Toolgate-Reason";
const SUBJECT: &str = "Toolgate-Subject";
const DELIVERIES: &str = "Toolgate-Deliveries";
/// Another project may have had the same name.
const PROJECT: &str = "Toolgate-Project";

/// A message that could not be handled, and why.
#[derive(Debug, Clone)]
pub struct Dead {
    /// The subject that it was published to.
    pub subject: String,
    /// Why it was given up.
    pub reason: String,
    /// How often it was delivered.
    pub deliveries: u64,
    /// Its headers, without the token.
    pub headers: HeaderMap,
    /// Its payload.
    pub payload: Bytes,
}

/// One of the stream.
#[derive(Debug, Clone)]
pub struct KeptDead {
    /// Its number.
    pub id: u64,
    /// When it was given up.
    pub at: DateTime<Utc>,
    /// The message.
    pub dead: Dead,
}

fn place(project: &ProjectId) -> String {
    format!("tg.{project}.dead-letters")
}

impl Bus {
    async fn dead_letter_stream(&self) -> Result<Stream, Failure> {
        self.reachable()?;
        let config = stream::Config {
            name: STREAM.to_owned(),
            subjects: vec!["tg.*.dead-letters".to_owned()],
            max_age: KEPT,
            max_bytes: MOST_BYTES,
            ..stream::Config::default()
        };
        let context = jetstream::new(self.client.clone());
        let stream = context.get_or_create_stream(config).await;
        stream.map_err(|error| lost(&error))
    }

    /// Keeps a message that could not be handled.
    ///
    /// # Errors
    /// When the bus does not take it.
    pub async fn bury(&self, (uid, project): (ProjectUid, &ProjectId), dead: Dead) -> Result<(), Failure> {
        self.dead_letter_stream().await?;
        let mut headers = dead.headers;
        let reason: String = dead
            .reason
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(500)
            .collect();
        headers.insert(REASON, reason);
        headers.insert(SUBJECT, dead.subject);
        headers.insert(DELIVERIES, dead.deliveries.to_string());
        headers.insert(PROJECT, uid.0.to_string());
        let context = jetstream::new(self.client.clone());
        let sent = context
            .publish_with_headers(place(project), headers, dead.payload)
            .await;
        let kept = sent.map_err(|error| lost(&error))?.await;
        kept.map(drop).map_err(|error| lost(&error))
    }

    /// Up to `most` dead letters of a project that follow the one with the number `after`, the oldest first.
    ///
    /// # Errors
    /// When the bus does not answer.
    pub async fn dead_letters(
        &self,
        (uid, project): (ProjectUid, &ProjectId),
        after: u64,
        most: usize,
    ) -> Result<Vec<KeptDead>, Failure> {
        let stream = self.dead_letter_stream().await?;
        let mut found = Vec::new();
        let mut next = after.saturating_add(1);
        while found.len() < most {
            let message = stream
                .get_first_raw_message_by_subject(place(project), next)
                .await;
            let message = match message {
                Ok(message) => message,
                Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => break,
                Err(error) => return Err(lost(&error)),
            };
            next = message.sequence + 1;
            found.extend(read(uid, message));
        }
        Ok(found)
    }

    /// One dead letter of a project.
    ///
    /// # Errors
    /// When the bus does not answer.
    pub async fn dead_letter(
        &self,
        (uid, project): (ProjectUid, &ProjectId),
        id: u64,
    ) -> Result<Option<KeptDead>, Failure> {
        let found = self.dead_letters((uid, project), id.saturating_sub(1), 1).await?;
        Ok(found.into_iter().find(|found| found.id == id))
    }

    /// Deletes a dead letter that was found.
    ///
    /// # Errors
    /// When the bus does not answer.
    pub async fn drop_dead_letter(&self, id: u64) -> Result<(), Failure> {
        let stream = self.dead_letter_stream().await?;
        match stream.delete_message(id).await {
            Ok(_) => Ok(()),
            // Another one was faster.
            Err(_) if matches!(stream.get_raw_message(id).await, Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound) => {
                Ok(())
            }
            Err(error) => Err(lost(&error)),
        }
    }
}

/// What was kept; `None` for what is of another project, or was not written by [`Bus::bury`].
fn read(uid: ProjectUid, message: async_nats::jetstream::message::StreamMessage) -> Option<KeptDead> {
    let mut headers = HeaderMap::new();
    let said = |name: &str| message.headers.get(name).map(|value| value.as_str().to_owned());
    if said(PROJECT)? != uid.0.to_string() {
        return None;
    }
    for (name, values) in message.headers.iter() {
        let name = name.to_string();
        if ![REASON, SUBJECT, DELIVERIES, PROJECT].contains(&name.as_str()) {
            for value in values {
                headers.append(name.as_str(), value.clone());
            }
        }
    }
    Some(KeptDead {
        id: message.sequence,
        at: DateTime::from_timestamp(message.time.unix_timestamp(), message.time.nanosecond())?,
        dead: Dead {
            subject: said(SUBJECT)?,
            reason: said(REASON)?,
            deliveries: said(DELIVERIES)?.parse().ok()?,
            headers,
            payload: message.payload,
        },
    })
}
