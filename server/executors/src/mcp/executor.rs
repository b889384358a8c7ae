//! Tools of MCP servers at the seam to the guards.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::time::Instant;
use toolgate_api::mcp_servers::StoredMcpServer;
use toolgate_core::definition::{Execution, ExecutorKind, ServiceDefinition, ToolDefinition};
use toolgate_core::ids::ProjectId;
use toolgate_core::mcp::Hints;

use super::answer;
use super::call::{self, Call};
use super::connection::Connection;
use super::instance::Instance;
use super::manager::McpServers;
use super::target::{McpTarget, ServerSet};
use crate::executor::{Circumstances, Executor, Key, Planned, Prepared, Reply, Scope};
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::redact::Secrets;

/// Calls tools of MCP servers.
pub struct McpExecutor(pub Arc<McpServers>);

impl Executor for McpExecutor {
    fn kind(&self) -> ExecutorKind {
        ExecutorKind::Mcp
    }

    fn prepare(
        &self,
        definition: &Arc<ToolDefinition>,
        _service: Option<&Arc<ServiceDefinition>>,
    ) -> Result<Box<dyn Prepared>, Failure> {
        let Some(Execution::Mcp(call)) = definition.execution() else {
            return Err(Failure::misconfigured("the definition names no mcp_server"));
        };
        let hints = Hints::of(definition);
        Ok(Box::new(McpTool {
            servers: Arc::clone(&self.0),
            server: call.server.to_owned(),
            label: format!("mcp:{}", call.server),
            tool: call.tool.to_owned(),
            fingerprint: call.fingerprint.map(str::to_owned),
            is_repeatable: hints.idempotent,
            is_task: call.is_task,
        }))
    }
}

struct McpTool {
    servers: Arc<McpServers>,
    server: String,
    label: String,
    tool: String,
    fingerprint: Option<String>,
    is_repeatable: bool,
    is_task: bool,
}

impl McpTool {
    /// The server as the project has it.
    fn server<'s>(
        &self,
        project: &ProjectId,
        servers: Option<&'s Arc<ServerSet>>,
    ) -> Result<&'s Arc<StoredMcpServer>, Failure> {
        servers
            .and_then(|servers| servers.get(&self.server))
            .ok_or_else(|| {
                Failure::misconfigured(format!(
                    "the project has no MCP server {:?}: add it under /projects/{project}/mcp-servers/{}",
                    self.server, self.server
                ))
            })
    }
}

#[async_trait]
impl Prepared for McpTool {
    fn label(&self) -> &str {
        &self.label
    }

    fn host(&self) -> Option<&str> {
        Some(&self.label)
    }

    fn foresee(&self, circumstances: Circumstances<'_>) -> Result<(), Failure> {
        let server = self.server(circumstances.project, circumstances.servers)?;
        circumstances.values.all(circumstances.envs)?;
        let egress = circumstances.egress.map(Arc::as_ref);
        match self
            .servers
            .unavailable_with(server, egress, circumstances.values)
        {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    async fn plan<'a>(
        &'a self,
        call: &mut Invocation,
        scope: Scope<'_>,
    ) -> Result<Box<dyn Planned + 'a>, Failure> {
        let server = self.server(&call.project, call.servers.as_ref())?;
        let target = McpTarget {
            project: call.project.clone(),
            server: Arc::clone(server),
            secrets: call.secrets.clone(),
            egress: call.egress.clone(),
            account: call.account.clone(),
            instance: Instance::of(&server.definition, call),
        };
        if let Some(failure) = self.servers.unavailable(&target) {
            return Err(failure);
        }
        let mut arguments = std::mem::take(&mut call.arguments);
        let secrets = scope.values.inject(&call.envs, &mut arguments)?;
        Ok(Box::new(McpCall {
            connection: self.servers.connection(&target)?,
            servers: &self.servers,
            call: Call {
                tool: self.tool.clone(),
                arguments,
                fingerprint: self.fingerprint.clone(),
                is_repeatable: self.is_repeatable,
                is_task: self.is_task,
                parts: call.parts.take(),
                asker: call.asker.take(),
                log: call.log.take(),
                servers: call.servers.clone(),
            },
            secrets,
        }))
    }
}

struct McpCall<'t> {
    connection: Arc<Connection>,
    servers: &'t McpServers,
    call: Call,
    secrets: Secrets,
}

#[async_trait]
impl Planned for McpCall<'_> {
    fn secrets(&mut self) -> &mut Secrets {
        &mut self.secrets
    }

    fn key(&self) -> Option<Key> {
        let (server, target) = (&self.connection.server, self.connection.target());
        let mut digest = Sha256::new();
        for part in [
            target.account_key(),
            &target.instance.to_string(),
            server.name.as_str(),
            &server.revision.to_string(),
            &self.call.tool,
        ] {
            digest.update(part.len().to_be_bytes());
            digest.update(part);
        }
        digest.update(Value::Object(self.call.arguments.clone()).to_string());
        Some(digest.finalize().into())
    }

    async fn run(&mut self, deadline: Instant) -> Result<Reply, Failure> {
        let answer = call::send(
            &self.connection,
            &self.servers.shared,
            &self.call,
            &mut self.secrets,
            deadline,
        )
        .await?;
        answer::read(answer).map(Reply::from)
    }
}
