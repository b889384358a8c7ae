//! Importing: for the first time, or again when the description has changed.
//!
//! New operations become disabled tools; what changed in others waits in the quarantine. All of it is one transaction.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use toolgate_api::ErrorCode;
use toolgate_api::audit::AuditAction;
use toolgate_api::imports::{ImportOutcome, ImportReport, ImportSource, ImportedOperation};
use toolgate_core::definition::{ServiceDefinition, ToolDefinition};
use toolgate_core::ids::{ImportId, ProjectId};
use toolgate_core::imports::{Kept, Operation, Place, Preview, Selection, Verdict, plan, suggested_prefix};
use toolgate_core::principal::PrincipalRef;
use toolgate_store::rows::{ImportChange, ImportOperationRow, ImportRow, WaitingRow};

use super::report::ReportBuilder;
use super::request::{self, ImportRequest};
use super::{credentials, found, origins, read};
use crate::gateway::change_record::Changer;
use crate::gateway::policy_tests;
use crate::gateway::publish::{
    ATTEMPTS, Author, DefinitionChange, candidate, commit, current, too_busy, turn,
};
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// Imports of one project.
const MAX_IMPORTS: usize = 1_000;
/// Operations of one import.
const MAX_OPERATIONS: usize = 5_000;
/// Characters of a title and of a version that are kept.
const LONGEST: usize = 200;
/// Names of tools of each kind in a record.
const NAMED: usize = 100;

/// Imports, on the record; whether the import is new, and what became of each operation.
///
/// # Errors
/// What `condition` says of the revision that is there; 422 when the description cannot be read; what the policy tests of
/// the project refuse.
pub async fn import(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    id: ImportId,
    by: &Changer<'_>,
    mut request: ImportRequest,
    condition: impl Fn(Option<i64>) -> Result<(), Problem>,
) -> Result<(bool, ImportReport), Problem> {
    request.lister = Some(PrincipalRef::from(by.requester.principal));
    let state = current(gateway, project)?;
    let before = gateway.store.import_counted(state.row.uid, id.as_str()).await?;
    condition(before.as_ref().map(|(row, _)| row.revision))?;
    let source = request.over(before.as_ref().map(|(row, _)| &row.source));
    same_kind(before.as_ref().map(|(row, _)| &row.source), &source)?;
    let is_partial = request.listing.is_some();
    let found = found(gateway, &state, &mut request, &source).await?;
    let run = Arc::new(Run {
        id,
        found,
        is_partial,
        selection: request::selection(&source),
        source,
        request,
        by: by.author.name.to_owned(),
    });
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let stored = run.stored(gateway, &state).await?;
        condition(stored.row.as_ref().map(|row| row.revision))?;
        let is_new = stored.row.is_none();
        // Comparing thousands of definitions takes a while.
        let (step, of_app) = (Arc::clone(&run), Arc::clone(gateway));
        let (change, mut report) = tokio::task::spawn_blocking(move || step.plan(&of_app, stored))
            .await
            .map_err(|error| Problem::internal(&error))??;
        if run.request.dry_run {
            if !state.policy_tests.is_empty() {
                let candidate = candidate(gateway, &state, &by.author, &change.tools, &change.services);
                let effects = policy_tests::effects(gateway, &gateway.snapshots.now(), &state, &candidate);
                report.policy_tests = Some(policy_tests::wire_effects(effects));
            }
            report.dry_run = true;
            return Ok((is_new, report));
        }
        let changes_nothing = change.tools.is_empty() && change.imports.operations.is_empty();
        if run.request.only_changes && changes_nothing {
            return Ok((is_new, report));
        }
        let note = by.author.note.clone();
        let by = Changer {
            requester: by.requester,
            author: Author {
                note: note.or_else(|| Some(format!("imports {} {}", run.id, report.import.version))),
                ..by.author
            },
        };
        let what = what(&report);
        let done = commit(gateway, &state, &by, AuditAction::Import, what, change).await?;
        if let Some(published) = done {
            report.import.revision = published.version;
            return Ok((is_new, report));
        }
    }
    Err(too_busy())
}

/// Whether an import goes on with the kind of source that it began with.
fn same_kind(before: Option<&ImportSource>, source: &ImportSource) -> Result<(), Problem> {
    match before {
        Some(before)
            if (&before.mcp_server, &before.tool_service, &before.worker)
                != (&source.mcp_server, &source.tool_service, &source.worker) =>
        {
            Err(Problem::new(
                ErrorCode::InvalidRequest,
                "This import has another source: an MCP server, a program on the message bus, or a description of an API. Choose another id.",
            ))
        }
        _ => Ok(()),
    }
}

