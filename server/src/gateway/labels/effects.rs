//! What a change of a name would change.

use toolgate_api::groups::{NameEffects, ToolEffect, ToolPlace};
use toolgate_api::limits::{LimitSubject, ProjectLimits};
use toolgate_api::policy_tests::PolicyTest;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::ToolDefinition;
use toolgate_core::policy::groups::parents;
use toolgate_core::rename::NameChange;
use toolgate_core::snapshot::LabelInput;
use toolgate_store::{LabelChange, LabelContent};

use super::{Kind, Plan, all_declared};
use crate::gateway::server_snapshot::{ProjectState, ServerSnapshot};
use crate::gateway::{Gateway, Problem};

/// Tools that are listed one by one.
const MAX_TOOLS: usize = 500;
/// Grants that are listed one by one.
const MAX_GRANTS: usize = 200;
/// Declared groups, and declared states, of a project.
const MAX_DECLARED: usize = 1_000;
/// Conditions of a project: a question about all tools evaluates every one.
const MAX_CONDITIONS: usize = 200;

/// Bounds of what a project declares.
pub(super) fn check_counts((groups, states): &(Vec<LabelInput>, Vec<LabelInput>)) -> Result<(), Problem> {
    let conditions = groups.iter().filter(|group| group.condition.is_some()).count();
    let fault = if groups.len() > MAX_DECLARED || states.len() > MAX_DECLARED {
        format!("A project declares at most {MAX_DECLARED} groups and as many states.")
    } else if conditions > MAX_CONDITIONS {
        format!("A project has at most {MAX_CONDITIONS} conditions; put one on a common parent instead.")
    } else {
        return Ok(());
    };
    Err(Problem::new(ErrorCode::InvalidRequest, fault))
}

/// A new name must not be anybody's: two groups that become one would give each other's tools away.
pub(super) fn check_target(
    state: &ProjectState,
    kind: Kind,
    names: &NameChange,
    from: &str,
    to: &str,
) -> Result<(), Problem> {
    if from == to {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            format!("The {} has that name already.", kind.word()),
        )
        .errors(vec![Diagnostic::error("is the name it has").at_pointer("/to")]));
    }
    let known = match kind {
        Kind::Group => state.snapshot.group_names(),
        Kind::State => state.snapshot.state_names(),
    };
    let below = |name: &str| name == to || (kind == Kind::Group && parents(name).any(|parent| parent == to));
    let taken = known.iter().find(|name| below(name) && names.of(name).is_none());
    let long = known
        .iter()
        .filter_map(|name| names.of(name).flatten())
        .any(|name| name.chars().count() > 128);
    if let Some(taken) = taken {
        return Err(Problem::new(
            ErrorCode::Conflict,
            format!(
                "There is a {} \"{taken}\" already, and two that become one cannot be separated again. Choose another name.",
                kind.word()
            ),
        ));
    }
    if long {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "A child of this group would get a name of more than 128 characters.",
        ));
    }
    Ok(())
}

/// Everything that a change of a name changes.
pub(super) async fn plan(
    gateway: &Gateway,
    server_snapshot: &ServerSnapshot,
    state: &ProjectState,
    names: &NameChange,
) -> Result<(Plan, NameEffects), Problem> {
    let mut effects = NameEffects::default();
    let mut tools = Vec::new();
    for tool in state.snapshot.tools() {
        let before = &*tool.definition;
        let Some(after) = names.of_tool(before) else {
            continue;
        };
        if effects.tools.len() < MAX_TOOLS {
            effects.tools.push(ToolEffect {
                tool: tool.name().to_owned(),
                before: place(before),
                after: place(&after),
            });
        }
        if loses_its_last(before, &after) && effects.unreachable_tools.len() < MAX_TOOLS {
            effects.unreachable_tools.push(tool.name().to_owned());
        }
        tools.push((before.name.clone(), Some(after)));
    }
    effects.tool_count = tools.len() as u64;

    let is_rename = matches!(
        names,
        NameChange::RenameGroup { .. } | NameChange::RenameState { .. }
    );
    let mut labels = LabelChange {
        names: Some(names.clone()),
        ..LabelChange::default()
    };
    for stored in state.policy_tests.iter() {
        if let Some(after) = test(names, &stored.test) {
            effects.policy_tests.push(stored.test.name.clone());
            if is_rename {
                labels.policy_tests.push(after);
            }
        }
    }
    if let Some((limits, concerned)) = limits(names, &state.limits.document) {
        effects.limits = concerned;
        if is_rename {
            labels.limits = Some(limits);
        }
    }
    if names.is_of_groups() {
        let grants: Vec<String> = server_snapshot
            .directory
            .grants_of(state.row.uid)
            .iter()
            .filter(|grant| {
                let groups = &grant.terms().groups;
                groups.iter().any(|granted| names.of(&granted.group).is_some())
            })
            .map(|grant| grant.principal.to_string())
            .collect();
        effects.grant_count = grants.len() as u64;
        effects.grants = Some(grants.into_iter().take(MAX_GRANTS).collect());
    }
    effects.session_count = gateway
        .store
        .sessions_naming(state.row.uid, names, gateway.clock.now())
        .await?;
    effects.warnings = warnings(state, names, &effects);
    let declared = declared(state, names, &mut labels);
    let plan = Plan {
        tools,
        labels,
        declared,
        note: Some(note(names)),
    };
    Ok((plan, effects))
}

