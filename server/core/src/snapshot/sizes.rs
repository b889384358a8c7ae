//! How many tools there are under each name: for gauges and overviews.

use super::ProjectSnapshot;
use crate::policy::decision::EVERY_STATE;
use crate::policy::groups::ANY;

impl ProjectSnapshot {
    /// Whether some tool is in a group or one of its children; `*` always is a group.
    #[must_use]
    pub fn has_group(&self, name: &str) -> bool {
        name == ANY || self.index.has_group(name)
    }

    /// Every group that a tool is in and every parent of one, with the number of tools that asking for it reaches, in no
    /// order.
    pub fn group_sizes(&self) -> impl Iterator<Item = (&str, u64)> {
        self.index.group_sizes()
    }

    /// Every state that a tool names, with the number of tools that are open in it, in no order.
    pub fn state_sizes(&self) -> impl Iterator<Item = (&str, u64)> {
        self.index
            .state_sizes()
            .filter(|&(name, _)| name != EVERY_STATE && !name.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::snapshot::testing::{project, tool};

    #[test]
    fn sizes_are_what_counting_the_tools_gives() {
        let project = project([
            tool("a")
                .groups(&["k/read", "k/write"])
                .states(&["draft", "done"]),
            tool("b").groups(&["k/read"]).states(&["*"]),
            tool("c").groups(&["x"]).states(&[]),
            tool("d").groups(&[]).states(&["done"]),
        ]);
        let groups: BTreeMap<_, _> = project.group_sizes().collect();
        assert_eq!(
            groups,
            BTreeMap::from([("k", 2), ("k/read", 2), ("k/write", 1), ("x", 1)])
        );
        let states: BTreeMap<_, _> = project.state_sizes().collect();
        assert_eq!(states, BTreeMap::from([("done", 3), ("draft", 2)]));
        for (name, known) in [
            ("k", true),
            ("k/read", true),
            ("*", true),
            ("read", false),
            ("", false),
        ] {
            assert_eq!(project.has_group(name), known, "{name}");
        }
    }
}
