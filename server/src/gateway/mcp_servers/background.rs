//! Keeping the connections as the projects say, and importing again what servers have changed.

use std::sync::Arc;

use toolgate_api::auth::PrincipalKind;
use toolgate_core::ids::{ImportId, SessionId};
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::Principal;
use toolgate_executors::{ComparedBecause, Comparison, McpTarget};
use toolgate_store::StoreError;

use super::target;
use crate::gateway::change_record::Changer;
use crate::gateway::entry::Origin;
use crate::gateway::imports::request::ImportRequest;
use crate::gateway::imports::{self, run};
use crate::gateway::publish::Author;
use crate::gateway::record::Requester;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// Every server of every project.
fn targets(gateway: &Gateway) -> Vec<McpTarget> {
    let snapshot = gateway.snapshots.now();
    let of_project = |project: &Arc<ProjectState>| -> Vec<McpTarget> {
        let servers = project.mcp_servers.iter();
        servers.map(|server| target(gateway, project, server)).collect()
    };
    snapshot.projects().flat_map(of_project).collect()
}

/// Connects to all servers side by side; nothing waits for it.
pub fn connect(gateway: &Gateway) {
    gateway.executors.mcp().connect_in_advance(targets(gateway));
}

/// Connects to a server that is there now, as at the start; nothing waits for it.
pub fn connect_to(gateway: &Gateway, project: &ProjectState, name: &str) {
    if let Some(server) = project.mcp_servers.get(name) {
        let target = target(gateway, project, server);
        gateway.executors.mcp().connect_in_advance(vec![target]);
    }
}

/// Ends the connections to servers that are not there any more.
pub fn close_unwanted(gateway: &Gateway) {
    gateway.executors.mcp().keep(&targets(gateway));
}

/// Ends connections that nothing wants any more, tries failed ones again, and compares the tools of servers with the approved ones.
///
/// # Errors
/// When the database does not say which sessions have ended.
pub async fn keep(gateway: &Arc<Gateway>) -> Result<(), StoreError> {
    let servers = gateway.executors.mcp();
    servers.keep(&targets(gateway));
    for comparison in servers.take_comparisons() {
        // Each by itself: one server that does not answer delays no other.
        tokio::spawn(compare(Arc::clone(gateway), comparison));
    }
    end_instances(gateway).await
}

async fn compare(gateway: Arc<Gateway>, comparison: Comparison) {
    let compared = import_again(&gateway, &comparison).await;
    let (project, server) = (&comparison.target.project, &comparison.target.server.name);
    match compared {
        Ok(()) => comparison.done(),
        Err(problem) => {
            tracing::warn!(%project, server, code = %problem.code(), "the tools of an MCP server were not compared with the approved ones");
        }
    }
}

/// Ends the instances of sessions that have ended or expired, here or on another server.
async fn end_instances(gateway: &Gateway) -> Result<(), StoreError> {
    let servers = gateway.executors.mcp();
    let sessions = servers.sessions();
    if sessions.is_empty() {
        return Ok(());
    }
    let now = gateway.clock.now();
    let mut living = gateway.store.session_places(&sessions).await?;
    living.retain(|place| !place.ended && place.expires_at > now);
    let ended: Vec<SessionId> = sessions
        .into_iter()
        .filter(|session| living.iter().all(|place| place.id != *session))
        .collect();
    servers.end_sessions(&ended);
    Ok(())
}

/// Imports the tools of a server again, if they were imported before: what changed waits in the quarantine.
async fn import_again(gateway: &Arc<Gateway>, comparison: &Comparison) -> Result<(), Problem> {
    let McpTarget {
        project: id, server, ..
    } = &comparison.target;
    let name = &server.name;
    let Some(project) = gateway.snapshots.now().project(id.as_str()).cloned() else {
        return Ok(());
    };
    if gateway
        .store
        .import_counted(project.row.uid, name)
        .await?
        .is_none()
    {
        return Ok(());
    }
    let Ok(id) = ImportId::parse(name.clone()) else {
        return Ok(());
    };
    let listing = comparison.listed_for_caller().await;
    let listing = listing.map_err(|failure| imports::not_listed(name, &failure))?;
    let principal = Principal {
        kind: PrincipalKind::External,
        id: "toolgate|server".to_owned(),
        name: "server".to_owned(),
    };
    let by = Changer {
        requester: Requester {
            principal: &principal,
            granted: &GroupSet::default(),
            reads_definitions: false,
            origin: &Origin::internal("mcp-comparison"),
        },
        author: Author {
            name: &principal.name,
            note: Some(match comparison.why {
                ComparedBecause::Changed => format!("the MCP server {name} says that its tools changed"),
                ComparedBecause::Connected => format!("the MCP server {name} was connected to again"),
                ComparedBecause::Schedule => format!("the MCP server {name} is compared by its schedule"),
            }),
            ignore_policy_tests: false,
        },
    };
    let request = ImportRequest {
        mcp_server: Some(name.clone()),
        listing,
        only_changes: true,
        ..ImportRequest::default()
    };
    let same_server = |_: Option<i64>| Ok(());
    run::import(gateway, &project.row.id, id, &by, request, same_server).await?;
    Ok(())
}
