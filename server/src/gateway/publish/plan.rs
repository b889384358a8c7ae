//! What a change of definitions would do, before it is done.

use toolgate_api::tools::{DefinitionKind, UploadItem, UploadOutcome};
use toolgate_core::definition::{self, ServiceDefinition, ToolDefinition, UploadedTool};
use toolgate_core::ids::ToolName;
use toolgate_core::snapshot::ToolInput;

use super::Author;
use crate::gateway::policy_tests::Candidate;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// What each definition of an upload would do.
pub(super) async fn plan(
    gateway: &Gateway,
    state: &ProjectState,
    tools: &[UploadedTool],
    services: &[ServiceDefinition],
) -> Result<Vec<UploadItem>, Problem> {
    let mut items = Vec::with_capacity(tools.len() + services.len());
    for service in services {
        let id = service.id.as_str();
        let before = state.snapshot.service(id);
        let revision = state.snapshot.service_revision(id).unwrap_or(0);
        items.push(item(
            DefinitionKind::ToolService,
            id,
            before == Some(service),
            before.is_some(),
            revision,
            || definition::service_diff(before, Some(service)),
        ));
    }
    for UploadedTool { definition, .. } in tools {
        let name = &definition.name;
        let before = state.snapshot.tool(name.as_str());
        let revision = match before {
            Some(tool) => tool.revision,
            // A deleted tool goes on counting where it stopped.
            None => gateway
                .store
                .revisions(state.row.uid, name, None, 1)
                .await?
                .first()
                .map_or(0, |row| row.revision),
        };
        let old = before.map(|tool| tool.definition.as_ref());
        items.push(item(
            DefinitionKind::Tool,
            name.as_str(),
            old == Some(definition),
            old.is_some(),
            revision,
            || definition::diff(old, Some(definition)),
        ));
    }
    Ok(items)
}

fn item(
    kind: DefinitionKind,
    name: &str,
    unchanged: bool,
    exists: bool,
    revision: i64,
    diff: impl FnOnce() -> String,
) -> UploadItem {
    let (outcome, revision, diff) = match (unchanged, exists) {
        (true, _) => (UploadOutcome::Unchanged, revision, None),
        (false, true) => (UploadOutcome::Replaced, revision + 1, Some(diff())),
        (false, false) => (UploadOutcome::Created, revision + 1, Some(diff())),
    };
    UploadItem {
        kind,
        name: name.to_owned(),
        outcome,
        revision,
        diff,
    }
}

/// The project as a change of definitions would leave it.
pub(in crate::gateway) fn candidate<'a>(
    gateway: &Gateway,
    state: &ProjectState,
    author: &Author<'_>,
    tools: &[(ToolName, Option<ToolDefinition>)],
    services: &[ServiceDefinition],
) -> Candidate<'a> {
    let changed = tools.iter().filter_map(|(name, definition)| {
        Some(ToolInput {
            definition: definition.clone()?,
            revision: state.snapshot.tool(name.as_str()).map_or(0, |tool| tool.revision) + 1,
            updated_at: gateway.clock.now(),
            updated_by: author.name.to_owned(),
        })
    });
    let removed: Vec<ToolName> = tools
        .iter()
        .filter(|(_, definition)| definition.is_none())
        .map(|(name, _)| name.clone())
        .collect();
    // If the id of a service occurs twice, the last one wins.
    let services = state
        .snapshot
        .services()
        .map(|(service, revision)| (service.clone(), revision))
        .chain(services.iter().map(|service| (service.clone(), 0)));
    let version = state.snapshot.version() + 1;
    Candidate {
        snapshot: Some(
            state
                .snapshot
                .with_changes(version, changed.collect(), &removed, services.collect()),
        ),
        grants: None,
    }
}
