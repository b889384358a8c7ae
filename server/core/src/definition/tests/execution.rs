//! What executes which definition.

use rstest::rstest;

use super::*;
use crate::definition::{Destination, ExecutorKind, ExecutorSet, tool_types};

const HTTP: &str = "options: {http: {base_url: 'https://a.example', auth: {env: API_KEY}, probe: {path: /healthz, interval_s: 30}}}";
const JINA: &str =
    "options: {jina: {mode: search, base_url: 'https://eu.s.jina.ai', auth_env: JINA_API_KEY}}";

#[rstest]
#[case::http(HTTP, ExecutorKind::Http, Some("/options/http/base_url"), &["API_KEY"], true)]
#[case::oauth(
    "options: {http: {base_url: 'https://a.example', auth: {client: {token_url: 'https://a.example/t', client_id: API_KEY, client_secret: 'secret:S'}}}}",
    ExecutorKind::Http, Some("/options/http/base_url"), &["API_KEY", "secret:S"], false
)]
#[case::jina(JINA, ExecutorKind::Jina, Some("/options/jina/base_url"), &["JINA_API_KEY"], false)]
#[case::plain_jina("options: {jina: {mode: search}}", ExecutorKind::Jina, None, &[], false)]
#[case::fixed("options: {static: {result: 1}}", ExecutorKind::Static, None, &[], false)]
#[case::worker("target_subject: cmd.tool.a", ExecutorKind::Bus, None, &[], false)]
#[case::service("service: custom-rag\ncollection: c", ExecutorKind::Service, None, &[], false)]
#[case::mcp("type: mcp\nmcp_server: s\nmcp_tool_id: m", ExecutorKind::Mcp, None, &[], false)]
#[case::management("type: management\noperation: mcp_list_services", ExecutorKind::Management, None, &[], false)]
#[case::other("type: text-completion", ExecutorKind::Other, None, &[], false)]
fn definitions_say_what_executes_them(
    #[case] rest: &str,
    #[case] kind: ExecutorKind,
    #[case] pointer: Option<&str>,
    #[case] sources: &[&str],
    #[case] probe: bool,
) {
    let definition = tool(&format!("name: a\ndescription: d\n{rest}"));
    assert_eq!(definition.executor_kind(), kind);
    let execution = definition.execution();
    let destination = execution.and_then(Execution::destination);
    assert_eq!(destination.map(|to| to.pointer), pointer);
    if let Some(Destination { pointer, base_url }) = destination {
        let stored = serde_json::to_value(&definition).expect("JSON");
        assert_eq!(
            stored.pointer(pointer).and_then(serde_json::Value::as_str),
            Some(base_url)
        );
    }
    let named: Vec<&str> = execution.into_iter().flat_map(Execution::value_sources).collect();
    assert_eq!(named, sources);
    assert_eq!(execution.and_then(Execution::probe).is_some(), probe);
    assert_eq!(
        definition.executed_by(ExecutorSet::BUILT_IN).is_ok(),
        ExecutorSet::BUILT_IN.contains(kind)
    );
}

#[test]
fn an_mcp_tool_has_its_own_name_there_unless_it_says_another() {
    for (rest, expected) in [("", "a"), ("\nmcp_tool_id: m", "m")] {
        let definition = tool(&format!(
            "name: a\ndescription: d\ntype: mcp\nmcp_server: s{rest}"
        ));
        let Some(Execution::Mcp(call)) = definition.execution() else {
            panic!("not of an MCP server")
        };
        assert_eq!((call.server, call.tool), ("s", expected));
    }
}

#[test]
fn the_type_of_the_specification_is_read_as_the_same() {
    let read = |kind: &str| tool(&format!("name: a\ndescription: d\ntype: {kind}\nmcp_server: s"));
    assert_eq!(read("mcp-tool"), read("mcp"));
    let evident = tool("name: a\ndescription: d\nmcp_server: s");
    assert_eq!(evident, read("mcp"));
    let nameless = tool("name: a\ndescription: d\ntype: mcp-tool\nmcp_tool_id: m");
    let with_servers = ExecutorSet::BUILT_IN.with(ExecutorKind::Mcp);
    let why = nameless
        .executed_by(with_servers)
        .expect_err("no server is named");
    assert!(why.to_string().contains("names no mcp_server"), "{why}");
}

#[test]
fn what_a_server_executes_is_its_own_matter() {
    let definition = tool("name: a\ndescription: d\ntarget_subject: cmd.tool.a");
    let why = definition.executed_by(ExecutorSet::BUILT_IN).expect_err("no bus");
    assert_eq!(
        why.to_string(),
        "nothing executes tools of type \"worker\" here: this server is connected to no message bus: the operator sets TOOLGATE_NATS_URL"
    );
    let with_bus = ExecutorSet::BUILT_IN.with(ExecutorKind::Bus);
    assert!(definition.executed_by(with_bus).is_ok());
    let upload = |executes| {
        with_context(|context| {
            let context = UploadContext { executes, ..*context };
            let text = "name: a\ndescription: d\ntarget_subject: cmd.tool.a";
            parse_upload(text.as_bytes(), TextFormat::Yaml, &context).expect("accepted")
        })
    };
    assert_eq!(upload(with_bus).warnings, []);
    assert_eq!(upload(ExecutorSet::BUILT_IN).warnings.len(), 1);
}

#[test]
fn sets_have_what_was_put_in() {
    let all: ExecutorSet = ExecutorKind::ALL.into_iter().collect();
    let none: ExecutorSet = [].into_iter().collect();
    for (at, kind) in ExecutorKind::ALL.into_iter().enumerate() {
        assert_eq!(kind as usize, at, "the order of ALL is that of the declaration");
        assert!(all.contains(kind) && !none.contains(kind));
        assert!(none.with(kind).contains(kind));
    }
}

#[test]
fn every_type_says_whether_it_is_executed_and_what_is_missing() {
    let types: Vec<_> = tool_types(ExecutorSet::BUILT_IN).collect();
    let described = toolgate_api::tool_types::ALL;
    assert_eq!(types.len(), described.len());
    for (kind, missing) in types {
        let executed = ["openapi", "static", "management"].contains(&kind.name);
        assert_eq!(missing.is_none(), executed, "{}", kind.name);
        assert!(described.iter().any(|known| known.name == kind.name));
    }
    let with_bus = ExecutorSet::BUILT_IN.with(ExecutorKind::Bus);
    assert!(tool_types(with_bus).any(|(kind, missing)| kind.name == "worker" && missing.is_none()));
}
