//! The use case "what would this description become": nothing is stored.

use toolgate_api::imports::{
    DescriptionFormat, ImportHost, ImportOutcome, ImportPreview, ImportSecurity, ImportedOperation,
};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::{self, ToolDefinition};
use toolgate_core::openapi_import::{Dialect, ImportOptions, Operation, SecurityNeed, Selection, preview};

use super::publish;
use super::world::ProjectState;
use crate::error::{ApiError, ApiResult};
use crate::state::App;

/// What is asked of a description.
pub struct Request {
    /// What whoever imports says about it.
    pub options: ImportOptions,
    /// Which operations are meant.
    pub selection: Selection,
    /// Whether definitions and differences are answered too.
    pub definitions: bool,
}

/// Reads a description. It takes seconds for the largest, so it does not belong on a thread that serves requests.
pub fn describe(
    app: &App,
    project: &ProjectState,
    description: &[u8],
    request: &Request,
) -> ApiResult<ImportPreview> {
    let found = publish::with_context(app, project, |context| {
        preview(description, &request.options, context)
    })
    .map_err(unreadable)?;
    let total = found.operations.len();
    let chosen: Vec<Operation> = found
        .operations
        .into_iter()
        .filter(|operation| request.selection.includes(operation))
        .collect();
    let hosts = hosts(app, &chosen);
    Ok(ImportPreview {
        title: found.title,
        version: found.version,
        format: match found.dialect {
            Dialect::Swagger2 => DescriptionFormat::Swagger2,
            Dialect::OpenApi30 => DescriptionFormat::Openapi30,
            Dialect::OpenApi31 => DescriptionFormat::Openapi31,
        },
        total,
        operations: chosen
            .into_iter()
            .map(|operation| described(project, operation, request.definitions))
            .collect(),
        hosts,
        problems: found.problems,
    })
}

fn unreadable(fault: Diagnostic) -> ApiError {
    ApiError::new(
        ErrorCode::InvalidDefinition,
        "The description cannot be read; `errors` says why.",
    )
    .errors(vec![fault])
}

fn described(project: &ProjectState, operation: Operation, definitions: bool) -> ImportedOperation {
    let current = project
        .snapshot
        .tool(&operation.name)
        .map(|tool| &*tool.definition);
    let (outcome, reason, definition, diff) = match operation.tool {
        Err(reason) => (ImportOutcome::Refused, Some(reason), None, None),
        Ok(tool) => {
            let outcome = outcome(current, &tool);
            let diff = (definitions && outcome == ImportOutcome::Changed)
                .then(|| definition::diff(current, Some(&tool)));
            // A definition is always JSON.
            let definition = definitions.then(|| serde_json::to_value(&*tool).unwrap_or_default());
            (outcome, None, definition, diff)
        }
    };
    ImportedOperation {
        method: operation.method,
        path: operation.path,
        pointer: operation.pointer,
        operation_id: operation.operation_id,
        tags: operation.tags,
        summary: operation.summary,
        deprecated: operation.deprecated,
        tool: operation.name,
        outcome,
        reason,
        notes: operation.notes,
        security: operation
            .security
            .into_iter()
            .map(|needs| needs.into_iter().map(security).collect())
            .collect(),
        definition,
        diff,
        change: None,
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

/// Every origin that chosen tools send to, and whether they may.
fn hosts(app: &App, chosen: &[Operation]) -> Vec<ImportHost> {
    let mut hosts: Vec<ImportHost> = Vec::new();
    let bases = chosen
        .iter()
        .filter_map(|operation| operation.tool.as_ref().ok()?.options.http.as_ref())
        .filter_map(|http| url::Url::parse(&http.base_url).ok());
    for base in bases {
        let origin = base.origin().ascii_serialization();
        if hosts.iter().any(|host| host.origin == origin) {
            continue;
        }
        let refusal = app.egress.permits(&base).err();
        hosts.push(ImportHost {
            origin,
            allowed: refusal.is_none(),
            reason: refusal.map(|refusal| refusal.to_string()),
        });
    }
    hosts
}
