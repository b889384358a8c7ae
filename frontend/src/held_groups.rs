//! What the groups that a caller holds cover, as the server decides it. A page uses this to offer what would not be refused.

/// Every group.
pub(crate) const ANY: &str = "*";

/// Whether a grant of a group covers another: itself and its children, or all.
pub(crate) fn covers(granted: &str, group: &str) -> bool {
    let is_child = || {
        let rest = group.strip_prefix(granted);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    granted == ANY || granted == group || is_child()
}

/// Whether a caller with these groups holds another.
pub(crate) fn holds(granted: &[String], group: &str) -> bool {
    granted.iter().any(|granted| covers(granted, group))
}

/// What a call of a tool of these groups asks for at first, so that it is not refused for a group that it does not take:
/// those of them that the caller holds. All of them without any, whose refusal says what is missing.
pub(crate) fn asked_for(groups: &[String], granted: &[String]) -> Vec<String> {
    let held: Vec<String> = groups
        .iter()
        .filter(|group| holds(granted, group))
        .cloned()
        .collect();
    match held.is_empty() {
        true if holds(granted, ANY) => vec![ANY.to_owned()],
        true => groups.to_vec(),
        false => held,
    }
}

#[cfg(test)]
mod tests {
    use super::{asked_for, covers};

    #[test]
    fn a_call_asks_for_the_groups_that_are_held() {
        for (groups, granted, expected) in [
            (&["a", "b/c"] as &[_], &["b"] as &[_], &["b/c"] as &[_]),
            (&["a", "b"], &["*"], &["a", "b"]),
            (&[], &["*"], &["*"]),
            (&["a", "b"], &["c"], &["a", "b"]),
            (&[], &[], &[]),
        ] {
            let [groups, granted] =
                [groups, granted].map(|all| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
            assert_eq!(
                asked_for(&groups, &granted),
                expected,
                "{groups:?} with {granted:?}"
            );
        }
    }

    #[test]
    fn a_grant_covers_children_and_nothing_beside_them() {
        for (granted, group, expected) in [
            ("*", "a", true),
            ("*", "*", true),
            ("a", "a", true),
            ("a", "a/b", true),
            ("a", "ab", false),
            ("a", "*", false),
            ("a/b", "a", false),
        ] {
            assert_eq!(covers(granted, group), expected, "{granted} covers {group}");
        }
    }
}