/// For the record: what the import did, by the names of the tools. Where the description came from is in the import.
fn what(report: &ImportReport) -> Value {
    let tools = |outcome: ImportOutcome| {
        let found = report.operations.iter();
        let names: Vec<&str> = found
            .filter(|operation| operation.outcome == outcome)
            .map(|operation| operation.tool.as_str())
            .collect();
        (!names.is_empty()).then(|| json!({"count": names.len(), "tools": &names[..names.len().min(NAMED)]}))
    };
    json!({
        "change": "import",
        "import": report.import.id,
        "version": report.import.version,
        "new": tools(ImportOutcome::New),
        "adopted": tools(ImportOutcome::Adopted),
        "waiting": tools(ImportOutcome::Changed),
        "gone": tools(ImportOutcome::Gone),
    })
}

/// One import on its way.
struct Run {
    id: ImportId,
    /// What was asked, without the description.
    request: ImportRequest,
    source: ImportSource,
    selection: Selection,
    found: Preview,
    /// Whether what is not found may be there all the same: it stays as it is.
    is_partial: bool,
    by: String,
}

/// What the project has before an import.
struct Stored {
    state: Arc<ProjectState>,
    /// The import, if it is there.
    row: Option<ImportRow>,
    /// What it imported.
    operations: Vec<ImportOperationRow>,
    /// The tools of other imports.
    elsewhere: HashSet<String>,
}

impl Place for Stored {
    fn tool(&self, name: &str) -> Option<&ToolDefinition> {
        self.state.snapshot.tool(name).map(|tool| &*tool.definition)
    }

    fn is_elsewhere(&self, name: &str) -> bool {
        self.elsewhere.contains(name)
    }
}

impl Run {
    async fn stored(&self, gateway: &Gateway, state: &Arc<ProjectState>) -> Result<Stored, Problem> {
        let uid = state.row.uid;
        let found = gateway.store.import(uid, self.id.as_str()).await?;
        let (row, operations) = found.map_or((None, Vec::new()), |(row, rows)| (Some(row), rows));
        if row.is_none() && gateway.store.imports(uid, None, u32::MAX).await?.len() >= MAX_IMPORTS {
            return Err(too_many(&format!("A project has at most {MAX_IMPORTS} imports")));
        }
        let imported = gateway.store.imported_tools(uid).await?.into_iter();
        let elsewhere = imported.filter(|(_, import)| import != self.id.as_str());
        Ok(Stored {
            state: Arc::clone(state),
            row,
            operations,
            elsewhere: elsewhere.map(|(tool, _)| tool).collect(),
        })
    }

    /// What is to be stored, and what is to be reported.
    fn plan(&self, gateway: &Gateway, stored: Stored) -> Result<(DefinitionChange, ImportReport), Problem> {
        let telling = ReportBuilder {
            gateway,
            state: &stored.state,
            definitions: self.request.definitions,
        };
        let is_chosen = |operation: &Operation| self.selection.includes(operation);
        let found = &self.found.operations;
        let kept: Vec<Kept<'_>> = stored.operations.iter().map(kept).collect();
        let mut planned = plan(&kept, found, is_chosen, &stored, self.request.adopt);
        if self.is_partial {
            planned.retain(|planned| planned.verdict != Verdict::Gone);
        }
        let now = gateway.clock.now();
        let mut after: Vec<ImportOperationRow> = Vec::with_capacity(planned.len());
        let mut tools = Vec::new();
        let mut operations = Vec::with_capacity(planned.len());
        for planned in planned {
            let before = planned.kept.map(|at| &stored.operations[at]);
            let found = planned.found.map(|at| &found[at]);
            if let Verdict::New(definition) = &planned.verdict {
                let mut new = (**definition).clone();
                new.enabled |= self.request.trusted;
                tools.push((definition.name.clone(), Some(new)));
            }
            after.extend(self.row(before, found, &planned.verdict, now));
            operations.push(telling.of(before, found, planned));
        }
        if after.len() > MAX_OPERATIONS {
            return Err(too_many(&format!(
                "An import has at most {MAX_OPERATIONS} operations"
            )));
        }
        let suggested_prefix = self.suggested_prefix(&stored, &operations);
        let services = self.services(&stored.state);
        let Stored {
            state,
            row,
            operations: before,
            ..
        } = stored;
        let row = self.import_row(row, &after, now);
        let import = read::wire(gateway, &state, row.clone(), read::counts(&after));
        let mut warnings = self.found.warnings.clone();
        warnings.extend(credentials::warnings(
            gateway,
            &state,
            &self.source.credentials,
            &self.found.operations,
        ));
        let change = DefinitionChange {
            tools,
            services,
            imports: ImportChange {
                put: Some(row),
                operations: changed(after, &before),
                remove: None,
            },
            ..DefinitionChange::default()
        };
        let report = ImportReport {
            dry_run: false,
            import,
            total: self.found.operations.len(),
            operations,
            problems: self.found.problems.clone(),
            warnings,
            suggested_prefix,
            policy_tests: None,
        };
        Ok((change, report))
    }

