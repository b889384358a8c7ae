//! Groups: what is asked for, what is granted, and which covers which.

use std::collections::BTreeSet;

/// The group of tools and requests that name none.
pub const DEFAULT_GROUP: &str = "default";
/// In a grant or a request: every group.
pub const ANY: &str = "*";

/// A set of group names. `*` in it stands for every group; a parent (`knowledge`) covers its children
/// (`knowledge/read`), a child never covers its parent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupSet(BTreeSet<String>);

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
        if self.is_any() || self.0.contains(group) {
            return true;
        }
        group != ANY && parents(group).any(|parent| self.0.contains(parent))
    }

    /// Those of `requested` that it does not cover.
    #[must_use]
    pub fn missing(&self, requested: &GroupSet) -> Vec<String> {
        requested.iter().filter(|group| !self.covers(group)).map(str::to_owned).collect()
    }
}

impl<T: Into<String>> FromIterator<T> for GroupSet {
    fn from_iter<I: IntoIterator<Item = T>>(names: I) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }
}

/// The parents of a group, nearest first: `a/b/c` has `a/b` and `a`.
pub fn parents(group: &str) -> impl Iterator<Item = &str> {
    group.char_indices().rev().filter(|&(at, c)| c == '/' && at > 0).map(move |(at, _)| &group[..at])
}

/// What a request asks for: absent is `["default"]`, `[]` is nothing (DESIGN, section 3).
#[must_use]
pub fn requested(group: Option<&[String]>) -> GroupSet {
    match group {
        None => [DEFAULT_GROUP].into_iter().collect(),
        Some(names) => names.iter().cloned().collect(),
    }
}
