//! Messages of the bus that could not be handled.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// A message for this project that was neither executed nor answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DeadLetter {
    /// Its number in the stream of dead letters.
    #[cfg_attr(feature = "utoipa", schema(example = 17, minimum = 1))]
    pub id: u64,
    /// When it was given up.
    pub at: DateTime<Utc>,
    /// The subject that it was published to.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "cg.v1r4.demo.main.cmd.tool.toolgate.run")
    )]
    pub subject: String,
    /// Why it was given up.
    #[cfg_attr(feature = "utoipa", schema(example = "the header CG-Tool-Call-Id is missing"))]
    pub reason: String,
    /// How often it was delivered.
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 0))]
    pub deliveries: u64,
    /// The call that it says it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The agent that it says it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Bytes of its payload.
    #[cfg_attr(feature = "utoipa", schema(example = 96, minimum = 0))]
    pub size: u64,
    /// The payload as text; only for readers of payloads. What is no UTF-8 is replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
}

/// A page of dead letters, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DeadLetterPage {
    /// The dead letters. None where no message bus is configured.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<DeadLetter>,
    /// Where the next page begins; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
