//! A project's definitions, compiled: one immutable value that a request takes once and keeps to its end.
//!
//! Deciding on one call reads only that tool's groups and states. Questions about all tools are answered from bitmaps
//! over the tools' positions, and kept for the next one who asks the same.

mod availability;
mod cache;
mod catalogue;
mod index;
mod labels;
mod shown;
mod sizes;
mod tool;
mod validate;

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub use availability::{Availability, Visible};
pub use labels::{DeclaredGroup, LabelInput};
pub use tool::{CompiledTool, ToolInput};

use crate::definition::{ServiceDefinition, ToolDefinition};
use crate::ids::ToolName;
pub use crate::policy::decision::Denial;
use crate::policy::decision::{Asked, Decision, decide};
use crate::policy::gates::Gates;
use crate::policy::groups::GroupSet;
use crate::policy::moment::Moment;
use cache::Cache;
use index::{ClosedKey, Index};
use labels::Labels;

/// All tools and services of one project at one version.
pub struct ProjectSnapshot {
    version: i64,
    tools: Arc<[Arc<CompiledTool>]>,
    by_name: Arc<HashSet<ByName>>,
    services: Arc<BTreeMap<ToolName, (ServiceDefinition, i64)>>,
    labels: Arc<Labels>,
    index: Arc<Index>,
    cache: Arc<Cache>,
}

impl ProjectSnapshot {
    /// Compiles a project. Whatever is unchanged since `previous` is taken over with what was already compiled for it.
    /// Of two tools of one name the later stands.
    #[must_use]
    pub fn build(
        version: i64,
        tools: Vec<ToolInput>,
        services: Vec<(ServiceDefinition, i64)>,
        previous: Option<&ProjectSnapshot>,
    ) -> Self {
        let services = by_id(services);
        let compile = |input: ToolInput| {
            let envs = service_envs(&services, &input.definition);
            match previous.and_then(|before| before.tool(input.definition.name.as_str())) {
                Some(known) if known.is_still(&input, envs) => Arc::clone(known),
                _ => Arc::new(CompiledTool::new(input, envs)),
            }
        };
        let mut tools: Vec<_> = tools.into_iter().map(compile).collect();
        sort_and_keep_last(&mut tools);
        Self::assemble(version, tools, services, previous)
    }

    /// The same project after a change: `changed` tools are added or replaced, `removed` ones go, `services` are all
    /// that there are now. Only the change itself need be read from the store.
    #[must_use]
    pub fn with_changes(
        &self,
        version: i64,
        changed: Vec<ToolInput>,
        removed: &[ToolName],
        services: Vec<(ServiceDefinition, i64)>,
    ) -> Self {
        let services = by_id(services);
        let removed: HashSet<&str> = removed.iter().map(ToolName::as_str).collect();
        let mut tools: Vec<_> = self
            .tools
            .iter()
            .filter(|tool| removed.is_empty() || !removed.contains(tool.name()))
            .map(|tool| match service_envs(&services, &tool.definition) {
                envs if tool.has_envs(envs) => Arc::clone(tool),
                envs => Arc::new(tool.with_envs(envs)),
            })
            .collect();
        tools.extend(changed.into_iter().map(|input| {
            let envs = service_envs(&services, &input.definition);
            Arc::new(CompiledTool::new(input, envs))
        }));
        sort_and_keep_last(&mut tools);
        Self::assemble(version, tools, services, Some(self))
    }

    fn assemble(
        version: i64,
        tools: Vec<Arc<CompiledTool>>,
        services: BTreeMap<ToolName, (ServiceDefinition, i64)>,
        previous: Option<&ProjectSnapshot>,
    ) -> Self {
        // A change that touches neither names, groups nor states leaves every answer about many tools as it was.
        let (index, cache) = match previous {
            Some(before) if before.is_indexed_like(&tools) => {
                (Arc::clone(&before.index), Arc::clone(&before.cache))
            }
            _ => (Arc::new(Index::build(&tools)), Arc::default()),
        };
        Self {
            version,
            by_name: Arc::new(tools.iter().cloned().map(ByName).collect()),
            tools: tools.into(),
            services: Arc::new(services),
            labels: previous.map_or_else(Arc::default, |before| Arc::clone(&before.labels)),
            index,
            cache,
        }
    }

    /// The same project with these declared groups and states. Conditions that stood in `previous` are not compiled
    /// again. A condition that cannot be read closes its group.
    #[must_use]
    pub fn with_labels(
        mut self,
        groups: Vec<LabelInput>,
        states: Vec<LabelInput>,
        previous: Option<&ProjectSnapshot>,
    ) -> Self {
        self.labels = Arc::new(Labels::new(groups, states, previous));
        self
    }

    /// The same definitions at a version of the project that changed something else. It costs nothing.
    #[must_use]
    pub fn at_version(&self, version: i64) -> Self {
        Self {
            version,
            tools: Arc::clone(&self.tools),
            by_name: Arc::clone(&self.by_name),
            services: Arc::clone(&self.services),
            labels: Arc::clone(&self.labels),
            index: Arc::clone(&self.index),
            cache: Arc::clone(&self.cache),
        }
    }

    fn is_indexed_like(&self, tools: &[Arc<CompiledTool>]) -> bool {
        self.tools.len() == tools.len()
            && self.tools.iter().zip(tools).all(|(a, b)| {
                Arc::ptr_eq(a, b)
                    || (a.name() == b.name()
                        && a.is_offered() == b.is_offered()
                        && a.groups == b.groups
                        && a.states == b.states
                        && a.definition.state == b.definition.state)
            })
    }

