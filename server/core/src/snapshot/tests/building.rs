//! What a snapshot is built from, and what it takes over from the one before.

use std::sync::Arc;

use serde_json::json;

use crate::definition::{ExecutorKind, ExecutorSet};
use crate::snapshot::ProjectSnapshot;
use crate::snapshot::testing::{Draft, anytime, grant, project, service, strings, tool};

fn inputs(drafts: &[Draft]) -> Vec<crate::snapshot::ToolInput> {
    drafts.iter().map(|draft| draft.0.clone()).collect()
}

#[test]
fn tools_are_sorted_and_found_by_their_exact_names() {
    let snapshot = project([tool("b"), tool("a"), tool("C")]);
    let names: Vec<_> = snapshot.tools().iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["C", "a", "b"]);
    assert_eq!(snapshot.tool("a").map(|tool| tool.name()), Some("a"));
    assert!(snapshot.tool("c").is_none());
    assert_eq!(snapshot.version(), 1);
}

#[test]
fn of_two_tools_of_one_name_the_last_wins() {
    let snapshot = project([
        tool("a").revision(1),
        tool("b"),
        tool("a").revision(2).groups(&["later"]),
    ]);
    assert_eq!(snapshot.tools().len(), 2);
    assert_eq!(snapshot.tool("a").map(|tool| tool.revision), Some(2));
    assert!(
        snapshot
            .decide(&grant(&["*"]), Some(&strings(&["later"])), None, "a", &anytime())
            .is_allowed()
    );
    assert_eq!(
        snapshot
            .resolve(&grant(&["*"]), Some(&strings(&["later"])), None, &anytime())
            .unwrap()
            .available(),
        ["a"]
    );
}

#[test]
fn an_unchanged_tool_is_taken_over_with_what_was_compiled_for_it() {
    let drafts = [tool("same"), tool("changed"), tool("gone")];
    let before = ProjectSnapshot::build(1, inputs(&drafts), Vec::new(), None);
    let drafts = [tool("same"), tool("changed").revision(2), tool("new")];
    let after = ProjectSnapshot::build(2, inputs(&drafts), Vec::new(), Some(&before));
    let kept = |name: &str| match (before.tool(name), after.tool(name)) {
        (Some(before), Some(after)) => Some(Arc::ptr_eq(before, after)),
        _ => None,
    };
    assert_eq!(kept("same"), Some(true));
    assert_eq!(kept("changed"), Some(false));
    assert_eq!(after.tool("changed").map(|tool| tool.revision), Some(2));
    assert!(after.tool("gone").is_none());
    assert!(after.tool("new").is_some());
    assert_eq!(
        before.tool("changed").map(|tool| tool.revision),
        Some(1),
        "the old snapshot stays as it was"
    );
}

#[test]
fn a_tool_of_the_same_revision_that_was_stored_at_another_time_is_another_tool() {
    let before = project([tool("a")]);
    let mut again = tool("a").groups(&["other"]);
    again.0.updated_at += chrono::TimeDelta::seconds(1);
    let after = ProjectSnapshot::build(2, vec![again.0], Vec::new(), Some(&before));
    assert_eq!(
        after.tool("a").map(|tool| tool.groups.clone()),
        Some(strings(&["other"]))
    );
}

#[test]
fn the_environment_of_a_service_wins_over_that_of_its_tools() {
    let drafts = [
        tool("with")
            .service("jina")
            .envs(&[("api_key", "OWN_KEY"), ("region", "OWN_REGION")]),
        tool("without").envs(&[("api_key", "OWN_KEY")]),
        tool("unknown").service("none").envs(&[("api_key", "OWN_KEY")]),
    ];
    let variable = |snapshot: &ProjectSnapshot, name: &str, parameter: &str| {
        snapshot
            .tool(name)
            .and_then(|tool| tool.envs.get(parameter).cloned())
            .unwrap_or_default()
    };
    let before = ProjectSnapshot::build(
        1,
        inputs(&drafts),
        vec![service("jina", &[("api_key", "SERVICE_KEY")])],
        None,
    );
    assert_eq!(variable(&before, "with", "api_key"), "SERVICE_KEY");
    assert_eq!(variable(&before, "with", "region"), "OWN_REGION");
    assert_eq!(variable(&before, "without", "api_key"), "OWN_KEY");
    assert_eq!(variable(&before, "unknown", "api_key"), "OWN_KEY");
    assert_eq!(before.service_revision("jina"), Some(7));
    assert!(before.service("jina").is_some());
    assert!(before.service("none").is_none());
    assert_eq!(before.services().count(), 1);

    // Only the service changes: its tools follow, the others are taken over.
    let changed = vec![service("jina", &[("region", "SERVICE_REGION")])];
    let after = ProjectSnapshot::build(2, inputs(&drafts), changed, Some(&before));
    assert_eq!(variable(&after, "with", "api_key"), "OWN_KEY");
    assert_eq!(variable(&after, "with", "region"), "SERVICE_REGION");
    assert!(Arc::ptr_eq(
        before.tool("without").unwrap(),
        after.tool("without").unwrap()
    ));
}

