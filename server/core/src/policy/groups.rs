//! Groups: what is asked for, what is granted, and which covers which.

use std::collections::BTreeSet;
use std::sync::Arc;

/// The group of tools and requests that name none.
pub const DEFAULT_GROUP: &str = "default";
/// In a grant or a request: every group.
pub const ANY: &str = "*";

/// Looking up one name costs about as much as visiting this many names.
const WALK: usize = 16;

/// A set of group names. `*` in it means every group; a parent (`knowledge`) covers its children
/// (`knowledge/read`), a child never covers its parent. Clones share the names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupSet(Arc<BTreeSet<String>>);

impl GroupSet {
    /// The names, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The names as they travel.
    #[must_use]
    pub fn to_vec(&self) -> Vec<String> {
        self.0.iter().cloned().collect()
    }

    /// Whether it names every group by `*`.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.0.contains(ANY)
    }

    /// Whether it covers one name. Only `*` covers `*`.
    #[must_use]
    pub fn covers(&self, group: &str) -> bool {
        names_cover(|name| self.0.contains(name), group) || self.is_any()
    }

    /// Whether it names no group at all: such a request gets nothing, such a grant allows nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What either of two sets names.
    #[must_use]
    pub fn union(&self, other: &GroupSet) -> GroupSet {
        if other.is_empty() {
            self.clone()
        } else if self.is_empty() {
            other.clone()
        } else {
            self.iter().chain(other.iter()).collect()
        }
    }

    /// What both of two sets cover: of a group and its child, the child.
    #[must_use]
    pub fn common(&self, other: &GroupSet) -> GroupSet {
        let of_both = self.iter().filter(|group| other.covers(group));
        let of_other = other.iter().filter(|group| self.covers(group));
        of_both.chain(of_other).collect()
    }

    /// Those of `requested` that it does not cover.
    #[must_use]
    pub fn missing(&self, requested: &GroupSet) -> Vec<String> {
        self.missing_of(requested.iter(), requested.0.len())
    }

    /// Those of `count` sorted names that it does not cover.
    pub(crate) fn missing_of<'n>(&self, sorted: impl Iterator<Item = &'n str>, count: usize) -> Vec<String> {
        if self.is_any() {
            return Vec::new();
        }
        // Many names are found by walking both sides at once, which looks at each name once; few by looking each up.
        let mut held = (count > self.0.len() / WALK).then(|| self.iter().peekable());
        sorted
            .filter(|group| {
                let is_held = held.as_mut().is_some_and(|held| {
                    while held.next_if(|name| name < group).is_some() {}
                    held.peek() == Some(group)
                });
                !is_held && !names_cover(|name| self.0.contains(name), group)
            })
            .map(str::to_owned)
            .collect()
    }
}

impl<T: Into<String>> FromIterator<T> for GroupSet {
    fn from_iter<I: IntoIterator<Item = T>>(names: I) -> Self {
        Self(Arc::new(names.into_iter().map(Into::into).collect()))
    }
}

/// The parents of a group, nearest first: `a/b/c` has `a/b` and `a`.
pub fn parents(group: &str) -> impl Iterator<Item = &str> {
    group
        .char_indices()
        .rev()
        .filter(|&(at, c)| c == '/' && at > 0)
        .map(move |(at, _)| &group[..at])
}

/// Whether plain names (leaving `*` aside) cover a group: one of them is the group itself or one of its parents.
///
/// This is the only place where the hierarchy is decided; sets, sorted slices and indexes all come here.
pub(crate) fn names_cover(contains: impl Fn(&str) -> bool, group: &str) -> bool {
    contains(group) || (group != ANY && parents(group).any(contains))
}

