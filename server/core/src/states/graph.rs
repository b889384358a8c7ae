//! The graph of states and transitions, and its irregularities.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::components::components;
use crate::policy::decision::{EVERY_STATE, UNDEFINED_STATE};
use crate::snapshot::CompiledTool;

/// A state of the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The name.
    pub name: String,
    /// Whether calls lead there from the start.
    pub reachable: bool,
    /// Whether a tool names it; the start counts as named.
    pub used: bool,
    /// How many tools are open in it.
    pub open_tools: u64,
}

/// A way from a state to a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// Where the tools are open; `None` is every state.
    pub from: Option<String>,
    /// Where their success leads.
    pub to: String,
    /// The tools, sorted by name.
    pub tools: Vec<String>,
}

/// A state that nothing leads out of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadEnd {
    /// The state.
    pub state: String,
    /// Whether no tool at all is open in it.
    pub no_tool_open: bool,
}

/// The whole graph. Every list is sorted by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateGraph {
    /// Every state: the start, those that tools name, and the declared ones.
    pub states: Vec<State>,
    /// Every way, also those from a state to itself.
    pub transitions: Vec<Transition>,
    /// States that no tool leads out of.
    pub dead_ends: Vec<DeadEnd>,
    /// Sets of two and more states that lead to one another.
    pub cycles: Vec<Vec<String>>,
    /// Tools that are open in no state at all.
    pub never_callable: Vec<String>,
    /// Tools that are open only in states that no call leads to.
    pub only_in_unreachable: Vec<String>,
}

impl StateGraph {
    /// Reads the graph off the tools. Groups and conditions play no part: a tool leads where it leads for every
    /// principal that may call it.
    pub fn new<'t>(
        tools: impl Iterator<Item = &'t CompiledTool>,
        declared: impl Iterator<Item = &'t str>,
    ) -> Self {
        Draft::new(tools, declared).finish()
    }

    /// The names of states that calls do not lead to.
    pub fn unreachable(&self) -> impl Iterator<Item = &str> {
        self.states
            .iter()
            .filter(|state| !state.reachable)
            .map(|state| state.name.as_str())
    }

    /// The names of states that are declared and named by no tool.
    pub fn unused(&self) -> impl Iterator<Item = &str> {
        self.states
            .iter()
            .filter(|state| !state.used)
            .map(|state| state.name.as_str())
    }
}

/// States by number, in the order of their names.
struct Draft<'t> {
    names: Vec<&'t str>,
    used: Vec<bool>,
    /// Tools that name the state.
    open_here: Vec<u64>,
    /// Where tools that name the state lead.
    targets: Vec<BTreeSet<usize>>,
    open_everywhere: u64,
    /// Where tools that are open in every state lead.
    targets_from_everywhere: BTreeSet<usize>,
    /// Tools by where they are open (`None`: everywhere) and where they lead.
    ways: BTreeMap<(Option<usize>, usize), Vec<&'t str>>,
    tools: Vec<&'t CompiledTool>,
    number: HashMap<&'t str, usize>,
}

/// The states that a tool is open in, or `None` for every state. A request is never in the state `""`.
fn open_states(tool: &CompiledTool) -> Option<impl Iterator<Item = &str>> {
    let everywhere = tool.states.iter().any(|state| state == EVERY_STATE);
    (!everywhere).then(|| {
        tool.states
            .iter()
            .map(String::as_str)
            .filter(|state| !state.is_empty())
    })
}

fn target(tool: &CompiledTool) -> Option<&str> {
    tool.definition.state.as_deref().filter(|state| !state.is_empty())
}

impl<'t> Draft<'t> {
    fn new(tools: impl Iterator<Item = &'t CompiledTool>, declared: impl Iterator<Item = &'t str>) -> Self {
        let tools: Vec<&CompiledTool> = tools.collect();
        let mut used: BTreeSet<&str> = BTreeSet::from([UNDEFINED_STATE]);
        for tool in &tools {
            used.extend(
                tool.states
                    .iter()
                    .map(String::as_str)
                    .filter(|state| !state.is_empty() && *state != EVERY_STATE),
            );
            used.extend(target(tool));
        }
        let names: Vec<&str> = declared
            .chain(used.iter().copied())
            .collect::<BTreeSet<&str>>()
            .into_iter()
            .collect();
        let number: HashMap<&str, usize> = names.iter().enumerate().map(|(at, &name)| (name, at)).collect();
        let mut draft = Self {
            used: names.iter().map(|name| used.contains(name)).collect(),
            open_here: vec![0; names.len()],
            targets: vec![BTreeSet::new(); names.len()],
            open_everywhere: 0,
            targets_from_everywhere: BTreeSet::new(),
            ways: BTreeMap::new(),
            names,
            tools: Vec::new(),
            number,
        };
        for tool in &tools {
            draft.add(tool);
        }
        draft.tools = tools;
        draft
    }