#[test]
fn a_tool_has_its_service_and_keeps_it_while_it_does_not_change() {
    let drafts = [
        tool("with").service("jina"),
        tool("without"),
        tool("unknown").service("none"),
    ];
    let same = || vec![service("jina", &[("a", "A")])];
    let before = ProjectSnapshot::build(1, inputs(&drafts), same(), None);
    let of = |snapshot: &ProjectSnapshot, name: &str| snapshot.tool(name).expect("a tool").service.clone();
    assert_eq!(of(&before, "with").as_deref(), before.service("jina"));
    assert_eq!((of(&before, "without"), of(&before, "unknown")), (None, None));

    for after in [
        ProjectSnapshot::build(2, inputs(&drafts), same(), Some(&before)),
        before.with_changes(2, Vec::new(), &[], same()),
    ] {
        assert!(Arc::ptr_eq(
            before.tool("with").expect("a tool"),
            after.tool("with").expect("a tool")
        ));
    }
    // Another queue is another service, although no environment changes.
    let mut changed = same();
    changed[0].0.request_queue = Some("q".to_owned());
    for after in [
        ProjectSnapshot::build(2, inputs(&drafts), changed.clone(), Some(&before)),
        before.with_changes(2, Vec::new(), &[], changed.clone()),
    ] {
        let service = of(&after, "with").expect("a service");
        assert_eq!(service.request_queue.as_deref(), Some("q"));
        assert!(Arc::ptr_eq(
            before.tool("without").expect("a tool"),
            after.tool("without").expect("a tool")
        ));
    }
}

#[test]
fn what_is_offered_depends_on_what_the_server_executes() {
    let mut worker = tool("worker").of_kind("worker");
    worker.0.definition.target_subject = Some("cmd.tool.w".to_owned());
    let drafts = [worker, tool("other")];
    let without = ProjectSnapshot::build(1, inputs(&drafts), Vec::new(), None);
    let offered = |snapshot: &ProjectSnapshot| {
        let tool = snapshot.tool("worker").expect("a tool");
        (tool.is_offered(), tool.not_executed().map(ToString::to_string))
    };
    let why = "nothing executes tools of type \"worker\" here: this server is connected to no message bus: the operator sets TOOLGATE_NATS_URL";
    assert_eq!(offered(&without), (false, Some(why.to_owned())));
    let executes = ExecutorSet::BUILT_IN.with(ExecutorKind::Bus);
    let with = ProjectSnapshot::build_for(executes, 1, inputs(&drafts), Vec::new(), Some(&without));
    assert_eq!(offered(&with), (true, None));
    assert!(Arc::ptr_eq(
        without.tool("other").expect("a tool"),
        with.tool("other").expect("a tool")
    ));
    let later = with.with_changes(2, inputs(&drafts), &[], Vec::new());
    assert_eq!(offered(&later), (true, None));
}

#[test]
fn callers_see_neither_fixed_nor_environment_parameters_but_all_defaults() {
    let compiled = tool("t")
        .parameters(&json!({
            "type": "object",
            "properties": {
                "q": {"type": "string"},
                "num": {"type": "integer"},
                "lang": {"type": "string", "default": "en"},
                "region": {"type": "string"},
                "api_key": {"type": "string"},
                "nested": {"type": "object", "properties": {"region": {"type": "string"}}},
            },
            "required": ["q", "num", "region", "api_key"],
            "additionalProperties": false,
        }))
        .defaults(json!({"num": 10, "lang": "de", "region": "unused", "undeclared": 1}))
        .fixed(json!({"region": "eu"}))
        .envs(&[("api_key", "SEARCH_API_KEY")])
        .compiled();
    assert_eq!(
        *compiled.shown_parameters(),
        json!({
            "type": "object",
            "properties": {
                "q": {"type": "string"},
                "num": {"type": "integer", "default": 10},
                "lang": {"type": "string", "default": "en"},
                "nested": {"type": "object", "properties": {"region": {"type": "string"}}},
            },
            "required": ["q"],
            "additionalProperties": false,
        })
    );
    assert!(compiled.hides("region") && compiled.hides("api_key") && !compiled.hides("num"));
}

