//! Explanations against the decision they explain, and against the rule's text.

use std::sync::LazyLock;

use chrono::{DateTime, TimeDelta, Utc};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use rstest::rstest;
use serde_json::{Map, Value, json};
use toolgate_api::calls::CallContext;
use toolgate_api::explain::{DecisionTest, GroupMatch, TestOutcome::*};

use super::*;
use crate::arguments;
use crate::ids::ProjectId;
use crate::policy::evaluation_context::Load;
use crate::principal::{PrincipalKind, PrincipalRef};
use crate::snapshot::LabelInput;
use crate::snapshot::testing::{anytime, grant, object, project, strings, tool};
use crate::validation::Effort;

const GROUPS: [&str; 11] = [
    "default", "*", "a", "a/b", "a/b/c", "b", "b/x", "ab", "A", "", "*/a",
];
const STATES: [&str; 5] = ["undefined", "x", "X", "*", ""];
/// Groups that may have a condition, and which. The last cannot be read, and one before divides by zero at times.
const CONDITIONS: [(&str, &str); 7] = [
    ("a", "context.agent_id == 'ada'"),
    ("a/b", "now.getHours() < 12"),
    ("b", "load.calls_in_flight < 5"),
    ("default", "principal.kind != 'user'"),
    ("*", "false"),
    ("ab", "10 / load.calls_in_flight > 1"),
    ("A", "this is no condition"),
];

fn label((name, condition): (&str, &str)) -> LabelInput {
    LabelInput {
        name: name.to_owned(),
        description: String::new(),
        condition: Some(condition.to_owned()),
        revision: 1,
        updated_at: DateTime::UNIX_EPOCH,
        updated_by: "ada".to_owned(),
    }
}

fn labels(conditions: &[(&str, &str)]) -> Vec<LabelInput> {
    conditions.iter().copied().map(label).collect()
}

/// All conditions compiled once, to be taken over by every snapshot.
static COMPILED: LazyLock<ProjectSnapshot> =
    LazyLock::new(|| project([]).with_labels(labels(&CONDITIONS), Vec::new(), None));

fn some_of(names: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    subsequence(names, 0..=4).prop_map(|names| strings(&names))
}

/// Groups, states, the state after it, and whether it is enabled.
type Kind = (Option<Vec<String>>, Option<Vec<String>>, Option<String>, bool);

fn kinds() -> impl Strategy<Value = Vec<Kind>> {
    let kind = (
        proptest::option::of(some_of(&GROUPS)),
        proptest::option::of(some_of(&STATES)),
        proptest::option::of(select(&STATES[..]).prop_map(str::to_owned)),
        proptest::bool::weighted(0.8),
    );
    proptest::collection::vec(kind, 0..5)
}

fn snapshot(kinds: &[Kind], conditions: &[(&str, &str)]) -> ProjectSnapshot {
    let drafts = kinds.iter().enumerate().map(|(at, (groups, states, moves_to, enabled))| {
        let mut draft = tool(&format!("t{at}")).parameters(&json!({
            "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false
        }));
        draft.0.definition.group.clone_from(groups);
        draft.0.definition.available_in_states.clone_from(states);
        draft.0.definition.state.clone_from(moves_to);
        draft.0.definition.enabled = *enabled;
        draft
    });
    project(drafts.collect::<Vec<_>>()).with_labels(labels(conditions), Vec::new(), Some(&COMPILED))
}

#[derive(Debug, Clone)]
struct Circumstances {
    hours: i64,
    in_flight: u32,
    agent: Option<String>,
    kind: Option<PrincipalKind>,
}

fn circumstances() -> impl Strategy<Value = Circumstances> {
    let agent = proptest::option::of(select(&["ada", "bob"][..]).prop_map(str::to_owned));
    let kind = proptest::option::of(select(&[PrincipalKind::User, PrincipalKind::External][..]));
    (0_i64..24, 0_u32..8, agent, kind).prop_map(|(hours, in_flight, agent, kind)| Circumstances {
        hours,
        in_flight,
        agent,
        kind,
    })
}

fn at(hours: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::hours(hours)
}

