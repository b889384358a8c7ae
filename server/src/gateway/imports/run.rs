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
use toolgate_core::definition::ToolDefinition;
use toolgate_core::ids::{ImportId, ProjectId, ToolName};
use toolgate_core::imports::{Kept, Place, Verdict, plan};
use toolgate_core::openapi_import::{Operation, Preview, Selection, suggested_prefix};
use toolgate_store::rows::{ImportChange, ImportOperationRow, ImportRow, WaitingRow};

use super::source::{Description, Said, reading};
use super::told::Telling;
use super::{Request, credentials, format, origins, parsed, read};
use crate::error::{ApiError, ApiResult};
use crate::gateway::change_record::{Changer, recorded};
use crate::gateway::policy_tests;
use crate::gateway::publish::{self, ATTEMPTS, Author, candidate, current, too_busy, turn};
use crate::gateway::world::ProjectState;
use crate::state::App;

/// Imports of one project.
const MAX_IMPORTS: usize = 200;
/// Operations of one import.
const MAX_OPERATIONS: usize = 5_000;
/// Characters of a title and of a version that are kept.
const LONGEST: usize = 200;
/// Names of tools of each kind in a record.
const NAMED: usize = 100;

/// What is to be imported.
pub struct Asked {
    /// Under which id.
    pub id: ImportId,
    /// The description.
    pub description: Description,
    /// What is said about it.
    pub said: Said,
    /// Whether tools that are there already are taken in.
    pub adopt: bool,
    /// Whether definitions are answered too.
    pub definitions: bool,
    /// Whether nothing is to be stored.
    pub dry_run: bool,
}

/// Imports, on the record; whether the import is new, and what became of each operation.
///
/// # Errors
/// What `condition` says of the revision that is there; 422 when the description cannot be read; what the policy tests of
/// the project refuse.
pub async fn import(
    app: &Arc<App>,
    project: &ProjectId,
    by: &Changer<'_>,
    asked: Asked,
    condition: impl Fn(Option<i64>) -> ApiResult<()>,
) -> ApiResult<(bool, ImportReport)> {
    let state = current(app, project)?;
    let before = app.store.import_counted(state.row.uid, asked.id.as_str()).await?;
    condition(before.as_ref().map(|(row, _)| row.revision))?;
    let source = asked.said.over(
        before.as_ref().map(|(row, _)| &row.source),
        asked.description.url(),
    );
    let (options, selection) = reading(&source)?;
    let bytes = asked.description.read(app, &state).await?;
    let request = Request {
        options,
        selection,
        definitions: asked.definitions,
    };
    let (found, request) = parsed(app, &state, bytes, request).await?;
    let run = Arc::new(Run {
        id: asked.id,
        source,
        found,
        selection: request.selection,
        adopt: asked.adopt,
        definitions: asked.definitions,
        by: by.author.name.to_owned(),
    });
    let _turn = turn(app, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(app, project)?;
        let before = run.before(app, &state).await?;
        condition(before.row.as_ref().map(|row| row.revision))?;
        let is_new = before.row.is_none();
        // Comparing thousands of definitions takes a while.
        let (step, of_app, of_project) = (Arc::clone(&run), Arc::clone(app), Arc::clone(&state));
        let mut step = tokio::task::spawn_blocking(move || step.step(&of_app, &of_project, before))
            .await
            .map_err(|error| ApiError::internal(&error))??;
        if asked.dry_run {
            if !state.policy_tests.is_empty() {
                let candidate = candidate(app, &state, &by.author, &step.tools, &[]);
                let effects = policy_tests::effects(app, &app.world.now(), &state, &candidate);
                step.report.policy_tests = Some(policy_tests::wire_effects(effects));
            }
            step.report.dry_run = true;
            return Ok((is_new, step.report));
        }
        let noted = Author {
            note: by
                .author
                .note
                .clone()
                .or_else(|| Some(format!("imports {} {}", run.id, step.report.import.version))),
            ..by.author
        };
        let what = what(&step.report);
        let commit = publish::commit_imported(app, &state, &noted, step.tools, step.change);
        let done = recorded(app, &state, &by.asker, AuditAction::Import, what, commit).await?;
        if let Some(published) = done {
            step.report.import.revision = published.version;
            return Ok((is_new, step.report));
        }
    }
    Err(too_busy())
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
    source: ImportSource,
    found: Preview,
    selection: Selection,
    adopt: bool,
    definitions: bool,
    by: String,
}