    /// The tool service of the source, if the project has none of its id. One that is there stays as it is until a change is approved,
    /// because enabled tools may use it.
    fn services(&self, state: &ProjectState) -> Vec<ServiceDefinition> {
        let service = self.found.service.iter();
        let new = service.filter(|service| state.snapshot.service(service.id.as_str()).is_none());
        new.cloned().collect()
    }

    /// A prefix with which no operation is left out because its name is taken; `None` when none is.
    fn suggested_prefix(&self, stored: &Stored, report: &[ImportedOperation]) -> Option<String> {
        let is_taken = |one: &ImportedOperation| one.outcome == ImportOutcome::Taken;
        if !report.iter().any(is_taken) {
            return None;
        }
        let chosen = self.found.operations.iter();
        let chosen = chosen.filter(|operation| self.selection.includes(operation));
        suggested_prefix(self.id.as_str(), &chosen, |name| {
            stored.tool(name).is_some() || stored.is_elsewhere(name)
        })
    }

    /// An operation as it is kept afterwards; `None` when it is none of the import.
    fn row(
        &self,
        before: Option<&ImportOperationRow>,
        found: Option<&Operation>,
        verdict: &Verdict,
        now: DateTime<Utc>,
    ) -> Option<ImportOperationRow> {
        let (method, path) = match (found, before) {
            (Some(found), _) => (found.method.clone(), found.path.clone()),
            (None, Some(before)) => (before.method.clone(), before.path.clone()),
            (None, None) => return None,
        };
        let settled = |base: &ToolDefinition| ImportOperationRow {
            import: self.id.to_string(),
            revision: before.map_or(0, |before| before.revision),
            method: method.clone(),
            path: path.clone(),
            tool: base.name.clone(),
            base: base.clone(),
            waiting: None,
            gone_since: None,
        };
        match verdict {
            Verdict::New(base)
            | Verdict::Adopted(base)
            | Verdict::Unchanged(base)
            | Verdict::Deleted(base) => Some(settled(base)),
            Verdict::Taken(_) => None,
            Verdict::Refused(_) => before.map(|before| ImportOperationRow {
                gone_since: None,
                ..before.clone()
            }),
            Verdict::Gone => before.map(|before| ImportOperationRow {
                waiting: None,
                gone_since: before.gone_since.or(Some(now)),
                ..before.clone()
            }),
            Verdict::Changed(theirs) => before.map(|before| ImportOperationRow {
                waiting: Some(self.waiting(before, theirs, now)),
                ..settled(&before.base)
            }),
        }
    }

    /// A change that waits already goes on waiting since then.
    fn waiting(
        &self,
        before: &ImportOperationRow,
        theirs: &ToolDefinition,
        now: DateTime<Utc>,
    ) -> WaitingRow {
        match &before.waiting {
            Some(waiting) if waiting.definition == *theirs => waiting.clone(),
            _ => WaitingRow {
                definition: theirs.clone(),
                since: now,
                by: self.by.clone(),
            },
        }
    }

    /// The import as it is kept afterwards.
    fn import_row(
        &self,
        before: Option<ImportRow>,
        operations: &[ImportOperationRow],
        now: DateTime<Utc>,
    ) -> ImportRow {
        let by = self.by.clone();
        let (created_at, created_by, revision) = before.map_or((now, by.clone(), 0), |row| {
            (row.created_at, row.created_by, row.revision)
        });
        let short = |text: &str| text.chars().take(LONGEST).collect();
        let definitions = operations.iter().flat_map(|row| {
            let waiting = row.waiting.as_ref().map(|waiting| &waiting.definition);
            std::iter::once(&row.base).chain(waiting)
        });
        ImportRow {
            id: self.id.to_string(),
            revision,
            title: short(&self.found.title),
            version: short(&self.found.version),
            format: self.found.format,
            source: self.source.clone(),
            hosts: origins(definitions),
            created_at,
            created_by,
            imported_at: now,
            imported_by: by,
        }
    }
}

fn kept(row: &ImportOperationRow) -> Kept<'_> {
    Kept {
        method: row.method.clone(),
        path: row.path.clone(),
        tool: row.tool.clone(),
        base: Cow::Borrowed(&row.base),
    }
}

/// The rows that are not stored as they are.
fn changed(after: Vec<ImportOperationRow>, before: &[ImportOperationRow]) -> Vec<ImportOperationRow> {
    let before: HashMap<&str, &ImportOperationRow> =
        before.iter().map(|row| (row.tool.as_str(), row)).collect();
    after
        .into_iter()
        .filter(|row| before.get(row.tool.as_str()).is_none_or(|before| *before != row))
        .collect()
}

fn too_many(what: &str) -> Problem {
    Problem::new(
        ErrorCode::InvalidRequest,
        format!("{what}; nothing was stored. Choose fewer, or delete what is not needed."),
    )
}
