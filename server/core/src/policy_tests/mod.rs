//! Policy tests: what a project expects of its own decisions, and which expectations a change would break.
//!
//! A test is decided by the very function that decides calls, for a view: definitions and grants as they are, or as
//! they would be after a change.

mod check;

use chrono::{DateTime, Utc};
use toolgate_api::explain::DecisionEffect;
use toolgate_api::policy_tests::{
    BrokenPolicyTest, Expectation, FoundDecision, PolicyTest, PolicyTestResult,
};

pub use check::{CODES, check};

use crate::explain;
use crate::policy::decision::Decision;
use crate::policy::evaluation_context::EvaluationContext;
use crate::policy::groups::GroupSet;
use crate::principal::PrincipalRef;
use crate::snapshot::ProjectSnapshot;

/// Most policy tests of one project.
pub const MAX_TESTS: usize = 1_000;

/// Who holds which groups in one project: as it is, or as it would be.
pub trait GrantLookup {
    /// The groups that a principal holds at a time; `None` for one that holds nothing there, because it is unknown,
    /// revoked or expired.
    fn grant_of(&self, principal: &PrincipalRef, at: DateTime<Utc>) -> Option<GroupSet>;
}

/// The same grants, but for one principal: for checking a change of its grant.
pub struct WithGrant<'a> {
    /// The grants of all others.
    pub others: &'a dyn GrantLookup,
    /// Whose grant changes.
    pub principal: PrincipalRef,
    /// What it will hold; `None`: nothing.
    pub groups: Option<GroupSet>,
}

impl GrantLookup for WithGrant<'_> {
    fn grant_of(&self, principal: &PrincipalRef, at: DateTime<Utc>) -> Option<GroupSet> {
        if *principal == self.principal {
            self.groups.clone()
        } else {
            self.others.grant_of(principal, at)
        }
    }
}

/// What a test is decided against.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Tools, groups and conditions.
    pub snapshot: &'a ProjectSnapshot,
    /// Who holds what.
    pub grants: &'a dyn GrantLookup,
}

/// A test with what was decided.
pub struct Verdict<'t> {
    /// The test.
    pub test: &'t PolicyTest,
    /// What its caller holds.
    pub granted: GroupSet,
    /// The decision.
    pub decision: Decision,
}

/// Decides a test. `now` is used for tests that name no time. A principal that holds nothing is decided for without
/// any group.
#[must_use]
pub fn run<'t>(test: &'t PolicyTest, view: View<'_>, now: DateTime<Utc>) -> Verdict<'t> {
    let principal = test.principal.as_deref().and_then(PrincipalRef::parse);
    let evaluation = evaluation(test, principal.as_ref(), now);
    let granted = match (&test.granted, &principal) {
        (Some(groups), _) => groups.iter().cloned().collect(),
        (None, Some(principal)) => view.grants.grant_of(principal, evaluation.at).unwrap_or_default(),
        // Unreachable for checked tests; what cannot be evaluated is denied.
        (None, None) => GroupSet::default(),
    };
    let decision = view.snapshot.decide(
        &granted,
        test.group.as_deref(),
        test.state.as_deref(),
        &test.tool,
        &evaluation,
    );
    Verdict {
        test,
        granted,
        decision,
    }
}

/// The circumstances that a test is about.
fn evaluation<'t>(
    test: &'t PolicyTest,
    principal: Option<&'t PrincipalRef>,
    now: DateTime<Utc>,
) -> EvaluationContext<'t> {
    let evaluation = EvaluationContext::at(test.at.unwrap_or(now)).context(test.context.as_ref());
    match principal {
        Some(principal) => evaluation.by_ref(principal),
        None => evaluation,
    }
}

impl Verdict<'_> {
    /// Whether the decision is the expected one.
    #[must_use]
    pub fn passed(&self) -> bool {
        let Expectation { effect, code } = self.test.expect;
        effect == explain::effect(self.decision.effect) && (code.is_none() || code == self.decision.code)
    }

    /// The decision, for an answer.
    #[must_use]
    pub fn found(&self) -> FoundDecision {
        FoundDecision {
            effect: explain::effect(self.decision.effect),
            code: self.decision.code,
            summary: self.decision.explain(),
        }
    }

    /// The whole result, for an answer: a failed test is explained test by test.
    #[must_use]
    pub fn result(&self, view: View<'_>, now: DateTime<Utc>) -> PolicyTestResult {
        let passed = self.passed();
        let explanation = (!passed).then(|| {
            let principal = self.test.principal.as_deref().and_then(PrincipalRef::parse);
            let evaluation = evaluation(self.test, principal.as_ref(), now);
            explain::explain(
                view.snapshot,
                &explain::Question {
                    granted: &self.granted,
                    requested: self.test.group.as_deref(),
                    state: self.test.state.as_deref(),
                    evaluation: &evaluation,
                    // Policy tests are about the rules, whatever entrance a call comes by.
                    session: None,
                    arguments: None,
                },
                &self.test.tool,
                explain::Shown::Everything,
            )
        });
        PolicyTestResult {
            name: self.test.name.clone(),
            passed,
            expected: self.test.expect,
            found: self.found(),
            explanation,
        }
    }
}

/// What a change does to the tests of a project.
#[derive(Debug, Default)]
pub struct Effects {
    /// How many would hold.
    pub passed: usize,
    /// Those that hold now and would not.
    pub broken: Vec<BrokenPolicyTest>,
    /// Those that do not hold now and would not either.
    pub failing: Vec<BrokenPolicyTest>,
}

/// Decides every test before and after a change.
#[must_use]
pub fn compare<'t>(
    tests: impl IntoIterator<Item = &'t PolicyTest>,
    before: View<'_>,
    after: View<'_>,
    now: DateTime<Utc>,
) -> Effects {
    let mut effects = Effects::default();
    for test in tests {
        let then = run(test, after, now);
        if then.passed() {
            effects.passed += 1;
            continue;
        }
        let today = run(test, before, now);
        let entry = failed(test, &today, &then);
        if entry.holds_now {
            effects.broken.push(entry);
        } else {
            effects.failing.push(entry);
        }
    }
    effects
}

/// A test that fails after a change, with its verdict before and after.
#[must_use]
pub fn failed(test: &PolicyTest, before: &Verdict<'_>, after: &Verdict<'_>) -> BrokenPolicyTest {
    BrokenPolicyTest {
        name: test.name.clone(),
        note: test.note.clone(),
        holds_now: before.passed(),
        expected: test.expect,
        before: before.found(),
        after: after.found(),
    }
}

/// One sentence about a decision or an expectation: `allow`, or `deny (tool_not_found)`.
#[must_use]
pub fn in_words(effect: DecisionEffect, code: Option<toolgate_api::ErrorCode>) -> String {
    match (effect, code) {
        (DecisionEffect::Allow, _) => "allow".to_owned(),
        (DecisionEffect::Deny, None) => "deny".to_owned(),
        (DecisionEffect::Deny, Some(code)) => format!("deny ({code})"),
    }
}

#[cfg(test)]
mod tests;
