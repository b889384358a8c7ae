//! Importing descriptions of APIs.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Request, State};
use serde::Deserialize;
use toolgate_api::ErrorCode;
use toolgate_api::imports::ImportPreview;
use toolgate_core::openapi_import::{ImportOptions, Selection};
use url::Url;

use super::tools_edit::{UploadForm, read};
use crate::error::{ApiError, ApiResult};
use crate::extract::{EditDefinitions, InProject, Query};
use crate::gateway::imports;
use crate::state::AppState;

/// Longest text of a query parameter, in characters.
const LONGEST: usize = 2_000;

/// How to read a description, and which of its operations are meant. Lists have commas between their items.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ImportQuery {
    /// Only operations with any of these tags.
    #[param(max_length = 2000, example = "pets,owners")]
    tag: Option<String>,
    /// Only operations with any of these paths; `*` is anything within a segment, `**` anything.
    #[param(max_length = 2000, example = "/pets/**")]
    path: Option<String>,
    /// Only operations with any of these methods.
    #[param(max_length = 2000, example = "GET,HEAD")]
    method: Option<String>,
    /// Only these operations, by their id or the name of their tool.
    #[param(max_length = 2000, example = "getPet,listPets")]
    operation_id: Option<String>,
    /// Where the description came from, for servers without a host.
    #[param(max_length = 2000, example = "https://petstore.example.com/openapi.json")]
    document_url: Option<String>,
    /// The API's address, instead of the servers of the description.
    #[param(max_length = 2000, example = "https://petstore.example.com/v1")]
    base_url: Option<String>,
    /// Values of variables in the addresses of servers, as `name=value`.
    #[param(max_length = 2000, example = "region=eu,stage=live")]
    variables: Option<String>,
    /// The credential of each security scheme that tools are to present: an environment variable or `secret:NAME`, as
    /// `scheme=source`.
    #[param(max_length = 2000, example = "apiKey=secret:PETSTORE_KEY")]
    credentials: Option<String>,
    /// Also answer every definition, and its difference from the project's tool of that name.
    #[serde(default)]
    #[param(default = false)]
    definitions: bool,
}

/// Preview an import
///
/// Reads a description of an API (OpenAPI 3.0, 3.1 or 3.2, or Swagger 2.0; at most 5 MiB of JSON or YAML) and says for each
/// operation which tool it would become, or why it cannot: a fault costs the operation it is in, never the whole. Nothing is
/// stored; the definitions can be uploaded as they are, or edited first. References to other documents are not followed.
#[utoipa::path(post, path = "/projects/{project_id}/imports", tag = "tools", params(super::ProjectPath, ImportQuery),
    request_body(description = "The description", content(
        (String = "application/yaml", example = "openapi: 3.1.0\ninfo: {title: Petstore, version: 1.0.0}\nservers: [{url: \"https://petstore.example.com\"}]\npaths: {/pets: {get: {operationId: listPets, summary: List all pets}}}\n"),
        (Object = "application/json"), (UploadForm = "multipart/form-data"))),
    responses((status = 200, description = "What it would become", body = ImportPreview)))]
pub async fn preview_import(
    State(app): State<AppState>,
    place: InProject<EditDefinitions>,
    Query(query): Query<ImportQuery>,
    request: Request,
) -> ApiResult<axum::Json<ImportPreview>> {
    let asked = query.read()?;
    let (bytes, _) = read(&app, request).await?;
    let project = Arc::clone(&place.project);
    tokio::task::spawn_blocking(move || imports::describe(&app, &project, &bytes, &asked))
        .await
        .map_err(|error| ApiError::internal(&error))?
        .map(axum::Json)
}

impl ImportQuery {
    fn read(self) -> ApiResult<imports::Request> {
        let document_url = match &self.document_url {
            Some(text) => Some(
                Url::parse(bounded("document_url", text)?)
                    .map_err(|error| malformed(format!("`document_url` is no address: {error}.")))?,
            ),
            None => None,
        };
        let base_url = match self.base_url {
            Some(text) => Some(bounded("base_url", &text)?.to_owned()),
            None => None,
        };
        Ok(imports::Request {
            options: ImportOptions {
                document_url,
                base_url,
                variables: pairs("variables", self.variables.as_deref())?,
                credentials: pairs("credentials", self.credentials.as_deref())?,
            },
            selection: Selection {
                tags: list("tag", self.tag.as_deref())?,
                paths: list("path", self.path.as_deref())?,
                methods: list("method", self.method.as_deref())?,
                operations: list("operation_id", self.operation_id.as_deref())?,
            },
            definitions: self.definitions,
        })
    }
}

fn bounded<'t>(name: &str, text: &'t str) -> ApiResult<&'t str> {
    if text.chars().nth(LONGEST).is_some() {
        return Err(malformed(format!("`{name}` has more than {LONGEST} characters.")));
    }
    Ok(text)
}

fn list(name: &str, text: Option<&str>) -> ApiResult<Vec<String>> {
    let text = bounded(name, text.unwrap_or_default())?;
    Ok(text
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(str::to_owned)
        .collect())
}

fn pairs(name: &str, text: Option<&str>) -> ApiResult<BTreeMap<String, String>> {
    list(name, text)?
        .iter()
        .map(|item| match item.split_once('=') {
            Some((key, value)) if !key.is_empty() && !value.is_empty() => {
                Ok((key.to_owned(), value.to_owned()))
            }
            _ => Err(malformed(format!("`{name}` has an item that is not name=value."))),
        })
        .collect()
}

fn malformed(detail: String) -> ApiError {
    ApiError::new(ErrorCode::MalformedRequest, detail)
}
