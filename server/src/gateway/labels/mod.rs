//! Changing what is declared about groups and states, and their names wherever they stand: checked against the project's
//! policy tests, committed in one transaction, and always on the record.

mod effects;
mod guard;
mod trail;

use std::sync::Arc;

use serde_json::Value;
use toolgate_api::audit::AuditAction;
use toolgate_api::groups::NameEffects;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::ToolDefinition;
use toolgate_core::definition::names::label_fault;
use toolgate_core::ids::ToolName;
use toolgate_core::rename::NameChange;
use toolgate_core::snapshot::{LabelInput, ProjectSnapshot, ToolInput};
use toolgate_store::rows::Publication;
use toolgate_store::{LabelChange, LabelContent, StoreError};

use super::change_record::recorded;
use super::entry::Entry;
use super::policy_tests;
use super::publish::{too_busy, turn};
use super::record::Requester;
use super::server_snapshot::{ProjectState, ServerSnapshot};
use crate::gateway::{Gateway, Problem};

/// How often a change is computed again because another change was faster.
const ATTEMPTS: usize = 16;
/// Longest description, in characters.
const MAX_DESCRIPTION: usize = 1_000;

/// Groups or states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Groups.
    Group,
    /// States.
    State,
}

impl Kind {
    /// The word for people.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::State => "state",
        }
    }
}

/// A group or a state, as one caller may see it.
pub trait Label: Sized + serde::Serialize {
    /// Which of the two.
    const KIND: Kind;

    /// Its name.
    fn name(&self) -> &str;

    /// The one with a name; `None` when there is none that the caller may see.
    fn get(gateway: &Gateway, place: &Entry, name: &str) -> Option<Self>;

    /// Those after a name, sorted, whose name or description has a text in it (in lower case).
    fn list(
        gateway: &Gateway,
        place: &Entry,
        after: Option<&str>,
        needle: Option<&str>,
        most: usize,
    ) -> Vec<Self>;
}

/// Whether a name or what is declared about it has a text in it, in any case.
pub(super) fn matches(name: &str, description: Option<&str>, needle: Option<&str>) -> bool {
    let has = |text: &str| needle.is_none_or(|needle| text.to_lowercase().contains(needle));
    has(name) || description.is_some_and(has)
}

/// Who changes something, where, and how.
pub struct Actor<'a> {
    /// For the record.
    pub requester: Requester<'a>,
    /// The project as the request found it.
    pub project: &'a ProjectState,
    /// Whether the change may break policy tests.
    pub ignore_policy_tests: bool,
}

/// The project as the database has it now.
async fn fresh(
    gateway: &Gateway,
    project: &ProjectState,
) -> Result<(Arc<ServerSnapshot>, Arc<ProjectState>), Problem> {
    gateway.snapshots.refresh().await?;
    let server_snapshot = gateway.snapshots.now();
    let found = server_snapshot
        .project(project.row.id.as_str())
        .filter(|found| found.row.uid == project.row.uid)
        .map(Arc::clone)
        .ok_or_else(|| Problem::not_found(format!("project \"{}\"", project.row.id)))?;
    Ok((server_snapshot, found))
}

/// Everything that goes into one transaction, and what it leads to.
struct Plan {
    tools: Vec<(ToolName, Option<ToolDefinition>)>,
    labels: LabelChange,
    /// What is declared afterwards: groups, states.
    declared: (Vec<LabelInput>, Vec<LabelInput>),
    note: Option<String>,
}

impl Plan {
    /// The project as it would be.
    fn candidate(&self, gateway: &Gateway, state: &ProjectState, author: &str) -> ProjectSnapshot {
        let snapshot = &state.snapshot;
        let changed = self.tools.iter().filter_map(|(name, definition)| {
            Some(ToolInput {
                definition: definition.clone()?,
                revision: snapshot.tool(name.as_str()).map_or(0, |tool| tool.revision) + 1,
                updated_at: gateway.clock.now(),
                updated_by: author.to_owned(),
            })
        });
        let services = snapshot
            .services()
            .map(|(service, revision)| (service.clone(), revision))
            .collect();
        let (groups, states) = self.declared.clone();
        snapshot
            .with_changes(snapshot.version() + 1, changed.collect(), &[], services)
            .with_labels(groups, states, Some(snapshot))
    }
}

