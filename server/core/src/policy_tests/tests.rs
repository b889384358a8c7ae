//! What a test must be, how it is read, and which tests a change breaks.

use std::collections::HashMap;

use chrono::TimeDelta;
use rstest::rstest;
use toolgate_api::ErrorCode;

use super::*;
use crate::definition::{TextFormat, parse_policy_tests};
use crate::snapshot::testing::{grant, project, tool};

const USER: &str = "user:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11";

fn read(text: &str) -> Vec<PolicyTest> {
    parse_policy_tests(text.as_bytes(), TextFormat::Yaml).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// Grants by the text of their principal; the user's expires at [`noon`].
struct Grants(HashMap<&'static str, GroupSet>);

impl GrantLookup for Grants {
    fn grant_of(&self, principal: &PrincipalRef, at: DateTime<Utc>) -> Option<GroupSet> {
        let held = self.0.get(principal.to_string().as_str()).cloned();
        held.filter(|_| at < noon())
    }
}

fn noon() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::hours(12)
}

#[test]
fn a_list_of_tests_is_read() {
    let tests = read(&format!(
        "- name: a
  granted: [knowledge]
  group: [knowledge/read]
  state: analysis
  tool: write
  at: 2027-03-28T01:30:00+02:00
  context: {{agent_id: ada, turn_epoch: 3}}
  expect: {{effect: deny, code: tool_not_in_state}}
  note: No writing in the analysis.
- {{name: b, principal: \"{USER}\", tool: read, expect: allow}}
- {{name: c, granted: [], group: [], tool: read, expect: deny}}
"
    ));
    assert_eq!(tests.len(), 3);
    let [a, b, c] = &tests[..] else { unreachable!() };
    assert_eq!(
        serde_json::to_value(a).unwrap(),
        serde_json::json!({
            "name": "a", "granted": ["knowledge"], "group": ["knowledge/read"], "state": "analysis", "tool": "write",
            "at": "2027-03-27T23:30:00Z", "context": {"agent_id": "ada", "turn_epoch": 3},
            "expect": {"effect": "deny", "code": "tool_not_in_state"}, "note": "No writing in the analysis."
        })
    );
    assert_eq!((b.principal.as_deref(), &b.group), (Some(USER), &None));
    assert_eq!((&c.granted, &c.group), (&Some(Vec::new()), &Some(Vec::new())));
    // The same in the other shapes and formats.
    let json = serde_json::to_string(&tests).unwrap();
    assert_eq!(
        parse_policy_tests(json.as_bytes(), TextFormat::Json).unwrap(),
        tests
    );
    let one = "name: c\ngranted: []\ngroup: []\ntool: read\nexpect: deny\n";
    assert_eq!(read(one), tests[2..]);
    assert_eq!(
        read("policy_tests:\n- {name: c, granted: [], group: [], tool: read, expect: deny}\n"),
        tests[2..]
    );
    assert_eq!(read("[]"), []);
}

#[rstest]
#[case::nothing("", "no policy test", 1, 1)]
#[case::no_name("- {granted: [], tool: t, expect: deny}", "\"name\" is missing", 1, 3)]
#[case::no_expectation("name: a\ngranted: []\ntool: t\n", "\"expect\" is missing", 1, 1)]
#[case::nobody(
    "name: a\ntool: t\nexpect: deny\n",
    "neither \"principal\" nor \"granted\"",
    1,
    1
)]
#[case::two_callers(
    "name: a\nprincipal: external:i|s\ngranted: []\ntool: t\nexpect: deny\n",
    "exclude each other",
    3,
    10
)]
#[case::no_principal(
    "name: a\nprincipal: ada\ntool: t\nexpect: deny\n",
    "is not a principal",
    2,
    12
)]
#[case::a_slip(
    "name: a\ngranted: []\ntool: t\nstat: x\nexpect: deny\n",
    "unknown key \"stat\"",
    4,
    1
)]
#[case::a_slip_in_the_context(
    "name: a\ngranted: []\ntool: t\ncontext: {agent: x}\nexpect: deny\n",
    "unknown key \"agent\"",
    4,
    11
)]
#[case::no_effect(
    "name: a\ngranted: []\ntool: t\nexpect: denied\n",
    "neither allow nor deny",
    4,
    9
)]
#[case::no_code(
    "name: a\ngranted: []\ntool: t\nexpect: {effect: deny, code: closed}\n",
    "\"closed\" is no code",
    4,
    30
)]
#[case::no_code_of_decisions(
    "name: a\ngranted: []\ntool: t\nexpect: {effect: deny, code: timeout}\n",
    "no decision has the code timeout",
    4,
    30
)]
#[case::allowed_with_a_code(
    "name: a\ngranted: []\ntool: t\nexpect: {effect: allow, code: tool_not_found}\n",
    "an allowed call has no code",
    4,
    31
)]
#[case::twice(
    "- {name: a, granted: [], tool: t, expect: deny}\n- {name: a, granted: [], tool: u, expect: deny}",
    "duplicate policy test",
    2,
    10
)]
#[case::no_time(
    "name: a\ngranted: []\ntool: t\nat: noon\nexpect: deny\n",
    "\"noon\" is not a time",
    4,
    5
)]
#[case::a_bare_group(
    "name: a\ngranted: []\ntool: t\ngroup: knowledge\nexpect: deny\n",
    "must be a list of names",
    4,
    8
)]
#[case::a_bad_name("name: a b\ngranted: []\ntool: t\nexpect: deny\n", "not a valid name", 1, 7)]
#[case::reserved("name: run\ngranted: []\ntool: t\nexpect: deny\n", "is reserved", 1, 7)]
#[case::a_text("hello", "a policy test is a map", 1, 1)]
fn a_fault_has_its_place(#[case] text: &str, #[case] message: &str, #[case] line: u32, #[case] column: u32) {
    let faults = parse_policy_tests(text.as_bytes(), TextFormat::Yaml).expect_err("a fault");
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].message.contains(message), "{faults:?}");
    assert_eq!(
        (faults[0].line, faults[0].column),
        (Some(line), Some(column)),
        "{faults:?}"
    );
}

