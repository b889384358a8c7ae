//! The two workflows of the tool group specification (sections 5.2 and 9.3). Where its examples contradict its rule,
//! the rule wins: `reset-workflow` is in `admin` only, so a request without `admin` never reaches it.

use toolgate_api::ErrorCode;

use crate::policy::decision::next_state;
use crate::snapshot::ProjectSnapshot;
use crate::snapshot::testing::{anytime, grant, project, strings, tool};

/// The tools of section 5.1.
fn tools() -> ProjectSnapshot {
    project([
        tool("knowledge-query")
            .groups(&["read-only", "knowledge", "basic"])
            .moves_to("analysis")
            .states(&["undefined", "research"]),
        tool("graph-update")
            .groups(&["write", "knowledge", "admin"])
            .states(&["analysis", "modification"]),
        tool("text-completion")
            .groups(&["read-only", "text", "basic"])
            .moves_to("undefined"),
        tool("complex-analysis")
            .groups(&["advanced", "compute", "expensive"])
            .moves_to("results")
            .states(&["analysis"]),
        tool("reset-workflow")
            .groups(&["admin"])
            .moves_to("undefined")
            .states(&["analysis", "results"]),
    ])
}

fn available(snapshot: &ProjectSnapshot, groups: &[&str], state: &str) -> Vec<String> {
    snapshot
        .resolve(&grant(groups), Some(&strings(groups)), Some(state), &anytime())
        .unwrap()
        .available()
}

/// Calls a tool with success: the state afterwards.
fn call(snapshot: &ProjectSnapshot, groups: &[&str], state: &str, name: &str) -> String {
    let decision = snapshot.decide(
        &grant(groups),
        Some(&strings(groups)),
        Some(state),
        name,
        &anytime(),
    );
    assert_eq!(decision.code, None, "{}", decision.explain());
    next_state(&decision.tool.unwrap(), &decision.state, true)
}

#[test]
fn the_phases_of_section_5_2() {
    let snapshot = tools();
    assert_eq!(
        available(&snapshot, &["read-only", "knowledge"], "undefined"),
        ["knowledge-query", "text-completion"]
    );
    assert_eq!(
        call(
            &snapshot,
            &["read-only", "knowledge"],
            "undefined",
            "knowledge-query"
        ),
        "analysis"
    );

    let analysis = ["advanced", "compute", "write"];
    assert_eq!(
        available(&snapshot, &analysis, "analysis"),
        ["complex-analysis", "graph-update"]
    );
    assert_eq!(
        call(&snapshot, &analysis, "analysis", "complex-analysis"),
        "results"
    );

    assert_eq!(available(&snapshot, &["admin"], "results"), ["reset-workflow"]);
    assert_eq!(
        call(&snapshot, &["admin"], "results", "reset-workflow"),
        "undefined"
    );
    assert_eq!(
        available(&snapshot, &["read-only", "knowledge"], "undefined"),
        ["knowledge-query", "text-completion"],
        "back at the start"
    );
}

#[test]
fn the_log_of_section_8_2_names_the_test_that_failed() {
    let resolved = tools()
        .resolve(
            &grant(&["*"]),
            Some(&strings(&["read-only", "knowledge"])),
            Some("undefined"),
            &anytime(),
        )
        .unwrap();
    assert_eq!(resolved.available(), ["knowledge-query", "text-completion"]);
    assert_eq!(
        resolved.filtered_by_state(),
        ["graph-update"],
        "it is in knowledge, so its states hide it"
    );
    assert_eq!(
        resolved.filtered_by_group(),
        ["complex-analysis", "reset-workflow"]
    );
}

#[test]
fn the_workflow_of_section_9_3_closes_only_with_the_group_of_its_last_tool() {
    let snapshot = tools();
    let without = ["knowledge", "compute"];
    assert_eq!(available(&snapshot, &without, "undefined"), ["knowledge-query"]);
    assert_eq!(
        call(&snapshot, &without, "undefined", "knowledge-query"),
        "analysis"
    );
    assert_eq!(
        available(&snapshot, &without, "analysis"),
        ["complex-analysis", "graph-update"]
    );
    assert_eq!(
        call(&snapshot, &without, "analysis", "complex-analysis"),
        "results"
    );
    assert!(available(&snapshot, &without, "results").is_empty());
    let refused = snapshot.decide(
        &grant(&without),
        Some(&strings(&without)),
        Some("results"),
        "reset-workflow",
        &anytime(),
    );
    assert_eq!(refused.code, Some(ErrorCode::ToolNotInGroups));

    let with = ["knowledge", "compute", "admin"];
    assert_eq!(available(&snapshot, &with, "results"), ["reset-workflow"]);
    assert_eq!(call(&snapshot, &with, "results", "reset-workflow"), "undefined");
    assert_eq!(
        available(&snapshot, &with, "undefined"),
        ["knowledge-query"],
        "the flow can begin again"
    );
}

#[test]
fn two_users_see_their_own_tools_in_their_own_states() {
    let snapshot = tools();
    assert_eq!(
        available(&snapshot, &["read-only"], "undefined"),
        ["knowledge-query", "text-completion"]
    );
    assert_eq!(available(&snapshot, &["write"], "analysis"), ["graph-update"]);
}
