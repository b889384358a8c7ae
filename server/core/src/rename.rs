//! Renaming and removing groups and states wherever they are named, without ever turning "named" into "left out".

use crate::definition::ToolDefinition;

/// What becomes of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameChange {
    /// A group gets another name, and its children with it: `a` to `b` makes `a/x` to `b/x`.
    RenameGroup {
        /// The name now.
        from: String,
        /// The name afterwards.
        to: String,
    },
    /// A group goes. Its children stay.
    RemoveGroup(String),
    /// A state gets another name.
    RenameState {
        /// The name now.
        from: String,
        /// The name afterwards.
        to: String,
    },
    /// A state goes.
    RemoveState(String),
}

impl NameChange {
    /// Whether it is about groups.
    #[must_use]
    pub fn is_of_groups(&self) -> bool {
        matches!(self, Self::RenameGroup { .. } | Self::RemoveGroup(_))
    }

    /// What becomes of one name: `None` when it is not concerned, `Some(None)` when it goes.
    #[must_use]
    pub fn of(&self, name: &str) -> Option<Option<String>> {
        match self {
            Self::RenameGroup { from, to } => {
                let rest = name.strip_prefix(from.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then(|| Some(format!("{to}{rest}")))
            }
            Self::RenameState { from, to } => (name == from).then(|| Some(to.clone())),
            Self::RemoveGroup(gone) | Self::RemoveState(gone) => (name == gone).then_some(None),
        }
    }

    /// A list of names afterwards, in its order, each once; `None` when it stays as it is. A list that loses its last name
    /// is `[]`.
    #[must_use]
    pub fn of_list(&self, names: &[String]) -> Option<Vec<String>> {
        if !names.iter().any(|name| self.of(name).is_some()) {
            return None;
        }
        let mut changed: Vec<String> = Vec::with_capacity(names.len());
        for name in names {
            let after = match self.of(name) {
                None => name.clone(),
                Some(Some(after)) => after,
                Some(None) => continue,
            };
            if !changed.contains(&after) {
                changed.push(after);
            }
        }
        Some(changed)
    }

    /// A tool afterwards; `None` when it stays as it is. A tool that loses its last group is in `[]`, which only `*`
    /// reaches, and not in `default`; one that loses its last state is open in `[]`, which is never, and not always.
    #[must_use]
    pub fn of_tool(&self, tool: &ToolDefinition) -> Option<ToolDefinition> {
        if self.is_of_groups() {
            let group = self.of_list(tool.group.as_deref()?)?;
            return Some(ToolDefinition {
                group: Some(group),
                ..tool.clone()
            });
        }
        let target = tool.state.as_deref().and_then(|state| self.of(state));
        let open = tool
            .available_in_states
            .as_deref()
            .and_then(|states| self.of_list(states));
        if target.is_none() && open.is_none() {
            return None;
        }
        let mut changed = tool.clone();
        if let Some(target) = target {
            changed.state = target;
        }
        if let Some(open) = open {
            changed.available_in_states = Some(open);
        }
        Some(changed)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::snapshot::testing::{strings, tool};

    fn rename(from: &str, to: &str) -> NameChange {
        NameChange::RenameGroup {
            from: from.to_owned(),
            to: to.to_owned(),
        }
    }

    #[rstest]
    #[case::itself("a", Some("b"))]
    #[case::a_child("a/x", Some("b/x"))]
    #[case::a_grandchild("a/x/y", Some("b/x/y"))]
    #[case::a_common_beginning("ab", None)]
    #[case::another("x/a", None)]
    #[case::case_matters("A", None)]
    fn renaming_takes_the_children_along(#[case] name: &str, #[case] after: Option<&str>) {
        let expected = after.map(|after| Some(after.to_owned()));
        assert_eq!(rename("a", "b").of(name), expected);
    }

    #[test]
    fn a_group_may_move_below_another_or_below_itself() {
        assert_eq!(rename("a", "top/a").of("a/x"), Some(Some("top/a/x".to_owned())));
        assert_eq!(rename("a", "a/b").of("a/b"), Some(Some("a/b/b".to_owned())));
    }

    #[test]
    fn lists_keep_their_order_and_each_name_once() {
        let change = rename("a", "b");
        assert_eq!(
            change.of_list(&strings(&["x", "a", "b", "a/c"])),
            Some(strings(&["x", "b", "b/c"]))
        );
        assert_eq!(change.of_list(&strings(&["x"])), None);
        assert_eq!(
            NameChange::RemoveGroup("a".to_owned()).of_list(&strings(&["a"])),
            Some(Vec::new())
        );
    }

    #[test]
    fn losing_the_last_name_is_not_the_same_as_naming_none() {
        let gone = NameChange::RemoveGroup("a".to_owned());
        let after = gone
            .of_tool(&tool("t").groups(&["a"]).0.definition)
            .expect("changed");
        assert_eq!(after.group, Some(Vec::new()));
        let children = tool("t").groups(&["a/b"]).0.definition;
        assert_eq!(gone.of_tool(&children), None, "children stay");
        assert_eq!(gone.of_tool(&tool("t").0.definition), None);

        let closed = NameChange::RemoveState("s".to_owned());
        let draft = tool("t").states(&["s"]).moves_to("s").0.definition;
        let after = closed.of_tool(&draft).expect("changed");
        assert_eq!((after.available_in_states, after.state), (Some(Vec::new()), None));
    }

    #[test]
    fn a_state_is_renamed_where_tools_are_open_and_where_they_lead() {
        let change = NameChange::RenameState {
            from: "old".to_owned(),
            to: "new".to_owned(),
        };
        let draft = tool("t").states(&["old", "old/x"]).moves_to("old").0.definition;
        let after = change.of_tool(&draft).expect("changed");
        assert_eq!(
            after.available_in_states,
            Some(strings(&["new", "old/x"])),
            "states have no children"
        );
        assert_eq!(after.state.as_deref(), Some("new"));
        let groups = tool("t").groups(&["old"]).0.definition;
        assert_eq!(change.of_tool(&groups), None);
    }
}
