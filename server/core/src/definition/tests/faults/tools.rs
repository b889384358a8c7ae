//! Names, types, groups, states and subjects.

use rstest::rstest;

use super::{refused, worker};

#[rstest]
#[case("type: prompt\ntemplate: t", "the tool has no \"name\"", "write name")]
#[case("name: a\ntool_name: a", "two spellings of one thing", "keep \"name\" only")]
#[case(
    "name: Knowledge Graph Query",
    "not a valid tool name",
    "\"knowledge-graph-query\""
)]
#[case("name: ''", "not a valid tool name", "1-128")]
#[case("name: 1.10", "\"name\" must be a string, not a number", "quote it: \"1.10\"")]
#[case("name: null", "\"name\" must be a string, not null", "")]
#[case(
    "name: a\ndescription: null",
    "\"description\" must be a string, not null",
    ""
)]
#[case(
    "name: a\nenabled: no",
    "\"enabled\" must be true or false, not a string",
    "write false"
)]
#[case("name: a\nenabeld: false", "unknown key \"enabeld\"", "\"enabled\"")]
#[case("name: delegate_async", "reserved", "choose")]
#[case("tool: {submit_result: {type: text-completion}}", "reserved", "choose")]
#[case("tool: {a b: {type: text-completion}}", "not a valid tool name", "")]
#[case(
    "[{name: a, type: prompt, template: t}, {name: a, type: prompt, template: t}]",
    "duplicate tool \"a\"",
    "line 1 already"
)]
#[case(
    "tool: {a: {type: text-completion}}\n---\nname: a\ntype: text-completion",
    "duplicate tool \"a\"",
    "line 1"
)]
#[case("name: a", "nothing says how the tool is executed", "options.jina")]
#[case("name: a\ntype: promt", "unknown type \"promt\"", "did you mean \"prompt\"?")]
#[case("name: a\ntype: magic", "unknown type \"magic\"", "types are openapi")]
#[case("name: a\ntype: worker", "needs a \"target_subject\"", "cmd.tool")]
#[case("name: a\ntype: openapi", "needs its request", "options.jina")]
#[case("name: a\ntype: tool-service", "needs a \"service\"", "write service")]
#[case("name: a\ntype: prompt", "the tool has no \"template\"", "write template")]
#[case(
    "name: a\ntype: text-completion\ncollection: c",
    "takes no \"collection\"",
    "knowledge-query"
)]
#[case(
    "name: a\ntype: text-completion\noptions: {jina: {mode: search}}",
    "sends no HTTP request",
    "type: openapi"
)]
#[case(
    "name: a\ntype: prompt\ntemplate: t\nservice: custom-rag",
    "refers to no service",
    "tool-service"
)]
#[case(
    "name: a\ntype: row-embeddings-query\nlimit: 0",
    "an integer from 1 to 10000, not 0",
    ""
)]
#[case(
    "name: a\ntype: mcp-tool\nmcp-tool: x\nmcp_tool_id: y",
    "set the same thing",
    "keep one"
)]
#[case(
    "name: a\ntype: knowledge-query\ncollection: c\nconfig: {collection: c}",
    "set the same thing",
    "keep one"
)]
fn tools(#[case] text: &str, #[case] message: &str, #[case] hint: &str) {
    refused(text, message, hint);
}

