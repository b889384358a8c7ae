//! Cards: what a command and its report point at, in the JetStream key-value bucket `cards_{project_id}` (tool development
//! guide, section 1).

use std::collections::BTreeMap;
use std::time::Duration;

use async_nats::jetstream::{self, kv};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolgate_api::tools::AfterExecution;
use toolgate_core::arguments::TemplateContext;
use toolgate_core::ids::ProjectId;

use crate::bus::connection::{Bus, lost};
use crate::failure::Failure;

/// How long a card is kept.
pub const KEPT: Duration = Duration::from_hours(24);

pub(super) const CALL: &str = "tool.call";
pub(super) const RESULT: &str = "tool.result";

/// What a card has, whatever its content.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Card<C> {
    pub(super) card_id: String,
    pub(super) project_id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) content: C,
    #[serde(default)]
    pub(super) created_at: String,
    pub(super) author_id: String,
    #[serde(default)]
    pub(super) metadata: Map<String, Value>,
    #[serde(default)]
    pub(super) tool_call_id: Option<String>,
    #[serde(default)]
    pub(super) ttl_seconds: Option<u64>,
}

/// What a tool is called with.
#[derive(Debug, Serialize)]
pub(super) struct ToolCallContent<'a> {
    pub(super) tool_name: &'a str,
    pub(super) arguments: Map<String, Value>,
    pub(super) status: &'static str,
    pub(super) target_subject: &'a str,
}

/// What came of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolResultContent {
    pub(super) status: Status,
    pub(super) after_execution: AfterExecution,
    #[serde(default)]
    pub(super) result: Value,
    #[serde(default)]
    pub(super) error: Option<ToolError>,
}

/// How a tool ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Success,
    Failed,
    Canceled,
    Timeout,
    Partial,
}

/// Why it did not succeed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ToolError {
    pub(super) code: String,
    pub(super) message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) retryable: Option<bool>,
    /// What else the worker knows: any JSON value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<Value>,
}

/// What the card of a result repeats of the metadata of the call's (tool development guide, section 1): what the call has of it.
pub(super) fn lineage(ids: &TemplateContext) -> BTreeMap<String, String> {
    let named = [
        ("step_id", &ids.step_id),
        ("trace_id", &ids.trace_id),
        ("parent_step_id", &ids.parent_step_id),
    ];
    let present = named
        .into_iter()
        .filter_map(|(name, id)| Some((name.to_owned(), id.clone()?)));
    present.collect()
}

/// How long a card is kept, as cards say it.
pub(super) fn ttl_seconds() -> u64 {
    KEPT.as_secs()
}

/// The cards of a project; the bucket is made if there is none. [`Bus::bucket`] remembers it.
pub(in crate::bus) async fn make_bucket(bus: &Bus, project: &ProjectId) -> Result<kv::Store, Failure> {
    let context = jetstream::new(bus.client.clone());
    let name = format!("cards_{project}");
    if let Ok(store) = context.get_key_value(&name).await {
        return Ok(store);
    }
    let config = kv::Config {
        bucket: name,
        history: 1,
        max_age: KEPT,
        ..kv::Config::default()
    };
    context
        .create_key_value(config)
        .await
        .map_err(|error| lost(&error))
}
