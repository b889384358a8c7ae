//! What definitions and grants do not decide: whether the limits leave room for a call now, and whether its tool can be
//! executed at all. The server looks; here it becomes two more tests of the explanation.

use toolgate_api::ErrorCode;
use toolgate_api::explain::{DecisionEffect, DecisionTest, TestOutcome, TestReport, ToolExplanation};
use toolgate_api::remedy::Remedy;

use super::Shown;

/// How something would come out, as far as that is known beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Foreseen {
    /// It would go well.
    Holds,
    /// A call would fail with this.
    Fails {
        /// The code.
        code: ErrorCode,
        /// The sentence.
        because: String,
        /// What lifts it, where that is one known thing.
        remedy: Option<Remedy>,
    },
    /// It is not known.
    Unknown {
        /// Why.
        why: String,
    },
}

/// How a call of one tool would fare once it was decided; `None` for a tool that does not exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// Whether the limits leave room.
    pub limits: Option<Foreseen>,
    /// Whether the tool can be executed.
    pub execution: Option<Foreseen>,
}

/// Adds the two tests. A limit that is used up refuses the call; a tool that cannot be executed does not, because such a
/// call is admitted, recorded, and then fails.
pub fn add(explanation: &mut ToolExplanation, circumstances: Circumstances, shown: Shown) {
    let reached = explanation.effect == DecisionEffect::Allow;
    if let (true, Some(Foreseen::Fails { code, because, .. })) = (reached, &circumstances.limits) {
        explanation.effect = DecisionEffect::Deny;
        explanation.code = Some(*code);
        explanation.summary.clone_from(because);
        explanation.state.after.clone_from(&explanation.state.before);
    }
    let runs = explanation.effect == DecisionEffect::Allow;
    if let (true, Some(Foreseen::Fails { because, .. })) = (runs, &circumstances.execution) {
        explanation.summary = format!("{} But it would fail: {because}.", explanation.summary.trim_end());
        explanation.state.after.clone_from(&explanation.state.before);
    }
    for (test, foreseen, reached) in [
        (DecisionTest::Limits, circumstances.limits, reached),
        (DecisionTest::Execution, circumstances.execution, runs),
    ] {
        explanation.tests.push(report(test, foreseen, reached, shown));
    }
}

fn report(test: DecisionTest, foreseen: Option<Foreseen>, reached: bool, shown: Shown) -> TestReport {
    let is_shown = reached || shown != Shown::Verdict;
    let mut lifted_by = None;
    let (outcome, would_pass, code, hint) = match foreseen.filter(|_| is_shown) {
        Some(Foreseen::Holds) => (TestOutcome::Passed, Some(true), None, None),
        Some(Foreseen::Fails {
            code,
            because,
            remedy,
        }) => {
            lifted_by = remedy;
            (TestOutcome::Failed, Some(false), Some(code), Some(because))
        }
        Some(Foreseen::Unknown { why }) => (TestOutcome::Unknown, None, None, Some(why)),
        None => (TestOutcome::NotReached, None, None, None),
    };
    TestReport {
        test,
        outcome: if reached { outcome } else { TestOutcome::NotReached },
        would_pass: would_pass.filter(|_| !reached),
        code,
        hint,
        operands: None,
        remedy: lifted_by,
    }
}
