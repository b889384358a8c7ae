//! The programs that connect by MCP: noticed in memory, written from time to time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use toolgate_api::guides::McpClient;
use toolgate_core::ids::ProjectUid;
use toolgate_core::principal::PrincipalRef;
use toolgate_store::rows::McpClientRow;

use super::entry::{Client, Entry};
use super::tool_uses::name_and_end;
use crate::auth::grants::Holdings;
use crate::gateway::{Gateway, Problem};

/// Clients of all projects that wait to be written. Names are what anyone says, so there is a bound.
const MAX_WAITING: usize = 10_000;
/// Clients of one project that are kept and listed.
const KEPT: u32 = 200;
/// How long a client is kept that is not used.
const FORGOTTEN: TimeDelta = TimeDelta::days(90);

type Key = (ProjectUid, String, Client);
type Times = (DateTime<Utc>, DateTime<Utc>);

/// What was seen since it was last written.
#[derive(Default)]
pub struct SeenClients(Mutex<HashMap<Key, Times>>);

impl SeenClients {
    fn all(&self) -> MutexGuard<'_, HashMap<Key, Times>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the program of a request is there.
    pub fn note(&self, entry: &Entry) {
        let caller = &entry.caller;
        let Some(client) = &caller.origin.client else {
            return;
        };
        let principal = PrincipalRef::from(&caller.identity.principal).to_string();
        let key = (entry.project.row.uid, principal, client.clone());
        let mut all = self.all();
        if all.len() < MAX_WAITING || all.contains_key(&key) {
            all.entry(key).or_insert((caller.now, caller.now)).1 = caller.now;
        }
    }
}

/// Writes what was seen since the last time.
///
/// # Errors
/// When the database does not answer; the next time writes it.
pub async fn keep(gateway: &Gateway) -> anyhow::Result<()> {
    let seen = std::mem::take(&mut *gateway.mcp_clients.all());
    if seen.is_empty() {
        return Ok(());
    }
    let row = |((project, principal, client), (first_at, last_at)): (&Key, &Times)| McpClientRow {
        project: *project,
        principal: principal.clone(),
        name: client.name.clone(),
        version: client.version.clone().unwrap_or_default(),
        first_at: *first_at,
        last_at: *last_at,
    };
    let mut rows: Vec<McpClientRow> = seen.iter().map(row).collect();
    // In one order everywhere, so that two servers wait for each other and do not block each other.
    rows.sort_by(|a, b| {
        (a.project.0, &a.principal, &a.name, &a.version).cmp(&(
            b.project.0,
            &b.principal,
            &b.name,
            &b.version,
        ))
    });
    let written = gateway.store.note_mcp_clients(&rows, KEPT).await;
    if written.is_err() {
        let mut all = gateway.mcp_clients.all();
        for (key, times) in seen {
            all.entry(key).or_insert(times).0 = times.0;
        }
    }
    Ok(written?)
}

/// Forgets clients that were not used for long.
///
/// # Errors
/// When the database does not answer.
pub async fn prune(gateway: &Gateway) -> anyhow::Result<()> {
    gateway
        .store
        .prune_mcp_clients(gateway.clock.now() - FORGOTTEN)
        .await?;
    Ok(())
}

/// The programs that connected to a project, those used last first, with what their principals hold now.
///
/// # Errors
/// When the database does not answer.
pub async fn list(gateway: &Gateway, entry: &Entry) -> Result<Vec<McpClient>, Problem> {
    let project = entry.project.row.uid;
    keep(gateway).await.map_err(|error| Problem::internal(&*error))?;
    let rows = gateway.store.mcp_clients(project, KEPT).await?;
    let directory = &entry.caller.server_snapshot.directory;
    let wire = |row: McpClientRow| {
        let principal = PrincipalRef::parse(&row.principal);
        let grant = principal
            .as_ref()
            .and_then(|principal| directory.grant_of(principal, project, gateway.clock.now()));
        McpClient {
            principal_name: principal
                .as_ref()
                .and_then(|principal| Some(name_and_end(directory, principal)?.0)),
            groups: grant.map(|grant| grant.groups.to_vec()),
            principal: row.principal,
            name: row.name,
            version: (!row.version.is_empty()).then_some(row.version),
            first_at: row.first_at,
            last_at: row.last_at,
        }
    };
    Ok(rows.into_iter().map(wire).collect())
}
