//! The use case "change definitions": check, commit as new revisions, load, answer.
//!
//! A change is computed against one version of the project and committed only if the database still has that version;
//! otherwise the newer one is loaded and the change is computed again. A project that expects something of its decisions
//! adds the version of the directory: who holds what decides too.

mod plan;
mod trail;

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::OwnedMutexGuard;
use toolgate_api::audit::AuditAction;
use toolgate_api::remedy::Remedy;
use toolgate_api::tools::{DefinitionKind, UploadItem, UploadOutcome, UploadResult};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::{
    self, Destination, ServiceDefinition, ToolDefinition, Upload, UploadContext, UploadedTool,
};
use toolgate_core::ids::{ProjectId, ToolName};
use toolgate_executors::{Bus, EgressError};
use toolgate_store::StoreError;
use toolgate_store::rows::{ImportChange, Publication, RevisionRow};

pub(super) use self::plan::candidate;
use self::plan::plan;
pub(super) use self::trail::{changed, revised};
use super::change_record::{Changer, recorded};
use super::policy_tests;
use super::secrets;
use super::server_snapshot::ProjectState;
use crate::gateway::problem::faults_in;
use crate::gateway::{Gateway, Problem};

/// Attempts to compute a change when others are committed in between.
pub(super) const ATTEMPTS: usize = 16;

/// Who changes something, and why.
pub struct Author<'a> {
    /// The principal's name.
    pub name: &'a str,
    /// Why, in the author's words.
    pub note: Option<String>,
    /// Whether the change may break policy tests; the note then says so.
    pub ignore_policy_tests: bool,
}

/// Runs `check` with what a definition of this project may refer to.
pub fn with_context<T>(
    gateway: &Gateway,
    project: &ProjectState,
    check: impl FnOnce(&UploadContext<'_>) -> T,
) -> T {
    check(&UploadContext {
        project: &project.row.id,
        env_allowed: &|name| gateway.env.allows(name),
        existing_services: &|id| project.snapshot.service(id).cloned(),
        executes: gateway.executors.executes(),
        subjects: gateway.bus.as_deref().map(Bus::rules),
    })
}

/// Every fault of a refused definition.
pub fn invalid_definition(errors: Vec<Diagnostic>) -> Problem {
    let faults = errors.iter().filter(|error| error.is_error()).count();
    Problem::new(ErrorCode::InvalidDefinition, faults_in("definitions", faults)).errors(errors)
}

/// Stores an upload whole, or with `dry_run` only says what it would do. `change` is what the record calls it.
pub async fn upload(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    by: &Changer<'_>,
    change: &str,
    upload: Upload,
    dry_run: bool,
) -> Result<UploadResult, Problem> {
    let state = current(gateway, project)?;
    let warnings = warnings(gateway, &state, &upload);
    let _turn = if dry_run {
        None
    } else {
        Some(turn(gateway, project).await?)
    };
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        check_expectations(&state, &upload.tools)?;
        let mut items = plan(gateway, &state, &upload.tools, &upload.services).await?;
        let changes = |kind, name: &str| {
            items.iter().any(|item| {
                item.kind == kind && item.name == name && item.outcome != UploadOutcome::Unchanged
            })
        };
        let tools: Vec<(ToolName, Option<ToolDefinition>)> = upload
            .tools
            .iter()
            .filter(|tool| changes(DefinitionKind::Tool, tool.definition.name.as_str()))
            .map(|tool| (tool.definition.name.clone(), Some(tool.definition.clone())))
            .collect();
        let services: Vec<ServiceDefinition> = upload
            .services
            .iter()
            .filter(|service| changes(DefinitionKind::ToolService, service.id.as_str()))
            .cloned()
            .collect();
        if dry_run || (tools.is_empty() && services.is_empty()) {
            let policy_tests = (dry_run && !state.policy_tests.is_empty()).then(|| {
                let candidate = candidate(gateway, &state, &by.author, &tools, &services);
                policy_tests::wire_effects(policy_tests::effects(
                    gateway,
                    &gateway.snapshots.now(),
                    &state,
                    &candidate,
                ))
            });
            return Ok(UploadResult {
                dry_run,
                items,
                warnings,
                policy_tests,
            });
        }
        let what = changed(change, &by.author, items.iter().filter_map(revisions).collect());
        let change = DefinitionChange {
            tools,
            services,
            ..DefinitionChange::default()
        };
        let Some(published) = commit(gateway, &state, by, AuditAction::Definition, what, change).await?
        else {
            continue;
        };
        for (kind, revisions) in [
            (DefinitionKind::Tool, published.tools),
            (DefinitionKind::ToolService, published.services),
        ] {
            for (name, revision) in revisions {
                let stored = items
                    .iter_mut()
                    .find(|item| item.kind == kind && item.name == name.as_str());
                if let Some(item) = stored {
                    item.revision = revision;
                }
            }
        }
        return Ok(UploadResult {
            dry_run,
            items,
            warnings,
            policy_tests: None,
        });
    }
    Err(too_busy())
}

