//! Which tools are in which group and open in which state, as bitmaps over the tools' positions.

use std::collections::HashMap;
use std::sync::Arc;

use roaring::{MultiOps, RoaringBitmap};

use super::CompiledTool;
use crate::policy::decision::EVERY_STATE;
use crate::policy::groups::{ANY, parents};

/// Names and the tools each of them stands for.
#[derive(Debug, Default)]
struct NamedSets {
    position: HashMap<Box<str>, u32>,
    sets: Vec<RoaringBitmap>,
}

impl NamedSets {
    fn add(&mut self, name: &str, tool: u32) {
        let at = match self.position.get(name) {
            Some(&at) => at,
            None => {
                let at = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
                self.position.insert(name.into(), at);
                self.sets.push(RoaringBitmap::new());
                at
            }
        };
        // Tools come in order, so this appends; a tool that comes twice under one name is already there.
        self.sets[at as usize].insert(tool);
    }
}

/// The bitmaps of one snapshot.
#[derive(Debug)]
pub(super) struct Index {
    tools: u32,
    /// A tool in `a/b` stands under `a/b` and under `a`: whatever is asked for is found in one look-up.
    groups: NamedSets,
    states: NamedSets,
    in_every_state: RoaringBitmap,
    in_some_state: RoaringBitmap,
}

/// Requested groups without what makes no difference, so that equal answers share one cached set.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum GroupsKey {
    /// `*` is among them.
    Any,
    /// The positions of those that some tool is in.
    Named(Box<[u32]>),
}

/// A state without what makes no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum StateKey {
    /// A state that tools name.
    Named(u32),
    /// A state that no tool names.
    Other,
    /// Whatever state opens the tool.
    Some,
}

/// What became of the requested groups.
pub(super) struct KnownGroups {
    pub(super) known: GroupsKey,
    /// Groups that no tool is in, in the order they were asked for.
    pub(super) unknown: Vec<String>,
}

/// The answer for one pair of groups and state.
#[derive(Debug)]
pub(super) struct Sets {
    /// The tools that pass the group test.
    pub(super) grouped: RoaringBitmap,
    /// Those of them that pass the state test too.
    pub(super) available: RoaringBitmap,
}

impl Index {
    pub(super) fn build(tools: &[Arc<CompiledTool>]) -> Self {
        let mut index = Self {
            tools: u32::try_from(tools.len()).unwrap_or(u32::MAX),
            groups: NamedSets::default(),
            states: NamedSets::default(),
            in_every_state: RoaringBitmap::new(),
            in_some_state: RoaringBitmap::new(),
        };
        for (position, tool) in (0..).zip(tools) {
            for group in &tool.groups {
                index.groups.add(group, position);
                parents(group).for_each(|parent| index.groups.add(parent, position));
            }
            for state in &tool.states {
                // A request is never in the state "": it counts as `undefined`.
                if !state.is_empty() {
                    index.in_some_state.insert(position);
                }
                if state == EVERY_STATE {
                    index.in_every_state.insert(position);
                }
                index.states.add(state, position);
            }
        }
        index
    }

    pub(super) fn groups<'n>(&self, names: impl Iterator<Item = &'n str>) -> KnownGroups {
        let mut any = false;
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for name in names {
            match self.groups.position.get(name) {
                _ if name == ANY => any = true,
                Some(&position) => known.push(position),
                None => unknown.push(name.to_owned()),
            }
        }
        known.sort_unstable();
        known.dedup();
        let known = if any {
            GroupsKey::Any
        } else {
            GroupsKey::Named(known.into())
        };
        KnownGroups { known, unknown }
    }

    pub(super) fn state(&self, name: &str) -> StateKey {
        self.states
            .position
            .get(name)
            .map_or(StateKey::Other, |&position| StateKey::Named(position))
    }

    pub(super) fn sets(&self, groups: &GroupsKey, state: StateKey) -> Sets {
        let grouped = match groups {
            GroupsKey::Any => self.all(),
            GroupsKey::Named(positions) => positions.iter().map(|&at| &self.groups.sets[at as usize]).union(),
        };
        let available = match state {
            StateKey::Other => &grouped & &self.in_every_state,
            StateKey::Some => &grouped & &self.in_some_state,
            StateKey::Named(at) => &grouped & (&self.states.sets[at as usize] | &self.in_every_state),
        };
        Sets { grouped, available }
    }

    fn all(&self) -> RoaringBitmap {
        let mut all = RoaringBitmap::new();
        all.insert_range(0..self.tools);
        all
    }
}
