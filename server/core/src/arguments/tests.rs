//! Layers as tables: what the caller sends, what the tool is executed with, and where each argument came from.

use rstest::rstest;
use serde_json::{Value, json};
use toolgate_api::calls::CallContext;

use super::*;
use crate::ids::ProjectId;
use crate::snapshot::testing::{Draft, object, tool};

fn search() -> Draft {
    tool("search")
        .parameters(json!({
            "type": "object",
            "properties": {
                "q": {"type": "string"},
                "num": {"type": ["integer", "null"]},
                "session_id": {"type": "string"},
                "region": {"type": "string"},
                "api_key": {"type": "string"},
            },
            "required": ["q", "session_id", "region", "api_key"],
            "additionalProperties": false,
        }))
        .defaults(json!({"num": 10, "session_id": "{agent_turn_id}"}))
        .fixed(json!({"region": "eu", "project": "{project_id}"}))
        .envs(&[("api_key", "SEARCH_API_KEY")])
}

fn context(context: &CallContext) -> TemplateContext {
    TemplateContext::new(&ProjectId::parse("demo").unwrap(), Some(context))
}

fn turn() -> TemplateContext {
    context(&CallContext {
        agent_turn_id: Some("turn-1".to_owned()),
        ..CallContext::default()
    })
}

#[rstest]
#[case::defaults_fill_in(
    json!({"q": "rust"}),
    json!({"q": "rust", "num": 10, "session_id": "turn-1", "region": "eu", "project": "demo"}),
)]
#[case::the_caller_overrides_defaults(
    json!({"q": "rust", "num": 3, "session_id": "mine"}),
    json!({"q": "rust", "num": 3, "session_id": "mine", "region": "eu", "project": "demo"}),
)]
#[case::an_explicit_null_counts_as_given(
    json!({"q": "rust", "num": null}),
    json!({"q": "rust", "num": null, "session_id": "turn-1", "region": "eu", "project": "demo"}),
)]
#[case::fixed_values_overwrite_whatever_the_caller_sends(
    json!({"q": "rust", "region": "us", "project": {"of": "another"}}),
    json!({"q": "rust", "num": 10, "session_id": "turn-1", "region": "eu", "project": "demo"}),
)]
#[case::environment_names_are_dropped(
    json!({"q": "rust", "api_key": "stolen"}),
    json!({"q": "rust", "num": 10, "session_id": "turn-1", "region": "eu", "project": "demo"}),
)]
#[case::what_the_caller_sends_is_never_a_template(
    json!({"q": "{project_id} {{x}} {unknown}"}),
    json!({"q": "{project_id} {{x}} {unknown}", "num": 10, "session_id": "turn-1", "region": "eu", "project": "demo"}),
)]
fn layers(#[case] caller: Value, #[case] merged: Value) {
    let result = merge(&search().compiled(), &object(caller), &turn()).unwrap();
    assert_eq!(Value::Object(result.arguments), merged);
}

#[test]
fn every_argument_knows_its_layer() {
    use ArgumentLayer::{Caller, Default, Env, Fixed};
    let layers_of = |caller: Value| {
        let merged = merge(&search().compiled(), &object(caller), &turn()).unwrap();
        merged.provenance.into_iter().collect::<Vec<_>>()
    };
    let row = |num, session_id| {
        [
            ("api_key", Env),
            ("num", num),
            ("project", Fixed),
            ("q", Caller),
            ("region", Fixed),
            ("session_id", session_id),
        ]
        .map(|(name, layer)| (name.to_owned(), layer))
        .to_vec()
    };
    assert_eq!(layers_of(json!({"q": "a"})), row(Default, Default));
    assert_eq!(
        layers_of(json!({"q": "a", "num": null, "region": "us", "api_key": "x"})),
        row(Caller, Default)
    );
    assert_eq!(
        layers_of(json!({"q": "a", "num": 1, "session_id": "s"})),
        row(Caller, Caller)
    );
}

#[test]
fn the_environment_wins_over_fixed_values_and_defaults() {
    let compiled = tool("t")
        .defaults(json!({"key": "from default"}))
        .fixed(json!({"key": "from fixed"}))
        .envs(&[("key", "SOME_KEY")])
        .compiled();
    let merged = merge(&compiled, &object(json!({"key": "from caller"})), &turn()).unwrap();
    assert!(merged.arguments.is_empty());
    assert_eq!(
        merged.provenance,
        BTreeMap::from([("key".to_owned(), ArgumentLayer::Env)])
    );
}

