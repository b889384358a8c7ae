//! Documents that a project has one of.

/// A document that a project has one of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Revised<T> {
    /// The content.
    pub value: T,
    /// Counts from 1; 0 when none was ever stored and the content is the default.
    pub revision: i64,
}

/// A document in place of the one before.
#[derive(Debug, Clone)]
pub struct Replacement<'a, T> {
    /// The content.
    pub value: &'a T,
    /// The revision it was made from, 0 for none; `None` replaces whatever is there.
    pub expected: Option<i64>,
    /// Who.
    pub author: &'a str,
}
