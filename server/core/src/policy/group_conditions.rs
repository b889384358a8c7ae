//! Which groups are closed for one request. A group is closed when its own condition, or that of one of its parents, does
//! not hold or cannot be evaluated; no tool is then in it, for this request.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::condition::Condition;
use super::evaluation_context::EvaluationContext;
use super::groups::parents;

/// A stored condition: ready, or why it is not.
#[derive(Debug)]
pub enum GroupCondition {
    /// It can be evaluated.
    Condition(Condition),
    /// It cannot be read (any more): the group stays closed.
    Unreadable(String),
}

impl GroupCondition {
    /// Compiles a stored condition.
    #[must_use]
    pub fn new(source: &str) -> Self {
        match Condition::parse(source) {
            Ok(condition) => Self::Condition(condition),
            Err(faults) => Self::Unreadable(
                faults
                    .first()
                    .map_or_else(String::new, |fault| fault.message.clone()),
            ),
        }
    }

    /// Why it is closed; `None` when it is open.
    #[must_use]
    pub fn closed(&self, evaluation: &EvaluationContext<'_>) -> Option<ClosedBecause> {
        match self {
            Self::Condition(condition) => match condition.holds(evaluation) {
                Ok(true) => None,
                Ok(false) => Some(ClosedBecause::DoesNotHold),
                Err(reason) => Some(ClosedBecause::CannotBeEvaluated(reason.into())),
            },
            Self::Unreadable(reason) => Some(ClosedBecause::CannotBeEvaluated(reason.as_str().into())),
        }
    }
}

/// Why a condition closes its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClosedBecause {
    /// It is false.
    DoesNotHold,
    /// It has no result; this is why.
    CannotBeEvaluated(Arc<str>),
}

impl fmt::Display for ClosedBecause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DoesNotHold => f.write_str("does not hold now"),
            Self::CannotBeEvaluated(reason) => write!(f, "cannot be evaluated: {reason}"),
        }
    }
}

/// A group that is closed for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedGroup {
    /// The group.
    pub group: String,
    /// Whose condition closes it: the group itself or one of its parents.
    pub condition_of: String,
    /// Why.
    pub because: ClosedBecause,
}

/// The conditions of a project by group.
pub(crate) type ConditionsByGroup = HashMap<Box<str>, Arc<GroupCondition>>;

/// The conditions of a project at one moment. Each is evaluated when it is first asked for, and once.
pub(crate) struct GroupConditions<'a> {
    by_group: &'a ConditionsByGroup,
    evaluation: &'a EvaluationContext<'a>,
    answers: RefCell<HashMap<&'a str, Option<ClosedBecause>>>,
}

impl<'a> GroupConditions<'a> {
    pub(crate) fn new(by_group: &'a ConditionsByGroup, evaluation: &'a EvaluationContext<'a>) -> Self {
        Self {
            by_group,
            evaluation,
            answers: RefCell::default(),
        }
    }

    /// Whether there is any condition at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_group.is_empty()
    }

    /// Whether and why a group is closed. The nearest condition that does not hold is named.
    pub(crate) fn closed(&self, group: &str) -> Option<ClosedGroup> {
        std::iter::once(group).chain(parents(group)).find_map(|name| {
            let because = self.own(name)?;
            Some(ClosedGroup {
                group: group.to_owned(),
                condition_of: name.to_owned(),
                because,
            })
        })
    }

    /// Every group whose own condition closes it, sorted by name.
    pub(crate) fn all(&self) -> Vec<ClosedGroup> {
        let mut closed: Vec<_> = self
            .by_group
            .keys()
            .filter_map(|name| {
                Some(ClosedGroup {
                    group: String::from(&**name),
                    condition_of: String::from(&**name),
                    because: self.own(name)?,
                })
            })
            .collect();
        closed.sort_unstable_by(|a, b| a.group.cmp(&b.group));
        closed
    }

    fn own(&self, group: &str) -> Option<ClosedBecause> {
        let (name, condition) = self.by_group.get_key_value(group)?;
        if let Some(answer) = self.answers.borrow().get(&**name) {
            return answer.clone();
        }
        let answer = condition.closed(self.evaluation);
        self.answers.borrow_mut().insert(name, answer.clone());
        answer
    }
}
