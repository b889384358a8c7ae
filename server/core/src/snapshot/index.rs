//! Which tools are in which group and open in which state, as bitmaps over the tools' positions.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use roaring::{MultiOps, RoaringBitmap};

use super::CompiledTool;
use crate::policy::decision::{EVERY_STATE, UNDEFINED_STATE};
use crate::policy::groups::{ANY, parents};

/// Names and the tools each of them covers.
#[derive(Debug, Default)]
struct NamedSets {
    position: HashMap<Box<str>, u32>,
    sets: Vec<RoaringBitmap>,
}

impl NamedSets {
    fn add(&mut self, name: &str, tool: u32) -> usize {
        let at = match self.position.get(name) {
            Some(&at) => at as usize,
            None => {
                let at = self.sets.len();
                self.position
                    .insert(name.into(), u32::try_from(at).unwrap_or(u32::MAX));
                self.sets.push(RoaringBitmap::new());
                at
            }
        };
        // Tools come in order, so this appends; a tool that comes twice under one name is already there.
        self.sets[at].insert(tool);
        at
    }

    fn set(&self, name: &str) -> Option<&RoaringBitmap> {
        self.sets.get(*self.position.get(name)? as usize)
    }
}

/// The bitmaps of one snapshot.
#[derive(Debug)]
pub(super) struct Index {
    tools: u32,
    /// Disabled tools and those that nothing executes keep their names in use, and are in no answer.
    disabled: Arc<RoaringBitmap>,
    /// A tool in `a/b` is listed under `a/b` and under `a`: any requested group is found in one look-up.
    groups: NamedSets,
    /// By the position of a group, the tools that name it themselves; `None` where they are all of `groups`.
    direct: Vec<Option<RoaringBitmap>>,
    in_no_group: RoaringBitmap,
    states: NamedSets,
    /// States that tools lead to, beside `undefined`.
    targets: BTreeSet<Box<str>>,
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

/// Closed groups that some tool is in, by position, sorted.
pub(super) type ClosedKey = Box<[u32]>;

/// The answer for one set of requested groups, one of closed groups, and one state.
#[derive(Debug)]
pub(super) struct Sets {
    /// The tools that no caller can call; they are in none of the other sets.
    pub(super) disabled: Arc<RoaringBitmap>,
    /// The tools that are in a requested group, open or closed.
    pub(super) grouped: RoaringBitmap,
    /// Those of them that are in an open one; `None` where nothing is closed.
    pub(super) open: Option<RoaringBitmap>,
    /// Those of them that pass the state test too.
    pub(super) available: RoaringBitmap,
}

impl Sets {
    /// The tools that are in a requested group that is open.
    pub(super) fn open(&self) -> &RoaringBitmap {
        self.open.as_ref().unwrap_or(&self.grouped)
    }

