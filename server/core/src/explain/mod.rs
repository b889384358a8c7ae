//! The decision on a call, test by test: what each one compared, how it came out, and how to correct it.
//!
//! The verdict is that of the function that decides calls. The tests beside it are made from the same parts, one by
//! one, so that what comes after the failed one can be reported too; a property test holds the two together. What a
//! call meets after the decision, limits and execution, [`add`] puts behind them.

mod circumstances;
mod tests_of;

use serde_json::{Map, Value};
use toolgate_api::ErrorCode;
use toolgate_api::calls::StateChange;
use toolgate_api::explain::{DecisionEffect, TestOutcome, TestReport, ToolExplanation};

use crate::arguments::TemplateContext;
use crate::policy::decision::{Effect, next_state};
use crate::policy::evaluation_context::EvaluationContext;
use crate::policy::groups::GroupSet;
use crate::snapshot::ProjectSnapshot;

pub use circumstances::{Circumstances, Foreseen, add};

/// What is asked, but for the tool.
pub struct Question<'a> {
    /// What the caller holds.
    pub granted: &'a GroupSet,
    /// What the request asks for; absent is `["default"]`.
    pub requested: Option<&'a [String]>,
    /// The workflow state; absent and `""` are `undefined`.
    pub state: Option<&'a str>,
    /// The time, the source and the principal.
    pub evaluation: &'a EvaluationContext<'a>,
    /// Whether the call names a session; `None` where it need not.
    pub session: Option<SessionTest>,
    /// The arguments, if they are to be checked.
    pub arguments: Option<Arguments<'a>>,
}

/// What a project that requires sessions asks of a call. It is asked after the grant, before the tool is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTest {
    /// Whether the call is made in a session.
    pub passes: bool,
    /// What to do about it.
    pub hint: String,
}

/// What the caller would send along.
#[derive(Clone, Copy)]
pub struct Arguments<'a> {
    /// The arguments.
    pub caller: &'a Map<String, Value>,
    /// What templates in the definition may use.
    pub context: &'a TemplateContext,
}

/// How much of a tool the caller may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// All of it, the text of conditions included.
    Everything,
    /// What a holder of its groups sees of a tool: neither the text of conditions nor groups that were not granted.
    Operands,
    /// Only what a call would be answered: neither its groups nor its states nor how later tests would come out.
    Verdict,
}

/// An effect as it travels.
#[must_use]
pub const fn effect(effect: Effect) -> DecisionEffect {
    match effect {
        Effect::Allow => DecisionEffect::Allow,
        Effect::Deny => DecisionEffect::Deny,
    }
}

/// Explains the decision on one tool. It costs what a decision costs, times the number of the tool's groups.
#[must_use]
pub fn explain(
    snapshot: &ProjectSnapshot,
    question: &Question<'_>,
    tool: &str,
    shown: Shown,
) -> ToolExplanation {
    let decision = snapshot.decide(
        question.granted,
        question.requested,
        question.state,
        tool,
        question.evaluation,
    );
    let tests = order(tests_of::tests(snapshot, question, tool), question.granted, shown);
    // The arguments are looked at after the decision, and they alone are not part of it.
    let faulty = tests
        .iter()
        .any(|test| test.outcome == TestOutcome::Failed && test.code == Some(ErrorCode::InvalidArguments));
    let outside = question
        .session
        .as_ref()
        .filter(|test| !test.passes && decision.code != Some(ErrorCode::InsufficientToolGroups));
    let (effect, code, summary) = if let Some(test) = outside {
        (
            DecisionEffect::Deny,
            Some(ErrorCode::SessionRequired),
            test.hint.clone(),
        )
    } else if decision.is_allowed() && faulty {
        (
            DecisionEffect::Deny,
            Some(ErrorCode::InvalidArguments),
            format!("The arguments do not fit the parameters of {tool:?}; the faults are named one by one."),
        )
    } else {
        let summary = match shown {
            Shown::Everything => decision.explain(),
            Shown::Operands | Shown::Verdict => decision.explain_to(question.granted),
        };
        (effect(decision.effect), decision.code, summary)
    };
    let after = match &decision.tool {
        Some(tool) => next_state(tool, &decision.state, effect == DecisionEffect::Allow),
        None => decision.state.clone(),
    };
    ToolExplanation {
        tool: decision.tool_name,
        effect,
        code,
        summary,
        tests,
        state: StateChange {
            before: decision.state,
            after,
        },
    }
}

/// Says what each test decided: the first that fails decides, and what comes after it is not reached.
fn order(tests: Vec<tests_of::Test>, granted: &GroupSet, shown: Shown) -> Vec<TestReport> {
    let mut failed = false;
    let mut reports = Vec::with_capacity(tests.len());
    for test in tests {
        let outcome = match test.passes {
            _ if failed => TestOutcome::NotReached,
            Some(true) => TestOutcome::Passed,
            // What cannot be evaluated is denied.
            Some(false) | None => TestOutcome::Failed,
        };
        failed |= outcome == TestOutcome::Failed;
        let hidden = shown == Shown::Verdict && test.is_about_the_tool();
        let says = outcome == TestOutcome::Failed
            || outcome == TestOutcome::NotReached && test.passes == Some(false) && !hidden;
        reports.push(TestReport {
            test: test.test,
            remedy: None,
            outcome,
            would_pass: test
                .passes
                .filter(|_| outcome == TestOutcome::NotReached && !hidden),
            code: says.then_some(test.code),
            hint: says.then_some(test.hint).filter(|hint| !hint.is_empty()),
            operands: (!hidden && test.operands != Default::default()).then(|| {
                let mut operands = test.operands;
                if shown != Shown::Everything {
                    let seen = |group: &str| granted.covers(group);
                    if let Some(groups) = &mut operands.tool_groups {
                        groups.retain(|group| seen(group));
                    }
                    if let Some(matches) = &mut operands.matches {
                        matches.retain(|found| found.group.as_deref().is_none_or(seen));
                    }
                    for closed in operands.closed.iter_mut().flatten() {
                        closed.condition = None;
                    }
                }
                operands
            }),
        });
    }
    reports
}

#[cfg(test)]
mod tests;
