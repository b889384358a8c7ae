//! Changing many tools at once: which ones are meant, and what becomes of each.

use toolgate_api::Diagnostic;
use toolgate_api::tool_changes::{ToolChange, ToolFilter};

use crate::definition::ToolDefinition;
use crate::definition::names::label_fault;
use crate::policy::decision::EVERY_STATE;
use crate::snapshot::CompiledTool;

/// Tools that one change may concern. The way back names each of them and still fits into a body of usual size.
pub const MAX_TOOLS: usize = 5_000;
/// Names in one list of a change.
const MAX_NAMES: usize = 100;

/// A filter, ready to be held against many tools.
pub struct Matcher<'a> {
    filter: &'a ToolFilter,
    needle: Option<String>,
}

impl<'a> Matcher<'a> {
    /// Prepares a filter.
    #[must_use]
    pub fn new(filter: &'a ToolFilter) -> Self {
        Self {
            filter,
            needle: filter.q.as_deref().map(str::to_lowercase),
        }
    }

    /// Whether everything that is asked for holds.
    #[must_use]
    pub fn matches(&self, tool: &CompiledTool) -> bool {
        let Self { filter, needle } = self;
        let text = |text: &str| {
            needle
                .as_ref()
                .is_none_or(|needle| text.to_lowercase().contains(needle))
        };
        filter
            .enabled
            .is_none_or(|enabled| tool.definition.enabled == enabled)
            && filter
                .group
                .as_ref()
                .is_none_or(|group| tool.groups.contains(group))
            && filter.state.as_ref().is_none_or(|state| tool.open_in(state))
            && filter
                .type_
                .as_ref()
                .is_none_or(|kind| tool.definition.kind == *kind)
            && filter
                .source
                .as_ref()
                .is_none_or(|source| tool.definition.source().as_ref() == Some(source))
            && (text(tool.name()) || text(&tool.definition.description))
    }
}

/// Every fault of a change, each with its JSON pointer in the request. Empty: it can be applied.
#[must_use]
pub fn check(change: &ToolChange) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let others = ToolChange {
        delete: false,
        ..change.clone()
    } != ToolChange::default();
    if change.delete && others {
        faults.push(
            Diagnostic::error("a tool cannot be deleted and changed at once")
                .hint("leave out either \"delete\" or everything else")
                .at_pointer("/change/delete"),
        );
    }
    if !change.delete && !others {
        faults.push(
            Diagnostic::error("nothing is to be changed")
                .hint(
                    "write enabled, add_groups, remove_groups, add_states, remove_states, set_state, or delete: true",
                )
                .at_pointer("/change"),
        );
    }
    let lists: [(&str, &[String], &[String]); 4] = [
        ("add_groups", &change.add_groups, &change.remove_groups),
        ("remove_groups", &change.remove_groups, &[]),
        ("add_states", &change.add_states, &change.remove_states),
        ("remove_states", &change.remove_states, &[]),
    ];
    for (key, names, opposite) in lists {
        if names.len() > MAX_NAMES {
            faults.push(
                Diagnostic::error(format!("has more than {MAX_NAMES} names"))
                    .at_pointer(format!("/change/{key}")),
            );
        }
        for (at, name) in names.iter().enumerate().take(MAX_NAMES) {
            let fault = label_fault(name).or_else(|| {
                opposite
                    .contains(name)
                    .then(|| "is to be added and removed".to_owned())
            });
            faults.extend(
                fault.map(|fault| Diagnostic::error(fault).at_pointer(format!("/change/{key}/{at}"))),
            );
        }
    }
    if let Some(Some(state)) = &change.set_state
        && let Some(fault) = label_fault(state)
    {
        faults.push(
            Diagnostic::error(fault)
                .hint("write null if the state shall not move")
                .at_pointer("/change/set_state"),
        );
    }
    faults
}

/// What becomes of a tool; `None` when it is deleted. What is not named stays as it is written, so that a tool that the
/// change does not concern is unchanged.
#[must_use]
pub fn apply(change: &ToolChange, tool: &CompiledTool) -> Option<ToolDefinition> {
    if change.delete {
        return None;
    }
    let mut after = tool.definition.as_ref().clone();
    if let Some(enabled) = change.enabled {
        after.enabled = enabled;
    }
    if let Some(groups) = edited(&tool.groups, &change.remove_groups, &change.add_groups) {
        after.group = Some(groups);
    }
    // Open in every state is open in those to be added too.
    let every = |states: &[String]| states.iter().any(|state| state == EVERY_STATE);
    let stays_open = every(&tool.states) && !every(&change.remove_states);
    let added = if stays_open { &[][..] } else { &change.add_states };
    if let Some(states) = edited(&tool.states, &change.remove_states, added) {
        after.available_in_states = Some(states);
    }
    if let Some(state) = &change.set_state {
        after.state.clone_from(state);
    }
    Some(after)
}

/// A list of names without some and with others; `None` when that leaves it as it is.
fn edited(names: &[String], remove: &[String], add: &[String]) -> Option<Vec<String>> {
    let mut after: Vec<String> = names
        .iter()
        .filter(|name| !remove.contains(name))
        .cloned()
        .collect();
    for name in add {
        if !after.contains(name) {
            after.push(name.clone());
        }
    }
    (after != names).then_some(after)
}

#[cfg(test)]
mod tests;
