//! What the auth callout of the bus needs of the bus: the requests of its servers, and the consumers that programs may not make
//! for themselves.

use std::time::Duration;

use async_nats::Subscriber;
use async_nats::jetstream;
use async_nats::jetstream::consumer::{AckPolicy, push};
use toolgate_core::definition::queue::Queue;
use toolgate_core::ids::ProjectId;

use super::connection::{Bus, lost};
use super::entrance::VERSION;
use super::known::kept;
use super::service::make_stream;
use super::worker::commands_stream;
use crate::failure::Failure;

/// Where the servers of the bus ask.
const REQUESTS: &str = "$SYS.REQ.USER.AUTH";
/// Each request is for one of the servers of Toolgate.
const GROUP: &str = "toolgate";
/// A command that was not acknowledged for so long is delivered again, at most so often; as the kits have it.
const COMMANDS: (Duration, i64) = (Duration::from_secs(30), 3);

/// A consumer that the programs of one kind share: it delivers what a stream keeps of some subjects to one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumer {
    /// The stream.
    pub stream: String,
    /// Its name, which is that of its group too.
    pub name: String,
    /// The subjects that it reads.
    pub filter: String,
    /// Where it delivers.
    pub deliver: String,
    /// Whether it is that of a worker.
    is_worker: bool,
}

impl Consumer {
    /// That of a worker's commands.
    #[must_use]
    pub fn of_worker(project: &ProjectId, target: &str) -> Self {
        Self {
            stream: commands_stream(VERSION).name,
            name: format!("tool_{project}_{target}_cmd_{VERSION}"),
            filter: format!("cg.{VERSION}.{project}.*.cmd.tool.{target}.>"),
            deliver: format!("cg.{VERSION}.{project}.deliver.{target}"),
            is_worker: true,
        }
    }

    /// That of a persistent queue of a tool service.
    #[must_use]
    pub fn of_queue(project: &ProjectId, queue: &Queue) -> Self {
        let stream = queue.subject.replace('.', "_");
        Self {
            name: stream.clone(),
            filter: queue.subject.clone(),
            deliver: format!("tg.{project}.deliver.{stream}"),
            stream,
            is_worker: false,
        }
    }
}

impl Bus {
    /// The requests of the bus's servers, who may connect.
    ///
    /// # Errors
    /// When the connection takes no subscription.
    pub async fn authorizations(&self) -> Result<Subscriber, Failure> {
        let subscribed = self.client.queue_subscribe(REQUESTS, GROUP.to_owned()).await;
        subscribed.map_err(|error| lost(&error))
    }

    /// Makes consumers of a project, and what they and their programs read, where it is not there.
    ///
    /// # Errors
    /// When the bus does not answer.
    pub async fn prepare(&self, project: &ProjectId, consumers: &[Consumer]) -> Result<(), Failure> {
        let context = jetstream::new(self.client.clone());
        if consumers.iter().any(|consumer| consumer.is_worker) {
            self.bucket(project).await?;
        }
        for consumer in consumers {
            let stream = if consumer.is_worker {
                let subject = consumer.filter.replace(".*.", ".toolgate.").replace(".>", ".run");
                kept(&context, &subject, commands_stream(VERSION)).await?
            } else {
                make_stream(self, &consumer.filter).await?;
                let found = context.get_stream(&consumer.stream).await;
                found.map_err(|error| lost(&error))?
            };
            let mut config = push::Config {
                durable_name: Some(consumer.name.clone()),
                deliver_group: Some(consumer.name.clone()),
                deliver_subject: consumer.deliver.clone(),
                filter_subject: consumer.filter.clone(),
                ack_policy: AckPolicy::Explicit,
                ..push::Config::default()
            };
            if consumer.is_worker {
                (config.ack_wait, config.max_deliver) = COMMANDS;
            }
            let made = stream.get_or_create_consumer(&consumer.name, config).await;
            made.map_err(|error| lost(&error))?;
        }
        Ok(())
    }
}
