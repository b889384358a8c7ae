//! One slot per tool: its breaker, its share of concurrency and what it was prepared from.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use toolgate_api::ErrorCode;
use toolgate_core::definition::{ServiceDefinition, ToolDefinition};
use toolgate_core::ids::{ProjectId, ToolName};

use super::breaker::Breaker;
use super::uses::Uses;
use crate::prepared::PreparedTool;

/// Slots that are kept. One is a few hundred bytes plus what was prepared.
const MAX_SLOTS: usize = 16_384;

/// What is remembered about a tool between calls.
pub(crate) struct Slot {
    pub(crate) breaker: Breaker,
    pub(crate) running: Semaphore,
    pub(crate) uses: Uses,
    prepared: ArcSwapOption<PreparedTool>,
    probed: Mutex<Option<Probed>>,
}

/// What the last probe of a tool has found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probed {
    /// Whether it was answered with a success status.
    pub(crate) succeeded: bool,
    /// The status, if it was answered.
    pub(crate) status: Option<u16>,
    /// Why it was not.
    pub(crate) code: Option<ErrorCode>,
    /// Probes in a row that did not succeed.
    pub(crate) failures: u32,
    /// When it ended.
    pub(crate) at: Instant,
    /// How long it took.
    pub(crate) took: Duration,
}

impl Slot {
    fn new(max_concurrent: usize, now: Instant) -> Self {
        Self {
            breaker: Breaker::new(now),
            running: Semaphore::new(max_concurrent),
            uses: Uses::default(),
            prepared: ArcSwapOption::empty(),
            probed: Mutex::default(),
        }
    }

    /// What the last probe has found, if there was one.
    pub(crate) fn probed(&self) -> Option<Probed> {
        *self.probed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers what a probe has found.
    pub(crate) fn set_probed(&self, found: Probed) {
        *self.probed.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
    }

    /// What it was last prepared from, with the places in use that the definition has for it.
    pub(crate) fn declared(&self) -> Option<(Arc<ToolDefinition>, Option<usize>)> {
        let prepared = self.prepared.load_full()?;
        let declared = prepared.definition.options.concurrency();
        let in_use = prepared
            .running
            .as_ref()
            .zip(declared)
            .map(|(running, declared)| {
                usize::try_from(declared)
                    .unwrap_or(usize::MAX)
                    .saturating_sub(running.available_permits())
            });
        Some((Arc::clone(&prepared.definition), in_use))
    }

    /// The host that its calls go to, once there was one.
    pub(crate) fn host(&self) -> Option<String> {
        let prepared = self.prepared.load_full()?;
        prepared.executable.as_ref().ok()?.host().map(str::to_owned)
    }

    /// The tool of this very definition and service, made by `prepare` when another one was used last.
    pub(crate) fn prepared(
        &self,
        definition: &Arc<ToolDefinition>,
        service: Option<&Arc<ServiceDefinition>>,
        prepare: impl FnOnce() -> PreparedTool,
    ) -> Arc<PreparedTool> {
        if let Some(prepared) = self.prepared.load_full()
            && prepared.is_of(definition, service)
        {
            return prepared;
        }
        let fresh = Arc::new(prepare());
        self.prepared.store(Some(fresh.clone()));
        fresh
    }
}

/// Every slot, by project and tool. Bounded: when it is full, tools that are not running are dropped, healthy ones
/// first.
pub(crate) struct Slots {
    max_concurrent_per_tool: usize,
    max_slots: usize,
    inner: RwLock<Inner>,
}

#[derive(Default)]
struct Inner {
    projects: HashMap<ProjectId, HashMap<ToolName, Arc<Slot>>>,
    count: usize,
}

impl Slots {
    pub(crate) fn new(max_concurrent_per_tool: usize) -> Self {
        Self {
            max_concurrent_per_tool,
            max_slots: MAX_SLOTS,
            inner: RwLock::default(),
        }
    }

    /// The slot of a tool, if it has one already.
    pub(crate) fn find(&self, project: &ProjectId, tool: &ToolName) -> Option<Arc<Slot>> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.projects.get(project)?.get(tool).cloned()
    }