/// Commits against the version of `state`, and what `server_snapshot` says about who holds what if something is expected of
/// that; `what` is recorded. False when the database has a newer version.
async fn commit(
    gateway: &Arc<Gateway>,
    server_snapshot: &ServerSnapshot,
    state: &ProjectState,
    actor: &Actor<'_>,
    plan: Plan,
    what: Value,
) -> Result<bool, Problem> {
    let publication = Publication {
        project: state.row.uid,
        expected_version: state.snapshot.version(),
        expected_directory: policy_tests::judged_with(server_snapshot, state, actor.ignore_policy_tests),
        tools: plan.tools,
        services: Vec::new(),
        deleted_services: Vec::new(),
        labels: plan.labels,
        author: actor.requester.principal.name.clone(),
        at: gateway.clock.now(),
        note: plan.note,
    };
    let task = Arc::clone(gateway);
    let published = async move { publish(&task, &publication).await };
    let (requester, action) = (&actor.requester, AuditAction::Policy);
    let done = recorded(gateway, state, requester, action, what, published).await?;
    Ok(done.is_some())
}

async fn publish(gateway: &Gateway, publication: &Publication) -> Result<Option<()>, Problem> {
    let done = match gateway.store.publish(publication).await {
        Ok(_) => Some(()),
        Err(StoreError::VersionConflict) => None,
        Err(error @ StoreError::Conflict { .. }) => {
            return Err(Problem::new(
                ErrorCode::Conflict,
                format!("{error}. Choose another name, or take it out of that grant first."),
            ));
        }
        Err(error) => return Err(error.into()),
    };
    gateway.snapshots.refresh().await?;
    Ok(done)
}

/// What is declared now.
fn declared(state: &ProjectState, kind: Kind, name: &str) -> Option<LabelInput> {
    match kind {
        Kind::Group => state
            .snapshot
            .declared_group(name)
            .map(|group| group.label.clone()),
        Kind::State => state.snapshot.declared_state(name).cloned(),
    }
}

fn all_declared(state: &ProjectState) -> (Vec<LabelInput>, Vec<LabelInput>) {
    let snapshot = &state.snapshot;
    (
        snapshot
            .declared_groups()
            .map(|group| group.label.clone())
            .collect(),
        snapshot.declared_states().cloned().collect(),
    )
}

/// Whether there is such a group or state, declared or used.
#[must_use]
pub fn exists(state: &ProjectState, kind: Kind, name: &str) -> bool {
    match kind {
        Kind::Group => state.snapshot.knows_group(name),
        Kind::State => state.snapshot.knows_state(name),
    }
}

/// The revision of a group or state: that of its declaration, and 0 while it is only used. `None` when there is none.
#[must_use]
pub fn revision(state: &ProjectState, kind: Kind, name: &str) -> Option<i64> {
    match declared(state, kind, name) {
        Some(label) => Some(label.revision),
        None => exists(state, kind, name).then_some(0),
    }
}

/// The project has no such group or state that the caller may see.
pub fn not_found(kind: Kind, name: &str) -> Problem {
    let shown: String = name.chars().take(128).collect();
    Problem::not_found(format!("{} \"{shown}\"", kind.word()))
}

/// Declares a group or state in place of what was declared. `matches` is asked with whether it is declared and with its
/// [`revision`]. Whether it was declared for the first time.
pub async fn declare(
    gateway: &Arc<Gateway>,
    actor: &Actor<'_>,
    kind: Kind,
    name: &str,
    content: &LabelContent,
    matches: impl Fn(bool, Option<i64>) -> Result<(), Problem>,
) -> Result<bool, Problem> {
    check(kind, name, content).await?;
    let _turn = turn(gateway, &actor.project.row.id).await?;
    for _ in 0..ATTEMPTS {
        let (server_snapshot, state) = fresh(gateway, actor.project).await?;
        let before = declared(&state, kind, name);
        matches(before.is_some(), revision(&state, kind, name))?;
        let author = &actor.requester.principal.name;
        let after = LabelInput {
            name: name.to_owned(),
            description: content.description.clone(),
            condition: content.condition.clone(),
            revision: state.snapshot.version() + 1,
            updated_at: gateway.clock.now(),
            updated_by: author.clone(),
        };
        let mut declared = all_declared(&state);
        let mut labels = LabelChange::default();
        let (list, change) = match kind {
            Kind::Group => (&mut declared.0, &mut labels.groups),
            Kind::State => (&mut declared.1, &mut labels.states),
        };
        list.retain(|label| label.name != name);
        list.push(after);
        change.push((name.to_owned(), Some(content.clone())));
        effects::check_counts(&declared)?;
        let plan = Plan {
            tools: Vec::new(),
            labels,
            declared,
            note: None,
        };
        let said = guard::guard(
            gateway,
            &server_snapshot,
            &state,
            None,
            actor.ignore_policy_tests,
            || plan.candidate(gateway, &state, author),
        )?;
        let what = trail::declared(kind, before.as_ref(), name, content, said.as_deref());
        if commit(gateway, &server_snapshot, &state, actor, plan, what).await? {
            return Ok(before.is_none());
        }
    }
    Err(too_busy())
}