#[test]
fn a_schema_that_requires_nothing_any_more_has_no_required() {
    let compiled = tool("t")
        .parameters(&json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}))
        .fixed(json!({"a": 1}))
        .compiled();
    assert_eq!(
        *compiled.shown_parameters(),
        json!({"type": "object", "properties": {}})
    );
}

#[test]
fn debug_output_of_a_snapshot_is_short() {
    let text = format!("{:?}", project((0..1_000).map(|n| tool(&format!("t{n}")))));
    assert!(text.contains("tools: 1000") && text.len() < 200, "{text}");
}

#[test]
fn a_change_gives_the_snapshot_that_a_full_build_gives() {
    let jina = |variable: &str| vec![service("jina", &[("api_key", variable)])];
    let before = [
        tool("a"),
        tool("b").groups(&["x"]),
        tool("c"),
        tool("s").service("jina"),
    ];
    let before = ProjectSnapshot::build(1, inputs(&before), jina("ONE"), None);
    let new_b = tool("b").groups(&["y"]).states(&["analysis"]).revision(2);
    let after = [
        tool("a"),
        new_b.clone(),
        tool("d").groups(&["x", "z"]),
        tool("s").service("jina"),
    ];
    let anew = ProjectSnapshot::build(2, inputs(&after), jina("TWO"), None);
    let removed = [crate::ids::ToolName::parse("c").unwrap()];
    let changed = before.with_changes(
        2,
        inputs(&[tool("d").groups(&["x", "z"]), new_b]),
        &removed,
        jina("TWO"),
    );

    assert_eq!(changed.version(), 2);
    let facts = |snapshot: &ProjectSnapshot| {
        let fact = |tool: &Arc<crate::snapshot::CompiledTool>| {
            (
                tool.name().to_owned(),
                tool.revision,
                tool.groups.clone(),
                tool.envs.clone(),
            )
        };
        snapshot.tools().iter().map(fact).collect::<Vec<_>>()
    };
    assert_eq!(facts(&changed), facts(&anew));
    for group in ["default", "x", "y", "z", "*"] {
        for state in ["undefined", "analysis"] {
            let resolve = |snapshot: &ProjectSnapshot| {
                snapshot
                    .resolve(&grant(&["*"]), Some(&strings(&[group])), Some(state), &anytime())
                    .unwrap()
                    .available()
            };
            assert_eq!(resolve(&changed), resolve(&anew), "{group} in {state}");
        }
    }
    assert!(Arc::ptr_eq(before.tool("a").unwrap(), changed.tool("a").unwrap()));
    assert!(changed.tool("c").is_none() && before.tool("c").is_some());
}

#[test]
fn answers_are_kept_across_a_change_that_cannot_alter_them_and_only_then() {
    let before = project([tool("a").groups(&["x"]), tool("b")]);
    let ask = |snapshot: &ProjectSnapshot| {
        snapshot
            .resolve(&grant(&["x"]), Some(&strings(&["x"])), None, &anytime())
            .unwrap()
            .available()
    };
    assert_eq!(ask(&before), ["a"]);
    let described = before.with_changes(
        2,
        inputs(&[tool("a").groups(&["x"]).revision(2)]),
        &[],
        Vec::new(),
    );
    assert!(Arc::ptr_eq(&before.index, &described.index));
    assert_eq!(ask(&described), ["a"]);
    assert_eq!(described.tool("a").map(|tool| tool.revision), Some(2));

    for change in [
        tool("b").groups(&["x"]),
        tool("a").groups(&[]),
        tool("a").groups(&["x"]).states(&["later"]),
    ] {
        let changed = before.with_changes(2, inputs(&[change.revision(2)]), &[], Vec::new());
        assert_ne!(ask(&changed), ["a"]);
    }
}
