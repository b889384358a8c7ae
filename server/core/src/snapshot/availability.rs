//! Answers about many tools at once. They hold positions, not names: an answer about 100 000 tools takes kilobytes.

use std::sync::Arc;

use roaring::RoaringBitmap;
use toolgate_api::ErrorCode;

use super::CompiledTool;
use super::index::Sets;
use crate::policy::decision::{GroupsRequest, Offer, closes};
use crate::policy::group_conditions::ClosedGroup;

/// What a request may call now, and why not the rest. Every list is sorted by name.
#[derive(Debug, Clone)]
pub struct Availability {
    tools: Arc<[Arc<CompiledTool>]>,
    sets: Arc<Sets>,
    /// The requested groups after the default was applied, sorted, each once.
    pub requested: Vec<String>,
    /// The state it was resolved for.
    pub state: String,
    /// Requested groups that no tool is in, neither itself nor through a child, sorted. `*` is never unknown.
    pub unknown_groups: Vec<String>,
    /// Groups that have to do with the request and whose condition closes them, sorted; their children are closed too.
    pub closed_groups: Vec<ClosedGroup>,
}

impl Availability {
    pub(super) fn new(
        tools: Arc<[Arc<CompiledTool>]>,
        sets: Arc<Sets>,
        asked: GroupsRequest,
        unknown_groups: Vec<String>,
        closed_groups: Vec<ClosedGroup>,
    ) -> Self {
        Self {
            tools,
            sets,
            requested: asked.groups,
            state: asked.state,
            unknown_groups,
            closed_groups,
        }
    }

    /// Names of the tools that can be called now.
    #[must_use]
    pub fn available(&self) -> Vec<String> {
        self.names(&self.sets.available)
    }

    /// Names of the tools in none of the requested groups, whatever their states. Disabled tools are in no list.
    #[must_use]
    pub fn filtered_by_group(&self) -> Vec<String> {
        let mut all = RoaringBitmap::new();
        all.insert_range(0..u32::try_from(self.tools.len()).unwrap_or(u32::MAX));
        self.names(&(all - &*self.sets.disabled - &self.sets.grouped))
    }

    /// Names of the tools whose requested groups are all closed by a condition, whatever their states.
    #[must_use]
    pub fn filtered_by_condition(&self) -> Vec<String> {
        self.names(&(&self.sets.grouped - self.sets.open()))
    }

    /// Names of the tools in a requested group that are closed in this state.
    #[must_use]
    pub fn filtered_by_state(&self) -> Vec<String> {
        self.names(&(self.sets.open() - &self.sets.available))
    }

    /// How many tools can be called now.
    #[must_use]
    pub fn available_count(&self) -> usize {
        usize::try_from(self.sets.available.len()).unwrap_or(usize::MAX)
    }

    /// How many tools are in none of the requested groups.
    #[must_use]
    pub fn filtered_by_group_count(&self) -> usize {
        let reached_or_disabled = self.sets.grouped.len() + self.sets.disabled.len();
        self.tools.len() - usize::try_from(reached_or_disabled).unwrap_or(usize::MAX)
    }

    /// How many tools have all their requested groups closed by a condition.
    #[must_use]
    pub fn filtered_by_condition_count(&self) -> usize {
        usize::try_from(self.sets.grouped.len() - self.sets.open().len()).unwrap_or(usize::MAX)
    }

    /// How many tools in a requested group are closed in this state.
    #[must_use]
    pub fn filtered_by_state_count(&self) -> usize {
        usize::try_from(self.sets.open().len()).unwrap_or(usize::MAX) - self.available_count()
    }

    /// The tools that can be called now.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<CompiledTool>> {
        self.sets.available.iter().map(|at| &self.tools[at as usize])
    }

    /// The tools in a requested group that are closed in this state and open in another one.
    pub fn closed_in_state(&self) -> impl Iterator<Item = &Arc<CompiledTool>> {
        let closed: Vec<u32> = (self.sets.open() - &self.sets.available).iter().collect();
        closed
            .into_iter()
            .map(|at| &self.tools[at as usize])
            .filter(|tool| !tool.states.is_empty())
    }

    /// Why the request does not reach what is no tool and is opened by groups and states like one; `None` when it does. The code is the
    /// one that a tool in the same groups and states would be refused with.
    #[must_use]
    pub fn closes(&self, offer: Offer<'_>) -> Option<ErrorCode> {
        let asked = GroupsRequest {
            groups: self.requested.clone(),
            state: self.state.clone(),
        };
        closes(&asked, offer, &self.closed_groups)
    }

    /// Those of them whose names sort after `name`, which itself need not be there: the next page of a listing.
    pub fn tools_after(&self, name: &str) -> impl Iterator<Item = &Arc<CompiledTool>> {
        let start = self.tools.partition_point(|tool| tool.name() <= name);
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        self.sets
            .available
            .range(start..)
            .map(|at| &self.tools[at as usize])
    }

    fn names(&self, set: &RoaringBitmap) -> Vec<String> {
        set.iter()
            .map(|at| self.tools[at as usize].name().to_owned())
            .collect()
    }
}

/// The tools that a holder of some groups may ever call, sorted by name.
#[derive(Debug, Clone)]
pub struct Visible {
    tools: Arc<[Arc<CompiledTool>]>,
    sets: Arc<Sets>,
}

impl Visible {
    pub(super) fn new(tools: Arc<[Arc<CompiledTool>]>, sets: Arc<Sets>) -> Self {
        Self { tools, sets }
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::try_from(self.sets.available.len()).unwrap_or(usize::MAX)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sets.available.is_empty()
    }

    /// One of them by name. A name that exists but is not visible is `None` too.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Arc<CompiledTool>> {
        let at = self.tools.binary_search_by(|tool| tool.name().cmp(name)).ok()?;
        self.sets
            .available
            .contains(u32::try_from(at).ok()?)
            .then(|| &self.tools[at])
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<CompiledTool>> {
        self.from(0)
    }

    /// Those whose names sort after `name`, which itself need not be there: the next page of a listing.
    pub fn after(&self, name: &str) -> impl Iterator<Item = &Arc<CompiledTool>> {
        self.from(self.tools.partition_point(|tool| tool.name() <= name))
    }

    fn from(&self, start: usize) -> impl Iterator<Item = &Arc<CompiledTool>> {
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        self.sets
            .available
            .range(start..)
            .map(|at| &self.tools[at as usize])
    }
}
