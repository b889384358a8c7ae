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
use toolgate_api::tools::{DefinitionKind, UploadItem, UploadOutcome, UploadResult};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::{
    self, ServiceDefinition, ToolDefinition, Upload, UploadContext, UploadedTool,
};
use toolgate_core::ids::{ProjectId, ToolName};
use toolgate_store::StoreError;
use toolgate_store::rows::{ImportChange, Publication, RevisionRow};

pub(super) use self::plan::candidate;
use self::plan::plan;
pub(super) use self::trail::{changed, revised};
use super::change_record::{Changer, recorded};
use super::policy_tests;
use super::secrets;
use super::world::ProjectState;
use crate::error::{ApiError, ApiResult};
use crate::state::App;

/// How often a change is computed again because somebody else was faster.
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
pub fn with_context<T>(app: &App, project: &ProjectState, check: impl FnOnce(&UploadContext<'_>) -> T) -> T {
    check(&UploadContext {
        project: &project.row.id,
        env_allowed: &|name| app.env.allows(name),
        existing_services: &|id| project.snapshot.service(id).cloned(),
    })
}

/// Every fault of a refused definition.
pub fn invalid_definition(errors: Vec<Diagnostic>) -> ApiError {
    let faults = errors.iter().filter(|error| error.is_error()).count();
    ApiError::new(
        ErrorCode::InvalidDefinition,
        format!(
            "{faults} fault(s) in the definitions; nothing was stored. `errors` names each with its place."
        ),
    )
    .errors(errors)
}

/// Stores an upload whole, or with `dry_run` only says what it would do. `change` is what the record calls it.
pub async fn upload(
    app: &Arc<App>,
    project: &ProjectId,
    by: &Changer<'_>,
    change: &str,
    upload: Upload,
    dry_run: bool,
) -> ApiResult<UploadResult> {
    let state = current(app, project)?;
    let warnings = warnings(app, &state, &upload);
    let _turn = if dry_run {
        None
    } else {
        Some(turn(app, project).await?)
    };
    for _ in 0..ATTEMPTS {
        let state = current(app, project)?;
        check_expectations(&state, &upload.tools)?;
        let mut items = plan(app, &state, &upload.tools, &upload.services).await?;
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
                let candidate = candidate(app, &state, &by.author, &tools, &services);
                policy_tests::wire_effects(policy_tests::effects(app, &app.world.now(), &state, &candidate))
            });
            return Ok(UploadResult {
                dry_run,
                items,
                warnings,
                policy_tests,
            });
        }
        let what = changed(change, &by.author, items.iter().filter_map(revisions).collect());
        let Some(published) = commit(app, &state, by, what, tools, services).await? else {
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

/// What is worth mending in an upload: in its text, and as this server and the project are now.
pub fn warnings(app: &App, state: &ProjectState, upload: &Upload) -> Vec<Diagnostic> {
    let definitions = || upload.tools.iter().map(|tool| &tool.definition);
    let mut warnings = upload.warnings.clone();
    warnings.extend(definitions().filter_map(|definition| egress_warning(app, state, definition)));
    warnings.extend(secrets::warnings(state, definitions(), upload.services.iter()));
    warnings
}

/// Deletes a tool; its revisions stay.
pub async fn delete_tool(
    app: &Arc<App>,
    project: &ProjectId,
    name: &ToolName,
    by: &Changer<'_>,
    matches: impl Fn(i64) -> ApiResult<()>,
) -> ApiResult<()> {
    let _turn = turn(app, project).await?;
    for _ in 0..ATTEMPTS {
        let state = current(app, project)?;
        let tool = state
            .snapshot
            .tool(name.as_str())
            .ok_or_else(|| tool_not_found(name.as_str()))?;
        matches(tool.revision)?;
        let gone = revised(DefinitionKind::Tool, name.as_str(), Some(tool.revision), None);
        let what = changed("delete_tool", &by.author, vec![gone]);
        let tools = vec![(name.clone(), None)];
        if commit(app, &state, by, what, tools, Vec::new()).await?.is_some() {
            return Ok(());
        }
    }
    Err(too_busy())
}

/// Makes an earlier revision the current one, as a new revision. What it refers to is checked again.
pub async fn restore(
    app: &Arc<App>,
    project: &ProjectId,
    row: RevisionRow,
    by: &Changer<'_>,
    expect_revision: Option<i64>,
) -> ApiResult<UploadResult> {
    let Some(definition) = row.definition else {
        return Err(ApiError::new(
            ErrorCode::InvalidRequest,
            format!(
                "Revision {} deleted the tool, so there is nothing to restore. Choose an earlier one.",
                row.revision
            ),
        ));
    };
    let state = current(app, project)?;
    let value = serde_json::to_value(&definition).map_err(|error| ApiError::internal(&error))?;
    let (definition, warnings) = with_context(app, &state, |context| definition::check_tool(&value, context))
        .map_err(invalid_definition)?;
    let note = by.author.note.clone();
    let by = Changer {
        asker: by.asker,
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
        app,
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
pub async fn turn(app: &App, project: &ProjectId) -> ApiResult<OwnedMutexGuard<()>> {
    let turns = Arc::clone(&current(app, project)?.turns);
    Ok(turns.lock_owned().await)
}

/// The project as it is now; it may have been deleted since the request began.
pub fn current(app: &App, project: &ProjectId) -> ApiResult<Arc<ProjectState>> {
    let world = app.world.now();
    world
        .project(project.as_str())
        .cloned()
        .ok_or_else(|| ApiError::not_found(format!("project \"{project}\"")))
}

/// Commits, on the record, against the version of `state`; `None` when the database has a newer one, which is then loaded. A change that
/// would break an expectation of the project is refused.
pub(super) async fn commit(
    app: &Arc<App>,
    state: &Arc<ProjectState>,
    by: &Changer<'_>,
    what: Value,
    tools: Vec<(ToolName, Option<ToolDefinition>)>,
    services: Vec<ServiceDefinition>,
) -> ApiResult<Option<toolgate_store::Published>> {
    let work = committing(app, state, &by.author, tools, services, ImportChange::default());
    recorded(app, state, &by.asker, AuditAction::Definition, what, work).await
}

/// As [`commit`], with a change of the imports that the tools belong to; the caller records it. It borrows nothing.
pub(super) fn commit_imported(
    app: &Arc<App>,
    state: &Arc<ProjectState>,
    author: &Author<'_>,
    tools: Vec<(ToolName, Option<ToolDefinition>)>,
    imports: ImportChange,
) -> impl Future<Output = ApiResult<Option<toolgate_store::Published>>> + Send + use<> {
    committing(app, state, author, tools, Vec::new(), imports)
}

fn committing(
    app: &Arc<App>,
    state: &Arc<ProjectState>,
    author: &Author<'_>,
    tools: Vec<(ToolName, Option<ToolDefinition>)>,
    services: Vec<ServiceDefinition>,
    imports: ImportChange,
) -> impl Future<Output = ApiResult<Option<toolgate_store::Published>>> + Send + use<> {
    let (app, state) = (Arc::clone(app), Arc::clone(state));
    let (name, note) = (author.name.to_owned(), author.note.clone());
    let ignore_policy_tests = author.ignore_policy_tests;
    async move {
        let author = Author {
            name: &name,
            note,
            ignore_policy_tests,
        };
        commit_with(&app, &state, &author, tools, services, imports).await
    }
}

async fn commit_with(
    app: &App,
    state: &ProjectState,
    author: &Author<'_>,
    tools: Vec<(ToolName, Option<ToolDefinition>)>,
    services: Vec<ServiceDefinition>,
    imports: ImportChange,
) -> ApiResult<Option<toolgate_store::Published>> {
    let world = app.world.now();
    let ignore = author.ignore_policy_tests;
    let said = policy_tests::guard(app, &world, state, ignore, || {
        candidate(app, state, author, &tools, &services)
    })?;
    let publication = Publication {
        project: state.row.uid,
        expected_version: state.snapshot.version(),
        expected_directory: policy_tests::judged_with(&world, state, ignore),
        tools,
        services,
        labels: toolgate_store::LabelChange::default(),
        author: author.name.to_owned(),
        at: app.clock.now(),
        note: policy_tests::noted(author.note.clone(), said),
    };
    let done = app.store.publish_with(&publication, &imports).await;
    // Thousands of definitions may be in them, and are loaded anew.
    drop((publication, imports));
    match done {
        Ok(published) => {
            app.world.refresh().await?;
            Ok(Some(published))
        }
        Err(StoreError::VersionConflict) => {
            app.world.refresh().await?;
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Refuses the whole upload when a tool is not at the revision its author worked from.
fn check_expectations(state: &ProjectState, tools: &[UploadedTool]) -> ApiResult<()> {
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
    Err(ApiError::new(
        ErrorCode::PreconditionFailed,
        "Somebody changed what you are about to replace; nothing was stored.",
    )
    .errors(stale))
}

/// Says early that calls will be refused until an operator allows the destination.
fn egress_warning(app: &App, state: &ProjectState, definition: &ToolDefinition) -> Option<Diagnostic> {
    let options = &definition.options;
    let (pointer, base) = match (&options.http, &options.jina) {
        (Some(http), _) => ("/options/http/base_url", http.base_url.as_str()),
        (None, Some(jina)) => ("/options/jina/base_url", jina.base_url.as_deref()?),
        (None, None) => return None,
    };
    let url = url::Url::parse(base).ok()?;
    let refusal = state.egress.permits(&app.egress, &url).err()?;
    Some(
        Diagnostic::warning(format!(
            "calls of \"{}\" will be refused: {refusal}",
            definition.name
        ))
        .hint("ask a system administrator to add the host to the project's egress list")
        .at_pointer(pointer),
    )
}

/// The project has no such tool.
pub fn tool_not_found(name: &str) -> ApiError {
    let shown: String = name.chars().take(128).collect();
    ApiError::new(
        ErrorCode::ToolNotFound,
        format!("The project has no tool \"{shown}\" that you may see."),
    )
}

/// Other servers changed the same at the same time, again and again.
pub fn too_busy() -> ApiError {
    ApiError::new(
        ErrorCode::Conflict,
        "Others change the same at the same time; nothing was stored. Read what is there now and send the change again.",
    )
    .retry_after(1)
}
