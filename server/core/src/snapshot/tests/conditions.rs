//! Closed groups: the decision, the resolution and an oracle that is nothing but the rule's text.

use std::sync::LazyLock;

use chrono::DateTime;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use rstest::rstest;
use toolgate_api::ErrorCode;

use crate::policy::decision::Offer;
use crate::policy::evaluation_context::{EvaluationContext, Load};
use crate::policy::group_conditions::ClosedBecause;
use crate::policy::groups::GroupSet;
use crate::snapshot::testing::{anytime, grant, project, strings, tool};
use crate::snapshot::{LabelInput, ProjectSnapshot};

const GROUPS: [&str; 10] = [
    "default", "a", "a/b", "a/b/c", "a/", "a//b", "/a", "b", "b/x", "*/a",
];
/// False, and without a result while nothing runs.
const CLOSING: [&str; 2] = ["false", "1 / load.calls_in_flight == 1"];

fn declared(name: &str, condition: Option<&str>) -> LabelInput {
    LabelInput {
        name: name.to_owned(),
        description: String::new(),
        condition: condition.map(str::to_owned),
        revision: 1,
        updated_at: DateTime::UNIX_EPOCH,
        updated_by: "ada".to_owned(),
    }
}

fn conditioned(snapshot: ProjectSnapshot, conditions: &[(&str, &str)]) -> ProjectSnapshot {
    let groups = conditions
        .iter()
        .map(|(name, condition)| declared(name, Some(condition)))
        .collect();
    snapshot.with_labels(groups, Vec::new(), None)
}

#[rstest]
#[case::asked_for_and_open(&["open"], None)]
#[case::asked_for_and_closed(&["shut"], Some(ErrorCode::GroupClosed))]
#[case::another_group_is_open(&["shut", "open"], None)]
#[case::any_reaches_through_the_open_one(&["*"], None)]
#[case::not_asked_for(&["else"], Some(ErrorCode::ToolNotInGroups))]
fn a_tool_in_an_open_and_a_closed_group(#[case] requested: &[&str], #[case] code: Option<ErrorCode>) {
    let snapshot = conditioned(
        project([tool("t").groups(&["shut", "open"])]),
        &[("shut", "false"), ("open", "true")],
    );
    let decision = snapshot.decide(&grant(&["*"]), Some(&strings(requested)), None, "t", &anytime());
    assert_eq!(decision.code, code, "{}", decision.explain());
}

#[test]
fn any_does_not_open_what_a_condition_closes() {
    let snapshot = conditioned(
        project([
            tool("shut").groups(&["shut/below"]),
            tool("groupless").groups(&[]),
        ]),
        &[("shut", "false")],
    );
    let any = strings(&["*"]);
    let decide = |name| snapshot.decide(&grant(&["*"]), Some(&any), None, name, &anytime());
    let refused = decide("shut");
    assert_eq!(refused.code, Some(ErrorCode::GroupClosed));
    let closed = &refused.closed[0];
    assert_eq!(
        (closed.group.as_str(), closed.condition_of.as_str()),
        ("shut/below", "shut")
    );
    assert_eq!(closed.because, ClosedBecause::DoesNotHold);
    let text = refused.explain();
    assert!(
        text.contains("\"shut/below\" is below \"shut\", whose condition does not hold now"),
        "{text}"
    );
    assert!(
        decide("groupless").is_allowed(),
        "a tool in no group is in none that could be closed"
    );
    let resolved = snapshot
        .resolve(&grant(&["*"]), Some(&any), None, &anytime())
        .unwrap();
    assert_eq!(resolved.available(), ["groupless"]);
    assert_eq!(resolved.filtered_by_condition(), ["shut"]);
    assert_eq!(resolved.closed_groups.len(), 1);
}

#[test]
fn a_condition_without_a_result_closes_and_says_why() {
    let snapshot = conditioned(
        project([tool("t").groups(&["g"])]),
        &[("g", "60 / load.calls_in_flight > 10")],
    );
    let request = strings(&["g"]);
    let decide = |calls_in_flight| {
        let load = Load {
            calls_in_flight,
            calls_per_minute: 0,
        };
        snapshot.decide(&grant(&["g"]), Some(&request), None, "t", &anytime().load(load))
    };
    assert!(decide(1).is_allowed());
    let closed = decide(0);
    assert_eq!(closed.code, Some(ErrorCode::GroupClosed));
    assert!(
        closed.explain().contains("cannot be evaluated"),
        "{}",
        closed.explain()
    );
}

