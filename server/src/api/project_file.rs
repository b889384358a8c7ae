//! A project as one file: exporting and importing it.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use toolgate_api::ErrorCode;
use toolgate_api::project_file::{ProjectFile, ProjectImport};
use toolgate_core::project_file::{read, write};

use super::tools_edit;
use crate::extract::{InProject, ManageAccess, Query, ReadAccess};
use crate::gateway::project_file::{self, How};
use crate::gateway::{Gateway, Problem};

/// A file as the documentation shows it.
const EXAMPLE: &str = "toolgate_project: 1\ngroups:\n  knowledge: {description: Reads the knowledge graph.}\nlimits:\n  limits: []\n";

/// A file as JSON.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(untagged)]
pub enum ProjectFileJson {
    /// Its members.
    File(Box<ProjectFile>),
    /// The same as YAML, for clients that send nothing but JSON.
    Yaml(ProjectFileYaml),
}

/// A file as YAML within JSON.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes the body; the handler reads its text")]
pub struct ProjectFileYaml {
    /// The YAML.
    yaml: String,
}

/// How to import.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ImportFileQuery {
    /// Only say what the import would do; the file is checked in the same way.
    #[serde(default)]
    #[param(default = false)]
    dry_run: bool,
    /// Import it even if policy tests that hold now would fail; the records then name them.
    #[serde(default)]
    #[param(default = false)]
    ignore_policy_tests: bool,
}

/// Export a project
///
/// One YAML document with everything that defines the project and is not secret: settings, limits, egress list, groups, states,
/// account providers, MCP servers, tool services, tools, guides, grants of users and external subjects, policy tests, and the names
/// of secrets. For owners and auditors. The export is on the record.
#[utoipa::path(get, path = "/projects/{project_id}/export", tag = "projects", params(super::ProjectPath),
    responses((status = 200, description = "The file", content((String = "application/yaml", example = json!(EXAMPLE))))))]
pub async fn export_project(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ReadAccess>,
) -> Result<Response, Problem> {
    let file = project_file::export(&gateway, &place).await?;
    let name = format!("attachment; filename=\"project-{}.yaml\"", place.project.row.id);
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/yaml")),
        (header::CONTENT_DISPOSITION, super::header_value(&name)),
    ];
    Ok((headers, write(&file)).into_response())
}

/// Import a project
///
/// Brings the project to what an exported file says; what the file does not name stays. For owners; the egress list is left to
/// system administrators. The file is checked whole before anything is stored. Its parts are then stored one after the other, each
/// by the rules of its own operation and on the record; if one is refused, those before it are stored, and the import can be
/// repeated. With `dry_run` the answer says what would change, and which secrets are missing.
#[utoipa::path(post, path = "/projects/{project_id}/import", tag = "projects", params(super::ProjectPath, ImportFileQuery),
    request_body(description = "The file", content(
        (String = "application/yaml", example = json!(EXAMPLE)),
        (ProjectFileJson = "application/json", example = json!({"yaml": EXAMPLE})))),
    responses((status = 200, description = "What was done, or would be", body = ProjectImport)))]
pub async fn import_project(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<ManageAccess>,
    Query(query): Query<ImportFileQuery>,
    request: Request,
) -> Result<axum::Json<ProjectImport>, Problem> {
    let (text, _) = tools_edit::text(request, "application/yaml or application/json").await?;
    // Away from the threads that serve requests: a hostile text may take a while.
    let file: ProjectFile = tokio::task::spawn_blocking(move || read(&text))
        .await
        .map_err(|error| Problem::internal(&error))?
        .map_err(|errors| {
            let detail = "The file is no project file that can be read; nothing was stored. `errors` names each fault.";
            Problem::new(ErrorCode::InvalidRequest, detail).errors(errors)
        })?;
    let how = How {
        dry_run: query.dry_run,
        ignore_policy_tests: query.ignore_policy_tests,
    };
    let entry = place.into_entry();
    Box::pin(project_file::import(&gateway, entry, file, how))
        .await
        .map(axum::Json)
}
