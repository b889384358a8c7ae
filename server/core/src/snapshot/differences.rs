//! Where two lists of tools differ in what is indexed: names, groups, states, and whether a tool is offered.

use std::cmp::Ordering;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::CompiledTool;

/// A tool that was added, removed, or is indexed otherwise than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Difference {
    /// Its position before, if it was there.
    pub(super) before: Option<u32>,
    /// Its position now, if it is there.
    pub(super) after: Option<u32>,
}

/// All of them, in the order of the names.
#[derive(Debug)]
pub(super) struct Differences(pub(super) Vec<Difference>);

impl Differences {
    /// Compares two lists that are sorted by name and have each name once.
    pub(super) fn between(before: &[Arc<CompiledTool>], after: &[Arc<CompiledTool>]) -> Self {
        let position = |at: usize| Some(u32::try_from(at).unwrap_or(u32::MAX));
        let mut found = Vec::new();
        let (mut old, mut new) = (0, 0);
        loop {
            let order = match (before.get(old), after.get(new)) {
                (None, None) => return Self(found),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) if Arc::ptr_eq(a, b) => {
                    old += 1;
                    new += 1;
                    continue;
                }
                (Some(a), Some(b)) => a.name().cmp(b.name()),
            };
            match order {
                Ordering::Less => found.push(Difference {
                    before: position(old),
                    after: None,
                }),
                Ordering::Greater => found.push(Difference {
                    before: None,
                    after: position(new),
                }),
                Ordering::Equal if is_indexed_like(&before[old], &after[new]) => {}
                Ordering::Equal => found.push(Difference {
                    before: position(old),
                    after: position(new),
                }),
            }
            old += usize::from(order.is_le());
            new += usize::from(order.is_ge());
        }
    }

    /// Whether every answer about many tools is what it was.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn is_indexed_like(a: &CompiledTool, b: &CompiledTool) -> bool {
    a.is_offered() == b.is_offered()
        && a.groups == b.groups
        && a.states == b.states
        && a.definition.state == b.definition.state
}

/// How the positions of the tools that stay move when others are added and removed.
pub(super) struct Moves {
    /// From this old position on, tools move by so much; sorted, and never empty.
    steps: Vec<(u32, i64)>,
}

impl Moves {
    /// `None` if every tool that stays keeps its position.
    pub(super) fn of(differences: &[Difference]) -> Option<Self> {
        let mut steps: Vec<(u32, i64)> = Vec::new();
        let mut moved: i64 = 0;
        for difference in differences {
            let from = match *difference {
                Difference {
                    before: Some(_),
                    after: Some(_),
                } => continue,
                Difference {
                    before: Some(removed),
                    ..
                } => {
                    moved -= 1;
                    removed
                }
                Difference {
                    after: Some(added), ..
                } => {
                    // The tool that was where this one is now, before the earlier ones moved it.
                    let displaced = i64::from(added) - moved;
                    moved += 1;
                    u32::try_from(displaced).unwrap_or(0)
                }
                Difference {
                    before: None,
                    after: None,
                } => continue,
            };
            steps.push((from, moved));
        }
        (!steps.is_empty()).then_some(Self { steps })
    }

    /// Moves the positions of a set, which holds none that was removed.
    pub(super) fn apply(&self, set: &mut RoaringBitmap) {
        let Some(&(first, _)) = self.steps.first() else {
            return;
        };
        if set.max().is_none_or(|last| last < first) {
            return;
        }
        let mut steps = self.steps.iter().peekable();
        let mut moved = 0;
        let tail: Vec<u32> = set
            .range(first..)
            .map(|position| {
                while let Some(&(_, by)) = steps.next_if(|&&(from, _)| from <= position) {
                    moved = by;
                }
                u32::try_from(i64::from(position) + moved).unwrap_or(u32::MAX)
            })
            .collect();
        set.remove_range(first..);
        // Positions keep their order, so all of them come after what stays.
        set.extend(tail);
    }
}
