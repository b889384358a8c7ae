//! What goes into an execution and what comes out of it when it succeeds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use toolgate_api::JsonText;
use toolgate_api::audit::ArgumentLayer;
use toolgate_api::calls::ResultNotes;
use toolgate_api::sessions::CallSession;
use toolgate_core::arguments::TemplateContext;
use toolgate_core::definition::{ServiceDefinition, ToolDefinition};
use toolgate_core::ids::{CallId, ProjectId};
use toolgate_core::principal::PrincipalRef;

use crate::account::Account;
use crate::asking::Asker;
use crate::config::SecretSource;
use crate::egress::Origins;
use crate::exchange::Exchange;
use crate::ledger::Ledger;
use crate::management::Manager;
use crate::mcp::ServerSet;
use crate::upstream_log::UpstreamLog;

/// One admitted call, ready to be executed.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The call, for logs.
    pub call_id: CallId,
    /// The project that the tool belongs to.
    pub project: ProjectId,
    /// Who calls; `None` for what the server does by itself.
    pub caller: Option<PrincipalRef>,
    /// The caller's name, by which upstreams that serve several users tell them apart; empty if the server calls by itself.
    pub user: String,
    /// The session it is made in, as it was when the call was admitted.
    pub session: Option<CallSession>,
    /// Where it comes from: the ids that templates may use and that go on to workers.
    pub context: TemplateContext,
    /// The tool. It is prepared once per `Arc`, so pass the snapshot's own `Arc` instead of a fresh copy.
    pub definition: Arc<ToolDefinition>,
    /// The service that the tool refers to, if it does; the snapshot's own `Arc` too.
    pub service: Option<Arc<ServiceDefinition>>,
    /// Parameter name to environment variable name or `secret:NAME`, with the service's overrides applied.
    pub envs: Arc<BTreeMap<String, String>>,
    /// The secrets of the project; `None` when it has none.
    pub secrets: Option<Arc<dyn SecretSource>>,
    /// The caller's own account, for tools that use one; `None` for all others.
    pub account: Option<Arc<dyn Account>>,
    /// What the project may reach beside the server's list; `None` when that is nothing.
    pub egress: Option<Arc<Origins>>,
    /// The MCP servers of the project; `None` when it has none.
    pub servers: Option<Arc<ServerSet>>,
    /// Executes management tools; `None` for all others.
    pub manager: Option<Arc<dyn Manager>>,
    /// The merged arguments, without environment values.
    pub arguments: Map<String, Value>,
    /// Which layer each argument came from, those from the environment included.
    pub provenance: BTreeMap<String, ArgumentLayer>,
    /// Takes the parts of the answer as they come; `None` when they are not waited for.
    pub parts: Option<Parts>,
    /// Takes the request and the answer of a test; `None` for every other call.
    pub exchange: Option<Exchange>,
    /// Puts questions of the upstream to the caller; `None` when the caller cannot be asked.
    pub asker: Option<Arc<dyn Asker>>,
    /// Takes what the upstream logs during the call; `None` when the caller does not want to see it.
    pub log: Option<UpstreamLog>,
    /// Where the call is noted if its answer may come after this process has ended; `None` when nothing would complete it then.
    pub ledger: Option<Arc<dyn Ledger>>,
    /// The trace that the call belongs to, as headers for the upstream; a definition's own headers win.
    pub trace: HeaderMap,
}

/// Takes the parts of an answer before its end, such as the events of an upstream that streams. A part that finds no room is
/// dropped: the answer has them all.
pub type Parts = mpsc::Sender<Value>;

/// What a successful call returned.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// The tool's result.
    pub result: JsonText,
    /// What the upstream says the call cost, for example `{"tokens": 1200}`.
    pub usage: Option<Value>,
    /// What there is to know about the result besides itself.
    pub notes: Option<Box<ResultNotes>>,
    /// The whole result, when the definition says that what is too large is kept; `result` is a part of it, or null.
    pub artifact: Option<Box<Artifact>>,
}

impl Execution {
    /// The result as it was before it was cut, as far as it was a value at all: of bytes there is none.
    #[must_use]
    pub fn whole(&self) -> Option<Value> {
        match &self.artifact {
            None => Some(self.result.to_value()),
            Some(artifact) => match artifact.kind {
                ArtifactKind::Json => serde_json::from_slice(&artifact.content).ok(),
                ArtifactKind::Text => Some(json!({"text": String::from_utf8_lossy(&artifact.content)})),
                ArtifactKind::Bytes => None,
            },
        }
    }
}

/// A result to be kept whole. Credentials are masked in it as in results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// What it was as a result.
    pub kind: ArtifactKind,
    /// Its media type, which is one.
    pub content_type: String,
    /// What it says.
    pub content: Bytes,
    /// How long it is to be kept.
    pub keep: Duration,
}

/// What an artifact was as a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactKind {
    /// A JSON value, which is its content.
    Json,
    /// A text, which is its content in UTF-8.
    Text,
    /// Bytes, which are its content.
    Bytes,
}
