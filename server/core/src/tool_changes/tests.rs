//! The rules as tables.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::snapshot::ProjectSnapshot;
use crate::snapshot::testing::{project, strings, tool};

fn change(value: Value) -> ToolChange {
    serde_json::from_value(value).expect("a change")
}

fn example() -> ProjectSnapshot {
    project([
        tool("plain"),
        tool("search").groups(&["web", "basic"]).states(&["analysis"]),
        tool("off").groups(&[]).states(&["*"]).moves_to("done").disabled(),
    ])
}

#[rstest]
#[case::everything(json!({}), "off plain search")]
#[case::enabled(json!({"enabled": true}), "plain search")]
#[case::disabled(json!({"enabled": false}), "off")]
#[case::group(json!({"group": "web"}), "search")]
#[case::the_default_group(json!({"group": "default"}), "plain")]
#[case::open_in_a_state(json!({"state": "analysis"}), "off plain search")]
#[case::open_in_another(json!({"state": "other"}), "off plain")]
#[case::text(json!({"q": "SEAR"}), "search")]
#[case::kind(json!({"type": "worker"}), "")]
#[case::both(json!({"enabled": false, "group": "web"}), "")]
fn a_filter_selects(#[case] filter: Value, #[case] expected: &str) {
    let filter: ToolFilter = serde_json::from_value(filter).expect("a filter");
    let matcher = Matcher::new(&filter);
    let snapshot = example();
    let names: Vec<&str> = snapshot
        .tools()
        .iter()
        .filter(|tool| matcher.matches(tool))
        .map(|tool| tool.name())
        .collect();
    assert_eq!(names.join(" "), expected);
}

#[rstest]
#[case::nothing(json!({}), "/change")]
#[case::delete_and_more(json!({"delete": true, "enabled": false}), "/change/delete")]
#[case::empty_name(json!({"add_groups": ["a", ""]}), "/change/add_groups/1")]
#[case::blanks(json!({"remove_groups": [" a"]}), "/change/remove_groups/0")]
#[case::control(json!({"add_states": ["a\nb"]}), "/change/add_states/0")]
#[case::long(json!({"remove_states": ["x".repeat(129)]}), "/change/remove_states/0")]
#[case::to_and_fro(json!({"add_groups": ["a"], "remove_groups": ["b", "a"]}), "/change/add_groups/0")]
#[case::many(json!({"add_groups": vec!["a"; 101]}), "/change/add_groups")]
#[case::no_state(json!({"set_state": ""}), "/change/set_state")]
fn a_fault_names_its_place(#[case] given: Value, #[case] pointer: &str) {
    let faults = check(&change(given));
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!(faults[0].pointer.as_deref(), Some(pointer));
}

#[rstest]
#[case::disable("plain", json!({"enabled": false}), json!({"enabled": false}))]
#[case::enable("off", json!({"enabled": true}), json!({"enabled": null}))]
#[case::as_it_is("plain", json!({"enabled": true}), json!({}))]
#[case::another_group("search", json!({"add_groups": ["new"]}), json!({"group": ["web", "basic", "new"]}))]
#[case::beside_the_default("plain", json!({"add_groups": ["new"]}), json!({"group": ["default", "new"]}))]
#[case::a_group_it_has("search", json!({"add_groups": ["web"]}), json!({}))]
#[case::the_default_it_has("plain", json!({"add_groups": ["default"]}), json!({}))]
#[case::the_last_group("plain", json!({"remove_groups": ["default"]}), json!({"group": []}))]
#[case::a_group_it_has_not("search", json!({"remove_groups": ["Web"]}), json!({}))]
#[case::instead("search", json!({"remove_groups": ["web"], "add_groups": ["new"]}), json!({"group": ["basic", "new"]}))]
#[case::another_state("search", json!({"add_states": ["done"]}), json!({"available_in_states": ["analysis", "done"]}))]
#[case::open_everywhere_already("plain", json!({"add_states": ["done"]}), json!({}))]
#[case::only_one_state("plain", json!({"remove_states": ["*"], "add_states": ["done"]}), json!({"available_in_states": ["done"]}))]
#[case::the_last_state("search", json!({"remove_states": ["analysis"]}), json!({"available_in_states": []}))]
#[case::leads_elsewhere("off", json!({"set_state": "x"}), json!({"state": "x"}))]
#[case::leads_nowhere("off", json!({"set_state": null}), json!({"state": null}))]
#[case::led_nowhere("plain", json!({"set_state": null}), json!({}))]
fn a_change_changes_what_it_names(#[case] name: &str, #[case] given: Value, #[case] expected: Value) {
    let snapshot = example();
    let tool = snapshot.tool(name).unwrap();
    let given = change(given);
    assert_eq!(check(&given), []);
    let mut wanted = serde_json::to_value(tool.definition.as_ref()).unwrap();
    let members = wanted.as_object_mut().unwrap();
    for (key, value) in expected.as_object().unwrap() {
        if value.is_null() {
            members.remove(key);
        } else {
            members.insert(key.clone(), value.clone());
        }
    }
    let after = apply(&given, tool).expect("it stays");
    assert_eq!(serde_json::to_value(&after).unwrap(), wanted);
}

#[test]
fn deleting_leaves_nothing() {
    let snapshot = example();
    assert_eq!(
        apply(&change(json!({"delete": true})), snapshot.tool("plain").unwrap()),
        None
    );
}

fn names() -> impl Strategy<Value = Vec<String>> {
    subsequence(&["a", "b", "*", "default"][..], 0..=3).prop_map(|names| strings(&names))
}

proptest! {
    /// The second time there is nothing left to do, whatever the change.
    #[test]
    fn a_change_is_done_once(
        groups in proptest::option::of(names()),
        states in proptest::option::of(names()),
        (add_groups, remove_groups, add_states, remove_states) in (names(), names(), names(), names()),
        enabled in proptest::option::of(any::<bool>()),
        set_state in proptest::option::of(proptest::option::of(select(&["a", "b"][..]).prop_map(str::to_owned))),
    ) {
        let change = ToolChange { enabled, add_groups, remove_groups, add_states, remove_states, set_state, delete: false };
        prop_assume!(check(&change).is_empty());
        let mut draft = tool("t");
        (draft.0.definition.group, draft.0.definition.available_in_states) = (groups, states);
        let once = apply(&change, project([draft.clone()]).tool("t").unwrap()).unwrap();
        draft.0.definition = once.clone();
        let twice = apply(&change, project([draft]).tool("t").unwrap()).unwrap();
        prop_assert_eq!(once, twice);
    }
}
