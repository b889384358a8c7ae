//! The rule as tables: one row for each sentence of the tool group specification that concerns one call.

use rstest::rstest;

use super::*;
use crate::snapshot::testing::{anytime, grant, project, strings, tool};

const ANY_GRANT: &[&str] = &["*"];

#[rstest]
// Tool `default-tool` names no group, `grouped` is in knowledge and basic, `child` in knowledge/read, `groupless` in [].
#[case::no_group_is_default("default-tool", None, true)]
#[case::absent_asks_for_default_only("grouped", None, false)]
#[case::default_by_name("default-tool", Some(&["default"][..]), true)]
#[case::an_empty_list_gets_nothing("default-tool", Some(&[][..]), false)]
#[case::one_common_group_is_enough("grouped", Some(&["other", "basic"][..]), true)]
#[case::no_common_group("grouped", Some(&["other", "default"][..]), false)]
#[case::case_matters("grouped", Some(&["Basic"][..]), false)]
#[case::nothing_is_trimmed("grouped", Some(&["basic "][..]), false)]
#[case::any_reaches_all("grouped", Some(&["*"][..]), true)]
#[case::any_among_others("grouped", Some(&["other", "*"][..]), true)]
#[case::a_star_inside_a_name_is_no_wildcard("grouped", Some(&["b*"][..]), false)]
#[case::no_group_at_all_is_reached_by_any("groupless", Some(&["*"][..]), true)]
#[case::and_by_nothing_else("groupless", Some(&["default", "knowledge"][..]), false)]
#[case::a_parent_covers_its_children("child", Some(&["knowledge"][..]), true)]
#[case::a_child_itself("child", Some(&["knowledge/read"][..]), true)]
#[case::a_child_does_not_cover_its_parent("grouped", Some(&["knowledge/read"][..]), false)]
#[case::a_star_on_the_tool_is_a_plain_name("starred", Some(&["knowledge", "default"][..]), false)]
#[case::which_only_any_reaches("starred", Some(&["*"][..]), true)]
fn the_group_test(#[case] name: &str, #[case] requested: Option<&[&str]>, #[case] allowed: bool) {
    let snapshot = project([
        tool("default-tool"),
        tool("grouped").groups(&["knowledge", "basic"]),
        tool("child").groups(&["knowledge/read"]),
        tool("groupless").groups(&[]),
        tool("starred").groups(&["*"]),
    ]);
    let requested = requested.map(strings);
    let decision = snapshot.decide(&grant(ANY_GRANT), requested.as_deref(), None, name, &anytime());
    assert_eq!(decision.is_allowed(), allowed);
    assert_eq!(decision.code, (!allowed).then_some(ErrorCode::ToolNotInGroups));
    assert_eq!(
        decision.tool.as_deref().map(CompiledTool::name),
        Some(name),
        "the record names the tool either way"
    );
}

#[rstest]
#[case::no_states_is_every_state("free", Some("anything"), true)]
#[case::in_the_list("bound", Some("analysis"), true)]
#[case::not_in_the_list("bound", Some("results"), false)]
#[case::case_matters("bound", Some("Analysis"), false)]
#[case::absent_is_undefined("undefined-only", None, true)]
#[case::empty_is_undefined("undefined-only", Some(""), true)]
#[case::undefined_by_name("undefined-only", Some("undefined"), true)]
#[case::undefined_is_an_ordinary_name("bound", None, false)]
#[case::undefined_does_not_open_more("undefined-only", Some("analysis"), false)]
#[case::a_star_in_the_list_is_every_state("starred", Some("anything"), true)]
#[case::an_empty_list_is_never("never", None, false)]
#[case::a_star_as_current_state_is_an_ordinary_name("bound", Some("*"), false)]
fn the_state_test(
    #[case] name: &str,
    #[case] state: Option<&str>,
    #[case] allowed: bool,
    // `*` lifts the group test only.
    #[values(None, Some("*"))] requested: Option<&str>,
) {
    let snapshot = project([
        tool("free"),
        tool("bound").states(&["analysis", "modification"]),
        tool("undefined-only").states(&["undefined"]),
        tool("starred").states(&["analysis", "*"]),
        tool("never").states(&[]),
    ]);
    let requested = requested.map(|group| strings(&[group]));
    let decision = snapshot.decide(&grant(ANY_GRANT), requested.as_deref(), state, name, &anytime());
    assert_eq!(decision.is_allowed(), allowed);
    assert_eq!(decision.code, (!allowed).then_some(ErrorCode::ToolNotInState));
}