#[test]
fn a_stored_condition_that_cannot_be_read_closes() {
    let snapshot = conditioned(project([tool("t").groups(&["g"])]), &[("g", "no such (")]);
    let closed = snapshot.closed_group("g/child", &anytime()).expect("closed");
    assert!(matches!(closed.because, ClosedBecause::CannotBeEvaluated(_)));
}

#[test]
fn the_group_test_comes_before_the_state_test() {
    let snapshot = conditioned(
        project([tool("t").groups(&["g"]).states(&["elsewhere"])]),
        &[("g", "false")],
    );
    let request = strings(&["g"]);
    let code = snapshot
        .decide(&grant(&["g"]), Some(&request), None, "t", &anytime())
        .code;
    assert_eq!(code, Some(ErrorCode::GroupClosed));
    let resolved = snapshot
        .resolve(&grant(&["g"]), Some(&request), None, &anytime())
        .unwrap();
    assert_eq!(resolved.filtered_by_condition(), ["t"]);
    assert!(resolved.filtered_by_state().is_empty());
}

#[test]
fn answers_follow_the_clock_and_only_related_closed_groups_are_named() {
    let snapshot = conditioned(
        project([tool("t").groups(&["day"]), tool("u").groups(&["other"])]),
        &[("day", "now.getHours() >= 9"), ("other", "false")],
    );
    let request = strings(&["day"]);
    let at = |text: &str| {
        let evaluation = EvaluationContext::at(text.parse().expect("a time"));
        let resolved = snapshot
            .resolve(&grant(&["*"]), Some(&request), None, &evaluation)
            .unwrap();
        let closed: Vec<String> = resolved
            .closed_groups
            .iter()
            .map(|closed| closed.group.clone())
            .collect();
        (resolved.available(), closed)
    };
    for _ in 0..2 {
        assert_eq!(at("2025-10-17T08:59:59Z"), (vec![], vec!["day".to_owned()]));
        assert_eq!(at("2025-10-17T09:00:00Z"), (vec!["t".to_owned()], vec![]));
    }
}

#[test]
fn what_is_declared_is_listed_with_what_is_used() {
    let used = LabelInput {
        description: "Reads.".to_owned(),
        ..declared("a/b", None)
    };
    let snapshot = project([
        tool("one").groups(&["a/b", "a"]).moves_to("done"),
        tool("two").groups(&["a/b"]).states(&["draft", "*", ""]),
        tool("three").states(&["draft"]),
    ])
    .with_labels(
        vec![used, declared("p/q", None)],
        vec![declared("planned", None)],
        None,
    );
    let names: Vec<&str> = snapshot.group_names().into_iter().collect();
    assert_eq!(names, ["a", "a/b", "default", "p", "p/q"]);
    for name in &names {
        assert!(snapshot.knows_group(name), "{name}");
    }
    assert!(!snapshot.knows_group("q") && !snapshot.knows_group("") && !snapshot.knows_group("a/"));
    assert_eq!(snapshot.group_size("a"), (1, 2));
    assert_eq!(snapshot.group_size("a/b"), (2, 2));
    assert_eq!(snapshot.group_size("p/q"), (0, 0));
    let direct: Vec<&str> = snapshot.tools_in_group("a").map(|tool| tool.name()).collect();
    assert_eq!(direct, ["one"]);
    let states: Vec<&str> = snapshot.state_names().into_iter().collect();
    assert_eq!(states, ["done", "draft", "planned", "undefined"]);
    assert_eq!(snapshot.state_size("draft"), (2, 3));
    assert_eq!(snapshot.state_size("planned"), (0, 2));
    assert!(!snapshot.has_conditions());
    let changed = snapshot.with_changes(2, Vec::new(), &[], Vec::new());
    assert!(
        changed.declared_group("a/b").is_some(),
        "a change of tools keeps what is declared"
    );
}

