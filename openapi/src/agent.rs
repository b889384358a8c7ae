//! Questions to an agent, together with the tools it may use (tool group specification, sections 2.2 and 4).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::calls::CallContext;

/// How tools are described to a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolFormat {
    /// `{"type": "function", "function": {"name", "description", "parameters"}}`.
    Openai,
    /// `{"name", "description", "input_schema"}`.
    Anthropic,
    /// `{"name", "description", "inputSchema"}`.
    #[default]
    Mcp,
}

/// A question, and what the agent may use to answer it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AgentRequest {
    /// The question, 1-32768 characters.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "What entities are connected to Company X?",
            min_length = 1,
            max_length = 32768
        )
    )]
    pub question: String,
    /// The workflow state. Absent, null or `""` is the state `undefined`. Not together with `session_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "undefined", max_length = 128))]
    pub state: Option<String>,
    /// A session of the caller, whose state and groups are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
    /// The steps so far, oldest first; at most 1000. They are passed on, and answered, as they came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Vec<AgentStep>>, max_items = 1000))]
    pub history: Option<Vec<Map<String, Value>>>,
    /// The requested groups. Absent or null asks for `["default"]`, or for those of the session; `[]` asks for nothing;
    /// `*` for every group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = json!(["read-only", "knowledge"]), max_items = 1000))]
    pub group: Option<Vec<String>>,
    /// Where the question comes from; conditions on groups may use it. In a session it is laid over the session's.
    #[serde(
        default,
        deserialize_with = "crate::calls::object",
        skip_serializing_if = "Option::is_none"
    )]
    pub context: Option<CallContext>,
}

/// One step of an agent. Members beside these are allowed, and all are kept as they came.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AgentStep {
    /// What the agent thought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "I should look up Company X."))]
    pub thought: Option<String>,
    /// The tool it chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "knowledge-query"))]
    pub action: Option<String>,
    /// What it gave the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Object>, example = json!({"question": "Company X"})))]
    pub arguments: Option<Map<String, Value>>,
    /// What came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(example = "Company X owns Company Y."))]
    pub observation: Option<String>,
}

/// The session that an agent request was decided on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AgentSession {
    /// The session.
    pub id: Uuid,
    /// Its version.
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 1))]
    pub version: i64,
}

/// The answer where the project has no agent endpoint: what an agent needs to go on by itself.
///
/// Where there is an endpoint, this very object with the question in it is what the endpoint is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct AgentToolSet {
    /// The request's record.
    pub id: Uuid,
    /// The project.
    #[cfg_attr(feature = "utoipa", schema(example = "demo"))]
    pub project: String,
    /// The question, as it came.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "What entities are connected to Company X?")
    )]
    pub question: String,
    /// The state that was decided against.
    #[cfg_attr(feature = "utoipa", schema(example = "undefined"))]
    pub state: String,
    /// The session, if the request named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<AgentSession>,
    /// The steps so far, as they came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<Vec<AgentStep>>, max_items = 1000))]
    pub history: Option<Vec<Map<String, Value>>>,
    /// The groups as they were given, or those of the session; absent when none were, which is not the same as `[]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(max_items = 1000))]
    pub group: Option<Vec<String>>,
    /// Where the question comes from, as it came: calls of the tools that say the same are decided alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<CallContext>,
    /// The requested groups after the default was applied.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["knowledge", "read-only"]), max_items = 1000))]
    pub requested_groups: Vec<String>,
    /// How the tools are described.
    pub format: ToolFormat,
    /// The tools that can be called now, by name, at most 1000.
    #[cfg_attr(feature = "utoipa", schema(value_type = Vec<Object>, max_items = 1000))]
    pub tools: Vec<Value>,
    /// For names that the format does not allow: the name in `tools` to the one to call.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "utoipa", schema(example = json!({"web_search_1f0a3c5e": "web.search"})))]
    pub tool_names: BTreeMap<String, String>,
    /// How many can be called now; more than there are in `tools` when there are too many for one request.
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 0))]
    pub available: u64,
    /// How many tools are in none of the requested groups.
    #[cfg_attr(feature = "utoipa", schema(example = 2, minimum = 0))]
    pub filtered_by_group: u64,
    /// How many tools of the requested groups are closed in this state.
    #[cfg_attr(feature = "utoipa", schema(example = 1, minimum = 0))]
    pub filtered_by_state: u64,
    /// How many tools have all their requested groups closed by a condition.
    #[cfg_attr(feature = "utoipa", schema(example = 0, minimum = 0))]
    pub filtered_by_condition: u64,
}
