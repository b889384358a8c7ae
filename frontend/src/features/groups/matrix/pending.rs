//! What was changed in the grid and is not saved yet.

use std::collections::BTreeMap;

use leptos::prelude::*;

use super::row::Row;
use crate::api::object;
use crate::language::tf;
use crate::tool_change::Part;

/// Changes that are named before they are reviewed.
const NAMED: usize = 12;

/// Tool and group, and whether it is to be in it; only where that differs from the definition.
#[derive(Clone, Default)]
pub(super) struct Pending(BTreeMap<(String, String), bool>);

impl Pending {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// What is wanted of a cell, if that differs.
    pub(super) fn wanted(&self, tool: &str, group: &str) -> Option<bool> {
        self.0.get(&(tool.to_owned(), group.to_owned())).copied()
    }

    /// Takes down what is wanted of a cell of a row.
    pub(super) fn want(&mut self, row: &Row, group: &str, wanted: bool) {
        let key = (row.tool.clone(), group.to_owned());
        if wanted == row.groups.contains(group) {
            self.0.remove(&key);
        } else {
            self.0.insert(key, wanted);
        }
    }

    /// Drops what the definitions have by now. Changes of tools that are not among these rows stay.
    pub(super) fn forget_saved(&mut self, rows: &[Row]) {
        let rows: BTreeMap<&str, &Row> = rows.iter().map(|row| (row.tool.as_str(), row)).collect();
        self.0.retain(|(tool, group), wanted| {
            let row = rows.get(tool.as_str());
            row.is_none_or(|row| row.groups.contains(group) != *wanted)
        });
    }

    /// The changes as words.
    pub(super) fn tags(&self) -> AnyView {
        let tags: Vec<_> = self
            .0
            .iter()
            .take(NAMED)
            .map(|((tool, group), is_in)| {
                let sign = if *is_in { "+" } else { "−" };
                view! { <li class="tag">{format!("{tool} {sign} {group}")}</li> }
            })
            .collect();
        let more = self.len().saturating_sub(NAMED);
        view! {
            <ul class="tags">
                {tags} {(more > 0).then(|| view! { <li class="muted">{tf!("and {more} more", more)}</li> })}
            </ul>
        }
        .into_any()
    }

    /// The changes as the parts of one request: tools that change alike go together.
    pub(super) fn parts(&self) -> Vec<Part> {
        let mut by_tool: BTreeMap<&str, [Vec<String>; 2]> = BTreeMap::new();
        for ((tool, group), is_in) in &self.0 {
            let [added, removed] = by_tool.entry(tool).or_default();
            if *is_in { added } else { removed }.push(group.clone());
        }
        let mut alike: BTreeMap<[Vec<String>; 2], Vec<String>> = BTreeMap::new();
        for (tool, change) in by_tool {
            alike.entry(change).or_default().push(tool.to_owned());
        }
        alike
            .into_iter()
            .map(|(change, names)| {
                let members = ["add_groups", "remove_groups"].into_iter().zip(change);
                let members = members.filter(|(_, groups)| !groups.is_empty());
                Part {
                    names,
                    change: object(members.map(|(key, groups)| (key, groups.into())).collect()),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Pending, Row};

    fn row(tool: &str, groups: &[&str]) -> Row {
        Row {
            tool: tool.to_owned(),
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        }
    }

    #[test]
    fn only_what_differs_is_kept() {
        let mut pending = Pending::default();
        let a = row("a", &["x"]);
        pending.want(&a, "x", false);
        pending.want(&a, "y", true);
        assert_eq!((pending.wanted("a", "x"), pending.len()), (Some(false), 2));
        pending.want(&a, "x", true);
        assert_eq!((pending.wanted("a", "x"), pending.len()), (None, 1));
        // Saved meanwhile; a tool that is not listed keeps its change.
        pending.want(&row("b", &[]), "x", true);
        pending.forget_saved(&[row("a", &["x", "y"])]);
        assert_eq!((pending.wanted("b", "x"), pending.len()), (Some(true), 1));
    }

    #[test]
    fn tools_that_change_alike_go_together() {
        let mut pending = Pending::default();
        for tool in ["a", "c"] {
            pending.want(&row(tool, &[]), "x", true);
        }
        pending.want(&row("b", &["x"]), "x", false);
        pending.want(&row("b", &["x"]), "y", true);
        let parts: Vec<_> = pending
            .parts()
            .into_iter()
            .map(|part| (part.names, part.change))
            .collect();
        assert_eq!(
            parts,
            [
                (vec!["a".to_owned(), "c".to_owned()], json!({"add_groups": ["x"]})),
                (
                    vec!["b".to_owned()],
                    json!({"add_groups": ["y"], "remove_groups": ["x"]})
                ),
            ]
        );
    }
}