/// What a request asks for: absent is `["default"]`, `[]` is nothing (DESIGN, section 3).
#[must_use]
pub fn requested(group: Option<&[String]>) -> GroupSet {
    match group {
        None => [DEFAULT_GROUP].into_iter().collect(),
        Some(names) => names.iter().cloned().collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::subsequence;
    use rstest::rstest;

    use super::*;

    fn set(names: &[&str]) -> GroupSet {
        names.iter().copied().collect()
    }

    #[rstest]
    #[case::itself(&["knowledge"], "knowledge", true)]
    #[case::other(&["knowledge"], "compute", false)]
    #[case::case_matters(&["knowledge"], "Knowledge", false)]
    #[case::no_trimming(&["knowledge"], "knowledge ", false)]
    #[case::a_parent_covers_its_child(&["knowledge"], "knowledge/read", true)]
    #[case::and_its_grandchild(&["knowledge"], "knowledge/read/fast", true)]
    #[case::a_child_never_covers_its_parent(&["knowledge/read"], "knowledge", false)]
    #[case::siblings_do_not_cover_each_other(&["knowledge/read"], "knowledge/write", false)]
    #[case::a_common_beginning_is_no_parent(&["know"], "knowledge", false)]
    #[case::any_covers_all(&["*"], "knowledge", true)]
    #[case::any_covers_any(&["*"], "*", true)]
    #[case::only_any_covers_any(&["knowledge", "default"], "*", false)]
    #[case::nothing_covers_nothing(&[], "default", false)]
    #[case::the_root_is_no_parent(&[""], "/read", false)]
    fn covering(#[case] held: &[&str], #[case] asked: &str, #[case] covered: bool) {
        assert_eq!(set(held).covers(asked), covered);
    }

    #[test]
    fn absent_asks_for_default_and_an_empty_list_asks_for_nothing() {
        assert_eq!(requested(None).to_vec(), ["default"]);
        assert!(requested(Some(&[])).is_empty());
        assert_eq!(
            requested(Some(&["b".to_owned(), "a".to_owned(), "b".to_owned()])).to_vec(),
            ["a", "b"]
        );
    }

    #[test]
    fn what_is_missing_is_listed_in_order() {
        let granted = set(&["knowledge", "text"]);
        assert_eq!(
            granted.missing(&set(&["write", "text", "knowledge/read", "*"])),
            ["*", "write"]
        );
        assert!(granted.missing(&set(&[])).is_empty());
    }

    #[rstest]
    #[case::same(&["a", "b"], &["b", "c"], &["b"])]
    #[case::any(&["*"], &["a", "b/c"], &["a", "b/c"])]
    #[case::both_any(&["*"], &["*"], &["*"])]
    #[case::child(&["a"], &["a/b"], &["a/b"])]
    #[case::parent(&["a/b", "c"], &["a"], &["a/b"])]
    #[case::nothing(&["a"], &[], &[])]
    #[case::apart(&["a"], &["b"], &[])]
    fn what_two_sets_have_in_common(#[case] one: &[&str], #[case] other: &[&str], #[case] both: &[&str]) {
        assert_eq!(set(one).common(&set(other)), set(both));
        assert_eq!(set(other).common(&set(one)), set(both));
    }

    proptest! {
        /// However many are asked for, each is held against the grant by itself.
        #[test]
        fn what_is_missing_is_what_is_not_covered(
            held in subsequence(&NAMES[..], 0..=NAMES.len()),
            asked in subsequence(&NAMES[..], 0..=NAMES.len()),
            others in 0..60_usize,
        ) {
            let others = (0..others).map(|other| format!("other-{other}"));
            let held: GroupSet = held.into_iter().map(str::to_owned).chain(others).collect();
            let asked = set(&asked);
            let missing: Vec<_> = asked.iter().filter(|group| !held.covers(group)).collect();
            prop_assert_eq!(held.missing(&asked), missing);
        }
    }

    const NAMES: [&str; 11] = [
        "", "*", "a", "a/b", "a/b/c", "a b", "ab", "b", "b/x", "default", "ö/ü",
    ];

    #[test]
    fn parents_are_listed_nearest_first() {
        assert_eq!(parents("a/b/c").collect::<Vec<_>>(), ["a/b", "a"]);
        assert_eq!(parents("a").count(), 0);
    }
}
