//! A project's definitions, compiled: one immutable value that a request takes once and keeps until it ends.
//!
//! Deciding on one call reads only that tool's groups and states. Questions about all tools are answered from bitmaps
//! over the tools' positions, and cached for the next request with the same question.

mod availability;
mod cache;
mod catalogue;
mod differences;
mod index;
mod labels;
mod shown;
mod sizes;
mod tool;
mod validate;

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

pub use availability::{Availability, Visible};
pub use labels::{DeclaredGroup, LabelInput};
pub use tool::{CompiledTool, ToolInput};

use crate::definition::{ExecutorSet, ServiceDefinition, ToolDefinition};
use crate::ids::ToolName;
use crate::mcp::NameTable;
pub use crate::policy::decision::Denial;
use crate::policy::decision::{Decision, GroupsRequest, decide};
use crate::policy::evaluation_context::EvaluationContext;
use crate::policy::group_conditions::GroupConditions;
use crate::policy::groups::GroupSet;
use cache::Cache;
use differences::Differences;
use index::{ClosedKey, Index};
use labels::Labels;

/// The services of a project with their revisions, by id.
type Services = BTreeMap<ToolName, (Arc<ServiceDefinition>, i64)>;

/// All tools and services of one project at one version.
pub struct ProjectSnapshot {
    version: i64,
    tools: Arc<[Arc<CompiledTool>]>,
    by_name: Arc<HashSet<ByName>>,
    services: Arc<Services>,
    executes: ExecutorSet,
    labels: Arc<Labels>,
    index: Arc<Index>,
    cache: Arc<Cache>,
    listed_names: Arc<OnceLock<NameTable>>,
}

impl ProjectSnapshot {
    /// Compiles a project for a server that executes what every server does, see [`Self::build_for`].
    #[must_use]
    pub fn build(
        version: i64,
        tools: Vec<ToolInput>,
        services: Vec<(ServiceDefinition, i64)>,
        previous: Option<&ProjectSnapshot>,
    ) -> Self {
        Self::build_for(ExecutorSet::BUILT_IN, version, tools, services, previous)
    }

    /// Compiles a project for a server that executes these kinds. Whatever is unchanged since `previous` is taken
    /// over with what was already compiled for it. If a name occurs twice, the last tool wins.
    #[must_use]
    pub fn build_for(
        executes: ExecutorSet,
        version: i64,
        tools: Vec<ToolInput>,
        services: Vec<(ServiceDefinition, i64)>,
        previous: Option<&ProjectSnapshot>,
    ) -> Self {
        let services = by_id(services, previous);
        let compile = |input: ToolInput| {
            let service = service_of(&services, &input.definition);
            match previous.and_then(|before| before.tool(input.definition.name.as_str())) {
                Some(known) if known.is_still(&input, service, executes) => Arc::clone(known),
                _ => Arc::new(CompiledTool::new(input, service, executes)),
            }
        };
        let mut tools: Vec<_> = tools.into_iter().map(compile).collect();
        sort_and_keep_last(&mut tools);
        let by_name = tools.iter().cloned().map(ByName).collect();
        Self::assemble(version, tools, by_name, services, executes, previous)
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
        let services = by_id(services, Some(self));
        let of_changed_services = self.of_changed_services(&services);
        let compile = |input: ToolInput| {
            let service = service_of(&services, &input.definition);
            Arc::new(CompiledTool::new(input, service, self.executes))
        };
        let changed: Vec<_> = changed.into_iter().map(compile).collect();
        // Of what concerns one name, the last wins: a tool that is both removed and changed is there.
        let present = |tool: &'_ Arc<CompiledTool>| Some(Arc::clone(tool));
        let mut edits: BTreeMap<&str, Option<Arc<CompiledTool>>> = BTreeMap::new();
        edits.extend(
            of_changed_services
                .iter()
                .map(|tool| (tool.name(), present(tool))),
        );
        edits.extend(removed.iter().map(|name| (name.as_str(), None)));
        edits.extend(changed.iter().map(|tool| (tool.name(), present(tool))));
        // Copied instead of built: names are not hashed again.
        let mut by_name = HashSet::clone(&self.by_name);
        let mut tools = Vec::with_capacity(self.tools.len() + changed.len());
        let mut rest = &self.tools[..];
        for (name, tool) in edits {
            by_name.remove(name);
            let (before, from) = rest.split_at(rest.partition_point(|known| known.name() < name));
            tools.extend_from_slice(before);
            rest = match from.split_first() {
                Some((known, after)) if known.name() == name => after,
                _ => from,
            };
            if let Some(tool) = tool {
                by_name.insert(ByName(Arc::clone(&tool)));
                tools.push(tool);
            }
        }
        tools.extend_from_slice(rest);
        Self::assemble(version, tools, by_name, services, self.executes, Some(self))
    }