/// What an upload does to one definition, for the record.
fn revisions(item: &UploadItem) -> Option<Value> {
    let before = match item.outcome {
        UploadOutcome::Unchanged => return None,
        UploadOutcome::Created => None,
        UploadOutcome::Replaced => Some(item.revision - 1),
    };
    Some(revised(item.kind, &item.name, before, Some(item.revision)))
}

/// What should be corrected in an upload: in its text, and as this server and the project are now.
pub fn warnings(gateway: &Gateway, state: &ProjectState, upload: &Upload) -> Vec<Diagnostic> {
    let definitions = || upload.tools.iter().map(|tool| &tool.definition);
    let mut warnings = upload.warnings.clone();
    warnings.extend(definitions().filter_map(|definition| egress_warning(gateway, state, definition)));
    warnings.extend(secrets::warnings(state, definitions(), upload.services.iter()));
    warnings
}

/// The hosts that calls of an upload go to and that are not allowed yet.
pub fn remedies(gateway: &Gateway, state: &ProjectState, upload: &Upload) -> Vec<Remedy> {
    let mut remedies = Vec::new();
    for tool in &upload.tools {
        if let Some((EgressError::NotListed { origin }, _)) = denied(gateway, state, &tool.definition) {
            let remedy = Remedy::AllowHost { origin };
            if !remedies.contains(&remedy) {
                remedies.push(remedy);
            }
        }
    }
    remedies
}

/// Deletes a tool; its revisions stay.
pub async fn delete_tool(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    name: &ToolName,
    by: &Changer<'_>,
    matches: impl Fn(i64) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let _turn = turn(gateway, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(gateway, project)?;
        let tool = state
            .snapshot
            .tool(name.as_str())
            .ok_or_else(|| tool_not_found(name.as_str()))?;
        matches(tool.revision)?;
        let gone = revised(DefinitionKind::Tool, name.as_str(), Some(tool.revision), None);
        let what = changed("delete_tool", &by.author, vec![gone]);
        let change = DefinitionChange::of_tools(vec![(name.clone(), None)]);
        let done = commit(gateway, &state, by, AuditAction::Definition, what, change).await?;
        if done.is_some() {
            return Ok(());
        }
    }
    Err(too_busy())
}

/// Makes an earlier revision the current one, as a new revision. What it refers to is checked again.
pub async fn restore(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    row: RevisionRow,
    by: &Changer<'_>,
    expect_revision: Option<i64>,
) -> Result<UploadResult, Problem> {
    let Some(definition) = row.definition else {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            format!(
                "Revision {} deleted the tool, so there is nothing to restore. Choose an earlier one.",
                row.revision
            ),
        ));
    };
    let state = current(gateway, project)?;
    let value = serde_json::to_value(&definition).map_err(|error| Problem::internal(&error))?;
    let (definition, warnings) =
        with_context(gateway, &state, |context| definition::check_tool(&value, context))
            .map_err(invalid_definition)?;
    let note = by.author.note.clone();
    let by = Changer {
        requester: by.requester,
        author: Author {
            note: note.or_else(|| Some(format!("restores revision {}", row.revision))),
            ..by.author
        },
    };
    let tools = vec![UploadedTool {
        definition,
        expect_revision,
    }];
    upload(
        gateway,
        project,
        &by,
        "restore_tool",
        Upload {
            tools,
            services: Vec::new(),
            warnings,
        },
        false,
    )
    .await
}

/// Waits until this process makes no other change of the project: those that wait are served in their order, so a change is
/// computed again only when another server was faster.
pub async fn turn(gateway: &Gateway, project: &ProjectId) -> Result<OwnedMutexGuard<()>, Problem> {
    let turns = Arc::clone(&current(gateway, project)?.turns);
    Ok(turns.lock_owned().await)
}

/// The project as it is now; it may have been deleted since the request began.
pub fn current(gateway: &Gateway, project: &ProjectId) -> Result<Arc<ProjectState>, Problem> {
    let server_snapshot = gateway.snapshots.now();
    server_snapshot
        .project(project.as_str())
        .cloned()
        .ok_or_else(|| Problem::not_found(format!("project \"{project}\"")))
}

/// What is committed together.
#[derive(Debug, Default)]
pub(super) struct DefinitionChange {
    /// Tools by their names; `None` deletes.
    pub(super) tools: Vec<(ToolName, Option<ToolDefinition>)>,
    /// Tool services.
    pub(super) services: Vec<ServiceDefinition>,
    /// Tool services that nothing uses, to delete.
    pub(super) deleted_services: Vec<ToolName>,
    /// What becomes of the imports that the tools belong to.
    pub(super) imports: ImportChange,
}

impl DefinitionChange {
    /// A change of tools alone.
    pub(super) fn of_tools(tools: Vec<(ToolName, Option<ToolDefinition>)>) -> Self {
        Self {
            tools,
            ..Self::default()
        }
    }

