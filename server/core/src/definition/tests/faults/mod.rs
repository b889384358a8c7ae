//! One table for each group of rules: what is refused, where, and with which hint.

mod arguments;
mod places;
mod requests;
mod services;
mod static_answers;
mod tools;

use rstest::rstest;

use super::*;

/// Checks that one error is there with this beginning of its message and this part of its hint.
fn refused(text: &str, message: &str, hint: &str) {
    let faults = errors(text);
    let found = faults.iter().any(|fault| {
        fault.message.contains(message) && fault.hint.as_deref().unwrap_or_default().contains(hint)
    });
    assert!(
        found,
        "{text}\nexpected: {message} ({hint})\nfound: {}",
        shown(&faults)
    );
    assert!(
        faults
            .iter()
            .all(|fault| fault.line.is_some() && fault.column.is_some()),
        "{}",
        shown(&faults)
    );
}

/// The same for a worker that is right but for `rest`; nothing else may be reported.
fn worker(rest: &str, message: &str, hint: &str) {
    let text = format!("name: a\ndescription: d\ntarget_subject: cmd.tool.a\n{rest}");
    refused(&text, message, hint);
    assert_eq!(errors(&text).len(), 1, "{}", shown(&errors(&text)));
}

fn openapi(options: &str, message: &str, hint: &str) {
    let text = format!(
        "name: a\ndescription: d\nparameters: {{type: object, properties: {{id: {{}}}}}}\noptions: {options}"
    );
    refused(&text, message, hint);
    assert_eq!(errors(&text).len(), 1, "{}", shown(&errors(&text)));
}

#[test]
fn all_faults_are_reported_at_once_in_the_order_of_the_text() {
    let faults = errors(
        "tool_name: launch_principal\ngrup: [x]\ngroup: x\nafter_execution: stop\n\
         target_subject: cg.v1r4.other.c.cmd.tool.a.b\nparameters:\n  type: object\n  properties:\n    \
         ids: {type: array}\n    ids: {}\n---\nname: b\ndescription: d\noptions:\n  jina: {mode: serch, auth_env: HOME}\n",
    );
    assert_eq!(
        shown(&faults),
        "1:12 the name \"launch_principal\" is reserved (choose a name other than delegate_async, launch_principal, \
         ask_expert, fork_join, provision_agent and submit_result)\n\
         2:1 unknown key \"grup\" in a tool (did you mean \"group\"?)\n\
         3:8 \"group\" must be a list of names, not a string (write [x])\n\
         4:18 unknown \"after_execution\" \"stop\" (write suspend or terminate)\n\
         5:17 the subject belongs to project \"other\", not to demo (write {project_id} as its third token)\n\
         9:10 an array needs \"items\" that say what it holds (write items: {type: string}, for example)\n\
         10:5 duplicate key \"ids\" (it is in line 9 already; keep one of them)\n\
         15:16 unknown mode \"serch\" (did you mean \"search\"?)\n\
         15:33 definitions may not use the environment variable HOME (an administrator can allow it: add HOME to \
         TOOLGATE_TOOL_ENV)"
    );
}

#[rstest]
#[case("", "no tool and no tool service", "write name")]
#[case("---\n---\n", "no tool", "")]
#[case("# nothing\n", "no tool", "")]
#[case("null", "no tool", "")]
#[case("[]", "no tool", "")]
#[case("tool: {}", "no tool", "")]
#[case("just text", "a tool is a map, not a string", "write name")]
#[case("- 1", "a tool is a map, not a number", "")]
#[case("tool: [a]", "\"tool\" must be a map, not a list", "")]
#[case("tool: {a: b}", "tool \"a\" is a map, not a string", "")]
#[case(
    "tools: {a: {type: prompt}}",
    "unknown key \"tools\"",
    "did you mean \"tool\"?"
)]
#[case(
    "tool: {a: {type: text-completion}}\nname: b",
    "unknown key \"name\" in the upload",
    "tool and tool-service"
)]
fn shapes(#[case] text: &str, #[case] message: &str, #[case] hint: &str) {
    refused(text, message, hint);
}

#[rstest]
#[case("name: a\nname: b", "duplicate key \"name\"", "line 1")]
#[case("a: {b: 1, b: 2, b: 3}", "duplicate key \"b\"", "keep one")]
#[case("name: !env HOME", "unknown tag \"!env\"", "quote")]
#[case(
    "name: !!python/object:os.system x",
    "unknown tag \"!!python/object:os.system\"",
    ""
)]
#[case("name: !!int abc", "does not fit its tag \"!!int\"", "")]
#[case("group: !!set {a, b}", "unknown tag \"!!set\"", "")]
#[case("1: x", "keys must be strings, not a number", "quote it: \"1\"")]
#[case("true: x", "keys must be strings, not a boolean", "quote it: \"true\"")]
#[case("? [a]\n: x", "keys must be strings, not a list", "")]
#[case("name: {{ value }}", "keys must be strings, not a map", "begins with {")]
#[case("limit: .inf", ".inf is no JSON number", "quote it")]
#[case("limit: 1e999", "too large", "quote it")]
#[case("name: *x", "unknown alias \"*x\"", "&x must stand before")]
#[case("<<: 1", "a merge key needs a map", "<<: *anchor")]
#[case("name: a\n\tgroup: [b]", "the YAML cannot be read", "spaces, not tabs")]
#[case("description: a: b", "the YAML cannot be read", "quote a text")]
#[case("name: \"a", "the YAML cannot be read", "close the quote")]
#[case("group: [a, b", "the YAML cannot be read", "")]
#[case("name: @a", "the YAML cannot be read", "quote a text")]
fn yaml(#[case] text: &str, #[case] message: &str, #[case] hint: &str) {
    refused(text, message, hint);
}

#[test]
fn faults_before_a_broken_line_are_reported_too() {
    let faults = errors("name: a b\ntype: promt\n---\nname: 'x\n");
    let text = shown(&faults);
    assert!(
        text.contains("1:7 \"a b\" is not a valid tool name") && text.contains("close the quote"),
        "{text}"
    );
}

#[test]
fn json_faults_have_places_too() {
    let faults = upload_as(
        TextFormat::Json,
        "{\n\t\"name\": \"a\",\n\t\"name\": \"b\", \"grup\": []\n}",
    )
    .expect_err("faults");
    let text = shown(&faults);
    assert!(
        text.contains("3:2 duplicate key \"name\" (it is in line 2 already"),
        "{text}"
    );
    assert!(text.contains("3:15 unknown key \"grup\""), "{text}");
}
