//! The MCP servers of a project: what is stored of them (`change`), how their connections are (`read`), what keeps the
//! connections as the projects say (`background`), and what they offer to callers beside tools (`offers`). Their tools come by `gateway/imports`.

pub mod background;
pub mod change;
pub mod offers;
pub mod read;

use std::sync::Arc;

use toolgate_api::mcp_servers::{McpInstance, StoredMcpServer};
use toolgate_core::definition::{Execution, ToolDefinition};
use toolgate_executors::{Instance, McpTarget, ServerSet};
use toolgate_store::rows::Revised;

use super::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// The servers of a project, made ready.
#[derive(Debug, Clone, Default)]
pub struct LoadedMcpServers {
    /// The revision of all of them together; 0 while there was never one.
    pub revision: i64,
    set: Option<Arc<ServerSet>>,
}

impl LoadedMcpServers {
    /// As they are stored.
    #[must_use]
    pub fn new(stored: Revised<Vec<StoredMcpServer>>) -> Self {
        Self {
            revision: stored.revision,
            set: (!stored.value.is_empty()).then(|| Arc::new(ServerSet::new(stored.value))),
        }
    }

    /// For a call; `None` when there are none.
    #[must_use]
    pub fn set(&self) -> Option<&Arc<ServerSet>> {
        self.set.as_ref()
    }

    /// A server by its name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<StoredMcpServer>> {
        self.set.as_ref()?.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<StoredMcpServer>> {
        self.set.iter().flat_map(|set| set.iter())
    }
}

/// A server with what it is reached with.
#[must_use]
pub fn target(gateway: &Gateway, project: &ProjectState, server: &Arc<StoredMcpServer>) -> McpTarget {
    McpTarget {
        project: project.row.id.clone(),
        server: Arc::clone(server),
        secrets: (!project.secrets.is_empty()).then(|| project.secrets.source(gateway.clock.now())),
        egress: project.egress.origins(),
        account: None,
        instance: Instance::Shared,
    }
}

/// Whether a tool's server keeps the calls of each session apart, so that a session is worth having.
#[must_use]
pub fn keeps_sessions_apart(project: &ProjectState, tool: &ToolDefinition) -> bool {
    let Some(Execution::Mcp(call)) = tool.execution() else {
        return false;
    };
    let server = project.mcp_servers.get(call.server);
    server.is_some_and(|server| server.definition.instance == McpInstance::Session)
}

/// A server of a project, ready to be reached.
///
/// # Errors
/// 404 without one.
pub fn find(gateway: &Gateway, project: &ProjectState, name: &str) -> Result<McpTarget, Problem> {
    let server = project.mcp_servers.get(name).ok_or_else(|| not_found(name))?;
    Ok(target(gateway, project, server))
}

/// There is no such server.
#[must_use]
pub fn not_found(name: &str) -> Problem {
    let shown: String = name.chars().take(64).collect();
    Problem::not_found(format!("MCP server \"{shown}\""))
}
