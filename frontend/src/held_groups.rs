//! What the groups that a caller holds cover, as the server decides it. A page uses this to offer what would not be refused.

/// Every group.
pub(crate) const ANY: &str = "*";

/// Whether a grant of a group covers another: itself and its children, or all.
fn covers(granted: &str, group: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use super::covers;

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
