//! The MCP servers of projects: how this server's connection to each is, and what its last error was.

use std::sync::Arc;

use chrono::TimeDelta;
use toolgate_api::mcp_servers::{McpConnectionError, McpConnectionState, StoredMcpServer};
use toolgate_api::status::{StatusCheck, StatusLevel};

use super::{WithFix, ok};
use crate::gateway::Gateway;
use crate::gateway::mcp_servers::{read, target};
use crate::gateway::server_snapshot::ProjectState;

/// How long an error is worth a look when the server is not failing any more.
const RECENT: TimeDelta = TimeDelta::hours(1);
/// Characters of an error's message.
const SAID: usize = 300;

/// The enabled servers of a project, each with its connection.
pub(super) fn checks(gateway: &Gateway, project: &ProjectState) -> Vec<StatusCheck> {
    let enabled = |server: &&Arc<StoredMcpServer>| server.definition.enabled && !server.awaits_approval;
    let servers = project.mcp_servers.iter().filter(enabled);
    servers
        .map(|server| {
            let (id, name) = (&project.row.id, &server.name);
            let target = target(gateway, project, server);
            let connection = read::connection(gateway, &target);
            let which = format!("The MCP server \"{name}\" of \"{id}\"");
            let check = |summary: String| ok(format!("mcp_server:{id}:{name}"), "MCP server", summary);
            let error = connection.last_error.as_ref();
            let last = error.map(|error| said(gateway, error)).unwrap_or_default();
            let fix = format!(
                "Test the connection (POST /projects/{id}/mcp-servers/{name}/test), and look at the server's definition and, of a process, at its log."
            );
            match connection.state {
                McpConnectionState::Unavailable => {
                    let why = read::warnings(gateway, &target);
                    let why = why.first().map_or("it is not allowed here", |found| &found.message);
                    check(format!("{which} cannot be reached: {why}."))
                        .with_fix(StatusLevel::Warning, &fix)
                }
                McpConnectionState::Failed => {
                    check(format!("{which} could not be connected.{last}")).with_fix(StatusLevel::Failing, &fix)
                }
                state => {
                    let instances = match connection.instances {
                        0 => String::new(),
                        instances => format!("; instances for sessions: {instances}"),
                    };
                    let summary = match state {
                        McpConnectionState::Connected => format!("{which} is connected{instances}.{last}"),
                        McpConnectionState::Connecting => format!("{which} is being connected{instances}.{last}"),
                        _ => format!("{which} is not connected now; the next call connects.{last}"),
                    };
                    let is_recent = error.is_some_and(|error| gateway.clock.now() - error.at < RECENT);
                    if is_recent {
                        check(summary).with_fix(StatusLevel::Warning, &fix)
                    } else {
                        check(summary)
                    }
                }
            }
        })
        .collect()
}

/// An error with its code, its status and its age.
fn said(gateway: &Gateway, error: &McpConnectionError) -> String {
    let status = error
        .status
        .map(|status| format!(", HTTP {status}"))
        .unwrap_or_default();
    let ago = (gateway.clock.now() - error.at).num_seconds().max(0);
    let message: String = error.message.chars().take(SAID).collect();
    format!(
        " The last error, {ago} s ago: {}{status}: {message}.",
        error.code.as_str()
    )
}
