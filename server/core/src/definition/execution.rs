//! How a definition is executed, or why it is not.

use thiserror::Error;

use super::http_model::HttpOptions;
use super::model::{JinaOptions, ToolDefinition};

/// What executes a tool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Execution<'d> {
    /// The request of `options.http`.
    Http(&'d HttpOptions),
    /// The request of `options.jina`.
    Jina(&'d JinaOptions),
}

/// Nothing executes a tool.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("nothing executes tools of type {kind:?} here: {missing}")]
pub struct NotExecuted {
    /// The type of the tool.
    pub kind: String,
    /// What this server would need.
    pub missing: &'static str,
}

/// How it becomes executable, for its author.
pub(super) const HINT: &str = "write type: openapi with options.http or options.jina to send the request from here; until then every call is refused";

impl ToolDefinition {
    /// How the tool is executed.
    ///
    /// # Errors
    /// What is missing. Such a tool may be stored; it is offered to nobody, and calls are refused.
    pub fn execution(&self) -> Result<Execution<'_>, NotExecuted> {
        match (&self.options.jina, &self.options.http) {
            (Some(jina), _) => Ok(Execution::Jina(jina)),
            (None, Some(http)) => Ok(Execution::Http(http)),
            (None, None) => Err(NotExecuted {
                kind: self.kind.clone(),
                missing: missing(&self.kind),
            }),
        }
    }
}

fn missing(kind: &str) -> &'static str {
    match kind {
        "openapi" => "the definition has neither options.http nor options.jina",
        "worker" | "tool-service" => "this server is connected to no message bus",
        "mcp-tool" => "this server is connected to no MCP server",
        _ => "this server has no executor for this type",
    }
}
