//! The use case "what states are there": as the caller may see them, and as the graph that the tools make.

use std::collections::BTreeMap;

use toolgate_api::states::{DeadEnd, GraphState, GraphTransition, State, StateGraph};
use toolgate_core::policy::decision::{EVERY_STATE, UNDEFINED_STATE};
use toolgate_core::principal::Permission;
use toolgate_core::snapshot::CompiledTool;
use toolgate_core::states as rules;

use super::entry::Entry;
use super::labels::{Kind, Label, matches};
use crate::gateway::Gateway;

/// The most states, and names of its other lists, in a graph.
const MAX_STATES: usize = 1_000;
/// The most transitions in a graph.
const MAX_TRANSITIONS: usize = 2_000;
/// Tools at one way.
const MAX_TOOLS: usize = 20;
/// Tools that lead to one state.
const MAX_LED_TO_BY: usize = 200;

impl Label for State {
    const KIND: Kind = Kind::State;

    fn name(&self) -> &str {
        &self.name
    }

    fn get(_: &Gateway, place: &Entry, name: &str) -> Option<Self> {
        States::new(place).get(name)
    }

    fn list(_: &Gateway, place: &Entry, after: Option<&str>, needle: Option<&str>, most: usize) -> Vec<Self> {
        let states = States::new(place);
        let described = |name: &str| {
            let declared = place.project.snapshot.declared_state(name)?;
            Some(declared.description.as_str())
        };
        let names = states.sizes.keys().map(String::as_str);
        names
            .filter(|name| after.is_none_or(|after| *name > after))
            .filter(|name| matches(name, described(name), needle))
            .take(most)
            .map(|name| states.state(name))
            .collect()
    }
}

/// The states of a project through the eyes of one caller: a role that reads definitions sees every state; others see
/// those of the tools they may call.
struct States<'a> {
    place: &'a Entry,
    /// With how many tools name it, and how many are open in it.
    sizes: BTreeMap<String, (u64, u64)>,
    reads_definitions: bool,
}

impl<'a> States<'a> {
    /// As of the project's snapshot.
    fn new(place: &'a Entry) -> Self {
        let snapshot = &place.project.snapshot;
        let reads_definitions = place.may(Permission::ReadDefinitions);
        let sizes = if reads_definitions {
            snapshot
                .state_names()
                .into_iter()
                .map(|name| (name.to_owned(), snapshot.state_size(name)))
                .collect()
        } else {
            visible_sizes(place)
        };
        Self {
            place,
            sizes,
            reads_definitions,
        }
    }

    /// One state; `None` when there is none that the caller may see.
    fn get(&self, name: &str) -> Option<State> {
        self.sizes.get(name)?;
        let mut state = self.state(name);
        state.led_to_by = Some(
            tools(self.place)
                .into_iter()
                .filter(|tool| tool.definition.state.as_deref() == Some(name))
                .take(MAX_LED_TO_BY)
                .map(|tool| tool.name().to_owned())
                .collect(),
        );
        Some(state)
    }

    fn state(&self, name: &str) -> State {
        let declared = self.place.project.snapshot.declared_state(name);
        let (tools, open_tools) = self.sizes.get(name).copied().unwrap_or_default();
        State {
            name: name.to_owned(),
            description: declared.map_or_else(String::new, |label| label.description.clone()),
            declared: declared.is_some(),
            start: name == UNDEFINED_STATE,
            tools,
            open_tools,
            led_to_by: None,
            updated_at: declared.map(|label| label.updated_at),
            updated_by: declared
                .filter(|_| self.reads_definitions)
                .map(|label| label.updated_by.clone()),
        }
    }
}

/// The tools that the caller may see, by name.
fn tools(place: &Entry) -> Vec<&CompiledTool> {
    let snapshot = &place.project.snapshot;
    if place.may(Permission::ReadDefinitions) {
        return snapshot.tools().iter().map(AsRef::as_ref).collect();
    }
    let visible = snapshot.visible(&place.grant.groups);
    snapshot
        .tools()
        .iter()
        .filter(|tool| visible.tool(tool.name()).is_some())
        .map(AsRef::as_ref)
        .collect()
}

