//! What goes into an execution and what comes out of it when it succeeds.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::HeaderMap;
use serde_json::{Map, Value};
use toolgate_api::JsonText;
use toolgate_core::definition::model::ToolDefinition;
use toolgate_core::ids::{CallId, ProjectId};

use crate::config::SecretSource;
use crate::egress::Origins;

/// One admitted call, ready to be executed.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The call, for logs.
    pub call_id: CallId,
    /// The project that the tool belongs to.
    pub project: ProjectId,
    /// The tool. Templates are prepared once per `Arc`, so pass the snapshot's own `Arc` instead of a fresh copy.
    pub definition: Arc<ToolDefinition>,
    /// Parameter name to environment variable name or `secret:NAME`, with the service's overrides applied.
    pub envs: Arc<BTreeMap<String, String>>,
    /// The secrets of the project; `None` when it has none.
    pub secrets: Option<Arc<dyn SecretSource>>,
    /// What the project may reach beside the server's list; `None` when that is nothing.
    pub egress: Option<Arc<Origins>>,
    /// The merged arguments, without environment values.
    pub arguments: Map<String, Value>,
    /// The trace that the call belongs to, as headers for the upstream; a definition's own headers win.
    pub trace: HeaderMap,
}

/// What a successful call returned.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// The tool's result.
    pub result: JsonText,
    /// What the upstream says the call cost, for example `{"tokens": 1200}`.
    pub usage: Option<Value>,
}
