//! Changing many tools at once.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use toolgate_api::tool_changes::{ToolChangeRequest, ToolChangeResult};

use super::tools_edit::changer;
use crate::extract::{EditDefinitions, InProject, Json, Query};
use crate::gateway::tool_changes::{self, ChangeRequest};
use crate::gateway::{Gateway, Problem};

/// How to change.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ChangeQuery {
    /// Only say what the change would do; the verdict is the same.
    #[serde(default)]
    #[param(default = false)]
    dry_run: bool,
    /// Change it even if policy tests that hold now would fail; the revisions' note then names them.
    #[serde(default)]
    #[param(default = false)]
    ignore_policy_tests: bool,
}

/// Change many tools
///
/// Enables, disables or deletes the selected tools, or moves them between groups and states. All or nothing: every tool that
/// becomes another gets a revision with the note. Different tools can be changed differently, all together, by a list of
/// `changes`, each with its own selection; no tool may be in two of them. The answer has what takes the change back: send its `undo` as the body to
/// the same address. That restores exactly these tools, deleted ones too, and is refused (412) when one of them was changed
/// since. As with uploads, a change that a policy test forbids is refused (409).
#[utoipa::path(post, path = "/projects/{project_id}/tool-changes", tag = "tools", params(super::ProjectPath, ChangeQuery),
    request_body(content = ToolChangeRequest, example = json!({"select": {"names": ["web-search"]}, "change": {"enabled": false}, "note": "the provider is being replaced", "expect_count": 1})),
    responses((status = 200, description = "Changed, or a dry run", body = ToolChangeResult)))]
pub async fn change_tools(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<EditDefinitions>,
    Query(query): Query<ChangeQuery>,
    Json(request): Json<ToolChangeRequest>,
) -> Result<axum::Json<ToolChangeResult>, Problem> {
    let project = &place.project.row.id;
    let changer = |said| changer(&place, said, query.ignore_policy_tests);
    let result = match request {
        ToolChangeRequest::Change(asked) => {
            let by = changer(asked.note.clone())?;
            tool_changes::change(&gateway, project, &by, &ChangeRequest::one(&asked), query.dry_run).await?
        }
        ToolChangeRequest::Several(asked) => {
            let by = changer(asked.note.clone())?;
            let changes = ChangeRequest::several(&asked)?;
            tool_changes::change(&gateway, project, &by, &changes, query.dry_run).await?
        }
        ToolChangeRequest::Undo(asked) => {
            let by = changer(Some("takes a change of many tools back".to_owned()))?;
            tool_changes::undo(&gateway, project, &by, &asked.undo, query.dry_run).await?
        }
    };
    Ok(axum::Json(result))
}