/// Changes a name wherever it stands, or with `dry_run` only says what that would do.
pub async fn change_name(
    gateway: &Arc<Gateway>,
    actor: &Actor<'_>,
    kind: Kind,
    names: &NameChange,
    dry_run: bool,
    matches: impl Fn(i64) -> Result<(), Problem>,
) -> Result<NameEffects, Problem> {
    let (from, to) = match names {
        NameChange::RenameGroup { from, to } | NameChange::RenameState { from, to } => (from, Some(to)),
        NameChange::RemoveGroup(from) | NameChange::RemoveState(from) => (from, None),
    };
    let _turn = turn(gateway, &actor.project.row.id).await?;
    for _ in 0..ATTEMPTS {
        let (server_snapshot, state) = fresh(gateway, actor.project).await?;
        let revision = revision(&state, kind, from).ok_or_else(|| not_found(kind, from))?;
        matches(revision)?;
        refuse_built_in(kind, from)?;
        if let Some(to) = to {
            check_name(kind, to, "/to")?;
            effects::check_target(&state, kind, names, from, to)?;
        }
        let (mut plan, mut effects) = effects::plan(gateway, &server_snapshot, &state, names).await?;
        effects.dry_run = dry_run;
        let author = &actor.requester.principal.name;
        // A dry run gives the same verdict.
        let said = guard::guard(
            gateway,
            &server_snapshot,
            &state,
            Some(names),
            actor.ignore_policy_tests,
            || plan.candidate(gateway, &state, author),
        )?;
        if dry_run {
            return Ok(effects);
        }
        plan.note = super::policy_tests::noted(plan.note.take(), said.clone());
        let what = trail::renamed(kind, names, &effects, said.as_deref());
        if commit(gateway, &server_snapshot, &state, actor, plan, what).await? {
            return Ok(effects);
        }
    }
    Err(too_busy())
}

/// Whether this can be declared.
///
/// # Errors
/// 422 with every fault.
pub(super) async fn check(kind: Kind, name: &str, content: &LabelContent) -> Result<(), Problem> {
    check_name(kind, name, "")?;
    check_content(content).await
}

/// Names by the rule of definitions.
fn check_name(kind: Kind, name: &str, pointer: &str) -> Result<(), Problem> {
    let any = || (name == "*").then(|| "\"*\" means every one and is no name".to_owned());
    let Some(fault) = label_fault(name).or_else(any) else {
        return Ok(());
    };
    Err(Problem::new(
        ErrorCode::InvalidRequest,
        format!("There cannot be such a {}.", kind.word()),
    )
    .errors(vec![Diagnostic::error(fault).at_pointer(pointer)]))
}

/// What requests mean that say nothing cannot be taken away.
fn refuse_built_in(kind: Kind, name: &str) -> Result<(), Problem> {
    let (built_in, meaning) = match kind {
        Kind::Group => (
            toolgate_core::policy::groups::DEFAULT_GROUP,
            "Tools and requests that name no group",
        ),
        Kind::State => (
            toolgate_core::policy::decision::UNDEFINED_STATE,
            "Requests that name no state",
        ),
    };
    if name == "*" {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "\"*\" means every one, so it can be neither renamed nor removed.",
        ));
    }
    if name != built_in {
        return Ok(());
    }
    Err(Problem::new(
        ErrorCode::InvalidRequest,
        format!("{meaning} are in \"{built_in}\", so it can be neither renamed nor removed."),
    ))
}

/// The description's length and the condition's grammar, all faults at once.
async fn check_content(content: &LabelContent) -> Result<(), Problem> {
    let mut faults = Vec::new();
    if content.description.chars().nth(MAX_DESCRIPTION).is_some() {
        faults.push(
            Diagnostic::error(format!("has more than {MAX_DESCRIPTION} characters"))
                .at_pointer("/description"),
        );
    }
    if let Some(condition) = content.condition.clone() {
        // Away from the threads that serve requests: reading one takes milliseconds.
        let parsed = tokio::task::spawn_blocking(move || {
            toolgate_core::policy::condition::Condition::parse(&condition).map(drop)
        })
        .await
        .map_err(|error| Problem::internal(&error))?;
        if let Err(found) = parsed {
            faults.extend(found.into_iter().map(|fault| fault.at_pointer("/condition")));
        }
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(Problem::new(
        ErrorCode::InvalidRequest,
        "This cannot be declared; nothing was stored. `errors` names each fault with its place.",
    )
    .errors(faults))
}
