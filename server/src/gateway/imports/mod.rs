//! Descriptions of APIs: what they would become (nothing is stored), and imports, which keep what they became.
//!
//! `run` imports, for the first time or again; `request` says where a description comes from and how it is read;
//! `fetch` gets it; `report` is the answer; `read` lists what there is. What a newer description changes waits in
//! `gateway/quarantine`.

mod credentials;
pub(super) mod fetch;
pub mod read;
mod report;
pub mod request;
pub mod run;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;
use toolgate_api::imports::{
    ImportHost, ImportOutcome, ImportPreview, ImportSecurity, ImportSource, ImportedOperation,
};
use toolgate_api::quarantine::OperationChange;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::announcements;
use toolgate_core::definition::{self, ToolDefinition};
use toolgate_core::imports::{Operation, Preview, SecurityNeed, suggested_prefix};
use toolgate_core::mcp_import;
use toolgate_core::openapi_import::{ImportOptions, preview};
use toolgate_executors::Failure;
use url::Url;

use self::request::ImportRequest;
use super::server_snapshot::ProjectState;
use super::{accounts, mcp_servers, publish};
use crate::gateway::{Gateway, Problem};

/// How long a description waits for others to be read.
const WAIT: Duration = Duration::from_secs(20);

/// Says what a description would become.
pub async fn describe(
    gateway: &Arc<Gateway>,
    project: &Arc<ProjectState>,
    mut request: ImportRequest,
) -> Result<ImportPreview, Problem> {
    let source = request.over(None);
    let selection = request::selection(&source);
    let found = found(gateway, project, &mut request, &source).await?;
    let total = found.operations.len();
    let chosen: Vec<Operation> = found
        .operations
        .into_iter()
        .filter(|operation| selection.includes(operation))
        .collect();
    let bases = chosen
        .iter()
        .filter_map(|operation| Some(operation.tool.as_ref().ok()?.plain()));
    let hosts = hosts(gateway, project, origins(bases));
    let is_there = |name: &str| project.snapshot.tool(name).is_some();
    let suggested_prefix = chosen
        .iter()
        .any(|operation| is_there(&operation.name))
        .then(|| suggested_prefix(&found.title, &chosen.iter(), is_there))
        .flatten();
    let mut warnings = found.warnings;
    warnings.extend(credentials::warnings(
        gateway,
        project,
        &source.credentials,
        &chosen,
    ));
    Ok(ImportPreview {
        title: found.title,
        version: found.version,
        format: found.format,
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

/// What the source has now: a description of an API, or an MCP server.
async fn found(
    gateway: &Arc<Gateway>,
    project: &Arc<ProjectState>,
    request: &mut ImportRequest,
    source: &ImportSource,
) -> Result<Preview, Problem> {
    if source.tool_service.is_some() || source.worker.is_some() {
        return announced(gateway, project, request).await;
    }
    let Some(server) = &source.mcp_server else {
        let options = request::options(source)?;
        let bytes = request.take_description(gateway, project).await?;
        return parsed(gateway, project, bytes, options).await;
    };
    let listing = match request.listing.take() {
        Some(listing) => listing,
        None => {
            let target = mcp_servers::find(gateway, project, server)?;
            let lister = request.lister.as_ref();
            let target = accounts::for_listing(gateway, project, target, lister).await?;
            let listed = gateway.executors.mcp().list(&target, false).await;
            Arc::new(listed.map_err(|failure| not_listed(server, &failure))?)
        }
    };
    let prefix = source.prefix.clone().unwrap_or_default();
    let (server, gateway, project) = (server.clone(), Arc::clone(gateway), Arc::clone(project));
    tokio::task::spawn_blocking(move || {
        publish::with_context(&gateway, &project, |context| {
            mcp_import::preview(&server, &listing, &prefix, context)
        })
    })
    .await
    .map_err(|error| Problem::internal(&error))
}

/// Why there is no list of an MCP server's tools.
pub(in crate::gateway) fn not_listed(server: &str, failure: &Failure) -> Problem {
    let what = format!("The tools of the MCP server {server:?} could not be listed");
    fetch::failed(&what, failure)
}

/// What a program on the message bus announced.
async fn announced(
    gateway: &Arc<Gateway>,
    project: &Arc<ProjectState>,
    request: &ImportRequest,
) -> Result<Preview, Problem> {
    let Some(announcement) = request.announcement.clone() else {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "This import has what a program on the message bus announced. It is imported again when the program announces a change.",
        ));
    };
    let (gateway, project) = (Arc::clone(gateway), Arc::clone(project));
    tokio::task::spawn_blocking(move || {
        publish::with_context(&gateway, &project, |context| {
            announcements::preview(&announcement, context).map_err(|reason| {
                Problem::new(
                    ErrorCode::InvalidDefinition,
                    format!("The announced service is invalid: {reason}"),
                )
            })
        })
    })
    .await
    .map_err(|error| Problem::internal(&error))?
}

/// Reads a description away from the threads that serve requests, few at a time: the largest take seconds.
async fn parsed(
    gateway: &Arc<Gateway>,
    project: &Arc<ProjectState>,
    bytes: Bytes,
    options: ImportOptions,
) -> Result<Preview, Problem> {
    let busy = || {
        Problem::new(
            ErrorCode::Unavailable,
            "Other descriptions are being read. Try again shortly.",
        )
        .retry_after(5)
    };
    let _place = timeout(WAIT, gateway.descriptions.acquire())
        .await
        .map_err(|_| busy())?
        .map_err(|_| busy())?;
    let (gateway, project) = (Arc::clone(gateway), Arc::clone(project));
    tokio::task::spawn_blocking(move || {
        publish::with_context(&gateway, &project, |context| preview(&bytes, &options, context))
            .map_err(unreadable)
    })
    .await
    .map_err(|error| Problem::internal(&error))?
}

fn unreadable(fault: Diagnostic) -> Problem {
    Problem::new(
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
    let report = match tool {
        Err(reason) => OperationReport {
            reason: Some(reason),
            ..OperationReport::of(ImportOutcome::Refused)
        },
        // Put together only where it is needed: thousands of whole schemas are much.
        Ok(_) if current.is_none() && !definitions => OperationReport::of(ImportOutcome::New),
        Ok(tool) => {
            let tool = tool.definition();
            let outcome = outcome(current, &tool);
            let diff = (definitions && outcome == ImportOutcome::Changed)
                .then(|| definition::diff(current, Some(&tool)));
            OperationReport {
                definition: definitions.then_some(tool),
                diff,
                ..OperationReport::of(outcome)
            }
        }
    };
    let name = operation.name.clone();
    wire(operation, name, report)
}

/// The report on an operation.
struct OperationReport {
    outcome: ImportOutcome,
    reason: Option<String>,
    definition: Option<Box<ToolDefinition>>,
    diff: Option<String>,
    change: Option<OperationChange>,
}

impl OperationReport {
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
fn wire(operation: Operation, tool: String, report: OperationReport) -> ImportedOperation {
    ImportedOperation {
        method: operation.method,
        path: operation.path,
        pointer: operation.pointer,
        operation_id: operation.operation_id,
        tags: operation.tags,
        summary: operation.summary,
        deprecated: operation.deprecated,
        tool,
        outcome: report.outcome,
        reason: report.reason,
        notes: operation.notes,
        security: operation
            .security
            .into_iter()
            .map(|needs| needs.into_iter().map(security).collect())
            .collect(),
        definition: report
            .definition
            .map(|definition| toolgate_core::imports::value(&definition)),
        diff: report.diff,
        change: report.change,
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
fn hosts(gateway: &Gateway, project: &ProjectState, origins: Vec<String>) -> Vec<ImportHost> {
    origins
        .into_iter()
        .map(|origin| {
            let refusal = match Url::parse(&origin) {
                Ok(url) => project
                    .egress
                    .permits(&gateway.egress, &url)
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
