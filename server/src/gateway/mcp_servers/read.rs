//! MCP servers as they travel: what is stored, and how this server's connection to them is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::Diagnostic;
use toolgate_api::mcp_servers::{
    McpConnection, McpConnectionError, McpConnectionState, McpLogLine, McpServer, McpServerDefinition,
    McpServerLog, McpServerTest, StoredMcpServer,
};
use toolgate_core::principal::PrincipalRef;
use toolgate_executors::{ConnectionStates, ConnectionStatus, McpTarget};

use super::{find, target};
use crate::gateway::accounts;
use crate::gateway::record::Requester;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// Names of tools that a test answers.
const NAMED: usize = 5_000;

/// A server with its connection.
#[must_use]
pub fn wire(gateway: &Gateway, project: &ProjectState, server: &Arc<StoredMcpServer>) -> McpServer {
    let target = target(gateway, project, server);
    McpServer {
        stored: StoredMcpServer::clone(server),
        transport: server.definition.transport(),
        warnings: warnings(gateway, &target),
        connection: connection(gateway, &target),
    }
}

/// A server that is not stored yet.
#[must_use]
pub fn candidate(
    gateway: &Gateway,
    project: &ProjectState,
    name: &str,
    definition: McpServerDefinition,
    requester: &Requester<'_>,
) -> McpServer {
    let before = project.mcp_servers.get(name).map_or(0, |server| server.revision);
    let server = StoredMcpServer {
        name: name.to_owned(),
        revision: before + 1,
        updated_at: gateway.clock.now(),
        updated_by: requester.principal.name.clone(),
        awaits_approval: false,
        definition,
    };
    wire(gateway, project, &Arc::new(server))
}

/// How many connections to each server of a project are in which state, by the names of the servers.
pub fn states<'p>(
    gateway: &'p Gateway,
    project: &'p ProjectState,
    connections: &'p ConnectionStates,
) -> impl Iterator<Item = (&'p str, BTreeMap<&'static str, u64>)> {
    project.mcp_servers.iter().map(|server| {
        let is_unavailable = gateway
            .executors
            .mcp()
            .unavailable_to_all(&target(gateway, project, server))
            .is_some();
        let found = connections.get(&(project.row.id.clone(), server.name.clone()));
        let states = match found {
            _ if is_unavailable => &[McpConnectionState::Unavailable][..],
            Some(states) => states,
            None => &[McpConnectionState::Idle],
        };
        let mut counted = BTreeMap::new();
        for state in states {
            *counted.entry(state.as_str()).or_default() += 1;
        }
        (server.name.as_str(), counted)
    })
}

/// What keeps a server from being reached as it is written, and what to do.
#[must_use]
pub fn warnings(gateway: &Gateway, target: &McpTarget) -> Vec<Diagnostic> {
    let servers = gateway.executors.mcp();
    let definition = &target.server.definition;
    let mut found = Vec::new();
    if (definition.enabled || target.server.awaits_approval)
        && let Some(failure) = servers.unavailable_to_all(target)
    {
        found.push(Diagnostic::warning(failure.message).hint("until then calls of its tools are refused"));
    }
    if definition.network && !servers.allows_network() {
        found.push(
            Diagnostic::warning("the server asks for the network and does not get it")
                .hint("an operator allows it by mcp.stdio_network (TOOLGATE_MCP_STDIO_NETWORK)")
                .at_pointer("/definition/network"),
        );
    }
    found
}

/// Connects again and lists the tools; nothing is stored.
///
/// # Errors
/// 404 without the server.
pub async fn test(
    gateway: &Arc<Gateway>,
    project: &Arc<ProjectState>,
    name: &str,
    principal: &PrincipalRef,
) -> Result<McpServerTest, Problem> {
    let target = find(gateway, project, name)?;
    let target = accounts::for_listing(gateway, project, target, Some(principal)).await?;
    let start = Instant::now();
    let listed = gateway.executors.mcp().list(&target, true).await;
    let mut connection = connection(gateway, &target);
    if let Err(failure) = &listed
        && connection.last_error.is_none()
    {
        connection.last_error = Some(McpConnectionError {
            at: gateway.clock.now(),
            code: failure.code,
            status: failure.upstream_status,
            message: said(failure),
        });
    }
    let named = |tool: &serde_json::Value| {
        tool.get("name")
            .and_then(serde_json::Value::as_str)
            .map(str::to_owned)
    };
    Ok(McpServerTest {
        ok: listed.is_ok(),
        duration_ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
        tools: listed
            .map(|listing| listing.tools.iter().filter_map(named).take(NAMED).collect())
            .unwrap_or_default(),
        connection,
    })
}

/// What a stdio server has logged.
///
/// # Errors
/// 404 without the server.
pub fn log(gateway: &Gateway, project: &ProjectState, name: &str) -> Result<McpServerLog, Problem> {
    let target = find(gateway, project, name)?;
    let now = gateway.clock.now();
    let logged = gateway.executors.mcp().log(&target.project, name);
    let lines = logged.lines.into_iter().map(|line| McpLogLine {
        at: before(now, line.ago),
        text: line.text,
    });
    Ok(McpServerLog {
        lines: lines.collect(),
        dropped: logged.dropped,
    })
}

/// How the connection to a server is.
#[must_use]
pub fn connection(gateway: &Gateway, target: &McpTarget) -> McpConnection {
    let now = gateway.clock.now();
    let ConnectionStatus {
        state,
        connected_for,
        server,
        protocol,
        tools,
        running,
        instances,
        last_error,
    } = gateway.executors.mcp().status(target);
    McpConnection {
        state,
        since: connected_for.map(|ago| before(now, ago)),
        server,
        protocol,
        tools,
        running,
        instances,
        last_error: last_error.map(|last| McpConnectionError {
            at: before(now, last.ago),
            code: last.failure.code,
            status: last.failure.upstream_status,
            message: said(&last.failure),
        }),
    }
}

/// A failure with what the server said.
fn said(failure: &toolgate_executors::Failure) -> String {
    match &failure.upstream_message {
        Some(said) => format!("{}: {said}", failure.message),
        None => failure.message.clone(),
    }
}

fn before(now: DateTime<Utc>, ago: Duration) -> DateTime<Utc> {
    TimeDelta::from_std(ago)
        .ok()
        .and_then(|ago| now.checked_sub_signed(ago))
        .unwrap_or(now)
}