/// What there was before.
struct Before {
    row: Option<ImportRow>,
    rows: Vec<ImportOperationRow>,
    /// The tools of other imports.
    elsewhere: HashSet<String>,
}

/// What is to be stored, and what is to be told.
struct Step {
    tools: Vec<(ToolName, Option<ToolDefinition>)>,
    change: ImportChange,
    report: ImportReport,
}

/// The tools of a project, and which of them belong to another import.
struct Tools<'a> {
    state: &'a ProjectState,
    elsewhere: HashSet<String>,
}

impl Place for Tools<'_> {
    fn tool(&self, name: &str) -> Option<&ToolDefinition> {
        self.state.snapshot.tool(name).map(|tool| &*tool.definition)
    }

    fn is_elsewhere(&self, name: &str) -> bool {
        self.elsewhere.contains(name)
    }
}

impl Run {
    async fn before(&self, app: &App, state: &ProjectState) -> ApiResult<Before> {
        let uid = state.row.uid;
        let found = app.store.import(uid, self.id.as_str()).await?;
        let (row, rows) = found.map_or((None, Vec::new()), |(row, rows)| (Some(row), rows));
        if row.is_none() && app.store.imports(uid, None, u32::MAX).await?.len() >= MAX_IMPORTS {
            return Err(too_many(&format!("A project has at most {MAX_IMPORTS} imports")));
        }
        let imported = app.store.imported_tools(uid).await?.into_iter();
        let elsewhere = imported.filter(|(_, import)| import != self.id.as_str());
        Ok(Before {
            row,
            rows,
            elsewhere: elsewhere.map(|(tool, _)| tool).collect(),
        })
    }

    fn step(&self, app: &App, state: &ProjectState, before: Before) -> ApiResult<Step> {
        let Before { row, rows, elsewhere } = before;
        let tools = Tools { state, elsewhere };
        let telling = Telling {
            app,
            state,
            definitions: self.definitions,
        };
        let kept: Vec<Kept<'_>> = rows.iter().map(kept).collect();
        let is_chosen = |operation: &Operation| self.selection.includes(operation);
        let planned = plan(&kept, &self.found.operations, is_chosen, &tools, self.adopt);
        let now = app.clock.now();
        let mut after: Vec<ImportOperationRow> = Vec::with_capacity(planned.len());
        let mut new = Vec::new();
        let mut operations = Vec::with_capacity(planned.len());
        for planned in planned {
            let before = planned.kept.map(|at| &rows[at]);
            let found = planned.found.map(|at| &self.found.operations[at]);
            if let Verdict::New(definition) = &planned.verdict {
                new.push((definition.name.clone(), Some((**definition).clone())));
            }
            after.extend(self.row(before, found, &planned.verdict, now));
            operations.push(telling.of(before, found, planned));
        }
        if after.len() > MAX_OPERATIONS {
            return Err(too_many(&format!(
                "An import has at most {MAX_OPERATIONS} operations"
            )));
        }
        let suggested_prefix = self.suggested_prefix(&tools, &operations);
        let row = self.import_row(row, &after, now);
        let import = read::wire(app, state, row.clone(), read::counts(&after));
        let mut warnings = self.found.warnings.clone();
        warnings.extend(credentials::warnings(
            app,
            state,
            &self.source.credentials,
            &self.found.operations,
        ));
        Ok(Step {
            tools: new,
            change: ImportChange {
                put: Some(row),
                operations: changed(after, &rows),
                remove: None,
            },
            report: ImportReport {
                dry_run: false,
                import,
                total: self.found.operations.len(),
                operations,
                problems: self.found.problems.clone(),
                warnings,
                suggested_prefix,
                policy_tests: None,
            },
        })
    }

    /// A prefix with which no operation is left out because its name is taken; `None` when none is.
    fn suggested_prefix(&self, tools: &Tools<'_>, told: &[ImportedOperation]) -> Option<String> {
        let is_taken = |one: &ImportedOperation| one.outcome == ImportOutcome::Taken;
        if !told.iter().any(is_taken) {
            return None;
        }
        let chosen = self.found.operations.iter();
        let chosen = chosen.filter(|operation| self.selection.includes(operation));
        suggested_prefix(self.id.as_str(), &chosen, |name| {
            tools.tool(name).is_some() || tools.is_elsewhere(name)
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
            format: format(self.found.dialect),
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

fn too_many(what: &str) -> ApiError {
    ApiError::new(
        ErrorCode::InvalidRequest,
        format!("{what}; nothing was stored. Choose fewer, or delete what is not needed."),
    )
}
