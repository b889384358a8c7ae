//! Connections that serve one session or principal each: telling them apart, bounding them, ending them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use toolgate_api::mcp_servers::McpTransport;
use toolgate_core::ids::{ProjectId, SessionId};
use toolgate_core::mcp_servers::MAX_INSTANCES;

use super::connection::Connection;
use super::instance::Instance;
use super::log::Log;
use super::manager::McpServers;
use super::target::McpTarget;
use crate::failure::Failure;

/// Seconds after which a call may find room for its instance.
const FULL_RETRY_S: u32 = 10;

/// What tells connections apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) project: ProjectId,
    pub(super) server: String,
    /// The key of the account; empty without one.
    account: String,
    pub(super) instance: Instance,
}

impl Place {
    pub(super) fn of(target: &McpTarget) -> Self {
        Self {
            project: target.project.clone(),
            server: target.server.name.clone(),
            account: target.account_key().to_owned(),
            instance: target.instance.clone(),
        }
    }

    pub(super) fn is_of(&self, project: &ProjectId, server: &str) -> bool {
        self.project == *project && self.server == server
    }

    /// Whether it is the connection that all callers share.
    pub(super) const fn is_shared(&self) -> bool {
        self.account.is_empty() && self.instance.is_shared()
    }

    pub(super) const fn has_account(&self) -> bool {
        !self.account.is_empty()
    }
}

pub(super) type Connections = HashMap<Place, Arc<Connection>>;

/// Makes room for one more instance of a server, within the processes of all servers. One that is not connected gives way, none
/// that is.
///
/// # Errors
/// When there is no room.
pub(super) fn admit(
    connections: &mut Connections,
    target: &McpTarget,
    processes: u32,
) -> Result<(), Failure> {
    let definition = &target.server.definition;
    let is_instance = |place: &Place| !place.instance.is_shared();
    let of_server = |place: &Place| is_instance(place) && place.is_of(&target.project, &target.server.name);
    let is_process =
        |connection: &Connection| connection.server.definition.transport() == McpTransport::Stdio;
    let counts = |connections: &Connections| {
        let of_server = connections.keys().filter(|place| of_server(place)).count();
        let processes = connections
            .iter()
            .filter(|(place, connection)| is_instance(place) && is_process(connection));
        (of_server, processes.count())
    };
    let most = to_usize(definition.max_instances.unwrap_or(MAX_INSTANCES));
    let most_processes = match definition.transport() {
        McpTransport::Stdio => to_usize(processes),
        _ => usize::MAX,
    };
    let has_room = |(servers, processes): (usize, usize)| servers < most && processes < most_processes;
    if has_room(counts(connections)) {
        return Ok(());
    }
    connections.retain(|place, connection| {
        let stays =
            !is_instance(place) || connection.is_in_use() || connection.is_open() || connection.is_new();
        if !stays {
            connection.close(true);
        }
        stays
    });
    let (servers, processes) = counts(connections);
    if has_room((servers, processes)) {
        return Ok(());
    }
    let (bound, setting) = if servers >= most {
        (most, "its `max_instances`")
    } else {
        (
            most_processes,
            "mcp.stdio_instances (TOOLGATE_MCP_STDIO_INSTANCES) of this server",
        )
    };
    Err(Failure::busy(
        format!(
            "the MCP server {} has one instance for each session and all {bound} are in use: end a session, wait until an instance is idle, or raise {setting}",
            target.server.name
        ),
        FULL_RETRY_S,
    ))
}

impl McpServers {
    /// The sessions that have instances of servers.
    #[must_use]
    pub fn sessions(&self) -> Vec<SessionId> {
        let connections = self.lock();
        let sessions: HashSet<SessionId> = connections
            .keys()
            .filter_map(|place| match place.instance {
                Instance::Session(id) => Some(id),
                _ => None,
            })
            .collect();
        sessions.into_iter().collect()
    }

    /// Ends the instances of sessions that have ended. One that executes a call ends when this is asked again after the call.
    pub fn end_sessions(&self, ended: &[SessionId]) {
        self.lock().retain(|place, connection| {
            let is_meant = matches!(&place.instance, Instance::Session(id) if ended.contains(id));
            if !is_meant || connection.is_in_use() {
                return true;
            }
            connection.close(true);
            false
        });
    }
}

/// The log of a server, which its instances write to.
pub(super) fn log_of(connections: &mut Connections, target: &McpTarget) -> Arc<Log> {
    Arc::clone(&shared_of(connections, target).log)
}

/// The connection that all callers of a server share. Where each has its own, it keeps what is of the server.
pub(super) fn shared_of(connections: &mut Connections, target: &McpTarget) -> Arc<Connection> {
    let shared = McpTarget {
        account: None,
        instance: Instance::Shared,
        ..target.clone()
    };
    let connection = connections
        .entry(Place::of(&shared))
        .or_insert_with(|| Arc::new(Connection::new(shared, Arc::default())));
    Arc::clone(connection)
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
