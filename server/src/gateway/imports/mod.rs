//! Descriptions of APIs: what they would become (nothing is stored), and imports, which keep what they became.
//!
//! `run` imports, for the first time or again; `source` says where a description comes from and how it is read; `fetch` gets
//! it; `read` lists what there is. What a newer description changes waits in `gateway/quarantine`.

mod credentials;
mod fetch;
pub mod read;
pub mod run;
pub mod source;
mod told;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;
use toolgate_api::imports::{
    DescriptionFormat, ImportHost, ImportOutcome, ImportPreview, ImportSecurity, ImportedOperation,
};
use toolgate_api::quarantine::OperationChange;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::{self, ToolDefinition};
use toolgate_core::openapi_import::{
    Dialect, ImportOptions, Operation, Preview, SecurityNeed, Selection, preview, suggested_prefix,
};
use url::Url;

use self::source::Description;
use super::publish;
use super::world::ProjectState;
use crate::error::{ApiError, ApiResult};
use crate::state::App;

/// How long a description waits for others to be read.
const WAIT: Duration = Duration::from_secs(20);

/// What is asked of a description.
pub struct Request {
    /// What whoever imports says about it.
    pub options: ImportOptions,
    /// Which operations are meant.
    pub selection: Selection,
    /// Whether definitions and differences are answered too.
    pub definitions: bool,
}

/// Says what a description would become.
pub async fn describe(
    app: &Arc<App>,
    project: &Arc<ProjectState>,
    description: Description,
    request: Request,
) -> ApiResult<ImportPreview> {
    let bytes = description.read(app, project).await?;
    let (found, request) = parsed(app, project, bytes, request).await?;
    let total = found.operations.len();
    let chosen: Vec<Operation> = found
        .operations
        .into_iter()
        .filter(|operation| request.selection.includes(operation))
        .collect();
    let bases = chosen
        .iter()
        .filter_map(|operation| Some(operation.tool.as_ref().ok()?.plain()));
    let hosts = hosts(app, project, origins(bases));
    let is_there = |name: &str| project.snapshot.tool(name).is_some();
    let suggested_prefix = chosen
        .iter()
        .any(|operation| is_there(&operation.name))
        .then(|| suggested_prefix(&found.title, &chosen.iter(), is_there))
        .flatten();
    let mut warnings = found.warnings;
    warnings.extend(credentials::warnings(
        app,
        project,
        &request.options.credentials,
        &chosen,
    ));
    Ok(ImportPreview {
        title: found.title,
        version: found.version,
        format: format(found.dialect),
        total,
        operations: chosen
            .into_iter()
            .map(|operation| described(project, operation, request.definitions))
            .collect(),
        hosts,
        problems: found.problems,
        warnings,
        suggested_prefix,
    })
}

/// Reads a description away from the threads that serve requests, few at a time: the largest take seconds.
async fn parsed(
    app: &Arc<App>,
    project: &Arc<ProjectState>,
    bytes: Bytes,
    request: Request,
) -> ApiResult<(Preview, Request)> {
    let busy = || {
        ApiError::new(
            ErrorCode::Unavailable,
            "Other descriptions are being read. Try again shortly.",
        )
        .retry_after(5)
    };
    let _place = timeout(WAIT, app.descriptions.acquire())
        .await
        .map_err(|_| busy())?
        .map_err(|_| busy())?;
    let (app, project) = (Arc::clone(app), Arc::clone(project));
    tokio::task::spawn_blocking(move || {
        let found = publish::with_context(&app, &project, |context| {
            preview(&bytes, &request.options, context)
        });
        Ok((found.map_err(unreadable)?, request))
    })
    .await
    .map_err(|error| ApiError::internal(&error))?
}

const fn format(dialect: Dialect) -> DescriptionFormat {
    match dialect {
        Dialect::Swagger2 => DescriptionFormat::Swagger2,
        Dialect::OpenApi30 => DescriptionFormat::Openapi30,
        Dialect::OpenApi31 => DescriptionFormat::Openapi31,
        Dialect::OpenApi32 => DescriptionFormat::Openapi32,
    }
}

