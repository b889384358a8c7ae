//! Adding, replacing and removing MCP servers, on the record.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use toolgate_api::audit::AuditAction;
use toolgate_api::mcp_servers::{McpServerDefinition, StoredMcpServer};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::ids::ProjectId;
use toolgate_core::mcp_servers::{MAX_SERVERS, check, name_fault};
use toolgate_store::StoreError;
use toolgate_store::rows::Replacement;

use super::not_found;
use crate::gateway::change_record::opening;
use crate::gateway::publish::{ATTEMPTS, current, too_busy, turn};
use crate::gateway::record::Requester;
use crate::gateway::recorded::recorded;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// What becomes of servers, by their names.
pub type Changes = BTreeMap<String, Change>;

/// What becomes of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It is stored, whatever was there.
    Put(McpServerDefinition),
    /// It is stored and waits for approval: neither connected to nor imported until then.
    Propose(McpServerDefinition),
    /// It waits no more.
    Approve,
    /// It is removed.
    Remove,
}

impl Change {
    /// The server afterwards; `None` when it is removed. `unused` is a revision that no server of the project ever had.
    fn applied(
        &self,
        name: &str,
        before: Option<&StoredMcpServer>,
        unused: i64,
        (at, by): (DateTime<Utc>, &str),
    ) -> Result<Option<StoredMcpServer>, Problem> {
        let stored = |definition: &McpServerDefinition| StoredMcpServer {
            name: name.to_owned(),
            revision: before.map_or(0, |server| server.revision) + 1,
            updated_at: at,
            updated_by: by.to_owned(),
            awaits_approval: false,
            definition: definition.clone(),
        };
        match (self, before) {
            (Self::Put(definition), _) => Ok(Some(stored(definition))),
            (Self::Propose(definition), _) => {
                let mut proposed = stored(definition);
                proposed.awaits_approval = true;
                // Servers of a release that knows no approval do not connect to what is disabled.
                proposed.definition.enabled = false;
                // An approval names the revision that was read. One that is removed and proposed again has another.
                proposed.revision = unused;
                Ok(Some(proposed))
            }
            (Self::Approve, Some(server)) if server.awaits_approval => {
                let mut approved = stored(&server.definition);
                approved.definition.enabled = true;
                Ok(Some(approved))
            }
            (Self::Approve, Some(_)) => Err(Problem::new(
                ErrorCode::Conflict,
                format!("The MCP server {name:?} does not wait for approval; nothing was changed."),
            )),
            (Self::Remove, Some(_)) => Ok(None),
            (Self::Approve | Self::Remove, None) => Err(not_found(name)),
        }
    }
}

/// Stores a change. `condition` is asked with each name and the revision that is there.
///
/// # Errors
/// 422 with every fault; what `condition` says.
pub async fn apply(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    requester: &Requester<'_>,
    changes: &Changes,
    condition: impl Fn(&str, Option<i64>) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let faults = faults(changes);
    if !faults.is_empty() {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "The MCP server is invalid; nothing was stored. `errors` names each fault.",
        )
        .errors(faults));
    }
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let mut servers: BTreeMap<String, StoredMcpServer> = state
            .mcp_servers
            .iter()
            .map(|server| (server.name.clone(), StoredMcpServer::clone(server)))
            .collect();
        for (name, change) in changes {
            let before = servers.get(name).map(|server| server.revision);
            condition(name, before)?;
            let by = (gateway.clock.now(), requester.principal.name.as_str());
            let unused = state.mcp_servers.revision + 1;
            match change.applied(name, servers.get(name), unused, by)? {
                Some(server) => drop(servers.insert(name.clone(), server)),
                None => drop(servers.remove(name)),
            }
        }
        if servers.len() > MAX_SERVERS {
            return Err(Problem::new(
                ErrorCode::InvalidRequest,
                format!(
                    "A project has at most {MAX_SERVERS} MCP servers; nothing was stored. Remove what is not needed."
                ),
            ));
        }
        if store(
            gateway,
            &state,
            requester,
            changes,
            servers.into_values().collect(),
        )
        .await?
        {
            return Ok(());
        }
    }
    Err(too_busy())
}

/// Stores all servers; `false` when others were faster.
async fn store(
    gateway: &Arc<Gateway>,
    state: &ProjectState,
    requester: &Requester<'_>,
    changes: &Changes,
    servers: Vec<StoredMcpServer>,
) -> Result<bool, Problem> {
    let place = (state.row.uid, state.snapshot.version());
    let opening = opening(
        gateway,
        place,
        requester,
        AuditAction::Settings,
        what(state, changes, &servers),
    );
    let (task, uid, id) = (Arc::clone(gateway), state.row.uid, state.row.id.clone());
    let (expected, author) = (state.mcp_servers.revision, requester.principal.name.clone());
    recorded(gateway, vec![opening], async move {
        let replacement = Replacement {
            value: &servers,
            expected: Some(expected),
            author: &author,
        };
        let outcome = task
            .store
            .put_mcp_servers(uid, &replacement, task.clock.now())
            .await;
        task.snapshots.refresh().await?;
        match outcome {
            Ok(_) => Ok(true),
            Err(StoreError::VersionConflict) => Ok(false),
            Err(StoreError::NotFound { .. }) => Err(Problem::not_found(format!("project \"{id}\""))),
            Err(error) => Err(error.into()),
        }
    })
    .await
}

/// For the record: each server before and after. Credentials are never in a definition.
fn what(state: &ProjectState, changes: &Changes, servers: &[StoredMcpServer]) -> Value {
    let named = |name: &String| {
        let before = state.mcp_servers.get(name);
        let after = servers.iter().find(|server| server.name == *name);
        let mut change = json!({
            "server": name,
            "before": before.map(|server| &server.definition),
            "before_revision": before.map(|server| server.revision),
            "after": after.map(|server| &server.definition),
        });
        if after.is_some_and(|server| server.awaits_approval) {
            change["awaits_approval"] = true.into();
        }
        change
    };
    json!({"change": "mcp_servers", "servers": changes.keys().map(named).collect::<Vec<_>>()})
}

fn faults(changes: &Changes) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    for (name, change) in changes {
        let (Change::Put(definition) | Change::Propose(definition)) = change else {
            continue;
        };
        if let Some(fault) = name_fault(name) {
            faults.push(Diagnostic::error(fault));
        }
        faults.extend(check(definition));
    }
    faults
}