/// Has every condition that the property tests use compiled, so that they need not compile any.
static PREPARED: LazyLock<[ProjectSnapshot; 2]> = LazyLock::new(|| {
    CLOSING.map(|condition| conditioned(project([]), &GROUPS.map(|group| (group, condition))))
});

fn covers(holder: &str, name: &str) -> bool {
    holder == name || (!holder.is_empty() && name.starts_with(&format!("{holder}/")))
}

fn some_of(names: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    subsequence(names, 0..=3).prop_map(|names| names.into_iter().map(str::to_owned).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn closed_groups_are_as_if_no_tool_were_in_them(
        tools in proptest::collection::vec((some_of(&GROUPS), any::<bool>()), 0..10),
        requested in some_of(&["*", "default", "a", "a/b", "a/b/c", "a/", "/a", "b", "b/x"]),
        closed in some_of(&GROUPS),
        how in select(&[0_usize, 1][..]),
    ) {
        let drafts = tools.iter().enumerate().map(|(at, (groups, here))| {
            let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
            tool(&format!("t{at:02}")).groups(&groups).states(if *here { &["x"] } else { &["y"] })
        });
        let labels = closed.iter().map(|name| declared(name, Some(CLOSING[how]))).collect();
        let snapshot = project(drafts).with_labels(labels, Vec::new(), Some(&PREPARED[how]));
        let everything: GroupSet = ["*"].into_iter().collect();

        let any = requested.iter().any(|name| name == "*");
        let (mut open, mut by_group, mut by_condition, mut by_state) = (vec![], vec![], vec![], vec![]);
        for (at, (groups, here)) in tools.iter().enumerate() {
            let name = format!("t{at:02}");
            let asked_for = |group: &&String| any || requested.iter().any(|asked| covers(asked, group));
            let is_open = |group: &&String| !closed.iter().any(|shut| covers(shut, group));
            let in_any = (any && groups.is_empty()) || groups.iter().any(|group| asked_for(&group));
            let in_open = (any && groups.is_empty())
                || groups.iter().any(|group| asked_for(&group) && is_open(&group));
            let (code, list) = match (in_any, in_open, here) {
                (false, _, _) => (Some(ErrorCode::ToolNotInGroups), &mut by_group),
                (true, false, _) => (Some(ErrorCode::GroupClosed), &mut by_condition),
                (true, true, false) => (Some(ErrorCode::ToolNotInState), &mut by_state),
                (true, true, true) => (None, &mut open),
            };
            let decision = snapshot.decide(&everything, Some(&requested), Some("x"), &name, &anytime());
            prop_assert_eq!(decision.code, code, "{}", name);
            prop_assert_eq!(decision.code == Some(ErrorCode::GroupClosed) && decision.closed.is_empty(), false);
            for shut in &decision.closed {
                prop_assert!(groups.contains(&shut.group) && covers(&shut.condition_of, &shut.group));
                prop_assert!(closed.contains(&shut.condition_of));
            }
            list.push(name);
        }
        for _ in 0..2 {
            let resolved = snapshot.resolve(&everything, Some(&requested), Some("x"), &anytime()).unwrap();
            prop_assert_eq!(&resolved.available(), &open);
            prop_assert_eq!(&resolved.filtered_by_group(), &by_group);
            prop_assert_eq!(&resolved.filtered_by_condition(), &by_condition);
            prop_assert_eq!(&resolved.filtered_by_state(), &by_state);
            prop_assert_eq!(resolved.available_count(), open.len());
            prop_assert_eq!(resolved.filtered_by_group_count(), by_group.len());
            prop_assert_eq!(resolved.filtered_by_condition_count(), by_condition.len());
            prop_assert_eq!(resolved.filtered_by_state_count(), by_state.len());
            // What is no tool is opened by the same groups and states.
            for tool in snapshot.tools() {
                let offer = Offer { groups: &tool.groups, states: Some(&tool.states) };
                let decided = snapshot.decide(&everything, Some(&requested), Some("x"), tool.name(), &anytime());
                prop_assert_eq!(resolved.closes(offer), decided.code);
            }
        }
    }
}
