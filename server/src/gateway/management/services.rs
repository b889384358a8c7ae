//! `mcp_list_services` and `mcp_get_service_details`: the servers, and of their tools those that the caller can call.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_api::mcp_servers::StoredMcpServer;
use toolgate_api::{ErrorCode, JsonText};
use toolgate_core::management::{meant, unknown};
use toolgate_core::snapshot::CompiledTool;
use toolgate_executors::Failure;

use super::{ProjectManager, of_server};
use crate::gateway::mcp_servers::target;

impl ProjectManager {
    /// Every server, with the names of the tools that the caller can call now.
    pub(super) fn list(&self) -> JsonText {
        let servers = self.entry.project.mcp_servers.iter();
        let services: Vec<Value> = servers
            .map(|server| {
                let tools = self.tools_of(server);
                let mut service = self.described(server);
                service["tool_count"] = tools.len().into();
                service["tool_names"] = tools.iter().map(|tool| tool.name()).collect();
                service
            })
            .collect();
        JsonText::from(&json!({"services": services}))
    }

    /// The tools of a server that the caller can call now, or one of them.
    pub(super) fn details(&self, server: &str, tool: Option<&str>) -> Result<JsonText, Failure> {
        let server = self.server(server)?;
        let mut tools = self.tools_of(server);
        if let Some(name) = tool {
            let found = self.named(server, &tools, name)?;
            tools = vec![found];
        }
        let described: Vec<Value> = tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name(),
                    "description": tool.definition.description,
                    "parameters_schema": tool.read_shown_parameters(),
                })
            })
            .collect();
        let mut service = self.described(server);
        service["tools"] = described.into();
        Ok(JsonText::from(&service))
    }

    fn described(&self, server: &Arc<StoredMcpServer>) -> Value {
        let target = target(&self.gateway, &self.entry.project, server);
        let mut service = json!({
            "server_name": server.name,
            "description": server.definition.description.as_deref().unwrap_or_default(),
            "state": self.gateway.executors.mcp().status(&target).state,
        });
        if server.awaits_approval {
            service["awaits_approval"] = true.into();
        }
        service
    }

    /// The tools of a server that the caller can call now, by name.
    pub(super) fn tools_of(&self, server: &StoredMcpServer) -> Vec<Arc<CompiledTool>> {
        let Some(available) = self.available() else {
            return Vec::new();
        };
        let tools = available.tools();
        tools
            .filter(|tool| of_server(tool, &server.name).is_some())
            .cloned()
            .collect()
    }

    /// The one of these tools of a server that a name means: its own, or the one that it has at the server.
    pub(super) fn named(
        &self,
        server: &StoredMcpServer,
        tools: &[Arc<CompiledTool>],
        name: &str,
    ) -> Result<Arc<CompiledTool>, Failure> {
        let own = || tools.iter().map(|tool| tool.name());
        let there = |tool: &CompiledTool| of_server(tool, &server.name).map(|call| call.tool.to_owned());
        let by_own = meant(name, own());
        let found = by_own.and_then(|name| tools.iter().find(|tool| tool.name() == name));
        let found = found.or_else(|| {
            let names: Vec<String> = tools.iter().filter_map(|tool| there(tool)).collect();
            let meant = meant(name, names.iter().map(String::as_str))?;
            tools.iter().find(|tool| there(tool).as_deref() == Some(meant))
        });
        found.cloned().ok_or_else(|| {
            let what = format!(
                "tool that you can call now of the MCP server {:?} named",
                server.name
            );
            Failure::new(ErrorCode::ToolNotFound, unknown(&what, name, own()))
        })
    }
}
