//! All connections of a process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;
use toolgate_api::mcp_servers::{McpConnectionState, McpInstance, McpTransport, StoredMcpServer};
use toolgate_core::ids::ProjectId;
use toolgate_core::mcp_import::McpListing;
use url::Url;

use super::bearer;
use super::connection::{Connection, ConnectionStatus};
use super::instances::{Connections, Place, admit, log_of};
use super::log::LogLines;
use super::offers::ListChanges;
use super::settings::StdioSettings;
use super::stdio;
use super::target::{McpTarget, fill};
use crate::account;
use crate::config::EnvSource;
use crate::egress::Origins;
use crate::failure::Failure;
use crate::http::executor::Transport;
use crate::http::send::denied;
use crate::values::Values;

/// Processes that are started in advance at the same time.
const PROCESSES_AT_ONCE: usize = 32;
/// Connections over HTTP that are made in advance at the same time. Those to servers that do not answer delay no others.
const CONNECTIONS_AT_ONCE: usize = 512;

/// What all connections share.
pub(super) struct Shared {
    pub(super) transport: Arc<Transport>,
    pub(super) envs: Arc<dyn EnvSource>,
    pub(super) stdio: StdioSettings,
    pub(super) max_bytes: usize,
    /// Counts the changes of what the servers have beside tools.
    pub(super) list_changes: Arc<ListChanges>,
}

impl Shared {
    pub(super) fn values<'a>(&'a self, target: &'a McpTarget) -> Values<'a> {
        Values {
            envs: &*self.envs,
            secrets: target.secrets.as_deref(),
        }
    }
}

/// The states of connections, by project and server.
pub type ConnectionStates = HashMap<(ProjectId, String), Vec<McpConnectionState>>;

/// The connections to the MCP servers of all projects.
pub struct McpServers {
    pub(super) shared: Shared,
    connections: Mutex<Connections>,
    processes_in_advance: Arc<Semaphore>,
    connections_in_advance: Arc<Semaphore>,
}