    /// The slot of a tool.
    pub(crate) fn get(&self, project: &ProjectId, tool: &ToolName, now: Instant) -> Arc<Slot> {
        if let Some(slot) = self.find(project, tool) {
            return slot;
        }
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        if inner.count >= self.max_slots {
            inner.forget(|slot| slot.breaker.open_for(now).is_none());
        }
        if inner.count >= self.max_slots {
            inner.forget(|_| true);
        }
        let tools = inner.projects.entry(project.clone()).or_default();
        if let Some(slot) = tools.get(tool) {
            return slot.clone();
        }
        let slot = Arc::new(Slot::new(self.max_concurrent_per_tool, now));
        tools.insert(tool.clone(), slot.clone());
        inner.count += 1;
        slot
    }

    /// A slot that no other call shares.
    pub(crate) fn apart(&self, now: Instant) -> Arc<Slot> {
        Arc::new(Slot::new(self.max_concurrent_per_tool, now))
    }

    /// Calls `visit` with every tool of a project that was called.
    pub(crate) fn of_project(&self, project: &ProjectId, mut visit: impl FnMut(&ToolName, &Slot)) {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        for (tool, slot) in inner.projects.get(project).into_iter().flatten() {
            visit(tool, slot);
        }
    }

    /// How many calls of a tool run now.
    pub(crate) fn in_flight(&self, slot: &Slot) -> usize {
        self.max_concurrent_per_tool
            .saturating_sub(slot.running.available_permits())
    }

    /// Calls `visit` with every tool whose breaker is open, and the milliseconds until its next probe.
    pub(crate) fn open(&self, now: Instant, mut visit: impl FnMut(&ProjectId, &ToolName, u64)) {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        for (project, tools) in &inner.projects {
            for (tool, slot) in tools {
                if let Some(left) = slot.breaker.open_for(now) {
                    visit(project, tool, u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
                }
            }
        }
    }
}

impl Inner {
    /// Removes the slots that no call holds and that `may_go`.
    fn forget(&mut self, may_go: impl Fn(&Slot) -> bool) {
        let mut count = 0;
        self.projects.retain(|_, tools| {
            tools.retain(|_, slot| Arc::strong_count(slot) > 1 || !may_go(slot));
            count += tools.len();
            !tools.is_empty()
        });
        self.count = count;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BreakerPolicy, Outcome};
    use super::*;

    fn tool(name: &str) -> ToolName {
        ToolName::parse(name).expect("a name")
    }

    #[test]
    fn the_number_of_slots_is_bounded_and_open_breakers_stay_longest() {
        let now = Instant::now();
        let project = ProjectId::parse("demo").expect("a slug");
        let slots = Slots {
            max_slots: 3,
            ..Slots::new(1)
        };
        let held = slots.get(&project, &tool("held"), now);
        let broken = slots.get(&project, &tool("broken"), now);
        for _ in 0..5 {
            broken
                .breaker
                .admit(BreakerPolicy::default(), now)
                .expect("closed")
                .end(Outcome::Failed, now);
        }
        drop(broken);
        for index in 0..100 {
            slots.get(&project, &tool(&format!("t{index}")), now);
            assert!(slots.inner.read().expect("no panic").count <= 3);
        }
        let mut open = Vec::new();
        slots.open(now, |_, tool, _| open.push(tool.to_string()));
        assert_eq!(open, ["broken"]);
        assert!(
            Arc::ptr_eq(&held, &slots.get(&project, &tool("held"), now)),
            "a running call keeps its slot"
        );
    }

    #[test]
    fn projects_do_not_share_slots() {
        let now = Instant::now();
        let slots = Slots::new(1);
        let [a, b] = ["a", "b"].map(|id| ProjectId::parse(id).expect("a slug"));
        assert!(!Arc::ptr_eq(
            &slots.get(&a, &tool("t"), now),
            &slots.get(&b, &tool("t"), now)
        ));
    }
}
