//! A project as it is now, as a file.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use toolgate_api::groups::PutGroup;
use toolgate_api::permissions::GrantedGroup;
use toolgate_api::project_file::{FileGrant, PROJECT_FILE_FORMAT, ProjectFile};
use toolgate_api::states::PutState;
use toolgate_core::ids::UserId;
use toolgate_core::policy::grants::stands;
use toolgate_core::principal::{PrincipalKind, PrincipalRef};

use crate::auth::directory::Directory;
use crate::auth::grants::StoredGrant;
use crate::gateway::secrets::Uses;
use crate::gateway::server_snapshot::{ProjectState, ServerSnapshot};

/// Everything that defines the project and is not secret. Servers that wait for approval and grants that have expired are left out.
pub(super) fn file(
    project: &ProjectState,
    server_snapshot: &ServerSnapshot,
    now: DateTime<Utc>,
) -> ProjectFile {
    let snapshot = &project.snapshot;
    let directory = &server_snapshot.directory;
    let groups = snapshot.declared_groups().map(|group| &group.label);
    let guides = project.guides.iter();
    let servers = project
        .mcp_servers
        .iter()
        .filter(|server| !server.awaits_approval);
    let providers = project.account_providers.iter();
    let uses = Uses::of(project);
    let secrets: BTreeSet<&str> = project
        .secrets
        .iter()
        .map(|(name, _)| name)
        .chain(uses.names())
        .collect();
    let mut tool_services: Vec<_> = snapshot.services().map(|(service, _)| service).collect();
    tool_services.sort_by_key(|service| service.id.as_str());
    let mut tools: Vec<_> = snapshot.tools().iter().map(|tool| &tool.definition).collect();
    tools.sort_by_key(|tool| tool.name.as_str());
    let grants = directory.grants_of(project.row.uid).iter();
    let mut grants: Vec<FileGrant> = grants
        .filter_map(|stored| grant(directory, stored, now))
        .collect();
    grants.sort_by(|a, b| a.holder().cmp(b.holder()));
    ProjectFile {
        toolgate_project: PROJECT_FILE_FORMAT,
        name: Some(project.row.name.clone()),
        settings: Some(project.settings.as_ref().clone()),
        limits: Some(project.limits.document.clone()),
        egress: Some(project.egress.list.clone()),
        groups: groups
            .map(|label| {
                let group = PutGroup {
                    description: label.description.clone(),
                    condition: label.condition.clone(),
                };
                (label.name.clone(), group)
            })
            .collect(),
        states: snapshot
            .declared_states()
            .map(|label| {
                let description = label.description.clone();
                (label.name.clone(), PutState { description })
            })
            .collect(),
        account_providers: providers
            .map(|provider| (provider.name.clone(), provider.definition.clone()))
            .collect(),
        mcp_servers: servers
            .map(|server| (server.name.clone(), server.definition.clone()))
            .collect(),
        tool_services: tool_services.into_iter().map(value).collect(),
        tools: tools.into_iter().map(value).collect(),
        guides: guides
            .map(|guide| (guide.id.clone(), guide.definition.clone()))
            .collect(),
        grants,
        policy_tests: project
            .policy_tests
            .iter()
            .map(|stored| stored.test.clone())
            .collect(),
        secrets: secrets.into_iter().map(str::to_owned).collect(),
    }
}

/// A grant of a user or a subject that is in force, with its groups that are.
fn grant(directory: &Directory, stored: &StoredGrant, now: DateTime<Utc>) -> Option<FileGrant> {
    stored.at(now)?;
    let terms = stored.terms();
    let (user, subject) = match stored.principal.kind {
        PrincipalKind::User => (Some(username(directory, &stored.principal)?), None),
        PrincipalKind::External => (None, Some(stored.principal.id.clone())),
        PrincipalKind::ServiceKey => return None,
    };
    let in_force = |granted: &&GrantedGroup| stands(granted.expires_at, now);
    Some(FileGrant {
        user,
        subject,
        role: terms.role,
        groups: terms.groups.iter().filter(in_force).cloned().collect(),
        expires_at: terms.expires_at,
    })
}

fn username(directory: &Directory, principal: &PrincipalRef) -> Option<String> {
    let user = directory.user(UserId(principal.uuid()?))?;
    Some(user.username.clone())
}

/// A definition as JSON, which it always is.
pub(super) fn value(definition: &impl Serialize) -> Value {
    serde_json::to_value(definition).unwrap_or_default()
}
