//! Answers of a persistent response queue. Each server reads all of them by a consumer of its own, and goes on after the last one
//! that it has read when its connection, or the server of the bus, was lost meanwhile.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, Message};
use futures_util::StreamExt;

use super::connection::lost;
use crate::failure::Failure;

/// A consumer that its server does not read from for so long is deleted.
const UNUSED: Duration = Duration::from_secs(60);
/// How often the bus says that there is nothing new; without that the consumer is lost.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// How long one request for messages is open.
const OPEN: Duration = Duration::from_secs(30);
/// The pause before the bus is asked again for what it did not give.
const PAUSE: Duration = Duration::from_millis(200);

/// The answers of a queue that a server has not read yet.
pub(super) struct KeptAnswers {
    context: Context,
    subject: String,
    /// The number in the stream of the next one.
    next: u64,
    consumer: Option<PullConsumer>,
}

impl KeptAnswers {
    /// Those that come from now on.
    ///
    /// # Errors
    /// When the bus does not answer, or keeps nothing of this subject.
    pub(super) async fn of(client: &Client, subject: &str) -> Result<Self, Failure> {
        let mut answers = Self {
            context: jetstream::new(client.clone()),
            subject: subject.to_owned(),
            next: u64::MAX,
            consumer: None,
        };
        answers.consumer = Some(answers.consume().await?);
        Ok(answers)
    }

    async fn consume(&mut self) -> Result<PullConsumer, Failure> {
        let name = self.context.stream_by_subject(self.subject.as_str()).await;
        let name = name.map_err(|error| lost(&error))?;
        let stream = self.context.get_stream(name).await;
        let stream = stream.map_err(|error| lost(&error))?;
        // A stream that was made again begins again.
        self.next = self.next.min(stream.cached_info().state.last_sequence + 1);
        let config = pull::Config {
            filter_subject: self.subject.clone(),
            deliver_policy: DeliverPolicy::ByStartSequence {
                start_sequence: self.next,
            },
            ack_policy: AckPolicy::None,
            inactive_threshold: UNUSED,
            memory_storage: true,
            ..pull::Config::default()
        };
        let consumer = stream.create_consumer(config).await;
        consumer.map_err(|error| lost(&error))
    }

    /// Hands them on as they come, as long as they are taken.
    pub(super) async fn read(mut self, take: impl Fn(Message) -> bool) {
        loop {
            let consumer = match self.consumer.take() {
                Some(consumer) => Ok(consumer),
                None => self.consume().await,
            };
            if let Ok(consumer) = consumer {
                let messages = consumer.stream().heartbeat(HEARTBEAT).expires(OPEN).messages();
                if let Ok(mut messages) = messages.await {
                    while let Some(Ok(message)) = messages.next().await {
                        if let Ok(info) = message.info() {
                            self.next = info.stream_sequence + 1;
                        }
                        if !take(message.message) {
                            return;
                        }
                    }
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
