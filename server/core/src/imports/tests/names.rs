//! Names of tools: valid, short, different, and the same whatever is around them.

use std::collections::HashSet;

use proptest::collection::vec;
use proptest::prelude::*;
use rstest::rstest;

use crate::ids::ToolName;
use crate::imports::names::{Named, assign, prefix_fault, suggested_prefix};

fn names(operations: &[(Option<&str>, &str, &str)]) -> Vec<String> {
    prefixed(operations, "")
}

fn prefixed(operations: &[(Option<&str>, &str, &str)], prefix: &str) -> Vec<String> {
    let named: Vec<_> = operations
        .iter()
        .map(|(id, method, path)| Named {
            id: *id,
            method,
            path,
        })
        .collect();
    assign(&named, prefix)
}

#[rstest]
#[case(Some("listPets"), "GET", "/pets", "listPets")]
#[case(Some("repos/list-for-org"), "GET", "/x", "repos_list-for-org")]
#[case(Some("pets.list all"), "GET", "/x", "pets_list_all")]
#[case(None, "GET", "/pets/{petId}/toys", "get_pets_by_petId_toys")]
#[case(None, "DELETE", "/", "delete")]
#[case(Some("ä"), "POST", "/v1/a.b:c", "post_v1_a_b_c")]
fn names_are_made_from_id_or_path(
    #[case] id: Option<&str>,
    #[case] method: &str,
    #[case] path: &str,
    #[case] expected: &str,
) {
    assert_eq!(names(&[(id, method, path)]), [expected]);
}

#[test]
fn names_that_clash_get_a_mark_of_their_operation() {
    let a = (Some("list"), "GET", "/a");
    let b = (Some("List"), "GET", "/b");
    let found = names(&[a, b]);
    assert_ne!(found[0], found[1]);
    assert!(
        found[0].starts_with("list_") && found[1].starts_with("List_"),
        "{found:?}"
    );
    // In another order, or with another beside them, they keep it.
    assert_eq!(
        names(&[b, (None, "GET", "/c"), a]),
        [&found[1], "get_c", &found[0]]
    );
    assert!(names(&[(Some("submit_result"), "GET", "/x")])[0].starts_with("submit_result_"));
}

#[test]
fn a_prefix_begins_every_name() {
    assert_eq!(
        prefixed(&[(Some("getMe"), "GET", "/me"), (None, "GET", "/a")], "github_"),
        ["github_getMe", "github_get_a"]
    );
    for (prefix, is_valid) in [
        ("", true),
        ("a", true),
        ("GitHub-2_", true),
        ("_a", false),
        ("a b", false),
        ("ä", false),
        (&"a".repeat(33), false),
    ] {
        assert_eq!(prefix_fault(prefix).is_none(), is_valid, "{prefix}");
    }
}

#[test]
fn a_prefix_is_suggested_that_clashes_with_nothing() {
    let operations = super::plain_source::operations(&["getMe"]);
    let suggested = |api: &str, taken: &[&str]| {
        suggested_prefix(api, &operations.iter(), |name| taken.contains(&name)).expect("one of many")
    };
    assert_eq!(suggested("GitHub v3 REST API", &["getMe"]), "github_");
    assert_eq!(suggested("pet-store", &["getMe", "pet_getMe"]), "pet2_");
    assert_eq!(suggested("…", &[]), "api_");
    assert!(prefix_fault(&suggested(&"x".repeat(99), &[])).is_none());
}

proptest! {
    #[test]
    fn names_are_valid_and_different(
        operations in vec((proptest::option::of("\\PC{0,100}|list|List"), "[A-Z]{3,6}", "/[ -~]{0,90}"), 0..20),
        prefix in "([A-Za-z0-9][A-Za-z0-9_-]{0,31})?",
    ) {
        let list: Vec<_> = operations.iter().map(|(id, method, path)| (id.as_deref(), method.as_str(), path.as_str())).collect();
        let found = prefixed(&list, &prefix);
        prop_assert_eq!(found.len(), operations.len());
        let mut seen = HashSet::new();
        for name in &found {
            prop_assert!(ToolName::parse(name.as_str()).is_ok(), "{}", name);
            prop_assert!(name.len() <= 64 && name.starts_with(&prefix), "{}", name);
            prop_assert!(seen.insert(name.to_ascii_lowercase()), "{} twice", name);
        }
    }

    #[test]
    fn the_order_of_operations_does_not_matter(ids in vec("[ab]{1,2}", 1..8)) {
        let paths: Vec<String> = (0..ids.len()).map(|at| format!("/p{at}")).collect();
        let mut list: Vec<_> = ids.iter().zip(&paths).map(|(id, path)| (Some(id.as_str()), "GET", path.as_str())).collect();
        let forward = names(&list);
        list.reverse();
        let mut backward = names(&list);
        backward.reverse();
        prop_assert_eq!(forward, backward);
    }
}