    /// A change of an import alone.
    pub(super) fn of_imports(imports: ImportChange) -> Self {
        Self {
            imports,
            ..Self::default()
        }
    }
}

/// Commits, on the record, against the version of `state`; `None` when the database has a newer one, which is then loaded. A change that
/// would break an expectation of the project is refused. Every change of definitions is committed here.
pub(super) async fn commit(
    gateway: &Arc<Gateway>,
    state: &Arc<ProjectState>,
    by: &Changer<'_>,
    action: AuditAction,
    what: Value,
    change: DefinitionChange,
) -> Result<Option<toolgate_store::Published>, Problem> {
    // The change goes on if the caller disconnects, so it borrows nothing.
    let work = {
        let (gateway, state) = (Arc::clone(gateway), Arc::clone(state));
        let (name, note) = (by.author.name.to_owned(), by.author.note.clone());
        let ignore_policy_tests = by.author.ignore_policy_tests;
        async move {
            let author = Author {
                name: &name,
                note,
                ignore_policy_tests,
            };
            store(&gateway, &state, &author, change).await
        }
    };
    recorded(gateway, state, &by.requester, action, what, work).await
}

async fn store(
    gateway: &Gateway,
    state: &ProjectState,
    author: &Author<'_>,
    change: DefinitionChange,
) -> Result<Option<toolgate_store::Published>, Problem> {
    let DefinitionChange {
        tools,
        services,
        deleted_services,
        imports,
    } = change;
    let server_snapshot = gateway.snapshots.now();
    let ignore = author.ignore_policy_tests;
    let said = policy_tests::guard(gateway, &server_snapshot, state, ignore, || {
        candidate(gateway, state, author, &tools, &services)
    })?;
    let publication = Publication {
        project: state.row.uid,
        expected_version: state.snapshot.version(),
        expected_directory: policy_tests::judged_with(&server_snapshot, state, ignore),
        tools,
        services,
        deleted_services,
        labels: toolgate_store::LabelChange::default(),
        author: author.name.to_owned(),
        at: gateway.clock.now(),
        note: policy_tests::noted(author.note.clone(), said),
    };
    let done = gateway.store.publish_with(&publication, &imports).await;
    // Thousands of definitions may be in them, and are loaded from the database.
    drop((publication, imports));
    match done {
        Ok(published) => {
            gateway.snapshots.refresh().await?;
            Ok(Some(published))
        }
        Err(StoreError::VersionConflict) => {
            gateway.snapshots.refresh().await?;
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Refuses the whole upload when a tool is not at the revision its author worked from.
fn check_expectations(state: &ProjectState, tools: &[UploadedTool]) -> Result<(), Problem> {
    let stale: Vec<Diagnostic> = tools
        .iter()
        .filter_map(|tool| {
            let expected = tool.expect_revision?;
            let name = tool.definition.name.as_str();
            let found = state.snapshot.tool(name).map_or(0, |tool| tool.revision);
            (found != expected).then(|| {
                Diagnostic::error(format!(
                    "\"{name}\" is at revision {found}, not at the expected {expected}"
                ))
                .hint("read the current revision, merge, and send it with its number")
            })
        })
        .collect();
    if stale.is_empty() {
        return Ok(());
    }
    Err(Problem::new(
        ErrorCode::PreconditionFailed,
        "The definition has changed since it was read; nothing was saved.",
    )
    .errors(stale))
}

/// Says early that calls will be refused until an operator allows the destination.
fn egress_warning(
    gateway: &Gateway,
    state: &ProjectState,
    definition: &ToolDefinition,
) -> Option<Diagnostic> {
    let (refusal, pointer) = denied(gateway, state, definition)?;
    Some(
        Diagnostic::warning(format!(
            "calls of \"{}\" will be refused: {refusal}",
            definition.name
        ))
        .hint("ask a system administrator to add the host to the project's egress list")
        .at_pointer(pointer),
    )
}

/// Why calls of a tool may not reach their destination, and where the definition names it.
fn denied(
    gateway: &Gateway,
    state: &ProjectState,
    definition: &ToolDefinition,
) -> Option<(EgressError, &'static str)> {
    let Destination { pointer, base_url } = definition.execution()?.destination()?;
    let url = url::Url::parse(base_url).ok()?;
    let refusal = state.egress.permits(&gateway.egress, &url).err()?;
    Some((refusal, pointer))
}

/// The project has no such tool.
pub fn tool_not_found(name: &str) -> Problem {
    let shown: String = name.chars().take(128).collect();
    Problem::new(
        ErrorCode::ToolNotFound,
        format!("The project has no tool \"{shown}\" that you may see."),
    )
}

/// Other servers changed the same at the same time, again and again.
pub fn too_busy() -> Problem {
    Problem::new(
        ErrorCode::Conflict,
        "Others change the same at the same time; nothing was stored. Read what is there now and send the change again.",
    )
    .retry_after(1)
}
