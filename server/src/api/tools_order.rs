//! The orders of the list of tools, and the places in them that cursors name.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use toolgate_api::tools::ToolSort;
use toolgate_core::snapshot::CompiledTool;

/// The position of a tool in an order. Tools that are equal in it are ordered by name, so that no two have the same
/// position, and a page goes on exactly where the one before ended.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// By name.
    Name(String),
    /// By name, the last first.
    NameDescending(Reverse<String>),
    /// By the time of the last change.
    Changed(i64, String),
    /// By the time of the last change, the last first.
    ChangedDescending(Reverse<i64>, String),
    /// By type.
    Type(String, String),
    /// By type, the last first.
    TypeDescending(Reverse<String>, String),
}

impl Place {
    /// The place of a tool.
    #[must_use]
    pub(super) fn of(sort: ToolSort, tool: &CompiledTool) -> Self {
        let name = tool.name().to_owned();
        let kind = tool.definition.kind.clone();
        match sort {
            ToolSort::Name => Self::Name(name),
            ToolSort::NameDescending => Self::NameDescending(Reverse(name)),
            ToolSort::UpdatedAt => Self::Changed(micros(tool.updated_at), name),
            ToolSort::UpdatedAtDescending => Self::ChangedDescending(Reverse(micros(tool.updated_at)), name),
            ToolSort::Type => Self::Type(kind, name),
            ToolSort::TypeDescending => Self::TypeDescending(Reverse(kind), name),
        }
    }

    /// For a cursor. Neither names nor types have a blank in them.
    #[must_use]
    pub(super) fn to_text(&self) -> String {
        match self {
            Self::Name(name) => name.clone(),
            Self::NameDescending(Reverse(name)) => format!("-name {name}"),
            Self::Changed(at, name) => format!("updated_at {at} {name}"),
            Self::ChangedDescending(Reverse(at), name) => format!("-updated_at {at} {name}"),
            Self::Type(kind, name) => format!("type {kind} {name}"),
            Self::TypeDescending(Reverse(kind), name) => format!("-type {kind} {name}"),
        }
    }

    /// The position that a cursor names; `None` when it is not one of this order.
    #[must_use]
    pub(super) fn parse(sort: ToolSort, text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split(' ').collect();
        Some(match (sort, parts.as_slice()) {
            (ToolSort::Name, [name]) => Self::Name((*name).to_owned()),
            (ToolSort::NameDescending, ["-name", name]) => Self::NameDescending(Reverse((*name).to_owned())),
            (ToolSort::UpdatedAt, ["updated_at", at, name]) => {
                Self::Changed(at.parse().ok()?, (*name).to_owned())
            }
            (ToolSort::UpdatedAtDescending, ["-updated_at", at, name]) => {
                Self::ChangedDescending(Reverse(at.parse().ok()?), (*name).to_owned())
            }
            (ToolSort::Type, ["type", kind, name]) => Self::Type((*kind).to_owned(), (*name).to_owned()),
            (ToolSort::TypeDescending, ["-type", kind, name]) => {
                Self::TypeDescending(Reverse((*kind).to_owned()), (*name).to_owned())
            }
            _ => return None,
        })
    }
}

/// Puts tools that are sorted by name into an order.
pub(super) fn sort(sort: ToolSort, tools: &mut [Arc<CompiledTool>]) {
    let kind = |a: &CompiledTool, b: &CompiledTool| a.definition.kind.cmp(&b.definition.kind);
    let compare: &dyn Fn(&CompiledTool, &CompiledTool) -> Ordering = match sort {
        ToolSort::Name => return,
        ToolSort::NameDescending => return tools.reverse(),
        ToolSort::UpdatedAt => &|a, b| a.updated_at.cmp(&b.updated_at),
        ToolSort::UpdatedAtDescending => &|a, b| b.updated_at.cmp(&a.updated_at),
        ToolSort::Type => &kind,
        ToolSort::TypeDescending => &|a, b| kind(b, a),
    };
    // Stable: equal ones stay in the order of their names.
    tools.sort_by(|a, b| compare(a, b));
}

/// As finely as times are stored.
fn micros(at: DateTime<Utc>) -> i64 {
    at.timestamp_micros()
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::json;
    use toolgate_core::snapshot::{ProjectSnapshot, ToolInput};

    use super::*;

    const SORTS: [ToolSort; 6] = [
        ToolSort::Name,
        ToolSort::NameDescending,
        ToolSort::UpdatedAt,
        ToolSort::UpdatedAtDescending,
        ToolSort::Type,
        ToolSort::TypeDescending,
    ];

    fn tools(given: &[(String, i64, &str)]) -> Vec<Arc<CompiledTool>> {
        let input = |(name, at, kind): &(String, i64, &str)| ToolInput {
            definition: serde_json::from_value(json!({"name": name, "type": kind, "parameters": {}}))
                .unwrap(),
            revision: 1,
            updated_at: DateTime::UNIX_EPOCH + TimeDelta::microseconds(*at),
            updated_by: "ada".to_owned(),
        };
        let snapshot = ProjectSnapshot::build(1, given.iter().map(input).collect(), Vec::new(), None);
        snapshot.tools().to_vec()
    }

    proptest! {
        /// Page by page every tool comes once, in the order of its key, whatever keys are equal.
        #[test]
        fn pages_are_the_list(
            given in proptest::collection::vec(("[A-Za-z][A-Za-z._-]{0,2}", -2_i64..3, select(&["openapi", "worker"][..])), 0..20),
            limit in 1_usize..5,
            sort in select(&SORTS[..]),
        ) {
            let mut all = tools(&given);
            let mut expected: Vec<String> = all.iter().map(|tool| tool.name().to_owned()).collect();
            super::sort(sort, &mut all);
            let key = |tool: &CompiledTool| match sort {
                ToolSort::Name | ToolSort::NameDescending => tool.name().to_owned(),
                ToolSort::UpdatedAt | ToolSort::UpdatedAtDescending => format!("{:02}", tool.updated_at.timestamp_micros() + 10),
                ToolSort::Type | ToolSort::TypeDescending => tool.definition.kind.clone(),
            };
            let descending = [ToolSort::NameDescending, ToolSort::UpdatedAtDescending, ToolSort::TypeDescending].contains(&sort);
            let (mut found, mut cursor) = (Vec::new(), None::<String>);
            loop {
                let after = cursor.as_deref().map(|text| Place::parse(sort, text).unwrap());
                let start = after.map_or(0, |after| all.partition_point(|tool| Place::of(sort, tool) <= after));
                let page: Vec<_> = all.iter().skip(start).take(limit).collect();
                let Some(last) = page.last() else { break };
                cursor = Some(Place::of(sort, last).to_text());
                found.extend(page);
            }
            for pair in found.windows(2) {
                let (a, b) = (key(pair[0]), key(pair[1]));
                let in_order = if descending { a >= b } else { a <= b };
                prop_assert!(in_order);
                prop_assert!(a != b || pair[0].name() < pair[1].name());
            }
            let mut names: Vec<String> = found.iter().map(|tool| tool.name().to_owned()).collect();
            names.sort();
            expected.sort();
            prop_assert_eq!(names, expected);
        }
    }

    #[test]
    fn a_cursor_of_another_order_is_none() {
        let tool = &tools(&[("a".to_owned(), 1, "worker")])[0];
        for one in SORTS {
            for other in SORTS {
                let text = Place::of(one, tool).to_text();
                assert_eq!(
                    Place::parse(other, &text).is_some(),
                    one == other,
                    "{one:?} {other:?}"
                );
            }
        }
    }
}
