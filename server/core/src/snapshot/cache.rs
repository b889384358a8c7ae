//! Answers that were computed before, bounded in number and in bytes.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::index::{ClosedKey, GroupsKey, Index, Sets, StateKey};

/// Different questions (groups, closed groups and state) that are kept.
const MAX_ENTRIES: usize = 1_024;
/// Bytes of all kept answers and their keys.
const MAX_BYTES: usize = 4 << 20;

/// Grows to a bound and is then emptied: an answer is cheap to compute again, and a caller that asks ever new
/// questions gains nothing.
#[derive(Debug, Default)]
pub(super) struct Cache(RwLock<Kept>);

#[derive(Debug, Default)]
struct Kept {
    answers: HashMap<(GroupsKey, ClosedKey, StateKey), Arc<Sets>>,
    bytes: usize,
}

impl Cache {
    pub(super) fn sets(
        &self,
        index: &Index,
        groups: &GroupsKey,
        closed: &ClosedKey,
        state: StateKey,
    ) -> Arc<Sets> {
        let key = (groups.clone(), closed.clone(), state);
        if let Some(sets) = self
            .0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .answers
            .get(&key)
        {
            return Arc::clone(sets);
        }
        let sets = Arc::new(index.sets(groups, closed, state));
        let bytes = size_of_val(&key)
            + match groups {
                GroupsKey::Any => 0,
                GroupsKey::Named(positions) => size_of_val::<[u32]>(positions),
            }
            + size_of_val::<[u32]>(closed)
            + sets.size();
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if kept.answers.len() >= MAX_ENTRIES || kept.bytes + bytes > MAX_BYTES {
            *kept = Kept::default();
        }
        kept.bytes += bytes;
        kept.answers.insert(key, Arc::clone(&sets));
        sets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::testing::tool;

    #[test]
    fn the_same_question_is_worked_out_once() {
        let index = Index::build(&[tool("a").compiled()]);
        let cache = Cache::default();
        let ask = || cache.sets(&index, &GroupsKey::Any, &ClosedKey::default(), StateKey::Other);
        assert!(Arc::ptr_eq(&ask(), &ask()));
    }

    #[test]
    fn ever_new_questions_do_not_grow_it_beyond_its_bounds() {
        let states: Vec<String> = (0..3 * MAX_ENTRIES).map(|state| format!("s{state}")).collect();
        let states: Vec<&str> = states.iter().map(String::as_str).collect();
        let index = Index::build(&[tool("a").states(&states).compiled()]);
        let cache = Cache::default();
        let mut most = 0;
        for state in states {
            let sets = cache.sets(&index, &GroupsKey::Any, &ClosedKey::default(), index.state(state));
            assert_eq!(sets.available.len(), 1, "{state}");
            most = most.max(cache.0.read().unwrap().answers.len());
        }
        assert_eq!(most, MAX_ENTRIES);
    }

    #[test]
    fn large_answers_are_bounded_by_their_bytes() {
        // Every second tool is in the group: such sets do not compress.
        let mut tools: Vec<_> = (0..40_000)
            .map(|n| {
                tool(&format!("t{n:05}"))
                    .groups(if n % 2 == 0 { &["even"] } else { &["odd"] })
                    .compiled()
            })
            .collect();
        let states: Vec<String> = (0..MAX_ENTRIES).map(|state| format!("s{state}")).collect();
        let states: Vec<&str> = states.iter().map(String::as_str).collect();
        tools.push(tool("z").states(&states).compiled());
        let index = Index::build(&tools);
        let cache = Cache::default();
        let groups = index.groups(["even"].into_iter()).known;
        let mut most = 0;
        for state in states {
            cache.sets(&index, &groups, &ClosedKey::default(), index.state(state));
            let kept = cache.0.read().unwrap();
            assert!(kept.bytes <= MAX_BYTES);
            most = most.max(kept.answers.len());
        }
        assert!((100..MAX_ENTRIES).contains(&most), "{most}");
    }
}
