//! What a project's groups and states are: those that tools use, and those that are declared.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::labels::{DeclaredGroup, LabelInput};
use super::{CompiledTool, ProjectSnapshot};
use crate::policy::evaluation_context::EvaluationContext;
use crate::policy::group_conditions::{ClosedGroup, GroupConditions};
use crate::policy::groups::parents;

impl ProjectSnapshot {
    /// Every group, sorted: those of tools, the declared ones, and the parents of both.
    #[must_use]
    pub fn group_names(&self) -> BTreeSet<&str> {
        let declared = self
            .labels
            .groups
            .keys()
            .flat_map(|name| std::iter::once(name.as_str()).chain(parents(name)));
        self.index.group_names().chain(declared).collect()
    }

    /// Whether there is such a group, by the rule of [`Self::group_names`].
    #[must_use]
    pub fn knows_group(&self, name: &str) -> bool {
        let below = format!("{name}/");
        self.index.has_group(name)
            || self.labels.groups.contains_key(name)
            || (!name.is_empty()
                && self
                    .labels
                    .groups
                    .range(below.clone()..)
                    .next()
                    .is_some_and(|(child, _)| child.starts_with(&below)))
    }

    /// What was declared about a group.
    #[must_use]
    pub fn declared_group(&self, name: &str) -> Option<&DeclaredGroup> {
        self.labels.groups.get(name)
    }

    /// Every declared group, sorted by name.
    pub fn declared_groups(&self) -> impl Iterator<Item = &DeclaredGroup> {
        self.labels.groups.values()
    }

    /// The tools that name a group themselves, sorted by name.
    pub fn tools_in_group(&self, name: &str) -> impl Iterator<Item = &Arc<CompiledTool>> {
        self.index
            .direct(name)
            .into_iter()
            .flatten()
            .map(|at| &self.tools[at as usize])
    }

    /// How many tools of a group and its children MCP clients are offered, and how many tokens a model spends on them.
    #[must_use]
    pub fn group_cost(&self, name: &str) -> (u64, u64) {
        let tools = self.index.with_children(name).into_iter().flatten();
        tools
            .map(|at| &self.tools[at as usize])
            .filter(|tool| tool.is_offered() && tool.listed().is_ok())
            .fold((0, 0), |(tools, tokens), tool| {
                (tools + 1, tokens + tool.tokens())
            })
    }

    /// How many tools name a group themselves, and how many are in it together with its children.
    #[must_use]
    pub fn group_size(&self, name: &str) -> (u64, u64) {
        self.index.group_size(name)
    }

    /// Every state, sorted: `undefined`, those that tools are open in or lead to, and the declared ones.
    #[must_use]
    pub fn state_names(&self) -> BTreeSet<&str> {
        self.index
            .state_names()
            .chain(self.labels.states.keys().map(String::as_str))
            .collect()
    }

    /// Whether there is such a state, by the rule of [`Self::state_names`].
    #[must_use]
    pub fn knows_state(&self, name: &str) -> bool {
        self.labels.states.contains_key(name) || self.index.state_names().any(|known| known == name)
    }

    /// What was declared about a state.
    #[must_use]
    pub fn declared_state(&self, name: &str) -> Option<&LabelInput> {
        self.labels.states.get(name)
    }

    /// Every declared state, sorted by name.
    pub fn declared_states(&self) -> impl Iterator<Item = &LabelInput> {
        self.labels.states.values()
    }

    /// How many tools name a state as one they are open in, and how many are open in it with those of every state.
    #[must_use]
    pub fn state_size(&self, name: &str) -> (u64, u64) {
        self.index.state_size(name)
    }

    /// Whether and why a group is closed at a moment, by its own condition or that of a parent.
    #[must_use]
    pub fn closed_group(&self, name: &str, evaluation: &EvaluationContext<'_>) -> Option<ClosedGroup> {
        GroupConditions::new(&self.labels.conditions, evaluation).closed(name)
    }

    /// Every group whose own condition closes it at a moment, sorted by name; their children are closed with them.
    #[must_use]
    pub fn closed_groups(&self, evaluation: &EvaluationContext<'_>) -> Vec<ClosedGroup> {
        GroupConditions::new(&self.labels.conditions, evaluation).all()
    }
}
