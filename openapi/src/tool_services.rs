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

/// What a tool service is stored as: its descriptor without its id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ToolServiceDefinition {
    /// The queue of requests: `persistent://a/b/c`, `non-persistent://a/b/c` or a subject. Absent for a service that only
    /// holds `envs`, which has no `response-queue` either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "non-persistent://tg/demo/request",
            min_length = 1,
            max_length = 512
        )
    )]
    pub request_queue: Option<String>,
    /// The queue of responses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "non-persistent://tg/demo/response",
            min_length = 1,
            max_length = 512
        )
    )]
    pub response_queue: Option<String>,
    /// What its tools may or must set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub config_params: Vec<ToolServiceParam>,
    /// Calls of all its tools that a server may have running at the same time; absent for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = 8, minimum = 1, maximum = 10000))]
    pub max_concurrent: Option<u32>,
    /// Variables and secrets by parameter, for all its tools.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub envs: BTreeMap<String, String>,
}

/// A parameter of a service, which its tools give a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
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