    /// The version of the project's definitions that this was built from.
    #[must_use]
    pub fn version(&self) -> i64 {
        self.version
    }

    /// Every tool, sorted by name.
    #[must_use]
    pub fn tools(&self) -> &[Arc<CompiledTool>] {
        &self.tools
    }

    /// One tool by its exact name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Arc<CompiledTool>> {
        self.by_name.get(name).map(|ByName(tool)| tool)
    }

    /// One service by its exact id.
    #[must_use]
    pub fn service(&self, id: &str) -> Option<&ServiceDefinition> {
        self.services.get(id).map(|(service, _)| service)
    }

    /// The revision of one service.
    #[must_use]
    pub fn service_revision(&self, id: &str) -> Option<i64> {
        self.services.get(id).map(|&(_, revision)| revision)
    }

    /// Every service with its revision, sorted by id.
    pub fn services(&self) -> impl Iterator<Item = (&ServiceDefinition, i64)> {
        self.services
            .values()
            .map(|(service, revision)| (service, *revision))
    }

    /// Whether any group has a condition, so that a decision may depend on its [`Moment`].
    #[must_use]
    pub fn has_conditions(&self) -> bool {
        !self.labels.gates.is_empty()
    }

    /// Decides on one call. `requested` absent asks for `["default"]`, `[]` for nothing; `state` absent or `""` is
    /// `undefined`. The cost does not depend on the number of tools.
    #[must_use]
    pub fn decide(
        &self,
        granted: &GroupSet,
        requested: Option<&[String]>,
        state: Option<&str>,
        tool: &str,
        moment: &Moment<'_>,
    ) -> Decision {
        let gates = Gates::new(&self.labels.gates, moment);
        decide(
            granted,
            Asked::new(requested, state),
            tool,
            self.tool(tool),
            &gates,
        )
    }

    /// What a request may call now, and why not the rest: [`Self::decide`] for every tool at once.
    ///
    /// # Errors
    /// When the request asks for groups that were not granted; it is then refused as a whole.
    pub fn resolve(
        &self,
        granted: &GroupSet,
        requested: Option<&[String]>,
        state: Option<&str>,
        moment: &Moment<'_>,
    ) -> Result<Arc<Availability>, Denial> {
        let asked = Asked::new(requested, state);
        let missing = asked.missing(granted);
        if !missing.is_empty() {
            return Err(Denial {
                requested: asked.groups,
                missing,
                state: asked.state,
            });
        }
        let groups = self.index.groups(asked.groups.iter().map(String::as_str));
        let state = self.index.state(&asked.state);
        let mut closed = Gates::new(&self.labels.gates, moment).all();
        closed.retain(|shut| asked.concerns(&shut.group));
        let shut = self.index.closed(closed.iter().map(|shut| shut.group.as_str()));
        let sets = self.cache.sets(&self.index, &groups.known, &shut, state);
        Ok(Arc::new(Availability::new(
            Arc::clone(&self.tools),
            sets,
            asked,
            groups.unknown,
            closed,
        )))
    }

    /// The tools that a holder of these groups can call with some request in some state at some time: what a listing may
    /// show.
    #[must_use]
    pub fn visible(&self, granted: &GroupSet) -> Visible {
        let groups = self.index.groups(granted.iter());
        let nothing_closed = ClosedKey::default();
        let sets = self
            .cache
            .sets(&self.index, &groups.known, &nothing_closed, index::StateKey::Some);
        Visible::new(Arc::clone(&self.tools), sets)
    }
}

impl std::fmt::Debug for ProjectSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProjectSnapshot")
            .field("version", &self.version)
            .field("tools", &self.tools.len())
            .field("services", &self.services.len())
            .finish_non_exhaustive()
    }
}

fn by_id(services: Vec<(ServiceDefinition, i64)>) -> BTreeMap<ToolName, (ServiceDefinition, i64)> {
    services
        .into_iter()
        .map(|(service, revision)| (service.id.clone(), (service, revision)))
        .collect()
}

/// What a tool's service says about its environment.
fn service_envs<'s>(
    services: &'s BTreeMap<ToolName, (ServiceDefinition, i64)>,
    definition: &ToolDefinition,
) -> Option<&'s BTreeMap<String, String>> {
    definition
        .service
        .as_deref()
        .and_then(|id| services.get(id))
        .map(|(service, _)| &service.envs)
}

/// By name; of several of one name the last stands (the sort is stable).
fn sort_and_keep_last(tools: &mut Vec<Arc<CompiledTool>>) {
    tools.sort_by(|a, b| a.name().cmp(b.name()));
    tools.dedup_by(|later, earlier| {
        let same = later.name() == earlier.name();
        if same {
            std::mem::swap(later, earlier);
        }
        same
    });
}

/// A tool that is found by its name without a second copy of the name.
struct ByName(Arc<CompiledTool>);

impl Borrow<str> for ByName {
    fn borrow(&self) -> &str {
        self.0.name()
    }
}

impl Hash for ByName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name().hash(state);
    }
}

impl PartialEq for ByName {
    fn eq(&self, other: &Self) -> bool {
        self.0.name() == other.0.name()
    }
}

impl Eq for ByName {}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