#[rstest]
#[case::granted(&["default"], None, &[])]
#[case::absent_needs_the_default_grant(&["knowledge"], None, &["default"])]
#[case::asking_for_nothing_needs_nothing(&[], Some(&[][..]), &[])]
#[case::any_needs_any(&["default", "knowledge"], Some(&["*"][..]), &["*"])]
#[case::any_covers_all(&["*"], Some(&["*", "knowledge", "x"][..]), &[])]
#[case::the_whole_request_is_refused(&["default"], Some(&["default", "write", "admin"][..]), &["admin", "write"])]
#[case::a_granted_parent_covers_children(&["default", "knowledge"], Some(&["default", "knowledge/read"][..]), &[])]
#[case::a_granted_child_not_its_parent(&["knowledge/read"], Some(&["knowledge"][..]), &["knowledge"])]
fn the_gateway_check(
    #[case] granted: &[&str],
    #[case] requested: Option<&[&str]>,
    #[case] missing: &[&str],
    // It comes before everything else, whether the tool exists or not.
    #[values("t", "unknown")] name: &str,
) {
    let snapshot = project([tool("t")]);
    let requested = requested.map(strings);
    let decision = snapshot.decide(&grant(granted), requested.as_deref(), None, name, &anytime());
    assert_eq!(decision.missing, missing);
    assert_eq!(
        decision.code == Some(ErrorCode::InsufficientToolGroups),
        !missing.is_empty()
    );
    let resolved = snapshot.resolve(&grant(granted), requested.as_deref(), None, &anytime());
    assert_eq!(
        resolved
            .map_err(|denial| denial.missing)
            .err()
            .unwrap_or_default(),
        missing
    );
}

#[test]
fn the_checks_come_in_a_fixed_order() {
    let snapshot = project([tool("t").groups(&["knowledge"]).states(&["analysis"])]);
    let code = |granted: &[&str], requested: &[&str], state: &str, name: &str| {
        snapshot
            .decide(
                &grant(granted),
                Some(&strings(requested)),
                Some(state),
                name,
                &anytime(),
            )
            .code
    };
    assert_eq!(
        code(&[], &["knowledge"], "", "none"),
        Some(ErrorCode::InsufficientToolGroups)
    );
    assert_eq!(
        code(&["other"], &["other"], "", "none"),
        Some(ErrorCode::ToolNotFound)
    );
    assert_eq!(
        code(&["other"], &["other"], "", "t"),
        Some(ErrorCode::ToolNotInGroups),
        "both fail: group"
    );
    assert_eq!(
        code(&["knowledge"], &["knowledge"], "", "t"),
        Some(ErrorCode::ToolNotInState)
    );
    assert_eq!(code(&["knowledge"], &["knowledge"], "analysis", "t"), None);
    assert_eq!(
        code(&["knowledge"], &["knowledge"], "analysis", "T"),
        Some(ErrorCode::ToolNotFound)
    );
}

#[test]
fn the_request_is_recorded_with_its_defaults() {
    let snapshot = project([tool("t")]);
    let decision = snapshot.decide(&grant(ANY_GRANT), None, None, "t", &anytime());
    assert_eq!(
        (decision.requested, decision.state.as_str()),
        (strings(&["default"]), "undefined")
    );
    let decision = snapshot.decide(
        &grant(ANY_GRANT),
        Some(&strings(&["b", "a", "b"])),
        Some("s"),
        "t",
        &anytime(),
    );
    assert_eq!(
        (decision.requested, decision.state.as_str()),
        (strings(&["a", "b"]), "s")
    );
}

