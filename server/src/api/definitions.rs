//! Checking definitions while they are written.

use std::sync::Arc;

use axum::extract::{Request, State};
use toolgate_api::tools::DefinitionsChecked;
use toolgate_core::definition::{self, Upload};

use super::tools_edit::{EXAMPLE, UploadForm, UploadJson, parse, read};
use crate::extract::{EditDefinitions, InProject};
use crate::gateway::publish;
use crate::gateway::{Gateway, Problem};

/// Check definitions
///
/// The verdict of an upload without its effect: whether it would be accepted, the same definitions as canonical YAML and as
/// JSON, and every error and warning with its line, its column and a hint. Definitions that are not valid are an answer too,
/// not a problem; only what is no text of definitions at all is refused.
#[utoipa::path(post, path = "/projects/{project_id}/definitions/check", tag = "tools", params(super::ProjectPath),
    request_body(description = "Definitions", content(
        (String = "application/yaml", example = json!(EXAMPLE)),
        (UploadJson = "application/json", example = json!({"yaml": EXAMPLE})),
        (UploadForm = "multipart/form-data", example = json!({"file": EXAMPLE})))),
    responses((status = 200, description = "The verdict", body = DefinitionsChecked)))]
pub async fn check_definitions(
    State(gateway): State<Arc<Gateway>>,
    place: InProject<EditDefinitions>,
    request: Request,
) -> Result<axum::Json<DefinitionsChecked>, Problem> {
    let (bytes, format) = read(request).await?;
    let checked = match parse(&gateway, &place, bytes, format).await? {
        Ok(upload) => DefinitionsChecked {
            valid: true,
            yaml: yaml(&upload),
            definitions: upload
                .tools
                .iter()
                .map(|tool| serde_json::to_value(&tool.definition))
                .collect::<Result<_, _>>()
                .map_err(|error| Problem::internal(&error))?,
            diagnostics: publish::warnings(&gateway, &place.project, &upload),
            remedies: publish::remedies(&gateway, &place.project, &upload),
        },
        Err(diagnostics) => DefinitionsChecked {
            valid: false,
            yaml: String::new(),
            definitions: Vec::new(),
            diagnostics,
            remedies: Vec::new(),
        },
    };
    Ok(axum::Json(checked))
}

/// One document for each definition, services first: tools may refer to them.
fn yaml(upload: &Upload) -> String {
    let services = upload.services.iter().map(definition::service_to_yaml);
    let tools = upload
        .tools
        .iter()
        .map(|tool| definition::to_yaml(&tool.definition));
    services.chain(tools).collect::<Vec<_>>().join("---\n")
}
