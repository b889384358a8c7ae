//! Tool services as resources: what there is, which tools use it, storing one and its removal. Uploads store several.

use std::sync::Arc;

use serde_json::json;
use toolgate_api::audit::AuditAction;
use toolgate_api::tool_services::{ToolService, ToolServiceDefinition, ToolServiceParam};
use toolgate_api::tools::DefinitionKind;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::{ServiceDefinition, check_service};
use toolgate_core::ids::{ProjectId, ToolName};

use crate::gateway::change_record::Changer;
use crate::gateway::publish::{
    ATTEMPTS, DefinitionChange, changed, commit, current, invalid_definition, revised, too_busy, turn,
    with_context,
};
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// Names of tools that are listed for one service.
const MOST: usize = 1000;

/// A service as it is shown.
#[must_use]
pub fn wire(project: &ProjectState, service: &ServiceDefinition, revision: i64) -> ToolService {
    ToolService {
        id: service.id.to_string(),
        request_queue: service.request_queue.clone(),
        response_queue: service.response_queue.clone(),
        config_params: service
            .config_params
            .iter()
            .map(|param| ToolServiceParam {
                name: param.name.clone(),
                required: param.required,
            })
            .collect(),
        max_concurrent: service.max_concurrent,
        envs: service.envs.clone(),
        revision,
        tools: users(project, service.id.as_str())
            .take(MOST)
            .map(str::to_owned)
            .collect(),
    }
}

/// The tools that use a service, by name.
fn users<'p>(project: &'p ProjectState, id: &str) -> impl Iterator<Item = &'p str> {
    let tools = project.snapshot.tools().iter();
    tools
        .filter(move |tool| tool.definition.service.as_deref() == Some(id))
        .map(|tool| tool.name())
}

/// There is no such service.
#[must_use]
pub fn not_found(id: &str) -> Problem {
    let shown: String = id.chars().take(128).collect();
    Problem::not_found(format!("tool service \"{shown}\""))
}

/// Stores a service whole, and answers with its revision before; `None` for a new one. One that is stored already is left as it is.
///
/// # Errors
/// 422 with every fault of the definition; what `matches` says of the revision.
pub async fn put(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    id: &str,
    definition: &ToolServiceDefinition,
    by: &Changer<'_>,
    matches: impl Fn(Option<i64>) -> Result<(), Problem>,
) -> Result<Option<i64>, Problem> {
    let mut value = json!(definition);
    value["id"] = id.into();
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let before = state.snapshot.service_revision(id);
        matches(before)?;
        let (service, _) = with_context(gateway, &state, |context| check_service(&value, context))
            .map_err(invalid_definition)?;
        if state.snapshot.service(id) == Some(&service) {
            return Ok(before);
        }
        let after = Some(before.unwrap_or(0) + 1);
        let what = revised(DefinitionKind::ToolService, id, before, after);
        let what = changed("put_tool_service", &by.author, vec![what]);
        let change = DefinitionChange {
            services: vec![service],
            ..DefinitionChange::default()
        };
        let done = commit(gateway, &state, by, AuditAction::Definition, what, change).await?;
        if done.is_some() {
            return Ok(before);
        }
    }
    Err(too_busy())
}

/// Deletes a service that no tool uses.
///
/// # Errors
/// 404 without it, what `matches` says of its revision, 409 while tools use it.
pub async fn delete(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    id: &ToolName,
    by: &Changer<'_>,
    matches: impl Fn(i64) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let revision = state.snapshot.service_revision(id.as_str());
        let revision = revision.ok_or_else(|| not_found(id.as_str()))?;
        matches(revision)?;
        let users: Vec<&str> = users(&state, id.as_str()).take(MOST).collect();
        if !users.is_empty() {
            return Err(in_use(id, &users));
        }
        let gone = revised(DefinitionKind::ToolService, id.as_str(), Some(revision), None);
        let what = changed("delete_tool_service", &by.author, vec![gone]);
        let change = DefinitionChange {
            deleted_services: vec![id.clone()],
            ..DefinitionChange::default()
        };
        let done = commit(gateway, &state, by, AuditAction::Definition, what, change).await?;
        if done.is_some() {
            return Ok(());
        }
    }
    Err(too_busy())
}

fn in_use(id: &ToolName, users: &[&str]) -> Problem {
    Problem::new(
        ErrorCode::InUse,
        format!("Tools use the tool service \"{id}\"; nothing was deleted. Delete them or give them another service first."),
    )
    .errors(
        users
            .iter()
            .map(|tool| Diagnostic::error(format!("the tool \"{tool}\" uses it")))
            .collect(),
    )
}