#[rstest]
#[case::success_moves(Some("analysis"), "undefined", true, "analysis")]
#[case::failure_does_not(Some("analysis"), "undefined", false, "undefined")]
#[case::no_state_stays(None, "research", true, "research")]
#[case::an_empty_state_stays(Some(""), "research", true, "research")]
#[case::undefined_can_be_moved_to(Some("undefined"), "results", true, "undefined")]
#[case::to_itself(Some("results"), "results", true, "results")]
#[case::an_empty_state_before_is_undefined(None, "", true, "undefined")]
fn the_next_state(
    #[case] moves_to: Option<&str>,
    #[case] before: &str,
    #[case] ok: bool,
    #[case] after: &str,
) {
    let draft = tool("t");
    let tool = moves_to
        .map_or(draft.clone(), |state| draft.moves_to(state))
        .compiled();
    assert_eq!(next_state(&tool, before, ok), after);
}

#[test]
fn every_refusal_says_what_and_how_to_correct_it() {
    let snapshot = project([
        tool("t").groups(&["knowledge"]).states(&["analysis"]),
        tool("groupless").groups(&[]),
        tool("never").groups(&["knowledge"]).states(&[]),
    ]);
    let explain = |granted: &[&str], requested: &[&str], name: &str| {
        snapshot
            .decide(&grant(granted), Some(&strings(requested)), None, name, &anytime())
            .explain()
    };
    for (text, parts) in [
        (
            explain(&["a"], &["a", "write", "admin"], "t"),
            &[
                "Insufficient permissions for requested tool groups",
                r#""admin", "write""#,
                "ask an owner",
            ][..],
        ),
        (
            explain(&["a"], &["a"], "nope"),
            &[r#"no tool "nope""#, "list the tools"],
        ),
        (
            explain(&["a"], &["a"], "t"),
            &[r#"is in "knowledge""#, r#"asks for "a""#, "add one"],
        ),
        (
            explain(&["a"], &["a"], "groupless"),
            &["in no group", r#"request "*""#],
        ),
        (
            explain(&["knowledge"], &["knowledge"], "t"),
            &[r#"closed in the state "undefined""#, r#""analysis""#],
        ),
        (
            explain(&["knowledge"], &["knowledge"], "never"),
            &["open in no state", "available_in_states"],
        ),
        (explain(&["a"], &[], "t"), &["asks for no group"]),
    ] {
        for part in parts {
            assert!(text.contains(part), "{part:?} is not in {text:?}");
        }
    }
    let endless = "x".repeat(100_000);
    assert!(explain(&["a"], &["a"], &endless).len() < 400);
    let many: Vec<String> = (0..1_000).map(|n| format!("{n}{endless}")).collect();
    assert!(
        snapshot
            .decide(&grant(&[]), Some(&many), None, "t", &anytime())
            .explain()
            .len()
            < 1_500
    );
}

#[test]
fn a_caller_is_named_no_group_that_was_not_granted() {
    let snapshot = project([
        tool("mixed").groups(&["vault", "basic/read"]),
        tool("hidden").groups(&["vault"]),
    ]);
    let granted = grant(&["basic", "default"]);
    let decide = |name: &str| snapshot.decide(&granted, None, None, name, &anytime());
    let text = decide("mixed").explain_to(&granted);
    assert!(text.contains("basic/read") && !text.contains("vault"), "{text}");
    let text = decide("hidden").explain_to(&granted);
    assert!(text.contains("ask an owner") && !text.contains("vault"), "{text}");
    assert!(decide("hidden").explain().contains("vault"));
    let everything = grant(&["*"]);
    assert_eq!(decide("mixed").explain_to(&everything), decide("mixed").explain());
}
