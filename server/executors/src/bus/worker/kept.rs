//! Reports as the bus keeps them: each is delivered to one of the servers that share a database, and again until it is
//! acknowledged. A call that waits in this process gets its report by `replies`, sooner; this is for those whose server has
//! stopped, or missed a message.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer};
use async_nats::jetstream::{self, AckKind, stream};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use toolgate_api::tools::AfterExecution;
use toolgate_core::ids::{CallId, ProjectId};
use uuid::Uuid;

use super::headers::TOOL_CALL_ID;
use crate::bus::connection::{Bus, lost};
use crate::failure::Failure;

/// How long the stream keeps reports.
const KEPT: Duration = Duration::from_hours(7 * 24);
/// A consumer that no server reads from for so long is deleted.
const UNUSED: Duration = Duration::from_hours(24);
/// A report that was delivered and not acknowledged for so long is delivered again.
const ACK_WAIT: Duration = Duration::from_secs(10);
/// The pause before the bus is asked again for what it did not give.
const PAUSE: Duration = Duration::from_secs(1);
/// Reports that may wait to be handled.
const WAITING: usize = 64;

/// What a report of a call must say, in the words of the call's command; kept while the call is deferred.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Awaited {
    /// The subject of its report.
    pub(super) reports: String,
    pub(super) version: String,
    pub(super) tool: String,
    pub(super) epoch: String,
    pub(super) after_execution: AfterExecution,
    #[serde(default)]
    pub(super) depth: u32,
    /// Members of the call's metadata that its result must have too.
    #[serde(default)]
    pub(super) lineage: BTreeMap<String, String>,
}

/// The readers of this process.
pub(in crate::bus) struct KeptReports {
    readers: tokio::sync::Mutex<HashMap<(Uuid, String), Reader>>,
    to: mpsc::Sender<WorkerReport>,
    from: Mutex<Option<mpsc::Receiver<WorkerReport>>>,
}

/// A task that reads; it ends when this is dropped.
struct Reader(JoinHandle<()>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A report of a worker, as the bus keeps it until it is acknowledged.
pub struct WorkerReport {
    project: Uuid,
    pub(super) message: jetstream::Message,
}

impl WorkerReport {
    /// The id of the project whose reports it was among.
    #[must_use]
    pub fn project(&self) -> Uuid {
        self.project
    }

    /// The call that it says it belongs to.
    #[must_use]
    pub fn call(&self) -> Option<CallId> {
        let id = self.message.headers.as_ref()?.get(TOOL_CALL_ID)?;
        Uuid::parse_str(id.as_str()).ok().map(CallId)
    }

    /// Whether it was delivered for the first time.
    #[must_use]
    pub fn is_first_delivery(&self) -> bool {
        self.message.info().is_ok_and(|info| info.delivered == 1)
    }

    /// It is done with.
    pub async fn acknowledge(&self) {
        self.answer(AckKind::Ack).await;
    }

    /// It is delivered again after a time.
    pub async fn again_in(&self, delay: Duration) {
        self.answer(AckKind::Nak(Some(delay))).await;
    }

    async fn answer(&self, kind: AckKind) {
        if let Err(error) = self.message.ack_with(kind).await {
            // It is delivered again, and changes nothing then.
            tracing::warn!(%error, "a report could not be acknowledged");
        }
    }
}

impl KeptReports {
    pub(in crate::bus) fn new() -> Self {
        let (to, from) = mpsc::channel(WAITING);
        Self {
            readers: tokio::sync::Mutex::default(),
            to,
            from: Mutex::new(Some(from)),
        }
    }

    pub(super) fn take(&self) -> Option<mpsc::Receiver<WorkerReport>> {
        self.from.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Has the bus keep the reports of a project from now on, and reads them until the bus is dropped.
    pub(super) async fn follow(
        &self,
        bus: &Bus,
        project: Uuid,
        name: &ProjectId,
        awaited: &Awaited,
    ) -> Result<(), Failure> {
        let mut readers = self.readers.lock().await;
        let key = (project, awaited.version.clone());
        if readers.contains_key(&key) {
            return Ok(());
        }
        let source = Source {
            context: jetstream::new(bus.client.clone()),
            project,
            name: name.to_string(),
            version: awaited.version.clone(),
            reports: awaited.reports.clone(),
        };
        let consumer = source.consumer().await?;
        let reader = Reader(tokio::spawn(source.read(consumer, self.to.clone())));
        readers.insert(key, reader);
        Ok(())
    }
}

/// The stream of reports, where no other has their subjects.
pub(in crate::bus) fn reports_stream(version: &str) -> stream::Config {
    stream::Config {
        name: format!("cg_evt_{version}"),
        subjects: vec![format!("cg.{version}.*.*.evt.>")],
        max_age: KEPT,
        ..stream::Config::default()
    }
}

/// Where the reports of a project are kept.
struct Source {
    context: jetstream::Context,
    project: Uuid,
    name: String,
    version: String,
    /// One of the subjects.
    reports: String,
}

impl Source {
    /// The consumer that all servers of the database share; it and its stream are made if there are none.
    async fn consumer(&self) -> Result<PullConsumer, Failure> {
        let version = &self.version;
        let stream = match self.context.stream_by_subject(self.reports.as_str()).await {
            Ok(found) => self
                .context
                .get_stream(found)
                .await
                .map_err(|error| lost(&error))?,
            Err(_) => {
                let config = reports_stream(version);
                let created = self.context.get_or_create_stream(config).await;
                created.map_err(|error| lost(&error))?
            }
        };
        // Another database may have a project of the same name on the same bus; its id is another one.
        let name = format!("toolgate_{}_{version}", self.project.simple());
        let config = pull::Config {
            durable_name: Some(name.clone()),
            filter_subject: format!("cg.{version}.{}.*.evt.tool.*.report", self.name),
            deliver_policy: DeliverPolicy::New,
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACK_WAIT,
            inactive_threshold: UNUSED,
            ..pull::Config::default()
        };
        let consumer = stream.get_or_create_consumer(&name, config).await;
        consumer.map_err(|error| lost(&error))
    }

    async fn read(self, consumer: PullConsumer, to: mpsc::Sender<WorkerReport>) {
        let mut consumer = Some(consumer);
        loop {
            let found = match consumer.take() {
                Some(consumer) => Ok(consumer),
                None => self.consumer().await,
            };
            if let Ok(consumer) = found
                && let Ok(mut messages) = consumer.messages().await
            {
                while let Some(next) = messages.next().await {
                    let Ok(message) = next else { break };
                    let report = WorkerReport {
                        project: self.project,
                        message,
                    };
                    if to.send(report).await.is_err() {
                        return;
                    }
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
