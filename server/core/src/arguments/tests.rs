//! Layers as tables: what the caller sends, what the tool is executed with, and where each argument came from.

use rstest::rstest;
use serde_json::{Value, json};
use toolgate_api::calls::CallContext;

use super::*;
use crate::definition::model::{HttpOptions, JinaMode, JinaOptions};
use crate::ids::ProjectId;
use crate::snapshot::testing::{Draft, object, tool};

fn search() -> Draft {
    tool("search")
        .parameters(&json!({
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

/// Merges however long it takes.
fn merge(
    tool: &CompiledTool,
    caller: &Map<String, Value>,
    context: &TemplateContext,
) -> Result<Merged, Vec<Diagnostic>> {
    super::merge(tool, caller, context, Effort::Thorough).map_err(|unmerged| match unmerged {
        Unmerged::Faults(faults) => faults,
        Unmerged::TooCostly => panic!("a thorough check has an answer"),
    })
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
        .parameters(&json!({"type": "object", "properties": {}, "additionalProperties": false}))
        .defaults(json!({"format": "json"}))
        .compiled();
    let merged = merge(&compiled, &Map::new(), &turn()).unwrap();
    assert_eq!(Value::Object(merged.arguments), json!({"format": "json"}));
}

#[rstest]
#[case::the_other_alternative_is_not_needed(json!({"anyOf": [{"required": ["url"]}, {"required": ["id"]}]}), json!({}), true)]
#[case::one_of_two(json!({"oneOf": [{"required": ["url"]}, {"required": ["id"]}]}), json!({}), true)]
#[case::and_not_both(json!({"oneOf": [{"required": ["url"]}, {"required": ["id"]}]}), json!({"id": "7"}), false)]
#[case::what_depends_on_it(json!({"dependentRequired": {"url": ["id"]}}), json!({}), false)]
#[case::what_needs_it(json!({"dependentRequired": {"id": ["url"]}}), json!({"id": "7"}), true)]
#[case::the_value_decides(json!({"if": {"properties": {"url": {"const": "u"}}, "required": ["url"]}, "then": {"required": ["id"]}}), json!({}), false)]
#[case::another_value(json!({"if": {"properties": {"url": {"const": "v"}}, "required": ["url"]}, "then": {"required": ["id"]}}), json!({}), true)]
#[case::from_the_environment(json!({"anyOf": [{"required": ["key"]}, {"required": ["id"]}]}), json!({}), true)]
#[case::closed(json!({"anyOf": [{"required": ["url"]}], "additionalProperties": false}), json!({}), true)]
fn alternatives_know_of_what_the_caller_does_not_send(
    #[case] alternatives: Value,
    #[case] caller: Value,
    #[case] fits: bool,
) {
    let mut parameters = json!({"type": "object", "properties": {
        "url": {"type": "string"}, "id": {"type": "string"}, "key": {"type": "string"}}});
    parameters.as_object_mut().unwrap().extend(object(alternatives));
    let compiled = tool("t")
        .parameters(&parameters)
        .fixed(json!({"url": "u"}))
        .envs(&[("key", "KEY")])
        .compiled();
    let merged = merge(&compiled, &object(caller), &turn());
    assert_eq!(merged.is_ok(), fits, "{merged:?}");
    if let Ok(merged) = merged {
        assert_eq!(merged.arguments["url"], "u");
    }
    // What callers see asks for nothing that they cannot send.
    let shown = compiled.shown_parameters().to_string();
    assert!(
        !shown.contains(r#""required":["url"]"#) && !shown.contains(r#""required":["key"]"#),
        "{shown}"
    );
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
        recursion_depth: None,
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

fn jina(mode: JinaMode, headers: &[&str]) -> JinaOptions {
    let headers = headers
        .iter()
        .map(|name| ((*name).to_owned(), "constant".to_owned()));
    JinaOptions {
        mode,
        base_url: None,
        path: None,
        method: None,
        auth_env: None,
        accept: None,
        headers: headers.collect(),
    }
}

#[rstest]
#[case::search(JinaMode::Search, "query", "q")]
#[case::the_other_way(JinaMode::Search, "q", "Query")]
#[case::number(JinaMode::Search, "num", "count")]
#[case::reader(JinaMode::Reader, "target_url", "url")]
#[case::camel_case(JinaMode::Reader, "url", "targetUrl")]
#[case::option(JinaMode::Reader, "respond_with", "X-Respond-With")]
#[case::former_option(JinaMode::Reader, "respondWith", "return_format")]
#[case::any_other(JinaMode::Search, "session_id", "sessionId")]
fn what_is_pinned_is_pinned_under_every_name(
    #[case] mode: JinaMode,
    #[case] pinned: &str,
    #[case] alias: &str,
) {
    let plain = || tool("t").jina(jina(mode, &[]));
    let fixed = plain().fixed(json!({pinned: "pinned"})).compiled();
    let merged = merge(&fixed, &object(json!({alias: "mine"})), &turn()).unwrap();
    assert_eq!(Value::Object(merged.arguments), json!({pinned: "pinned"}));
    assert_eq!(
        merged.provenance,
        BTreeMap::from([(pinned.to_owned(), ArgumentLayer::Fixed)])
    );

    let env = plain().envs(&[(pinned, "API_KEY")]).compiled();
    let merged = merge(&env, &object(json!({alias: "mine"})), &turn()).unwrap();
    assert!(merged.arguments.is_empty());
    assert_eq!(
        merged.provenance,
        BTreeMap::from([(pinned.to_owned(), ArgumentLayer::Env)])
    );

    let declared = json!({"type": "object", "properties": {alias: {"type": "string"}}, "required": [alias]});
    let hidden = plain()
        .parameters(&declared)
        .fixed(json!({pinned: "pinned"}))
        .compiled();
    assert_eq!(
        *hidden.shown_parameters(),
        json!({"type": "object", "properties": {}})
    );

    let other = tool("t").fixed(json!({pinned: "pinned"})).compiled();
    let merged = merge(&other, &object(json!({alias: "mine"})), &turn()).unwrap();
    assert_eq!(
        merged.arguments.len(),
        2,
        "elsewhere each name is an argument of its own"
    );
}

#[test]
fn a_callers_alias_is_the_declared_argument() {
    let compiled = tool("t")
        .jina(jina(JinaMode::Search, &[]))
        .parameters(&json!({
            "type": "object",
            "properties": {"query": {"type": "string"}},
            "required": ["query"],
            "additionalProperties": false,
        }))
        .defaults(json!({"query": "default"}))
        .compiled();
    let merged = merge(&compiled, &object(json!({"q": "rust"})), &turn()).unwrap();
    assert_eq!(Value::Object(merged.arguments), json!({"query": "rust"}));
    assert_eq!(merged.provenance["query"], ArgumentLayer::Caller);
    let faults = merge(&compiled, &object(json!({"q": "a", "query": "b"})), &turn()).unwrap_err();
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].pointer.as_deref(), Some("/query"));
    assert!(
        faults[0].message.contains("two names of one argument"),
        "{}",
        faults[0].message
    );
}

#[rstest]
#[case("respondWith", Some("X-Respond-With"))]
#[case("x_respond_with", Some("X-Respond-With"))]
#[case("returnFormat", Some("X-Respond-With"))]
#[case("proxyUrl", Some("x-proxy-url"))]
#[case("userAgent", None)]
fn a_constant_header_is_overwritten_by_no_argument(#[case] argument: &str, #[case] header: Option<&str>) {
    let constant = jina(JinaMode::Reader, &["X-Respond-With", "x-proxy-url", "User-Agent"]);
    let compiled = tool("t").jina(constant).compiled();
    let merged = merge(&compiled, &object(json!({argument: "mine"})), &turn());
    let Some(header) = header else {
        assert!(merged.is_ok());
        return;
    };
    let faults = merged.unwrap_err();
    assert_eq!(
        faults[0].pointer.as_deref(),
        Some(format!("/{argument}").as_str())
    );
    assert!(faults[0].message.contains(header), "{}", faults[0].message);
}

fn http(options: Value) -> HttpOptions {
    let mut http = json!({"base_url": "https://a.example"});
    http.as_object_mut().unwrap().extend(object(options));
    serde_json::from_value(http).unwrap()
}

#[rstest]
#[case::mapped(json!({"query": {"key": "pinned"}}), "key", Some("beside \"key\""))]
#[case::mapped_in_another_case(json!({"query": {"key": "pinned"}}), "KEY", Some("beside"))]
#[case::more_of_it(json!({"query": {"key": "pinned"}}), "key[]", Some("beside"))]
#[case::credential(json!({"auth": {"scheme": "query", "name": "api.key", "env": "K"}}), "api_key", Some("beside \"api.key\""))]
#[case::pinned_in_another_case(json!({}), "Pinned", Some("beside \"pinned\""))]
#[case::pinned_in_the_body(json!({"method": "POST"}), "PINNED", Some("beside"))]
#[case::no_place(json!({"method": "POST", "body": {"a": "pinned"}}), "b", Some("no place"))]
#[case::no_place_in_a_request(json!({"request": {"parameters": [{"name": "pinned", "in": "query"}]}}), "b", Some("no place"))]
#[case::query(json!({"query": {"key": "pinned"}}), "keys", None)]
#[case::body(json!({"method": "POST", "query": {"key": "pinned"}}), "key", None)]
#[case::declared(json!({"query": {"filter": "pinned"}}), "filter[tag]", None)]
fn what_aims_at_a_place_with_an_owner_is_refused(
    #[case] options: Value,
    #[case] argument: &str,
    #[case] problem: Option<&str>,
) {
    let compiled = tool("t")
        .http(http(options))
        .parameters(&json!({"type": "object", "properties": {"filter[tag]": {}}}))
        .fixed(json!({"pinned": "p"}))
        .compiled();
    let merged = merge(&compiled, &object(json!({argument: "mine"})), &turn());
    match problem {
        None => assert_eq!(merged.unwrap().arguments[argument], "mine"),
        Some(problem) => {
            let faults = merged.unwrap_err();
            assert_eq!(
                faults[0].pointer.as_deref(),
                Some(format!("/{argument}").as_str())
            );
            assert!(faults[0].message.contains(problem), "{}", faults[0].message);
        }
    }
    let null = merge(&compiled, &object(json!({argument: null})), &turn());
    assert!(null.is_ok(), "what is not sent is no fault");
}
