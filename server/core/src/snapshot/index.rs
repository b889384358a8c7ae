//! Which tools are in which group and open in which state, as bitmaps over the tools' positions.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use roaring::{MultiOps, RoaringBitmap};

use super::CompiledTool;
use super::differences::{Differences, Moves};
use crate::policy::decision::{EVERY_STATE, UNDEFINED_STATE};
use crate::policy::groups::{ANY, parents};

/// Names and the tools each of them covers.
#[derive(Debug, Default, Clone)]
struct NamedSets {
    position: HashMap<Box<str>, u32>,
    /// The set of a name that no tool has any more stays here, empty, until the next full build.
    sets: Vec<RoaringBitmap>,
}

impl NamedSets {
    /// Where the set of a name is; a new one is empty.
    fn place(&mut self, name: &str) -> usize {
        if let Some(&at) = self.position.get(name) {
            return at as usize;
        }
        let at = self.sets.len();
        self.position
            .insert(name.into(), u32::try_from(at).unwrap_or(u32::MAX));
        self.sets.push(RoaringBitmap::new());
        at
    }

    fn remove(&mut self, name: &str, tool: u32) {
        if let Some(&at) = self.position.get(name) {
            self.sets[at as usize].remove(tool);
        }
    }

    /// Forgets a name that no tool has.
    fn forget_unused(&mut self, name: &str) {
        if self.set(name).is_some_and(RoaringBitmap::is_empty) {
            self.position.remove(name);
        }
    }

    fn has_many_unused(&self) -> bool {
        self.sets.len() > 2 * self.position.len() + 64
    }

    fn set(&self, name: &str) -> Option<&RoaringBitmap> {
        self.sets.get(*self.position.get(name)? as usize)
    }
}

/// The bitmaps of one snapshot.
#[derive(Debug, Default, Clone)]
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
    /// States that tools lead to, beside `undefined`, with the number of these tools.
    targets: BTreeMap<Box<str>, u32>,
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
        let mut index = Self::default();
        for (position, tool) in (0..).zip(tools) {
            index.add(tool, position);
        }
        index.finish(tools.len());
        index
    }

    /// The index of `after`, made of this one, which is that of `before`. It costs a copy and what differs.
    pub(super) fn updated(
        &self,
        before: &[Arc<CompiledTool>],
        after: &[Arc<CompiledTool>],
        differences: &Differences,
    ) -> Self {
        let changes = &differences.0;
        if changes.len() > after.len() / 4 || self.groups.has_many_unused() || self.states.has_many_unused() {
            return Self::build(after);
        }
        let mut index = self.clone();
        let removed = || changes.iter().filter_map(|change| change.before);
        for position in removed() {
            index.remove(&before[position as usize], position);
        }
        if let Some(moves) = Moves::of(changes) {
            index.for_each_set(|set| moves.apply(set));
        }
        for position in changes.iter().filter_map(|change| change.after) {
            index.add(&after[position as usize], position);
        }
        for tool in removed().map(|position| &before[position as usize]) {
            for group in &tool.groups {
                std::iter::once(group.as_str())
                    .chain(parents(group))
                    .for_each(|name| index.groups.forget_unused(name));
            }
            tool.states
                .iter()
                .for_each(|state| index.states.forget_unused(state));
        }
        index.finish(after.len());
        index
    }

    fn add(&mut self, tool: &CompiledTool, position: u32) {
        if !tool.is_offered() {
            Arc::make_mut(&mut self.disabled).insert(position);
        }
        if tool.groups.is_empty() {
            self.in_no_group.insert(position);
        }
        for group in &tool.groups {
            self.own_set(group).insert(position);
            for name in std::iter::once(group.as_str()).chain(parents(group)) {
                self.own_set(name);
                let at = self.groups.place(name);
                self.groups.sets[at].insert(position);
            }
        }
        if let Some(target) = target(tool) {
            match self.targets.get_mut(target) {
                Some(tools) => *tools += 1,
                None => {
                    self.targets.insert(target.into(), 1);
                }
            }
        }
        for state in &tool.states {
            // A request is never in the state "": it counts as `undefined`.
            if !state.is_empty() {
                self.in_some_state.insert(position);
            }
            if state == EVERY_STATE {
                self.in_every_state.insert(position);
            }
            let at = self.states.place(state);
            self.states.sets[at].insert(position);
        }
    }

    fn remove(&mut self, tool: &CompiledTool, position: u32) {
        Arc::make_mut(&mut self.disabled).remove(position);
        for set in [
            &mut self.in_no_group,
            &mut self.in_some_state,
            &mut self.in_every_state,
        ] {
            set.remove(position);
        }
        for group in &tool.groups {
            for name in std::iter::once(group.as_str()).chain(parents(group)) {
                self.own_set(name).remove(position);
                self.groups.remove(name, position);
            }
        }
        if let Some(target) = target(tool)
            && let Some(tools) = self.targets.get_mut(target)
        {
            *tools -= 1;
            if *tools == 0 {
                self.targets.remove(target);
            }
        }
        for state in &tool.states {
            self.states.remove(state, position);
        }
    }

    /// The tools that name a group themselves, as a set of its own that can be changed.
    fn own_set(&mut self, group: &str) -> &mut RoaringBitmap {
        let at = self.groups.place(group);
        if self.direct.len() <= at {
            self.direct.resize(at + 1, None);
        }
        self.direct[at].get_or_insert_with(|| self.groups.sets[at].clone())
    }

    fn for_each_set(&mut self, change: impl FnMut(&mut RoaringBitmap)) {
        [
            Arc::make_mut(&mut self.disabled),
            &mut self.in_no_group,
            &mut self.in_every_state,
            &mut self.in_some_state,
        ]
        .into_iter()
        .chain(&mut self.groups.sets)
        .chain(self.direct.iter_mut().flatten())
        .chain(&mut self.states.sets)
        .for_each(change);
    }

    /// Most groups have no children: the set they cover and the set that names them are the same, and kept once.
    fn finish(&mut self, tools: usize) {
        self.tools = u32::try_from(tools).unwrap_or(u32::MAX);
        for (own, all) in self.direct.iter_mut().zip(&self.groups.sets) {
            if own.as_ref().is_some_and(|own| own.len() == all.len()) {
                *own = None;
            }
        }
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

    /// The tools of a group and of its children.
    pub(super) fn with_children(&self, name: &str) -> Option<&RoaringBitmap> {
        self.groups.set(name)
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
            .chain(self.targets.keys())
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

/// The state that a tool leads to.
fn target(tool: &CompiledTool) -> Option<&str> {
    tool.definition.state.as_deref().filter(|state| !state.is_empty())
}