#[test]
fn templates_are_rendered_in_every_string_and_once() {
    let compiled = tool("t")
        .defaults(json!({"ids": ["{agent_id}", {"{step_id}": "{step_id}"}, 7, null, true]}))
        .fixed(json!({"all": "{project_id}/{turn_epoch}/{trace_id}"}))
        .compiled();
    let context = context(&CallContext {
        agent_id: Some("{project_id}".to_owned()),
        step_id: Some("s".to_owned()),
        turn_epoch: Some(3),
        trace_id: Some("t".to_owned()),
        ..CallContext::default()
    });
    let merged = merge(&compiled, &Map::new(), &context).unwrap();
    assert_eq!(
        Value::Object(merged.arguments),
        json!({"ids": ["{project_id}", {"{step_id}": "s"}, 7, null, true], "all": "demo/3/t"})
    );
}

#[rstest]
#[case::missing(json!({}), None)]
#[case::empty(json!({}), Some(""))]
fn a_variable_without_a_value_is_a_fault_with_its_place(
    #[case] caller: Value,
    #[case] trace_id: Option<&str>,
) {
    let compiled = tool("t")
        .fixed(json!({"a/b": [{"c": "{trace_id}"}], "ok": "{project_id}"}))
        .compiled();
    let context = context(&CallContext {
        trace_id: trace_id.map(str::to_owned),
        ..CallContext::default()
    });
    let faults = merge(&compiled, &object(caller), &context).unwrap_err();
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].pointer.as_deref(), Some("/a~1b/0/c"));
    assert!(faults[0].message.contains("trace_id"), "{}", faults[0].message);
    assert!(
        faults[0]
            .hint
            .as_deref()
            .is_some_and(|hint| hint.contains("context"))
    );
}

#[test]
fn a_default_that_is_not_used_is_not_rendered() {
    let compiled = tool("t").defaults(json!({"session": "{trace_id}"})).compiled();
    assert!(merge(&compiled, &object(json!({"session": "mine"})), &turn()).is_ok());
    assert!(merge(&compiled, &Map::new(), &turn()).is_err());
}

#[rstest]
#[case::missing(json!({}), &["/q"])]
#[case::wrong_type(json!({"q": 1}), &["/q"])]
#[case::null_where_none_is_allowed(json!({"q": "a", "session_id": null}), &["/session_id"])]
#[case::unknown(json!({"q": "a", "x": 1}), &["/x"])]
#[case::dropped_names_are_not_checked(json!({"q": 1, "region": 5, "api_key": 5}), &["/q"])]
#[case::all_at_once(json!({"num": "many", "x": 1}), &["/num", "/q", "/x"])]
fn the_callers_part_is_checked(#[case] caller: Value, #[case] pointers: &[&str]) {
    let faults = merge(&search().compiled(), &object(caller), &turn()).unwrap_err();
    let mut found: Vec<_> = faults.into_iter().filter_map(|fault| fault.pointer).collect();
    found.sort();
    assert_eq!(found, pointers);
}

#[test]
fn template_and_schema_faults_come_together() {
    let none = TemplateContext::new(&ProjectId::parse("demo").unwrap(), None);
    let faults = merge(&search().compiled(), &object(json!({"q": 1})), &none).unwrap_err();
    let pointers: Vec<_> = faults
        .iter()
        .filter_map(|fault| fault.pointer.as_deref())
        .collect();
    assert_eq!(pointers, ["/session_id", "/q"]);
}

#[test]
fn a_default_that_the_schema_does_not_know_is_not_held_against_the_caller() {
    let compiled = tool("t")
        .parameters(json!({"type": "object", "properties": {}, "additionalProperties": false}))
        .defaults(json!({"format": "json"}))
        .compiled();
    let merged = merge(&compiled, &Map::new(), &turn()).unwrap();
    assert_eq!(Value::Object(merged.arguments), json!({"format": "json"}));
}

#[test]
fn every_documented_variable_has_its_value() {
    let given = CallContext {
        channel_id: Some("channel_id".to_owned()),
        agent_id: Some("agent_id".to_owned()),
        agent_turn_id: Some("agent_turn_id".to_owned()),
        step_id: Some("step_id".to_owned()),
        tool_call_id: Some("tool_call_id".to_owned()),
        parent_step_id: Some("parent_step_id".to_owned()),
        trace_id: Some("trace_id".to_owned()),
        turn_epoch: Some(9),
        context_box_id: Some("context_box_id".to_owned()),
    };
    let context = context(&given);
    for variable in template::VARIABLES {
        let expected = match variable {
            "project_id" => "demo",
            "turn_epoch" => "9",
            other => other,
        };
        assert_eq!(context.get(variable).as_deref(), Some(expected));
    }
    assert_eq!(context.get("user_id"), None);
}
