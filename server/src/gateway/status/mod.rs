//! How the server is doing: one check for each thing that can fail, with how to correct it.
//!
//! To add a check, write a function that makes it, and put it into the list of those who shall see it.

mod configuration;
mod connections;
mod keys;
mod mcp_servers;
mod record;

use toolgate_api::status::{StatusCheck, StatusLevel, SystemStatus};

use super::server_snapshot::{ProjectState, ServerSnapshot};
use crate::gateway::Gateway;

/// Checks of one answer.
const MOST: usize = 1000;

/// Everything, for the operators of the server; `served` is the check of the connections to it.
pub async fn of_server(
    gateway: &Gateway,
    server_snapshot: &ServerSnapshot,
    served: StatusCheck,
) -> SystemStatus {
    let mut checks = vec![
        record::database(gateway).await,
        record::writer(gateway),
        record::completions(gateway),
        record::integrity(gateway),
        record::instances(gateway),
        served,
    ];
    checks.extend(keys::signing(gateway, server_snapshot));
    checks.push(keys::secrets(gateway));
    checks.extend(
        server_snapshot
            .projects()
            .filter_map(|project| keys::secrets_of(project)),
    );
    checks.extend(connections::upstreams(gateway, None));
    checks.extend(connections::probes(
        gateway,
        server_snapshot.projects().map(AsRef::as_ref),
    ));
    checks.extend(
        server_snapshot
            .projects()
            .flat_map(|project| mcp_servers::checks(gateway, project)),
    );
    checks.extend(connections::messages(gateway, server_snapshot.projects().map(AsRef::as_ref)).await);
    checks.push(connections::bus(gateway));
    checks.extend(configuration::checks(&gateway.config));
    summed_up(checks)
}

/// What concerns one project.
pub async fn of_project(gateway: &Gateway, project: &ProjectState) -> SystemStatus {
    let mut checks = vec![
        record::database(gateway).await,
        record::writer(gateway),
        record::completions(gateway),
        record::integrity(gateway),
    ];
    checks.extend(keys::secrets_of(project));
    checks.extend(connections::upstreams(gateway, Some(project)));
    checks.extend(connections::probes(gateway, std::iter::once(project)));
    checks.extend(mcp_servers::checks(gateway, project));
    checks.extend(connections::messages(gateway, std::iter::once(project)).await);
    checks.push(connections::bus(gateway));
    summed_up(checks)
}

fn summed_up(mut checks: Vec<StatusCheck>) -> SystemStatus {
    checks.truncate(MOST);
    SystemStatus {
        status: checks
            .iter()
            .map(|check| check.status)
            .max()
            .unwrap_or(StatusLevel::Ok),
        checks,
    }
}

/// Something that is as it should be.
pub(crate) fn ok(id: impl Into<String>, title: &str, summary: impl Into<String>) -> StatusCheck {
    StatusCheck {
        id: id.into(),
        title: title.to_owned(),
        status: StatusLevel::Ok,
        summary: summary.into(),
        fix: None,
    }
}

impl WithFix for StatusCheck {
    fn with_fix(self, status: StatusLevel, fix: &str) -> Self {
        Self {
            status,
            fix: Some(fix.to_owned()),
            ..self
        }
    }
}

/// Says that a check did not come out well.
pub(crate) trait WithFix {
    /// The level of a fault, and how to correct it.
    fn with_fix(self, status: StatusLevel, fix: &str) -> Self;
}
