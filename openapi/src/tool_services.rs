//! Tool services of a project: programs behind a message bus.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A tool service, with the keys of its descriptor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub struct ToolService {
    /// Its id.
    #[cfg_attr(feature = "utoipa", schema(example = "joke-service"))]
    pub id: String,
    /// The queue of requests; absent for a service that only holds `envs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "non-persistent://tg/request/joke"))]
    pub request_queue: Option<String>,
    /// The queue of responses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "non-persistent://tg/response/joke"))]
    pub response_queue: Option<String>,
    /// What its tools may or must set.
    pub config_params: Vec<ToolServiceParam>,
    /// Calls of all its tools that a server may have running at the same time; absent for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_concurrent: Option<u32>,
    /// Variables and secrets by parameter, for all its tools.
    pub envs: BTreeMap<String, String>,
    /// Counts its changes.
    pub revision: i64,
    /// Names of the tools that use it, sorted; at most 1000 of them.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["tell-joke"]), max_items = 1000))]
    pub tools: Vec<String>,
}

/// A parameter of a service, which its tools give a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ToolServiceParam {
    /// Its name.
    #[cfg_attr(feature = "utoipa", schema(example = "style"))]
    pub name: String,
    /// Whether every tool must set it.
    pub required: bool,
}

/// A page of tool services, by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct ToolServicePage {
    /// The services.
    #[cfg_attr(feature = "utoipa", schema(max_items = 200))]
    pub items: Vec<ToolService>,
    /// Where the next page begins; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
