//! Shapes of uploads, both vocabularies, and what each type of tool takes.

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::definition::check_tool;

#[test]
fn both_vocabularies_give_the_same_tool() {
    let one = tool(
        "tool_name: search\ndescription: Find.\ntarget_subject: cmd.tool.search\n\
         parameters: {type: object, properties: {q: {type: string, description: What}}, required: [q]}\n",
    );
    let other = tool(
        "name: search\ntype: worker\ndescription: Find.\ntarget_subject: cmd.tool.search\n\
         arguments:\n- {name: q, type: string, description: What}\n",
    );
    assert_eq!(one, other);
}

#[rstest]
#[case::one("name: a\ndescription: d\ntarget_subject: cmd.tool.a", "a")]
#[case::documents(
    "name: a\ndescription: d\ntarget_subject: cmd.tool.a\n---\n---\ntool_name: b\ndescription: d\ntarget_subject: cmd.tool.b\n...\n",
    "a b"
)]
#[case::list(
    "- {name: a, description: d, target_subject: cmd.tool.a}\n- {name: b, description: d, target_subject: cmd.tool.b}",
    "a b"
)]
#[case::map(
    "tool:\n  a: {description: d, target_subject: cmd.tool.a}\n  b: {name: b, description: d, target_subject: cmd.tool.b}",
    "a b"
)]
#[case::mixed(
    "tool: {a: {description: d, target_subject: cmd.tool.a}}\n---\nname: b\ndescription: d\ntarget_subject: cmd.tool.b",
    "a b"
)]
#[case::service_and_tool(
    "tool: {a: {description: d, service: s}}\ntool-service: {s: {request-queue: x, response-queue: y}}",
    "a"
)]
#[case::service_in_a_later_document(
    "{name: a, description: d, service: s}\n---\n{id: s, request_queue: x, response_queue: y}",
    "a"
)]
#[case::json(
    "{\"name\": \"a\", \"description\": \"d\", \"target_subject\": \"cmd.tool.a\"}",
    "a"
)]
#[case::byte_order_mark("\u{feff}name: a\ndescription: d\ntarget_subject: cmd.tool.a", "a")]
#[case::windows_lines("name: a\r\ndescription: d\r\ntarget_subject: cmd.tool.a\r\n", "a")]
fn uploads_have_many_shapes(#[case] text: &str, #[case] expected: &str) {
    let upload = upload(text).unwrap_or_else(|faults| panic!("{}", shown(&faults)));
    assert_eq!(shown(&others(upload.warnings)), "");
    let names: Vec<&str> = upload
        .tools
        .iter()
        .map(|tool| tool.definition.name.as_str())
        .collect();
    assert_eq!(names.join(" "), expected);
}

#[rstest]
#[case("options: {jina: {mode: search}}", "openapi")]
#[case("options: {http: {base_url: 'https://api.example.com'}}", "openapi")]
#[case("options: {jina: {mode: search}}\ntarget_subject: cmd.tool.x", "openapi")]
#[case("service: custom-rag\ncollection: c", "tool-service")]
#[case("target_subject: cmd.tool.x", "worker")]
#[case("type: text-completion", "text-completion")]
#[case("type: prompt\ntemplate: t", "prompt")]
fn the_type_is_what_is_evident(#[case] rest: &str, #[case] expected: &str) {
    assert_eq!(tool(&format!("name: a\ndescription: d\n{rest}")).kind, expected);
}

#[rstest]
#[case("type: knowledge-query\ncollection: c", json!({"collection": "c"}))]
#[case("type: knowledge-query\nconfig: {collection: c}", json!({"collection": "c"}))]
#[case("type: row-embeddings-query\nschema_name: s\nindex-name: i\nlimit: 5", json!({"schema-name": "s", "index-name": "i", "limit": 5}))]
#[case("type: mcp-tool\nmcp-tool: m", json!({"mcp_tool_id": "m"}))]
#[case("type: mcp-tool\nmcp_tool_id: m", json!({"mcp_tool_id": "m"}))]
#[case("service: custom-rag\ncollection: 100", json!({"collection": 100}))]
#[case("service: custom-rag\nconfig: {collection: [a]}", json!({"collection": ["a"]}))]
fn types_and_services_bring_keys(#[case] rest: &str, #[case] expected: Value) {
    assert_eq!(
        Value::Object(tool(&format!("name: a\ndescription: d\n{rest}")).config),
        expected
    );
}

#[rstest]
#[case("group: []", Some(vec![]))]
#[case("", None)]
#[case("group: [no, 'on', b/c]", Some(vec!["no", "on", "b/c"]))]
#[case("group:\n- x\n- x\n- y", Some(vec!["x", "y"]))]
fn absent_and_empty_groups_stay_apart(#[case] group: &str, #[case] expected: Option<Vec<&str>>) {
    let tool = tool(&format!(
        "name: a\ndescription: d\ntarget_subject: cmd.tool.a\n{group}"
    ));
    assert_eq!(
        tool.group,
        expected.map(|names| names.into_iter().map(String::from).collect())
    );
}

