//! What goes into an execution and what comes out of it when it succeeds.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolgate_core::definition::model::ToolDefinition;
use toolgate_core::ids::{CallId, ProjectId};

/// One admitted call, ready to be executed.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The call, for logs.
    pub call_id: CallId,
    /// The project that the tool belongs to.
    pub project: ProjectId,
    /// The tool. Templates are prepared once per `Arc`, so pass the snapshot's own `Arc` instead of a fresh copy.
    pub definition: Arc<ToolDefinition>,
    /// Parameter name to environment variable name, with the service's overrides applied.
    pub envs: Arc<BTreeMap<String, String>>,
    /// The merged arguments, without environment values.
    pub arguments: Map<String, Value>,
}

/// What a successful call returned.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// The tool's result.
    pub result: Value,
    /// What the upstream says the call cost, for example `{"tokens": 1200}`.
    pub usage: Option<Value>,
}
