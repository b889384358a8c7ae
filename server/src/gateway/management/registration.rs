//! `mcp_register_server` and `mcp_unregister_server`: the operations of `/projects/{project_id}/mcp-servers`, with the
//! permission that they need.

use serde_json::json;
use toolgate_api::mcp_servers::McpServerDefinition;
use toolgate_api::{ErrorCode, JsonText};
use toolgate_core::management::NewServer;
use toolgate_core::principal::Permission;
use toolgate_executors::Failure;

use super::{ProjectManager, failure, of_server};
use crate::gateway::Problem;
use crate::gateway::mcp_servers::change::{Change, Changes, apply};
use crate::gateway::mcp_servers::{background, find, read};

/// The permission to change the MCP servers of a project.
const NEED: Permission = Permission::ManagePolicy;

impl ProjectManager {
    /// The role must allow what the tool does: a grant of the tool alone is not enough.
    fn permitted(&self) -> Result<(), Failure> {
        if self.entry.may(NEED) {
            return Ok(());
        }
        Err(Failure::new(
            ErrorCode::Forbidden,
            "your role does not allow changes of MCP servers: this tool needs the permission to manage the project beside \
             the grant of its group",
        ))
    }

    /// Adds a server. It waits for approval unless the project trusts registrations.
    pub(super) async fn register(&self, new: NewServer) -> Result<JsonText, Failure> {
        self.permitted()?;
        let project = &self.entry.project;
        let name = new.server_name.to_lowercase();
        let definition = McpServerDefinition {
            command: new.command,
            args: new.arguments.unwrap_or_default(),
            url: new.url,
            description: new.description,
            enabled: true,
            ..McpServerDefinition::default()
        };
        let trusted = project.settings.trust_registrations;
        let change = match trusted {
            true => Change::Put(definition),
            false => Change::Propose(definition),
        };
        let changes = Changes::from([(name.clone(), change)]);
        let is_new = |name: &str, revision: Option<i64>| match revision {
            None => Ok(()),
            Some(_) => Err(Problem::new(
                ErrorCode::Conflict,
                format!(
                    "The project has an MCP server {name:?} already; it was not replaced. Choose another name."
                ),
            )),
        };
        let requester = self.entry.requester();
        apply(&self.gateway, &project.row.id, &requester, &changes, is_new)
            .await
            .map_err(failure)?;
        let snapshot = self.gateway.snapshots.now();
        let project = snapshot.project(project.row.id.as_str()).unwrap_or(project);
        let (status, message) = if trusted {
            background::connect_to(&self.gateway, project, &name);
            (
                "registered",
                "The server is connected to. An administrator imports and enables its tools.",
            )
        } else {
            (
                "waiting_for_approval",
                "An administrator has to approve the server before it is connected to.",
            )
        };
        let warnings = match find(&self.gateway, project, &name) {
            Ok(target) if trusted => read::warnings(&self.gateway, &target),
            _ => Vec::new(),
        };
        let warnings: Vec<&String> = warnings.iter().map(|warning| &warning.message).collect();
        let answer = json!({"server_name": name, "status": status, "message": message, "warnings": warnings});
        Ok(JsonText::from(&answer))
    }

    /// Removes a server. Its tools stay in the project, and calls of them are refused.
    pub(super) async fn unregister(&self, name: &str) -> Result<JsonText, Failure> {
        self.permitted()?;
        let project = &self.entry.project;
        let name = self.server(name)?.name.clone();
        let changes = Changes::from([(name.clone(), Change::Remove)]);
        let requester = self.entry.requester();
        let whatever = |_: &str, _: Option<i64>| Ok(());
        apply(&self.gateway, &project.row.id, &requester, &changes, whatever)
            .await
            .map_err(failure)?;
        background::close_unwanted(&self.gateway);
        let tools = project.snapshot.tools().iter();
        let tools = tools.filter(|tool| of_server(tool, &name).is_some()).count();
        let answer = json!({
            "server_name": name,
            "status": "unregistered",
            "tool_count": tools,
            "message": "The connection has ended. Calls of the server's tools are refused; an administrator deletes them.",
        });
        Ok(JsonText::from(&answer))
    }
}
