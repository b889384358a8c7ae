//! Choosing operations: by tag, path, method and id.

use super::operation::Operation;

/// Which operations are meant. Every list narrows the choice; an empty one does not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Any of these tags.
    pub tags: Vec<String>,
    /// Any of these paths; `*` is anything within a segment, `**` anything.
    pub paths: Vec<String>,
    /// Any of these methods, in any case.
    pub methods: Vec<String>,
    /// Any of these ids, or names of tools with or without the prefix.
    pub operations: Vec<String>,
}

impl Selection {
    /// Whether an operation is meant.
    #[must_use]
    pub fn includes(&self, operation: &Operation) -> bool {
        let any = |list: &[String], fits: &dyn Fn(&str) -> bool| {
            list.is_empty() || list.iter().any(|wanted| fits(wanted))
        };
        any(&self.tags, &|tag| operation.tags.iter().any(|has| has == tag))
            && any(&self.paths, &|glob| {
                matches(glob.as_bytes(), operation.path.as_bytes())
            })
            && any(&self.methods, &|method| {
                operation.method.eq_ignore_ascii_case(method)
            })
            && any(&self.operations, &|id| {
                operation.operation_id.as_deref() == Some(id)
                    || operation.name == id
                    || operation.plain_name == id
            })
    }
}

/// Whether a path fits a glob. A star that fails later is tried with one character more, so that the time is bounded by
/// the product of the lengths.
fn matches(glob: &[u8], path: &[u8]) -> bool {
    let (mut g, mut p) = (0, 0);
    // Where to go on when something does not fit: after `**`, after `*`, each with the path that it has eaten.
    let mut deep: Option<(usize, usize)> = None;
    let mut flat: Option<(usize, usize)> = None;
    loop {
        if glob[g..].starts_with(b"**") {
            deep = Some((g + 2, p));
            flat = None;
            g += 2;
        } else if glob.get(g) == Some(&b'*') {
            flat = Some((g + 1, p));
            g += 1;
        } else if p < path.len() && glob.get(g) == Some(&path[p]) {
            g += 1;
            p += 1;
        } else if p == path.len() && g == glob.len() {
            return true;
        } else if let Some((after, eaten)) =
            flat.filter(|(_, eaten)| path.get(*eaten).is_some_and(|c| *c != b'/'))
        {
            flat = Some((after, eaten + 1));
            (g, p) = (after, eaten + 1);
        } else if let Some((after, eaten)) = deep.filter(|(_, eaten)| *eaten < path.len()) {
            deep = Some((after, eaten + 1));
            flat = None;
            (g, p) = (after, eaten + 1);
        } else {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/pets", "/pets", true)]
    #[case("/pets", "/pets/1", false)]
    #[case("/pets/*", "/pets/{id}", true)]
    #[case("/pets/*", "/pets/{id}/toys", false)]
    #[case("/pets/*", "/pets", false)]
    #[case("/pets/**", "/pets/{id}/toys", true)]
    #[case("**/toys", "/pets/{id}/toys", true)]
    #[case("/*/*/toys", "/pets/{id}/toys", true)]
    #[case("/a*c", "/abc", true)]
    #[case("/a*c", "/a/c", false)]
    #[case("/**a*/b", "/x/ab/b", true)]
    #[case("", "/", false)]
    #[case("**", "", true)]
    fn globs(#[case] glob: &str, #[case] path: &str, #[case] expected: bool) {
        assert_eq!(matches(glob.as_bytes(), path.as_bytes()), expected);
    }

    /// The same by trying everything.
    fn plainly(glob: &[u8], path: &[u8]) -> bool {
        if let Some(rest) = glob.strip_prefix(b"**") {
            return (0..=path.len()).any(|eaten| plainly(rest, &path[eaten..]));
        }
        match (glob.split_first(), path.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), _) => (0..=path.len())
                .take_while(|eaten| !path[..*eaten].contains(&b'/'))
                .any(|eaten| plainly(rest, &path[eaten..])),
            (Some((g, rest)), Some((p, left))) => g == p && plainly(rest, left),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn globs_fit_what_trying_everything_finds(glob in "[a/*]{0,8}", path in "[a/b]{0,8}") {
            prop_assert_eq!(matches(glob.as_bytes(), path.as_bytes()), plainly(glob.as_bytes(), path.as_bytes()), "{} {}", glob, path);
        }
    }
}