    /// The tools whose services are others than they were, with their new ones.
    fn of_changed_services(&self, services: &Services) -> Vec<Arc<CompiledTool>> {
        let unchanged = services.len() == self.services.len()
            && services
                .iter()
                .zip(&*self.services)
                .all(|((id, (service, _)), (known_id, (known, _)))| {
                    id == known_id && Arc::ptr_eq(service, known)
                });
        if unchanged {
            return Vec::new();
        }
        self.tools
            .iter()
            .filter_map(|tool| {
                let service = service_of(services, &tool.definition);
                (!tool.has_service(service)).then(|| Arc::new(tool.with_service(service)))
            })
            .collect()
    }

    fn assemble(
        version: i64,
        tools: Vec<Arc<CompiledTool>>,
        by_name: HashSet<ByName>,
        services: Services,
        executes: ExecutorSet,
        previous: Option<&ProjectSnapshot>,
    ) -> Self {
        // A change that touches neither names, groups nor states leaves every answer about many tools as it was.
        let (index, cache) = match previous {
            None => (Arc::new(Index::build(&tools)), Arc::default()),
            Some(before) => {
                let differences = Differences::between(&before.tools, &tools);
                if differences.is_empty() {
                    (Arc::clone(&before.index), Arc::clone(&before.cache))
                } else {
                    let index = before.index.updated(&before.tools, &tools, &differences);
                    (Arc::new(index), Arc::default())
                }
            }
        };
        Self {
            version,
            by_name: Arc::new(by_name),
            tools: tools.into(),
            services: Arc::new(services),
            executes,
            labels: previous.map_or_else(Arc::default, |before| Arc::clone(&before.labels)),
            index,
            cache,
            listed_names: Arc::default(),
        }
    }

    /// The same project with these declared groups and states. Conditions with the same text in `previous` are not
    /// compiled again. A condition that cannot be read closes its group.
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
            executes: self.executes,
            labels: Arc::clone(&self.labels),
            index: Arc::clone(&self.index),
            cache: Arc::clone(&self.cache),
            listed_names: Arc::clone(&self.listed_names),
        }
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

    /// What clients of the Model Context Protocol call the tools; made at the first question.
    #[must_use]
    pub fn listed_names(&self) -> &NameTable {
        self.listed_names
            .get_or_init(|| NameTable::new(self.tools.iter().map(|tool| tool.name())))
    }

    /// One service by its exact id.
    #[must_use]
    pub fn service(&self, id: &str) -> Option<&ServiceDefinition> {
        self.services.get(id).map(|(service, _)| &**service)
    }

    /// The revision of one service.
    #[must_use]
    pub fn service_revision(&self, id: &str) -> Option<i64> {
        self.services.get(id).map(|(_, revision)| *revision)
    }

    /// Every service with its revision, sorted by id.
    pub fn services(&self) -> impl Iterator<Item = (&ServiceDefinition, i64)> {
        self.services
            .values()
            .map(|(service, revision)| (&**service, *revision))
    }

    /// Whether any group has a condition, so that a decision may depend on its [`EvaluationContext`].
    #[must_use]
    pub fn has_conditions(&self) -> bool {
        !self.labels.conditions.is_empty()
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
        evaluation: &EvaluationContext<'_>,
    ) -> Decision {
        let conditions = GroupConditions::new(&self.labels.conditions, evaluation);
        decide(
            granted,
            GroupsRequest::new(requested, state),
            tool,
            self.tool(tool),
            &conditions,
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
        evaluation: &EvaluationContext<'_>,
    ) -> Result<Arc<Availability>, Denial> {
        let asked = GroupsRequest::new(requested, state);
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
        let mut closed = GroupConditions::new(&self.labels.conditions, evaluation).all();
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

/// A service that is what it was keeps its `Arc`, by which its tools know it.
fn by_id(services: Vec<(ServiceDefinition, i64)>, previous: Option<&ProjectSnapshot>) -> Services {
    let known = |service: &ServiceDefinition| {
        let (known, _) = previous?.services.get(&service.id)?;
        (**known == *service).then(|| Arc::clone(known))
    };
    services
        .into_iter()
        .map(|(service, revision)| {
            let id = service.id.clone();
            (
                id,
                (known(&service).unwrap_or_else(|| Arc::new(service)), revision),
            )
        })
        .collect()
}

/// The service that a tool refers to.
fn service_of<'s>(services: &'s Services, definition: &ToolDefinition) -> Option<&'s Arc<ServiceDefinition>> {
    let id = definition.service.as_deref()?;
    services.get(id).map(|(service, _)| service)
}

/// By name; if a name occurs several times, the last wins (the sort is stable).
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
#[derive(Clone)]
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
