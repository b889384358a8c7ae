//! The columns of a long list.

/// A column of a long list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Column {
    /// Its name in storage.
    pub(crate) key: &'static str,
    /// Its heading, [`marked`](crate::language::marked): the list translates it.
    pub(crate) title: &'static str,
    /// Its width, as a track of a CSS grid.
    pub(crate) width: &'static str,
    /// What the address says when the list is sorted by it.
    pub(crate) sort: Option<&'static str>,
}
