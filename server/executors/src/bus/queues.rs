//! What waits in the queues of services and workers.

use async_nats::jetstream;
use async_nats::jetstream::consumer::Info;
use toolgate_api::presence::QueueStatus;
use toolgate_core::definition::ServiceDefinition;
use toolgate_core::definition::queue::Queue;
use toolgate_core::ids::ProjectId;

use super::connection::Bus;

/// The protocol version of workers' subjects, unless a definition says another.
const VERSION: &str = "v1r4";

impl Bus {
    /// What waits in the request queue of a service. The kits' instances read a persistent one through the consumer of its name.
    pub async fn service_queue(&self, project: &ProjectId, service: &ServiceDefinition) -> QueueStatus {
        let Some(Ok(queue)) = service.request_queue.as_deref().map(Queue::parse) else {
            return QueueStatus::NotKept;
        };
        if !queue.persistent {
            return QueueStatus::NotKept;
        }
        if let Err(error) = self.rules().check(project, &queue) {
            return QueueStatus::Unknown {
                reason: error.to_string(),
            };
        }
        let consumer = queue.subject.replace('.', "_");
        self.queue(queue.subject, &consumer).await
    }

    /// What waits for a worker of a project: its commands are always kept.
    pub async fn worker_queue(&self, project: &ProjectId, target: &str) -> QueueStatus {
        let subject = format!("cg.{VERSION}.{project}.*.cmd.tool.{target}.>");
        let consumer = format!("tool_{project}_{target}_cmd_{VERSION}");
        self.queue(subject, &consumer).await
    }

    async fn queue(&self, subject: String, consumer: &str) -> QueueStatus {
        if let Err(failure) = self.reachable() {
            return QueueStatus::Unknown {
                reason: failure.message,
            };
        }
        let context = jetstream::new(self.client.clone());
        let Ok(stream) = context.stream_by_subject(subject.as_str()).await else {
            return QueueStatus::Empty;
        };
        let stream = match context.get_stream_no_info(stream).await {
            Ok(stream) => stream,
            Err(error) => {
                return QueueStatus::Unknown {
                    reason: error.to_string(),
                };
            }
        };
        let info = match stream.consumer_info(consumer).await {
            Ok(info) => Some(info),
            Err(error) if error.to_string().contains("not found") => None,
            Err(error) => {
                return QueueStatus::Unknown {
                    reason: error.to_string(),
                };
            }
        };
        let count = |of: fn(&Info) -> usize| info.as_ref().map_or(0, |info| of(info) as u64);
        QueueStatus::Kept {
            subject,
            waiting: info.as_ref().map(|info| info.num_pending),
            in_progress: count(|info| info.num_ack_pending),
            redelivered: count(|info| info.num_redelivered),
        }
    }
}
