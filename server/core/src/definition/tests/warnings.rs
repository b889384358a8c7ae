//! What is accepted but should be corrected.

use rstest::rstest;

use super::*;
use crate::definition::ExecutorSet;

#[rstest]
#[case(
    "applicable-states: [x]",
    "5:20 \"applicable-states\" is another spelling of \"available_in_states\""
)]
#[case("applicable_states: [x]", "another spelling")]
#[case("group: ['*']", "ordinary name")]
#[case("state: 'a\nb'", "6:1 a text in quotes goes on at the indentation of its key")]
#[case("group: [a, a]", "twice")]
#[case("state: ''", "does not move")]
#[case("state: '*'", "ordinary name")]
#[case("arguments: [{name: a, type: string}]", "no \"description\"")]
#[case(
    "parameters: {$schema: 'http://json-schema.org/draft-07/schema#'}",
    "read as JSON Schema 2020-12"
)]
#[case("options: {args: {defaults: {a: 1}}}", "no declared parameter")]
#[case(
    "options: {args: {defaults: {a: 1}, fixed: {a: 1}}}",
    "never used: a fixed value"
)]
#[case(
    "options: {args: {defaults: {a: 1}}, envs: {a: API_KEY}}",
    "never used: an environment variable"
)]
fn a_worker_with(#[case] rest: &str, #[case] expected: &str) {
    // The column of the first row shows that the place is that of the value.
    let upload = upload(&format!(
        "# A comment.\nname: a\ndescription: d\ntarget_subject: cmd.tool.a\n{rest}"
    ))
    .unwrap_or_else(|faults| panic!("{rest}: {}", shown(&faults)));
    let warnings = shown(&upload.warnings);
    assert!(warnings.contains(expected), "{rest}: {warnings}");
    assert!(
        upload
            .warnings
            .iter()
            .all(|warning| !warning.is_error() && warning.line.is_some()),
        "{warnings}"
    );
}

#[rstest]
#[case("name: a\ntarget_subject: cmd.tool.a", "no \"description\"")]
#[case("name: a\ndescription: d\ntype: mcp-tool", "no \"mcp_tool_id\"")]
#[case(
    "name: a\ndescription: d\noptions: {openapi: {mode: search}}",
    "former spelling"
)]
#[case(
    "name: a\ndescription: d\noptions: {jina: {mode: reader, path: /x}}",
    "no path"
)]
#[case(
    "tool-service: {s: {id: t, request-queue: a, response-queue: b}}",
    "id is its key \"s\""
)]
fn other_definitions(#[case] text: &str, #[case] expected: &str) {
    let warnings = upload(text)
        .unwrap_or_else(|faults| panic!("{text}: {}", shown(&faults)))
        .warnings;
    assert!(
        shown(&warnings).contains(expected),
        "{text}: {}",
        shown(&warnings)
    );
}

#[test]
fn a_title_becomes_the_description_of_a_tool_without_one() {
    let upload = upload("tool: {a: {name: A Title, target_subject: cmd.tool.a}}").expect("a tool");
    assert_eq!(upload.tools[0].definition.description, "A Title");
}

#[rstest]
#[case("type: worker\ntarget_subject: cmd.tool.a", "no message bus")]
#[case("target_subject: cmd.tool.a", "no message bus")]
#[case("type: mcp-tool\nmcp_tool_id: x", "no mcp_server")]
#[case("type: mcp\nmcp_server: s\nmcp_tool_id: x", "no MCP server")]
#[case("type: knowledge-query", "no executor for this type")]
#[case("type: prompt\ntemplate: t", "no executor for this type")]
fn a_tool_that_nothing_executes(#[case] rest: &str, #[case] missing: &str) {
    let upload = upload(&format!("name: a\ndescription: d\n{rest}")).expect("stored all the same");
    let warnings = shown(&upload.warnings);
    assert!(
        warnings.contains("nothing executes tools of type") && warnings.contains(missing),
        "{rest}: {warnings}"
    );
    let definition = &upload.tools[0].definition;
    assert!(definition.executed_by(ExecutorSet::BUILT_IN).is_err());
}
