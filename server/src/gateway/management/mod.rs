//! What management tools do: they look at the MCP servers of their caller's project (`services`), call the servers' tools
//! (`invoke`), and register and remove servers (`registration`). Nothing here is decided for them: the management tool was
//! admitted like any other, and what it calls is admitted again.

mod invoke;
mod registration;
mod services;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Map;
use toolgate_api::calls::{CallContext, CallRequest};
use toolgate_api::mcp_servers::StoredMcpServer;
use toolgate_api::{ErrorCode, JsonText};
use toolgate_core::definition::{Execution, McpCall};
use toolgate_core::management::{Request, meant, unknown};
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::snapshot::{Availability, CompiledTool};
use toolgate_executors::{Failure, Manager};

use crate::gateway::entry::Entry;
use crate::gateway::problem::in_words;
use crate::gateway::{Gateway, Problem, load};

/// The gateway as one call of a management tool works with it.
pub struct ProjectManager {
    gateway: Arc<Gateway>,
    entry: Arc<Entry>,
    /// Where the call is made: its groups, its state or session, and its context. The tools that it calls are called there.
    place: CallRequest,
    /// The requested groups, those of the session included.
    groups: Vec<String>,
    /// The state that it was decided against.
    state: String,
    /// The context that conditions on groups were evaluated with.
    context: Option<CallContext>,
}

impl ProjectManager {
    /// For a call that was admitted: requested groups, state and context are those that it was decided by.
    pub fn new(
        gateway: &Arc<Gateway>,
        entry: &Arc<Entry>,
        request: &CallRequest,
        (groups, state): (Vec<String>, String),
        context: Option<CallContext>,
    ) -> Self {
        Self {
            gateway: Arc::clone(gateway),
            entry: Arc::clone(entry),
            place: CallRequest {
                tool: String::new(),
                arguments: Map::new(),
                ..request.clone()
            },
            groups,
            state,
            context,
        }
    }

    /// What the caller can call now; `None` if its groups were revoked meanwhile.
    fn available(&self) -> Option<Arc<Availability>> {
        let project = &self.entry.project;
        let principal = &self.entry.caller.identity.principal;
        let now = self.gateway.clock.now();
        let evaluation = load::evaluation(project, now, principal, self.context.as_ref());
        let granted: &GroupSet = &self.entry.grant.groups;
        let available = project
            .snapshot
            .resolve(granted, Some(&self.groups), Some(&self.state), &evaluation);
        available.ok()
    }

    /// The server that a name means.
    fn server(&self, name: &str) -> Result<&Arc<StoredMcpServer>, Failure> {
        let servers = &self.entry.project.mcp_servers;
        let names = || servers.iter().map(|server| server.name.as_str());
        meant(name, names())
            .and_then(|name| servers.get(name))
            .ok_or_else(|| Failure::new(ErrorCode::NotFound, unknown("MCP server", name, names())))
    }
}

/// What a tool calls, if it is one of a server.
fn of_server<'t>(tool: &'t CompiledTool, server: &str) -> Option<McpCall<'t>> {
    match tool.definition.execution() {
        Some(Execution::Mcp(call)) if call.server == server => Some(call),
        _ => None,
    }
}

#[async_trait]
impl Manager for ProjectManager {
    async fn manage(&self, request: Request) -> Result<JsonText, Failure> {
        match request {
            Request::ListServices => Ok(self.list()),
            Request::GetServiceDetails { server, tool } => self.details(&server, tool.as_deref()),
            Request::InvokeTool {
                server,
                tool,
                arguments,
            } => Box::pin(self.invoke(&server, &tool, arguments)).await,
            Request::RegisterServer(server) => Box::pin(self.register(server)).await,
            Request::UnregisterServer { server } => Box::pin(self.unregister(&server)).await,
        }
    }
}

/// A problem as the failure of the tool that met it, with every fault in its words.
fn failure(problem: Problem) -> Failure {
    let retry_after_s = problem.retry_after_s();
    let body = problem.into_body("");
    let mut message = body.detail;
    for fault in &body.errors {
        message.push_str("\n- ");
        message.push_str(&in_words(fault));
    }
    if let Some(id) = body.call_id {
        message.push_str(&of_call(id));
    }
    Failure {
        code: match body.code {
            ErrorCode::InvalidRequest => ErrorCode::InvalidArguments,
            code => code,
        },
        message,
        retryable: body.retryable,
        retry_after_s,
        upstream_status: body.upstream_status,
        upstream_message: body.upstream_message,
        upstream_answer: body.upstream_answer,
        remedy: body.remedy,
    }
}

/// Names the record of the call that a failure is about.
fn of_call(id: uuid::Uuid) -> String {
    format!("\nThe record of the invoked call is {id}.")
}