#[test]
fn a_string_stays_a_string_where_other_yaml_readers_see_a_boolean() {
    let tool = tool("name: no\ndescription: on\ntarget_subject: cmd.tool.yes\nstate: off");
    assert_eq!(
        (
            tool.name.as_str(),
            tool.description.as_str(),
            tool.state.as_deref()
        ),
        ("no", "on", Some("off"))
    );
}

#[test]
fn arguments_become_a_schema_in_their_order() {
    let tool = tool(
        "name: a\ndescription: d\ntarget_subject: cmd.tool.a\narguments:\n\
         - {name: z, type: integer, description: Z}\n\
         - {name: b, type: array, description: B, items: {type: string}, required: false}\n\
         - {name: c, type: string, description: C, enum: [x, y]}\n",
    );
    let text = serde_json::to_string(&tool.parameters).expect("JSON");
    assert_eq!(
        text,
        "{\"type\":\"object\",\"properties\":{\
         \"z\":{\"type\":\"integer\",\"description\":\"Z\"},\
         \"b\":{\"type\":\"array\",\"description\":\"B\",\"items\":{\"type\":\"string\"}},\
         \"c\":{\"type\":\"string\",\"description\":\"C\",\"enum\":[\"x\",\"y\"]}},\
         \"required\":[\"z\",\"c\"]}"
    );
}

#[rstest]
#[case("type: knowledge-query", "question")]
#[case("type: row-embeddings-query", "query")]
#[case("options: {jina: {mode: ' Search '}}", "query")]
#[case("options: {jina: {mode: CRAWL}}", "url")]
#[case("options: {jina: {base_url: 'https://r.jina.ai'}}", "url")]
fn known_arguments_need_not_be_written(#[case] rest: &str, #[case] argument: &str) {
    let parameters = tool(&format!("name: a\ndescription: d\n{rest}"))
        .parameters
        .value();
    assert_eq!(parameters["required"], json!([argument]));
}

#[test]
fn aliases_and_merge_keys_are_followed() {
    let upload = upload(
        "- &base {name: a, description: d, target_subject: cmd.tool.a, group: &g [x, y]}\n\
         - {<<: *base, name: b, group: *g}\n\
         - name: c\n  <<: [{state: s}, *base]\n",
    )
    .expect("three tools");
    let third = &upload.tools[2].definition;
    assert_eq!(upload.tools[1].definition.group, upload.tools[0].definition.group);
    assert_eq!(
        (
            third.name.as_str(),
            third.state.as_deref(),
            third.description.as_str()
        ),
        ("c", Some("s"), "d")
    );
}

#[test]
fn an_upload_may_name_the_revision_it_replaces() {
    let upload =
        upload("name: a\ndescription: d\ntarget_subject: cmd.tool.a\nexpect_revision: 3").expect("a tool");
    assert_eq!(upload.tools[0].expect_revision, Some(3));
}

#[test]
fn a_json_value_is_checked_with_pointers() {
    let good = json!({"name": "a", "description": "d", "target_subject": "cmd.tool.a"});
    let (definition, warnings) = with_context(|context| check_tool(&good, context)).expect("a tool");
    assert_eq!((definition.kind.as_str(), others(warnings)), ("worker", vec![]));

    let bad = json!({
        "name": "a", "description": "d", "target_subject": "cmd.tool.a", "grup": [], "expect_revision": 1,
        "parameters": {"properties": {"a/b": {"type": "strin"}}},
    });
    let faults = with_context(|context| check_tool(&bad, context)).expect_err("three faults");
    let mut pointers: Vec<&str> = faults
        .iter()
        .filter_map(|fault| fault.pointer.as_deref())
        .collect();
    pointers.sort_unstable();
    assert_eq!(
        pointers,
        ["/expect_revision", "/grup", "/parameters/properties/a~1b/type"],
        "{}",
        shown(&faults)
    );

    for (value, why) in [
        (json!([]), "not a list"),
        (json!(null), "not null"),
        (json!("x"), "not a string"),
    ] {
        let faults = with_context(|context| check_tool(&value, context)).expect_err("no object");
        assert!(faults[0].message.contains(why), "{}", shown(&faults));
    }
    let mut deep = json!(1);
    for _ in 0..200 {
        deep = json!([deep]);
    }
    let faults =
        with_context(|context| check_tool(&json!({"name": "a", "group": deep}), context)).expect_err("deep");
    assert!(faults[0].message.contains("64 levels"), "{}", shown(&faults));
}

#[test]
fn a_tool_is_enabled_unless_it_says_otherwise() {
    let text = |extra: &str| format!("name: a\ndescription: d\ntarget_subject: cmd.tool.a\n{extra}");
    assert!(tool(&text("")).enabled);
    assert_eq!(
        tool(&text("enabled: true")),
        tool(&text("")),
        "the canonical form leaves it out"
    );
    let disabled = tool(&text("enabled: false"));
    assert!(!disabled.enabled);
    assert!(crate::definition::to_yaml(&disabled).contains("\nenabled: false\n"));
    assert_eq!(
        serde_json::to_value(tool(&text(""))).unwrap().get("enabled"),
        None,
        "a revision from before the key existed means the same"
    );
}
