//! What executes a definition: the one place that reads its type, options, service and subject for that.

use std::fmt;

use thiserror::Error;

use super::kinds;
use super::model::{HttpAuth, HttpOptions, HttpProbe};
use super::model::{JinaOptions, StaticOptions, ToolDefinition};
use crate::management::Operation;

/// What may execute tools. The type that a definition names is free text; this is the closed set behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExecutorKind {
    /// The Jina preset (`options.jina`).
    Jina,
    /// A general HTTP request (`options.http`).
    Http,
    /// The answer of `options.static`.
    Static,
    /// A worker on the bus (`target_subject`).
    Bus,
    /// A tool service (`service`).
    Service,
    /// A tool of an MCP server.
    Mcp,
    /// A management tool, which the gateway executes itself.
    Management,
    /// Types without an executor.
    Other,
}

impl ExecutorKind {
    /// Every kind, in the order of their declaration.
    pub const ALL: [Self; 8] = [
        Self::Jina,
        Self::Http,
        Self::Static,
        Self::Bus,
        Self::Service,
        Self::Mcp,
        Self::Management,
        Self::Other,
    ];

    /// Its name, as metrics and the API spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Jina => "jina",
            Self::Http => "http",
            Self::Static => "static",
            Self::Bus => "bus",
            Self::Service => "service",
            Self::Mcp => "mcp",
            Self::Management => "management",
            Self::Other => "other",
        }
    }

    /// What a server without an executor of this kind lacks.
    #[must_use]
    pub const fn missing(self) -> &'static str {
        match self {
            Self::Jina | Self::Http => "this server sends no HTTP requests",
            Self::Static => "this server gives no static answers",
            Self::Bus | Self::Service => {
                "this server is connected to no message bus: the operator sets TOOLGATE_NATS_URL"
            }
            Self::Mcp => "this server connects to no MCP server",
            Self::Management => "this server has no management tools",
            Self::Other => "this server has no executor for this type",
        }
    }

    /// Whether an answer to its calls may come after the server that sent them has stopped, and be received by another.
    #[must_use]
    pub const fn defers(self) -> bool {
        matches!(self, Self::Bus)
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for ExecutorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The kinds that a server executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExecutorSet(u16);

impl ExecutorSet {
    /// What every server executes, without any configuration.
    pub const BUILT_IN: Self = Self(0)
        .with(ExecutorKind::Jina)
        .with(ExecutorKind::Http)
        .with(ExecutorKind::Static)
        .with(ExecutorKind::Management);

    /// This set and one more kind.
    #[must_use]
    pub const fn with(self, kind: ExecutorKind) -> Self {
        Self(self.0 | kind.bit())
    }

    /// Whether a kind is in it.
    #[must_use]
    pub const fn contains(self, kind: ExecutorKind) -> bool {
        self.0 & kind.bit() != 0
    }
}

impl FromIterator<ExecutorKind> for ExecutorSet {
    fn from_iter<I: IntoIterator<Item = ExecutorKind>>(kinds: I) -> Self {
        kinds.into_iter().fold(Self(0), Self::with)
    }
}

/// How a tool is executed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Execution<'d> {
    /// The request of `options.http`.
    Http(&'d HttpOptions),
    /// The request of `options.jina`.
    Jina(&'d JinaOptions),
    /// The answer of `options.static`.
    Static(&'d StaticOptions),
    /// A message to the worker behind a subject.
    Bus {
        /// The subject.
        subject: &'d str,
    },
    /// A request to a tool service.
    Service {
        /// The id of the service.
        id: &'d str,
    },
    /// A call of an MCP server's tool.
    Mcp(McpCall<'d>),
    /// What the gateway does itself.
    Management(Operation),
}

/// What a definition says of a tool of an MCP server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct McpCall<'d> {
    /// The name of the server in the project.
    pub server: &'d str,
    /// The name that the tool has there.
    pub tool: &'d str,
    /// What the server says it does to its environment.
    pub annotations: Option<&'d serde_json::Value>,
    /// The digest of what the server said of it when it was approved.
    pub fingerprint: Option<&'d str>,
    /// Whether its server runs it as a task only.
    pub is_task: bool,
    /// Its icons (MCP, `Icon`).
    pub icons: Option<&'d serde_json::Value>,
    /// The members of its `_meta` that are about its view (MCP Apps).
    pub meta: Option<&'d serde_json::Map<String, serde_json::Value>>,
}

/// Where a definition says that requests go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Destination<'d> {
    /// Where in the definition, as a JSON pointer.
    pub pointer: &'static str,
    /// The address.
    pub base_url: &'d str,
}

impl<'d> Execution<'d> {
    /// What executes it.
    #[must_use]
    pub fn kind(self) -> ExecutorKind {
        match self {
            Self::Http(_) => ExecutorKind::Http,
            Self::Jina(_) => ExecutorKind::Jina,
            Self::Static(_) => ExecutorKind::Static,
            Self::Bus { .. } => ExecutorKind::Bus,
            Self::Service { .. } => ExecutorKind::Service,
            Self::Mcp(_) => ExecutorKind::Mcp,
            Self::Management(_) => ExecutorKind::Management,
        }
    }

    /// Where its requests go, if the definition names an address itself.
    #[must_use]
    pub fn destination(self) -> Option<Destination<'d>> {
        let (pointer, base_url) = match self {
            Self::Http(http) => ("/options/http/base_url", http.base_url.as_str()),
            Self::Jina(jina) => ("/options/jina/base_url", jina.base_url.as_deref()?),
            Self::Static(_)
            | Self::Bus { .. }
            | Self::Service { .. }
            | Self::Mcp(_)
            | Self::Management(_) => return None,
        };
        Some(Destination { pointer, base_url })
    }

    /// The environment variables and secrets with which it presents itself to its upstream. Those that become arguments
    /// (`options.envs`) are not among them.
    pub fn value_sources(self) -> impl Iterator<Item = &'d str> {
        let (jina, http) = match self {
            Self::Jina(jina) => (jina.auth_env.as_deref(), None),
            Self::Http(http) => (None, http.auth.as_deref()),
            Self::Static(_)
            | Self::Bus { .. }
            | Self::Service { .. }
            | Self::Mcp(_)
            | Self::Management(_) => (None, None),
        };
        jina.into_iter()
            .chain(http.into_iter().flat_map(HttpAuth::sources))
    }

    /// The probe that asks whether its upstream is healthy, if the definition has one.
    #[must_use]
    pub fn probe(self) -> Option<&'d HttpProbe> {
        match self {
            Self::Http(http) => http.probe.as_deref(),
            Self::Jina(_)
            | Self::Static(_)
            | Self::Bus { .. }
            | Self::Service { .. }
            | Self::Mcp(_)
            | Self::Management(_) => None,
        }
    }
}

