//! What the entrance `bus` of the server needs of the bus: requests and commands for the tools of a project.

use std::time::Duration;

use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer};
use async_nats::jetstream::{self, kv};
use async_nats::{HeaderMap, Subscriber};
use bytes::Bytes;
use toolgate_core::ids::{ProjectId, ProjectUid};

use super::connection::{Bus, lost};
use super::known::kept;
use super::worker::{commands_stream, reports_stream};
use crate::failure::Failure;

/// The version of the protocol whose commands are executed.
pub const VERSION: &str = "v1r4";
/// A command that was delivered and neither acknowledged nor said to be in progress for so long is delivered again.
pub const ACK_WAIT: Duration = Duration::from_secs(10);
/// How often a command is delivered at most.
pub const MOST_DELIVERIES: i64 = 20;
/// Commands that the servers of a database have in work at the same time.
const IN_WORK: i64 = 256;

fn durable(uid: ProjectUid) -> String {
    format!("toolgate_{}_entrance", uid.0.simple())
}

impl Bus {
    /// The largest payload of a message, in bytes.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.client.max_payload().saturating_sub(4096)
    }

    /// Messages on a subject, each for one of the servers of the database.
    ///
    /// # Errors
    /// When the connection takes no subscription.
    pub async fn requests(&self, uid: ProjectUid, subject: String) -> Result<Subscriber, Failure> {
        let group = format!("toolgate_{}", uid.0.simple());
        let subscribed = self.client.queue_subscribe(subject, group).await;
        subscribed.map_err(|error| lost(&error))
    }

    /// The consumer of a project's commands, which all servers of the database share. It and its stream are made if there
    /// are none; commands that were sent before are not delivered.
    ///
    /// # Errors
    /// When the bus does not answer.
    pub async fn commands(
        &self,
        (uid, project): (ProjectUid, &ProjectId),
        targets: &[String],
    ) -> Result<PullConsumer, Failure> {
        self.reachable()?;
        let context = jetstream::new(self.client.clone());
        let subjects: Vec<String> = targets
            .iter()
            .map(|target| format!("cg.{VERSION}.{project}.*.cmd.tool.{target}.>"))
            .collect();
        let Some(first) = subjects.first() else {
            return Err(Failure::misconfigured("there is no target"));
        };
        let stream = kept(&context, first, commands_stream(VERSION)).await?;
        let config = pull::Config {
            durable_name: Some(durable(uid)),
            filter_subjects: subjects,
            deliver_policy: DeliverPolicy::New,
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACK_WAIT,
            max_deliver: MOST_DELIVERIES,
            max_ack_pending: IN_WORK,
            ..pull::Config::default()
        };
        // Makes it, or changes its subjects.
        let consumer = stream.create_consumer(config).await;
        consumer.map_err(|error| lost(&error))
    }

    /// Deletes the consumer of a project, so that the bus keeps no commands for it.
    ///
    /// # Errors
    /// When the bus does not answer.
    pub async fn no_more_commands(&self, uid: ProjectUid) -> Result<(), Failure> {
        self.reachable()?;
        let context = jetstream::new(self.client.clone());
        let stream = context.get_stream(commands_stream(VERSION).name).await;
        let stream = stream.map_err(|error| lost(&error))?;
        let deleted = stream.delete_consumer(&durable(uid)).await;
        deleted.map(drop).map_err(|error| lost(&error))
    }

    /// The cards of a project; the bucket is made if there is none.
    ///
    /// # Errors
    /// When the bus does not answer.
    pub async fn cards(&self, project: &ProjectId) -> Result<kv::Store, Failure> {
        self.reachable()?;
        self.bucket(project).await
    }

    /// Publishes a message that is kept by no stream.
    ///
    /// # Errors
    /// When the connection does not take it.
    pub async fn answer(&self, subject: String, headers: HeaderMap, payload: Bytes) -> Result<(), Failure> {
        let sent = self.client.publish_with_headers(subject, headers, payload).await;
        sent.map_err(|error| lost(&error))
    }

    /// Publishes a report, which a stream keeps; a second one with the same `id` is dropped by the bus.
    ///
    /// # Errors
    /// When the bus does not take it.
    pub async fn report_result(
        &self,
        subject: String,
        mut headers: HeaderMap,
        id: &str,
        payload: Bytes,
    ) -> Result<(), Failure> {
        headers.insert(NATS_MESSAGE_ID, id);
        self.publish_kept(&subject, headers, payload, reports_stream(VERSION))
            .await
    }

    /// Publishes a command, which a stream keeps; a second one with the same `id` is dropped by the bus.
    ///
    /// # Errors
    /// When the bus does not take it.
    pub async fn command(
        &self,
        subject: String,
        mut headers: HeaderMap,
        id: &str,
        payload: Bytes,
    ) -> Result<(), Failure> {
        self.reachable()?;
        headers.insert(NATS_MESSAGE_ID, id);
        self.publish_kept(&subject, headers, payload, commands_stream(VERSION))
            .await
    }
}