#[rstest]
#[case("grup: [a]", "unknown key \"grup\"", "did you mean \"group\"?")]
#[case("groups: [a]", "unknown key \"groups\"", "did you mean \"group\"?")]
#[case("colour: red", "unknown key \"colour\"", "known keys are")]
#[case(
    "group: null",
    "\"group\" must not be null",
    "leave it out for the group \"default\", or write []"
)]
#[case("group: x", "must be a list of names, not a string", "write [x]")]
#[case("group: {a: b}", "must be a list of names, not a map", "")]
#[case("group: [1]", "\"group\" must be a string, not a number", "quote it: \"1\"")]
#[case("group: [true]", "\"group\" must be a string, not a boolean", "quote it")]
#[case("group: ['']", "\"group\" must not be empty", "")]
#[case("group: [' a']", "begin or end with a blank", "")]
#[case("group: [\"a\\nb\"]", "control characters", "")]
#[case("state: null", "\"state\" must not be null", "leave it out")]
#[case("state: [a]", "\"state\" must be a string, not a list", "")]
#[case("available_in_states: null", "must not be null", "for every state")]
#[case("available_in_states: x", "must be a list", "write [x]")]
#[case("available_in_states: '*'", "must be a list", "write [\"*\"]")]
#[case("group: 'a, b'", "must be a list", "write [\"a, b\"]")]
#[case("group: 'true'", "must be a list", "write [\"true\"]")]
#[case(
    "available_in_states: [a]\napplicable-states: [a]",
    "two spellings",
    "keep \"available_in_states\""
)]
#[case(
    "after_execution: Suspend",
    "unknown \"after_execution\"",
    "did you mean \"suspend\"?"
)]
#[case("after_execution: false", "must be a string", "")]
#[case("title: ''", "\"title\" must not be empty", "")]
#[case("title: 7", "must be a string", "quote it")]
#[case("annotations: [readOnlyHint]", "must be a map", "")]
#[case(
    "annotations: {readOnlyHnt: true}",
    "unknown key \"readOnlyHnt\" in annotations",
    "\"readOnlyHint\""
)]
#[case("annotations: {readOnlyHint: yes}", "must be true or false", "write true")]
#[case("expect_revision: '1'", "must be an integer from 0", "without quotes")]
#[case("expect_revision: -1", "must be an integer from 0, not -1", "")]
#[case("parameters: {}\narguments: []", "two spellings", "keep \"parameters\"")]
#[case("options: null", "\"options\" must be a map, not null", "leave the key out")]
#[case(
    "options: {retries: 3}",
    "unknown key \"retries\" in options",
    "known keys are"
)]
#[case("options: {timeout: 3}", "unknown key \"timeout\" in options", "timeout_ms")]
#[case("options: {timeout_ms: 0}", "an integer from 1 to 300000", "")]
#[case("options: {timeout_ms: 300001}", "an integer from 1 to 300000", "")]
#[case("options: {timeout_ms: 1.5}", "an integer from 1 to 300000", "")]
#[case(
    "options: {args: {default: {}}}",
    "unknown key \"default\" in args",
    "did you mean \"defaults\"?"
)]
#[case("options: {args: {fixed: []}}", "\"fixed\" must be a map", "")]
#[case(
    "options: {args: {fixed: {a: '{user}'}}}",
    "unknown template variable {user}",
    "{turn_epoch}"
)]
#[case(
    "options: {args: {defaults: {a: '{user}'}}}",
    "unknown template variable {user}",
    "{{user}} for the literal"
)]
#[case(
    "options: {args: {fixed: {a: [{b: '{user}'}]}}}",
    "unknown template variable {user}",
    ""
)]
#[case(
    "options: {args: {fixed: {a: {password: s3cret}}}}",
    "looks like a secret",
    "options.envs"
)]
#[case(
    "options: {args: {fixed: {api_key: s3cret}}}",
    "looks like a secret",
    "options.envs"
)]
#[case(
    "options: {args: {fixed: {a: ghp_0123456789abcdef0123}}}",
    "looks like a secret",
    "options.envs"
)]
#[case(
    "options: {envs: {a: HOME}}",
    "may not use the environment variable HOME",
    "TOOLGATE_TOOL_ENV"
)]
#[case(
    "options: {envs: {a: sk-123}}",
    "is not a name of an environment variable",
    "not its value"
)]
#[case("options: {envs: {a: 1}}", "must be a string", "")]
#[case(
    "options: {envs: {a: API_KEY}, args: {fixed: {a: 1}}}",
    "both fixed and an environment parameter",
    "keep one"
)]
#[case(
    "parameters: {additionalProperties: false}\noptions: {args: {fixed: {a: 1}}}",
    "no declared parameter",
    "parameters.properties"
)]
fn keys_of_every_tool(#[case] rest: &str, #[case] message: &str, #[case] hint: &str) {
    worker(rest, message, hint);
}

#[rstest]
#[case("cmd.sys.pmo.internal.x", "cmd.sys", "cmd.tool")]
#[case("foo.cmd.tool.bar", "not the subject", "cg.v1r4")]
#[case("cmd.tool.*", "wildcards", "cg.v1r4")]
#[case("cg.v1r4.other.c.cmd.tool.a.b", "belongs to project", "{project_id}")]
fn subjects(#[case] subject: &str, #[case] message: &str, #[case] hint: &str) {
    refused(
        &format!("name: a\ndescription: d\ntarget_subject: '{subject}'"),
        message,
        hint,
    );
}
