//! What is known to be there on the bus: it is asked for once, and again when a message finds nothing that keeps it.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_nats::HeaderMap;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::{self, kv, stream};
use bytes::Bytes;
use toolgate_core::ids::ProjectId;

use super::connection::{Bus, lost};
use super::worker::make_bucket;
use crate::failure::Failure;

/// Streams and buckets that were there.
#[derive(Default)]
pub(super) struct Known {
    streams: Mutex<HashSet<String>>,
    cards: Mutex<HashMap<ProjectId, kv::Store>>,
}

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bus {
    /// Publishes a message that a stream keeps; `otherwise` is made where none has its subject.
    ///
    /// # Errors
    /// When the bus does not take it.
    pub(super) async fn publish_kept(
        &self,
        subject: &str,
        headers: HeaderMap,
        payload: Bytes,
        otherwise: stream::Config,
    ) -> Result<(), Failure> {
        let context = jetstream::new(self.client.clone());
        // The operator may have a stream for a project.
        let project = subject.split('.').nth(2).unwrap_or_default();
        let known = format!("{}/{project}", otherwise.name);
        if !locked(&self.known.streams).contains(&known) {
            kept(&context, subject, otherwise.clone()).await?;
            locked(&self.known.streams).insert(known);
        }
        let send = || async {
            let sent = context.publish_with_headers(subject.to_owned(), headers.clone(), payload.clone());
            sent.await?.await
        };
        let sent = match send().await {
            Err(error) if error.kind() == PublishErrorKind::StreamNotFound => {
                // It was deleted meanwhile.
                kept(&context, subject, otherwise).await?;
                send().await
            }
            sent => sent,
        };
        sent.map(drop).map_err(|error| lost(&error))
    }

    /// The cards of a project; the bucket is made if there is none.
    ///
    /// # Errors
    /// When the bus does not answer.
    pub(super) async fn bucket(&self, project: &ProjectId) -> Result<kv::Store, Failure> {
        let known = locked(&self.known.cards).get(project).cloned();
        if let Some(cards) = known {
            return Ok(cards);
        }
        let cards = make_bucket(self, project).await?;
        locked(&self.known.cards).insert(project.clone(), cards.clone());
        Ok(cards)
    }

    /// Stores a card of a project.
    ///
    /// # Errors
    /// When the bus does not take it.
    pub(super) async fn put_card(&self, project: &ProjectId, id: &str, card: Bytes) -> Result<(), Failure> {
        if self.bucket(project).await?.put(id, card.clone()).await.is_ok() {
            return Ok(());
        }
        // The bucket may have been deleted. The same card is the same again.
        locked(&self.known.cards).remove(project);
        let put = self.bucket(project).await?.put(id, card).await;
        put.map(drop).map_err(|error| lost(&error))
    }
}

/// The stream that keeps a subject; `otherwise` is made if there is none.
pub(super) async fn kept(
    context: &jetstream::Context,
    subject: &str,
    otherwise: stream::Config,
) -> Result<stream::Stream, Failure> {
    match context.stream_by_subject(subject).await {
        Ok(name) => context.get_stream(name).await.map_err(|error| lost(&error)),
        Err(_) => context
            .get_or_create_stream(otherwise)
            .await
            .map_err(|error| lost(&error)),
    }
}
