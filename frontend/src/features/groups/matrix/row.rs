//! A row of the matrix of tools and groups.

use std::collections::BTreeSet;

/// A tool and the groups its definition names.
pub(super) struct Row {
    /// The tool's name.
    pub(super) tool: String,
    /// The groups.
    pub(super) groups: BTreeSet<String>,
}
