//! What the specifications and this repository show as examples.

use serde_json::json;
use toolgate_api::tools::AfterExecution;

use super::*;
use crate::definition::model::JinaMode;

const GROUPS_5_1: &str = r#"
tool:
  knowledge-query:
    type: knowledge-query
    name: "Knowledge Graph Query"
    description: "Query the knowledge graph for entities and relationships"
    group: ["read-only", "knowledge", "basic"]
    state: "analysis"
    available_in_states: ["undefined", "research"]
  graph-update:
    type: graph-update
    name: "Graph Update"
    description: "Add or modify entities in the knowledge graph"
    group: ["write", "knowledge", "admin"]
    available_in_states: ["analysis", "modification"]
  text-completion:
    type: text-completion
    name: "Text Completion"
    description: "Generate text using language models"
    group: ["read-only", "text", "basic"]
    state: "undefined"
    # No available_in_states = available in all states
  complex-analysis:
    type: mcp-tool
    name: "Complex Analysis Tool"
    description: "Perform complex data analysis"
    group: ["advanced", "compute", "expensive"]
    state: "results"
    available_in_states: ["analysis"]
    mcp_tool_id: "analysis-server"
  reset-workflow:
    type: mcp-tool
    name: "Reset Workflow"
    description: "Reset to initial state"
    group: ["admin"]
    state: "undefined"
    available_in_states: ["analysis", "results"]
"#;

#[test]
fn the_tools_of_the_group_specification_are_read_and_their_keys_are_their_names() {
    let upload = upload(GROUPS_5_1).expect("the specification's own example");
    let names: Vec<&str> = upload
        .tools
        .iter()
        .map(|tool| tool.definition.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "knowledge-query",
            "graph-update",
            "text-completion",
            "complex-analysis",
            "reset-workflow"
        ]
    );
    let first = &upload.tools[0].definition;
    assert_eq!(
        first.group.as_deref(),
        Some(["read-only", "knowledge", "basic"].map(String::from).as_slice())
    );
    assert_eq!(first.state.as_deref(), Some("analysis"));
    assert_eq!(
        first.available_in_states.as_deref(),
        Some(["undefined", "research"].map(String::from).as_slice())
    );
    assert_eq!(upload.tools[2].definition.available_in_states, None);
    assert_eq!(
        upload.tools[3].definition.config["mcp_tool_id"],
        "analysis-server"
    );
    let warnings = shown(&upload.warnings);
    assert!(
        warnings
            .contains("5:11 the tool's name is its key \"knowledge-query\", not \"Knowledge Graph Query\""),
        "{warnings}"
    );
    assert!(warnings.contains("no \"mcp_tool_id\""), "{warnings}");
    assert_eq!(
        upload.warnings.len(),
        6 + 5 + 2,
        "nothing executes any of them, and two name no server: {warnings}"
    );
}

#[test]
fn the_joke_service_of_the_tool_services_specification_is_read_as_json() {
    let service = r#"{
  "id": "joke-service",
  "request-queue": "non-persistent://tg/request/joke",
  "response-queue": "non-persistent://tg/response/joke",
  "config-params": [{"name": "style", "required": false}]
}"#;
    let tool = r#"{
  "type": "tool-service",
  "name": "tell-joke",
  "description": "Tell a joke on a given topic",
  "service": "joke-service",
  "style": "pun",
  "arguments": [
    {"name": "topic", "type": "string", "description": "The topic for the joke"}
  ]
}"#;
    let both = upload_as(TextFormat::Json, format!("[{service}, {tool}]")).expect("both");
    assert_eq!(others(both.warnings), []);
    assert_eq!(both.services[0].config_params[0].name, "style");
    assert!(!both.services[0].config_params[0].required);
    let tool = &both.tools[0].definition;
    assert_eq!(tool.config.get("style"), Some(&json!("pun")));
    assert_eq!(
        tool.parameters.value(),
        json!({
            "type": "object",
            "properties": {"topic": {"type": "string", "description": "The topic for the joke"}},
            "required": ["topic"],
        })
    );
}

#[test]
fn the_options_of_the_tool_development_guide_are_read() {
    let tool = tool(
        r#"
tool_name: search
description: Search.
target_subject: cg.v1r4.{project_id}.{channel_id}.cmd.tool.openapi.search
after_execution: suspend
parameters: {type: object, properties: {query: {type: string}}, required: [query]}
options: {
  "args": {
    "defaults": {"session_id": "{agent_turn_id}"},
    "fixed": {"project_id": "{project_id}"}
  },
  "envs": {"api_key": "API_KEY"},
  "jina": {
    "mode": "search",
    "base_url": "https://s.jina.ai",
    "path": "/search",
    "method": "GET",
    "auth_env": "JINA_API_KEY"
  }
}
"#,
    );
    assert_eq!(tool.kind, "openapi");
    assert_eq!(tool.after_execution, Some(AfterExecution::Suspend));
    assert_eq!(tool.options.args.defaults["session_id"], "{agent_turn_id}");
    assert_eq!(tool.options.args.fixed["project_id"], "{project_id}");
    assert_eq!(tool.options.envs["api_key"], "API_KEY");
    let jina = tool.options.jina.expect("jina");
    assert_eq!(
        (jina.mode, jina.auth_env.as_deref()),
        (JinaMode::Search, Some("JINA_API_KEY"))
    );
}

#[test]
fn every_example_of_this_repository_is_accepted_without_a_warning() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi/examples");
    let project = ProjectId::parse("demo").expect("a slug");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder of examples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let text = std::fs::read(&path).expect("the example");
        let context = UploadContext {
            project: &project,
            env_allowed: &|_| true,
            existing_services: &|_| None,
            executes: crate::definition::ExecutorSet::BUILT_IN,
            subjects: None,
        };
        let upload = parse_upload(&text, TextFormat::Yaml, &context)
            .unwrap_or_else(|faults| panic!("{}:\n{}", path.display(), shown(&faults)));
        // The service of jokes is there for the form of the text: this server has no message bus.
        let warnings = others(upload.warnings);
        assert!(warnings.is_empty(), "{}:\n{}", path.display(), shown(&warnings));
        count += 1;
    }
    assert!(count >= 3, "knowledge-workflow, jina and joke-service are there");
}