fn visible_sizes(place: &Entry) -> BTreeMap<String, (u64, u64)> {
    let mut sizes: BTreeMap<String, (u64, u64)> = BTreeMap::from([(UNDEFINED_STATE.to_owned(), (0, 0))]);
    let mut everywhere = 0;
    for tool in tools(place) {
        let target = tool.definition.state.as_deref();
        if let Some(target) = target.filter(|state| !state.is_empty()) {
            sizes.entry(target.to_owned()).or_default();
        }
        let open = tool.states.iter().any(|state| state == EVERY_STATE);
        everywhere += u64::from(open);
        for state in tool
            .states
            .iter()
            .filter(|state| !state.is_empty() && *state != EVERY_STATE)
        {
            let size = sizes.entry(state.clone()).or_default();
            size.0 += 1;
            size.1 += u64::from(!open);
        }
    }
    for size in sizes.values_mut() {
        size.1 += everywhere;
    }
    sizes
}

/// The graph of the tools that the caller may see and at least one principal may call: a disabled tool opens nothing
/// and leads nowhere. Declared states are in it for roles that read definitions.
#[must_use]
pub fn graph(place: &Entry) -> rules::StateGraph {
    let snapshot = &place.project.snapshot;
    let declared = snapshot
        .declared_states()
        .map(|label| label.name.as_str())
        .filter(|_| place.may(Permission::ReadDefinitions));
    let enabled = tools(place).into_iter().filter(|tool| tool.is_offered());
    rules::StateGraph::new(enabled, declared)
}

/// The graph as data, cut to what an answer holds.
#[must_use]
pub fn wire(graph: &rules::StateGraph) -> StateGraph {
    let mut truncated = false;
    let mut cut = |len: usize, limit: usize| {
        truncated |= len > limit;
        limit
    };
    let names = |names: &mut dyn Iterator<Item = &str>, limit: usize| -> Vec<String> {
        names.take(limit).map(str::to_owned).collect()
    };
    let states = cut(graph.states.len(), MAX_STATES);
    let transitions = cut(graph.transitions.len(), MAX_TRANSITIONS);
    let never = cut(graph.never_callable.len(), MAX_STATES);
    let only = cut(graph.only_in_unreachable.len(), MAX_STATES);
    // A state is in one cycle at most.
    let mut room = MAX_STATES;
    let cycles: Vec<Vec<String>> = graph
        .cycles
        .iter()
        .map(|cycle| {
            let part: Vec<String> = cycle.iter().take(cut(cycle.len(), room)).cloned().collect();
            room -= part.len();
            part
        })
        .filter(|cycle| !cycle.is_empty())
        .collect();
    StateGraph {
        start: UNDEFINED_STATE.to_owned(),
        states: graph
            .states
            .iter()
            .take(states)
            .map(|state| GraphState {
                name: state.name.clone(),
                reachable: state.reachable,
                open_tools: state.open_tools,
            })
            .collect(),
        transitions: graph
            .transitions
            .iter()
            .take(transitions)
            .map(|way| GraphTransition {
                from: way.from.clone(),
                to: way.to.clone(),
                tools: way.tools.iter().take(MAX_TOOLS).cloned().collect(),
                tool_count: way.tools.len() as u64,
            })
            .collect(),
        unreachable: names(&mut graph.unreachable(), MAX_STATES),
        dead_ends: graph
            .dead_ends
            .iter()
            .take(MAX_STATES)
            .map(|end| DeadEnd {
                state: end.state.clone(),
                no_tool_open: end.no_tool_open,
            })
            .collect(),
        cycles,
        unused: names(&mut graph.unused(), MAX_STATES),
        never_callable: names(&mut graph.never_callable.iter().map(String::as_str), never),
        only_in_unreachable: names(&mut graph.only_in_unreachable.iter().map(String::as_str), only),
        truncated,
        state_count: graph.states.len() as u64,
        transition_count: graph.transitions.len() as u64,
    }
}