fn unreadable(fault: Diagnostic) -> ApiError {
    ApiError::new(
        ErrorCode::InvalidDefinition,
        "The description cannot be read; `errors` says why.",
    )
    .errors(vec![fault])
}

/// An operation of a preview.
fn described(project: &ProjectState, mut operation: Operation, definitions: bool) -> ImportedOperation {
    let current = project
        .snapshot
        .tool(&operation.name)
        .map(|tool| &*tool.definition);
    let tool = std::mem::replace(&mut operation.tool, Err(String::new()));
    let told = match tool {
        Err(reason) => Told {
            reason: Some(reason),
            ..Told::of(ImportOutcome::Refused)
        },
        // Put together only where it is needed: thousands of whole schemas are much.
        Ok(_) if current.is_none() && !definitions => Told::of(ImportOutcome::New),
        Ok(tool) => {
            let tool = tool.definition();
            let outcome = outcome(current, &tool);
            let diff = (definitions && outcome == ImportOutcome::Changed)
                .then(|| definition::diff(current, Some(&tool)));
            Told {
                definition: definitions.then_some(tool),
                diff,
                ..Told::of(outcome)
            }
        }
    };
    let name = operation.name.clone();
    wire(operation, name, told)
}

/// What is told of an operation.
struct Told {
    outcome: ImportOutcome,
    reason: Option<String>,
    definition: Option<Box<ToolDefinition>>,
    diff: Option<String>,
    change: Option<OperationChange>,
}

impl Told {
    const fn of(outcome: ImportOutcome) -> Self {
        Self {
            outcome,
            reason: None,
            definition: None,
            diff: None,
            change: None,
        }
    }
}

/// An operation of a description as it travels; `tool` is the name of its tool here.
fn wire(operation: Operation, tool: String, told: Told) -> ImportedOperation {
    ImportedOperation {
        method: operation.method,
        path: operation.path,
        pointer: operation.pointer,
        operation_id: operation.operation_id,
        tags: operation.tags,
        summary: operation.summary,
        deprecated: operation.deprecated,
        tool,
        outcome: told.outcome,
        reason: told.reason,
        notes: operation.notes,
        security: operation
            .security
            .into_iter()
            .map(|needs| needs.into_iter().map(security).collect())
            .collect(),
        definition: told
            .definition
            .map(|definition| toolgate_core::imports::value(&definition)),
        diff: told.diff,
        change: told.change,
    }
}

fn outcome(current: Option<&ToolDefinition>, imported: &ToolDefinition) -> ImportOutcome {
    match current {
        None => ImportOutcome::New,
        Some(current) if current == imported => ImportOutcome::Unchanged,
        Some(_) => ImportOutcome::Changed,
    }
}

fn security(need: SecurityNeed) -> ImportSecurity {
    ImportSecurity {
        scheme: need.scheme,
        what: need.what,
        scopes: need.scopes,
        supported: need.supported,
    }
}

/// Every origin that tools send to, and get tokens at.
fn origins<'d>(definitions: impl Iterator<Item = &'d ToolDefinition>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    definitions
        .filter_map(|definition| definition.options.http.as_ref())
        .flat_map(|http| {
            let client = http.auth.as_ref().and_then(|auth| auth.client.as_ref());
            let token_url = client.map(|client| client.token_url.as_str());
            std::iter::once(http.base_url.as_str()).chain(token_url)
        })
        .filter_map(|address| Url::parse(address).ok())
        .map(|base| base.origin().ascii_serialization())
        .filter(|origin| seen.insert(origin.clone()))
        .collect()
}

/// Whether calls of the project may go to these origins.
fn hosts(app: &App, project: &ProjectState, origins: Vec<String>) -> Vec<ImportHost> {
    origins
        .into_iter()
        .map(|origin| {
            let refusal = match Url::parse(&origin) {
                Ok(url) => project
                    .egress
                    .permits(&app.egress, &url)
                    .err()
                    .map(|refusal| refusal.to_string()),
                Err(_) => Some("this is no origin".to_owned()),
            };
            ImportHost {
                origin,
                allowed: refusal.is_none(),
                reason: refusal,
            }
        })
        .collect()
}
