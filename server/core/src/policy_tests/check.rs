//! What a policy test must be.

use toolgate_api::explain::DecisionEffect;
use toolgate_api::policy_tests::PolicyTest;
use toolgate_api::{Diagnostic, ErrorCode};

use crate::ids::ToolName;
use crate::principal::PrincipalRef;

/// Longest name of a group or state, in characters.
const NAME: usize = 128;
/// Most groups of one list.
const GROUPS: usize = 1_000;
/// The path segment that runs the tests, so no test may have this name.
const RESERVED: &str = "run";
/// Longest note, in characters.
const NOTE: usize = 1_000;
/// Longest id in a context, in characters.
const CONTEXT: usize = 256;

/// The codes that a decision may have.
pub const CODES: [ErrorCode; 7] = [
    ErrorCode::InsufficientToolGroups,
    ErrorCode::ToolNotFound,
    ErrorCode::ToolDisabled,
    ErrorCode::ToolUnavailable,
    ErrorCode::ToolNotInGroups,
    ErrorCode::GroupClosed,
    ErrorCode::ToolNotInState,
];

/// Every fault of a test, each with its JSON pointer. Empty: it may be stored. Whether its principal and its tool exist
/// is not asked: a test may expect that they do not.
#[must_use]
pub fn check(test: &PolicyTest) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let mut fault = |pointer: &str, message: String, hint: &str| {
        let diagnostic = Diagnostic::error(message).at_pointer(pointer);
        faults.push(if hint.is_empty() {
            diagnostic
        } else {
            diagnostic.hint(hint)
        });
    };
    if ToolName::parse(test.name.as_str()).is_err() {
        fault(
            "/name",
            "is not a valid name of a policy test".to_owned(),
            "write 1-128 letters, digits, '.', '_' and '-'",
        );
    }
    if test.name == RESERVED {
        fault(
            "/name",
            format!("the name {RESERVED:?} is reserved"),
            "choose another",
        );
    }
    match (&test.principal, &test.granted) {
        (Some(_), Some(_)) => fault(
            "/granted",
            "\"principal\" and \"granted\" exclude each other".to_owned(),
            "keep one: a principal holds what it is granted when the test runs",
        ),
        (None, None) => fault(
            "",
            "neither \"principal\" nor \"granted\" is given".to_owned(),
            "say who calls, or which groups the caller holds; granted: [] is a caller without any",
        ),
        (Some(principal), None) if PrincipalRef::parse(principal).is_none() => fault(
            "/principal",
            "is not a principal".to_owned(),
            "write user:<id>, service_key:<id> or external:<issuer>|<subject>",
        ),
        _ => {}
    }
    for (key, groups) in [("granted", &test.granted), ("group", &test.group)] {
        let groups = groups.as_deref().unwrap_or_default();
        if groups.len() > GROUPS {
            fault(&format!("/{key}"), format!("has more than {GROUPS} names"), "");
        }
        for (at, group) in groups.iter().enumerate().take(GROUPS) {
            if too_long(group, NAME) {
                fault(
                    &format!("/{key}/{at}"),
                    format!("has more than {NAME} characters"),
                    "",
                );
            }
        }
    }
    for (key, text, limit) in [
        ("state", test.state.as_deref(), NAME),
        ("tool", Some(test.tool.as_str()), NAME),
        ("note", test.note.as_deref(), NOTE),
    ] {
        if text.is_some_and(|text| too_long(text, limit)) {
            fault(
                &format!("/{key}"),
                format!("has more than {limit} characters"),
                "",
            );
        }
    }
    if test.tool.is_empty() {
        fault("/tool", "must not be empty".to_owned(), "name a tool");
    }
    for (key, text) in context_ids(test) {
        if text.is_some_and(|text| too_long(text, CONTEXT)) {
            fault(
                &format!("/context/{key}"),
                format!("has more than {CONTEXT} characters"),
                "",
            );
        }
    }
    match (test.expect.effect, test.expect.code) {
        (DecisionEffect::Allow, Some(_)) => fault(
            "/expect/code",
            "an allowed call has no code".to_owned(),
            "remove the code, or expect deny",
        ),
        (DecisionEffect::Deny, Some(code)) if !CODES.contains(&code) => fault(
            "/expect/code",
            format!("no decision has the code {code}"),
            "write one of insufficient_tool_groups, tool_not_found, tool_disabled, tool_not_in_groups, group_closed \
             and tool_not_in_state",
        ),
        _ => {}
    }
    faults
}

fn too_long(text: &str, limit: usize) -> bool {
    text.chars().nth(limit).is_some()
}

fn context_ids(test: &PolicyTest) -> impl Iterator<Item = (&'static str, Option<&str>)> {
    test.context.iter().flat_map(|context| {
        [
            ("channel_id", context.channel_id.as_deref()),
            ("agent_id", context.agent_id.as_deref()),
            ("agent_turn_id", context.agent_turn_id.as_deref()),
            ("step_id", context.step_id.as_deref()),
            ("tool_call_id", context.tool_call_id.as_deref()),
            ("parent_step_id", context.parent_step_id.as_deref()),
            ("trace_id", context.trace_id.as_deref()),
            ("context_box_id", context.context_box_id.as_deref()),
        ]
    })
}