    fn add(&mut self, tool: &'t CompiledTool) {
        let to = target(tool).and_then(|name| self.number.get(name).copied());
        let Some(states) = open_states(tool) else {
            self.open_everywhere += 1;
            if let Some(to) = to {
                self.targets_from_everywhere.insert(to);
                self.ways.entry((None, to)).or_default().push(tool.name());
            }
            return;
        };
        let here: BTreeSet<usize> = states.filter_map(|name| self.number.get(name).copied()).collect();
        for from in here {
            self.open_here[from] += 1;
            if let Some(to) = to {
                self.targets[from].insert(to);
                self.ways.entry((Some(from), to)).or_default().push(tool.name());
            }
        }
    }

    /// From the start along every way.
    fn reachable(&self) -> Vec<bool> {
        let mut reached = vec![false; self.names.len()];
        let start = self.number.get(UNDEFINED_STATE).copied();
        let mut open: Vec<usize> = start.into_iter().collect();
        open.extend(&self.targets_from_everywhere);
        while let Some(state) = open.pop() {
            if !std::mem::replace(&mut reached[state], true) {
                open.extend(&self.targets[state]);
            }
        }
        reached
    }

    /// Tools that are open in every state are one more node, which every state leads to: that is as many edges as there
    /// are states, instead of as many as there are pairs.
    fn cycles(&self) -> Vec<Vec<String>> {
        let everywhere = self.names.len();
        let edges = |node: usize| -> Vec<usize> {
            if node == everywhere {
                self.targets_from_everywhere.iter().copied().collect()
            } else {
                self.targets[node].iter().copied().chain([everywhere]).collect()
            }
        };
        let mut cycles: Vec<Vec<String>> = components(everywhere + 1, edges)
            .into_iter()
            .map(|component| {
                let mut states: Vec<String> = component
                    .into_iter()
                    .filter(|&node| node != everywhere)
                    .map(|node| self.names[node].to_owned())
                    .collect();
                states.sort_unstable();
                states
            })
            .filter(|states| states.len() > 1)
            .collect();
        cycles.sort_unstable();
        cycles
    }

    fn dead_ends(&self) -> Vec<DeadEnd> {
        let leads_out = |state: usize| {
            self.targets[state]
                .iter()
                .chain(&self.targets_from_everywhere)
                .any(|&to| to != state)
        };
        (0..self.names.len())
            .filter(|&state| !leads_out(state))
            .map(|state| DeadEnd {
                state: self.names[state].to_owned(),
                no_tool_open: self.open_here[state] + self.open_everywhere == 0,
            })
            .collect()
    }

    fn finish(self) -> StateGraph {
        let reachable = self.reachable();
        let (mut never_callable, mut only_in_unreachable) = (Vec::new(), Vec::new());
        for tool in &self.tools {
            let Some(states) = open_states(tool) else { continue };
            let mut states = states.filter_map(|name| self.number.get(name)).peekable();
            if states.peek().is_none() {
                never_callable.push(tool.name().to_owned());
            } else if !states.any(|&state| reachable[state]) {
                only_in_unreachable.push(tool.name().to_owned());
            }
        }
        never_callable.sort_unstable();
        only_in_unreachable.sort_unstable();
        StateGraph {
            dead_ends: self.dead_ends(),
            cycles: self.cycles(),
            never_callable,
            only_in_unreachable,
            transitions: self
                .ways
                .iter()
                .map(|(&(from, to), tools)| {
                    let mut tools: Vec<String> = tools.iter().map(|&tool| tool.to_owned()).collect();
                    tools.sort_unstable();
                    Transition {
                        from: from.map(|from| self.names[from].to_owned()),
                        to: self.names[to].to_owned(),
                        tools,
                    }
                })
                .collect(),
            states: self
                .names
                .iter()
                .enumerate()
                .map(|(at, &name)| State {
                    name: name.to_owned(),
                    reachable: reachable[at],
                    used: self.used[at],
                    open_tools: self.open_here[at] + self.open_everywhere,
                })
                .collect(),
        }
    }
}