/// How a tool that nothing executes becomes executable, for its author.
pub(super) const HINT: &str = "write type: openapi with options.http or options.jina to send the request from here, or type: static with options.static to answer from the definition; until then every call is refused";

/// Nothing executes a tool.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("nothing executes tools of type {kind:?} here: {missing}")]
pub struct NotExecuted {
    /// The type of the tool.
    pub kind: String,
    /// What this server would need.
    pub missing: &'static str,
}

impl ToolDefinition {
    /// How the tool is executed, by whatever server has an executor for that; `None` when no server has.
    #[must_use]
    pub fn execution(&self) -> Option<Execution<'_>> {
        let options = &self.options;
        if let Some(jina) = &options.jina {
            return Some(Execution::Jina(jina));
        }
        if let Some(http) = &options.http {
            return Some(Execution::Http(http));
        }
        if let Some(answer) = &options.static_answer {
            return Some(Execution::Static(answer));
        }
        match self.kind.as_str() {
            kinds::TOOL_SERVICE => {
                let id = self.service.as_deref()?;
                Some(Execution::Service { id })
            }
            kinds::mcp::NAME | kinds::mcp::FORMER_NAME => {
                let text = |key: &str| self.config.get(key).and_then(serde_json::Value::as_str);
                Some(Execution::Mcp(McpCall {
                    server: text(kinds::mcp::SERVER)?,
                    tool: text(kinds::mcp::TOOL_ID).unwrap_or(self.name.as_str()),
                    annotations: self.config.get(kinds::mcp::ANNOTATIONS),
                    fingerprint: text(kinds::mcp::FINGERPRINT),
                    is_task: text(kinds::mcp::TASK_SUPPORT) == Some("required"),
                    icons: self.config.get(kinds::mcp::ICONS),
                    meta: self
                        .config
                        .get(kinds::mcp::META)
                        .and_then(serde_json::Value::as_object),
                }))
            }
            kinds::management::NAME => {
                let operation = self.config.get(kinds::management::OPERATION)?;
                Some(Execution::Management(Operation::parse(operation.as_str()?)?))
            }
            _ => {
                let subject = self.target_subject.as_deref()?;
                Some(Execution::Bus { subject })
            }
        }
    }

    /// Where the tool comes from, if that is a server that the project names.
    #[must_use]
    pub fn source(&self) -> Option<String> {
        match self.execution() {
            Some(Execution::Mcp(call)) => Some(format!("mcp:{}", call.server)),
            _ => None,
        }
    }

    /// Whether a call of it is a call of another tool too (`mcp_invoke_tool`).
    #[must_use]
    pub fn invokes(&self) -> bool {
        self.execution() == Some(Execution::Management(Operation::InvokeTool))
    }

    /// What executes the tool.
    #[must_use]
    pub fn executor_kind(&self) -> ExecutorKind {
        self.execution().map_or(ExecutorKind::Other, Execution::kind)
    }

    /// How a server that executes these kinds executes the tool.
    ///
    /// # Errors
    /// What is missing. Such a tool may be stored; it is not offered to callers, and calls are refused.
    pub fn executed_by(&self, executes: ExecutorSet) -> Result<Execution<'_>, NotExecuted> {
        let missing = match self.execution() {
            Some(execution) if executes.contains(execution.kind()) => return Ok(execution),
            Some(execution) => execution.kind().missing(),
            None => kinds::incomplete(&self.kind),
        };
        Err(NotExecuted {
            kind: self.kind.clone(),
            missing,
        })
    }
}