fn foreseen(code: ErrorCode) -> impl Strategy<Value = Foreseen> {
    let fails = Foreseen::Fails {
        code,
        because: "it is so".to_owned(),
        remedy: None,
    };
    let unknown = Foreseen::Unknown {
        why: "nobody knows".to_owned(),
    };
    select(vec![Foreseen::Holds, fails, unknown])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn an_explanation_is_the_decision(
        kinds in kinds(),
        conditions in subsequence(&CONDITIONS[..], 0..=CONDITIONS.len()),
        granted in some_of(&GROUPS),
        requested in proptest::option::of(some_of(&GROUPS)),
        state in proptest::option::of(select(&["undefined", "x", "X", "*", "", "other"][..])),
        circumstances in circumstances(),
        arguments in proptest::option::of(select(&["{}", r#"{"n": 1}"#, r#"{"n": "1"}"#][..])),
        shown in select(&[Shown::Everything, Shown::Operands, Shown::Verdict][..]),
        limits in foreseen(ErrorCode::RateLimited),
        execution in foreseen(ErrorCode::ToolUnavailable),
    ) {
        let snapshot = snapshot(&kinds, &conditions);
        let granted: GroupSet = granted.iter().cloned().collect();
        let context = CallContext { agent_id: circumstances.agent.clone(), ..CallContext::default() };
        let principal = circumstances.kind.map(|kind| PrincipalRef { kind, id: "p".to_owned() });
        let load = Load { calls_in_flight: circumstances.in_flight, calls_per_minute: 0 };
        let mut evaluation = EvaluationContext::at(at(circumstances.hours)).load(load).context(Some(&context));
        if let Some(principal) = &principal {
            evaluation = evaluation.by_ref(principal);
        }
        let arguments: Option<Map<String, Value>> = arguments.map(|text| serde_json::from_str(text).unwrap());
        let template = TemplateContext::new(&ProjectId::parse("demo").unwrap(), None);
        let question = Question {
            granted: &granted,
            requested: requested.as_deref(),
            state,
            evaluation: &evaluation,
            session: None,
            arguments: arguments.as_ref().map(|caller| Arguments { caller, context: &template }),
        };
        for name in (0..kinds.len()).map(|at| format!("t{at}")).chain(["none".to_owned()]) {
            let explanation = explain(&snapshot, &question, &name, shown);
            let decision = snapshot.decide(&granted, requested.as_deref(), state, &name, &evaluation);

            // What a call would be answered: the decision, then the arguments.
            let faulty = decision.is_allowed() && arguments.as_ref().is_some_and(|arguments| {
                arguments::merge(decision.tool.as_ref().unwrap(), arguments, &template, Effort::Thorough).is_err()
            });
            let code = if faulty { Some(ErrorCode::InvalidArguments) } else { decision.code };
            prop_assert_eq!(explanation.code, code);
            prop_assert_eq!(explanation.effect == DecisionEffect::Allow, code.is_none());
            prop_assert_eq!(&explanation.state.before, &decision.state);
            let after = decision.tool.as_ref().map_or(decision.state.clone(), |tool| next_state(tool, &decision.state, code.is_none()));
            prop_assert_eq!(&explanation.state.after, &after);

            // The tests come in their order; the first that fails is the one that decided, and nothing after it counts.
            let order: Vec<_> = explanation.tests.iter().map(|test| test.test).collect();
            let mut expected = vec![
                DecisionTest::Grant, DecisionTest::Exists, DecisionTest::Enabled, DecisionTest::Groups, DecisionTest::Open, DecisionTest::State,
            ];
            expected.extend(arguments.is_some().then_some(DecisionTest::Arguments));
            prop_assert_eq!(order, expected);
            let first = explanation.tests.iter().position(|test| test.outcome != Passed);
            match first {
                None => prop_assert_eq!(code, None),
                Some(first) => {
                    prop_assert_eq!(explanation.tests[first].outcome, Failed);
                    prop_assert_eq!(explanation.tests[first].code, code);
                    prop_assert!(explanation.tests[first].hint.is_some());
                    prop_assert!(explanation.tests[first + 1..].iter().all(|test| test.outcome == NotReached));
                }
            }
            // The operands are those of the decision.
            let grant = explanation.tests[0].operands.as_ref().unwrap();
            prop_assert_eq!(grant.missing.as_ref().unwrap(), &decision.missing);
            prop_assert_eq!(grant.requested.as_ref().unwrap(), &decision.requested);
            if code == Some(ErrorCode::GroupClosed) && shown != Shown::Verdict {
                let closed = explanation.tests[4].operands.as_ref().unwrap().closed.as_ref().unwrap();
                let named: Vec<_> = closed.iter().map(|shut| (&shut.group, &shut.closed_by)).collect();
                let decided: Vec<_> = decision.closed.iter().map(|shut| (&shut.group, &shut.condition_of)).collect();
                prop_assert_eq!(named, decided);
                prop_assert!(closed.iter().all(|shut| shut.condition.is_some() == (shown == Shown::Everything)));
            }
            if shown == Shown::Verdict {
                prop_assert!(explanation.tests[2..].iter().all(|test| test.operands.is_none() && test.would_pass.is_none()));
            }

            // What a call meets next: a limit refuses it, with its own code; a tool that cannot be executed does not.
            let met = super::Circumstances { limits: Some(limits.clone()), execution: Some(execution.clone()) };
            let mut whole = explanation.clone();
            add(&mut whole, met, shown);
            let limited = code.is_none() && matches!(limits, Foreseen::Fails { .. });
            let code = if limited { Some(ErrorCode::RateLimited) } else { code };
            let fails = code.is_none() && matches!(execution, Foreseen::Fails { .. });
            prop_assert_eq!(whole.code, code);
            prop_assert_eq!(whole.effect == DecisionEffect::Allow, code.is_none());
            let moved = if limited || fails { &decision.state } else { &after };
            prop_assert_eq!(&whole.state.after, moved);
            prop_assert_eq!(&whole.tests[..whole.tests.len() - 2], &explanation.tests[..]);
            let [limit, run] = &whole.tests[whole.tests.len() - 2..] else { unreachable!() };
            prop_assert_eq!((limit.test, run.test), (DecisionTest::Limits, DecisionTest::Execution));
            let outcome = |reached: bool, foreseen: &Foreseen| match foreseen {
                _ if !reached => NotReached,
                Foreseen::Holds => Passed,
                Foreseen::Fails { .. } => Failed,
                Foreseen::Unknown { .. } => Unknown,
            };
            prop_assert_eq!(limit.outcome, outcome(explanation.code.is_none(), &limits));
            prop_assert_eq!(run.outcome, outcome(code.is_none(), &execution));
            if shown == Shown::Verdict && code.is_some() {
                prop_assert_eq!((run.would_pass, &run.hint), (None, &None));
            }
        }
    }

    /// What a test that was not reached would say is what it says when everything before it is corrected.
    #[test]
    fn what_comes_after_the_failed_test_is_reported_too(
        kinds in kinds().prop_filter("a tool", |kinds| !kinds.is_empty()),
        granted in some_of(&GROUPS),
        requested in some_of(&GROUPS),
        state in select(&["undefined", "x", "other"][..]),
    ) {
        // As if the tool were enabled: this is about what is compared.
        let mut enabled = kinds.clone();
        enabled[0].3 = true;
        let (snapshot, mended) = (snapshot(&kinds, &[]), snapshot(&enabled, &[]));
        let (granted, anytime): (GroupSet, _) = (granted.iter().cloned().collect(), anytime());
        let question = Question { granted: &granted, requested: Some(&requested), state: Some(state), evaluation: &anytime, session: None, arguments: None };
        let report = explain(&snapshot, &question, "t0", Shown::Everything).tests;
        let any = strings(&["*"]);
        let all: GroupSet = grant(&["*"]);
        let open = mended.decide(&all, Some(&any), Some(state), "t0", &anytime);
        let in_group = mended.decide(&all, Some(&requested), Some(state), "t0", &anytime);
        for test in report.iter().filter(|test| test.outcome == NotReached) {
            match test.test {
                DecisionTest::Enabled => prop_assert_eq!(test.would_pass, Some(kinds[0].3)),
                DecisionTest::State => prop_assert_eq!(test.would_pass, Some(open.is_allowed())),
                DecisionTest::Groups =>
                    prop_assert_eq!(test.would_pass, Some(in_group.code != Some(ErrorCode::ToolNotInGroups))),
                _ => {}
            }
        }
    }
}

/// One project for the tables below.
fn example() -> ProjectSnapshot {
    project([
        tool("plain"),
        tool("read").groups(&["knowledge/read", "basic"]),
        tool("write")
            .groups(&["knowledge/write"])
            .states(&["analysis"])
            .moves_to("results"),
        tool("loose").groups(&[]),
        tool("off").groups(&["basic"]).disabled(),
        tool("none").groups(&["basic"]).of_kind("worker"),
    ])
    .with_labels(
        labels(&[("knowledge", "context.agent_id == 'ada'")]),
        Vec::new(),
        None,
    )
}

fn ask(granted: &[&str], requested: &[&str], state: &str, agent: &str, name: &str) -> ToolExplanation {
    let context = CallContext {
        agent_id: Some(agent.to_owned()),
        ..CallContext::default()
    };
    let evaluation = anytime().context(Some(&context));
    let (granted, requested) = (grant(granted), strings(requested));
    let question = Question {
        granted: &granted,
        requested: Some(&requested),
        state: Some(state),
        evaluation: &evaluation,
        session: None,
        arguments: None,
    };
    explain(&example(), &question, name, Shown::Everything)
}

#[rstest]
#[case::allowed("write", &["*"], &["knowledge"], "analysis", "ada", None, "PPPPPP")]
#[case::not_granted("write", &["basic"], &["knowledge"], "analysis", "ada", Some(ErrorCode::InsufficientToolGroups), "F-----")]
#[case::unknown("wrote", &["*"], &["knowledge"], "analysis", "ada", Some(ErrorCode::ToolNotFound), "PF----")]
#[case::disabled("off", &["*"], &["basic"], "analysis", "ada", Some(ErrorCode::ToolDisabled), "PPF---")]
#[case::disabled_before_anything_is_compared("off", &["*"], &["knowledge"], "analysis", "ada", Some(ErrorCode::ToolDisabled), "PPF---")]
#[case::not_executed("none", &["*"], &["basic"], "analysis", "ada", Some(ErrorCode::ToolUnavailable), "PPF---")]
#[case::another_group("write", &["*"], &["basic"], "analysis", "ada", Some(ErrorCode::ToolNotInGroups), "PPPF--")]
#[case::closed("write", &["*"], &["knowledge"], "analysis", "eve", Some(ErrorCode::GroupClosed), "PPPPF-")]
#[case::closed_for_any_too("write", &["*"], &["*"], "analysis", "eve", Some(ErrorCode::GroupClosed), "PPPPF-")]
#[case::open_by_another_way("read", &["*"], &["*"], "analysis", "eve", None, "PPPPPP")]
#[case::another_state("write", &["*"], &["knowledge"], "results", "ada", Some(ErrorCode::ToolNotInState), "PPPPPF")]
fn which_test_decides(
    #[case] name: &str,
    #[case] granted: &[&str],
    #[case] requested: &[&str],
    #[case] state: &str,
    #[case] agent: &str,
    #[case] code: Option<ErrorCode>,
    #[case] outcomes: &str,
) {
    let explanation = ask(granted, requested, state, agent, name);
    assert_eq!(explanation.code, code);
    let letters: String = explanation
        .tests
        .iter()
        .map(|test| match test.outcome {
            Passed => 'P',
            Failed => 'F',
            NotReached => '-',
            Unknown => '?',
        })
        .collect();
    assert_eq!(letters, outcomes);
    let after = if code.is_none() && name == "write" {
        "results"
    } else {
        state
    };
    assert_eq!(
        (
            explanation.state.before.as_str(),
            explanation.state.after.as_str()
        ),
        (state, after)
    );
}

#[test]
fn a_match_names_the_parent_or_the_star_it_came_through() {
    let through = |name: &str, requested: &[&str]| {
        let explanation = ask(&["*"], requested, "", "ada", name);
        explanation.tests[3].operands.clone().unwrap().matches.unwrap()
    };
    let found = |group: Option<&str>, through: &str| GroupMatch {
        group: group.map(str::to_owned),
        through: through.to_owned(),
        open: true,
    };
    assert_eq!(
        through("read", &["knowledge", "basic"]),
        [
            found(Some("knowledge/read"), "knowledge"),
            found(Some("basic"), "basic")
        ]
    );
    assert_eq!(
        through("read", &["*", "basic"]),
        [found(Some("knowledge/read"), "*"), found(Some("basic"), "basic")]
    );
    assert_eq!(through("loose", &["*"]), [found(None, "*")]);
    assert_eq!(through("plain", &["knowledge"]), []);
}

#[test]
fn a_closed_group_names_its_condition_and_whose_it_is() {
    let explanation = ask(&["*"], &["knowledge"], "analysis", "eve", "write");
    let closed = explanation.tests[4].operands.clone().unwrap().closed.unwrap();
    assert_eq!(closed.len(), 1);
    assert_eq!(
        (closed[0].group.as_str(), closed[0].closed_by.as_str()),
        ("knowledge/write", "knowledge")
    );
    assert_eq!(closed[0].condition.as_deref(), Some("context.agent_id == 'ada'"));
    assert_eq!(closed[0].reason, "does not hold now");
}

#[test]
fn arguments_are_checked_only_when_they_are_given() {
    let snapshot = project([tool("t").parameters(&json!({
        "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]
    }))]);
    let (granted, evaluation) = (grant(&["*"]), anytime());
    let template = TemplateContext::new(&ProjectId::parse("demo").unwrap(), None);
    let ask = |arguments: Option<Value>| {
        let arguments = arguments.map(object);
        let question = Question {
            granted: &granted,
            requested: None,
            state: None,
            evaluation: &evaluation,
            session: None,
            arguments: arguments.as_ref().map(|caller| Arguments {
                caller,
                context: &template,
            }),
        };
        explain(&snapshot, &question, "t", Shown::Everything)
    };
    assert_eq!((ask(None).code, ask(None).tests.len()), (None, 6));
    assert_eq!(ask(Some(json!({"n": 1}))).code, None);
    let faulty = ask(Some(json!({"n": "one"})));
    assert_eq!(faulty.code, Some(ErrorCode::InvalidArguments));
    let faults = faulty.tests[6].operands.clone().unwrap().faults.unwrap();
    assert_eq!(faults[0].pointer.as_deref(), Some("/n"));
    assert_eq!(faulty.state.after, "undefined");
}