impl McpServers {
    pub(crate) fn new(
        transport: Arc<Transport>,
        envs: Arc<dyn EnvSource>,
        stdio: StdioSettings,
        max_bytes: usize,
    ) -> Self {
        Self {
            shared: Shared {
                transport,
                envs,
                stdio,
                max_bytes,
                list_changes: Arc::default(),
            },
            connections: Mutex::default(),
            processes_in_advance: Arc::new(Semaphore::new(PROCESSES_AT_ONCE)),
            connections_in_advance: Arc::new(Semaphore::new(CONNECTIONS_AT_ONCE)),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection of a server. One of an earlier revision ends; its calls end with it.
    ///
    /// # Errors
    /// When an instance would have to be started and there are as many as there may be.
    pub(super) fn connection(&self, target: &McpTarget) -> Result<Arc<Connection>, Failure> {
        let place = Place::of(target);
        let mut connections = self.lock();
        let found = connections.get(&place).cloned();
        let log = match found {
            // A revision comes back when a server is deleted and made again.
            Some(found) if *found.server == *target.server => {
                found.renew(target);
                return Ok(found);
            }
            Some(found) => {
                found.close(true);
                Arc::clone(&found.log)
            }
            None if place.instance.is_shared() => Arc::default(),
            None => {
                admit(&mut connections, target, self.shared.stdio.instances)?;
                Arc::new(log_of(&mut connections, target).labelled(place.instance.label()))
            }
        };
        let made = Arc::new(Connection::new(target.clone(), log));
        connections.insert(place, Arc::clone(&made));
        Ok(made)
    }

    /// Ends the connections that are of none of these servers, those that nothing needs, and tries those again that failed.
    pub fn keep(self: &Arc<Self>, targets: &[McpTarget]) {
        let wanted: HashMap<(&ProjectId, &str), &McpTarget> = targets
            .iter()
            .map(|target| ((&target.project, target.server.name.as_str()), target))
            .collect();
        let mut due = Vec::new();
        self.lock().retain(|place, connection| {
            let target = wanted.get(&(&place.project, place.server.as_str()));
            let is_current =
                target.is_some_and(|target| target.server.definition == connection.server.definition);
            if !is_current || !connection.server.definition.enabled {
                connection.close(true);
                return false;
            }
            if let Some(target) = target {
                connection.target.permit(target.egress.as_ref());
            }
            if connection.is_idle() {
                connection.close(!place.is_shared());
                return place.is_shared();
            }
            due.extend(
                target
                    .filter(|_| place.is_shared() && connection.is_due())
                    .map(|target| (*target).clone()),
            );
            true
        });
        self.connect_in_advance(due);
    }

    /// Connects to servers side by side; nothing waits for it. Servers with instances are connected to when they are needed.
    pub fn connect_in_advance(self: &Arc<Self>, targets: Vec<McpTarget>) {
        for target in targets.into_iter().filter(|target| {
            target.server.definition.instance == McpInstance::Shared && self.unavailable(target).is_none()
        }) {
            let servers = Arc::clone(self);
            tokio::spawn(async move {
                let places = match target.server.definition.transport() {
                    McpTransport::Stdio => &servers.processes_in_advance,
                    McpTransport::StreamableHttp | McpTransport::Sse => &servers.connections_in_advance,
                };
                let Ok(_place) = places.acquire().await else {
                    return;
                };
                let connected = match servers.connection(&target) {
                    Ok(connection) => connection.live(&servers.shared).await.map(drop),
                    Err(failure) => Err(failure),
                };
                if let Err(failure) = connected {
                    tracing::warn!(project = %target.project, server = %target.server.name, code = %failure.code, "an MCP server was not connected: {}", failure.message);
                }
            });
        }
    }

    /// Why a server cannot be reached from here, whatever it would answer; `None` when it can.
    #[must_use]
    pub fn unavailable(&self, target: &McpTarget) -> Option<Failure> {
        let uses_account = target.server.definition.account.is_some();
        let no_account = uses_account
            .then(|| account::required(target.account.as_ref()).err())
            .flatten();
        let wrong_host = || {
            let account = target.account.as_ref().filter(|_| uses_account)?;
            let url = Url::parse(target.server.definition.url.as_deref()?).ok()?;
            account::may_be_sent(account.provider(), &url).err()
        };
        self.unavailable_to_all(target).or(no_account).or_else(wrong_host)
    }

    /// Why no caller can reach a server from here, whatever account it has; `None` when one can.
    #[must_use]
    pub fn unavailable_to_all(&self, target: &McpTarget) -> Option<Failure> {
        let (egress, values) = (target.egress.as_deref(), self.shared.values(target));
        self.unavailable_with(&target.server, egress, values)
    }

    /// The same of a server with these values.
    pub(super) fn unavailable_with(
        &self,
        server: &StoredMcpServer,
        egress: Option<&Origins>,
        values: Values<'_>,
    ) -> Option<Failure> {
        let definition = &server.definition;
        if server.awaits_approval {
            return Some(Failure::misconfigured(format!(
                "the MCP server {} waits for approval: {} registered it",
                server.name, server.updated_by
            )));
        }
        if !definition.enabled {
            return Some(Failure::misconfigured(format!(
                "the MCP server {} is disabled",
                server.name
            )));
        }
        if definition.transport() == McpTransport::Stdio {
            let command = definition.command.as_deref().unwrap_or_default();
            let refused = stdio::unavailable(&self.shared.stdio, command).map(Failure::misconfigured);
            return refused.or_else(|| fill(&definition.env, values).err());
        }
        let policy = self.shared.transport.sender.policy();
        let client = definition.oauth.as_ref();
        let addresses = [definition.url.as_deref(), client.map(|client| &*client.token_url)];
        let refused = addresses
            .into_iter()
            .flatten()
            .filter_map(|address| Url::parse(address).ok())
            .find_map(|url| policy.permits_with(&url, egress).err());
        refused
            .map(|error| denied(&error))
            .or_else(|| fill(&definition.headers, values).err())
            .or_else(|| fill(&client.map(bearer::texts)?, values).err())
    }

    /// Whether a stdio server that asks for the network gets it.
    #[must_use]
    pub const fn allows_network(&self) -> bool {
        self.shared.stdio.network
    }

    /// Lists the tools of a server, over a new connection if `fresh`.
    ///
    /// # Errors
    /// Why they could not be listed.
    pub async fn list(&self, target: &McpTarget, fresh: bool) -> Result<McpListing, Failure> {
        if let Some(failure) = self.unavailable(target) {
            return Err(failure);
        }
        let connection = self.connection(target)?;
        if fresh {
            connection.close(false);
        }
        connection.live(&self.shared).await?;
        Ok(connection.list().await?.listing.clone())
    }

    /// How the connection of a server is.
    #[must_use]
    pub fn status(&self, target: &McpTarget) -> ConnectionStatus {
        let of_server = self.of_server(&target.project, &target.server.name);
        let is_open_instance =
            |connection: &Arc<Connection>| !connection.target().instance.is_shared() && connection.is_open();
        let instances = of_server.iter().filter(|one| is_open_instance(one)).count();
        let mut statuses: Vec<_> = of_server.iter().map(|connection| connection.status()).collect();
        // Where each account or session has its own, the one that tells most.
        statuses.sort_by_key(|status| {
            (
                status.state != McpConnectionState::Connected,
                status.last_error.is_none(),
            )
        });
        let running = statuses.iter().map(|status| status.running).sum();
        let mut status = statuses.into_iter().next().unwrap_or_default();
        status.running = running;
        status.instances = u32::try_from(instances).unwrap_or(u32::MAX);
        if self.unavailable_to_all(target).is_some() {
            status.state = McpConnectionState::Unavailable;
        }
        status
    }

    /// What a stdio server has logged.
    #[must_use]
    pub fn log(&self, project: &ProjectId, server: &str) -> LogLines {
        let found = self.of_server(project, server).into_iter().next();
        found.map(|connection| connection.log.read()).unwrap_or_default()
    }

    /// The connections of a server: one, or one for each account and instance.
    fn of_server(&self, project: &ProjectId, server: &str) -> Vec<Arc<Connection>> {
        let connections = self.lock();
        let of_server = connections
            .iter()
            .filter(|(place, _)| place.is_of(project, server));
        of_server.map(|(_, connection)| Arc::clone(connection)).collect()
    }

    /// The states of all connections, by project and server.
    #[must_use]
    pub fn states(&self) -> ConnectionStates {
        let mut states = ConnectionStates::new();
        for (place, connection) in &*self.lock() {
            let of = (place.project.clone(), place.server.clone());
            states.entry(of).or_default().push(connection.status().state);
        }
        states
    }

    /// Ends all connections.
    pub fn close_all(&self) {
        for (_, connection) in self.lock().drain() {
            connection.close(true);
        }
    }
}