fn place(tool: &ToolDefinition) -> ToolPlace {
    ToolPlace {
        group: tool.group.clone(),
        available_in_states: tool.available_in_states.clone(),
        state: tool.state.clone(),
    }
}

fn loses_its_last(before: &ToolDefinition, after: &ToolDefinition) -> bool {
    let lost = |before: &Option<Vec<String>>, after: &Option<Vec<String>>| {
        before.as_ref().is_some_and(|names| !names.is_empty()) && after.as_ref().is_some_and(Vec::is_empty)
    };
    lost(&before.group, &after.group) || lost(&before.available_in_states, &after.available_in_states)
}

/// A policy test afterwards; `None` when it does not name what changes.
pub(super) fn test(names: &NameChange, test: &PolicyTest) -> Option<PolicyTest> {
    let mut after = test.clone();
    if names.is_of_groups() {
        let granted = test.granted.as_deref().and_then(|groups| names.of_list(groups));
        let group = test.group.as_deref().and_then(|groups| names.of_list(groups));
        if granted.is_none() && group.is_none() {
            return None;
        }
        after.granted = granted.or(after.granted);
        after.group = group.or(after.group);
    } else {
        after.state = names.of(test.state.as_deref()?)?;
    }
    Some(after)
}

/// The limits afterwards, and which of them name what changes.
fn limits(names: &NameChange, limits: &ProjectLimits) -> Option<(ProjectLimits, Vec<String>)> {
    if !names.is_of_groups() {
        return None;
    }
    let mut after = limits.clone();
    let mut concerned = Vec::new();
    for limit in &mut after.limits {
        if let LimitSubject::Group { group } = &mut limit.subject
            && let Some(changed) = names.of(group)
        {
            concerned.push(limit.name.clone());
            if let Some(changed) = changed {
                *group = changed;
            }
        }
    }
    (!concerned.is_empty()).then_some((after, concerned))
}

/// What is declared afterwards; the change of it goes into `labels`.
fn declared(
    state: &ProjectState,
    names: &NameChange,
    labels: &mut LabelChange,
) -> (Vec<LabelInput>, Vec<LabelInput>) {
    let (mut groups, mut states) = all_declared(state);
    let (list, change) = if names.is_of_groups() {
        (&mut groups, &mut labels.groups)
    } else {
        (&mut states, &mut labels.states)
    };
    let mut after = Vec::with_capacity(list.len());
    for mut label in std::mem::take(list) {
        match names.of(&label.name) {
            None => after.push(label),
            Some(to) => {
                change.push((label.name.clone(), None));
                if let Some(to) = to {
                    let content = LabelContent {
                        description: label.description.clone(),
                        condition: label.condition.clone(),
                    };
                    change.push((to.clone(), Some(content)));
                    label.name = to;
                    after.push(label);
                }
            }
        }
    }
    *list = after;
    (groups, states)
}

fn warnings(state: &ProjectState, names: &NameChange, effects: &NameEffects) -> Vec<String> {
    let mut warnings = Vec::new();
    match names {
        NameChange::RenameGroup { from, to } => {
            let before: Vec<&str> = parents(from).collect();
            for parent in parents(to).filter(|parent| !before.contains(parent)) {
                warnings.push(format!(
                    "Holders of {parent:?} hold {to:?} too from then on, and a condition on {parent:?} closes it."
                ));
            }
            for parent in before
                .iter()
                .filter(|parent| !parents(to).any(|kept| kept == **parent))
            {
                warnings.push(format!(
                    "Those who hold {from:?} only by {parent:?} lose it, and a condition on {parent:?} closes it no more."
                ));
            }
            warnings.push(
                "Requests that ask for the old name ask for a group that no tool is in. Groups that external issuers \
                 bring by their claims keep their old names."
                    .to_owned(),
            );
        }
        NameChange::RemoveGroup(name) => {
            let below = format!("{name}/");
            if state
                .snapshot
                .group_names()
                .iter()
                .any(|group| group.starts_with(&below))
            {
                warnings.push(format!(
                    "The children of {name:?} stay; those who held them by {name:?} lose them."
                ));
            }
            let conditioned = state.snapshot.declared_group(name);
            if conditioned.is_some_and(|group| group.condition.is_some()) {
                warnings.push(format!(
                    "The condition on {name:?} goes with it, for its children too."
                ));
            }
            if !effects.limits.is_empty() {
                warnings.push("The limits on it stay, and limit nothing.".to_owned());
            }
        }
        NameChange::RenameState { .. } => {
            if effects.session_count > 0 {
                warnings.push(
                    "Calls that run in these sessions now will end with state_conflict: their results stand, their \
                     moves are not applied."
                        .to_owned(),
                );
            }
        }
        NameChange::RemoveState(_) => {
            if effects.session_count > 0 {
                warnings.push(
                    "Sessions in it stay in it; only tools that are open in every state can be called there."
                        .to_owned(),
                );
            }
        }
    }
    warnings
}

/// For the revisions of the tools.
fn note(names: &NameChange) -> String {
    let shown = |name: &str| -> String { name.chars().take(128).collect() };
    match names {
        NameChange::RenameGroup { from, to } => {
            format!("renames the group {:?} to {:?}", shown(from), shown(to))
        }
        NameChange::RemoveGroup(name) => format!("removes the group {:?}", shown(name)),
        NameChange::RenameState { from, to } => {
            format!("renames the state {:?} to {:?}", shown(from), shown(to))
        }
        NameChange::RemoveState(name) => format!("removes the state {:?}", shown(name)),
    }
}
