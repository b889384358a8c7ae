//! What a condition may ask about, and what it finds.

use cel::common::types::{CelInt, CelString, CelTimestamp};
use cel::common::value::CowVal;
use cel::context::VariableResolver;
use toolgate_api::calls::CallContext;

use super::types::Kind;
use crate::policy::evaluation_context::EvaluationContext;
use crate::principal::PrincipalRef;

/// Every variable with its type, sorted by subject. `check` turns `context.agent_id` into one name, so that evaluating it
/// is one look-up without any allocation.
pub(super) const VARIABLES: &[(&str, Kind)] = &[
    ("now", Kind::Time),
    ("load.calls_in_flight", Kind::Int),
    ("load.calls_per_minute", Kind::Int),
    ("principal.kind", Kind::String),
    ("principal.id", Kind::String),
    ("context.channel_id", Kind::String),
    ("context.agent_id", Kind::String),
    ("context.agent_turn_id", Kind::String),
    ("context.step_id", Kind::String),
    ("context.tool_call_id", Kind::String),
    ("context.parent_step_id", Kind::String),
    ("context.trace_id", Kind::String),
    ("context.context_box_id", Kind::String),
    ("context.turn_epoch", Kind::Int),
];

/// What `context.turn_epoch` is when the request has none.
pub(super) const NO_EPOCH: i64 = -1;

/// A moment as variables. What a request does not say is `""`, and `-1` for the epoch.
pub(super) struct Variables<'m> {
    evaluation: &'m EvaluationContext<'m>,
}

impl<'m> Variables<'m> {
    pub(super) fn new(evaluation: &'m EvaluationContext<'m>) -> Self {
        Self { evaluation }
    }

    fn context(&self, field: impl Fn(&CallContext) -> Option<&String>) -> &str {
        self.evaluation
            .context
            .and_then(field)
            .map_or("", |text| text.as_str())
    }
}

impl VariableResolver for Variables<'_> {
    fn resolve<'b>(&'b self, variable: &str) -> Option<CowVal<'b, 'b>> {
        let number = |number: i64| Some(CowVal::owned(CelInt::from(number)));
        let text = match variable {
            "now" => {
                return Some(CowVal::owned(CelTimestamp::from(
                    self.evaluation.at.fixed_offset(),
                )));
            }
            "load.calls_in_flight" => return number(self.evaluation.load.calls_in_flight.into()),
            "load.calls_per_minute" => return number(self.evaluation.load.calls_per_minute.into()),
            "context.turn_epoch" => {
                let epoch = self.evaluation.context.and_then(|context| context.turn_epoch);
                return number(epoch.map_or(NO_EPOCH, i64::from));
            }
            "principal.kind" => self
                .evaluation
                .principal
                .map_or("", |(kind, _)| PrincipalRef::kind_word(kind)),
            "principal.id" => self.evaluation.principal.map_or("", |(_, id)| id),
            "context.channel_id" => self.context(|context| context.channel_id.as_ref()),
            "context.agent_id" => self.context(|context| context.agent_id.as_ref()),
            "context.agent_turn_id" => self.context(|context| context.agent_turn_id.as_ref()),
            "context.step_id" => self.context(|context| context.step_id.as_ref()),
            "context.tool_call_id" => self.context(|context| context.tool_call_id.as_ref()),
            "context.parent_step_id" => self.context(|context| context.parent_step_id.as_ref()),
            "context.trace_id" => self.context(|context| context.trace_id.as_ref()),
            "context.context_box_id" => self.context(|context| context.context_box_id.as_ref()),
            _ => return None,
        };
        Some(CowVal::owned(CelString::from(text)))
    }
}