#[test]
fn there_may_be_so_many_tests_and_no_more() {
    let list = |n: usize| -> String {
        (0..n)
            .map(|n| format!("- {{name: t{n}, granted: [], tool: t, expect: deny}}\n"))
            .collect()
    };
    assert_eq!(read(&list(MAX_TESTS)).len(), MAX_TESTS);
    let faults =
        parse_policy_tests(list(MAX_TESTS + 1).as_bytes(), TextFormat::Yaml).expect_err("one too many");
    assert!(faults[0].message.contains("more than 1000"), "{faults:?}");
}

#[rstest]
#[case::allowed("granted: [g], group: [g], tool: t, expect: allow", true)]
#[case::allowed_but_denied("granted: [g], tool: t, expect: allow", false)]
#[case::denied_with_any_code("granted: [g], tool: t, expect: deny", true)]
#[case::denied_with_that_code(
    "granted: [g], tool: t, expect: {effect: deny, code: insufficient_tool_groups}",
    true
)]
#[case::denied_with_another_code(
    "granted: [g], tool: t, expect: {effect: deny, code: tool_not_found}",
    false
)]
#[case::denied_but_allowed("granted: [g], group: [g], tool: t, expect: deny", false)]
#[case::a_tool_that_is_not_there(
    "granted: [g], group: [g], tool: u, expect: {effect: deny, code: tool_not_found}",
    true
)]
#[case::a_principal(
    "principal: \"user:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11\", group: [g], tool: t, expect: allow",
    true
)]
#[case::a_principal_after_its_grant(
    "principal: \"user:0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11\", group: [g], tool: t, at: 1970-01-01T12:00:00Z, expect: allow",
    false
)]
#[case::an_unknown_principal("principal: \"external:i|s\", group: [g], tool: t, expect: deny", true)]
#[case::an_unknown_principal_that_asks_for_nothing(
    "principal: \"external:i|s\", group: [], tool: t, expect: {effect: deny, code: tool_not_in_groups}",
    true
)]
fn how_a_test_comes_out(#[case] test: &str, #[case] passes: bool) {
    let snapshot = project([tool("t").groups(&["g"])]);
    let grants = Grants(HashMap::from([(USER, grant(&["g"]))]));
    let view = View {
        snapshot: &snapshot,
        grants: &grants,
    };
    let tests = read(&format!("{{name: a, {test}}}"));
    let verdict = run(&tests[0], view, DateTime::UNIX_EPOCH);
    assert_eq!(verdict.passed(), passes, "{:?}", verdict.decision);
    let result = verdict.result(view, DateTime::UNIX_EPOCH);
    assert_eq!(
        result.explanation.is_some(),
        !passes,
        "a failed test is explained"
    );
    if let Some(explanation) = result.explanation {
        assert_eq!(explanation.code, verdict.decision.code);
    }
}

#[test]
fn a_change_is_answered_with_what_it_breaks_and_what_was_broken_before() {
    let tests = read(
        "- {name: read, granted: [g], group: [g], tool: t, expect: allow}
- {name: gone, granted: [g], group: [g], tool: u, expect: allow}
- {name: never, granted: [g], group: [g], tool: v, expect: allow}
- {name: closed, granted: [g], group: [g], tool: u, expect: deny}
",
    );
    let before = project([tool("t").groups(&["g"]), tool("u").groups(&["g"])]);
    let after = project([tool("t").groups(&["h"])]);
    let grants = Grants(HashMap::new());
    let view = |snapshot| View {
        snapshot,
        grants: &grants,
    };
    let effects = compare(&tests, view(&before), view(&after), DateTime::UNIX_EPOCH);
    let names = |list: &[BrokenPolicyTest]| list.iter().map(|test| test.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&effects.broken), ["read", "gone"]);
    assert_eq!(names(&effects.failing), ["never"]);
    assert_eq!(effects.passed, 1, "closed holds after the change");
    let read = &effects.broken[0];
    assert_eq!(
        (read.before.code, read.after.code),
        (None, Some(ErrorCode::ToolNotInGroups))
    );
    assert!(read.after.summary.contains("is in \"h\""), "{read:?}");
    let unchanged = compare(&tests, view(&before), view(&before), DateTime::UNIX_EPOCH);
    assert!(unchanged.broken.is_empty());
}

#[test]
fn a_changed_grant_is_looked_up_in_the_change() {
    let grants = Grants(HashMap::from([(USER, grant(&["g"]))]));
    let user = PrincipalRef::parse(USER).unwrap();
    let other = PrincipalRef::parse("external:i|s").unwrap();
    let change = |principal: &PrincipalRef, groups: Option<GroupSet>| WithGrant {
        others: &grants,
        principal: principal.clone(),
        groups,
    };
    let at = DateTime::UNIX_EPOCH;
    assert_eq!(
        change(&user, Some(grant(&["h"]))).grant_of(&user, at),
        Some(grant(&["h"]))
    );
    assert_eq!(change(&user, None).grant_of(&user, at), None);
    assert_eq!(change(&other, None).grant_of(&user, at), Some(grant(&["g"])));
}
