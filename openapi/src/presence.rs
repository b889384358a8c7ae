//! Programs on the message bus: tool services and workers, and which of their processes run.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::Diagnostic;
use crate::ErrorCode;

/// What a program on the message bus is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnnouncerKind {
    /// A tool service.
    ToolService,
    /// A worker of the UTP tool protocol.
    Worker,
}

/// The programs on the message bus that a project has to do with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct BusPrograms {
    /// Whether this server has a message bus.
    pub bus: BusState,
    /// Services and workers that are defined, that announced themselves, or that this server has heard of; by kind and name.
    #[cfg_attr(feature = "utoipa", schema(max_items = 2000))]
    pub items: Vec<BusProgram>,
    /// The latest announcements that were refused.
    #[cfg_attr(feature = "utoipa", schema(max_items = 20))]
    pub refused: Vec<RefusedAnnouncement>,
}

/// How the message bus is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum BusState {
    /// The server has none (`TOOLGATE_NATS_URL`).
    None,
    /// There is a connection.
    Connected,
    /// There is no connection now.
    Disconnected,
}

/// A tool service or a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct BusProgram {
    /// What it is.
    pub kind: AnnouncerKind,
    /// The id of the service, or the target of the worker.
    #[cfg_attr(feature = "utoipa", schema(example = "joke-service"))]
    pub name: String,
    /// Names of the tools that it executes, sorted; at most 1000 of them.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["tell-joke"]), max_items = 1000))]
    pub tools: Vec<String>,
    /// How many of these tools are disabled.
    #[cfg_attr(feature = "utoipa", schema(example = 0, minimum = 0))]
    pub disabled: u32,
    /// What it announced; absent when it announced nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announced: Option<Announced>,
    /// Its processes that send heartbeats, and those that were silent for less than a day; as this server heard them.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub instances: Vec<BusInstance>,
}

/// What was announced last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Announced {
    /// The version of the program.
    #[cfg_attr(feature = "utoipa", schema(example = "1.4.0"))]
    pub version: String,
    /// When this version was announced first.
    pub at: DateTime<Utc>,
    /// The process that announced it.
    #[cfg_attr(feature = "utoipa", schema(example = "joke-7f9c"))]
    pub instance: String,
    /// A digest of it: another one when anything of it is another.
    #[cfg_attr(feature = "utoipa", schema(example = "5f0c9d2b7a6e41d38c1f0a9b8c7d6e5f"))]
    pub digest: String,
    /// The import that has its tools.
    #[cfg_attr(feature = "utoipa", schema(example = "bus-joke-service"))]
    pub import: String,
    /// Changes of its tools that wait in the quarantine.
    #[cfg_attr(feature = "utoipa", schema(example = 0, minimum = 0))]
    pub waiting: u32,
    /// The difference between the service as it is and as it was announced, when that waits for approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descriptor_diff: Option<String>,
    /// Why it was not imported, or tools of it were not.
    #[cfg_attr(feature = "utoipa", schema(max_items = 100))]
    pub problems: Vec<Diagnostic>,
}

/// One process of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct BusInstance {
    /// Its name.
    #[cfg_attr(feature = "utoipa", schema(example = "joke-7f9c"))]
    pub instance: String,
    /// The version of the program.
    #[cfg_attr(feature = "utoipa", schema(example = "1.4.0"))]
    pub version: String,
    /// When it was heard first, by this server.
    pub since: DateTime<Utc>,
    /// When it was heard last.
    pub seen: DateTime<Utc>,
    /// Whether it runs, as far as this server knows.
    pub state: InstanceState,
}

/// Whether a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum InstanceState {
    /// It was heard within the last 30 seconds.
    Alive,
    /// It said that it stops.
    Stopped,
    /// It was not heard for 30 seconds.
    Silent,
}

/// An announcement that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct RefusedAnnouncement {
    /// When it came.
    pub at: DateTime<Utc>,
    /// Why it was refused.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "write either \"tool-service\" or \"worker\"")
    )]
    pub reason: String,
}

/// A tool service or a worker, with what waits for it and what went wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct BusProgramStatus {
    /// What it is, and which of its processes run.
    pub program: BusProgram,
    /// What waits in its queue.
    pub queue: QueueStatus,
    /// Its latest calls that failed, the newest first.
    #[cfg_attr(feature = "utoipa", schema(max_items = 10))]
    pub failures: Vec<FailedCall>,
}

/// What waits in a queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum QueueStatus {
    /// The bus does not keep requests of this queue: an instance that does not listen misses them.
    NotKept,
    /// A stream keeps them.
    Kept {
        /// The subject of the queue.
        #[cfg_attr(feature = "utoipa", schema(example = "tg.demo.jokes"))]
        subject: String,
        /// Requests that no instance has read yet; absent while no instance has ever read the queue.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "utoipa", schema(example = 3, minimum = 0))]
        waiting: Option<u64>,
        /// Requests that instances work on.
        #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 0))]
        in_progress: u64,
        /// Requests that were delivered more than once and are not finished.
        #[cfg_attr(feature = "utoipa", schema(example = 0, minimum = 0))]
        redelivered: u64,
    },
    /// There is no stream for it: nothing was sent yet.
    Empty,
    /// It cannot be read now.
    Unknown {
        /// Why.
        #[cfg_attr(
            feature = "utoipa",
            schema(example = "this server has no connection to the message bus now")
        )]
        reason: String,
    },
}

/// A call that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct FailedCall {
    /// The call; its record says more.
    pub call_id: uuid::Uuid,
    /// When it began.
    pub at: DateTime<Utc>,
    /// The tool.
    #[cfg_attr(feature = "utoipa", schema(example = "tell-joke"))]
    pub tool: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
}

/// What becomes of a descriptor that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DescriptorDecision {
    /// The service becomes what was announced.
    Approve,
    /// The service stays as it is.
    Reject,
}

/// Decides about a descriptor that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DecideDescriptor {
    /// The decision.
    pub decision: DescriptorDecision,
    /// The digest of the announcement that was read; another one is refused with 412.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "5f0c9d2b7a6e41d38c1f0a9b8c7d6e5f", max_length = 64)
    )]
    pub digest: String,
}