    /// Bytes, about.
    pub(super) fn size(&self) -> usize {
        self.grouped.serialized_size()
            + self.available.serialized_size()
            + self.open.as_ref().map_or(0, RoaringBitmap::serialized_size)
    }
}

impl Index {
    pub(super) fn build(tools: &[Arc<CompiledTool>]) -> Self {
        let mut index = Self {
            tools: u32::try_from(tools.len()).unwrap_or(u32::MAX),
            disabled: Arc::default(),
            groups: NamedSets::default(),
            direct: Vec::new(),
            in_no_group: RoaringBitmap::new(),
            states: NamedSets::default(),
            targets: BTreeSet::new(),
            in_every_state: RoaringBitmap::new(),
            in_some_state: RoaringBitmap::new(),
        };
        let mut direct: Vec<RoaringBitmap> = Vec::new();
        let mut disabled = RoaringBitmap::new();
        for (position, tool) in (0..).zip(tools) {
            if !tool.is_offered() {
                disabled.insert(position);
            }
            if tool.groups.is_empty() {
                index.in_no_group.insert(position);
            }
            for group in &tool.groups {
                let at = index.groups.add(group, position);
                if direct.len() <= at {
                    direct.resize_with(at + 1, RoaringBitmap::new);
                }
                direct[at].insert(position);
                for parent in parents(group) {
                    index.groups.add(parent, position);
                }
            }
            if let Some(target) = tool.definition.state.as_deref().filter(|state| !state.is_empty())
                && !index.targets.contains(target)
            {
                index.targets.insert(target.into());
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
        index.disabled = Arc::new(disabled);
        // Most groups have no children: the set they cover and the set that names them are the same.
        direct.resize_with(index.groups.sets.len(), RoaringBitmap::new);
        index.direct = direct
            .into_iter()
            .zip(&index.groups.sets)
            .map(|(own, all)| (own.len() != all.len()).then_some(own))
            .collect();
        index
    }

    /// The groups of tools and their parents, in no order.
    pub(super) fn group_names(&self) -> impl Iterator<Item = &str> {
        self.groups.position.keys().map(|name| &**name)
    }

    /// The tools that name a group themselves.
    pub(super) fn direct(&self, name: &str) -> Option<&RoaringBitmap> {
        self.groups
            .position
            .get(name)
            .map(|&at| self.direct_at(at as usize))
    }

    fn direct_at(&self, at: usize) -> &RoaringBitmap {
        self.direct[at].as_ref().unwrap_or(&self.groups.sets[at])
    }

    /// Tools that name a group themselves, and with those of its children.
    pub(super) fn group_size(&self, name: &str) -> (u64, u64) {
        let own = self.direct(name).map_or(0, RoaringBitmap::len);
        (own, self.groups.set(name).map_or(0, RoaringBitmap::len))
    }

    /// The states of tools, in no order, with repetitions.
    pub(super) fn state_names(&self) -> impl Iterator<Item = &str> {
        self.states
            .position
            .keys()
            .chain(&self.targets)
            .map(|name| &**name)
            .filter(|name| !name.is_empty() && *name != EVERY_STATE)
            .chain([UNDEFINED_STATE])
    }

    /// Tools that name a state as one they are open in, and with those that are open in every state.
    pub(super) fn state_size(&self, name: &str) -> (u64, u64) {
        match self.states.set(name) {
            Some(own) => (own.len(), own.union_len(&self.in_every_state)),
            None => (0, self.in_every_state.len()),
        }
    }

    /// Closed groups without those that no tool is in.
    pub(super) fn closed<'n>(&self, names: impl Iterator<Item = &'n str>) -> ClosedKey {
        let mut closed: Vec<u32> = names
            .filter_map(|name| self.groups.position.get(name).copied())
            .collect();
        closed.sort_unstable();
        closed.into()
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

    pub(super) fn sets(&self, groups: &GroupsKey, closed: &ClosedKey, state: StateKey) -> Sets {
        let grouped = self.enabled(match groups {
            GroupsKey::Any => self.all(),
            GroupsKey::Named(positions) => positions.iter().map(|&at| &self.groups.sets[at as usize]).union(),
        });
        let open = (!closed.is_empty()).then(|| self.enabled(self.open(groups, closed)));
        let reached = open.as_ref().unwrap_or(&grouped);
        let available = match state {
            StateKey::Other => reached & &self.in_every_state,
            StateKey::Some => reached & &self.in_some_state,
            StateKey::Named(at) => reached & (&self.states.sets[at as usize] | &self.in_every_state),
        };
        Sets {
            disabled: Arc::clone(&self.disabled),
            grouped,
            open,
            available,
        }
    }

    /// Without the disabled tools.
    fn enabled(&self, mut tools: RoaringBitmap) -> RoaringBitmap {
        if !self.disabled.is_empty() {
            tools -= &*self.disabled;
        }
        tools
    }

    /// The tools that a request reaches through groups that are open: those that name a group which is asked for, itself
    /// or by a parent, and which is not closed, itself or by a parent.
    fn open(&self, groups: &GroupsKey, closed: &ClosedKey) -> RoaringBitmap {
        let stands_in = |positions: &[u32], name: &str, at: u32| {
            let has = |at: &u32| positions.binary_search(at).is_ok();
            has(&at)
                || parents(name)
                    .filter_map(|parent| self.groups.position.get(parent))
                    .any(has)
        };
        let mut open: Vec<&RoaringBitmap> = Vec::new();
        for (name, &at) in &self.groups.position {
            let asked_for = match groups {
                GroupsKey::Any => true,
                GroupsKey::Named(positions) => stands_in(positions, name, at),
            };
            if asked_for && !stands_in(closed, name, at) {
                open.push(self.direct_at(at as usize));
            }
        }
        if matches!(groups, GroupsKey::Any) {
            open.push(&self.in_no_group);
        }
        open.union()
    }

    pub(super) fn has_group(&self, name: &str) -> bool {
        self.groups.position.contains_key(name)
    }

    pub(super) fn group_sizes(&self) -> impl Iterator<Item = (&str, u64)> {
        let groups = &self.groups;
        groups
            .position
            .iter()
            .map(|(name, &at)| (&**name, groups.sets[at as usize].len()))
    }

    /// Tools that are open in every state count in each.
    pub(super) fn state_sizes(&self) -> impl Iterator<Item = (&str, u64)> {
        let states = &self.states;
        states
            .position
            .iter()
            .map(|(name, &at)| (&**name, states.sets[at as usize].union_len(&self.in_every_state)))
    }

    fn all(&self) -> RoaringBitmap {
        let mut all = RoaringBitmap::new();
        all.insert_range(0..self.tools);
        all
    }
}
